"""Chapter 1 on paper: batch, speed and cost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeline.chalkboard import fast_mode, roofline, traffic

H100 = {"bf16": (989e12, 2.0), "fp8": (1979e12, 1.0)}
W = 3.35e12
positive = st.floats(min_value=1e-3, max_value=1e15)


def test_terms_of_a_step():
    """70B on one H100 in BF16, 100 sequences of 1000 tokens of 328 kB.

    Compute 2·100·70e9 / 989e12 = 14.16 ms; weights 140e9 / 3.35e12 = 41.8 ms;
    caches 100·1000·327,680 / 3.35e12 = 9.78 ms; the step is 51.6 ms.
    """
    compute = roofline.compute_time(batch=100.0, active_params=70e9, peak_flop_per_s=989e12)
    weights = roofline.weight_time(total_params=70e9, bytes_per_param=2.0, bandwidth_bytes_per_s=W)
    kv = roofline.kv_time(
        batch=100.0, context_tokens=1e3, kv_bytes_per_token=327_680.0, bandwidth_bytes_per_s=W
    )
    assert compute == pytest.approx(14.156e-3, rel=1e-4)
    assert weights == pytest.approx(41.791e-3, rel=1e-4)
    assert kv == pytest.approx(9.7815e-3, rel=1e-4)
    step = roofline.step_time(compute_s=compute, weights_s=weights, kv_s=kv)
    assert step == pytest.approx(51.573e-3, rel=1e-4)


@pytest.mark.parametrize("number_format", ["bf16", "fp8"])
def test_balance_ratio_keeps_its_value_when_the_format_narrows(number_format):
    """(989e12/2)·2/3.35e12 = 295.2 and (1979e12/2)·1/3.35e12 = 295.4: both 295."""
    peak, width = H100[number_format]
    ratio = roofline.balance_ratio(
        peak_flop_per_s=peak, bytes_per_param=width, bandwidth_bytes_per_s=W
    )
    assert round(float(ratio)) == 295


def test_flop_per_byte_is_the_other_number():
    """989e12 / 3.35e12 = 295 in BF16, but 1979e12 / 3.35e12 = 591 in FP8."""
    intensity = [
        roofline.ridge_intensity(peak_flop_per_s=peak, bandwidth_bytes_per_s=W)
        for peak, _ in H100.values()
    ]
    assert [round(float(i)) for i in intensity] == [295, 591]


@given(batch=positive, active=positive, total=positive, peak=positive, width=positive, w=positive)
def test_critical_batch_is_where_the_terms_meet(batch, active, total, peak, width, w):
    ratio = roofline.balance_ratio(
        peak_flop_per_s=peak, bytes_per_param=width, bandwidth_bytes_per_s=w
    )
    batch = roofline.critical_batch(balance_ratio=ratio, total_params=total, active_params=active)
    compute = roofline.compute_time(batch=batch, active_params=active, peak_flop_per_s=peak)
    weights = roofline.weight_time(
        total_params=total, bytes_per_param=width, bandwidth_bytes_per_s=w
    )
    assert compute == pytest.approx(weights, rel=1e-9)


@given(share=st.floats(min_value=0.0, max_value=0.999))
def test_critical_batch_with_caches_is_where_all_three_meet(share):
    shape = {"active_params": 37e9, "bytes_per_param": 1.0, "kv_bytes_per_token": 35_136.0}
    limit = roofline.balance_context(balance_ratio=300.0, **shape)
    context = share * limit
    batch = roofline.critical_batch_at_context(
        balance_ratio=300.0, total_params=671e9, context_tokens=context, **shape
    )
    compute = batch * 37e9 / 300.0
    assert compute == pytest.approx(671e9 + batch * context * 35_136.0, rel=1e-9)


def test_beyond_balance_context_no_batch_is_enough():
    shape = {"active_params": 37e9, "bytes_per_param": 1.0, "kv_bytes_per_token": 35_136.0}
    contexts = np.array([0.0, 1e3, 1e4, 1e6])
    batches = roofline.critical_batch_at_context(
        balance_ratio=300.0, total_params=671e9, context_tokens=contexts, **shape
    )
    assert batches[0] == pytest.approx(300 * 671 / 37)
    assert np.isfinite(batches[1])
    assert np.isinf(batches[2:]).all()


def test_a_cache_that_does_not_grow_leaves_the_critical_batch_as_it_is():
    """Growth 0: 300·671/37 = 5,440.5 at any context."""
    batch = roofline.critical_batch_at_context(
        balance_ratio=300.0,
        total_params=671e9,
        active_params=37e9,
        bytes_per_param=1.0,
        context_tokens=1e6,
        kv_bytes_per_token=0.0,
    )
    assert batch == pytest.approx(300 * 671 / 37)


def test_cost_floor_is_the_limit_of_the_token_cost():
    """At a batch of 1e12 the weight read is nothing; the floor is what is left."""
    common = {"active_params": 37e9, "peak_flop_per_s": 5e15}
    kv = {"kv_bytes_per_token": 35_136.0, "bandwidth_bytes_per_s": 8e12}
    contexts = np.array([100.0, 1e4])
    step = roofline.step_time(
        compute_s=roofline.compute_time(batch=1e12, **common),
        weights_s=671e9 / 8e12,
        kv_s=roofline.kv_time(batch=1e12, context_tokens=contexts, **kv),
    )
    cost = roofline.token_cost(step_s=step, batch=1e12, usd_per_s=1.0)
    floor = roofline.cost_floor(context_tokens=contexts, **common, **kv, usd_per_s=1.0)
    assert np.allclose(cost, floor, rtol=1e-6)
    assert floor[0] == pytest.approx(1.48e-5)
    assert floor[1] == pytest.approx(4.392e-5)


def test_trains():
    """288 GB at 20 TB/s: every 14.4 ms, 28.8 at worst; 2000 seats make 139k tokens/s."""
    interval = roofline.drain_time(capacity_bytes=288e9, bandwidth_bytes_per_s=20e12)
    assert interval == pytest.approx(14.4e-3)
    assert traffic.worst_latency(interval_s=interval) == pytest.approx(28.8e-3)
    assert traffic.system_rate(batch=2000.0, interval_s=interval) == pytest.approx(
        138_889, rel=1e-5
    )


def test_mean_latency_against_random_arrivals():
    """Ride the next train after a uniform arrival: 1.5 intervals on average."""
    arrivals = np.random.default_rng(0).uniform(0, 1, 100_000)
    assert (1 - arrivals + 1).mean() == pytest.approx(
        traffic.mean_latency(interval_s=1.0), rel=0.01
    )


def test_expert_coverage_against_drawn_experts():
    """64 tokens choose 8 of 256 each; count the distinct ones."""
    rng = np.random.default_rng(0)
    seen = [
        len({int(e) for _ in range(64) for e in rng.choice(256, 8, replace=False)}) / 256
        for _ in range(50)
    ]
    law = roofline.expert_coverage(experts_per_token=8.0, experts=256.0, batch=64.0)
    assert law == pytest.approx(0.8690, abs=5e-4)
    assert np.mean(seen) == pytest.approx(law, abs=0.01)


@given(
    price=st.floats(min_value=1.1, max_value=50.0), speed=st.floats(min_value=1.1, max_value=20.0)
)
def test_fast_mode_reproduces_its_two_ratios(price, speed):
    """Put the solution back: the slow step over the fast one is the speed ratio."""
    batch = fast_mode.batch_ratio(price_ratio=price, speed_ratio=speed)
    share = fast_mode.fast_kv_share(batch_ratio=batch, speed_ratio=speed)
    slow, fast = 1.0 + batch * share, 1.0 + share
    assert slow / fast == pytest.approx(speed)
    assert (fast / 1.0) / (slow / batch) == pytest.approx(price)
    ceiling = fast_mode.speed_ceiling(batch_ratio=batch, fast_kv_share=share)
    assert ceiling >= speed
    assert fast_mode.slow_kv_fraction(
        batch_ratio=batch, fast_kv_share=share
    ) + fast_mode.slow_saving(batch_ratio=batch, fast_kv_share=share) == pytest.approx(1.0)
