"""Chapter 6 on paper."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeline.chalkboard import prices, roofline, tiers

BOARD = {"active_params": 1e11, "balance_ratio": 300.0, "step_tokens": 2e5}


def test_bytes_behind_a_price_step():
    """1e11 / (300 · 2e5) = 1666.7 at one byte a weight; half and double at 0.5 and 2."""
    got = prices.kv_bytes_from_price_step(bytes_per_param=np.array([0.5, 1.0, 2.0]), **BOARD)
    assert got.tolist() == pytest.approx([833.33, 1666.67, 3333.33], rel=1e-5)


@given(peak=st.floats(1e12, 1e17), width=st.sampled_from([0.5, 1.0, 2.0]), w=st.floats(1e11, 1e14))
def test_both_forms_of_the_inversion_agree(peak, width, w):
    by_ratio = prices.kv_bytes_from_price_step(
        active_params=1e11,
        bytes_per_param=width,
        step_tokens=2e5,
        balance_ratio=roofline.balance_ratio(
            peak_flop_per_s=peak, bytes_per_param=width, bandwidth_bytes_per_s=w
        ),
    )
    by_intensity = prices.kv_bytes_from_intensity(
        active_params=1e11,
        step_tokens=2e5,
        ridge_flop_per_byte=roofline.ridge_intensity(peak_flop_per_s=peak, bandwidth_bytes_per_s=w),
    )
    assert by_ratio == pytest.approx(by_intensity)


@given(m=st.floats(1.01, 100.0))
def test_finite_batch_puts_the_crossover_at_the_step(m):
    """With that k, compute and reads are equal at the step for batch m·B*."""
    kv = prices.kv_bytes_at_finite_batch(bytes_per_param=1.0, batch_over_critical=m, **BOARD)
    read = 8e11 / (m * 2400.0) + 2e5 * kv
    assert read == pytest.approx(1e11 / 300.0)


def test_token_time_is_flat_then_linear():
    time = prices.token_time_at_context(
        active_params=1e11,
        peak_flop_per_s=600.0,
        total_params=8e11,
        bytes_per_param=1.0,
        batch=1e18,
        context_tokens=np.array([0.0, 1e5, 2e5, 4e5]),
        kv_bytes_per_token=1e11 / (300 * 2e5),
        bandwidth_bytes_per_s=1.0,
    )
    assert np.allclose(time / time[0], [1, 1, 1, 2])


def test_caches_of_architectures():
    """1·2·128·8·1 = 2048; 80·2·128·8·2 = 327,680; latent 61·576·2 = 70,272."""
    assert prices.kv_bytes_from_heads(
        distinct_caches=np.array([1.0, 80.0]),
        head_dim=128.0,
        kv_heads=8.0,
        bytes_per_element=np.array([1.0, 2.0]),
    ).tolist() == [2048, 327_680]
    assert prices.latent_kv_bytes(layers=61.0, latent_width=576.0, bytes_per_element=2.0) == 70_272


def test_pass_length_crosses_at_the_price_ratio():
    ratio = prices.output_input_ratio(memory_s=5e-3, compute_s_per_token=1e-3)
    time = prices.pass_time_per_token(
        pass_tokens=np.array([1.0, ratio, 100.0]), compute_s_per_token=1e-3, memory_s=5e-3
    )
    assert time.tolist() == pytest.approx([5e-3, 1e-3, 1e-3])
    assert prices.decode_over_prefill_mfu(output_input_ratio=ratio) == pytest.approx(0.2)


def test_attention_slope():
    """Llama 70B: 4 · 80 · 64 · 128 = 2,621,440; 140e9 over it is 53.4k tokens."""
    slope = prices.attention_flop_slope(
        global_layers=80.0, query_heads=64.0, key_dim=128.0, value_dim=128.0
    )
    assert slope == 2_621_440
    context = prices.attention_crossover(active_params=70e9, attention_slope=slope)
    assert context == pytest.approx(53_406, rel=1e-4)
    assert prices.flop_per_token(
        active_params=70e9, attention_slope=slope, context_tokens=context
    ) == pytest.approx(2 * 140e9)


def test_rebuild_or_hold():
    """2e11 / 2.5e15 = 80 µs a token, 0.0444 USD per Mtok; 80e-6 · 192e9 / 2048 = 7500 s."""
    device = {"active_params": 1e11, "peak_flop_per_s": 5e15, "mfu": 0.5}
    rebuild = tiers.rebuild_cost(**device, usd_per_s=2 / 3600)
    assert rebuild * 1e6 == pytest.approx(0.04444, rel=1e-3)
    hold_s = tiers.rebuild_break_even(**device, capacity_bytes=192e9, kv_bytes_per_token=2048.0)
    assert hold_s == pytest.approx(7500)
    held = tiers.hold_cost(
        kv_bytes_per_token=2048.0, capacity_bytes=192e9, usd_per_s=2 / 3600, hold_s=hold_s
    )
    assert held == pytest.approx(rebuild), "at the break-even both cost the same"


@given(capacity=st.floats(1e9, 1e15), bandwidth=st.floats(1e8, 1e14), k=st.floats(1.0, 1e6))
def test_drain_time_is_where_holding_costs_what_retrieving_does(capacity, bandwidth, k):
    hold_s = tiers.hold_time_at_equal_cost(capacity_bytes=capacity, bandwidth_bytes_per_s=bandwidth)
    hold = tiers.hold_cost(
        kv_bytes_per_token=k, capacity_bytes=capacity, usd_per_s=1e-3, hold_s=hold_s
    )
    fetch = tiers.retrieve_cost(
        kv_bytes_per_token=k, bandwidth_bytes_per_s=bandwidth, usd_per_s=1e-3
    )
    assert hold == pytest.approx(fetch)


@given(write=st.floats(1.0, 4.0), read=st.floats(0.0, 0.9))
def test_cache_break_even(write, read):
    count = tiers.break_even_reads(write_multiple=write, read_multiple=read)
    assert write + read * count == pytest.approx(1 + count)


def test_holding_price_of_the_write_premium():
    """(6.25 - 5) / 5 min = 15 and (10 - 5) / 1 h = 5 USD per Mtok and hour."""
    price = tiers.implied_hold_price(
        write_usd_per_token=np.array([6.25e-6, 10e-6]),
        base_usd_per_token=5e-6,
        lifetime_s=np.array([300.0, 3600.0]),
    )
    assert (price * 3600e6).tolist() == pytest.approx([15, 5])


def test_tier_two_goes_under_water_where_cost_reaches_its_price():
    """1.5 · 3.33 · 200k = 1M."""
    assert prices.tier_limit_context(
        price_factor=1.5, tier_margin=10 / 3, balance_context_tokens=2e5
    ) == pytest.approx(1e6)
