"""A what-if sweep as text, rows and JSON."""

from __future__ import annotations

import json
from typing import Any

from ridgeline.report.estimate import finite
from ridgeline.report.flags import flag_lines
from ridgeline.report.table import Column, render_table
from ridgeline.units import human, significant

SCHEMA_VERSION = "1"
_FIRST = [Column(key="figure", label="figure"), Column(key="times", label="factor")]
_ESTIMATE = [
    Column(key="batch", label="batch"),
    Column(key="context", label="context"),
    Column(key="step_ms", label="step ms"),
    Column(key="tokens_per_s_per_user", label="tok/s/user"),
    Column(key="tokens_per_s_per_device", label="tok/s/device"),
    Column(key="usd_per_mtok", label="USD/Mtok"),
    Column(key="bound_by", label="bound by", align="left"),
    Column(key="fits", label="fits", align="left"),
]
_PLAN = [
    Column(key="winner", label="winner", align="left", wrap=True),
    Column(key="batch", label="batch"),
    Column(key="ttft_ms", label="TTFT ms"),
    Column(key="tpot_ms", label="TPOT ms"),
    Column(key="tokens_per_s_per_device", label="tok/s/device"),
    Column(key="usd_per_mtok", label="USD/Mtok"),
]


def render_sweep(sweep: Any, style: str) -> str:
    """Return the sweep as text, Markdown, CSV (SI, full precision) or JSON."""
    rows = [{k: finite(v) for k, v in row.items()} for row in sweep.rows]
    if style == "json":
        return json.dumps(
            {
                "schema_version": SCHEMA_VERSION,
                "request": dict(sweep.request),
                "figure": sweep.figure,
                "unit": sweep.unit,
                "rows": rows,
                "flags": list(sweep.flags),
            },
            allow_nan=False,
        )
    if style == "csv":
        keys = dict.fromkeys(k for row in rows for k in row)
        return render_table([Column(key=k, label=k) for k in keys], rows, style="csv")
    chosen = _PLAN if any("winner" in row for row in rows) else _ESTIMATE
    shown = [_shown(row, sweep.unit) for row in rows]
    if style == "markdown":
        return render_table([*_FIRST, *chosen], shown, style="markdown")
    asked = sweep.request
    heading = f"{asked['model']} on {asked['on']}, {asked['devices']} devices: what if"
    table = render_table([*_FIRST, *chosen], shown)
    return "\n".join([f"{heading} {sweep.figure}", "", table, "", *flag_lines(sweep.flags)])


def _shown(row: dict[str, Any], unit: str) -> dict[str, Any]:
    value = row["value"]
    times = {
        key.replace("_s", "_ms"): None if row.get(key) is None else row[key] * 1e3
        for key in ("step_s", "ttft_s", "tpot_s")
    }
    return {
        **row,
        **times,
        "winner": row.get("winner") or "none meets the targets",
        "figure": significant(value) if unit == "1" else human(value, unit),
        "times": f"{significant(row['factor'])}x",
    }
