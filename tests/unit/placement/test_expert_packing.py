"""Copies, packing, swaps and the bound, by pencil and by brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ridgeline.placement import expert_packing as packing


def test_spare_slots_go_to_the_highest_load_per_copy():
    """12, 6, 2 with 3 spare: 12 -> 6 6; tie 6 6 6 -> first -> 4 4 4; then 6 -> 3 3."""
    copies = packing.replicate(np.array([[12.0, 6.0, 2.0]]), 6, 6)
    assert copies.tolist() == [[3, 2, 1]]


def test_copies_stop_at_one_per_rank():
    copies = packing.replicate(np.array([[100.0, 1.0, 0.0]]), 6, 2)
    assert copies.tolist() == [[2, 2, 2]]


def test_longest_first_then_a_swap_reaches_the_optimum():
    """8 7 6 5 4 2 in 2 x 3: LPT gives 8 5 4 | 7 6 2 = 17 | 15; swapping 8 and 7 gives 16 | 16."""
    load = np.array([[8.0, 7.0, 6.0, 5.0, 4.0, 2.0]])
    items = packing.slots_in_order(np.ones((1, 6), dtype=np.int64), 6)
    placed = packing.pack(items, load, 2)
    assert packing.rank_loads(placed, load).tolist() == [[17.0, 15.0]]
    better = packing.improve_by_swaps(placed, load)
    assert packing.rank_loads(better, load).tolist() == [[16.0, 16.0]]


def test_bound_by_pencil():
    """10 1 1 1 on 2 ranks: mean 6.5, but the rank of 10 holds another: 11; with 4 spare: 6.5."""
    load = np.array([[10.0, 1.0, 1.0, 1.0]])
    assert packing.lower_bound(load, 4, 2).tolist() == [11.0]
    assert packing.lower_bound(load, 8, 2).tolist() == [6.5]


def test_bound_counts_the_largest_that_must_meet():
    """5 5 5 1 1 1 on 2 ranks of 3: two fives meet on one rank: 10."""
    load = np.array([[5.0, 5.0, 5.0, 1.0, 1.0, 1.0]])
    assert packing.lower_bound(load, 6, 2).tolist() == [10.0]


def _best(load, num_ranks, slots):
    """Return the lightest fullest rank over every placement, one copy per rank or not."""
    experts = range(len(load))
    best = np.inf
    for table in itertools.product(experts, repeat=num_ranks * slots):
        copies = np.bincount(table, minlength=len(load))
        if copies.min() > 0:
            share = load / copies
            best = min(best, share[np.array(table)].reshape(num_ranks, slots).sum(axis=1).max())
    return best


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("experts", "ranks", "slots"), [(4, 2, 2), (3, 2, 2), (3, 3, 2), (5, 2, 3)]
)
def test_search_is_at_most_5_percent_from_brute_force_and_the_bound_below_it(
    seed, experts, ranks, slots
):
    load = np.random.default_rng(seed).lognormal(0.0, 1.0, experts)
    best = _best(load, ranks, slots)
    placed = packing.search(
        load[None], ranks * slots, ranks, rng=np.random.default_rng(0), kicks=200
    )
    copies = np.bincount(placed.ravel(), minlength=experts)
    found = packing.rank_loads(placed, (load / copies)[None]).max()
    assert found >= best * (1 - 1e-12)
    assert found <= best * 1.05
    assert packing.lower_bound(load[None], ranks * slots, ranks)[0] <= best * (1 + 1e-12)


@settings(deadline=None, max_examples=40)
@given(
    load=arrays(np.float64, (3, 12), elements=st.integers(0, 10**6).map(float)),
    ranks=st.sampled_from([1, 2, 3, 4, 6, 12]),
    extra=st.integers(0, 3),
)
def test_every_expert_is_placed_and_nothing_beats_the_bound(load, ranks, extra):
    slots = 12 + extra * ranks if ranks > 1 else 12
    slots = min(slots, 12 * ranks)
    slots += -slots % ranks
    placed = packing.search(load, slots, ranks, rng=np.random.default_rng(0), kicks=3)
    assert placed.shape == (3, ranks, slots // ranks)
    copies = np.stack([np.bincount(p.ravel(), minlength=12) for p in placed])
    assert (copies >= 1).all()
    loads = packing.rank_loads(placed, load / copies)
    assert np.allclose(loads.sum(axis=1), load.sum(axis=1))
    bound = packing.lower_bound(load, slots, ranks)
    assert (loads.max(axis=1) >= bound * (1 - 1e-9)).all()


def test_same_seed_same_placement():
    load = np.random.default_rng(5).random((4, 32))
    runs = [packing.search(load, 40, 8, rng=np.random.default_rng(7), kicks=10) for _ in range(2)]
    assert (runs[0] == runs[1]).all()
