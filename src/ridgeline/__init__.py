"""Ridgeline: what a token costs, and why."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ridgeline.study.estimate import estimate
    from ridgeline.study.plan import plan

_HOMES = {
    "estimate": "ridgeline.study.estimate",
    "plan": "ridgeline.study.plan",
}
__all__ = ["estimate", "plan"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `--help` stays fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ridgeline' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
