"""A price against the cost of serving at it: margins over context, break-even, modes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeline.economics.margin import (
    PriceStep,
    margin,
    recommended_step,
    under_water_from,
)
from ridgeline.economics.price_list import PriceRow, bill, bracket
from ridgeline.economics.speed_tiers import Modes, modes, pareto
from ridgeline.economics.token_cost import (
    check_utilisation,
    utilisation_from_load,
)
from ridgeline.errors import InputError
from ridgeline.model.architecture import Architecture
from ridgeline.study.estimate import Estimate, layout_words
from ridgeline.study.price_decode import one_sheet
from ridgeline.study.prices import all_rows, find
from ridgeline.study.serving_cost import ContextCost, ServingCosts, serving_costs
from ridgeline.units import parse_tokens

Array = NDArray[np.float64]
SHOWN = (1024, 32_768, 131_072, 204_800, 1_048_576)
"""1k, 32k, 128k, 200k and 1M tokens."""
GRID = tuple(sorted({*SHOWN, *(2**i for i in range(10, 21))}))


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginRow:
    """One context: price and cost of each kind, and of a whole request."""

    cost: ContextCost
    above_tokens: int
    input_price: float
    output_price: float
    input_margin: float
    output_margin: float
    request_price_usd: float
    request_cost_usd: float
    request_margin: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """Margins over context, where they end, and a price of one's own."""

    price: PriceRow
    costs: ServingCosts
    utilisation: float
    output_tokens: int
    rows: tuple[MarginRow, ...]
    output_under_water_from: float | None
    request_under_water_from: float | None
    step: PriceStep
    """Of the output price, for the target margin."""
    target_margin: float
    flags: tuple[str, ...]


def stated_utilisation(
    utilisation: float | None,
    rate: float | None,
    replicas: int,
    row: ContextCost,
    osl: int,
    *,
    prompt_s: float,
) -> float:
    """Return the utilisation that is stated, or that a load makes by Little's law [1].

    The same devices decode and read prompts, so both take their share:

        u = λ·(osl·tpot/seats + prompt_s/replicas)

    Args:
        utilisation: u.
        rate: λ instead [requests/s].
        replicas: Copies that share the rate.
        row: Batch and time per token.
        osl: Generated tokens of a request.
        prompt_s: Time for which the prompt of one request keeps a replica busy.

    Raises:
        InputError: neither or both are given, or the load does not fit.
    """
    if (utilisation is None) == (rate is None):
        raise InputError(
            "State the load: --utilisation (share of capacity sold) or --rate (requests per"
            " second). There is no default."
        )
    if utilisation is not None:
        check_utilisation(utilisation)
        return utilisation
    if rate is None or rate <= 0 or replicas < 1:
        raise InputError(f"--rate must be above 0 and --replicas at least 1: {rate}, {replicas}.")
    share = float(
        utilisation_from_load(
            requests_per_s=rate, output_tokens=osl, tpot_s=row.tpot_s, seats=row.batch * replicas
        )
    )
    share += rate * prompt_s / replicas
    if share > 1:
        raise InputError(
            f"{rate:g} requests/s with {osl:,} output tokens and their prompts keep"
            f" {share * replicas:.2f} replicas busy: use --replicas"
            f" {int(np.ceil(share * replicas))}."
        )
    return share


def margins(
    price: str,
    *,
    model: str | Architecture,
    on: str,
    speed: float,
    date: dt.date,
    question: Mapping[str, Any],
    utilisation: float | None = None,
    rate: float | None = None,
    replicas: int = 1,
    output_tokens: int = 500,
    target_margin: float = 0.5,
    price_file: Path | None = None,
) -> Margins:
    """Return cost against price at 1k to 1M context, and where the price goes under water.

    Args:
        price: `provider/model` of the price list.
        model: What is really served.
        on: Cluster.
        speed: Tokens per second that every user gets.
        date: Day of the prices.
        question: Further arguments of `estimate` (devices, dtype ...).
        utilisation: Share of capacity sold.
        rate: Requests per second instead, through Little's law at the shortest context.
        replicas: Copies that share the rate.
        output_tokens: Generated tokens of a request.
        target_margin: Share of one's own price to keep.
        price_file: The user's own list.
    """
    if output_tokens < 1:
        raise InputError(f"output tokens must be at least 1: {output_tokens}.")
    base, *rest = one_sheet(find(price, all_rows(price_file)), date, None)
    brackets = [base, *(r for r in rest if r.tier == "standard" and not r.windows)]
    costs = serving_costs(model, on=on, contexts=GRID, speed=speed, question=question)
    shortest = costs.rows[0]
    prompt_s = shortest.context / shortest.prefill_tokens_per_s
    u = stated_utilisation(utilisation, rate, replicas, shortest, output_tokens, prompt_s=prompt_s)
    rows = tuple(_margin_row(c, brackets, u, output_tokens) for c in costs.rows)
    contexts = np.array([r.cost.context for r in rows], dtype=np.float64)
    output = np.array([r.cost.output_usd_per_mtok / u for r in rows])
    flags = [*costs.flags]
    limit = base.max_input_tokens
    if limit is not None and limit < contexts[-1]:
        flags.append(f"{base.id} accepts prompts of up to {limit:,} tokens only")
    return Margins(
        price=base,
        costs=costs,
        utilisation=u,
        output_tokens=output_tokens,
        rows=rows,
        output_under_water_from=under_water_from(
            context_tokens=contexts,
            price=np.array([r.output_price for r in rows]),
            cost=output,
        ),
        request_under_water_from=under_water_from(
            context_tokens=contexts,
            price=np.array([r.request_price_usd for r in rows]),
            cost=np.array([r.request_cost_usd for r in rows]),
        ),
        step=recommended_step(context_tokens=contexts, cost=output, target_margin=target_margin),
        target_margin=target_margin,
        flags=tuple(flags),
    )


