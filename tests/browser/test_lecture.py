"""Journeys through the Lecture page: claims recomputed, and the quiz."""

import math

import pytest

from browser_pages import settle

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect


def value_of(page) -> float:
    """The recomputed value on the board."""
    settle(page)
    return float(page.locator(".chalk-board").get_attribute("data-value"))


def answer(page, key: str, text: str):
    """Answer one part of a question; the part."""
    part = page.locator(f'[data-question="{key}"]')
    part.get_by_role("textbox").fill(text)
    part.get_by_role("button", name="Check").click()
    return part


def test_a_link_opens_one_claim_with_its_edits(visit):
    """B* = R N_t / N_a: 250 x 671 / 37 = 4534."""
    page = visit.open("#/lecture?claim=C1-N7&value=1&edit=balance_ratio%3A250")
    settle(page)
    expect(page.locator("article.claim")).to_have_attribute("data-claim", "C1-N7")
    assert math.isclose(value_of(page), 250 * 671 / 37, rel_tol=1e-9)
    expect(page.locator(".substituted")).to_contain_text("250")


def test_an_input_moves_the_value_and_its_link_keeps_it(visit):
    page = visit.open("#/lecture?claim=C1-N7&value=1")
    assert math.isclose(value_of(page), 300 * 671 / 37, rel_tol=1e-9)
    field = page.locator("input[name=balance_ratio]")
    field.fill("600")
    assert math.isclose(value_of(page), 600 * 671 / 37, rel_tol=1e-9)
    page.reload()
    assert math.isclose(value_of(page), 600 * 671 / 37, rel_tol=1e-9)
    page.get_by_role("button", name="Back to the lecture’s numbers").click()
    assert math.isclose(value_of(page), 300 * 671 / 37, rel_tol=1e-9)
    assert "edit" not in page.url


def test_a_claim_that_does_not_exist_is_said(visit):
    page = visit.open("#/lecture?claim=C1-N99")
    settle(page)
    expect(page.get_by_role("alert")).to_have_text("No claim C1-N99 in chapter 1.")


def test_the_curve_goes_through_the_value(visit):
    page = visit.open("#/lecture?claim=C1-F9")
    page.wait_for_selector("[data-figure=chalk-curve] [data-drawn]")
    now = value_of(page)
    rows = page.evaluate("() => window.ridgeline.figures['chalk-curve'].rows")
    assert len(rows) > 20
    assert any(math.isclose(row["y"], now, rel_tol=1e-6) for row in rows)


def test_next_leads_through_a_chapter_and_into_the_following(visit):
    page = visit.open("#/lecture?chapter=7")
    settle(page)
    seen = [page.locator("article.claim").get_attribute("data-claim")]
    while page.locator("nav.steps button.primary").count():
        page.locator("nav.steps button.primary").click()
        settle(page)
        seen.append(page.locator("article.claim").get_attribute("data-claim"))
    expect(page.get_by_role("alert")).to_have_count(0)
    assert seen[0] == "C7-F1"
    assert seen[-1] == "E12"
    assert len(seen) == len(set(seen)) == 18
    page = visit.open("#/lecture?claim=E2")
    page.get_by_role("button", name="Chapter 2 →").click()
    expect(page.locator("article.claim")).to_have_attribute("data-claim", "C2-F1")


def test_the_quiz_marks_a_wrong_unit_wrong(visit):
    page = visit.open("#/lecture?claim=P3")
    settle(page)
    part = answer(page, "P3.0", "3 GB")
    expect(part.locator(".reply-mark")).to_contain_text("wrong unit")
    expect(part).to_contain_text("The answer is time")
    part = answer(page, "P3.0", "1.2 s")
    expect(part.locator(".reply-mark")).to_have_text("✗ wrong")
    part = answer(page, "P3.0", "1.16 ms")
    expect(part.locator(".reply-mark")).to_contain_text("right")


def test_the_answer_shows_only_after_trying_and_the_score_stays(visit):
    page = visit.open("#/lecture?claim=P5")
    settle(page)
    part = page.locator('[data-question="P5.0"]')
    expect(part.get_by_role("button", name="Check")).to_be_disabled()
    expect(part.get_by_role("button", name="Show the answer")).to_have_count(0)
    answer(page, "P5.0", "94 1/s")
    expect(part.locator(".reply-mark")).to_contain_text("close")
    part.get_by_role("button", name="Show the answer").click()
    expect(part).to_contain_text("100 1/s")
    answer(page, "P5.0", "100 1/s")
    expect(page.locator("[data-score]")).to_have_attribute("data-score", "1")
    page.reload()
    expect(page.locator("[data-score]")).to_have_attribute("data-score", "1")
    page.get_by_role("button", name="Start over").click()
    expect(page.locator("[data-score]")).to_have_attribute("data-score", "0")


@pytest.mark.parametrize(("view", "letter", "count"), [("cards", "K", 27), ("problems", "P", 17)])
def test_every_card_and_problem_is_asked(visit, view, letter, count):
    page = visit.open(f"#/lecture?view={view}")
    settle(page)
    expect(page.locator("ul.deck li")).to_have_count(count)
    for i in range(count):
        page.locator("ul.deck a").nth(i).click()
        expect(page.locator("article.quiz h2")).not_to_be_empty()
        card = page.locator("article.quiz")
        expect(card).to_have_attribute("data-claim", f"{letter}{i + 1}")
    expect(page.get_by_role("alert")).to_have_count(0)
