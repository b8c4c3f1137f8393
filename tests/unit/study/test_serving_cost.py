"""The rent behind margins."""

import pytest

from ridgeline.errors import InputError
from ridgeline.study.serving_cost import serving_costs


def test_a_rent_of_nothing_is_refused():
    """A cost of 0 has no ratio to a price."""
    with pytest.raises(InputError, match="usd-per-hour must be at least 1e-06"):
        serving_costs(
            "llama-3.3-70b",
            on="hgx-h100-8",
            contexts=[4096],
            speed=20.0,
            question={"usd_per_device_hour": 0.0},
        )
