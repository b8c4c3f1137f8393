"""Decoder: the lecture's figures, honest coverage on public models, refusals."""

import datetime as dt

import pytest

from ridgeline.errors import InputError, UnknownNameError
from ridgeline.study.price_coverage import cases, coverage, price_models
from ridgeline.study.price_decode import decode

NOV = dt.date(2026, 11, 30)


def test_gemini_step():
    """C6-N1: input +100 %, output +50 % above 200k; input rises more than cache reads explain."""
    got = decode("google/gemini-3.1-pro-preview", on=NOV, draws=20_000)
    step = next(f for f in got.findings if f.figure.startswith("above 200,000"))
    assert "input x2, output x1.5" in step.figure
    assert "segmentation" in step.plausibility
    assert step.low is not None
    assert step.high is not None
    # C6-N2/N3: 100e9 active, R = 300, w = 1, m = 3 gives 1,111 B.
    assert step.low < 1111 < step.high


def test_write_premium_and_fast_mode():
    """C6-N12: 15 and 5 USD/Mtok-h; C1-N18: 6x for 2.5x is batch 15, 64 %, ceiling 2.8."""
    got = decode("anthropic/claude-opus-4-6", on=NOV, fast_speed=2.5, fast_price=6.0, draws=20_000)
    figures = [f.figure for f in got.findings]
    assert any("15 USD/Mtok-h" in f for f in figures)
    assert any(": 5 USD/Mtok-h" in f for f in figures)
    fast = {f.implied: f.low for f in got.findings if f.figure.startswith("fast mode")}
    assert fast["slow batch over fast batch"] == pytest.approx(15.0)
    assert fast["cache share of the slow step"] == pytest.approx(0.643, abs=1e-3)
    assert fast["largest speed-up at any price"] == pytest.approx(2.8)


def test_the_text_says_when_a_price_is_not_a_cost():
    level = decode("openai/gpt-5.5-pro", on=NOV, draws=20_000)
    assert any("times the cost of any plausible hardware" in f for f in level.flags)
    flat = decode("fireworks/llama-v3p1-8b-instruct", on=NOV, draws=20_000)
    assert any("tariff class" in f for f in flat.flags)
    assert any("the ratio says nothing" in f for f in flat.flags)


def test_refusals():
    with pytest.raises(UnknownNameError):
        decode("gpt-99", on=NOV)
    with pytest.raises(InputError, match="choose one"):
        decode("Llama-3.3-70B-Instruct", on=NOV)
    with pytest.raises(InputError, match="draws must be from"):
        decode("openai/gpt-6.1-sol", on=NOV, draws=1)
    with pytest.raises(InputError, match="--fast-speed must be above 1"):
        decode("openai/gpt-6.1-sol", on=NOV, fast_speed=0.5, fast_price=2.0, draws=2000)


def test_coverage_on_public_architectures():
    """At least 80 % of the true sizes and caches lie in the 10-90 % bands, which are no prior
    for the size; for the cache the sheet adds little, and the report shows both widths.
    """  # noqa: D205 - one sentence
    found = cases(on=NOV, draws=5000)
    assert len(found) == sum(map(len, price_models().values())) == 298
    total = coverage(found)[0]
    assert total.active_coverage >= 0.8
    assert total.kv_coverage >= 0.8
    assert total.active_decades < 0.7 * total.active_prior_decades
    assert total.kv_decades < 2.0
    assert all(c.why for c in found if not (c.holds_active and c.holds_kv))
