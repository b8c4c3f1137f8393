"""Text to SI and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeline.errors import InputError
from ridgeline.units import human, parse_quantity, parse_sweep, parse_tokens, significant


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("3.35 TB/s", "B/s", 3.35e12),
        ("80 GiB", "B", 80 * 2**30),
        ("400 Gb/s", "B/s", 50e9),
        ("989.4 TFLOP/s", "FLOP/s", 989.4e12),
        ("5m", "s", 300.0),
        ("24h", "s", 86400.0),
        ("15 %", "1", 0.15),
        ("1_000 W", "W", 1000.0),
    ],
)
def test_quantities_become_si(text, unit, value):
    """Decimal prefixes are decimal, binary ones binary, bits are an eighth of a byte."""
    assert parse_quantity(text, unit) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("text", ["", "fast", "3 TB", "nan B/s", "1e999 B/s", "3 TB/s extra"])
def test_quantities_of_another_kind_are_refused(text):
    """A number of another unit family, or no number, is an error that lists the units."""
    with pytest.raises(InputError):
        parse_quantity(text, "B/s")


def test_token_counts_are_binary():
    """128k of a model card is 131,072 tokens."""
    assert parse_tokens("128k") == 131_072
    assert parse_tokens("1M") == 1_048_576
    for bad in ["-1", "1.5", "nan", "1e400", "", "12q", "1e15M"]:
        with pytest.raises(InputError):
            parse_tokens(bad)


def test_sweeps():
    """Powers of two with the end included, steps, lists; never zero, never endless."""
    assert parse_sweep("1:8") == (1, 2, 4, 8)
    assert parse_sweep("1:10") == (1, 2, 4, 8, 10)
    assert parse_sweep("1:10:4") == (1, 5, 9)
    assert parse_sweep("1,8,64,8") == (1, 8, 64)
    for bad in ["0", "8:1", "1:2:3:4", "1:1M:1", "1:4:0", ",", "a:b"]:
        with pytest.raises(InputError):
            parse_sweep(bad)


@given(st.floats(min_value=1e-30, max_value=1e30))
def test_three_digits_are_within_half_a_percent(value):
    """Printing keeps three significant digits: at most 0.5 % off."""
    printed = float(significant(value).replace(",", ""))
    assert printed == pytest.approx(value, rel=0.0051)


def test_human_chooses_a_prefix_that_survives_rounding():
    """999.6 GB/s is 1.00 TB/s, not 1,000 GB/s."""
    assert human(999.6e9, "B/s") == "1.00 TB/s"
    assert human(5.2e-3, "s") == "5.20 ms"
    assert human(float("inf"), "s") == "inf s"
