"""Offline saturation: all requests queued at the start, output tokens per second of the system."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InfeasibleError, RidgelineError
from ridgeline.phase.band import ratio_band
from ridgeline.phase.closed_loop import ClosedLoop, closed_loop
from ridgeline.phase.deployment import Deployment, fits, largest_that_fits, step_breakdown
from ridgeline.study.deploy import cache_copies
from ridgeline.validate.prediction import Answer, NotPredicted, Prediction
from ridgeline.validate.set_up import SetUp, layout_of, set_up
from ridgeline.validate.truth_rows import TruthRow

Array = NDArray[np.float64]
_MAX_BATCH = 2048
_BUDGET = 8192.0
_TP = (1, 2, 4, 8)
_PROMPTS = (
    (r"llama-?2-?70b", 200.0),
    (r"405b", 9500.0),
    (r"llama-?3\.1-?8b", 870.0),
    (r"mixtral", 150.0),
    (r"deepseek", 800.0),
)
"""Mean prompt tokens of MLPerf Inference data sets where a row gives none: assumed."""


def predict_offline(rows: Sequence[TruthRow]) -> dict[str, Answer]:
    """Return output tokens per second, or the reason there is none."""
    answers: dict[str, Answer] = {}
    for row in rows:
        if not re.fullmatch(r"tok(en)?s?/s(/\w+)?", row.unit) or "input" in row.metric:
            answers[row.id] = NotPredicted(reason=f"offline metric `{row.metric}` is not modelled")
            continue
        try:
            answers[row.id] = _offline(row)
        except RidgelineError as error:
            answers[row.id] = NotPredicted(reason=str(error))
    return answers


def _lengths(row: TruthRow) -> tuple[float, float, tuple[str, ...]]:
    output = row.number("tokens_per_sample") or row.number("output_len")
    if output is None:
        raise InfeasibleError("no output length is stated")
    prompt = row.number("input_len")
    if prompt is not None:
        return prompt, output, ()
    name = row.model.lower().replace(" ", "-")
    assumed = next((n for words, n in _PROMPTS if re.search(words, name)), None)
    if assumed is None:
        raise InfeasibleError("no prompt length is stated")
    return assumed, output, (f"assumed: mean prompt of {assumed:.0f} tokens",)


def _candidates(row: TruthRow, tokens: float) -> list[SetUp]:
    """Return the replicas a row may mean: its own, or what an owner would run if it states none.

    That is the smallest tp that holds 64 sequences, and where it keeps copies of the cache
    (a latent one, or fewer KV heads than tp) the same devices with attention data parallel.
    """
    if row.number("tp") is not None:
        return [set_up(row)]
    _, pp, ep, _, _ = layout_of(row)
    for tp in _TP:
        found = set_up(row, degrees=(tp, pp, min(ep, tp), 1, 1))
        if _most(found.deployment, tokens) < 64 and tp != _TP[-1]:
            continue
        if cache_copies(found.deployment)[0] <= 1.0:
            return [found]
        return [found, set_up(row, degrees=(1, pp, tp, tp, 1))]
    raise InfeasibleError("no layout is stated")


def _most(deployment: Deployment, tokens: float) -> int:
    return largest_that_fits(
        lambda batch: fits(deployment, batch=batch, tokens=tokens, step_tokens=_BUDGET), _MAX_BATCH
    )


def _offline(row: TruthRow) -> Prediction:
    """Return the best of the replicas that a row may mean; those that do not fit are left out."""
    isl, osl, assumed = _lengths(row)
    answers: list[Prediction] = []
    refused: RidgelineError | None = None
    for found in _candidates(row, isl + osl):
        try:
            answers.append(_saturated(row, found, isl, osl))
        except RidgelineError as error:
            refused = error
    if not answers:
        raise refused or InfeasibleError("no layout is stated")
    best = max(answers, key=lambda answer: answer.value)
    return replace(best, flags=(*best.flags, *assumed))


def _saturated(row: TruthRow, found: SetUp, isl: float, osl: float) -> Prediction:
    d = found.deployment
    replicas = max(row.count("n_chips", d.num_devices) // d.num_devices, 1)
    most = _most(d, isl + osl)
    if most < 1:
        raise InfeasibleError(f"{row.model} does not fit on {d.num_devices} x {row.chip}")
    # A step prefills no more prompts than its budget holds, and as many as it ends.
    groups = 1.0 if d.layout is None else float(np.max(d.layout.dp))
    most = max(min(most, int(_BUDGET * groups * osl / isl)), 1)
    batch = np.unique(np.round(np.geomspace(1, most, 12))).astype(float)

    def solved(deployment: Deployment, batch: Array) -> ClosedLoop:
        return closed_loop(
            deployment,
            concurrency=batch,
            isl=isl,
            osl=osl,
            budget=_BUDGET,
            scheduling="mixed" if d.engine is None else d.engine.scheduling,
        )

    def cycle_s(loop: ClosedLoop, batch: Array) -> Array:
        # A freed seat is filled at once: all B seats decode or prefill all the time.
        return osl * (loop.decode_s + loop.launch_s) + batch * loop.prompt_s

    loop = solved(d, batch)
    rate = batch / cycle_s(loop, batch)
    best = int(np.argmax(rate))
    there = batch[best : best + 1]
    edges = ratio_band(d, lambda sample: cycle_s(solved(sample, there), there))
    bound = step_breakdown(
        d, phase="decode", batch=there, context=np.array([isl + osl / 2])
    ).bound_by()
    prefill = batch[best] * loop.prompt_s[best] > osl * loop.decode_s[best]
    value = float(rate[best] * osl) * replicas
    if "per_gpu" in row.metric or row.unit.endswith("gpu"):
        value /= max(row.count("n_chips", d.num_devices), 1)
    return Prediction(
        value=value,
        bound="prefill of others" if prefill else str(np.atleast_1d(bound)[0]),
        family="offline max",
        flags=found.flags,
        p10=value / float(edges[1][0]),
        p90=value / float(edges[0][0]),
    )
