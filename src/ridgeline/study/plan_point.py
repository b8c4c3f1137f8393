"""One option of a plan taken apart: its steps and what binds them, and the memory it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ridgeline.errors import InputError
from ridgeline.model.layout import Layout
from ridgeline.phase.breakdown import Breakdown
from ridgeline.phase.deployment import Phase, memory_parts_bytes, step_breakdown
from ridgeline.phase.serving import kv_transfer_s
from ridgeline.study.plan import Plan
from ridgeline.study.plan_options import Option
from ridgeline.study.plan_reasons import device_time_s


@dataclass(frozen=True, slots=True, kw_only=True)
class PointPart:
    """Operations of one name."""

    name: str
    time_s: float
    limit: str
    """What takes most of that time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointStep:
    """One kind of step of an option."""

    phase: Phase
    step_s: float
    per_token: float
    """Such steps per output token of a user; 0 for a pool that only prefills."""
    parts: tuple[PointPart, ...]
    """Longest first; they sum to the step."""
    limits_s: Mapping[str, float]
    """The step divided among the limits, longest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPoint:
    """One option and why it is as fast as it is."""

    option: Option
    steps: tuple[PointStep, ...]
    """Σ step_s · per_token = tpot_s."""
    transfer_s: float | None
    """Moving one prompt's cache between pools; None for mixed."""
    memory_bytes: Mapping[str, float]
    """Per device of a decode (or mixed) replica."""
    capacity_bytes: float
    """Of one device."""
    device_s_per_token: Mapping[str, float]
    """Device-seconds per output token by limit: where options differ says what one lost on."""


def front_option(plan: Plan, number: int) -> Option:
    """Return a point of the front, counted from 1.

    Raises:
        InputError: no such point.
    """
    if not 1 <= number <= len(plan.front):
        raise InputError(f"point must be from 1 to {len(plan.front)} on this front: {number}.")
    return plan.front[number - 1]


def plan_point(plan: Plan, option: Option) -> PlanPoint:
    """Return an option of the plan with its steps, as `mixed_serving` and `decode_pool` mix them.

    Args:
        plan: What the option is from.
        option: The winner, a runner-up or a point of the front.
    """
    load, layout = plan.load, option.layout
    per_token = 1 / load.tokens_per_step
    memory = memory_parts_bytes(
        plan.deployment_of(layout, option),
        batch=option.batch,
        tokens=load.isl + load.osl,
        step_tokens=option.batch + (load.chunk * layout.dp if option.kind == "mixed" else 0),
    )
    transfer = None
    if option.prefill_layout is None:
        mixed = option.batch * (load.isl / load.chunk) / float(layout.pp * layout.dp) / load.osl
        steps = (
            _step(plan, option, "decode", max(per_token - mixed, 0.0)),
            _step(plan, option, "mixed", mixed),
        )
    else:
        steps = (
            _step(plan, option, "decode", per_token),
            _step(plan, option, "prefill", 0.0),
        )
        sizes = (option.prefill_layout.num_devices, layout.num_devices)
        moved = kv_transfer_s(plan.deployment_of(layout, option), load, *sizes)
        transfer = float(np.asarray(moved))
    return PlanPoint(
        option=option,
        steps=steps,
        transfer_s=transfer,
        memory_bytes={k: float(np.asarray(v)) for k, v in memory.items()},
        capacity_bytes=plan.deployment.cluster.device.memory.usable_bytes,
        device_s_per_token=device_time_s(option, steps[0].limits_s, load),
    )


def _step(plan: Plan, option: Option, phase: Phase, per_token: float) -> PointStep:
    prefill = phase == "prefill"
    layout: Layout = option.layout
    if prefill and option.prefill_layout is not None:
        layout = option.prefill_layout
    step = step_breakdown(
        plan.deployment_of(layout, option),
        phase=phase,
        batch=float(option.prefill_batch if prefill else option.batch),
        context=float(plan.load.isl) if prefill else plan.load.mean_context,
        chunk=plan.load.chunk if phase == "mixed" else 0,
        prompt=plan.load.isl,
    )
    limits = {k: float(np.asarray(v)) for k, v in step.limit_s().items()}
    return PointStep(
        phase=phase,
        step_s=float(np.asarray(step.step_s)),
        per_token=per_token,
        parts=_parts(step),
        limits_s={k: v for k, v in sorted(limits.items(), key=lambda kv: -kv[1]) if v > 0},
    )


def _parts(step: Breakdown) -> tuple[PointPart, ...]:
    """Return the operations by name over all kinds of layers, and the host."""
    limits: dict[str, dict[str, float]] = {}
    for part in step.parts:
        mine = limits.setdefault(part.name, {})
        for limit, seconds in part.limit_s().items():
            mine[limit] = mine.get(limit, 0.0) + float(np.asarray(seconds))
    limits["host"] = {"host": float(np.asarray(step.host_s))}
    parts = [
        PointPart(name=name, time_s=sum(of.values()), limit=max(of, key=lambda k: of[k]))
        for name, of in limits.items()
        if sum(of.values()) > 0
    ]
    return tuple(sorted(parts, key=lambda p: -p.time_s))
