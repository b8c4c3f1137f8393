"""A placement of experts as text, rows, JSON and a heat map."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ridgeline.placement.expert_result import ExpertsResult
from ridgeline.report.figure import new_figure, save_figure
from ridgeline.report.flags import flag_lines
from ridgeline.report.output import check_output
from ridgeline.report.table import Column, Style, render_table
from ridgeline.units import human, significant

SCHEMA_VERSION = "1"
_SHOWN = 12
"""Layers in the text table: those that were worst."""


def rows_of(result: ExpertsResult) -> list[dict[str, Any]]:
    """Return one row per layer: imbalance and traffic before and after."""
    before, after, factor = result.before, result.after, result.bytes_factor
    rows: list[dict[str, Any]] = []
    for i, layer in enumerate(result.log.layer_names):
        row: dict[str, Any] = {
            "layer": layer,
            "tokens": float(result.log.load[i].sum()),
            "imbalance_before": float(before.imbalance[i]),
            "imbalance_after": float(after.imbalance[i]),
            "imbalance_bound": float(result.bound[i]),
            "rack_imbalance_before": float(before.rack_imbalance[i]),
            "rack_imbalance_after": float(after.rack_imbalance[i]),
        }
        for tier in ("rack", "node"):
            for name, measured in (("before", before), ("after", after)):
                messages = float(getattr(measured, f"cross_{tier}")[i])
                row[f"cross_{tier}_messages_{name}"] = messages
                row[f"cross_{tier}_bytes_{name}"] = None if factor is None else messages * factor
        rows.append(row)
    return rows


def _columns(result: ExpertsResult, style: Style) -> list[Column]:
    if style == "csv":
        return [Column(key=key, label=key, digits=None) for key in rows_of(result)[0]]
    columns = [
        Column(key="layer", label="layer"),
        Column(key="imbalance", label="fullest rank / mean"),
        Column(key="imbalance_bound", label="bound", digits=4),
    ]
    if result.tree.num_racks > 1:
        columns.append(Column(key="rack_imbalance", label="fullest rack / mean"))
    for tier, many in (("rack", result.tree.num_racks), ("node", result.tree.num_nodes)):
        if many > 1:
            columns.append(Column(key=f"cross_{tier}", label=f"leaves the {tier}"))
    return columns


def render_experts(result: ExpertsResult, style: str) -> str:
    """Return the result as text, Markdown, CSV or JSON."""
    if style == "json":
        return json.dumps(as_json(result), allow_nan=False)
    rows = rows_of(result)
    if style == "csv":
        return render_table(_columns(result, "csv"), rows, style="csv")
    for row in rows:
        for key in ("imbalance", "rack_imbalance"):
            row[key] = " → ".join(significant(row[f"{key}_{n}"], 4) for n in ("before", "after"))
        for tier in ("rack", "node"):
            row[f"cross_{tier}"] = " → ".join(
                _traffic(result, row[f"cross_{tier}_messages_{n}"], row["tokens"])
                for n in ("before", "after")
            )
    if style == "markdown":
        return render_table(_columns(result, "markdown"), rows, style="markdown")
    worst = sorted(rows, key=lambda row: -row["imbalance_before"])[:_SHOWN]
    lines = [*_heading(result), "", *_summary(result), ""]
    if len(rows) > len(worst):
        lines.append(
            f"The {len(worst)} layers that were worst, before → after (all layers: --csv):"
        )
    lines.append(render_table(_columns(result, "text"), worst))
    notes = flag_lines(result.flags)
    return "\n".join([*lines, *(["", *notes] if notes else [])])


def _traffic(result: ExpertsResult, messages: float, total: float) -> str:
    factor = result.bytes_factor
    if factor is None:
        return f"{significant(100.0 * messages / total)} %"
    return human(messages * factor, "B")


def _heading(result: ExpertsResult) -> list[str]:
    tree, log = result.tree, result.log
    groups = f" in {result.num_groups} groups kept on a node" if result.num_groups > 1 else ""
    first = f"{result.source}: {log.num_layers} layers of {log.num_experts} experts{groups}"
    slots = result.placement.slots_per_rank
    second = (
        f"on {_some(tree.num_ranks, 'rank')} of {_some(slots, 'slot')} "
        f"({result.num_redundant} redundant experts), {_some(tree.num_nodes, 'node')}, "
        f"{_some(tree.num_racks, 'rack')}"
    )
    return [first, second]


def _some(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _summary(result: ExpertsResult) -> list[str]:
    before, after, tree = result.before, result.after, result.tree
    columns = [
        Column(key="what", label="all layers", align="left"),
        Column(key="before", label="before", align="right"),
        Column(key="after", label="after", align="right"),
        Column(key="bound", label="bound", align="right"),
    ]
    rows: list[dict[str, Any]] = [
        {
            "what": "fullest rank / mean, summed (what a step waits for)",
            "before": significant(before.total_imbalance, 4),
            "after": significant(after.total_imbalance, 4),
            "bound": significant(result.total_bound, 4),
        },
        {
            "what": "the same in the worst layer",
            "before": significant(float(before.imbalance.max()), 4),
            "after": significant(float(after.imbalance.max()), 4),
            "bound": significant(float(result.bound.max()), 4),
        },
    ]
    total = float(result.log.load.sum())
    unit = "" if result.tokens is None or result.bytes_factor is None else ", per token"
    for tier, many in (("rack", tree.num_racks), ("node", tree.num_nodes)):
        if many > 1:
            sums = [float(getattr(m, f"cross_{tier}").sum()) for m in (before, after)]
            what = f"tokens sent that leave the {tier}"
            if result.bytes_factor is not None:
                what = f"bytes leaving the {tier}{unit}"
            cells = [_traffic(result, s, total) for s in sums]
            rows.append({"what": what, "before": cells[0], "after": cells[1], "bound": None})
    return render_table(columns, rows).splitlines()


def as_json(result: ExpertsResult) -> dict[str, Any]:
    """Return the stable JSON form, with the placement in the terms of DeepSeek's EPLB."""
    place = result.placement
    return {
        "schema_version": SCHEMA_VERSION,
        "source": result.source,
        "num_ranks": result.tree.num_ranks,
        "ranks_per_node": result.tree.ranks_per_node,
        "nodes_per_rack": result.tree.nodes_per_rack,
        "num_redundant_experts": result.num_redundant,
        "num_groups": result.num_groups,
        "message_bytes": result.message_bytes,
        "tokens": result.tokens,
        "imbalance_before": result.before.total_imbalance,
        "imbalance_after": result.after.total_imbalance,
        "imbalance_bound": result.total_bound,
        "layers": rows_of(result),
        "rank_loads_before": result.before.rank_loads.tolist(),
        "rank_loads_after": result.after.rank_loads.tolist(),
        "physical_to_logical": place.physical_to_logical.tolist(),
        "logical_to_physical": place.logical_to_physical.tolist(),
        "copies": place.copies.tolist(),
        "flags": list(result.flags),
    }


