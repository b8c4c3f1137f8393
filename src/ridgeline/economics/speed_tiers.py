"""Fast and slow modes: the frontier of cost against speed on one deployment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InfeasibleError

Array = NDArray[np.float64]


def pareto(speed: Array, cost: Array) -> NDArray[np.intp]:
    """Return the points that no other beats in both speed (higher) and cost (lower), by speed.

    Source: first principles.

    >>> pareto(np.array([1.0, 2.0, 2.0]), np.array([3.0, 2.0, 5.0])).tolist()
    [1]
    """
    order = np.lexsort((cost, -speed))
    kept: list[int] = []
    best = np.inf
    for i in order:
        if cost[i] < best:
            kept.append(int(i))
            best = float(cost[i])
    return np.array(kept[::-1], dtype=np.intp)


@dataclass(frozen=True, slots=True, kw_only=True)
class Modes:
    """A standard mode between the slowest and the fastest the hardware can do."""

    standard: int
    slow: int
    fast: int
    """Indices into the frontier's points."""
    slow_saving: float
    """Most a slow mode can save, as a share of the standard cost."""
    fast_price_ratio: float
    """Cost at the wanted fast speed over the standard cost."""
    speed_ceiling: float
    """Fastest point over the standard speed: money cannot buy more."""


def modes(speed: Array, cost: Array, *, standard_speed: float, fast_ratio: float) -> Modes:
    """Return what a slow tier could save and what a fast tier must cost.

    Standard is the cheapest point at `standard_speed` or above; fast the cheapest at
    `fast_ratio` times that; slow the cheapest of all.

    Args:
        speed: Tokens per second per user at each batch.
        cost: USD per million tokens at each batch.
        standard_speed: Speed promised in the standard mode.
        fast_ratio: Fast over standard speed.

    Raises:
        InfeasibleError: no batch is fast enough; the sentence says how fast it gets.

    Source: first principles; lecture C1-Q3, C1-U4, C1-U5.
    """
    slow = int(np.argmin(cost))
    standard = _cheapest(speed, cost, standard_speed, "standard")
    fast = _cheapest(speed, cost, fast_ratio * float(speed[standard]), "fast")
    return Modes(
        standard=standard,
        slow=slow,
        fast=fast,
        slow_saving=float(1.0 - cost[slow] / cost[standard]),
        fast_price_ratio=float(cost[fast] / cost[standard]),
        speed_ceiling=float(np.max(speed) / speed[standard]),
    )


def _cheapest(speed: Array, cost: Array, least: float, name: str) -> int:
    allowed = np.flatnonzero(speed >= least)
    if allowed.size == 0:
        raise InfeasibleError(
            f"No batch gives the {name} mode {least:.3g} tok/s/user: the fastest is"
            f" {float(np.max(speed)):.3g}. Ask for less speed, or use more devices."
        )
    return int(allowed[np.argmin(cost[allowed])])
