"""How long a person waits for the explorer: first view, and every move of a slider.

Usage: python bench/explorer.py [--moves 60] [--page URL]

Drives a headless Chromium (RIDGELINE_CHROMIUM, or the first on PATH) against a server of its own.
First view: from a browser without cache to the sentence and the first chart on the screen.
Slider: from the input event of a drag to the frame that shows the chart of that value or a later
one, all requests included.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update"]  # fmt: skip
_FIRST = """
addEventListener('ridgeline:drawn', () => requestAnimationFrame(() => setTimeout(() => {
  window.firstDrawn ??= performance.now()
})))
"""
# What a chart shows, as the slider that moved it counts.
_SHOWN = {
    "batch": "(f) => f.mark.x",
    "context": "(f) => f.rows[0].context",
    # of eight devices: USD/h from USD/Mtok, tokens of a step and its seconds
    "price": "({rows: [r]}) =>"
    " Number((r.usd_per_mtok * 3.6e-3 * r.batch / r.step_s / 8).toPrecision(6))",
}
_WATCH = """
() => {
  const shown = SHOWN, figure = () => window.ridgeline.figures.latency
  const waits = (window.waits = []), moved = []
  const slider = document.querySelector('input[name=NAME]')
  let asked = Number(slider.dataset.value)
  slider.addEventListener('input', () => {
    const move = { time: performance.now() }
    moved.push(move)
    setTimeout(() => {
      move.value = Number(slider.dataset.value)
      // a pixel that rounds to the same batch asks nothing
      if (move.value === asked) moved.splice(moved.indexOf(move), 1)
      asked = move.value
    })
  })
  let last = shown(figure())
  addEventListener('ridgeline:drawn', ({ detail }) => {
    if (detail !== 'latency' || shown(figure()) === last) return
    last = shown(figure())
    const known = moved.splice(0, 1 + moved.findLastIndex(({ value }) => value === last))
    requestAnimationFrame(() => setTimeout(() => {
      for (const { time } of known) waits.push(performance.now() - time)
    }))
  })
}
"""


def chromium() -> str:
    """Return the browser's path."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("RIDGELINE_CHROMIUM") or next(filter(None, map(shutil.which, names)), "")
    if not found:
        sys.exit("No Chromium on PATH: set RIDGELINE_CHROMIUM.")
    return found


@contextmanager
def server() -> Iterator[str]:
    """Yield the address of `ridgeline explore` on a free port."""
    command = [sys.executable, "-m", "ridgeline", "explore", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            match = re.search(r"http://\S+", process.stdout.readline() if process.stdout else "")
            if match is None:
                sys.exit("The server did not start.")
            yield match[0]
        finally:
            process.terminate()


def first_views(browser: Browser, address: str, count: int) -> list[float]:
    """Return seconds to the first chart, each in a browser without cache."""
    seconds: list[float] = []
    for _ in range(count):
        context = browser.new_context(viewport={"width": 1920, "height": 1080})
        page = context.new_page()
        page.add_init_script(_FIRST)
        page.goto(address)
        page.wait_for_selector("[data-figure=latency] [data-drawn]")
        page.wait_for_timeout(300)
        seconds.append(page.evaluate("window.firstDrawn") / 1e3)
        context.close()
    return seconds


def drags(page: Page, slider: str, moves: int) -> list[float]:
    """Return milliseconds from each input event of a drag to the frame that shows it."""
    page.evaluate(_WATCH.replace("SHOWN", _SHOWN[slider]).replace("NAME", slider))
    box = page.locator(f"input[name={slider}]").bounding_box()
    if box is None:
        sys.exit(f"No slider {slider} on the page.")
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.15 * box["width"], y)
    page.mouse.down()
    for i in range(moves):
        page.mouse.move(box["x"] + (0.15 + 0.6 * i / moves) * box["width"], y)
        page.wait_for_timeout(33)
    page.mouse.up()
    page.wait_for_timeout(500)
    return list(page.evaluate("window.waits"))


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=60)
    parser.add_argument("--page", default="")
    given = parser.parse_args()
    with server() as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium(), args=ARGS)
        views = first_views(browser, address + given.page, 6)
        print(f"first view, cold server  {views[0]:6.2f} s")
        print(
            f"first view, warm server  {np.median(views[1:]):6.2f} s (largest {max(views[1:]):.2f})"
        )
        page = browser.new_page(viewport={"width": 1920, "height": 1080})
        page.goto(address + given.page)
        page.wait_for_selector("[data-figure=latency] [data-drawn]")
        page.wait_for_timeout(500)
        for slider in _SHOWN:
            waits = drags(page, slider, given.moves)
            p50, p95 = np.percentile(waits, [50, 95])
            print(f"{slider:8s} drag  p50 {p50:4.0f} ms  p95 {p95:4.0f} ms  ({len(waits)} moves)")
        browser.close()


if __name__ == "__main__":
    main()
