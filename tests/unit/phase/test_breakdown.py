"""A step as parts that sum to it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeline.cost.efficiency import IDEAL, TYPICAL, Curve, Efficiency
from ridgeline.hardware import Device, MemoryTier
from ridgeline.model.work import Operation
from ridgeline.phase.breakdown import breakdown


def device(peak: float = 100e12, bandwidth: float = 1e12) -> Device:
    """Return a device with one peak and one bandwidth."""
    return Device(
        id="toy",
        name="toy",
        vendor="none",
        peak_flop_per_s={"bf16": peak},
        memory=MemoryTier(name="hbm", capacity_bytes=1e9, bandwidth_bytes_per_s=bandwidth),
    )


def operation(flop: float, weight: float, state: float, count: float = 1.0) -> Operation:
    """Return an operation of the gemm family."""
    return Operation(
        name="op",
        family="gemm",
        component="ffn",
        compute_format="bf16",
        count=count,
        flop=flop,
        weight_bytes=weight,
        state_read_bytes=state,
    )


positive = st.floats(min_value=1e3, max_value=1e15)


@given(st.lists(st.tuples(positive, positive, positive), min_size=1, max_size=5))
def test_parts_and_limits_sum_to_the_step(work):
    """Nothing of the step is without a part and a limit."""
    step = breakdown([operation(*w) for w in work], device(), TYPICAL)
    assert sum(p.time_s for p in step.parts) + step.host_s == pytest.approx(step.step_s)
    assert sum(step.limit_s().values()) == pytest.approx(step.step_s)
    assert step.overlap_step_s <= step.step_s * (1 + 1e-12)


@given(positive, positive, positive)
def test_time_is_at_least_each_bound_and_equals_one_when_ideal(flop, weight, state):
    """Ideal: t = max(FLOP/F, bytes/W)."""
    step = breakdown([operation(flop, weight, state)], device(), IDEAL)
    assert step.step_s == pytest.approx(max(flop / 100e12, (weight + state) / 1e12))


@given(positive, positive, positive, st.floats(min_value=1.0, max_value=100.0))
def test_more_bandwidth_or_peak_never_slows(flop, weight, state, factor):
    """A law of the roofline."""
    work = [operation(flop, weight, state, 7.0)]
    base = breakdown(work, device(), TYPICAL).step_s
    assert breakdown(work, device(bandwidth=1e12 * factor), TYPICAL).step_s <= base
    assert breakdown(work, device(peak=100e12 * factor), TYPICAL).step_s <= base


def test_elasticity_is_the_slope():
    """One per cent of bandwidth against a finite difference; 70 % of this step is traffic."""
    work = [operation(3e12, 1e3, 0.0), operation(1e3, 4e10, 3e10)]
    base = breakdown(work, device(), IDEAL)
    faster = breakdown(work, device(bandwidth=1.0001e12), IDEAL).step_s
    slope = -(np.log(faster) - np.log(base.step_s)) / np.log(1.0001)
    assert base.elasticities()["memory bandwidth"] == pytest.approx(slope, rel=1e-4)
    assert base.elasticities()["memory bandwidth"] == pytest.approx(0.7, rel=1e-3)


def test_bound_by_names_the_largest_limit():
    """Batch as an axis: state reading takes over from weight reading."""
    op = Operation(
        name="attention",
        family="attention",
        component="attention",
        compute_format="bf16",
        weight_bytes=1e9,
        state_read_bytes=np.array([1e8, 1e10]),
    )
    assert breakdown([op], device(), IDEAL).bound_by().tolist() == ["weight read", "state read"]


def test_even_division_over_devices():
    """Eight devices with an ideal network take an eighth, launch apart."""
    work = [operation(1e14, 1e9, 1e9)]
    alone = breakdown(work, device(), IDEAL).step_s
    assert breakdown(work, device(), IDEAL, shards=8).step_s == pytest.approx(alone / 8)


def test_parts_of_a_pipeline_count_every_slot():
    """40 layers of a stage in 2 slots: 80 executions, whose bytes over W are the part's time."""
    work = [operation(1e9, 1e9, 0.0, count=40.0)]
    (part,) = breakdown(work, device(), IDEAL, repeats=2.0).parts
    assert part.executions == 80.0
    assert part.time_s == pytest.approx(part.executions * 1e9 / 1e12)


def test_the_unhidden_share_of_the_shorter_limit_counts_as_its_own():
    """2 s of arithmetic beside 1 s of traffic, a quarter of it not hidden: 2 s and 0.25 s."""
    efficiency = Efficiency(
        name="toy", curves={}, default=Curve(unhidden=0.25, spread=0.0), source="test"
    )
    work = [operation(2e14, 1e12, 0.0)]
    step = breakdown(work, device(), efficiency)
    assert step.step_s == pytest.approx(2.25)
    assert step.limit_s()["compute"] == pytest.approx(2.0)
    assert step.limit_s()["weight read"] == pytest.approx(0.25)
    faster = breakdown(work, device(bandwidth=1.0001e12), efficiency).step_s
    slope = -(np.log(faster) - np.log(step.step_s)) / np.log(1.0001)
    assert step.elasticities()["memory bandwidth"] == pytest.approx(slope, rel=1e-3)
