"""Ridgeline: what a token costs, and why."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ridgeline.study.break_even import break_even
    from ridgeline.study.cache import cache
    from ridgeline.study.estimate import estimate
    from ridgeline.study.explain import explain
    from ridgeline.study.margins import margins, speed_modes
    from ridgeline.study.pipelines import pipelines
    from ridgeline.study.plan import plan
    from ridgeline.study.plan_point import plan_point
    from ridgeline.study.price_decode import decode as decode_prices
    from ridgeline.study.racks import racks

_HOMES = {
    "break_even": "ridgeline.study.break_even:break_even",
    "cache": "ridgeline.study.cache:cache",
    "decode_prices": "ridgeline.study.price_decode:decode",
    "estimate": "ridgeline.study.estimate:estimate",
    "explain": "ridgeline.study.explain:explain",
    "margins": "ridgeline.study.margins:margins",
    "pipelines": "ridgeline.study.pipelines:pipelines",
    "plan": "ridgeline.study.plan:plan",
    "plan_point": "ridgeline.study.plan_point:plan_point",
    "racks": "ridgeline.study.racks:racks",
    "speed_modes": "ridgeline.study.margins:speed_modes",
}
__all__ = [
    "break_even",
    "cache",
    "decode_prices",
    "estimate",
    "explain",
    "margins",
    "pipelines",
    "plan",
    "plan_point",
    "racks",
    "speed_modes",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `--help` stays fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ridgeline' has no attribute {name!r}")
    if sys.modules.keys() & {"IPython", "marimo"}:
        from ridgeline.report.notebook import add_rich_display  # noqa: PLC0415 - notebooks only

        add_rich_display()
    module, attribute = _HOMES[name].split(":")
    return getattr(importlib.import_module(module), attribute)
