"""The rack study as text, rows and JSON."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import numpy as np

from ridgeline.report.flags import flag_lines
from ridgeline.report.table import MAX_WIDTH, Column, Style, render_table
from ridgeline.units import human, significant

SCHEMA_VERSION = "1"
_CLIFF = [
    Column(key="racks", label="racks"),
    Column(key="ratio", label="up/out"),
    Column(key="crossing", label="leaves rack"),
    Column(key="slowdown_chalk", label="slowdown"),
    Column(key="chalk", label="chalk"),
    Column(key="ideal", label="bound"),
    Column(key="once", label="once per rack"),
    Column(key="detailed", label="detailed"),
    Column(key="algorithm", label="algorithm", align="left", wrap=True),
]
_NETWORKS = [
    Column(key="network", label="network", align="left"),
    Column(key="ideal", label="bound"),
    Column(key="once", label="once per node"),
    Column(key="detailed", label="detailed"),
    Column(key="algorithm", label="algorithm", align="left", wrap=True),
]
_DOMAINS = [
    Column(key="cluster", label="scale-up domain", align="left"),
    Column(key="devices", label="devices"),
    Column(key="capacity", label="memory"),
    Column(key="reserve", label="KV reserve"),
    Column(key="bf16", label="bf16 params"),
    Column(key="fp8", label="fp8 params"),
    Column(key="fp4", label="fp4 params"),
]


def as_json(result: Any) -> dict[str, Any]:
    """Return the result in SI units; the traffic is summed to racks."""
    exchange = result.exchange
    return {
        "schema_version": SCHEMA_VERSION,
        "request": result.request,
        "exchange": {
            "hidden_size": exchange.hidden_size,
            "moe_layers": exchange.moe_layers,
            "num_experts": int(exchange.routing.num_experts),
            "num_experts_per_tok": int(exchange.routing.top_k),
            "num_groups": int(exchange.routing.num_groups),
            "num_groups_per_tok": int(exchange.routing.top_groups),
            "dispatch_bytes_per_element": exchange.dispatch_bytes,
            "combine_bytes_per_element": exchange.combine_bytes,
        },
        "cliff": result.cliff,
        "rack_to_rack_dispatch_bytes_per_layer": rack_blocks(result).tolist(),
        "imbalance": result.imbalance,
        "domains": result.domains,
        "topologies": result.topologies,
        "flags": list(result.flags),
    }


def rack_blocks(result: Any) -> Any:
    """Return dispatch bytes of one layer from each rack to each [B], [racks, racks]."""
    size = result.request["devices_per_rack"]
    count = result.traffic_bytes.shape[0] // size
    return result.traffic_bytes.reshape(count, size, count, size).sum(axis=(1, 3))


def render_racks(result: Any, style: str) -> str:
    """Return the result as text, Markdown, CSV or JSON."""
    if style == "json":
        return json.dumps(as_json(result), allow_nan=False)
    if style == "csv":
        columns = [Column(key=key, label=key, digits=None) for key in result.cliff[0]]
        return render_table(columns, result.cliff, style="csv")
    if style == "markdown":
        return render_table(_CLIFF, [_cliff(row) for row in result.cliff], style="markdown")
    return _text(result)


def _times(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "ideal": human(row["time_ideal_s"], "s"),
        "once": human(row["time_ideal_once_per_rack_s"], "s"),
        "detailed": human(row["time_detailed_s"], "s"),
    }


def _cliff(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **_times(row),
        "crossing": f"{significant(100 * row['crossing_share'])} %",
        "chalk": human(row["time_chalk_s"], "s"),
    }


def _shown(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for a single rack, which has no scale-out link."""
    alone = [row for row in rows if row["racks"] == 1][:1]
    first = [{**_cliff(row), "ratio": "any"} for row in alone]
    return first + [_cliff(row) for row in rows if row["racks"] > 1]


def _domain(row: dict[str, Any]) -> dict[str, Any]:
    def params(width: str) -> str:
        return human(row[f"params_{width}"], "") if row["kv_fits"] else "none: KV fills it"

    return {
        **row,
        "capacity": human(row["capacity_bytes"], "B"),
        "reserve": human(row["kv_reserve_bytes"], "B"),
        **{width: params(width) for width in ("bf16", "fp8", "fp4")},
    }


def _text(result: Any) -> str:
    asked, exchange = result.request, result.exchange
    style: Style = "text"
    blocks = rack_blocks(result)
    sent = (
        f"{asked['model']}: {exchange.moe_layers} layers send {int(exchange.routing.top_k)} copies"
        f" of {exchange.hidden_size:,} elements to {int(exchange.routing.num_experts)} experts,"
        f" {significant(exchange.dispatch_bytes)} B per element out,"
        f" {significant(exchange.combine_bytes)} B back."
    )
    where = (
        f"{asked['devices_per_rack']} devices per rack ({asked['on']}),"
        f" {asked['tokens_per_device']} tokens per device; scale-up"
        f" {human(asked['scale_up_bytes_per_s'], 'B/s')} per device and direction."
    )
    crossing = (
        f"One layer's dispatch over {len(blocks)} racks:"
        f" {human(float(np.trace(blocks)), 'B')} stay in their rack,"
        f" {human(float(blocks.sum() - np.trace(blocks)), 'B')} cross."
    )
    lines = textwrap.wrap(sent, MAX_WIDTH) + textwrap.wrap(where, MAX_WIDTH) + [crossing]
    if result.imbalance > 1.005:
        skew = significant(result.imbalance)
        lines.append(
            f"The fullest device receives {skew} times the mean; all but chalk wait for it."
        )
    held = (
        f"Largest model per domain beside {asked['tokens_per_device']} sequences of"
        f" {asked['context']:,} tokens per device:"
    )
    lines += [
        "",
        "All-to-all of one step, all layers, out and back:",
        render_table(_CLIFF, _shown(result.cliff), style=style),
        "",
        "The same experts on other networks:",
        render_table(_NETWORKS, [_times(row) for row in result.topologies], style=style),
        "",
        held,
        render_table(_DOMAINS, [_domain(row) for row in result.domains], style=style),
        "",
        "up/out: scale-up over scale-out bandwidth. chalk, slowdown: both networks at once, all",
        "copies counted. bound: datasheet rates, no latency, the sender's own copies excluded.",
        "once: a token crosses once to each rack or node that holds any of its experts. detailed:",
        "fitted latency and rates, best algorithm.",
        *flag_lines(result.flags),
    ]
    return "\n".join(lines)
