"""The pipeline study as text, rows and JSON."""

from __future__ import annotations

import json
import textwrap
from typing import Any

from ridgeline.report.estimate import layout_text
from ridgeline.report.flags import flag_lines
from ridgeline.report.table import MAX_WIDTH, Column, render_table
from ridgeline.schedule.pipeline import idle_share, token_period_s
from ridgeline.units import human, significant

SCHEMA_VERSION = "1"
_COLUMNS = (
    Column(key="stages", label="P"),
    Column(key="devices", label="devices"),
    Column(key="micro_batches", label="M"),
    Column(key="weights", label="weights"),
    Column(key="cache", label="KV, B = M·b"),
    Column(key="cache_fixed", label="KV, B = b"),
    Column(key="fits", label="fits", align="left"),
    Column(key="tpot", label="TPOT"),
    Column(key="hops", label="hops"),
    Column(key="idle", label="idle %"),
    Column(key="stage_imbalance", label="uneven"),
    Column(key="tokens_per_s_per_device", label="tok/s/device"),
)


def render_pipelines(result: Any, style: str) -> str:
    """Return the study as text, Markdown, CSV (SI, full precision) or JSON."""
    rows = [dict(row) for row in result.rows]
    if style == "json":
        return json.dumps(
            {
                "schema_version": SCHEMA_VERSION,
                "request": dict(result.request),
                "rows": rows,
                "loops": [_loop_json(result, m, loop) for m, loop in result.loops],
                "stages": [dict(s) for s in result.stages],
                "verdict": result.verdict,
                "flags": list(result.flags),
            },
            allow_nan=False,
        )
    if style == "csv":
        return render_table([Column(key=k, label=k) for k in rows[0]], rows, style="csv")
    shown = [_shown(row) for row in rows]
    if style == "markdown":
        return render_table(_COLUMNS, shown, style="markdown")
    return _text(result, shown)


def _loop_json(result: Any, m: int, loop: Any) -> dict[str, Any]:
    return {
        "stages": result.loop_stages,
        "micro_batches": m,
        "token_period_s": token_period_s(loop),
        "idle_share": idle_share(loop),
        "tasks": [
            {
                "stage": task.resource,
                "micro_batch": task.micro_batch,
                "token": task.token,
                "start_s": start,
                "end_s": end,
            }
            for task, start, end in zip(loop.tasks, loop.start_s, loop.end_s, strict=True)
        ],
    }


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "weights": human(row["weight_bytes_per_device"], "B"),
        "cache": human(row["kv_bytes_per_device"], "B"),
        "cache_fixed": human(row["kv_bytes_per_device_batch_fixed"], "B"),
        "tpot": human(row["tpot_s"], "s"),
        "hops": human(row["hop_s"] * row["stages"] if row["stages"] > 1 else 0.0, "s"),
        "idle": row["idle_share"] * 100,
    }


def _sign(m: int, stages: int) -> str:
    return "<" if m < stages else ">" if m > stages else "="


def _text(result: Any, shown: list[dict[str, Any]]) -> str:
    asked = result.request
    heading = (
        f"{asked['model']} in P stages of {asked['devices_per_stage']} devices each"
        f" ({layout_text(asked['stage_layout'])}; {asked['on']}): decode, micro-batches of"
        f" {asked['batch']:,} sequences at {asked['context']:,} tokens"
    )
    legend = [
        "per device; b: sequences of a micro-batch, M: micro-batches, B: sequences in all;",
        "KV if the batch grows with the stages, and if it did not; uneven: slowest stage / mean",
    ]
    loops = [
        {
            "micro": f"{m} {_sign(m, result.loop_stages)} {result.loop_stages}",
            "period": human(token_period_s(loop), "s"),
            "idle": significant(100 * idle_share(loop)),
            "rule": significant(100 * max(0.0, 1 - m / result.loop_stages)),
        }
        for m, loop in result.loops
    ]
    stages = [{**s, "time": human(s["time_s"], "s")} for s in result.stages]
    return "\n".join(
        [
            *textwrap.wrap(heading, MAX_WIDTH),
            *legend,
            render_table(_COLUMNS, shown),
            "",
            *textwrap.wrap(result.verdict, MAX_WIDTH),
            "",
            f"decode loop of {result.loop_stages} stages, run task by task",
            render_table(
                (
                    Column(key="micro", label="M against P"),
                    Column(key="period", label="time per token"),
                    Column(key="idle", label="idle %"),
                    Column(key="rule", label="1 - M/P, %"),
                ),
                loops,
            ),
            "",
            "stages of the deepest pipeline",
            render_table(
                (
                    Column(key="stage", label="stage"),
                    Column(key="time", label="time"),
                    Column(key="layers", label="layers", align="left", wrap=True),
                ),
                stages,
            ),
            "",
            *flag_lines(result.flags),
        ]
    )
