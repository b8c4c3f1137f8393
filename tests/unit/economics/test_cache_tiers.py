"""Tiers: hold, retrieve, envelope, break-even."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeline.economics.cache_tiers import (
    StorageTier,
    hold_cost,
    hold_price_per_mtok_hour,
    hold_usd_per_byte_s,
    lower_envelope,
    recompute_break_even_s,
    wear_usd_per_byte,
)


def tier(**changes: float) -> StorageTier:
    fields: dict[str, object] = {
        "id": "x",
        "name": "x",
        "capacity_bytes": 100e9,
        "read_bytes_per_s": 10e9,
        "write_bytes_per_s": 5e9,
        "hold_usd_per_byte_s": 1e-15,
        "unit_usd_per_s": 1e-4,
    }
    return StorageTier(**{**fields, **changes})  # type: ignore[arg-type]


def test_hold_cost_by_pencil():
    """10 GB: read 1 s, write 2 s. Unit 3 s·1e-4 = 3e-4; stall (1 + 0.5) s·1e-3 = 1.5e-3;
    wear 10e9·1e-14 = 1e-4: fixed 1.9e-3 USD. Room 10e9·1e-15 = 1e-5 USD/s.
    """  # noqa: D205 - the arithmetic reads best in one block
    line = hold_cost(
        tier(latency_s=0.5, wear_usd_per_byte=1e-14),
        cache_bytes=10e9,
        accelerator_usd_per_s=1e-3,
    )
    assert line.fixed_usd == pytest.approx(1.9e-3)
    assert line.per_second_usd == pytest.approx(1e-5)
    assert line.usd(100.0) == pytest.approx(2.9e-3)
    assert line.retrieve_s == pytest.approx(1.5)


def test_own_memory_retrieves_for_nothing():
    line = hold_cost(tier(stall_share=0.0), cache_bytes=1e9, accelerator_usd_per_s=1.0)
    assert line.fixed_usd == 0.0


def test_hold_equals_retrieve_at_drain_time():
    """C6-F14: with unit USD/s = C·h, the room of T = C/W costs as much as one read."""
    h = 1e-15
    t = tier(write_bytes_per_s=1e30, unit_usd_per_s=100e9 * h)
    line = hold_cost(t, cache_bytes=1e9, accelerator_usd_per_s=0.0)
    assert t.drain_s == pytest.approx(10.0)
    assert line.per_second_usd * t.drain_s == pytest.approx(line.fixed_usd)


@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 10)), min_size=1, max_size=8),
    st.floats(0, 1e4),
)
def test_envelope_is_never_above_a_line(lines: list[tuple[float, float]], hold: float):
    named = [(str(i), a, b) for i, (a, b) in enumerate(lines)]
    pieces = lower_envelope(named)
    assert pieces[0].from_s == 0
    assert pieces[-1].until_s == float("inf")
    for left, right in itertools.pairwise(pieces):
        assert left.until_s == right.from_s
    piece = next(p for p in pieces if p.from_s <= hold < p.until_s)
    _, a, b = named[int(piece.choice)]
    best = min(a + b * hold for _, a, b in named)
    assert a + b * hold == pytest.approx(best, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("kv", "usd"), [(2e3, 0.021), (35e3, 0.37), (70e3, 0.73), (328e3, 3.41)])
def test_hbm_hold_cost(kv: float, usd: float):
    """C6-N13, 2 USD/h over 192 GB."""
    h = 2.0 / 3600 / 192e9
    got = hold_price_per_mtok_hour(kv_bytes_per_token=kv, hold_usd_per_byte_s=h)
    assert got == pytest.approx(usd, rel=0.02)


def test_hbm_against_recompute():
    """C6-N14: 100e9 active, 5 PF at 50 %, 35 kB per token, 192 GB: 80e-6 s·192e9/35e3 = 439 s."""
    per_second = 2.0 / 3600
    t = tier(stall_share=0.0, hold_usd_per_byte_s=per_second / 192e9)
    line = hold_cost(t, cache_bytes=35e3, accelerator_usd_per_s=per_second)
    recompute = 2 * 100e9 / (5e15 * 0.5) * per_second
    got = recompute_break_even_s(recompute_usd=recompute, line=line)
    assert got == pytest.approx(439, rel=0.01)


def test_room_and_wear():
    """15 USD/GB over 4 years: 15e-9/(4·31,557,600) = 1.188e-16 USD/(B·s).

    0.2 USD/GB at 1 write per day for 5 years: 0.2e-9/1826.25 = 1.095e-13 USD/B.
    """
    h = hold_usd_per_byte_s(capex_usd_per_byte=15e-9, life_years=4.0)
    assert h == pytest.approx(1.188e-16, rel=1e-3)
    wear = wear_usd_per_byte(capex_usd_per_byte=0.2e-9, drive_writes_per_day=1, warranty_years=5)
    assert wear == pytest.approx(1.095e-13, rel=1e-3)
