"""Rich display in notebooks: the tables that the command prints, as HTML."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ridgeline.report import cache, estimate, explain, margins, plan, plan_point, price_decode
from ridgeline.report.html import body_parts
from ridgeline.report.pipelines import render_pipelines
from ridgeline.report.racks import render_racks
from ridgeline.report.table import collected_tables
from ridgeline.study.break_even import BreakEven
from ridgeline.study.cache import CacheAnswer
from ridgeline.study.estimate import Estimate
from ridgeline.study.explain import Explanation
from ridgeline.study.margins import Margins, SpeedModes
from ridgeline.study.pipelines import Pipelines
from ridgeline.study.plan import Plan
from ridgeline.study.plan_point import PlanPoint
from ridgeline.study.price_coverage import known_truth
from ridgeline.study.price_decode import Decoded
from ridgeline.study.racks import RacksResult


def _decoded(result: Decoded) -> str:
    return price_decode.decoded_text(result, known_truth(result.row.id))


_TEXTS: dict[type, Callable[[Any], str]] = {
    BreakEven: margins.break_even_text,
    CacheAnswer: cache.cache_text,
    Decoded: _decoded,
    Estimate: estimate.estimate_text,
    Explanation: explain.explain_text,
    Margins: margins.margins_text,
    Pipelines: lambda r: render_pipelines(r, "text"),
    Plan: plan.plan_text,
    PlanPoint: lambda r: plan_point.render_point(r, "text"),
    RacksResult: lambda r: render_racks(r, "text"),
    SpeedModes: margins.modes_text,
}
"""What the command prints of each result."""


def result_html(result: Any) -> str:
    """Return a result as an HTML fragment: the tables and notes of its command.

    Args:
        result: What a public function returned.

    Source: first principles.
    """
    with collected_tables() as tables:
        text = _TEXTS[type(result)](result)
        return "\n".join(body_parts(text, tables))


def add_rich_display() -> None:
    """Let notebooks show results as tables: the results themselves know nothing of HTML."""
    for kind in _TEXTS:
        kind._repr_html_ = result_html  # type: ignore[attr-defined]
