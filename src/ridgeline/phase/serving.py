"""A replica under steady load: speed per user, first token, and requests per second.

`B` requests are always in flight; each brings `isl` prompt tokens and takes `osl` output
tokens. Nothing here queues: times to first token are those of a server with a free seat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ridgeline.cost.network_records import CALIBRATED
from ridgeline.model.layout import Layout
from ridgeline.model.state import state_bytes
from ridgeline.model.work import Number
from ridgeline.phase.deployment import Deployment, fits, step_breakdown


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Mean lengths of the requests."""

    isl: int
    osl: int
    chunk: int = 2048
    """Prompt tokens that ride along in one step (`--max-num-batched-tokens`)."""
    tokens_per_step: float = 1.0
    """Output tokens per sequence and decode step: above 1 with speculation."""

    @property
    def mean_context(self) -> float:
        """Cached tokens of a request halfway through its output."""
        return self.isl + self.osl / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """One replica, or one per element of the arrays."""

    tpot_s: Number
    ttft_s: Number
    requests_per_s: Number
    fits: NDArray[np.bool_]


def mixed_serving(deployment: Deployment, load: Load, batch: Number) -> Serving:
    """Return prefill and decode on the same devices, prompts in chunks on decode steps.

    A step of P pipeline slots carries one chunk per slot and attention group; what one prompt
    leaves of its last chunk, the next one fills. So B requests cost mixed = B·(isl/chunk)/(P·dp)
    such steps per osl/τ steps, τ tokens each; t_mixed is the mean over the chunks of a prompt,
    later ones over a longer context:

        TPOT = [max(osl/τ - mixed, 0)·t_decode + mixed·t_mixed] / osl
        TTFT = (⌈isl/chunk⌉ + P - 1 + P/2)·t_mixed / P

    Args:
        deployment: One replica; its layout may hold arrays.
        load: Lengths.
        batch: B, requests in flight per replica.

    Source: agrawal2024 (chunked prefill); lecture C6-F8.
    """
    layout = deployment.layout or Layout()
    chunk = min(load.chunk, load.isl)
    chunks = load.isl / chunk
    context = load.mean_context
    decode = step_breakdown(deployment, phase="decode", batch=batch, context=context).step_s
    mixed = step_breakdown(
        deployment, phase="mixed", batch=batch, context=context, chunk=chunk, prompt=load.isl
    ).step_s
    steps = load.osl / load.tokens_per_step
    with_prompt = np.asarray(batch) * chunks / (layout.pp * layout.dp)
    tpot = (np.maximum(steps - with_prompt, 0.0) * decode + with_prompt * mixed) / load.osl
    slots = np.ceil(chunks) + layout.pp - 1 + layout.pp / 2
    return Serving(
        tpot_s=tpot,
        ttft_s=slots * mixed / layout.pp,
        requests_per_s=np.asarray(batch) / (load.osl * tpot),
        fits=fits(
            deployment,
            batch=batch,
            tokens=load.isl + load.osl,
            step_tokens=np.asarray(batch) + chunk * layout.dp,
        ),
    )


def decode_pool(deployment: Deployment, load: Load, batch: Number) -> Serving:
    """Return a replica that only decodes: TPOT = t_decode; it adds nothing to the first token."""
    step = step_breakdown(deployment, phase="decode", batch=batch, context=load.mean_context).step_s
    tpot = step / load.tokens_per_step
    return Serving(
        tpot_s=tpot,
        ttft_s=np.zeros_like(tpot),
        requests_per_s=np.asarray(batch) / (load.osl * tpot),
        fits=fits(deployment, batch=batch, tokens=load.isl + load.osl, step_tokens=batch),
    )


def prefill_pool(deployment: Deployment, load: Load, batch: Number) -> Serving:
    """Return a replica that only prefills: `batch` prompts at once, TTFT = t_prefill."""
    step = step_breakdown(deployment, phase="prefill", batch=batch, context=float(load.isl)).step_s
    return Serving(
        tpot_s=np.zeros_like(step),
        ttft_s=step,
        requests_per_s=np.asarray(batch) / step,
        fits=fits(
            deployment, batch=batch, tokens=load.isl, step_tokens=np.asarray(batch) * load.isl
        ),
    )


def kv_transfer_s(
    deployment: Deployment, load: Load, prefill_devices: Number, decode_devices: Number
) -> Number:
    """Return the time to move one prompt's cache between two pools [s].

        t = state(isl) / (β · B_out · min(g_p, g_d)) + latency

    Every device of the smaller side sends or receives its share over the outermost tier.

    Source: first principles; β of `point_to_point` from the network records.
    """
    tiers = deployment.cluster.tiers
    if not tiers:
        return np.zeros_like(np.asarray(prefill_devices, dtype=float))
    tier = tiers[-1]
    record = CALIBRATED.of("point_to_point", "send", deployment.cluster, tier)
    size = state_bytes(deployment.architecture, float(load.isl), deployment.precision, Layout())
    links = np.minimum(prefill_devices, decode_devices)
    return size / (record.bandwidth_share * tier.bandwidth_bytes_per_s * links) + tier.latency_s
