"""Which price is in force, and what a request costs under it."""

import datetime as dt

import pytest

from ridgeline.economics.price_list import (
    PriceRow,
    Window,
    at_hour,
    bill,
    bracket,
    changes_after,
    date_flags,
    in_force,
    overlap,
)
from ridgeline.errors import InputError


def row(**changes: object) -> PriceRow:
    fields: dict[str, object] = {
        "provider": "p",
        "model": "m",
        "list_name": "l",
        "input_usd_per_mtok": 1.0,
        "output_usd_per_mtok": 4.0,
        "source": "s",
        "as_of": dt.date(2026, 11, 30),
    }
    return PriceRow(**{**fields, **changes})  # type: ignore[arg-type]


def test_a_later_start_ends_the_earlier_price():
    old, new = row(), row(starts=dt.date(2026, 12, 1), input_usd_per_mtok=2.0)
    assert in_force([old, new], dt.date(2026, 11, 30)) == (old,)
    assert in_force([old, new], dt.date(2026, 12, 1)) == (new,)
    assert changes_after([old, new], dt.date(2026, 11, 30)) == (new,)
    assert overlap([old, new]) is None


def test_withdrawn_prices_do_not_hold():
    assert in_force([row(ends=dt.date(2026, 1, 1))], dt.date(2026, 1, 1)) == ()


def test_overlap_is_found():
    open_ended, same = row(), row(input_usd_per_mtok=3.0)
    assert overlap([open_ended, same]) is not None
    stated = row(ends=dt.date(2026, 6, 1))
    assert overlap([stated, row(starts=dt.date(2026, 5, 1))]) is not None
    assert overlap([stated, row(starts=dt.date(2026, 6, 1))]) is None


def test_hours_win_over_the_base():
    """Wednesday 2026-11-25 02:00 lies in 01:00-04:00 on working days, Saturday does not."""
    peak = row(
        windows=(Window(start_minute=60, end_minute=240, weekdays=(1, 2, 3, 4, 5)),),
        input_usd_per_mtok=2.0,
    )
    at = dt.datetime(2026, 11, 25, 2, tzinfo=dt.UTC)
    for order in ([row(), peak], [peak, row()]):
        assert at_hour(order, at) == (peak,)
        assert at_hour(order, at.replace(hour=4)) == (row(),)
        assert at_hour(order, at + dt.timedelta(days=3)) == (row(),)


def test_long_prompts_are_repriced_as_a_whole():
    """200,000 tokens at 2 USD are 0.40 USD; one more token makes all of them 4 USD: 0.800004."""
    low = row(input_usd_per_mtok=2.0, output_usd_per_mtok=12.0)
    high = row(input_usd_per_mtok=4.0, output_usd_per_mtok=18.0, above_tokens=200_000)
    at = bracket([low, high], prompt_tokens=200_000)
    over = bracket([low, high], prompt_tokens=200_001)
    assert bill(at, input_tokens=200_000, output_tokens=0).total_usd == pytest.approx(0.40)
    assert bill(over, input_tokens=200_001, output_tokens=0).total_usd == pytest.approx(0.800004)


def test_bill_by_pencil():
    """6 fresh at 1, 3 cached at 0.1, 1 written at 1.25, 2 out at 4: 6 + 0.3 + 1.25 + 8 = 15.55."""
    r = row(cache_read_usd_per_mtok=0.1, cache_write_usd_per_mtok=(("5m", 1.25), ("1h", 2.0)))
    got = bill(
        r,
        input_tokens=10e6,
        cached_tokens=3e6,
        written_tokens=1e6,
        output_tokens=2e6,
        ttl="5m",
    )
    assert got.total_usd == pytest.approx(15.55)
    with pytest.raises(InputError, match="prices cache writes for 5m, 1h"):
        bill(r, input_tokens=2, output_tokens=0, written_tokens=1)


def test_nothing_is_silent():
    got = bill(row(), input_tokens=1e6, cached_tokens=1e6, output_tokens=0)
    assert got.total_usd == pytest.approx(1.0)
    assert "lists no cache-read price" in got.flags[0]
    with pytest.raises(InputError, match="may not exceed"):
        bill(row(), input_tokens=1, cached_tokens=2, output_tokens=0)
    with pytest.raises(InputError, match="No price is in force"):
        bracket([], prompt_tokens=1)


@pytest.mark.parametrize(
    ("starts", "on", "words"),
    [
        (None, dt.date(2026, 11, 29), "does not say since when its price holds"),
        (None, dt.date(2026, 11, 30), None),
        (None, dt.date(2026, 12, 31), None),  # 31 days after the list was read
        (None, dt.date(2027, 1, 1), "changes between then and 2027-01-01 are not known"),
        (dt.date(2025, 1, 1), dt.date(2026, 1, 1), None),
        (dt.date(2027, 1, 1), dt.date(2027, 6, 1), "changes between then and 2027-06-01"),
    ],
)
def test_days_on_which_nobody_read_the_list_are_flagged(starts, on, words):
    flags = date_flags([row(starts=starts), row(starts=starts, model="n")], on)
    assert len(flags) == (words is not None)
    assert all(words in flag and "(2 rows)" in flag for flag in flags)
