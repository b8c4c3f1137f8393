"""Margins, break-even and speed modes as text, JSON and charts; computes nothing."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ridgeline.report.estimate import layout_text
from ridgeline.report.figure import COLOURS, new_figure, save_figure
from ridgeline.report.table import MAX_WIDTH, Column, Style, render_table
from ridgeline.study.break_even import BreakEven
from ridgeline.study.margins import SHOWN, Margins, SpeedModes
from ridgeline.units import human, significant

SCHEMA_VERSION = "1"
_MARGINS = (
    Column(key="context", label="context"),
    Column(key="batch", label="batch"),
    Column(key="input_price", label="input $"),
    Column(key="input_cost", label="cost"),
    Column(key="output_price", label="output $"),
    Column(key="output_cost", label="cost"),
    Column(key="output_margin_percent", label="margin %"),
    Column(key="request_price_usd", label="request $"),
    Column(key="request_cost_usd", label="cost"),
    Column(key="request_margin_percent", label="margin %"),
)
_COSTS = (
    Column(key="what", label="USD per million tokens", align="left"),
    Column(key="rental", label="rented"),
    Column(key="owned", label="owned"),
)
_FRONTIER = (
    Column(key="mode", label="mode", align="left"),
    Column(key="layout", label="layout", align="left"),
    Column(key="batch", label="batch"),
    Column(key="speed", label="tok/s/user"),
    Column(key="cost", label="USD/Mtok"),
    Column(key="speed_ratio", label="speed x"),
    Column(key="cost_ratio", label="price x"),
)


def margin_rows(result: Margins, contexts: Sequence[int] = SHOWN) -> list[dict[str, Any]]:
    """Return one row per context that was asked for."""
    return [
        {
            "context": r.cost.context,
            "batch": r.cost.batch,
            "above_tokens": r.above_tokens,
            "input_price": r.input_price,
            "input_cost": r.cost.input_usd_per_mtok / result.utilisation,
            "output_price": r.output_price,
            "output_cost": r.cost.output_usd_per_mtok / result.utilisation,
            "output_margin_percent": 100.0 * r.output_margin,
            "request_price_usd": r.request_price_usd,
            "request_cost_usd": r.request_cost_usd,
            "request_margin_percent": 100.0 * r.request_margin,
        }
        for r in result.rows
        if r.cost.context in contexts
    ]


def _tokens(value: float | None, least: int) -> str:
    if value is None:
        return "never on this grid"
    first = f"from {significant(value)} tokens"
    return f"{first}, the shortest asked" if value <= least else first


def _paragraphs(lines: Sequence[str]) -> str:
    return "\n".join(x if "\n" in x else textwrap.fill(x, MAX_WIDTH) for x in lines)


def margins_text(result: Margins) -> str:
    """Return margins at 1k to 1M, where they end, and a price step of one's own."""
    q, step = result.costs.request, result.step
    least = result.rows[0].cost.context
    own = (
        f"One flat price of {significant(step.base_price)} USD/Mtok does it."
        if step.step_tokens is None
        else f"{significant(step.base_price)} USD/Mtok up to {significant(step.step_tokens)}"
        f" tokens, x{step.factor:.3g} above."
    )
    return _paragraphs(
        [
            (
                f"{result.price.id} ({result.price.list_name}) against {q['model']} on"
                f" {q['devices']} devices of {q['on']} ({layout_text(q['layout'])}):"
                f" utilisation {result.utilisation:.3g}, {q['speed_tokens_per_s']:g} tok/s/user,"
                f" {result.output_tokens:,} output tokens,"
                f" {result.costs.usd_per_device_hour:g} USD per device-hour"
            ),
            "",
            render_table(_MARGINS, margin_rows(result)),
            "",
            "Prices and costs in USD per million tokens; a request sends its whole context afresh.",
            (
                f"Output alone is under water {_tokens(result.output_under_water_from, least)};"
                f" a whole request {_tokens(result.request_under_water_from, least)}."
            ),
            (
                f"Own output price for a margin of {result.target_margin:.0%} at every context:"
                f" {own} A flat price would ask {step.overcharge_flat:.3g} times the need of a"
                " short context."
            ),
            *(f"Note: {f}." for f in result.flags),
        ]
    )


def margins_json(result: Margins) -> dict[str, Any]:
    """Return every grid point as JSON."""
    contexts = [r.cost.context for r in result.rows]
    return {
        "schema_version": SCHEMA_VERSION,
        "price": result.price.id,
        "request": dict(result.costs.request),
        "utilisation": result.utilisation,
        "output_tokens": result.output_tokens,
        "rows": margin_rows(result, contexts),
        "output_under_water_from_tokens": result.output_under_water_from,
        "request_under_water_from_tokens": result.request_under_water_from,
        "price_step": {**asdict(result.step), "target_margin": result.target_margin},
        "flags": list(result.flags),
    }


