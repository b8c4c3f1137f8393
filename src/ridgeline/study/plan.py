"""Which layout, batch and pools serve a model on N devices within the targets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from ridgeline.cost.own_curves import Calibration
from ridgeline.errors import InfeasibleError, InputError
from ridgeline.hardware import Cluster
from ridgeline.model.architecture import Architecture
from ridgeline.model.draft import Speculation
from ridgeline.model.layout import Layout
from ridgeline.model.precision import Precision
from ridgeline.phase.deployment import Deployment, fits
from ridgeline.phase.serving import Load
from ridgeline.placement.pareto import pareto_front
from ridgeline.placement.search import Candidates, joined, search
from ridgeline.placement.space import Space, devices_per_host, enumerate_layouts
from ridgeline.study.deploy import deploy, speculation_dict, traffic_flags
from ridgeline.study.plan_bands import banded
from ridgeline.study.plan_options import (
    Objective,
    Option,
    Targets,
    best_of_other_layouts,
    degrees_text,
    meets,
    nothing_meets,
    option_at,
    options_by_name,
    ranked,
)
from ridgeline.study.plan_reasons import Reason, reasons
from ridgeline.study.rent import rental_price

Progress = Callable[[int, int], None]
"""Called with (parts of the search done, of how many)."""
_TICKS = 50
"""Parts per precision option that progress counts."""
_MAX_DEVICES = 4096
_FURTHEST = 32
"""Multiples of the devices that are tried when nothing fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The winner, what it beat, and the front it stands on."""

    request: Mapping[str, Any]
    deployment: Deployment
    """Of the winner's decode (or mixed) replica."""
    winner: Option
    runners_up: tuple[Option, ...]
    """Best option of each other layout, at most nine."""
    front: tuple[Option, ...]
    """No option is better in both speed per user and tokens per device."""
    reasons: tuple[Reason, ...]
    """Where winner and runner-up differ."""
    num_combinations: int
    """Combinations of layout, batch, precision and pools that were evaluated."""
    num_fitting: int
    flags: tuple[str, ...]
    load: Load
    precisions: Mapping[tuple[str, str], Precision]
    """Formats that were tried, by the names of weights and cache in an option."""

    def deployment_of(self, layout: Layout, option: Option) -> Deployment:
        """Return one replica of either layout of an option, in the option's formats."""
        return replace(
            self.deployment,
            layout=layout,
            precision=self.precisions[option.weights, option.kv],
            num_devices=int(layout.num_devices),
        )


