"""Separate prefill and decode pools at fixed concurrency."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import RidgelineError
from ridgeline.phase.band import ratio_band
from ridgeline.phase.deployment import Deployment, fits, largest_that_fits, step_breakdown
from ridgeline.validate.prediction import SECONDS, Answer, NotPredicted, Prediction
from ridgeline.validate.set_up import SetUp, set_up
from ridgeline.validate.truth_rows import TruthRow

Array = NDArray[np.float64]
_POOL = re.compile(r"(\d+)x\(tp(\d+),ep(\d+),dpattn=(True|False)\)")
_ROUNDS = 6
_MOST_SEATS = 2**16
_PROMPTS = "prefill pool"


def predict_pools(rows: Sequence[TruthRow]) -> dict[str, Answer]:
    """Return TPOT and throughput of disaggregated rows."""
    answers: dict[str, Answer] = {}
    batches: dict[tuple[int, int, int, int], list[_Item]] = defaultdict(list)
    for row in rows:
        try:
            item = _item(row)
        except RidgelineError as error:
            answers[row.id] = NotPredicted(reason=str(error))
            continue
        if item is None:
            answers[row.id] = NotPredicted(reason="pools without both configurations and lengths")
        else:
            key = (item.prefill[0], id(item.prefill[1]), item.decode[0], id(item.decode[1]))
            batches[key].append(item)
    for items in batches.values():
        answers.update(_batch(items))
    return answers


@dataclass(frozen=True, slots=True)
class _Item:
    row: TruthRow
    prefill: tuple[int, SetUp]
    decode: tuple[int, SetUp]
    isl: float
    osl: float
    concurrency: float


def _pool(row: TruthRow, text: str) -> tuple[int, SetUp] | None:
    found = _POOL.search(text)
    if not found or found[1] == "0":
        return None
    tp, ep = int(found[2]), int(found[3])
    degrees = (1, 1, ep, tp, 1) if found[4] == "True" else (tp, 1, ep, 1, 1)
    return int(found[1]), set_up(row, degrees=degrees)


def _item(row: TruthRow) -> _Item | None:
    prefill, decode = (_pool(row, row.text(f"{p}_cfg")) for p in ("prefill", "decode"))
    isl, osl = row.number("eff_input_len"), row.number("eff_output_len")
    concurrency = row.number("concurrency")
    if prefill is None or decode is None or not isl or not osl or not concurrency:
        return None
    return _Item(row, prefill, decode, isl, osl, concurrency)


def _batch(items: list[_Item]) -> dict[str, Answer]:
    isl, osl, c = (np.array([getattr(x, k) for x in items]) for k in ("isl", "osl", "concurrency"))
    tpot, rate, bound, batch = _solve(items[0].prefill, items[0].decode, isl, osl, c)
    prompts, tokens = _edges(items[0].prefill[1], items[0].decode[1], isl, osl, batch)
    answers: dict[str, Answer] = {}
    for i, item in enumerate(items):
        row, devices = item.row, item.row.count("n_chips")
        if "tpot" in row.metric:
            value, family = float(tpot[i]) / SECONDS[row.unit], "pools tpot"
        elif row.metric.startswith("tput_per_gpu_total"):
            value, family = float(rate[i] * (isl[i] + osl[i])) / devices, "pools throughput"
        elif row.metric.startswith("output_tput_per_gpu"):
            value, family = float(rate[i] * osl[i]) / devices, "pools throughput"
        else:
            answers[row.id] = NotPredicted(reason=f"metric `{row.metric}` of pools")
            continue
        limit = str(bound[i])
        quick, slow = (float(e[i]) for e in (prompts if limit == _PROMPTS else tokens))
        if family == "pools tpot":
            quick, slow = (1 / float(e[i]) for e in reversed(tokens))
        answers[row.id] = Prediction(
            value=value,
            bound=limit,
            family=family,
            flags=item.decode[1].flags,
            p10=value / slow,
            p90=value / quick,
        )
    return answers


def _edges(
    prefill: SetUp, decode: SetUp, isl: Array, osl: Array, batch: Array
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return the 10 and 90 % ratios of a prompt and of a decode step to themselves [1]."""

    def prompt_s(d: Deployment) -> Array:
        return np.asarray(step_breakdown(d, phase="prefill", batch=_groups(d), context=isl).step_s)

    def token_s(d: Deployment) -> Array:
        context = isl + osl / 2
        step = step_breakdown(d, phase="decode", batch=np.maximum(batch, 1.0), context=context)
        return np.asarray(step.step_s)

    return ratio_band(prefill.deployment, prompt_s), ratio_band(decode.deployment, token_s)


def _groups(deployment: Deployment) -> float:
    return 1.0 if deployment.layout is None else float(np.max(deployment.layout.dp))


def _solve(
    prefill: tuple[int, SetUp], decode: tuple[int, SetUp], isl: Array, osl: Array, c: Array
) -> tuple[Array, Array, NDArray[np.str_], Array]:
    """Return TPOT, requests per second, the limit and the batch of a decode worker.

    c requests cycle through both pools.

    A prefill worker takes one prompt per attention group at a time; decode workers share the
    rest evenly, as far as their memory holds them.

        rate = min(c / (TTFT + (O - 1)·TPOT), prefill workers / seconds per prompt,
                   decode workers · seats / ((O - 1)·TPOT))
        B    = rate · (O - 1)·TPOT / decode workers
    """
    pool = prefill[1].deployment
    groups = _groups(pool)
    whole = np.asarray(step_breakdown(pool, phase="prefill", batch=groups, context=isl).step_s)
    most = prefill[0] * groups / whole
    ttft = whole + (0.0 if pool.engine is None else pool.engine.first_token_s)
    seats = _seats(decode[1].deployment, isl, osl)
    batch: Array = np.minimum(c / decode[0], seats)
    tpot: Array = np.zeros_like(c)
    rate: Array = np.zeros_like(c)
    bound = np.full(c.shape, "", dtype=object)
    for _ in range(_ROUNDS):
        step = step_breakdown(
            decode[1].deployment,
            phase="decode",
            batch=np.maximum(batch, 1.0),
            context=isl + osl / 2,
        )
        tpot = np.broadcast_to(step.step_s, c.shape)
        bound = np.broadcast_to(step.bound_by(), c.shape)
        think = (osl - 1) * tpot
        held = decode[0] * seats / think
        rate = np.minimum(np.minimum(c / (ttft + think), most), held)
        batch = 0.5 * batch + 0.5 * rate * think / decode[0]
    return tpot, rate, np.where(rate >= most, _PROMPTS, bound), batch


def _seats(deployment: Deployment, isl: Array, osl: Array) -> Array:
    """Return the requests that one decode worker's memory holds, halfway through their output."""

    def largest(tokens: float) -> int:
        return largest_that_fits(
            lambda n: fits(deployment, batch=n, tokens=tokens, step_tokens=n), _MOST_SEATS
        )

    context = isl + osl / 2
    found = {tokens: max(largest(tokens), 1) for tokens in set(context.tolist())}
    return np.array([float(found[tokens]) for tokens in context.tolist()])
