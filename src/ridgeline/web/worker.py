"""A worker process: questions in, answers out, within limits of memory.

Time is limited from outside: the parent ends a worker that is late, or whose job is cancelled.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from multiprocessing.connection import Connection
from typing import Any

from ridgeline.web.limits import WORKER_BYTES

Message = tuple[str, Any]
"""`("progress", (done, total))`, or `("answer", (status, body))`."""


def serve(pipe: Connection) -> None:
    """Answer questions `(name, body)` from the pipe until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    _limit_memory()
    # After the limit, and only here: the parent does not compute.
    from ridgeline.web.answers import answer  # noqa: PLC0415

    def tell(done: int, total: int) -> None:
        pipe.send(("progress", (done, total)))

    pipe.send(("ready", None))
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            name, body = pipe.recv()
            pipe.send(("answer", answer(name, body, tell)))


def _limit_memory() -> None:
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 - not on every system

        resource.setrlimit(resource.RLIMIT_AS, (WORKER_BYTES, WORKER_BYTES))
