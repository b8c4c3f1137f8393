"""The 10-90 % band of a step."""

from dataclasses import replace

import numpy as np
import pytest

from ridgeline.cost.efficiency import IDEAL
from ridgeline.phase.band import band, ratio_band
from ridgeline.phase.closed_loop import closed_loop
from ridgeline.phase.deployment import step_breakdown
from ridgeline.study.deploy import deploy


@pytest.fixture(scope="module")
def deployment():
    """Llama-3.1-8B on one H100."""
    return deploy("llama-3.1-8b", on="h100-sxm", devices=1)


def test_band_encloses_the_step_and_keeps_its_shape(deployment):
    """p10 < p50 < p90 around the step at every point; the same seed gives the same band."""
    batch, context = np.array([1.0, 64.0, 256.0]), 4096.0
    step = step_breakdown(deployment, phase="decode", batch=batch, context=context).step_s
    edges = band(deployment, phase="decode", batch=batch, context=context)
    assert edges.p10_s.shape == (3,)
    assert np.all(edges.p10_s < edges.p50_s)
    assert np.all(edges.p50_s < edges.p90_s)
    assert np.all((edges.p10_s < step) & (step < edges.p90_s))
    again = band(deployment, phase="decode", batch=batch, context=context)
    assert np.array_equal(edges.p90_s, again.p90_s)
    assert np.all(edges.p90_s / edges.p10_s < 2)


def test_ideal_has_no_band(deployment):
    """The pure roofline of one device has nothing uncertain."""
    ideal = replace(deployment, efficiency=IDEAL)
    edges = band(ideal, phase="prefill", batch=2.0, context=1000.0)
    step = step_breakdown(ideal, phase="prefill", batch=2.0, context=1000.0).step_s
    assert float(edges.p10_s) == pytest.approx(float(step))
    assert float(edges.p90_s) == pytest.approx(float(step))


def test_ratios_of_a_time_without_kernels_are_those_of_the_common_factor(deployment):
    """A constant time off by exp(σ z): quantiles exp(±1.28·σ) over many samples."""
    low, high = ratio_band(deployment, lambda _: np.array([3.0]), spread=0.2, num=20_000)
    assert low[0] == pytest.approx(np.exp(-1.2816 * 0.2), rel=0.02)
    assert high[0] == pytest.approx(np.exp(1.2816 * 0.2), rel=0.02)


def test_closed_loops_broadcast_over_samples(deployment):
    """One band per load; without the common factor it is narrower."""

    def tpot(d):
        return closed_loop(d, concurrency=np.array([1.0, 64.0]), isl=512, osl=128).tpot_s

    low, high = ratio_band(deployment, tpot)
    narrow_low, narrow_high = ratio_band(deployment, tpot, spread=0.0)
    assert low.shape == (2,)
    assert np.all((low < 1) & (high > 1))
    assert np.all(narrow_high / narrow_low < high / low)
