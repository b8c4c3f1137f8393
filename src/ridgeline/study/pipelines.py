"""What cutting a model into pipeline stages fixes, and what it does not (chapters 3 and 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ridgeline.cost.remembered import remembered
from ridgeline.errors import InputError
from ridgeline.model.architecture import Architecture, LatentAttention, Mixer, SoftmaxAttention
from ridgeline.model.layout import Layout
from ridgeline.model.layout_rules import default_layout, layout_faults
from ridgeline.model.memory import state_bytes_per_device, weight_bytes_per_device
from ridgeline.model.operations import operations, stage_blocks
from ridgeline.model.work import Step
from ridgeline.phase.breakdown import breakdown
from ridgeline.phase.deployment import RUNTIME_RESERVE_BYTES, Deployment, usable_bytes
from ridgeline.schedule.pipeline import Schedule, decode_loop, idle_share, token_period_s
from ridgeline.study.deploy import deploy
from ridgeline.study.estimate import layout_dict
from ridgeline.study.resolve import open_catalog, resolve_cluster
from ridgeline.units import human

_STEADY_TOKENS = 4
_MAX_STAGES = 64
_MAX_LOOP = 16
"""Deepest pipeline whose loop a chart can still show."""
_MINOR = 0.25
"""Weights in at most this share of the memory have stopped mattering: one more halving of them
would leave an eighth more for caches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipelines:
    """One row per number of stages, the decode loops of one of them, and the rule's verdict."""

    request: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...]
    loops: tuple[tuple[int, Schedule], ...]
    """(micro-batches M, decode loop) with fewer, as many and more than `loop_stages`."""
    loop_stages: int
    stages: tuple[Mapping[str, Any], ...]
    """Time and layer kinds of each stage of the deepest pipeline."""
    verdict: str
    flags: tuple[str, ...]


