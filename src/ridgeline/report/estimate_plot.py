"""The lecture's five charts for a real model: C1-Q1, Q2, Q3, Q4 and Q5."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ridgeline.report.figure import COLOURS, new_figure, save_figure


def plot_estimate(result: Any, by_context: Any, path: Path) -> None:
    """Draw latency and cost against batch, cost against speed, and MFU against context."""
    figure, axes = new_figure(2, 2)
    request = result.request
    figure.suptitle(
        f"{request['model']} on {request['on']}, devices: {request['devices']}, {request['phase']}"
    )
    _latency(axes[0, 0], result)
    _cost(axes[0, 1], result)
    _frontier(axes[1, 0], result)
    _mfu(axes[1, 1], by_context)
    save_figure(figure, path)


def _by_context(result: Any) -> list[tuple[int, Any]]:
    contexts = np.asarray(result.rows["context"])
    return [(int(c), contexts == c) for c in dict.fromkeys(contexts.tolist())][:4]


def _latency(axis: Any, result: Any) -> None:
    batch = np.asarray(result.rows["batch"], dtype=float)
    context, mask = _by_context(result)[0]
    terms = result.chalk.terms_s(batch=batch[mask], new_tokens=1.0, context=float(context))
    if result.request["phase"] == "decode":
        for (name, value), style in zip(terms.items(), (":", "--", "-."), strict=True):
            axis.plot(
                batch[mask],
                np.broadcast_to(value, batch[mask].shape) * 1e3,
                style,
                color="0.5",
                label=f"chalk {name}, context {context:,}",
            )
    for colour, (c, m) in zip(COLOURS, _by_context(result), strict=False):
        axis.plot(
            batch[m], result.rows["step_s"][m] * 1e3, color=colour, label=f"step, context {c:,}"
        )
        _band(axis, result, m, batch[m], colour)
    axis.set(xscale="log", yscale="log", xlabel="batch [sequences]", ylabel="step time [ms]")
    axis.set_title("Latency against batch (shaded: 10-90 % band)")
    low = min(float(np.min(result.rows["step_s"])), float(np.min(terms["weight read"])))
    axis.set_ylim(bottom=low * 1e3 / 2)
    axis.legend(fontsize="small")


def _band(axis: Any, result: Any, mask: Any, x: Any, colour: str, scale: str = "step_s") -> None:
    """Shade the 10-90 % band of a figure that grows with the step; nothing where none was sampled.

    Cost per token is proportional to the step, so that its band is the step's.
    """
    step = np.asarray(result.rows["step_s"])[mask]
    value = np.asarray(result.rows[scale], dtype=float)[mask]
    low, high = (np.asarray(result.rows[f"step_{q}_s"])[mask] / step for q in ("p10", "p90"))
    if np.isfinite(low).all():
        unit = 1e3 if scale == "step_s" else 1.0
        axis.fill_between(x, value * low * unit, value * high * unit, color=colour, alpha=0.2, lw=0)


def _cost(axis: Any, result: Any) -> None:
    for colour, (c, m) in zip(COLOURS, _by_context(result), strict=False):
        axis.plot(
            result.rows["batch"][m],
            result.rows["usd_per_mtok"][m],
            color=colour,
            label=f"context {c:,}",
        )
        _band(axis, result, m, result.rows["batch"][m], colour, "usd_per_mtok")
        _mark_largest(axis, result, m, "batch", colour)
    floor = result.derived.get("chalk_cost_floor_usd_per_mtok")
    if floor:
        axis.axhline(floor, color="0.5", linestyle=":", label="chalk cost floor, first context")
    axis.set(
        xscale="log", yscale="log", xlabel="batch [sequences]", ylabel="cost [USD per 1e6 tokens]"
    )
    axis.set_title("Cost against batch (dot: largest batch that fits)")
    axis.legend(fontsize="small")


def _frontier(axis: Any, result: Any) -> None:
    for colour, (c, m) in zip(COLOURS, _by_context(result), strict=False):
        axis.plot(
            result.rows["tokens_per_s_per_user"][m],
            result.rows["usd_per_mtok"][m],
            color=colour,
            label=f"context {c:,}",
        )
        _mark_largest(axis, result, m, "tokens_per_s_per_user", colour)
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="speed [tokens/s per user]",
        ylabel="cost [USD per 1e6 tokens]",
    )
    axis.set_title("Cost against speed (one point per batch)")
    axis.legend(fontsize="small")


def _mark_largest(axis: Any, result: Any, mask: Any, x: str, colour: str) -> None:
    fitting = np.flatnonzero(mask & np.asarray(result.rows["fits"]))
    if fitting.size:
        last = fitting[-1]
        axis.plot(result.rows[x][last], result.rows["usd_per_mtok"][last], "o", color=colour)


def _mfu(axis: Any, by_context: Any) -> None:
    batches = np.asarray(by_context.rows["batch"])
    for colour, b in zip(COLOURS, dict.fromkeys(batches.tolist()), strict=False):
        m = batches == b
        context = np.asarray(by_context.rows["context"], dtype=float)[m]
        axis.plot(
            context, by_context.rows["mfu"][m] * 100, color=colour, label=f"detailed, batch {b:,}"
        )
    balance = by_context.derived.get("balance_context")
    if balance:
        x = np.unique(np.asarray(by_context.rows["context"], dtype=float))
        axis.plot(
            x, 100 * np.minimum(1, balance / x), ":", color="0.5", label="chalk, endless batch"
        )
    axis.set(xscale="log", xlabel="context [tokens]", ylabel="MFU [%]", ylim=(0, 105))
    axis.set_title("MFU against context")
    axis.legend(fontsize="small")
