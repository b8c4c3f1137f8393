import math

import numpy as np
import pytest

from ridgeline.model.coverage import expected_experts_touched


def test_two_tokens_of_four_experts() -> None:
    # n = 4, k = 1, B = 2: 4 (1 - (3/4)^2) = 1.75.
    assert expected_experts_touched(4, 1, 2) == pytest.approx(1.75)


def test_every_expert_from_the_first_token_when_all_are_chosen() -> None:
    assert np.all(expected_experts_touched(8, 8, np.array([0, 1, 5])) == [0, 8, 8])


def test_keeps_digits_when_the_share_is_tiny() -> None:
    # n (1 - (1 - 1/n)^B) = B - B (B - 1) / (2n) + ..., here 2 - 1e-12.
    assert math.isclose(float(expected_experts_touched(1e12, 1, 2)), 2 - 1e-12, rel_tol=1e-15)


def test_agrees_with_simulated_routing() -> None:
    # 64 experts, top 6, 20 tokens; 4,000 batches: standard error of the mean about 0.03.
    rng = np.random.default_rng(7)
    scores = rng.random((4000, 20, 64))
    chosen = np.argsort(scores, axis=2)[:, :, :6].reshape(4000, -1)
    seen = np.mean([len(np.unique(row)) for row in chosen])
    assert float(expected_experts_touched(64, 6, 20)) == pytest.approx(seen, abs=0.12)
