import itertools
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from ridgeline.model.pairs import causal_pairs, chunk_pairs, compressed_pairs, window_pairs


def counted(visible: Callable[[int], int], new: int, context: int) -> int:
    """Return the pairs by listing the positions context + 1 ... context + new."""
    return sum(visible(p) for p in range(context + 1, context + new + 1))


POINTS = list(itertools.product((0, 1, 2, 9, 17), (0, 1, 5, 23)))


@pytest.mark.parametrize(("new", "context"), POINTS)
def test_dense_and_windowed_pairs_equal_a_count_over_positions(new: int, context: int) -> None:
    assert causal_pairs(new, context) == counted(lambda p: p, new, context)
    for w in (1, 2, 3, 8):
        assert window_pairs(new, context, w) == counted(partial(min, w), new, context)
        assert chunk_pairs(new, context, w) == counted(partial(_in_chunk, w), new, context)


@pytest.mark.parametrize(("new", "context"), POINTS)
def test_compressed_pairs_equal_a_count_over_positions(new: int, context: int) -> None:
    for r in (1, 2, 3, 8):
        assert compressed_pairs(new, context, r) == counted(partial(_entries, r, 99), new, context)
        for k in (1, 2, 5):
            expected = counted(partial(_entries, r, k), new, context)
            assert compressed_pairs(new, context, r, k) == expected


def _in_chunk(window: int, position: int) -> int:
    return (position - 1) % window + 1


def _entries(ratio: int, top_k: int, position: int) -> int:
    return min(position // ratio, top_k)


def test_pairs_broadcast_and_stay_exact_when_large() -> None:
    # 2^20 new tokens over 2^20 cached: 2^40 + 2^20 (2^20 + 1) / 2 pairs.
    n = np.array([1, 2**20])
    expected = 2**40 + 2**19 * (2**20 + 1)
    assert causal_pairs(n, 2**20)[1] == expected
    assert window_pairs(n, 2**20, 128)[1] == 128 * 2**20
