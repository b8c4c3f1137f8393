"""The fullest rank against routers simulated token by token, uniform and Zipf."""

import itertools

import numpy as np
import pytest

from ridgeline.errors import InputError
from ridgeline.model.build import moe
from ridgeline.model.coverage import expected_experts_touched
from ridgeline.model.imbalance import (
    distinct_experts,
    expert_imbalance,
    inclusion,
    load_imbalance,
    zipf_popularity,
)
from ridgeline.model.layout import Layout


def simulate(tokens, num_experts, top_k, ranks, exponent, repeats=60):
    """Return (max/mean, its standard error, distinct experts per rank) of a simulated router."""
    rng = np.random.default_rng([tokens, num_experts, top_k, ranks])
    popularity = np.log(zipf_popularity(num_experts, exponent))
    ratio, visited = [], []
    for _ in range(repeats):
        score = rng.gumbel(size=(tokens, num_experts)) + rng.permutation(popularity)
        chosen = np.argpartition(-score, top_k - 1, axis=1)[:, :top_k]
        count = np.bincount(chosen.ravel(), minlength=num_experts)
        ratio.append(count.reshape(ranks, -1).sum(axis=1).max() / (tokens * top_k / ranks))
        visited.append((count > 0).sum() / ranks)
    return np.mean(ratio), np.std(ratio) / repeats**0.5, np.mean(visited)


SHAPES = [(8, 2, 4), (64, 6, 8), (64, 6, 32), (256, 8, 32), (256, 8, 64)]


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("num_experts", "top_k", "ranks"), SHAPES)
def test_agrees_with_simulated_routing(num_experts, top_k, ranks, exponent):
    for tokens in (8, 64, 512):
        shape = {"num_experts": num_experts, "top_k": top_k, "ranks": ranks}
        ratio, error, visited = simulate(tokens, exponent=exponent, **shape)
        found = float(load_imbalance(tokens=tokens, zipf_exponent=exponent, **shape))
        assert abs(found - ratio) < 0.03 * ratio + 4 * error
        distinct = float(distinct_experts(tokens=tokens, zipf_exponent=exponent, **shape))
        assert distinct == pytest.approx(visited, rel=0.03)


def test_median_error_over_the_grid_is_below_2_percent():
    errors = []
    for (n, k, r), exponent, tokens in itertools.product(SHAPES, (0.0, 0.5, 1.0), (16, 128)):
        ratio, _, _ = simulate(tokens, n, k, r, exponent)
        found = load_imbalance(
            tokens=tokens, num_experts=n, top_k=k, ranks=r, zipf_exponent=exponent
        )
        errors.append(abs(found / ratio - 1))
    assert np.median(errors) < 0.02


def test_two_ranks_by_pencil():
    """T fair coins: max = T/2 + |D|/2 with D of variance T: 1 + sqrt(2 / (π T)) of the mean.

    At 4 tokens the fixed total matters: max is 4 3 2 with 2 8 6 of 16, 1.375; found 7 % above.
    """
    found = load_imbalance(tokens=np.array([4.0, 100.0, 1e4]), num_experts=2, top_k=1, ranks=2)
    assert found[0] == pytest.approx(44 / 16 / 2, rel=0.08)
    assert found[1:] == pytest.approx(1 + (2 / np.pi / np.array([100.0, 1e4])) ** 0.5, rel=2e-3)


def test_one_rank_is_level_and_all_experts_are_level():
    assert load_imbalance(tokens=7, num_experts=8, top_k=2, ranks=1) == pytest.approx(1.0)
    assert load_imbalance(tokens=7, num_experts=8, top_k=8, ranks=4) == pytest.approx(1.0)


def test_chance_fades_with_tokens_and_taste_does_not():
    """Uniform: 1 + E_32 sqrt((1 - k/n) R / (T k)) with E_32 = 2.070, the mean of the max normal."""
    tokens = np.array([1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6])
    chance = load_imbalance(tokens=tokens, num_experts=256, top_k=8, ranks=32)
    assert chance.shape == (7,)
    assert (np.diff(chance) < 0).all()
    expected = 1 + 2.0697 * (248 / 255 * 32 / (1e6 * 8)) ** 0.5
    assert chance[-1] == pytest.approx(expected, rel=1e-4)
    taste = load_imbalance(tokens=tokens, num_experts=256, top_k=8, ranks=32, zipf_exponent=0.8)
    assert taste[-1] > 1.5
    assert taste[-1] == pytest.approx(float(taste[-2]), rel=0.01)


def test_both_evaluations_meet_where_one_hands_over():
    """Mean load of a rank 63 and 65: below and above the switch, no step."""
    low, high = (
        load_imbalance(tokens=np.array([t * 4.0]), num_experts=256, top_k=8, ranks=32)
        for t in (63.0, 65.0)
    )
    assert float(low[0] - high[0]) == pytest.approx(0.0035, abs=0.003)


def test_uniform_distinct_experts_equal_the_closed_form():
    tokens = np.array([1.0, 32.0, 256.0])
    found = distinct_experts(tokens=tokens, num_experts=256, top_k=8)
    assert found == pytest.approx(expected_experts_touched(256, 8, tokens), rel=1e-3)


def test_inclusion_of_two_of_five_by_enumeration():
    p = zipf_popularity(5, 1.3)
    q = np.zeros(5)
    for a, b in itertools.permutations(range(5), 2):
        q[[a, b]] += p[a] * p[b] / (1 - p[a])
    assert inclusion(p, 2) == pytest.approx(q, rel=1e-3)
    assert inclusion(p, 1) == pytest.approx(p, rel=1e-3)
    assert inclusion(p, 5) == pytest.approx(np.ones(5))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"top_k": 0}, "top_k"),
        ({"top_k": 65}, "top_k"),
        ({"ranks": 0}, "ranks"),
        ({"ranks": 65}, "ranks"),
        ({"zipf_exponent": -1.0}, "zipf"),
        ({"zipf_exponent": float("nan")}, "zipf"),
        ({"ranks": 7, "zipf_exponent": 1.0}, "divide"),
        ({"tokens": 0.5}, "tokens"),
        ({"tokens": float("nan")}, "tokens"),
    ],
)
def test_bad_numbers_say_the_rule(change, words):
    with pytest.raises(InputError, match=words):
        load_imbalance(**{"tokens": 8, "num_experts": 64, "top_k": 2, "ranks": 8, **change})


@pytest.mark.parametrize("exponent", [0.0, 1.0])
def test_interpolation_over_arrays_of_layouts(exponent):
    """Rows of layouts, columns of tokens; within 1 % of the formula, and 1 on a single rank."""
    experts = moe(64, 64, 6, 32).experts
    layout = Layout(ep=np.array([[1], [8], [16]]), num_redundant_experts=np.array([[0], [0], [16]]))
    tokens = np.array([1.0, 11.0, 100.0, 3000.0])
    factor = expert_imbalance(exponent)(experts, tokens, layout)
    assert factor.shape == (3, 4)
    assert (factor[0] == 1).all()
    for row, (ranks, slots) in zip(factor[1:], ((8, 64), (16, 80)), strict=True):
        exact = load_imbalance(
            tokens=tokens, num_experts=slots, top_k=6, ranks=ranks, zipf_exponent=exponent
        )
        assert row == pytest.approx(exact, rel=0.01)
