"""Margins over context: where a price goes under water, and where to put a price step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.model.work import Number

Array = NDArray[np.float64]


def margin(*, price: Number, cost: Number) -> Number:
    """Return the share of a price that is kept [1]: (price − cost) / price.

    Source: first principles.

    >>> margin(price=4.0, cost=1.0)
    0.75
    """
    return (price - cost) / price


def price_at_margin(*, cost: Number, margin: Number) -> Number:
    """Return the price that keeps a margin [unit of cost]: cost / (1 − margin).

    Source: first principles, the inverse of `margin`.

    >>> price_at_margin(cost=1.0, margin=0.75)
    4.0
    """
    return cost / (1.0 - margin)


def under_water_from(*, context_tokens: Array, price: Array, cost: Array) -> float | None:
    """Return the context from which the price no longer covers the cost [token], or None.

    Between grid points ln(price/cost) is taken as linear in the logarithm of the context; a dip
    that recovers does not count, only the last crossing into loss.

    Args:
        context_tokens: Rising grid [points].
        price: Price at each point, steps included; above 0.
        cost: Cost at each point; above 0.

    Source: first principles; lecture C6-N20.
    """
    gap = np.log(price / cost)
    if gap[-1] >= 0:
        return None
    above = np.flatnonzero(gap >= 0)
    if above.size == 0:
        return float(context_tokens[0])
    i = int(above[-1])
    share = gap[i] / (gap[i] - gap[i + 1])
    low, high = np.log(context_tokens[i]), np.log(context_tokens[i + 1])
    return float(np.exp(low + share * (high - low)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceStep:
    """A two-bracket price that keeps a margin at every context of the grid."""

    base_price: float
    step_tokens: float | None
    """Where the second bracket starts; None: one bracket is enough."""
    factor: float
    """Second bracket over the first."""
    overcharge_flat: float
    """Price over need at the shortest context if one flat price had to cover the longest."""


def recommended_step(
    *, context_tokens: Array, cost: Array, target_margin: float, largest_factor: float = 2.0
) -> PriceStep:
    """Return where to put one price step so that a margin holds at every context.

    The second bracket must cover the longest context, p_2 = c(L_max)/(1 − g). The first is
    p_2/factor with the factor at most `largest_factor`, but never below what the shortest
    context needs; the step sits at the last context that the first bracket still covers.

    Args:
        context_tokens: Rising grid [points].
        cost: Rising cost of a token at each point.
        target_margin: g, share of the price to keep.
        largest_factor: Largest rise a customer is asked to accept at the step.

    Raises:
        InputError: a margin outside 0 ≤ g < 1, or a factor below 1.

    Source: first principles; lecture C6-F2, C6-U1.
    """
    if not 0 <= target_margin < 1:
        raise InputError(f"margin must be from 0 up to (not) 1: {target_margin}.")
    if largest_factor < 1:
        raise InputError(f"the second bracket may not be cheaper: factor {largest_factor}.")
    need = np.asarray(price_at_margin(cost=cost, margin=target_margin), dtype=np.float64)
    top, least = float(np.max(need)), float(need[0])
    base = max(top / largest_factor, least)
    step = under_water_from(
        context_tokens=context_tokens, price=np.full_like(need, base * (1 + 1e-12)), cost=need
    )
    return PriceStep(
        base_price=base,
        step_tokens=step,
        factor=top / base if step is not None else 1.0,
        overcharge_flat=top / least,
    )
