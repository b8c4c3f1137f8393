"""Why the winner wins, and what the runner-up lost on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ridgeline.model.precision import Precision
from ridgeline.phase.deployment import Deployment, step_breakdown
from ridgeline.phase.serving import Load
from ridgeline.study.plan_options import Option

_REST = "prefill, imbalance of pools, idle devices"
"""Device time of a token that is not decode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One limit's time per output token and device, winner against runner-up."""

    limit: str
    winner_s: float
    """Device-seconds per output token that this limit takes at the winner."""
    runner_up_s: float


def reasons(
    base: Deployment,
    winner: Option,
    runner_up: Option,
    precisions: Mapping[tuple[str, str], Precision],
    load: Load,
) -> tuple[Reason, ...]:
    """Return the decode limits of both, in device-seconds per output token, largest gap first.

    Device-seconds per token are what throughput and cost divide by; prefill is the rest.
    """
    first, second = (
        device_time_s(o, _decode_limits(base, o, precisions, load), load)
        for o in (winner, runner_up)
    )
    names = {**first, **second}
    rows = [
        Reason(limit=n, winner_s=first.get(n, 0.0), runner_up_s=second.get(n, 0.0)) for n in names
    ]
    return tuple(sorted(rows, key=lambda r: -abs(r.winner_s - r.runner_up_s)))


def device_time_s(option: Option, limits_s: Mapping[str, float], load: Load) -> dict[str, float]:
    """Return the device-seconds per output token of an option by limit; they sum to its rate's.

    Args:
        option: One way to serve.
        limits_s: Its decode step by limit.
        load: Lengths.
    """
    scale = int(option.layout.num_devices) / option.batch / load.tokens_per_step
    limits = {name: seconds * scale for name, seconds in limits_s.items()}
    limits[_REST] = 1 / option.tokens_per_s_per_device - sum(limits.values())
    return limits


def _decode_limits(
    base: Deployment,
    option: Option,
    precisions: Mapping[tuple[str, str], Precision],
    load: Load,
) -> dict[str, float]:
    deployment = replace(
        base,
        layout=option.layout,
        precision=precisions[option.weights, option.kv],
        num_devices=int(option.layout.num_devices),
    )
    step = step_breakdown(
        deployment, phase="decode", batch=float(option.batch), context=load.mean_context
    )
    return {name: float(np.asarray(seconds)) for name, seconds in step.limit_s().items()}
