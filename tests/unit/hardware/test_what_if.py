"""One figure changes, nothing else does."""

import math
from dataclasses import replace
from typing import get_args

import pytest

from ridgeline.errors import InputError
from ridgeline.hardware.what_if import Figure, figure_value, what_if
from ridgeline.study.resolve import resolve_cluster

TWO_TIERS = resolve_cluster("hgx-h100-8x4")
ONE_TIER = resolve_cluster("hgx-h100-8")


@pytest.mark.parametrize("figure", get_args(Figure))
def test_the_figure_reaches_its_value_and_comes_back(figure):
    before = figure_value(TWO_TIERS, figure)
    changed = what_if(TWO_TIERS, figure, 2 * before)
    assert figure_value(changed, figure) == pytest.approx(2 * before)
    assert changed != TWO_TIERS
    assert what_if(changed, figure, before) == TWO_TIERS


def test_peak_scales_every_format():
    changed = what_if(TWO_TIERS, "peak", 2 * figure_value(TWO_TIERS, "peak"))
    assert changed.device.peak_flop_per_s == {
        k: 2 * v for k, v in TWO_TIERS.device.peak_flop_per_s.items()
    }


def test_a_scale_up_domain_swallows_smaller_tiers():
    """32 devices: a domain of 32 leaves no scale-out."""
    assert [t.size for t in what_if(TWO_TIERS, "scale_up_size", 16).tiers] == [16, 32]
    assert [t.size for t in what_if(TWO_TIERS, "scale_up_size", 32).tiers] == [32]


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_refuses_values_that_are_not_above_zero(value):
    with pytest.raises(InputError, match="must be above 0"):
        what_if(TWO_TIERS, "peak", value)


def test_refuses_tiers_that_are_not_there():
    with pytest.raises(InputError, match="no scale-out network"):
        what_if(ONE_TIER, "scale_out_bandwidth", 1e9)
    with pytest.raises(InputError, match="needs a scale-out network"):
        what_if(ONE_TIER, "scale_up_size", 4)
    with pytest.raises(InputError, match="whole number"):
        what_if(TWO_TIERS, "scale_up_size", 4.5)
    with pytest.raises(InputError, match="no network"):
        what_if(replace(ONE_TIER, tiers=()), "latency", 1e-6)
