"""One option of a plan taken apart: its steps and what binds them, and the memory it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.model.layout import Layout
from ridgeline.phase.breakdown import Breakdown
from ridgeline.phase.deployment import Phase, memory_parts_bytes, step_breakdown
from ridgeline.phase.serving import kv_transfer_s
from ridgeline.study.plan import Plan
from ridgeline.study.plan_options import Option
from ridgeline.study.plan_reasons import device_time_s

Floats = NDArray[np.float64]


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
    """Return one option of the plan taken apart: the winner, a runner-up or one of the front."""
    return plan_points(plan, (option,))[0]


def plan_points(plan: Plan, options: Sequence[Option]) -> tuple[PlanPoint, ...]:
    """Return options of the plan with their steps, as `mixed_serving` and `decode_pool` mix them.

    Args:
        plan: What the options are from.
        options: Any of its winner, runners-up and front.
    """
    decode = _steps(plan, options, "decode")
    mixed = _steps(plan, [o for o in options if o.kind == "mixed"], "mixed")
    prefill = _steps(plan, [o for o in options if o.kind == "pools"], "prefill")
    with_prompts = {"mixed": iter(mixed), "pools": iter(prefill)}
    return tuple(
        _point(plan, option, step, next(with_prompts[option.kind]))
        for option, step in zip(options, decode, strict=True)
    )


def _point(plan: Plan, option: Option, decode: PointStep, other: PointStep) -> PlanPoint:
    load, layout = plan.load, option.layout
    deployment = plan.deployment_of(layout, option)
    mixed = option.kind == "mixed"
    memory = memory_parts_bytes(
        deployment,
        batch=option.batch,
        tokens=load.isl + load.osl,
        step_tokens=option.batch + (load.chunk * layout.dp if mixed else 0),
    )
    per_token = 1 / load.tokens_per_step
    with_prompt = 0.0
    if mixed:
        chunks = option.batch * load.isl / load.chunk / float(layout.pp * layout.dp)
        with_prompt = chunks / load.osl
    transfer = None
    if option.prefill_layout is not None:
        sizes = (option.prefill_layout.num_devices, layout.num_devices)
        transfer = float(np.asarray(kv_transfer_s(deployment, load, *sizes)))
    return PlanPoint(
        option=option,
        steps=(
            replace(decode, per_token=max(per_token - with_prompt, 0.0)),
            replace(other, per_token=with_prompt),
        ),
        transfer_s=transfer,
        memory_bytes={k: float(np.asarray(v)) for k, v in memory.items()},
        capacity_bytes=plan.deployment.cluster.device.memory.usable_bytes,
        device_s_per_token=device_time_s(option, decode.limits_s, load),
    )


def _steps(plan: Plan, options: Sequence[Option], phase: Phase) -> list[PointStep]:
    """Return one step of each option; those of equal formats are one array."""
    found: dict[int, PointStep] = {}
    for formats in dict.fromkeys((o.weights, o.kv) for o in options):
        index = [i for i, o in enumerate(options) if (o.weights, o.kv) == formats]
        chosen = [options[i] for i in index]
        prefill = phase == "prefill"
        layouts = [o.prefill_layout or o.layout if prefill else o.layout for o in chosen]
        batches = [o.prefill_batch if prefill else o.batch for o in chosen]
        step = step_breakdown(
            replace(plan.deployment_of(layouts[0], chosen[0]), layout=_stacked(layouts)),
            phase=phase,
            batch=np.array(batches, dtype=float),
            context=float(plan.load.isl) if prefill else plan.load.mean_context,
            chunk=plan.load.chunk if phase == "mixed" else 0,
            prompt=plan.load.isl,
        )
        found |= dict(zip(index, _split(step, phase, len(index)), strict=True))
    return [found[i] for i in range(len(options))]


def _stacked(layouts: Sequence[Layout]) -> Layout:
    return Layout(
        **{f.name: np.array([getattr(x, f.name) for x in layouts]) for f in fields(Layout)}
    )


def _split(step: Breakdown, phase: Phase, count: int) -> list[PointStep]:
    """Return each point of a step over `count` of them, operations summed by name."""
    sums: dict[str, dict[str, Floats]] = {}
    everywhere = np.zeros(count)
    for part in step.parts:
        mine = sums.setdefault(part.name, {})
        for limit, seconds in part.limit_s().items():
            mine[limit] = mine.get(limit, everywhere) + seconds
    sums["host"] = {"host": everywhere + step.host_s}
    total = everywhere + step.step_s
    return [
        _point_step({n: {k: float(v[i]) for k, v in of.items()} for n, of in sums.items()},
                    phase, float(total[i]))
        for i in range(count)
    ]  # fmt: skip


def _point_step(
    limits_of: Mapping[str, Mapping[str, float]], phase: Phase, step_s: float
) -> PointStep:
    limits: dict[str, float] = {}
    parts: list[PointPart] = []
    for name, of in limits_of.items():
        for limit, seconds in of.items():
            limits[limit] = limits.get(limit, 0.0) + seconds
        if sum(of.values()) > 0:
            worst = max(of, key=lambda k: of[k])
            parts.append(PointPart(name=name, time_s=sum(of.values()), limit=worst))
    return PointStep(
        phase=phase,
        step_s=step_s,
        per_token=0.0,
        parts=tuple(sorted(parts, key=lambda p: -p.time_s)),
        limits_s={k: v for k, v in sorted(limits.items(), key=lambda kv: -kv[1]) if v > 0},
    )