def pipelines(
    model: str | Architecture,
    *,
    on: str,
    pp: Sequence[int] = (1, 2, 4, 8),
    batch: int = 128,
    context: int = 32768,
    devices_per_stage: int | None = None,
    micro_batches: int | None = None,
    dtype: str | None = None,
    kv_cache_dtype: str | None = None,
    memory_share: float = 0.9,
    catalog_dir: Path | None = None,
) -> Pipelines:
    """Return memory, speed and idle time of P = 1, 2, ... stages of one scale-up domain each.

    Args:
        model: Name or path.
        on: Cluster; grown to P stages.
        pp: Numbers of stages.
        batch: b, sequences of one micro-batch.
        context: Cached tokens per sequence.
        devices_per_stage: E; the scale-up domain when not given.
        micro_batches: M; as many as stages when not given.
        dtype: Weights.
        kv_cache_dtype: Cache.
        memory_share: Share of device memory the engine may fill.
        catalog_dir: Folder of the user's own entries.

    Raises:
        InputError: a number that breaks its rule, or more stages than layers.
    """
    counts = sorted(set(pp))
    _check(counts, batch, context, micro_batches)
    named = resolve_cluster(on, None, open_catalog(catalog_dir))
    domain = named.tiers[0].size if named.tiers else 1
    size = min(domain, named.num_devices) if devices_per_stage is None else devices_per_stage

    def deployment(stages: int) -> Deployment:
        cluster = resolve_cluster(on, size * stages, open_catalog(catalog_dir))
        base = deploy(
            model, on=cluster, devices=size * stages, dtype=dtype, kv_cache_dtype=kv_cache_dtype,
            network="ideal", memory_share=memory_share, catalog_dir=catalog_dir,
        )  # fmt: skip
        layout = replace(default_layout(base.architecture, size, domain), pp=stages)
        faults = layout_faults(base.architecture, layout)
        if faults:
            raise InputError(" ".join(faults))
        return replace(base, layout=layout)

    deployments = {count: deployment(count) for count in counts}
    timed = {c: stage_times_s(d, batch=batch, context=context) for c, d in deployments.items()}
    rows = [
        _row(d, *timed[count], batch, context, micro_batches or count)
        for count, d in deployments.items()
    ]
    shown = max((c for c in counts if c <= _MAX_LOOP), default=counts[0])
    times, hop = timed[shown]
    deepest = deployments[counts[-1]]
    return Pipelines(
        request=_request(deepest, size, batch, context, counts, micro_batches),
        rows=tuple(rows),
        loops=tuple(
            (m, decode_loop(times, micro_batches=m, hop_s=hop, tokens=_STEADY_TOKENS))
            for m in sorted({max(1, shown // 2), shown, shown + shown // 2})
        ),
        loop_stages=shown,
        stages=_stage_rows(deepest, timed[counts[-1]][0]),
        verdict=_verdict(rows, size, deepest),
        flags=tuple(dict.fromkeys((*deepest.efficiency.flags, *deepest.cluster.flags))),
    )


def stage_times_s(
    deployment: Deployment, *, batch: float, context: float
) -> tuple[tuple[float, ...], float]:
    """Return the time of each stage for one micro-batch, and of one hop between stages [s].

    Args:
        deployment: Its layout has a single pp.
        batch: Sequences of the micro-batch.
        context: Cached tokens per sequence.
    """
    layout = deployment.layout or Layout()
    times: list[float] = []
    hop = 0.0
    price = remembered(deployment.price_message)
    for stage in range(int(layout.pp)):
        work = operations(
            deployment.architecture,
            Step(batch=batch, new_tokens=1, context=context),
            deployment.precision,
            layout,
            stage=stage,
            imbalance=deployment.imbalance,
        )
        step = breakdown(
            [op for op in work if op.name != "stage.send"],
            deployment.cluster.device,
            deployment.efficiency,
            network=price,
        )
        times.append(float(step.step_s))
        for op in work:
            if op.name == "stage.send" and op.message is not None:
                hop = max(hop, float(price(op.message).time_s))
    return tuple(times), hop


def _row(
    d: Deployment, times: Sequence[float], hop: float, batch: int, context: int, micro: int
) -> dict[str, Any]:
    layout = d.layout or Layout()
    stages = len(times)
    loop = decode_loop(times, micro_batches=micro, hop_s=hop, tokens=_STEADY_TOKENS)
    period = token_period_s(loop)

    def cache(sequences: int) -> float:
        return float(
            state_bytes_per_device(d.architecture, context, sequences, d.precision, layout)
        )

    weights = float(weight_bytes_per_device(d.architecture, d.precision, layout))
    kept = cache(batch * micro)
    needed = weights + kept + RUNTIME_RESERVE_BYTES
    return {
        "stages": stages,
        "devices": int(layout.num_devices),
        "micro_batches": micro,
        "weight_bytes_per_device": weights,
        "kv_bytes_per_device": kept,
        "kv_bytes_per_device_batch_fixed": cache(batch),
        "fits": needed <= usable_bytes(d),
        "tpot_s": period,
        "hop_s": hop,
        "hop_share": stages * hop / period if stages > 1 else 0.0,
        "idle_share": idle_share(loop),
        "stage_imbalance": max(times) / (sum(times) / stages),
        "tokens_per_s_per_device": batch * micro / period / int(layout.num_devices),
    }


def _stage_rows(d: Deployment, times: Sequence[float]) -> tuple[Mapping[str, Any], ...]:
    layout = d.layout or Layout()
    rows: list[Mapping[str, Any]] = []
    for stage, seconds in enumerate(times):
        blocks = stage_blocks(d.architecture, int(layout.pp), stage)
        kinds: dict[str, int] = {}
        for block, count in blocks:
            name = f"{_mixer_words(block.mixer)} + {block.feed_forward.kind}"
            kinds[name] = kinds.get(name, 0) + count
        words = ", ".join(f"{n} x {kind}" for kind, n in kinds.items())
        rows.append({"stage": stage, "time_s": seconds, "layers": words})
    return tuple(rows)


def _mixer_words(mixer: Mixer) -> str:
    """Return the kind of a mixer, and the window where it looks no farther."""
    windows = {
        core.window
        for core in mixer.cores
        if isinstance(core, SoftmaxAttention | LatentAttention) and core.window is not None
    }
    return mixer.kind + "".join(f" of {w:,}" for w in sorted(windows))


def _verdict(rows: Sequence[Mapping[str, Any]], size: int, d: Deployment) -> str:
    """Return the lecture's decision rule with this model's numbers in it.

    Source: lecture C4-F8.
    """
    fitting = [r for r in rows if r["fits"]]
    memory = usable_bytes(d)
    if not fitting:
        return _nothing_fits(rows[-1], memory)
    first = fitting[0]
    minor = next(
        (r for r in fitting if r["weight_bytes_per_device"] <= _MINOR * memory), fitting[-1]
    )
    where = f"{size} devices of {d.cluster.device.id} per stage"
    if minor["stages"] == 1:
        return (
            f"Do not pipeline: on {where} the weights take"
            f" {human(first['weight_bytes_per_device'], 'B')} of {human(memory, 'B')} per device;"
            f" the cache of {human(first['kv_bytes_per_device'], 'B')} would stay, and"
            f" {_cost_of_two(rows)}."
        )
    reason = "the least that fits" if minor is first else "enough that weights stop mattering"
    extra = minor["stages"] * minor["hop_s"]
    return (
        f"Use {minor['stages']} stages, {reason}: on {where} weights fall from"
        f" {human(rows[0]['weight_bytes_per_device'], 'B')} to"
        f" {human(minor['weight_bytes_per_device'], 'B')} per device, the cache stays at"
        f" {human(minor['kv_bytes_per_device'], 'B')}, and hops add {human(extra, 's')} per token."
    )


def _nothing_fits(row: Mapping[str, Any], memory: float) -> str:
    """Return what is too large in the deepest pipeline: the cache at any P, or the weights."""
    weights, cache = row["weight_bytes_per_device"], row["kv_bytes_per_device"]
    left = memory - cache - RUNTIME_RESERVE_BYTES
    if left <= 0:
        return (
            f"No number of stages fits: the cache of one micro-batch takes {human(cache, 'B')} per"
            " device at every P, and stages do not shrink it. Use fewer sequences, a shorter"
            " context or a larger domain."
        )
    return (
        f"P = {row['stages']} does not fit: weights of {human(weights, 'B')} and a cache of"
        f" {human(cache, 'B')} on {human(memory, 'B')} per device. Weights fall as 1/P: use"
        f" {math.ceil(row['stages'] * weights / left)} stages or more."
    )


def _cost_of_two(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what the next number of stages does to the time per token."""
    if len(rows) < 2:
        return "stages add no speed"
    one, more = rows[0], rows[1]
    change = (more["tpot_s"] / one["tpot_s"] - 1) * 100
    return f"{more['stages']} stages change the time per token by {change:+.2g} %"


def _request(
    d: Deployment,
    size: int,
    batch: int,
    context: int,
    counts: Sequence[int],
    micro_batches: int | None,
) -> dict[str, Any]:
    return {
        "model": d.architecture.name,
        "on": d.cluster.id,
        "devices_per_stage": size,
        "stage_layout": layout_dict(replace(d.layout or Layout(), pp=1)),
        "pp": list(counts),
        "micro_batches": micro_batches,
        "batch": batch,
        "context": context,
        "gpu_memory_utilization": d.memory_share,
        "usable_bytes_per_device": usable_bytes(d),
        "runtime_bytes_per_device": RUNTIME_RESERVE_BYTES,
    }


def _check(counts: Sequence[int], batch: int, context: int, micro_batches: int | None) -> None:
    if not counts or not 1 <= counts[0] <= counts[-1] <= _MAX_STAGES:
        raise InputError(f"pp must be from 1 to {_MAX_STAGES} stages: {list(counts)}.")
    for name, value, most in (
        ("batch", batch, 2**20),
        ("context", context, 2**27),
        ("micro-batches", 1 if micro_batches is None else micro_batches, 256),
    ):
        if not 1 <= value <= most:
            raise InputError(f"{name} must be from 1 to {most:,}: {value}.")
