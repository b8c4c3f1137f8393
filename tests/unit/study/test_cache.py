"""Cache tiers: envelope, recompute, drain times, overrides, published measurements."""

import datetime as dt
from pathlib import Path

import pytest

from ridgeline.errors import InputError, UnknownNameError
from ridgeline.report.cache import cache_json, cache_text, plot_cache
from ridgeline.study.cache import cache
from ridgeline.study.cache_check import cache_checks, deepseek_hit_bandwidth

MODEL, ON = "llama-3.3-70b-instruct", "hgx-h100-8"


@pytest.fixture(scope="module")
def answer():
    return cache(
        MODEL, on=ON, provider_price="anthropic/claude-opus-4-6", price_date=dt.date(2026, 11, 30)
    )


def test_size_and_tiers(answer):
    """80 layers · 2 · 8 heads · 128 · 2 B = 327,680 B per token; 32,768 of them 10.74 GB."""
    assert answer.cache_bytes == 327_680 * 32_768
    drains = {r.tier.id: r.tier.drain_s for r in answer.rows}
    assert drains["hbm"] == pytest.approx(80e9 / 3.35e12)
    assert drains["host-ddr5"] == pytest.approx(5.12)
    assert "grace-gh200" not in drains


def test_the_hold_answer_is_the_cheapest_line(answer):
    for hold in answer.holds:
        usd = [float(r.line.usd(hold.hold_s)) for r in answer.rows]
        assert hold.best_tier_usd == pytest.approx(min(usd))
        assert hold.usd == pytest.approx(min(*usd, answer.recompute_usd))
    assert answer.envelope[0].choice == "hbm"
    assert answer.envelope[-1].choice == "recompute"
    kept = {p.choice for p in answer.tier_envelope}
    assert {r.tier.id for r in answer.rows if not r.dominated} == kept


def test_hbm_against_recompute_follows_the_lecture(answer):
    """C6-F15: T = t_recompute·C·n / bytes, t in seconds of the whole replica; the rent cancels."""
    row = next(r for r in answer.rows if r.tier.id == "hbm")
    busy_s = answer.recompute_usd / (8 * answer.request["usd_per_device_hour"] / 3600)
    expected = busy_s * 8 * 80e9 / answer.cache_bytes
    assert busy_s <= answer.recompute_s * (1 + 1e-9)
    assert row.break_even_s == pytest.approx(expected)


def test_ttl_prices(answer):
    """C6-N11, N12: 15 and 5 USD/Mtok-h; 0.28 and 1.11 reads."""
    by_ttl = {t.ttl: t for t in answer.ttls}
    assert by_ttl["5m"].usd_per_mtok_hour == pytest.approx(15.0)
    assert by_ttl["1h"].usd_per_mtok_hour == pytest.approx(5.0)
    assert by_ttl["5m"].break_even_reads == pytest.approx(0.278, abs=1e-3)
    assert by_ttl["1h"].break_even_reads == pytest.approx(1.111, abs=1e-3)


def test_a_dearer_tier_is_held_for_less_time(answer):
    dear = cache(MODEL, on=ON, usd_per_gb={"host-ddr5": 36.0})
    base, more = (
        next(r for r in a.rows if r.tier.id == "host-ddr5").break_even_s for a in (answer, dear)
    )
    assert more < base


def test_hidden_loads_cost_less():
    waits, hidden = (cache(MODEL, on=ON, stall=s) for s in (1.0, 0.0))
    for a, b in zip(waits.rows, hidden.rows, strict=True):
        assert float(b.line.fixed_usd) <= float(a.line.fixed_usd)
        assert float(b.line.retrieve_s) == float(a.line.retrieve_s)


def test_faces(answer, tmp_path: Path):
    text = cache_text(answer)
    assert max(map(len, text.splitlines())) <= 100
    assert "Cheapest over hold time: hbm, host-ddr5 from" in text
    assert cache_json(answer)["envelope"][-1]["until_s"] is None
    plot_cache(answer, tmp_path / "c.png")
    assert (tmp_path / "c.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        ({"context": "0"}, "at least 1 token"),
        ({"hold": "5 parsecs"}, "hold must be a number"),
        ({"stall": 2.0}, "stall must be from 0"),
        ({"only": ["tape"]}, "No tier 'tape'"),
        ({"usd_per_gb": {"host-ddr5": -1.0}}, "must be above 0 USD/GB"),
    ],
)
def test_refusals(question, rule):
    with pytest.raises(InputError, match=rule):
        cache(MODEL, on=ON, **question)
    with pytest.raises(UnknownNameError):
        cache(MODEL, on=ON, usd_per_gb={"tape": 1.0})


def test_published_measurements():
    """Links predict six of seven published figures within 40 %; the worst is stated."""
    errors = {c.system: c.error for c in cache_checks()}
    assert len(errors) == 7
    assert sum(abs(e) < 0.4 for e in errors.values()) == 6
    assert max(errors.values()) == pytest.approx(0.937, abs=0.01)
    low, high = deepseek_hit_bandwidth()
    assert high == pytest.approx(2 * low)
    # 342e9 tokens · 70,272 B / 86,400 s / 226.75 nodes.
    assert high == pytest.approx(342e9 * 70_272 / 86_400 / 226.75, rel=1e-6)
