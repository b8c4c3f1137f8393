"""Figures that follow from an estimate: floors, balance points, and what fits."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ridgeline.chalkboard import roofline
from ridgeline.model.work import Number
from ridgeline.phase.deployment import Deployment, Phase, fits, largest_that_fits, step_breakdown
from ridgeline.study.chalk import Chalk

_ENDLESS = 2.0**24
"""A batch at which weight reads no longer matter: 16.8 million sequences."""
_SECONDS_PER_HOUR = 3600.0
_NEVER = 2**40
"""A bound on contexts: a model whose state does not grow has no longest one."""


def derived_figures(
    deployment: Deployment,
    chalk: Chalk,
    *,
    phase: Phase,
    batch: int,
    context: int,
    chunk: int,
    usd_per_device_hour: float | None,
) -> dict[str, float | int | None]:
    """Return the derived figures at the first batch and context of a request.

    None stands for `never`, `no price` or `no bound`; balance points are the chalkboard's.
    """
    usd_per_s = (usd_per_device_hour or 0.0) * deployment.num_devices / _SECONDS_PER_HOUR
    priced = usd_per_device_hour is not None
    ratio = chalk.balance_ratio
    with_kv = float(
        roofline.critical_batch_at_context(
            balance_ratio=ratio,
            total_params=chalk.num_params,
            active_params=chalk.num_active_params,
            context_tokens=float(context),
            kv_bytes_per_token=chalk.kv_bytes_per_token,
            bytes_per_param=chalk.bytes_per_param,
        )
    )
    endless = step_breakdown(deployment, phase="decode", batch=_ENDLESS, context=float(context))
    return {
        "balance_ratio": ratio,
        "critical_batch": float(
            roofline.critical_batch(
                balance_ratio=ratio,
                total_params=chalk.num_params,
                active_params=chalk.num_active_params,
            )
        ),
        "critical_batch_with_kv": with_kv if math.isfinite(with_kv) else None,
        "latency_floor_s": float(
            step_breakdown(deployment, phase="decode", batch=1.0, context=0.0).step_s
        ),
        "chalk_latency_floor_s": float(
            roofline.weight_time(
                total_params=chalk.num_params,
                bytes_per_param=chalk.bytes_per_param,
                bandwidth_bytes_per_s=chalk.bandwidth_bytes_per_s,
            )
        ),
        "cost_floor_usd_per_mtok": (
            float(endless.step_s) / _ENDLESS * usd_per_s * 1e6 if priced else None
        ),
        "chalk_cost_floor_usd_per_mtok": (
            chalk_cost_floor(chalk, context, usd_per_s) * 1e6 if priced else None
        ),
        "balance_context": balance_context(chalk),
        "drain_time_s": float(
            roofline.drain_time(
                capacity_bytes=chalk.capacity_bytes,
                bandwidth_bytes_per_s=chalk.bandwidth_bytes_per_s,
            )
        ),
        "max_batch": largest_that_fits(
            lambda n: _fits(deployment, phase, batch=n, context=context, chunk=chunk)
        ),
        "max_context": _longest_context(deployment, phase, batch=batch, chunk=chunk),
    }


def chalk_cost_floor(chalk: Chalk, context: int, usd_per_s: float) -> float:
    """Return max(compute, KV read) per token at the rental rate [USD/token]."""
    return float(
        roofline.cost_floor(
            active_params=chalk.num_active_params,
            peak_flop_per_s=chalk.peak_flop_per_s,
            context_tokens=float(context),
            kv_bytes_per_token=chalk.kv_bytes_per_token,
            bandwidth_bytes_per_s=chalk.bandwidth_bytes_per_s,
            usd_per_s=usd_per_s,
        )
    )


def balance_context(chalk: Chalk) -> float | None:
    """Return the context where KV reads equal compute [token]; None without a growing cache."""
    if chalk.kv_bytes_per_token <= 0:
        return None
    return float(
        roofline.balance_context(
            active_params=chalk.num_active_params,
            bytes_per_param=chalk.bytes_per_param,
            balance_ratio=chalk.balance_ratio,
            kv_bytes_per_token=chalk.kv_bytes_per_token,
        )
    )


def _fits(
    deployment: Deployment, phase: Phase, *, batch: Number, context: Number, chunk: int
) -> NDArray[np.bool_]:
    new_tokens = context if phase == "prefill" else deployment.decode_tokens
    held = context if phase == "prefill" else context + 1.0
    groups = 1 if deployment.layout is None else float(deployment.layout.dp)
    step_tokens = batch * new_tokens + (chunk * groups if phase == "mixed" else 0.0)
    return fits(deployment, batch=batch, tokens=held, step_tokens=step_tokens)


def _longest_context(deployment: Deployment, phase: Phase, *, batch: int, chunk: int) -> int | None:
    longest = largest_that_fits(
        lambda n: _fits(deployment, phase, batch=batch, context=n, chunk=chunk), _NEVER
    )
    return None if longest >= _NEVER else longest
