"""Single steps: decode and prefill micro-benchmarks, local inference, inter-token latencies."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import RidgelineError
from ridgeline.model.operations import operations
from ridgeline.model.work import Step
from ridgeline.phase.band import band, ratio_band
from ridgeline.phase.breakdown import Breakdown, breakdown
from ridgeline.phase.deployment import Deployment, Phase, step_breakdown
from ridgeline.validate.prediction import (
    IMPOSSIBLE,
    SECONDS,
    Answer,
    NotPredicted,
    Prediction,
    is_impossible,
)
from ridgeline.validate.set_up import SetUp, layout_of, set_up
from ridgeline.validate.truth_rows import TruthRow, numbers

Array = NDArray[np.float64]
_UBATCH = 512.0
"""Prompt tokens llama.cpp computes at once unless the engine column says otherwise."""


def predict_steps(rows: Sequence[TruthRow]) -> dict[str, Answer]:
    """Return a prediction or a reason for every row that is one kind of step."""
    answers: dict[str, Answer] = {}
    batches: dict[tuple[int, str], list[tuple[TruthRow, SetUp]]] = defaultdict(list)
    for row in rows:
        if _handler(row) is None:
            answers[row.id] = NotPredicted(reason=f"step metric `{row.metric}` is not modelled")
            continue
        try:
            found = set_up(row, degrees=_degrees(row))
        except RidgelineError as error:
            answers[row.id] = NotPredicted(reason=str(error))
            continue
        batches[id(found), row.metric].append((row, found))
    for pairs in batches.values():
        handler = _handler(pairs[0][0])
        assert handler is not None  # noqa: S101  filtered above
        try:
            answers.update(handler([r for r, _ in pairs], pairs[0][1]))
        except RidgelineError as error:
            answers.update({r.id: NotPredicted(reason=str(error)) for r, _ in pairs})
    return answers


def _degrees(row: TruthRow) -> tuple[int, int, int, int, int] | None:
    """Layers split over devices run one after another: one stream sees one larger device."""
    text = row.text("layout").lower()
    if "layer split" in text:
        return (1, 1, 1, 1, 1)
    tp, pp, ep, dp, cp = layout_of(row)
    if row.text("tp"):
        return (tp, pp, ep, dp, cp)
    if found := re.search(r"\btp ?(\d+)", text):
        return (int(found[1]), pp, ep, dp, cp)
    if (tp, pp, ep, dp, cp) == (1, 1, 1, 1, 1) and not is_local(row):
        # Several chips, one step, and no word of a layout: all of them cut every matrix.
        return (row.count("n_chips"), 1, 1, 1, 1)
    return (tp, pp, ep, dp, cp)


Handler = Callable[[list[TruthRow], SetUp], dict[str, Answer]]


def _handler(row: TruthRow) -> Handler | None:
    metric, phase = row.metric, row.phase
    if metric == "itl_slope":
        return _slope
    if metric == "itl_intercept" or metric.startswith("decode_"):
        return _decode
    if metric.startswith("prefill_") and phase == "prefill":
        return _prefill
    return None


def is_local(row: TruthRow) -> bool:
    """Whether a row is of one user on local hardware."""
    return "llama.cpp" in row.engine.lower() or row.area == "local_llm"


def _answer(
    row: TruthRow, seconds: float, tokens: float, step: Breakdown, index: int, family: str,
    flags: tuple[str, ...], ratios: tuple[float, float],
) -> Answer:  # fmt: skip
    published = row.value * SECONDS[row.unit] if row.unit in SECONDS else tokens / row.value
    peaks = np.atleast_1d(step.peak_s)
    if is_impossible(published, float(peaks[min(index, peaks.size - 1)])):
        return IMPOSSIBLE

    def stated(time_s: float) -> float:
        return time_s / SECONDS[row.unit] if row.unit in SECONDS else tokens / time_s

    low, high = sorted(stated(seconds * ratio) for ratio in ratios)
    bound = str(np.atleast_1d(step.bound_by())[min(index, step.bound_by().size - 1)])
    return Prediction(
        value=stated(seconds), bound=bound, family=family, flags=flags, p10=low, p90=high
    )


def _edges(found: SetUp, phase: Phase, batch: Array, context: Array) -> list[tuple[float, float]]:
    """Return the band that `estimate` prints, over the step itself."""
    edges = band(found.deployment, phase=phase, batch=batch, context=context)
    step = step_breakdown(found.deployment, phase=phase, batch=batch, context=context).step_s
    pairs = (np.broadcast_to(e / step, batch.shape) for e in (edges.p10_s, edges.p90_s))
    return list(zip(*(p.tolist() for p in pairs), strict=True))


def _decode(rows: list[TruthRow], found: SetUp) -> dict[str, Answer]:
    batch = numbers(rows, "batch", 1.0)
    context = numbers(rows, "context_len", float("nan"))
    guess = numbers(rows, "input_len", 0.0) + numbers(rows, "output_len", 0.0) / 2
    context = np.where(np.isnan(context), guess, context)
    step = step_breakdown(
        found.deployment, phase="decode", batch=batch, context=np.maximum(context, 1.0)
    )
    seconds = np.broadcast_to(step.step_s, batch.shape)
    family = "local decode" if is_local(rows[0]) else "decode step"
    edges = _edges(found, "decode", batch, np.maximum(context, 1.0))
    return {
        row.id: _answer(row, float(seconds[i]), batch[i], step, i, family, found.flags, edges[i])
        for i, row in enumerate(rows)
    }


def _slope(rows: list[TruthRow], found: SetUp) -> dict[str, Answer]:
    """The change of a decode step per token of context, between 1k and the context stated."""
    result: dict[str, Answer] = {}
    for row in rows:
        far = max(row.number("context_len") or 1e5, 2e3)
        step = step_breakdown(
            found.deployment,
            phase="decode",
            batch=float(row.count("batch")),
            context=np.array([1e3, far]),
        )
        low, high = (float(x) for x in np.asarray(step.step_s))
        per_token = (high - low) / (far - 1e3)
        value = per_token / SECONDS[row.unit.split("/")[0]]
        result[row.id] = Prediction(
            value=value, bound="state read", family="decode step", flags=found.flags
        )
    return result


def run_steps(deployment: Deployment, steps: Step | tuple[Step, ...]) -> Breakdown:
    """Return the breakdown of any mixture of steps on a deployment without pipeline stages."""
    work = operations(
        deployment.architecture,
        steps,
        deployment.precision,
        deployment.layout,
        imbalance=deployment.imbalance,
    )
    return breakdown(
        work,
        deployment.cluster.device,
        deployment.efficiency,
        network=None if deployment.layout is None else deployment.price_message,
        engine=deployment.engine,
        layers=float(deployment.architecture.num_layers),
    )


def _ubatch(row: TruthRow) -> float:
    found = re.search(r"ubatch (\d+)", row.engine + " " + row.text("setup"))
    return float(found[1]) if found else _UBATCH


def _prefill(rows: list[TruthRow], found: SetUp) -> dict[str, Answer]:
    """Prompts of `input_len` at once; llama.cpp walks through them in micro-batches."""
    result: dict[str, Answer] = {}
    batch = numbers(rows, "batch", 1.0)
    prompt = numbers(rows, "input_len", float("nan"))
    prompt = np.where(np.isnan(prompt), numbers(rows, "context_len", 512.0), prompt)
    if not is_local(rows[0]):
        step = step_breakdown(found.deployment, phase="prefill", batch=batch, context=prompt)
        seconds = np.broadcast_to(step.step_s, batch.shape)
        edges = _edges(found, "prefill", batch, prompt)
        return {
            row.id: _answer(
                row,
                float(seconds[i]),
                batch[i] * prompt[i],
                step,
                i,
                "prefill step",
                found.flags,
                edges[i],
            )
            for i, row in enumerate(rows)
        }
    for i, row in enumerate(rows):
        cached = row.number("depth") or 0.0
        chunk = min(_ubatch(row), prompt[i])
        # Short prompts share a micro-batch.
        together = max(1.0, min(batch[i], _ubatch(row) // prompt[i]))
        starts = cached + np.arange(0.0, prompt[i], chunk)
        sizes = np.minimum(chunk, cached + prompt[i] - starts)
        work = Step(batch=together, new_tokens=sizes, context=starts)
        step = run_steps(found.deployment, work)
        rounds = batch[i] / together

        def whole(d: Deployment, work: Step = work, like: Array = starts) -> Array:
            return np.sum(run_steps(d, work).step_s + 0.0 * like, axis=-1, keepdims=True)

        total = float(whole(found.deployment)[0]) * rounds
        low, high = ratio_band(found.deployment, whole, spread=0.0)
        ratios = (float(low[0]), float(high[0]))
        result[row.id] = _answer(
            row, total, batch[i] * prompt[i], step, 0, "local prefill", found.flags, ratios
        )
    return result