def margins_rows(result: Margins, style: Style) -> str:
    """Return the rows as CSV or Markdown."""
    return render_table(_MARGINS, margin_rows(result), style=style)


def plot_margins(result: Margins, path: Path) -> None:
    """Draw cost and price against context with profit and loss shaded (C6-Q1)."""
    figure, axes = new_figure(1, 1, width=8.0, height=5.5)
    axis = axes[0, 0]
    context = np.array([r.cost.context for r in result.rows], dtype=float)
    cost = np.array([r.cost.output_usd_per_mtok for r in result.rows]) / result.utilisation
    price = np.array([r.output_price for r in result.rows])
    axis.plot(context, cost, color=COLOURS[0], linewidth=2, label="cost of an output token")
    axis.step(context, price, "--", where="pre", color=COLOURS[1], label="list price")
    axis.fill_between(
        context,
        cost,
        price,
        where=price >= cost,
        color=COLOURS[2],
        alpha=0.2,
        label="profit",
        interpolate=True,
    )
    axis.fill_between(
        context,
        cost,
        price,
        where=price < cost,
        color=COLOURS[1],
        alpha=0.2,
        label="loss",
        interpolate=True,
    )
    if result.output_under_water_from:
        axis.axvline(
            result.output_under_water_from, color="0.4", linestyle=":", label="under water"
        )
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="context [tokens]",
        ylabel="USD per million output tokens",
        title=f"{result.price.id} served as {result.costs.request['model']}",
    )
    axis.legend(fontsize="small")
    save_figure(figure, path)


def break_even_text(result: BreakEven) -> str:
    """Return token costs, energy, ownership parts and the break-even volume."""
    q, c = result.costs.request, result.owner_cost
    rows = [
        {
            "what": name,
            "rental": float(getattr(result.rental, k)),
            "owned": float(getattr(result.owned, k)),
        }
        for name, k in (
            ("fresh input", "input_usd_per_mtok"),
            ("cached input", "cached_usd_per_mtok"),
            ("output", "output_usd_per_mtok"),
            ("blended over the mix", "blended_usd_per_mtok"),
        )
    ]  # fmt: skip
    o = result.owner
    lines = [
        (
            f"{q['model']} on {q['devices']} devices of {q['on']} ({layout_text(q['layout'])}):"
            f" utilisation {result.utilisation:.3g}, {q['speed_tokens_per_s']:g} tok/s/user,"
            f" {result.input_tokens:,} in"
            f" ({result.cached_tokens:,} cached) and {result.output_tokens:,} out, batch"
            f" {result.costs.rows[0].batch}"
        ),
        "",
        render_table(_COSTS, rows),
        "",
        (
            f"Rented at {result.costs.usd_per_device_hour:g} USD per device-hour; owned at"
            f" {significant(float(c.total_usd_per_hour))} (capital"
            f" {significant(float(c.capital_usd_per_hour))}, energy"
            f" {significant(float(c.energy_usd_per_hour))}, hosting"
            f" {significant(float(c.hosting_usd_per_hour))}, opex"
            f" {significant(float(c.opex_usd_per_hour))})."
        ),
        (
            f"Owner: {o.capex_usd:,.0f} USD per device over {o.life_years:g} years, residual"
            f" {o.residual_fraction:g}, cost of capital {o.cost_of_capital:g}, {o.power_w:,.0f} W,"
            f" PUE {o.pue:g}, {o.usd_per_kwh:g} USD/kWh, availability {o.availability:g}."
        ),
        (
            f"Energy {significant(result.energy_j_per_output_token)} J per output token,"
            f" {significant(result.energy_usd_per_mtok)} USD/Mtok of electricity."
        ),
        f"Capacity {human(result.capacity_tokens_per_day, 'tok/day')} of this mix when never idle.",
    ]
    if result.price is not None and result.api_usd_per_mtok is not None:
        lines.append(
            f"{result.price.id} asks {significant(result.api_usd_per_mtok)} USD/Mtok for the mix:"
            f" renting breaks even at {_volume(result, result.rental_tokens_per_day)}, owning at"
            f" {_volume(result, result.owned_tokens_per_day)}."
        )
    return _paragraphs([*lines, *(f"Note: {f}." for f in result.flags)])


def _volume(result: BreakEven, tokens: float | None) -> str:
    if tokens is None:
        return "no volume (free of charge)"
    share = tokens / result.capacity_tokens_per_day
    text = f"{human(tokens, 'tok/day')} ({share:.0%} of capacity)"
    return text if share <= 1 else f"{text}, which these devices cannot make: never"


