"""Journeys through Prices, Cache and Validation."""

import itertools

import pytest

from browser_pages import settle

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
DAY = "date=2026-11-30"
ROWS = "(name) => window.ridgeline.figures[name].rows"


def test_a_public_model_is_found_inside_the_band(visit):
    page = visit.open(f"#/prices?price=deepinfra%2Fdeepseek-ai%2FDeepSeek-V3&{DAY}")
    settle(page)
    said = page.locator(".answer").first
    expect(said).to_contain_text("0.32 USD in and 0.89 USD out")
    expect(said).to_contain_text("37.6B")
    expect(said).to_contain_text("inside the band")
    page.get_by_role("button", name="Serve deepseek-v3").click()
    expect(page.locator("input[name=model]")).to_have_value("deepseek-v3")


def test_a_fast_mode_is_decoded(visit):
    """6x the price for 2.5x the speed: 15x the batch, at most 2.8x (C1-N18)."""
    page = visit.open(f"#/prices?fastSpeed=2.5&fastPrice=6&{DAY}")
    settle(page)
    found = page.locator(".findings")
    expect(found).to_contain_text("slow batch over fast batch: 15")
    expect(found).to_contain_text("largest speed-up at any price: 2.8")


def test_the_price_step_is_where_the_list_has_it(visit):
    page = visit.open(f"#/prices?{DAY}")
    settle(page)
    price = page.evaluate(
        "() => window.ridgeline.figures.margin.option.series"
        ".find(({ name }) => name === 'output price').data"
    )
    assert [200_000, 12] in price
    assert [200_000, 18] in price
    rows = page.evaluate(ROWS, "margin")
    assert {r["output_price"] for r in rows if r["context"] <= 200_000} == {12}
    assert {r["output_price"] for r in rows if r["context"] > 200_000} == {18}


def test_a_sheet_is_found_by_typing(visit):
    page = visit.open(f"#/prices?{DAY}")
    settle(page)
    field = page.locator("input[name=price]")
    field.click()
    field.fill("deepseek v3.2 exp")
    page.get_by_role("option", name="deepseek/deepseek-v3.2-exp").first.click()
    expect(page.get_by_text("Listed for deepseek/deepseek-v3.2-exp")).to_be_visible()
    assert "price=deepseek" in page.url


def test_the_published_day_is_recomputed(visit):
    page = visit.open("#/prices")
    settle(page)
    page.get_by_text("A day that a provider published").click()
    settle(page)
    expect(page.locator(".fold[open]")).to_contain_text("87,072 USD")


def test_a_cache_moves_down_the_tiers_and_is_computed_again(visit):
    page = visit.open("#/cache?model=llama-3.3-70b&on=hgx-h100-8&after=1")
    settle(page)
    expect(page.locator(".answer")).to_contain_text("memory of H100")
    page.locator("input[name=after]").press("End")
    settle(page)
    expect(page.locator(".answer")).to_contain_text("compute it again")
    rows = page.evaluate(ROWS, "cache-cost")
    assert all(row["cheapest"] <= row["recompute"] for row in rows)
    assert all(a["cheapest"] <= b["cheapest"] for a, b in itertools.pairwise(rows))


def test_a_tier_that_is_not_to_be_had_is_left_out(visit):
    page = visit.open("#/cache")
    settle(page)
    assert "flash-gds" in page.evaluate(ROWS, "cache-cost")[0]
    page.locator("input[name=tier-flash-gds]").uncheck()
    settle(page)
    assert "flash-gds" not in page.evaluate(ROWS, "cache-cost")[0]
    assert "only=" in page.url


def test_validation_narrows_to_a_family(visit):
    page = visit.open("#/validation")
    page.wait_for_selector("[data-figure=validation] [data-drawn]", timeout=60_000)
    every = page.evaluate(ROWS, "validation")
    expect(page.locator(".answer")).to_contain_text(f"{len(every)} published rows")
    page.locator("select[name=family]").select_option("local decode")
    settle(page)
    rows = page.evaluate(ROWS, "validation")
    assert 0 < len(rows) < len(every)
    assert {row["family"] for row in rows} == {"local decode"}
