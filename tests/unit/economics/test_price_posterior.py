"""The inverse problem: synthetic sheets with a known truth, laws, seeds."""

import numpy as np
import pytest

from ridgeline.economics.price_posterior import HOST_PRIOR, Evidence, Offer, posterior

H100 = Offer(
    name="h100",
    peak_flop_per_s=1.979e15,
    bandwidth_bytes_per_s=3.35e12,
    usd_per_device_hour=3.0,
    bytes_per_weight=1.0,
    weight=1.0,
)


def sheet(active: float, kv: float, *, batch: float, context: float, markup: float) -> Evidence:
    """Price a model by hand at MFU 0.3, decode efficiency 0.45, utilisation 0.5."""
    rent = 3.0 / 3600 / 0.5 * 1e6 * markup
    compute = 2 * active / 1.979e15
    decode = max(compute, compute / batch + kv * context / 3.35e12) / 0.45
    return Evidence(input_usd_per_mtok=rent * compute / 0.3, output_usd_per_mtok=rent * decode)


@pytest.mark.parametrize("active", [3e9, 37e9, 120e9])
@pytest.mark.parametrize("kv", [2e4, 2e5])
def test_bands_hold_a_synthetic_truth(active: float, kv: float):
    p = posterior(
        sheet(active, kv, batch=0.6, context=2000, markup=2.0), [H100], HOST_PRIOR, draws=30_000
    )
    assert p.active_params.holds(active)
    assert p.kv_bytes_per_token.holds(kv)
    assert p.active_params.decades < 1.4 < p.active_params.prior_decades


def test_bands_cover_what_they_claim_when_the_prior_is_right():
    """Sheets drawn from the prior itself: 80 % bands hold about 80 % of the truths."""
    rng = np.random.default_rng(1)
    held = []
    for i in range(60):
        active = np.exp(rng.uniform(np.log(3e9), np.log(1e11)))
        p = posterior(
            sheet(
                active,
                np.exp(rng.uniform(np.log(1e4), np.log(3e5))),
                batch=np.exp(rng.uniform(np.log(0.2), np.log(2))),
                context=rng.uniform(1e3, 1e4),
                markup=np.exp(rng.normal(0.75, 0.67)),
            ),
            [H100],
            HOST_PRIOR,
            draws=5000,
            seed=i,
        )
        held.append(p.active_params.holds(active))
    assert 0.65 < np.mean(held) <= 1.0


def test_a_dearer_sheet_implies_a_larger_model():
    low, high = (
        posterior(Evidence(input_usd_per_mtok=x, output_usd_per_mtok=4 * x), [H100], HOST_PRIOR)
        for x in (0.1, 1.0)
    )
    assert high.active_params.median > 3 * low.active_params.median


def test_a_mild_step_at_long_context_implies_a_small_cache():
    """Output x1.5 above 200k leaves no room for 300 kB per token."""
    flat = Evidence(input_usd_per_mtok=2.0, output_usd_per_mtok=8.0)
    step = Evidence(input_usd_per_mtok=2.0, output_usd_per_mtok=8.0, steps=((200e3, 1.5),))
    without, with_step = (posterior(e, [H100], HOST_PRIOR) for e in (flat, step))
    assert with_step.kv_bytes_per_token.high < 0.3 * without.kv_bytes_per_token.high


def test_one_price_for_both_says_nothing_of_the_cache():
    p = posterior(Evidence(input_usd_per_mtok=0.9, output_usd_per_mtok=0.9), [H100], HOST_PRIOR)
    assert p.kv_bytes_per_token.decades > 0.9 * p.kv_bytes_per_token.prior_decades


def test_same_seed_same_bands():
    e = Evidence(input_usd_per_mtok=1.0, output_usd_per_mtok=4.0, cache_read_usd_per_mtok=0.1)
    one, two, other = (posterior(e, [H100], HOST_PRIOR, draws=2000, seed=s) for s in (7, 7, 8))
    assert one == two
    assert one != other
