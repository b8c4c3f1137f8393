"""What it costs to serve, from `estimate`: the numbers behind margins, break-even and modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeline.economics.price_posterior import LINK_BYTES_PER_S
from ridgeline.errors import InfeasibleError, InputError
from ridgeline.model.architecture import Architecture
from ridgeline.model.state import state_bytes
from ridgeline.study.deploy import cache_kept_once
from ridgeline.study.estimate import Estimate, estimate, layout_words

Array = NDArray[np.float64]
BATCHES = tuple(sorted({round(2 ** (i / 4)) for i in range(57)}))
"""1 to 16,384 in quarter octaves."""
DEGREES = ("tp", "pp", "ep", "dp", "cp")
_LEAST_RENT = 1e-6
PROMPTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Prompts that may be computed together."""
CHUNK = 2048
"""Prompt tokens per step and attention group where whole prompts leave groups without work: the
chunk that `estimate` assumes. Its step carries one output token per prompt as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextCost:
    """Busy cost at one context: fresh prompt of that length, output at that context."""

    context: int
    batch: int
    tpot_s: float
    input_usd_per_mtok: float
    cached_usd_per_mtok: float
    output_usd_per_mtok: float
    prefill_tokens_per_s: float
    """Of the whole replica."""
    decode_tokens_per_s: float
    bound_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingCosts:
    """Busy costs over context (utilisation 1: divide by what is sold), and the run behind them."""

    request: Mapping[str, Any]
    usd_per_device_hour: float
    num_devices: int
    rows: tuple[ContextCost, ...]
    run: Estimate
    flags: tuple[str, ...]
    runs: tuple[Estimate, ...] = ()
    """Of every layout that was priced."""


def serving_costs(
    model: str | Architecture,
    *,
    on: str,
    contexts: Sequence[int],
    speed: float,
    question: Mapping[str, Any],
) -> ServingCosts:
    """Return input, cached and output cost at each context, in the layout that an owner would run.

    Where no degree is asked for, and the plain layout keeps the cache more than once, attention
    data parallelism is priced too, and the one with the cheaper output at the shortest context
    is taken. See `costs_in_layout`.

    Raises:
        InputError: a speed that is not positive, or as in `costs_in_layout`.
        InfeasibleError: as there, in every layout.
    """
    if not 0 < speed < 1e6:
        raise InputError(f"speed must be above 0 tok/s/user: {speed}.")
    found: list[ServingCosts] = []
    refused: InfeasibleError | None = None
    runs = runs_to_price(model, on=on, contexts=contexts, question=question)
    for asked, run in runs:
        try:
            found.append(
                costs_in_layout(run, model, on=on, contexts=contexts, speed=speed, question=asked)
            )
        except InfeasibleError as error:
            refused = refused or error
    if not found:
        raise refused or AssertionError
    best = min(found, key=lambda c: c.rows[0].output_usd_per_mtok)
    best = replace(best, runs=tuple(run for _, run in runs))
    if len(runs) == 1:
        return best
    prices = ", ".join(
        f"{layout_words(c.request['layout'])} {c.rows[0].output_usd_per_mtok:.3g} USD/Mtok"
        for c in found
    )
    flag = f"layout: the cheapest output at {contexts[0]:,} tokens of {prices}"
    return replace(best, flags=(flag, *best.flags))


def runs_to_price(
    model: str | Architecture, *, on: str, contexts: Sequence[int], question: Mapping[str, Any]
) -> list[tuple[Mapping[str, Any], Estimate]]:
    """Return the question, and where it names no degree the one that keeps the cache once, run."""

    def run(asked: Mapping[str, Any]) -> tuple[Mapping[str, Any], Estimate]:
        return asked, estimate(model, on=on, batch=BATCHES, context=list(contexts), **asked)

    plain = run(question)
    if any(question.get(name) is not None for name in DEGREES):
        return [plain]
    once = cache_kept_once(plain[1].deployment)
    return [plain] if once is None else [plain, run({**question, **once})]


def costs_in_layout(
    run: Estimate,
    model: str | Architecture,
    *,
    on: str,
    contexts: Sequence[int],
    speed: float,
    question: Mapping[str, Any],
) -> ServingCosts:
    """Return input, cached and output cost at each context, at the cheapest batch that is fast.

    Output is priced at the cheapest batch that fits and gives every user `speed`; input at
    the cheapest prefill of prompts of that length together; a cached token at the load of its
    state over a 50 GB/s link per device, with all devices waiting.

    Raises:
        InputError: no rent is known.
        InfeasibleError: at the shortest context no batch fits and is fast enough.
    """
    rent = _rent(run, on)
    limit = run.deployment.architecture.max_position_embeddings
    kept = [c for c in contexts if limit is None or c <= limit]
    flags = [f for f in run.flags if not f.startswith("extrapolated: contexts")]
    if len(kept) < len(contexts):
        flags.append(f"contexts beyond the model's {limit:,} positions are left out")
    if not kept:
        raise InputError(f"Every context is beyond the model's {limit:,} positions.")
    holds = [c for c in kept if run.rows["fits"][run.rows["context"] == c].any()]
    if not holds:
        raise InfeasibleError(
            f"{model} does not fit on {run.request['devices']} x {on} at {kept[0]:,} tokens."
            " Use more devices or a narrower --dtype."
        )
    if len(holds) < len(kept):
        flags.append(f"from {kept[len(holds)]:,} tokens not even one sequence fits")
    prompts = prefill_costs(model, on=on, contexts=holds, question=question)
    chunked = [p.context for p in prompts if p.chunk]
    if chunked:
        flags.append(f"prompts from {chunked[0]:,} tokens are computed in chunks of {CHUNK:,}")
    found: list[ContextCost] = []
    for i, context in enumerate(holds):
        row = _at(run, prompts[i], context, speed)
        if row is None and not found:
            raise InfeasibleError(
                f"{model} on {on} gives no user {speed:g} tok/s at {context:,} tokens with a batch"
                " that fits. Ask for less speed, or use more devices."
            )
        if row is None:
            flags.append(f"from {context:,} tokens no batch fits and gives {speed:g} tok/s/user")
            break
        found.append(row)
    return ServingCosts(
        request={**run.request, "speed_tokens_per_s": speed},
        usd_per_device_hour=rent,
        num_devices=int(run.request["devices"]),
        rows=tuple(found),
        run=run,
        flags=tuple(dict.fromkeys(flags)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefillCost:
    """Prompts of one length: as cheap as computing them together makes them, and one alone."""

    context: int
    batch: int
    chunk: int
    """Tokens of each prompt per step; 0: whole prompts."""
    usd_per_mtok: float
    tokens_per_s: float
    """Of the whole replica, at that batch."""
    alone_s: float
    """One prompt with nothing beside it."""


def prefill_costs(
    model: str | Architecture, *, on: str, contexts: Sequence[int], question: Mapping[str, Any]
) -> tuple[PrefillCost, ...]:
    """Return the cheapest prefill at each prompt length, over prompts computed together.

    Whole prompts, or one per attention group in chunks: long ones do not fit whole beside each
    other, and a group without a prompt is paid for all the same.

    Raises:
        InfeasibleError: not even one prompt fits.
    """
    run = estimate(model, on=on, batch=PROMPTS, context=list(contexts), phase="prefill", **question)
    layout: Mapping[str, int] = run.request["layout"] or {"dp": 1}
    groups = layout["dp"]
    mixed = estimate(
        model, on=on, batch=groups, context=list(contexts), phase="mixed", chunk=CHUNK, **question
    )
    return tuple(_prefill_at(run, mixed, groups, context) for context in contexts)


def _prefill_at(run: Estimate, mixed: Estimate, groups: int, context: int) -> PrefillCost:
    """Return the cheaper of whole prompts and of one prompt per attention group in chunks."""
    rows, devices = run.rows, float(run.request["devices"])
    here = np.flatnonzero(rows["context"] == context)
    fit = here[rows["fits"][here]]
    rate = np.asarray(rows["tokens_per_s_per_device"], dtype=np.float64) * devices
    best = int(fit[np.argmax(rate[fit])]) if fit.size else None
    tokens_per_s, batch, chunk = (
        (0.0, 0, 0) if best is None else (rate[best], int(rows["batch"][best]), 0)
    )
    at = int(np.flatnonzero(mixed.rows["context"] == context)[0])
    if mixed.rows["fits"][at] and context > CHUNK:
        in_chunks = groups * CHUNK / float(mixed.rows["step_s"][at])
        if in_chunks > tokens_per_s:
            tokens_per_s, batch, chunk = in_chunks, groups, CHUNK
    if not batch:
        raise InfeasibleError(
            f"A prompt of {context:,} tokens of {run.request['model']} does not fit on"
            f" {run.request['devices']} devices of {run.request['on']}. Use more devices or a"
            " narrower --dtype."
        )
    return PrefillCost(
        context=context,
        batch=batch,
        chunk=chunk,
        usd_per_mtok=float(rows["usd_per_mtok"][here[0]] * rate[here[0]] / tokens_per_s),
        tokens_per_s=float(tokens_per_s),
        alone_s=float(rows["step_s"][here[0]]),
    )


def _rent(run: Estimate, on: str) -> float:
    """Return the rent per device [USD/h]; a cost of nothing has no ratio to a price."""
    rent = run.request["usd_per_device_hour"]
    if rent is None:
        raise InputError(f"No rental price is known for {on}: give --usd-per-hour.")
    if rent < _LEAST_RENT:
        raise InputError(
            f"usd-per-hour must be at least {_LEAST_RENT:g} USD here, since costs are compared"
            f" with prices: {rent:g}."
        )
    return float(rent)


def _at(run: Estimate, prompt: PrefillCost, context: int, speed: float) -> ContextCost | None:
    rows = run.rows
    allowed = np.flatnonzero(
        (rows["context"] == context) & rows["fits"] & (rows["tokens_per_s_per_user"] >= speed)
    )
    if allowed.size == 0:
        return None
    best = int(allowed[np.argmin(rows["usd_per_mtok"][allowed])])
    n = float(run.request["devices"])
    rent_s = float(run.request["usd_per_device_hour"]) / 3600.0
    kv = (
        float(state_bytes(run.deployment.architecture, context, run.deployment.precision)) / context
    )
    return ContextCost(
        context=context,
        batch=int(rows["batch"][best]),
        tpot_s=float(rows["step_s"][best]),
        input_usd_per_mtok=prompt.usd_per_mtok,
        cached_usd_per_mtok=rent_s * kv / LINK_BYTES_PER_S * 1e6,
        output_usd_per_mtok=float(rows["usd_per_mtok"][best]),
        prefill_tokens_per_s=prompt.tokens_per_s,
        decode_tokens_per_s=float(rows["tokens_per_s_per_device"][best]) * n,
        bound_by=str(rows["bound_by"][best]),
    )
