"""Why the winner wins, and what the runner-up lost on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ridgeline.model.precision import Precision
from ridgeline.phase.deployment import Deployment, step_breakdown
from ridgeline.phase.serving import Load
from ridgeline.study.plan_options import Option


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
    first, second = (device_time_s(base, o, precisions, load) for o in (winner, runner_up))
    names = {**first, **second}
    rows = [
        Reason(limit=n, winner_s=first.get(n, 0.0), runner_up_s=second.get(n, 0.0)) for n in names
    ]
    return tuple(sorted(rows, key=lambda r: -abs(r.winner_s - r.runner_up_s)))


def device_time_s(
    base: Deployment,
    option: Option,
    precisions: Mapping[tuple[str, str], Precision],
    load: Load,
) -> dict[str, float]:
    """Return the device-seconds per output token of an option by limit; they sum to its rate's.

    Limits are those of decode; the last entry is all else.
    """
    deployment = replace(
        base,
        layout=option.layout,
        precision=precisions[option.weights, option.kv],
        num_devices=int(option.layout.num_devices),
    )
    step = step_breakdown(
        deployment, phase="decode", batch=float(option.batch), context=load.mean_context
    )
    scale = int(option.layout.num_devices) / option.batch / load.tokens_per_step
    limits = {k: float(np.asarray(v)) * scale for k, v in step.limit_s().items()}
    total = 1 / option.tokens_per_s_per_device
    limits["prefill, imbalance of pools, idle devices"] = total - sum(limits.values())
    return limits
