"""What holds on every page: no errors, no strangers, both themes, both widths, the keyboard."""

import re

import pytest

from browser_pages import settle

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect

PAGES = ("estimate", "racks", "pipeline", "plan", "prices", "cache", "lecture", "validation")
PHONE = {"viewport": {"width": 390, "height": 844}}
NAMELESS = """() => [...document.querySelectorAll('input, select, textarea, button')]
    .filter((one) => !one.labels?.length && !one.getAttribute('aria-label') && !one.innerText)
    .map((one) => one.outerHTML)"""
WALL = {"viewport": {"width": 1920, "height": 1080}}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(
    "visit",
    [
        pytest.param({**PHONE, "color_scheme": "dark"}, id="390-dark"),
        pytest.param({**WALL, "color_scheme": "light"}, id="1920-light"),
    ],
    indirect=True,
)
def test_page_is_sound(visit, name):
    page = visit.open(f"#/{name}")
    settle(page)
    expect(page.get_by_role("link", name=re.compile(name, re.IGNORECASE))).to_have_attribute(
        "aria-current", "page"
    )
    assert page.locator("h1").inner_text().endswith("?")
    expect(page.get_by_role("alert")).to_have_count(0)
    wide = "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    scroll, client = page.evaluate(wide)
    assert scroll <= client
    assert page.evaluate(NAMELESS) == [], "a control without a label"


def test_theme_is_chosen_kept_and_drawn(visit):
    page = visit.open("#/estimate")
    settle(page)
    paper = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    button = page.get_by_role("button", name=re.compile("Theme"))
    button.click()  # auto to light
    button.click()  # light to dark
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    dark = page.evaluate(paper)
    assert dark != light
    page.reload()
    page.wait_for_selector("h1")
    assert page.evaluate(paper) == dark


def test_keyboard_alone_reaches_a_page_and_moves_a_slider(visit):
    page = visit.open("#/lecture")
    settle(page)
    page.locator("nav a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-figure=latency] [data-drawn]")
    slider = page.locator("input[name=batch]")
    for _ in range(60):
        page.keyboard.press("Tab")
        if slider.evaluate("(one) => one === document.activeElement"):
            break
    outline = slider.evaluate("(one) => getComputedStyle(one).outlineStyle")
    assert outline != "none", "the focus must be seen"
    before = slider.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    settle(page)
    assert slider.get_attribute("aria-valuetext") != before
    assert "batch=" in page.url


def test_a_model_stays_chosen_from_page_to_page(visit):
    page = visit.open("#/estimate?model=deepseek-v3&on=gb200-nvl72")
    settle(page)
    page.get_by_role("link", name="Pipeline").click()
    page.wait_for_selector("h1")
    assert "model=deepseek-v3" in page.url
    assert "on=gb200-nvl72" in page.url
