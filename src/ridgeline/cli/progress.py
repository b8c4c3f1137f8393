"""A progress bar on standard error, only on a terminal and only when it takes a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

_PATIENCE_S = 2.0
_WIDTH = 30


@contextmanager
def progress_bar(what: str) -> Generator[Callable[[int, int], None]]:
    """Yield a function (done, total) that draws `what` once two seconds have passed."""
    start = time.monotonic()
    drawn = False

    def draw(done: int, total: int) -> None:
        nonlocal drawn
        if time.monotonic() - start < _PATIENCE_S or not sys.stderr.isatty():
            return
        drawn = True
        filled = round(_WIDTH * done / max(total, 1))
        bar = "#" * filled + "." * (_WIDTH - filled)
        sys.stderr.write(f"\r{bar} {done}/{total} {what}")
        sys.stderr.flush()

    try:
        yield draw
    finally:
        if drawn:
            sys.stderr.write("\r" + " " * (_WIDTH + len(what) + 24) + "\r")
            sys.stderr.flush()