def check_placement(path: Path, routing: Path) -> None:
    """Refuse a file that the placement cannot be written to, before work is done.

    Raises:
        InputError: see `check_output`.
    """
    check_output(path, flag="--placement", suffixes=(".json",), inputs=(routing,))


def write_placement(result: ExpertsResult, path: Path) -> None:
    """Write the file that SGLang's --init-expert-location reads.

    It has a row for every layer of the model up to the last one in the log; layers without
    routing get the initial placement.
    """
    table, names = result.placement.physical_to_logical, result.log.layer_names
    slots = table.shape[1]
    full = np.tile(np.arange(slots, dtype=np.int64) % result.log.num_experts, (max(names) + 1, 1))
    full[list(names)] = table
    path.write_text(json.dumps({"physical_to_logical_map": full.tolist()}), encoding="utf-8")


def plot_experts(result: ExpertsResult, path: Path) -> None:
    """Draw rank × layer load before and after, and max/mean per layer with its bound."""
    from matplotlib.colors import TwoSlopeNorm  # noqa: PLC0415 - slow to import

    figure, axes = new_figure(1, 3, width=14.0, height=max(4.0, 2.5 + 0.06 * result.log.num_layers))
    mean = result.before.rank_loads.mean(axis=1, keepdims=True)
    heat = [m.rank_loads / mean for m in (result.before, result.after)]
    # One scale for both, or a reader would compare colours that mean different loads.
    high = max(float(np.quantile(heat[0], 0.995)), float(heat[1].max()), 1.05)
    scale = TwoSlopeNorm(vmin=0.0, vcenter=1.0, vmax=high)
    names = result.log.layer_names
    positions = range(0, len(names), max(1, len(names) // 12))
    image = None
    for axis, load, title in zip(axes[0, :2], heat, ("before", "after"), strict=True):
        image = axis.imshow(load, aspect="auto", cmap="RdBu_r", norm=scale, interpolation="nearest")
        axis.grid(visible=False)
        axis.set(title=f"{title}: fullest rank {load.max():.3g} × mean", xlabel="rank")
        axis.set_ylabel("layer")
        axis.set_yticks(list(positions), [str(names[i]) for i in positions])
    figure.colorbar(image, ax=list(axes[0, :2]), label="load / mean of the layer", extend="max")
    axis, at = axes[0, 2], np.arange(len(names))
    axis.plot(result.before.imbalance, at, "o", color="#D55E00", label="before", markersize=4)
    axis.plot(result.after.imbalance, at, "o", color="#0072B2", label="after", markersize=4)
    axis.plot(result.bound, at, "|", color="#000000", label="bound", markersize=8)
    axis.set(xlabel="fullest rank / mean", ylabel="layer", title="Imbalance per layer")
    axis.set_yticks(list(positions), [str(names[i]) for i in positions])
    axis.invert_yaxis()
    axis.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=3)
    tree = result.tree
    figure.suptitle(
        f"{result.source}: {result.log.num_experts} experts + {result.num_redundant} redundant on "
        f"{tree.num_ranks} ranks, {tree.num_nodes} nodes, {tree.num_racks} racks"
    )
    save_figure(figure, path)
