"""A published day beside its recomputation; computes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ridgeline.report.flags import wrapped
from ridgeline.report.table import Column, render_table
from ridgeline.study.service_day import ServiceDay, Throughput

_COLUMNS = (
    Column(key="quantity", label="quantity", align="left"),
    Column(key="published", label="published", digits=6),
    Column(key="computed", label="ours", digits=6),
    Column(key="error", label="difference %", digits=2),
)


def day_rows(day: ServiceDay, predicted: Sequence[Throughput]) -> list[dict[str, Any]]:
    """Return published and computed, row by row."""
    p = day.entry["published"]
    pairs = (
        ("device cost [USD]", p["cost_usd"], day.account.cost_usd),
        ("income at list price [USD]", p["income_usd"], day.account.income_usd),
        ("profit over cost [%]", 100 * p["profit_over_cost"], 100 * day.account.profit_over_cost),
        *(
            (f"{name}, overlap {t.overlap} [tok/s/node]", p[key], getattr(t, key))
            for name, key in (
                ("prefill, hits included", "prefill_tokens_per_s_per_node"),
                ("decode", "decode_tokens_per_s_per_node"),
            )
            for t in predicted
        ),
    )
    return [
        {"quantity": q, "published": float(a), "computed": float(b), "error": 100 * (b / a - 1)}
        for q, a, b in pairs
    ]


def day_text(day: ServiceDay, predicted: Sequence[Throughput]) -> str:
    """Return the day as a table with its inputs and source."""
    e, a = day.entry, day.account
    batches = " and ".join(f"{t.decode_batch_per_device:g}" for t in predicted)
    return "\n".join(
        [
            e["name"],
            *wrapped(
                f"{e['input_tokens'] / 1e9:g}e9 input tokens ({e['cached_tokens'] / 1e9:g}e9 from"
                f" the cache), {e['output_tokens'] / 1e9:g}e9 output tokens;"
                f" {e['nodes']:g} nodes x {e['devices_per_node']} devices x 24 h x"
                f" {e['usd_per_device_hour']:g} USD"
            ),
            "",
            render_table(_COLUMNS, day_rows(day, predicted)),
            "",
            (
                f"Mean over all nodes: {float(a.input_tokens_per_s_per_node):,.0f} input and"
                f" {float(a.output_tokens_per_s_per_node):,.0f} output tokens/s per node (both"
                " pools counted)."
            ),
            *wrapped(
                "Throughputs are predicted, not recomputed:"
                f" {e['decode']['on']} decodes {batches} sequences per device at"
                f" {e['decode']['tokens_per_s_per_user']} tok/s/user and"
                f" {e['mean_kv_tokens']:,} cached tokens; {e['prefill']['on']} computes"
                f" prompts of {e['prefill']['prompt_tokens']:,} tokens (assumed; not published)."
            ),
            "Income differs by rounding: the token counts are published to three digits.",
            *wrapped(f"Source: {e['source']}."),
        ]
    )


def day_json(day: ServiceDay, predicted: Sequence[Throughput]) -> dict[str, Any]:
    """Return the day as JSON."""
    return {
        "schema_version": "1",
        "inputs": dict(day.entry),
        "cost_usd": day.account.cost_usd,
        "income_usd": day.account.income_usd,
        "profit_over_cost": day.account.profit_over_cost,
        "rows": day_rows(day, predicted),
    }