def _margin_row(
    cost: ContextCost, brackets: list[PriceRow], u: float, output_tokens: int
) -> MarginRow:
    row = bracket(brackets, prompt_tokens=cost.context)
    made_in, made_out = cost.input_usd_per_mtok / u, cost.output_usd_per_mtok / u
    asked = bill(row, input_tokens=cost.context, output_tokens=output_tokens).total_usd
    spent = (cost.context * made_in + output_tokens * made_out) / 1e6
    return MarginRow(
        cost=cost,
        above_tokens=row.above_tokens,
        input_price=row.input_usd_per_mtok,
        output_price=row.output_usd_per_mtok,
        input_margin=float(margin(price=row.input_usd_per_mtok, cost=made_in)),
        output_margin=float(margin(price=row.output_usd_per_mtok, cost=made_out)),
        request_price_usd=asked,
        request_cost_usd=spent,
        request_margin=float(margin(price=asked, cost=spent)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedModes:
    """The frontier of cost against speed, and three modes on it."""

    costs_request: Mapping[str, Any]
    utilisation: float
    speed: Array
    cost: Array
    batch: Array
    """Of the frontier, slowest first."""
    layout: tuple[str, ...]
    """Of the frontier."""
    shared_share: float | None
    """Of a standard step, what a larger batch shares [1]: weights, launches, host."""
    found: Modes
    standard_speed: float
    fast_ratio: float
    flags: tuple[str, ...]


def speed_modes(
    model: str | Architecture,
    *,
    on: str,
    context: str,
    speed: float,
    fast_ratio: float,
    utilisation: float,
    question: Mapping[str, Any],
) -> SpeedModes:
    """Return what a slow tier could save and what a fast tier must cost, at one context.

    The same devices serve every mode; the batch differs, and the layout where the plain one keeps
    the cache more than once.

    Raises:
        InputError: a value breaks its rule.
        InfeasibleError: no batch is fast enough.
    """
    check_utilisation(utilisation)
    if not 1 <= fast_ratio <= 1e3:
        raise InputError(f"fast must be at least 1 (fast over standard speed): {fast_ratio}.")
    tokens = parse_tokens(context, what="context")
    costs = serving_costs(model, on=on, contexts=[tokens], speed=speed, question=question)
    speeds, usd, batch, layouts = _points(costs.runs)
    kept = pareto(speeds, usd / utilisation)
    speeds, usd, batch = speeds[kept], usd[kept] / utilisation, batch[kept]
    found = modes(speeds, usd, standard_speed=speed, fast_ratio=fast_ratio)
    return SpeedModes(
        costs_request=costs.request,
        utilisation=utilisation,
        speed=speeds,
        cost=usd,
        batch=batch,
        layout=tuple(layouts[int(i)] for i in kept),
        shared_share=_shared_share(speeds, batch, found.standard),
        found=found,
        standard_speed=speed,
        fast_ratio=fast_ratio,
        flags=tuple(f for f in costs.flags if not f.startswith("layout:")),
    )


def _points(runs: Iterable[Estimate]) -> tuple[Array, Array, Array, list[str]]:
    """Return speed, busy cost, batch and layout of every batch that fits, in every layout."""
    speeds, usd, batch, layouts = list[Array](), list[Array](), list[Array](), list[str]()
    for run in runs:
        fit = np.flatnonzero(run.rows["fits"])
        speeds.append(np.asarray(run.rows["tokens_per_s_per_user"], dtype=np.float64)[fit])
        usd.append(np.asarray(run.rows["usd_per_mtok"], dtype=np.float64)[fit])
        batch.append(np.asarray(run.rows["batch"], dtype=np.float64)[fit])
        layouts += [layout_words(run.request["layout"])] * fit.size
    return np.concatenate(speeds), np.concatenate(usd), np.concatenate(batch), layouts


def _shared_share(speed: Array, batch: Array, at: int) -> float | None:
    """Return the share of a step that a larger batch shares [1]: 1 - B·(dt/dB)/t, t = 1/speed.

    From the two neighbours of a point on the frontier, slowest first; None without two batches.
    """
    low, high = max(at - 1, 0), min(at + 1, len(speed) - 1)
    if batch[low] == batch[high]:
        return None
    slope = (1 / speed[low] - 1 / speed[high]) / (batch[low] - batch[high])
    return float(np.clip(1 - batch[at] * slope * speed[at], 0.0, 1.0))
