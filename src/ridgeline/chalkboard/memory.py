"""Chapter 4: memory of a pipelined decoder, and why stages do not shrink the cache.

Symbols: E devices per stage, P stages, b micro-batch, M micro-batches, S scale-up size.
"""

from __future__ import annotations

import numpy as np

from ridgeline.chalkboard.pipelines import weights_per_device
from ridgeline.chalkboard.roofline import Number


def system_memory(
    *,
    total_params: Number,
    bytes_per_param: Number,
    batch: Number,
    context_tokens: Number,
    kv_bytes_per_token: Number,
) -> Number:
    """Return weights and caches of the whole system [B].

        C = w·N_t + B·L·k

    Args:
        total_params: N_t.
        bytes_per_param: w.
        batch: B.
        context_tokens: L.
        kv_bytes_per_token: k.

    Source: lecture C4-F1.
    """
    return bytes_per_param * total_params + batch * context_tokens * kv_bytes_per_token


def kv_per_device(
    *,
    batch: Number,
    context_tokens: Number,
    kv_bytes_per_token: Number,
    devices_per_stage: Number,
    stages: Number,
) -> Number:
    """Return the cache bytes on each device for a batch fixed over the system [B].

        c = B·L·k / (E·P)

    Args:
        batch: B, all sequences in flight.
        context_tokens: L.
        kv_bytes_per_token: k.
        devices_per_stage: E.
        stages: P.

    Source: lecture C4-F2.
    """
    return batch * context_tokens * kv_bytes_per_token / (devices_per_stage * stages)


def kv_per_device_full_pipeline(
    *,
    micro_batch: Number,
    context_tokens: Number,
    kv_bytes_per_token: Number,
    devices_per_stage: Number,
) -> Number:
    """Return the cache bytes on each device with P micro-batches in flight [B].

    B = P·b and each device holds one P-th of the layers, so P cancels:

        c = b·L·k / E

    Args:
        micro_batch: b, set by the hardware: R·s.
        context_tokens: L.
        kv_bytes_per_token: k.
        devices_per_stage: E.

    Source: lecture C4-F4.
    """
    return micro_batch * context_tokens * kv_bytes_per_token / devices_per_stage


def memory_per_device(
    *,
    total_params: Number,
    bytes_per_param: Number,
    micro_batch: Number,
    context_tokens: Number,
    kv_bytes_per_token: Number,
    devices_per_stage: Number,
    stages: Number,
) -> Number:
    """Return weights and caches on each device of a full decode pipeline, M = P [B].

        c = w·N_t / (E·P) + b·L·k / E

    Args:
        total_params: N_t.
        bytes_per_param: w.
        micro_batch: b.
        context_tokens: L.
        kv_bytes_per_token: k.
        devices_per_stage: E.
        stages: P.

    Source: lecture C4-F4.
    """
    return weights_per_device(
        total_params=total_params,
        bytes_per_param=bytes_per_param,
        devices_per_stage=devices_per_stage,
        stages=stages,
    ) + kv_per_device_full_pipeline(
        micro_batch=micro_batch,
        context_tokens=context_tokens,
        kv_bytes_per_token=kv_bytes_per_token,
        devices_per_stage=devices_per_stage,
    )


def least_micro_batches(*, stages: Number) -> Number:
    """Return the micro-batches that keep every stage of a decode loop busy [1].

    Micro-batch 0 must find stage 0 free just as it leaves the last stage:

        M = P

    Args:
        stages: P.

    Source: lecture C4-F3.
    """
    return 1.0 * stages


def decode_idle_share(*, micro_batches: Number, stages: Number) -> Number:
    """Return the idle share of each stage in a decode loop [1].

        f = max(0, 1 - M / P)

    Args:
        micro_batches: M.
        stages: P.

    Source: lecture C4-F5.
    """
    return np.maximum(0.0, 1.0 - micro_batches / stages)


def stage_weight_time(
    *,
    total_params: Number,
    bytes_per_param: Number,
    scale_up_devices: Number,
    device_bandwidth_bytes_per_s: Number,
) -> Number:
    """Return the time one token waits for all weights, stage after stage [s].

    Only the devices of one stage read at a time, so stages do not add bandwidth:

        t = w·N_t / (S·W_d)

    Args:
        total_params: N_t.
        bytes_per_param: w.
        scale_up_devices: S, devices of one stage.
        device_bandwidth_bytes_per_s: W_d.

    Source: lecture C4-F6.
    """
    return bytes_per_param * total_params / (scale_up_devices * device_bandwidth_bytes_per_s)


def latency_with_hops(*, step_s: Number, stages: Number, hop_s: Number) -> Number:
    """Return the time of one token with the hops between racks [s]; the way back counts too.

        t = T + P·h

    Args:
        step_s: T, without hops.
        stages: P.
        hop_s: h, one rack to the next.

    Source: lecture C4-F7.
    """
    return step_s + stages * hop_s


def longest_context(
    *,
    capacity_bytes: Number,
    total_params: Number,
    bytes_per_param: Number,
    batch: Number,
    kv_bytes_per_token: Number,
) -> Number:
    """Return the longest context that fits beside the weights [token].

        L = (C - w·N_t) / (B·k)

    Args:
        capacity_bytes: C, of all devices.
        total_params: N_t.
        bytes_per_param: w.
        batch: B.
        kv_bytes_per_token: k.

    Source: lecture C4-N9; below 0 the weights alone do not fit.
    """
    return (capacity_bytes - bytes_per_param * total_params) / (batch * kv_bytes_per_token)


def largest_batch(
    *,
    capacity_bytes: Number,
    total_params: Number,
    bytes_per_param: Number,
    context_tokens: Number,
    kv_bytes_per_token: Number,
) -> Number:
    """Return the largest batch that fits beside the weights [seq].

        B = (C - w·N_t) / (L·k)

    Args:
        capacity_bytes: C, of all devices.
        total_params: N_t.
        bytes_per_param: w.
        context_tokens: L.
        kv_bytes_per_token: k.

    Source: C4-F1 solved for B; below 0 the weights alone do not fit.
    """
    return (capacity_bytes - bytes_per_param * total_params) / (context_tokens * kv_bytes_per_token)


def device_count(*, devices_per_stage: Number, stages: Number) -> Number:
    """Return the devices of the whole pipeline [1].

        n = E·P

    Args:
        devices_per_stage: E.
        stages: P.

    Source: lecture C4-N1.
    """
    return devices_per_stage * stages
