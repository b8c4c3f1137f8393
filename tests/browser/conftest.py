"""A real Chromium against a server of its own; every page is watched for errors and strangers."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

_ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update"]  # fmt: skip


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("RIDGELINE_CHROMIUM") or next(filter(None, map(shutil.which, names)), "")
    if not path:
        pytest.skip("needs Chromium: install one or set RIDGELINE_CHROMIUM to its path")
    with playwright.sync_playwright() as play:
        playwright.expect.set_options(timeout=20_000)
        found = play.chromium.launch(executable_path=path, args=_ARGS)
        yield found
        found.close()


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of `ridgeline explore` on a free port."""
    command = [sys.executable, "-m", "ridgeline", "explore", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found
        yield found[0]
        process.terminate()


@dataclass
class Visit:
    """One page and what went wrong on it."""

    page: object
    address: str
    faults: list[str] = field(default_factory=list)

    def open(self, hash_: str):
        """Go to a view and return the page, once it has a heading."""
        self.page.goto(f"{self.address}/{hash_}")
        self.page.wait_for_selector("h1")
        return self.page


@pytest.fixture
def visit(browser, address, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """A browser without a past. Fails on console errors, exceptions and foreign requests.

    Mark a test with `@pytest.mark.parametrize("settings", [{...}], indirect=True)` for another
    width or theme.
    """
    settings = getattr(request, "param", {"viewport": {"width": 1920, "height": 1080}})
    context = browser.new_context(**settings)
    page = context.new_page()
    page.set_default_timeout(20_000)
    seen = Visit(page, address)

    def on_console(message: object) -> None:
        # The browser itself logs every refused question (4xx), which pages show as a sentence.
        if message.type in {"error", "warning"} and "Failed to load resource" not in message.text:
            seen.faults.append(f"console: {message.text}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: seen.faults.append(f"exception: {error}"))
    page.on(
        "request",
        lambda asked: (
            None
            if asked.url.startswith((address, "blob:", "data:"))
            else seen.faults.append(f"foreign: {asked.url}")
        ),
    )
    yield seen
    context.close()
    assert seen.faults == []
