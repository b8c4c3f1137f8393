"""Journeys through the Estimate page, in a real browser."""

import json
import re

import pytest

from browser_pages import settle

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
STEP = "() => window.ridgeline.figures.latency.rows.map((row) => row.step_s)"


def drawn(page, name: str = "latency"):
    """Wait for a figure."""
    page.wait_for_selector(f"[data-figure={name}] [data-drawn]")
    return page


def drag(page, name: str, to: float) -> None:
    """Drag a slider with the mouse to a share of its width."""
    box = page.locator(f"input[name={name}]").bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    for i in range(1, 6):
        page.mouse.move(box["x"] + box["width"] * (0.5 + (to - 0.5) * i / 5), y)
    page.mouse.up()


def test_dragging_a_slider_changes_the_data_of_the_chart(visit):
    page = drawn(visit.open("#/estimate?batch=32&context=4096"))
    settle(page)
    before = page.evaluate(STEP)
    drag(page, "context", 0.9)
    settle(page)
    after = page.evaluate(STEP)
    # Longer contexts: no step gets shorter, and the large batches get much longer.
    assert all(new >= old * 0.999 for new, old in zip(after, before, strict=False))
    assert after[-1] > 2 * before[-1]
    assert "context=" in page.url


def test_a_shared_link_reproduces_the_view(visit, browser):
    page = drawn(visit.open("#/estimate"))
    drag(page, "batch", 0.7)
    page.get_by_label("KV cache", exact=True).select_option("fp8")
    page.get_by_label("TP", exact=True).fill("4")
    page.get_by_label("TP", exact=True).press("Enter")
    page.get_by_label("TP", exact=True).blur()
    settle(page)
    said, data, link = page.locator(".answer").inner_text(), page.evaluate(STEP), page.url
    other = browser.new_context().new_page()
    other.goto(link)
    drawn(other)
    settle(other)
    assert other.locator(".answer").inner_text() == said
    assert other.evaluate(STEP) == data
    assert other.get_by_label("TP", exact=True).input_value() == "4"
    other.context.close()


def test_going_back_undoes_a_setting(visit):
    page = drawn(visit.open("#/estimate"))
    settle(page)
    before = page.locator(".answer").inner_text()
    page.get_by_label("Weights", exact=True).select_option("fp8")
    expect(page.locator(".answer")).not_to_have_text(before)
    page.go_back()
    expect(page.get_by_label("Weights", exact=True)).to_have_value("auto")
    expect(page.locator(".answer")).to_have_text(before)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"model_type": "llama", ', "broken.json is not a config.json"),
        (b'{"model_type": "never-heard-of"}', "never-heard-of"),
        (b'{"model_type": "llama", "hidden_size": "wide"}', "hidden_size"),
    ],
)
def test_a_bad_config_shows_the_error_sentence(visit, content, words):
    page = drawn(visit.open("#/estimate"))
    page.locator("input[name=config]").set_input_files(
        {"name": "broken.json", "mimeType": "application/json", "buffer": content}
    )
    expect(page.get_by_role("alert")).to_contain_text(words)


def test_a_config_of_ones_own_is_estimated_and_shared(visit):
    page = drawn(visit.open("#/estimate?on=h100-sxm"))
    config = {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 14336, "vocab_size": 128256, "torch_dtype": "bfloat16",
        "max_position_embeddings": 8192, "tie_word_embeddings": False,
    }  # fmt: skip
    page.locator("input[name=config]").set_input_files(
        {"name": "mine.json", "mimeType": "application/json", "buffer": json.dumps(config).encode()}
    )
    expect(page.locator(".taken code")).to_have_text("mine")
    settle(page)
    said = page.locator(".answer").inner_text()
    # 8.03e9 weights of 2 bytes over 3.35 TB/s: 4.8 ms at least
    assert float(re.match(r"([\d.]+)\sms", said)[1]) > 4.7
    page.reload()
    expect(page.locator(".answer")).to_have_text(said)


def test_a_model_is_found_by_typing(visit):
    page = drawn(visit.open("#/estimate"))
    settle(page)
    box = page.get_by_label("Model", exact=True)
    box.fill("qwen3 235b")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(box).to_have_value(re.compile("qwen3-235b"))
    settle(page)
    assert "qwen3-235b" in page.url


def test_exports_hold_the_numbers_on_the_screen(visit):
    page = drawn(visit.open("#/estimate"))
    settle(page)
    figure = page.locator("[data-figure=latency]")

    def saved(kind: str) -> bytes:
        with page.expect_download() as download:
            figure.get_by_role("button", name=kind).click()
        assert download.value.suggested_filename == f"latency.{kind.lower()}"
        return download.value.path().read_bytes()

    header, first, *_ = saved("CSV").decode().splitlines()
    assert header.startswith("batch [sequences],context [tokens],step [s]")
    step = page.evaluate("() => window.ridgeline.figures.latency.rows[0].step_s")
    assert float(first.split(",")[2]) == step
    assert json.loads(saved("JSON"))["rows"][0]["step_s"] == step
    assert saved("SVG").startswith(b"<svg")
    assert saved("PNG").startswith(b"\x89PNG")


def test_an_impossible_layout_says_why(visit):
    page = visit.open("#/estimate?tp=3")
    expect(page.get_by_role("alert")).to_contain_text("tp")
