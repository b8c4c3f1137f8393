"""Waiting for the explorer in a browser."""

_FRAME = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60)))"


_IDLE = 'html:not([data-asking]), html[data-asking="0"]'


def settle(page) -> None:
    """Wait until no question is on its way, nor one that an answer led to, and all is drawn."""
    for _ in range(3):
        page.evaluate(_FRAME)
        page.wait_for_selector(_IDLE, state="attached")
    page.evaluate(_FRAME)
