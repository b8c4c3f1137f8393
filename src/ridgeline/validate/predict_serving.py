"""Serving against concurrency: closed loops on one replica, and offline saturation."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import RidgelineError
from ridgeline.phase.band import ratio_band
from ridgeline.phase.closed_loop import ClosedLoop, Scheduling, closed_loop
from ridgeline.phase.deployment import Deployment, step_breakdown
from ridgeline.validate.benchmark_runs import RunSettings, run_settings
from ridgeline.validate.predict_pools import predict_pools
from ridgeline.validate.prediction import SECONDS, Answer, NotPredicted, Prediction
from ridgeline.validate.set_up import SetUp, set_up
from ridgeline.validate.truth_rows import TruthRow

Array = NDArray[np.float64]
_DRAIN = 1.02
"""Time of a run of ten waves over ten cycles: seats run empty one by one at its end. Published
throughput times TPOT says 1.02 to 1.03 where prompts are short."""
LENGTH_SHARE = 0.9
"""Random lengths in [0.8, 1.0] of the nominal ones where a row gives no effective length."""
_BUDGET = 8192.0


def predict_serving(rows: Sequence[TruthRow]) -> dict[str, Answer]:
    """Return a prediction or a reason for every row of a closed loop."""
    answers: dict[str, Answer] = {}
    batches: dict[int, list[tuple[TruthRow, SetUp]]] = defaultdict(list)
    pools: list[TruthRow] = []
    for row in rows:
        reason = _refused(row)
        if reason:
            answers[row.id] = NotPredicted(reason=reason)
            continue
        if row.text("disagg").lower() == "true" or "disaggregated" in row.text("layout"):
            pools.append(row)
            continue
        try:
            found = set_up(row)
        except RidgelineError as error:
            answers[row.id] = NotPredicted(reason=str(error))
            continue
        batches[id(found)].append((row, found))
    answers.update(predict_pools(pools))
    for pairs in batches.values():
        batch = [r for r, _ in pairs]
        try:
            answers.update(_batch(batch, pairs[0][1]))
        except RidgelineError as error:
            answers.update({r.id: NotPredicted(reason=str(error)) for r in batch})
    return answers


def _refused(row: TruthRow) -> str:
    if row.text("spec") not in ("", "none"):
        return "speculative decoding without a recorded acceptance"
    if row.metric.startswith("joules"):
        return "energy: not predicted yet"
    if row.number("concurrency") is None:
        return "no concurrency is stated: the trace must be replayed"
    if _kind(row) is None:
        return f"serving metric `{row.metric}` is not modelled"
    return ""


_KINDS = (
    (r".*(tpot|itl).*", "tpot"),
    (r".*ttft.*", "ttft"),
    (r"tput_per_gpu_total.*", "total per device"),
    (r"output_tput_per_gpu.*", "output per device"),
    (r"output_throughput_total", "output"),
    (r"input_throughput_total", "input"),
)


def _kind(row: TruthRow) -> str | None:
    return next((kind for pattern, kind in _KINDS if re.fullmatch(pattern, row.metric)), None)


def _lengths(row: TruthRow) -> tuple[float, float]:
    share = LENGTH_SHARE if row.area == "serving_concurrency" else 1.0
    isl = row.number("eff_input_len") or share * (row.number("input_len") or 0.0)
    osl = row.number("eff_output_len") or share * (row.number("output_len") or 1.0)
    return isl, osl


def scheduling_of(engine: str) -> Scheduling:
    """Return how an engine mixes prompts with decodes by default."""
    return "separate" if engine == "sglang" else "mixed"


def settings_of(row: TruthRow, found: SetUp) -> RunSettings:
    """Return the scheduler flags of a row's run."""
    layout = found.deployment.layout
    return run_settings(
        row,
        engine=found.engine,
        generation=found.deployment.cluster.device.generation,
        groups=1.0 if layout is None else float(np.max(layout.dp)),
    )


def _batch(rows: list[TruthRow], found: SetUp) -> dict[str, Answer]:
    lengths = [_lengths(r) for r in rows]
    concurrency = np.array([r.number("concurrency") or 1.0 for r in rows])
    isl, osl = np.array([x for x, _ in lengths]), np.array([y for _, y in lengths])
    runs = [settings_of(r, found) for r in rows]

    def solved(deployment: Deployment) -> ClosedLoop:
        return closed_loop(
            deployment,
            concurrency=concurrency,
            isl=isl,
            osl=osl,
            budget=_BUDGET,
            scheduling=scheduling_of(found.engine),
            poll_steps=np.array([x.poll_steps for x in runs]),
            gather_steps=max(x.gather_steps for x in runs),
        )

    loop = solved(found.deployment)
    edges = ratio_band(found.deployment, lambda d: solved(d).tpot_s)
    context = isl + osl / 2
    bound = step_breakdown(
        found.deployment, phase="decode", batch=np.maximum(loop.decoding, 1.0), context=context
    ).bound_by()
    bounds = np.broadcast_to(bound, concurrency.shape)
    result: dict[str, Answer] = {}
    for i, row in enumerate(rows):
        kind = _kind(row) or ""
        value = _value(row, kind, loop, i, isl[i], osl[i], found)
        family = {"tpot": "serving tpot", "ttft": "serving ttft"}.get(kind, "serving throughput")
        # Throughput is the inverse of the time of a cycle, most of which is decoding.
        ratios = sorted(float(e[i]) if kind == "tpot" else 1 / float(e[i]) for e in edges)
        band = (None, None) if kind == "ttft" else (value * ratios[0], value * ratios[1])
        prefill = (loop.tpot_s[i] - loop.decode_s[i]) > loop.decode_s[i]
        result[row.id] = Prediction(
            value=value,
            bound="prefill of others" if prefill else str(bounds[i]),
            family=family,
            flags=(*found.flags, *runs[i].flags),
            p10=band[0],
            p90=band[1],
        )
    return result


def _value(
    row: TruthRow, kind: str, loop: ClosedLoop, i: int, isl: float, osl: float, found: SetUp
) -> float:
    rate = float(loop.requests_per_s[i]) / _DRAIN
    devices = found.deployment.num_devices
    match kind:
        case "tpot":
            return float(loop.tpot_s[i]) / SECONDS[row.unit]
        case "ttft":
            return float(loop.ttft_s[i]) / SECONDS[row.unit]
        case "total per device":
            return rate * (isl + osl) / devices
        case "output per device":
            return rate * osl / devices
        case "input":
            return rate * isl
        case _:
            return rate * osl
