"""The search for the largest that fits, against the threshold that decides."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ridgeline.phase.deployment import largest_that_fits


@given(limit=st.integers(1, 2**40), threshold=st.integers(0, 2**41))
def test_the_threshold_is_found(limit, threshold):
    asked = []

    def fits_at(numbers):
        asked.append(len(numbers))
        return np.asarray(numbers) <= threshold

    assert largest_that_fits(fits_at, limit) == min(threshold, limit)
    assert len(asked) < 12
