"""Pictures of chapters 1 to 4: batches, racks, pipelines, memory."""

from __future__ import annotations

import numpy as np

from ridgeline.chalkboard import memory, pipelines, racks, roofline
from ridgeline.study.lecture_claims.chapter1_formulas import (
    CACHE,
    COMPUTE,
    KV,
    MODEL,
    RACK,
    WEIGHTS,
)
from ridgeline.study.lecture_claims.facts import GB200, USD_2_PER_HOUR, ratio_inputs
from ridgeline.study.lecture_claims.picture import Array, Line, Picture

EXAMPLE = "DeepSeek V3 in FP8 on 72 devices of a GB200 rack"


def serving_pictures() -> tuple[Picture, ...]:
    """Return the pictures of chapters 1 to 4."""
    return (
        *_batch_pictures(2048.0),
        _frontier(),
        _slopes(),
        _mfu(),
        _rack_cliff(),
        _bubble(),
        _stage_memory(),
    )


def _terms(batch: Array, context_tokens: float) -> tuple[Array, Array, Array, Array]:
    """Return compute, weight, cache and step time of the worked example [s]."""
    compute = roofline.compute_time(batch=batch, **COMPUTE)
    weights = roofline.weight_time(**WEIGHTS)
    kv = roofline.kv_time(batch=batch, context_tokens=context_tokens, **CACHE)
    step = roofline.step_time(compute_s=compute, weights_s=weights, kv_s=kv)
    ones = np.ones_like(batch)
    return compute * ones, weights * ones, kv * ones, step * ones


def _critical_batch() -> float:
    ratio = roofline.balance_ratio(**ratio_inputs(GB200, "fp8"))
    return float(roofline.critical_batch(balance_ratio=ratio, **MODEL))


def _batch_pictures(context_tokens: float) -> tuple[Picture, Picture]:
    batch = np.geomspace(100.0, 30_000.0, 300)
    names = ("compute", "weight reads", "cache reads", "step: max(compute, reads)")
    terms = _terms(batch, context_tokens)
    rent = RACK * USD_2_PER_HOUR * 1e6
    per_token = [roofline.token_cost(step_s=t, batch=batch, usd_per_s=rent) for t in terms]
    kept = roofline.critical_batch_at_context(
        balance_ratio=roofline.balance_ratio(**ratio_inputs(GB200, "fp8")),
        **MODEL,
        bytes_per_param=1.0,
        context_tokens=context_tokens,
        kv_bytes_per_token=KV,
    )
    marks = (("B*, caches dropped", _critical_batch()), ("B*, caches kept", float(kept)))
    return (
        Picture(
            id="C1-Q1",
            title=f"Latency against batch\n{EXAMPLE}, 2048 tokens",
            x="batch [sequences]",
            y="time of one step [ms]",
            lines=tuple(
                Line(label=n, x=batch, y=t * 1e3, strong=n.startswith("step"))
                for n, t in zip(names, terms, strict=True)
            ),
            marks=marks,
            logs="xy",
        ),
        Picture(
            id="C1-Q2",
            title=f"Cost against batch\n{EXAMPLE}, 2048 tokens, $2 per device-hour",
            x="batch [sequences]",
            y="cost [USD per 1e6 tokens]",
            lines=tuple(
                Line(label=n, x=batch, y=np.asarray(c), strong=n.startswith("step"))
                for n, c in zip(names, per_token, strict=True)
            ),
            marks=marks,
            logs="xy",
        ),
    )


def _frontier() -> Picture:
    batch = np.geomspace(1.0, 100_000.0, 400)
    lines: list[Line] = []
    for context in (0.0, 2048.0, 16_384.0):
        step = _terms(batch, context)[3]
        rent = RACK * USD_2_PER_HOUR * 1e6
        cost = np.asarray(roofline.token_cost(step_s=step, batch=batch, usd_per_s=rent))
        lines.append(Line(label=f"context {context:,.0f}", x=1.0 / step, y=cost))
    return Picture(
        id="C1-Q3",
        title=f"Cost against speed, batch 1 to 100,000\n{EXAMPLE}",
        x="speed of one user [tokens/s]",
        y="cost [USD per 1e6 tokens]",
        lines=tuple(lines),
        marks=(("1 / weight read", 1.0 / float(roofline.weight_time(**WEIGHTS))),),
        logs="y",
    )


