"""One option of a plan, taken apart, as text, rows and JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from ridgeline.report.plan import SCHEMA_VERSION, how_text, option_json
from ridgeline.report.table import Column, Style, render_table
from ridgeline.units import human, significant

_PARTS = (
    Column(key="phase", label="step", align="left"),
    Column(key="name", label="part", align="left"),
    Column(key="time", label="time"),
    Column(key="share", label="share %"),
    Column(key="limit", label="limit", align="left"),
)
_STEPS = (
    Column(key="phase", label="step", align="left"),
    Column(key="time", label="time"),
    Column(key="per_token", label="per token"),
    Column(key="limits", label="limits, % of the step", align="left", wrap=True),
)


def point_json(point: Any) -> dict[str, Any]:
    """Return the stable JSON document of one option in SI units."""
    return {
        "schema_version": SCHEMA_VERSION,
        "option": option_json(point.option),
        "steps": [
            {
                "phase": step.phase,
                "step_s": step.step_s,
                "per_token": step.per_token,
                "limits_s": dict(step.limits_s),
                "parts": [dataclasses.asdict(part) for part in step.parts],
            }
            for step in point.steps
        ],
        "transfer_s": point.transfer_s,
        "memory_bytes": dict(point.memory_bytes),
        "capacity_bytes": point.capacity_bytes,
        "device_s_per_token": dict(point.device_s_per_token),
    }


def render_point(point: Any, style: str) -> str:
    """Return one option as text, Markdown or CSV of its parts, or JSON."""
    if style == "json":
        return json.dumps(point_json(point), allow_nan=False)
    parts = [(step, part) for step in point.steps for part in step.parts]
    if style == "csv":
        rows = [{"phase": step.phase, **dataclasses.asdict(part)} for step, part in parts]
        return render_table([Column(key=k, label=k) for k in rows[0]], rows, style="csv")
    table = [
        {
            "phase": step.phase,
            "name": part.name,
            "time": human(part.time_s, "s"),
            "share": 100 * part.time_s / step.step_s,
            "limit": part.limit,
        }
        for step, part in parts
    ]
    shown: Style = "markdown" if style == "markdown" else "text"
    rendered = render_table(_PARTS, table, style=shown)
    return rendered if style == "markdown" else _text(point, rendered)


def _text(point: Any, parts: str) -> str:
    option = point.option
    steps = [
        {
            "phase": step.phase,
            "time": human(step.step_s, "s"),
            "per_token": step.per_token,
            "limits": ", ".join(
                f"{k} {significant(100 * v / step.step_s)}" for k, v in step.limits_s.items()
            ),
        }
        for step in point.steps
    ]
    held = ", ".join(f"{k} {human(v, 'B')}" for k, v in point.memory_bytes.items())
    moved = ""
    if point.transfer_s is not None:
        moved = f"; moving a prompt's cache {human(point.transfer_s, 's')}"
    return "\n".join(
        [
            how_text(option),
            f"batch {option.batch:,} per replica; {option.weights}, cache {option.kv}",
            f"TTFT {human(option.ttft_s, 's')}, TPOT {human(option.tpot_s, 's')}{moved}",
            "",
            "TPOT = steps x time, with steps per output token:",
            render_table(_STEPS, steps),
            "",
            parts,
            "",
            f"memory per device: {held}",
            f"of {human(point.capacity_bytes, 'B')}",
        ]
    )