def break_even_json(result: BreakEven) -> dict[str, Any]:
    """Return token costs and break-even as JSON."""

    def plain(record: Any) -> dict[str, float]:
        return {k: float(v) for k, v in asdict(record).items()}

    return {
        "schema_version": SCHEMA_VERSION,
        "request": dict(result.costs.request),
        "utilisation": result.utilisation,
        "input_tokens": result.input_tokens,
        "cached_tokens": result.cached_tokens,
        "output_tokens": result.output_tokens,
        "rental": plain(result.rental),
        "owned": plain(result.owned),
        "owner": plain(result.owner),
        "owner_cost": {
            **plain(result.owner_cost),
            "total_usd_per_hour": float(result.owner_cost.total_usd_per_hour),
        },
        "energy_j_per_output_token": result.energy_j_per_output_token,
        "energy_usd_per_mtok": result.energy_usd_per_mtok,
        "price": None if result.price is None else result.price.id,
        "api_usd_per_mtok": result.api_usd_per_mtok,
        "capacity_tokens_per_day": result.capacity_tokens_per_day,
        "rental_break_even_tokens_per_day": result.rental_tokens_per_day,
        "owned_break_even_tokens_per_day": result.owned_tokens_per_day,
        "flags": list(result.flags),
    }


def mode_rows(result: SpeedModes) -> list[dict[str, Any]]:
    """Return the slow, standard, fast and fastest modes."""
    f = result.found
    base_speed, base_cost = result.speed[f.standard], result.cost[f.standard]
    points = (("slowest", f.slow), ("standard", f.standard), ("fast", f.fast),
              ("fastest", len(result.speed) - 1))  # fmt: skip
    return [
        {
            "mode": name,
            "layout": result.layout[i],
            "batch": int(result.batch[i]),
            "speed": float(result.speed[i]),
            "cost": float(result.cost[i]),
            "speed_ratio": float(result.speed[i] / base_speed),
            "cost_ratio": float(result.cost[i] / base_cost),
        }
        for name, i in points
    ]


def modes_text(result: SpeedModes) -> str:
    """Return the modes and what they say."""
    q, f = result.costs_request, result.found
    return _paragraphs(
        [
            (
                f"{q['model']} on {q['devices']} devices of {q['on']} at"
                f" {q['context'][0]:,} tokens, utilisation {result.utilisation:g}:"
                f" {len(result.speed)} points on the frontier"
            ),
            "",
            render_table(_FRONTIER, mode_rows(result)),
            "",
            (
                f"A slow tier can save at most {f.slow_saving:.0%}; a tier {result.fast_ratio:g}"
                f" times as fast must cost x{f.fast_price_ratio:.3g}; no price buys more than"
                f" x{f.speed_ceiling:.3g}."
            ),
            _why_slow(result),
            *(f"Note: {x}." for x in result.flags),
        ]
    )


def _why_slow(result: SpeedModes) -> str:
    """Return, in numbers, why a slow tier saves what it saves."""
    f = result.found
    slow, standard = int(result.batch[f.slow]), int(result.batch[f.standard])
    words = (
        "The standard batch is the largest that fits in memory."
        if slow == standard
        else f"The slowest batch is {slow:,}, the standard one {standard:,}."
    )
    if result.shared_share is not None:
        words += (
            f" A larger batch shares {result.shared_share:.0%} of a standard step (weights,"
            f" launches, host); {1 - result.shared_share:.0%} is each sequence's own cache,"
            " arithmetic and messages."
        )
    return words


def modes_json(result: SpeedModes) -> dict[str, Any]:
    """Return modes and frontier as JSON."""
    return {
        "schema_version": SCHEMA_VERSION,
        "request": dict(result.costs_request),
        "utilisation": result.utilisation,
        "modes": mode_rows(result),
        "slow_saving": result.found.slow_saving,
        "fast_price_ratio": result.found.fast_price_ratio,
        "speed_ceiling": result.found.speed_ceiling,
        "shared_share": result.shared_share,
        "frontier": [
            {
                "layout": w,
                "batch": int(b),
                "tokens_per_s_per_user": float(s),
                "usd_per_mtok": float(c),
            }
            for w, b, s, c in zip(
                result.layout, result.batch, result.speed, result.cost, strict=True
            )
        ],
        "flags": list(result.flags),
    }


def plot_modes(result: SpeedModes, path: Path) -> None:
    """Draw cost against speed with the modes marked (C1-Q3)."""
    figure, axes = new_figure(1, 1, width=8.0, height=5.5)
    axis = axes[0, 0]
    axis.plot(result.speed, result.cost, "-", color=COLOURS[0], label="frontier over batch")
    for row, colour in zip(mode_rows(result), COLOURS[1:], strict=False):
        label = f"{row['mode']}: x{row['speed_ratio']:.2g} speed, x{row['cost_ratio']:.2g} price"
        axis.plot(row["speed"], row["cost"], "o", color=colour, markersize=8, label=label)
    q = result.costs_request
    axis.set(
        yscale="log",
        xlabel="speed [tokens/s per user]",
        ylabel="cost [USD per million output tokens]",
        title=f"{q['model']} on {q['devices']} devices of {q['on']}, {q['context'][0]:,} tokens",
    )
    axis.legend(fontsize="small")
    save_figure(figure, path)
