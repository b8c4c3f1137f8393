"""Chapter 7: run the nets and ciphers, forward and back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeline.chalkboard import reversible


@given(seed=st.integers(0, 2**31), layers=st.integers(0, 20))
@settings(max_examples=20, deadline=None)
def test_integers_come_back_exactly(seed, layers):
    """The mixing function is rectified, so it has no inverse itself."""
    assert reversible.inversion_error(layers=layers, width=8, dtype="int64", seed=seed) == 0.0


def test_a_constant_function_is_inverted_too():
    x, y = np.arange(3.0), np.arange(3.0, 6.0)
    mixers = [lambda x: np.full_like(x, 7.0)] * 5
    back = reversible.feistel_inverse(*reversible.feistel_forward(x, y, mixers), mixers)
    assert np.array_equal(back, [x, y])


def test_one_round_by_hand():
    """(x, y) = (2, 5), f = square: forward (5 + 4, 2) = (9, 2)."""
    forward = reversible.feistel_forward(np.array(2), np.array(5), [np.square])
    assert [int(v) for v in forward] == [9, 2]


@pytest.mark.parametrize(("dtype", "most"), [("float32", 1e-6), ("float64", 1e-14)])
def test_floats_drift_a_little(dtype, most):
    error = reversible.inversion_error(layers=100, width=64, dtype=dtype, seed=0)
    assert 0.0 < error < most


def test_activation_memory():
    """8192 · 12,288 · 2 = 201 MB; 100 layers 20.1 GB, checkpointed 4.03, reversible 0.40."""
    one = {"tokens": 8192.0, "hidden_size": 12_288.0, "bytes_per_element": 2.0}
    counts = [
        reversible.stored_activations(layers=100.0),
        reversible.checkpointed_activations(layers=100.0),
        reversible.reversible_activations(layers=100.0),
    ]
    got = [reversible.activation_bytes(tensors=count, **one) / 1e9 for count in counts]
    assert got == pytest.approx([20.13, 4.027, 0.4027], rel=1e-3)
    assert reversible.recompute_overhead(forward_flop=2.0, backward_flop=4.0) == pytest.approx(
        1 / 3
    )


def test_derivative_over_gf2():
    """Linear: the same difference everywhere. Random table: no difference stands out."""
    linear = reversible.constant_difference_share(bits=8, linear=True, seed=3)
    table = reversible.constant_difference_share(bits=8, linear=False, seed=3)
    assert linear == 1.0
    assert table < 0.1


def test_avalanche():
    """No rounds: one of 32 bits differs. Four rounds and more: half of them."""
    shares = [reversible.avalanche(rounds=n, blocks=64, seed=1) for n in (0, 1, 4, 8)]
    assert shares[0] == 1 / 32
    assert shares[0] < shares[1] < shares[2]
    assert shares[2:] == pytest.approx([0.5, 0.5], abs=0.01)


def test_residuals_and_norms_keep_the_derivative_tame():
    plain, tame = (
        reversible.perturbation_growth(layers=30, width=128, residual=residual, seed=2)
        for residual in (False, True)
    )
    assert plain[-1] > 10
    assert tame[-1] < 3