def plan(
    model: str | Architecture,
    *,
    on: str | Cluster,
    devices: int | None = None,
    isl: int,
    osl: int,
    ttft_s: float | None = None,
    tpot_s: float | None = None,
    objective: Objective = "throughput",
    dtypes: Sequence[str | None] = (None,),
    kv_cache_dtypes: Sequence[str | None] = (None,),
    pools: bool = True,
    chunk: int = 2048,
    usd_per_device_hour: float | None = None,
    memory_share: float = 0.9,
    efficiency: str = "calibrated",
    routing: str = "uniform",
    speculation: Speculation | None = None,
    engine: str = "auto",
    calibration: Path | Calibration | None = None,
    max_pp: int = 16,
    catalog_dir: Path | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Return the best layout, batch and pools, exhaustively searched.

    Args:
        model: Name, path or Architecture.
        on: Name or Cluster.
        devices: N; all of the cluster's when not given.
        isl: Prompt tokens.
        osl: Output tokens.
        ttft_s: Largest time to first token without queueing.
        tpot_s: Largest time per output token.
        objective: `throughput` and `cost` maximise tokens per device, `latency` minimises the
            time per token.
        dtypes: Weight formats to try; None is the checkpoint's.
        kv_cache_dtypes: Cache formats to try.
        pools: Also try separate prefill and decode pools.
        chunk: Prompt tokens per attention group that ride on one decode step.
        usd_per_device_hour: Rental price; the cluster's when not given.
        memory_share: Share of device memory the engine may fill.
        efficiency: As in `estimate`.
        routing: As in `estimate`.
        speculation: As in `estimate`.
        engine: As in `estimate`.
        calibration: As in `estimate`.
        max_pp: Most pipeline stages.
        catalog_dir: Folder of the user's own entries.
        progress: Called as the search goes on.

    Raises:
        InputError: a value breaks its rule.
        InfeasibleError: nothing fits, or no option meets the targets (the nearest is named).
    """
    targets = Targets(ttft_s=ttft_s, tpot_s=tpot_s)
    _check(isl, osl, chunk, targets, objective)
    if not 1 <= max_pp <= _MAX_DEVICES:
        raise InputError(f"max-pp must be from 1 to {_MAX_DEVICES} stages: {max_pp}.")
    base = deploy(
        model,
        on=on,
        devices=devices,
        efficiency=efficiency,
        routing=routing,
        speculation=speculation,
        engine=engine,
        calibration=calibration,
        memory_share=memory_share,
        catalog_dir=catalog_dir,
    )
    load = Load(isl=isl, osl=osl, chunk=min(chunk, isl), tokens_per_step=base.tokens_per_step)
    count = base.num_devices
    if count > _MAX_DEVICES:
        raise InputError(f"devices must be at most {_MAX_DEVICES} in a plan: {count}.")
    price = rental_price(usd_per_device_hour, base.cluster)
    tiers = base.cluster.tiers
    space = enumerate_layouts(
        base.architecture,
        num_devices=count,
        scale_up=min(tiers[0].size, count) if tiers else 1,
        host=devices_per_host(base.cluster),
        max_pp=max_pp,
    )
    options = [
        Precision.of(base.architecture, dtype=w, kv_dtype=k)
        for w in dtypes
        for k in kv_cache_dtypes
    ]
    total, found = _evaluate(base, options, space, load, count, pools=pools, progress=progress)
    if not len(found):
        raise _nothing_fits(base, options, load, count)
    per_device = found.requests_per_s * osl / count
    ok = meets(found, targets)

    def option(index: int) -> Option:
        return option_at(found, index, space, options, count, osl, price)

    if not ok.any():
        raise nothing_meets(found, targets, option)
    order = ranked(found, space, per_device, ok, objective)
    best = int(order[0])
    others = best_of_other_layouts(found, order, per_device)
    front = pareto_front(1 / found.tpot_s, per_device)
    winner = replace(
        base, layout=space.one(int(found.layout[best])), precision=options[found.precision[best]]
    )
    by_name = options_by_name(options)
    chosen = [best, *others, *(int(i) for i in front)]
    shown = banded([option(i) for i in chosen], base, load, by_name)
    return Plan(
        request={
            **_request(base, targets, isl, osl, objective, dtypes, kv_cache_dtypes, price, chunk),
            "routing": routing,
        },
        deployment=winner,
        winner=shown[0],
        runners_up=tuple(shown[1 : 1 + len(others)]),
        front=tuple(shown[1 + len(others) :]),
        reasons=reasons(base, shown[0], shown[1], by_name, load) if others else (),
        num_combinations=total,
        num_fitting=len(found),
        flags=(*traffic_flags(base, routing), *_flags(base, price, pools=pools)),
        load=load,
        precisions=by_name,
    )


def _evaluate(
    base: Deployment,
    options: Sequence[Precision],
    space: Space,
    load: Load,
    count: int,
    *,
    pools: bool,
    progress: Progress | None,
) -> tuple[int, Candidates]:
    total = 0
    parts: list[Candidates] = []
    for i, precision in enumerate(options):
        template = replace(base, precision=precision)
        for evaluated, part, done in search(
            template, space, load, num_devices=count, precision=i, pools=pools
        ):
            total += evaluated
            parts.append(part)
            if progress is not None:
                progress(round(_TICKS * (i + done)), _TICKS * len(options))
    return total, joined(parts)


def _nothing_fits(
    base: Deployment, options: Sequence[Precision], load: Load, count: int
) -> InfeasibleError:
    device = base.cluster.device
    have = count * device.memory.capacity_bytes * base.memory_share
    text = (
        f"{base.architecture.name} does not fit on {count} x {device.id} in any layout:"
        f" {have / 1e9:.3g} GB usable in all."
    )
    near = _least_devices(base, options, load, count)
    if near is None:
        return InfeasibleError(f"{text} Use more devices or a narrower --dtype.")
    # Beyond one domain a cluster grows by whole domains.
    domain = base.cluster.tiers[0].size if base.cluster.tiers else 1
    used = int(near.num_devices)
    devices = used if used <= domain else math.ceil(used / domain) * domain
    return InfeasibleError(
        f"{text} Nearest: {devices} devices, of which {degrees_text(near)} uses {used}."
        " Use more devices or a narrower --dtype.",
        relax={"devices": devices},
    )


def _least_devices(
    base: Deployment, options: Sequence[Precision], load: Load, count: int
) -> Layout | None:
    """Return the smallest layout that holds one request per slot, among growing clusters."""
    tiers = base.cluster.tiers
    domain = tiers[0].size if tiers else 1
    for times in range(2, _MAX_DEVICES // count + 1):
        space = enumerate_layouts(
            base.architecture,
            num_devices=count * times,
            scale_up=min(domain, count * times),
            host=devices_per_host(base.cluster),
        )
        batch = (space.dp * space.pp)[:, None].astype(np.float64)
        for precision in options:
            spread = replace(base, layout=space.layout(), precision=precision)
            fitting = np.flatnonzero(
                fits(spread, batch=batch, tokens=load.isl + load.osl, step_tokens=batch)
            )
            if fitting.size:
                fewest = fitting[np.argmin(space.num_devices[fitting])]
                return space.one(int(fewest))
        if times >= _FURTHEST:
            break
    return None


def _flags(base: Deployment, price: float | None, *, pools: bool) -> tuple[str, ...]:
    flags = [
        "times to first token are without queueing: a seat is free when a request arrives",
        *base.efficiency.flags,
        *base.cluster.flags,
        *base.cluster.device.flags,
        *base.architecture.flags,
    ]
    if price is None:
        flags.append("no rental price is known for this cluster: give --usd-per-hour for costs")
    if pools:
        flags.append("pools: the cache moves over the outermost tier while decode goes on")
    return tuple(flags)


def _request(
    base: Deployment,
    targets: Targets,
    isl: int,
    osl: int,
    objective: Objective,
    dtypes: Sequence[str | None],
    kv_cache_dtypes: Sequence[str | None],
    price: float | None,
    chunk: int,
) -> dict[str, Any]:
    return {
        "model": base.architecture.name,
        "on": base.cluster.id,
        "devices": base.num_devices,
        "isl": isl,
        "osl": osl,
        "chunk": chunk,
        "ttft_s": targets.ttft_s,
        "tpot_s": targets.tpot_s,
        "objective": objective,
        "dtypes": list(dtypes),
        "kv_cache_dtypes": list(kv_cache_dtypes),
        "usd_per_device_hour": price,
        "efficiency": base.efficiency.name,
        "engine": "ideal" if base.engine is None else base.engine.name,
        "gpu_memory_utilization": base.memory_share,
        "speculation": speculation_dict(base.speculation),
    }


def _check(isl: int, osl: int, chunk: int, targets: Targets, objective: str) -> None:
    for name, value in (("isl", isl), ("osl", osl), ("chunk", chunk)):
        if not 1 <= value <= 2**27:
            raise InputError(f"{name} must be from 1 to 2^27 tokens: {value}.")
    for name, value in (("ttft-ms", targets.ttft_s), ("tpot-ms", targets.tpot_s)):
        if value is not None and not 1e-9 <= value <= 1e9:
            raise InputError(
                f"{name} must be a positive number of milliseconds, from 1e-6 to 1e12:"
                f" {value * 1e3}."
            )
    if objective not in get_args(Objective):
        raise InputError(f"objective must be cost, throughput or latency: {objective!r}.")
