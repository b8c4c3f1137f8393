"""Chapter 5 on paper, and the optimum against a dense grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeline.chalkboard import budgets
from ridgeline.chalkboard.budgets import BESIROGLU_2024, HOFFMANN_2022

LAWS = [HOFFMANN_2022, BESIROGLU_2024]


def test_board_result():
    """η 1/3: α = (3/6)·3 = 1.5 and β = (2/6)·3 = 1."""
    ratio = budgets.token_ratio_at_equal_cost(
        flop_per_param_token=np.array([3.0, 2.0]), relative_utilisation=1 / 3
    )
    assert ratio.tolist() == pytest.approx([1.5, 1.0])


@given(q=st.floats(2, 6), eta=st.floats(0.05, 1.0), tokens=st.floats(1e9, 1e16))
def test_equal_cost_means_equal_cost(q, eta, tokens):
    ratio = budgets.token_ratio_at_equal_cost(flop_per_param_token=q, relative_utilisation=eta)
    training = budgets.training_flop(active_params=1e11, tokens=tokens * ratio)
    other = budgets.equivalent_flop(
        flop_per_param_token=q, active_params=1e11, tokens=tokens, relative_utilisation=eta
    )
    assert training == pytest.approx(other)


def test_traffic_to_over_training():
    """50e6 · 60 · 86,400 = 2.592e14; over 20 · 1e11 = 2e12 that is 129.6."""
    tokens = budgets.served_tokens(tokens_per_s=50e6, lifetime_s=60 * 86_400.0)
    assert tokens == pytest.approx(2.592e14)
    assert budgets.over_training(tokens=tokens, active_params=1e11) == pytest.approx(129.6)


@given(p=st.floats(0.2, 4.0), q=st.floats(0.2, 4.0))
def test_power_law_penalty_against_a_grid(p, q):
    x = np.geomspace(1e-3, 1e3, 200_001)
    cost = x**-p + x**q
    best = cost.argmin()
    penalty = budgets.power_law_penalty(falling_exponent=p, rising_exponent=q)
    assert penalty == pytest.approx(2.0 / cost[best] - 1.0, abs=1e-6)
    ratio = budgets.cost_ratio_at_least_sum(falling_exponent=p, rising_exponent=q)
    assert x[best] ** -p / x[best] ** q == pytest.approx(ratio, rel=2e-3)


def test_chinchilla_loss():
    """1.69 + 406.4/70e9^0.34 + 410.7/1.4e12^0.28 = 1.69 + 0.0835 + 0.1631 = 1.937."""
    loss = budgets.loss(params=70e9, tokens=1.4e12, law=HOFFMANN_2022)
    assert loss == pytest.approx(1.937, abs=2e-3)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.source[:8])
def test_tokens_for_loss_inverts_loss(law):
    loss = budgets.loss(params=1e10, tokens=1e13, law=law)
    assert budgets.tokens_for_loss(params=1e10, target_loss=loss, law=law) == pytest.approx(1e13)
    assert np.isinf(budgets.tokens_for_loss(params=1e3, target_loss=loss, law=law))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.source[:8])
def test_cheapest_size_against_a_grid(law):
    target = budgets.loss(params=1e11, tokens=2e14, law=law)
    shape = {"target_loss": target, "relative_utilisation": 1 / 3, "law": law}
    traffic = np.array([1e12, 2.592e14])
    found = budgets.cheapest_params(inference_tokens=traffic, **shape)
    grid = np.geomspace(1e10, 1e13, 400_001)
    for tokens, params in zip(traffic, found, strict=True):
        cost = budgets.lifetime_flop(params=grid, inference_tokens=tokens, **shape)
        assert params == pytest.approx(grid[cost.argmin()], rel=1e-4)
    assert found[1] < found[0], "more traffic wants a smaller model"


@pytest.mark.parametrize(
    ("law", "tokens", "ratio"), [(HOFFMANN_2022, 209e12, 1.24), (BESIROGLU_2024, 85e12, 3.1)]
)
def test_two_ways_to_the_optimum_agree(law, tokens, ratio):
    """The slope condition gives D for 100B; searching at that loss gives 100B back."""
    given_traffic = {"inference_tokens": 2.592e14, "relative_utilisation": 1 / 3, "law": law}
    found = budgets.tokens_at_optimum(params=1e11, **given_traffic)
    assert found == pytest.approx(tokens, rel=0.01)
    assert 2.592e14 / found == pytest.approx(ratio, rel=0.01)
    target = budgets.loss(params=1e11, tokens=found, law=law)
    assert budgets.cheapest_params(target_loss=target, **given_traffic) == pytest.approx(
        1e11, rel=1e-6
    )
