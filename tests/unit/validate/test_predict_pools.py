"""Separate pools."""

import numpy as np
import pytest

from ridgeline.phase.deployment import usable_bytes
from ridgeline.study.deploy import deploy
from ridgeline.validate.predict_pools import _seats

ONE = deploy("llama-3.1-8b", on="h100-sxm")
KV_BYTES = 2 * 32 * 8 * 128 * 2
"""Keys and values, layers, heads, head size, bf16."""


def test_seats_are_what_memory_leaves_beside_the_weights():
    """0.9 of 80 GB without 16.1 GB of weights and 2 GB of runtime, at 131,072 B per token."""
    left = usable_bytes(ONE) - 16.06e9 - 2e9
    (seats,) = _seats(ONE, np.array([1000.0]), np.array([2000.0]))
    assert seats == pytest.approx(left / (2000 * KV_BYTES), rel=0.05)


def test_longer_requests_take_more_room():
    short, long = _seats(ONE, np.array([500.0, 5000.0]), np.array([1000.0, 1000.0]))
    assert short == pytest.approx(5.5 * long, rel=0.1)