def _balance() -> float:
    ratio = roofline.balance_ratio(**ratio_inputs(GB200, "fp8"))
    return float(
        roofline.balance_context(
            active_params=COMPUTE["active_params"],
            bytes_per_param=1.0,
            balance_ratio=ratio,
            kv_bytes_per_token=KV,
        )
    )


def _slopes() -> Picture:
    batch = np.linspace(0.0, 20_000.0, 200)
    lines = [Line(label="compute", x=batch, y=_terms(batch, 0.0)[0] * 1e3, strong=True)]
    for label, factor in (("L*/2", 0.5), ("L*", 1.0), ("2 L*", 2.0)):
        _, weights, kv, _ = _terms(batch, factor * _balance())
        lines.append(Line(label=f"reads at {label}", x=batch, y=(weights + kv) * 1e3))
    return Picture(
        id="C1-Q4",
        title=f"Slopes of compute and reads; equal at L* = {_balance():,.0f} tokens\n{EXAMPLE}",
        x="batch [sequences]",
        y="time [ms]",
        lines=tuple(lines),
    )


def _mfu() -> Picture:
    context = np.geomspace(100.0, 1e6, 300)
    balance = _balance()
    sparse = roofline.sparse_context(context_tokens=context)
    return Picture(
        id="C1-Q5",
        title=f"Utilisation against context, batch without end\n{EXAMPLE}",
        x="context [tokens]",
        y="MFU [1]",
        lines=tuple(
            Line(
                label=label,
                x=context,
                y=np.asarray(
                    roofline.mfu_at_context(context_tokens=read, balance_context_tokens=balance)
                ),
            )
            for label, read in (("dense", context), ("reads sqrt(L) tokens", sparse))
        ),
        marks=(("L*", balance),),
        logs="x",
    )


def _rack_cliff() -> Picture:
    count = np.arange(1.0, 9.0)
    return Picture(
        id="C2-Q2",
        title="All-to-all of one layer spread over racks",
        x="racks",
        y="time over that of one rack [1]",
        lines=tuple(
            Line(
                label=f"scale-up {ratio:.0f}x scale-out",
                x=count,
                y=np.asarray(racks.all_to_all_slowdown(racks=count, bandwidth_ratio=ratio)),
            )
            for ratio in (1.0, 4.0, 8.0, 18.0)
        ),
    )


def _bubble() -> Picture:
    count = np.geomspace(1.0, 256.0, 100)
    return Picture(
        id="C3-Q2",
        title="Idle share of a training step that flushes its pipeline",
        x="micro-batches",
        y="idle share [1]",
        lines=tuple(
            Line(
                label=f"{stages:.0f} stages",
                x=count,
                y=np.asarray(pipelines.training_bubble(stages=stages, micro_batches=count)),
            )
            for stages in (2.0, 4.0, 8.0, 16.0)
        ),
        logs="x",
    )


def _stage_memory() -> Picture:
    stages = np.arange(1.0, 17.0)
    weights = pipelines.weights_per_device(
        total_params=1e12, bytes_per_param=1.0, devices_per_stage=64.0, stages=stages
    )
    cache = {"context_tokens": 1e5, "kv_bytes_per_token": 2048.0, "devices_per_stage": 64.0}
    right = memory.kv_per_device_full_pipeline(micro_batch=2000.0, **cache)
    wrong = memory.kv_per_device(batch=2000.0, stages=stages, **cache)
    ones = np.ones_like(stages)
    return Picture(
        id="C4-Q1",
        title="Memory per device: 1T in FP8, 64 devices a stage, 2000 × 100k tokens of 2 kB",
        x="pipeline stages",
        y="memory per device [GB]",
        lines=(
            Line(label="weights", x=stages, y=weights * ones / 1e9),
            Line(label="caches, one micro-batch per stage", x=stages, y=right * ones / 1e9),
            Line(label="sum", x=stages, y=(weights + right) * ones / 1e9, strong=True),
            Line(label="caches if the batch did not grow", x=stages, y=wrong * ones / 1e9),
        ),
    )
