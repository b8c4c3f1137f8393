"""Margins, price steps, speed modes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeline.economics.margin import (
    margin,
    price_at_margin,
    recommended_step,
    under_water_from,
)
from ridgeline.economics.speed_tiers import modes, pareto
from ridgeline.errors import InfeasibleError, InputError


@given(st.floats(1e-3, 1e3), st.floats(0, 0.99))
def test_price_to_margin_to_price_is_the_identity(cost: float, share: float):
    price = price_at_margin(cost=cost, margin=share)
    assert margin(price=price, cost=cost) == pytest.approx(share, abs=1e-9)


def test_under_water_where_price_meets_cost():
    """C6-N20: cost 1 up to L* = 200k, then L/L*; price 1.5 is passed at 300k."""
    context = np.geomspace(1e3, 1e6, 400)
    cost = np.maximum(1.0, context / 200e3)
    got = under_water_from(context_tokens=context, price=np.full(400, 1.5), cost=cost)
    assert got == pytest.approx(300e3, rel=1e-3)
    covered = np.full(400, 6.0)
    assert under_water_from(context_tokens=context, price=covered, cost=cost) is None
    low = np.full(400, 0.5)
    assert under_water_from(context_tokens=context, price=low, cost=cost) == context[0]


@given(st.floats(0, 0.9), st.floats(1, 20))
def test_recommended_step_keeps_the_margin_everywhere(target: float, factor: float):
    context = np.geomspace(1e3, 1e6, 40)
    cost = np.maximum(1.0, context / 50e3)
    step = recommended_step(
        context_tokens=context, cost=cost, target_margin=target, largest_factor=factor
    )
    start = np.inf if step.step_tokens is None else step.step_tokens
    price = np.where(context > start, step.base_price * step.factor, step.base_price)
    assert np.all(margin(price=price, cost=cost) >= target - 1e-6)
    assert 1 <= step.factor <= factor + 1e-9


def test_step_refusals():
    grid = np.array([1.0, 2.0])
    with pytest.raises(InputError, match="margin must be"):
        recommended_step(context_tokens=grid, cost=grid, target_margin=1.0)
    with pytest.raises(InputError, match="may not be cheaper"):
        recommended_step(context_tokens=grid, cost=grid, target_margin=0.1, largest_factor=0.5)


@given(st.lists(st.tuples(st.floats(1, 100), st.floats(1, 100)), min_size=1, max_size=20))
def test_pareto_points_are_not_dominated_and_the_rest_are(points: list[tuple[float, float]]):
    speed, cost = np.array(points).T
    kept = set(pareto(speed, cost).tolist())
    for i in range(len(points)):
        better = (speed >= speed[i]) & (cost <= cost[i]) & ((speed > speed[i]) | (cost < cost[i]))
        if i in kept:
            assert not better.any()
        else:
            assert any(speed[k] >= speed[i] and cost[k] <= cost[i] for k in kept)


def test_modes_by_pencil():
    """Speeds 10, 20, 50 at 1, 2, 8 USD: standard 20 -> slow saves half, 2.5x costs 4x."""
    found = modes(
        np.array([10.0, 20.0, 50.0]), np.array([1.0, 2.0, 8.0]), standard_speed=15, fast_ratio=2.5
    )
    assert found.slow_saving == pytest.approx(0.5)
    assert found.fast_price_ratio == pytest.approx(4.0)
    assert found.speed_ceiling == pytest.approx(2.5)
    with pytest.raises(InfeasibleError, match="fastest is 50"):
        modes(np.array([50.0]), np.array([1.0]), standard_speed=40, fast_ratio=2)
