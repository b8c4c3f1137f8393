"""The 10-90 % bands of a plan's options: sampled kernels, and what a replica under load adds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeline.model.layout import Layout
from ridgeline.model.precision import Precision
from ridgeline.phase.band import LOOP_SPREAD, ratio_band
from ridgeline.phase.deployment import Deployment
from ridgeline.phase.serving import (
    Load,
    decode_pool,
    kv_transfer_s,
    mixed_serving,
    prefill_pool,
)
from ridgeline.study.plan_options import Option, OptionBand

Array = NDArray[np.float64]
_Key = tuple[str, str, str]
_DEGREES = ("tp", "pp", "ep", "dp", "cp", "num_redundant_experts")


def banded(
    options: Sequence[Option],
    base: Deployment,
    load: Load,
    precisions: Mapping[tuple[str, str], Precision],
) -> list[Option]:
    """Return the options with their bands; one set of samples prices all of them.

    Args:
        options: Those that are shown: sampling costs as much as 32 evaluations of each.
        base: Model, cluster, efficiency and engine.
        load: Lengths.
        precisions: Formats by the names of weights and cache in an option.
    """
    groups: dict[_Key, list[int]] = defaultdict(list)
    for i, option in enumerate(options):
        groups[option.kind, option.weights, option.kv].append(i)
    bands: dict[int, OptionBand] = {}
    for (kind, weights, kv), at in groups.items():
        mine = [options[i] for i in at]
        template = replace(base, precision=precisions[weights, kv])
        edges = _edges(mine, template, load, pools=kind == "pools")
        for column, i in enumerate(at):
            bands[i] = _band(options[i], edges[..., column])
    return [replace(option, band=bands[i]) for i, option in enumerate(options)]


def _edges(options: Sequence[Option], base: Deployment, load: Load, *, pools: bool) -> Array:
    """Return ratios to the options' own TPOT, TTFT and time per request, [2, 3, options]."""
    batch = np.array([float(o.batch) for o in options])
    layout = _layouts([o.layout for o in options])

    def mixed(d: Deployment) -> Array:
        found = mixed_serving(replace(d, layout=layout), load, batch)
        return _stacked(found.tpot_s, found.ttft_s, found.tpot_s)

    prefill = _layouts([o.prefill_layout or Layout() for o in options])
    prompts = np.array([float(max(o.prefill_batch, 1)) for o in options])
    copies = np.array([[o.replicas, max(o.prefill_replicas, 1)] for o in options], dtype=float)
    sizes = (np.asarray(prefill.num_devices), np.asarray(layout.num_devices))

    def apart(d: Deployment) -> Array:
        decode = decode_pool(replace(d, layout=layout), load, batch)
        first = prefill_pool(replace(d, layout=prefill), load, prompts)
        rate = np.minimum(decode.requests_per_s * copies[:, 0], first.requests_per_s * copies[:, 1])
        ttft = first.ttft_s + kv_transfer_s(d, load, *sizes) + decode.tpot_s
        return _stacked(decode.tpot_s, ttft, 1 / rate)

    spread = 0.0 if base.engine is None else LOOP_SPREAD
    low, high = ratio_band(base, apart if pools else mixed, spread=spread)
    return np.stack([low, high])


def _layouts(layouts: Sequence[Layout]) -> Layout:
    return Layout(**{n: np.array([int(getattr(x, n)) for x in layouts]) for n in _DEGREES})


def _stacked(*times: Any) -> Array:
    return np.stack(np.broadcast_arrays(*times), axis=-2)


def _band(option: Option, edges: Array) -> OptionBand:
    """Return the band of one option from its ratios [2, 3]; slow requests are few and dear."""
    (tpot_low, ttft_low, request_low), (tpot_high, ttft_high, request_high) = edges.tolist()
    usd = option.usd_per_mtok
    return OptionBand(
        tpot_p10_s=option.tpot_s * tpot_low,
        tpot_p90_s=option.tpot_s * tpot_high,
        ttft_p10_s=option.ttft_s * ttft_low,
        ttft_p90_s=option.ttft_s * ttft_high,
        tokens_per_s_per_device_p10=option.tokens_per_s_per_device / request_high,
        tokens_per_s_per_device_p90=option.tokens_per_s_per_device / request_low,
        usd_per_mtok_p10=None if usd is None else usd * request_low,
        usd_per_mtok_p90=None if usd is None else usd * request_high,
    )
