"""Journeys through Racks, Pipeline and Plan."""

import math
import re

import pytest

from browser_pages import settle

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
ROWS = "(name) => window.ridgeline.figures[name].rows"
DENSE = "#/plan?model=llama-3.3-70b&on=hgx-h100-8&isl=2k&osl=512"
MARK = """() => {
    const { chart, option } = window.ridgeline.figures.front
    const series = option.series.find(({ name }) => name === 'prefill and decode together')
    const { value, name } = series.data[2]
    const [x, y] = chart.convertToPixel('grid', value)
    const box = document.querySelector('[data-figure=front] .chart').getBoundingClientRect()
    return [box.x + x, box.y + y, name]
}"""


def planned(page):
    """Wait for a plan."""
    page.wait_for_selector("[data-figure=front] [data-drawn]", timeout=60_000)
    settle(page)
    return page


def test_the_rack_cliff_of_the_lecture(visit):
    """At ratio 8 the board says 4, 5.33 and 6 times for two, three and four racks (C2-N3)."""
    page = visit.open("#/racks?ratio=8")
    settle(page)
    expect(page.locator(".answer").first).to_contain_text("6 times its one rack")
    rows = [row for row in page.evaluate(ROWS, "cliff") if row["ratio"] == 8]
    assert [round(row["slowdown_chalk"], 2) for row in rows] == [1, 4, 5.33, 6]
    assert page.locator(".topology .rack").count() == 4
    page.locator("input[name=racks]").focus()
    page.keyboard.press("Home")
    settle(page)
    expect(page.locator(".answer").first).to_contain_text("In one rack")
    assert page.locator(".topology .rack").count() == 1
    assert "racks=1" in page.url


def test_a_dense_model_has_no_experts_to_spread(visit):
    page = visit.open("#/racks?model=llama-3.3-70b")
    expect(page.get_by_role("alert")).to_contain_text("needs a mixture of experts")


def test_experts_are_placed_from_a_dropped_table(visit):
    page = visit.open("#/racks")
    settle(page)
    counts = "layer,expert,count\n" + "\n".join(f"0,{e},{100 if e < 4 else 1}" for e in range(64))
    table = {"name": "counts.csv", "mimeType": "text/csv", "buffer": counts.encode()}
    page.set_input_files("input[name=counts]", files=[table])
    page.wait_for_selector("[data-figure=placement]")
    said = page.locator(".placement .answer").inner_text()
    after, before, bound = (
        float(x) for x in re.findall(r"\d+\.\d+|\b\d+(?= times)|\d+(?=\.$)", said)
    )
    assert bound <= after < 0.5 * before
    broken = {
        "name": "broken.csv",
        "mimeType": "text/csv",
        "buffer": b"layer,expert,count\n0,1,x\n",
    }
    page.set_input_files("input[name=counts]", files=[broken])
    expect(page.get_by_role("alert")).to_contain_text("broken.csv: layer, expert and count must be")


def test_the_decode_loop_is_stepped_from_the_keyboard(visit):
    page = visit.open("#/pipeline?model=llama-3.3-70b&stages=4&batch=32")
    settle(page)
    loops = page.locator(".gantt figcaption")
    expect(loops.nth(1)).to_contain_text("M = 4 = P = 4")
    expect(loops.nth(1)).to_contain_text("16 tokens by")
    page.get_by_role("button", name="One step back").focus()
    page.keyboard.press("Home")
    for step in range(1, 6):
        page.keyboard.press("ArrowRight")
        expect(loops.nth(1)).to_contain_text(f"{max(0, step - 3)} token")
    assert "step=5" in page.url
    page.reload()
    expect(loops.nth(1)).to_contain_text("2 tokens by")
    page.get_by_role("button", name="Play").click()
    expect(loops.nth(1)).not_to_contain_text("2 tokens by")
    page.get_by_role("button", name="Pause").click()


def test_keys_that_come_faster_than_a_render_all_count(visit):
    page = visit.open("#/pipeline?model=llama-3.3-70b&stages=4&batch=32")
    settle(page)
    page.evaluate(
        "keys => keys.forEach(key => document.querySelector('.player')"
        ".dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true})))",
        ["Home", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowRight"],
    )
    expect(page.locator(".gantt figcaption").nth(1)).to_contain_text("0 tokens by")
    assert "step=2" in page.url


def test_weights_fall_with_the_stages_and_the_cache_does_not(visit):
    page = visit.open("#/pipeline?model=llama-3.3-70b&stages=8&batch=32")
    settle(page)
    first, *_, last = page.evaluate(ROWS, "memory")
    assert last["stages"] == 8
    assert last["weight_bytes_per_device"] < 0.15 * first["weight_bytes_per_device"]
    assert math.isclose(last["kv_bytes_per_device"], first["kv_bytes_per_device"], rel_tol=1e-6)


def test_a_point_of_the_plan_is_picked_and_shared(visit, browser):
    page = planned(visit.open(DENSE))
    x, y, name = page.evaluate(MARK)
    page.mouse.click(x, y)
    expect(page.locator(".point h2")).to_have_text(f"Point {name[1:]} of the front")
    assert f"point={name}" in page.url
    page.get_by_role("button", name="SGLang").click()
    command = page.locator(".launch pre").first.inner_text()
    assert "sglang.launch_server" in command
    other = browser.new_context().new_page()
    other.goto(page.url)
    planned(other)
    expect(other.locator(".point h2")).to_have_text(f"Point {name[1:]} of the front")
    assert other.locator(".launch pre").first.inner_text() == command


def test_an_infeasible_target_names_the_nearest_option(visit):
    page = visit.open(f"{DENSE}&tpot=3")
    expect(page.get_by_role("alert")).to_contain_text("Nearest: mixed, tp 8", timeout=60_000)
    page.get_by_role("button", name="Allow").click()
    planned(page)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator(".answer").first).to_contain_text("1 × [tp 8]")


def test_a_plan_is_cancelled(visit):
    page = visit.open("#/plan?on=hgx-h200-8x9&devices=72")
    page.get_by_role("button", name="Cancel").click(timeout=30_000)
    expect(page.get_by_role("status")).to_contain_text("Cancelled")
