"""Pipelines run as dependency graphs: who works when, and how long everybody idles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ridgeline.errors import InputError

_ROUNDING = 1e-9
"""Sums of times leave a full pipeline this little more or less than full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One piece of work on one resource."""

    resource: int
    """Stage that does it; a stage does its tasks in the order given."""
    duration_s: float
    after: tuple[tuple[int, float], ...] = ()
    """(index of an earlier task, time its result takes to arrive [s])."""
    micro_batch: int = 0
    token: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When each task starts and ends."""

    tasks: tuple[Task, ...]
    start_s: tuple[float, ...]
    end_s: tuple[float, ...]


def run(tasks: Sequence[Task]) -> Schedule:
    """Return the earliest schedule: a task starts when its stage is free and its inputs are there.

    Raises:
        InputError: a task that waits for a later one.

    Source: first principles.
    """
    free: dict[int, float] = {}
    start: list[float] = []
    end: list[float] = []
    for i, task in enumerate(tasks):
        if any(j >= i for j, _ in task.after):
            raise InputError(f"A task may only wait for earlier ones: task {i}.")
        ready = max((end[j] + lag for j, lag in task.after), default=0.0)
        start.append(max(ready, free.get(task.resource, 0.0)))
        end.append(start[-1] + task.duration_s)
        free[task.resource] = end[-1]
    return Schedule(tasks=tuple(tasks), start_s=tuple(start), end_s=tuple(end))


def decode_loop(
    stage_s: Sequence[float], *, micro_batches: int, hop_s: float, tokens: int
) -> Schedule:
    """Return the decode loop: a micro-batch re-enters stage 0 when its token left the last one.

    Args:
        stage_s: Time of each stage for one micro-batch [s].
        micro_batches: M, in flight at once.
        hop_s: Time to the next stage, and from the last one back to the first [s].
        tokens: Tokens of each micro-batch.

    Raises:
        InputError: no stage, no micro-batch or no token.

    Source: lecture C4-F3, C4-F7.
    """
    stages = len(stage_s)
    if min(stages, micro_batches, tokens) < 1:
        raise InputError("A decode loop needs at least one stage, micro-batch and token.")
    lag = hop_s if stages > 1 else 0.0
    tasks: list[Task] = []
    last: list[int] = []
    for token in range(tokens):
        for m in range(micro_batches):
            for stage, seconds in enumerate(stage_s):
                after = (len(tasks) - 1, lag) if stage else (last[m], lag) if token else None
                tasks.append(
                    Task(
                        resource=stage,
                        duration_s=seconds,
                        after=() if after is None else (after,),
                        micro_batch=m,
                        token=token,
                    )
                )
            if token:
                last[m] = len(tasks) - 1
            else:
                last.append(len(tasks) - 1)
    return run(tasks)


def token_period_s(schedule: Schedule) -> float:
    """Return the time between two tokens of a micro-batch once the loop is steady [s].

    Raises:
        InputError: fewer than two tokens.
    """
    end = {t.token: e for t, e in zip(schedule.tasks, schedule.end_s, strict=True)}
    if len(end) < 2:
        raise InputError("A period needs at least two tokens.")
    return end[len(end) - 1] - end[len(end) - 2]


def idle_share(schedule: Schedule) -> float:
    """Return the share of the stages' time that is idle in the last token's period [1]."""
    last = max(t.token for t in schedule.tasks)
    busy = sum(t.duration_s for t in schedule.tasks if t.token == last)
    stages = 1 + max(t.resource for t in schedule.tasks)
    idle = 1.0 - busy / (stages * token_period_s(schedule))
    return idle if idle > _ROUNDING else 0.0
