"""Price files: the built-in ones load, bad ones are refused with file, entry and rule."""

import contextlib
import copy
import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeline.catalog.prices import builtin_prices, load_price_file, price_rows, provider_kinds
from ridgeline.errors import InputError

GOOD = {
    "provider": "acme",
    "kind": "host",
    "currency": "USD",
    "unit": "USD/Mtok",
    "lists": {"own": {"source": "https://acme.example/prices", "date": "2026-11-30"}},
    "rows": [
        {"model": "m", "list": "own", "input": 1.0, "output": 4.0, "cache_write": {"5m": 1.25}},
        {"model": "m", "list": "own", "from": "2027-01-01", "input": 2, "output": 8},
    ],
}


def test_builtin_lists_load():
    """2,629 rows of 23 providers; every row has a source and a date."""
    rows = builtin_prices()
    assert len(rows) == 2629
    assert len(provider_kinds()) == len({r.provider for r in rows}) == 23
    assert all(r.source and r.as_of == dt.date(2026, 11, 30) for r in rows)


def test_units_are_converted():
    file = copy.deepcopy(GOOD)
    file["unit"] = "USD/token"
    file["rows"] = [{"model": "m", "list": "own", "input": 1e-6, "output": 4e-6}]
    (row,) = price_rows(file, where="f.yaml")
    assert row.input_usd_per_mtok == pytest.approx(1.0)
    assert row.output_usd_per_mtok == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"currency": None}, "currency must be USD"),
        ({"currency": "EUR"}, "currency must be USD: 'EUR'"),
        ({"unit": "USD/page"}, "unit must be one of USD/Mtok"),
        ({"lists": {}}, "list must be one of none"),
        ({"rows": []}, "rows must be a list with at least one price"),
        ({"colour": 1}, "unknown key 'colour'"),
        ({"rows.input": -1}, r"f.yaml: rows\[0\] \(m\).input must not be negative: -1"),
        ({"rows.input": "x"}, "input must be a number"),
        ({"rows.input": float("nan")}, "input must be a number"),
        ({"rows.input": True}, "input must be a number"),
        ({"rows.input": None}, "input is missing"),
        ({"rows.input": 1e9}, "Check the unit"),
        ({"rows.tier": "gold"}, "tier must be one of"),
        ({"rows.from": "2026-13-01"}, "must be a date"),
        ({"rows.until": "2027-02-01"}, "overlap in dates"),
        ({"rows.from": "2027-01-01"}, "overlap in dates"),
        ({"rows.from": "2027-01-01", "rows.until": "2026-01-01"}, "until must be after from"),
        ({"rows.above": -5}, "above must be a whole number"),
        ({"rows.cache_write": {"soon": 1}}, "a lifetime is written"),
        ({"rows.hours": [{"utc": "25:00-26:00"}]}, "utc must be HH:MM-HH:MM"),
        ({"rows.hours": [{"utc": "10:00-09:00"}]}, "must end after it starts"),
        ({"rows.hours": [{"utc": "01:00-02:00", "weekdays": [8]}]}, "weekdays are 1"),
    ],
)
def test_bad_files_are_refused(change, rule):
    file = copy.deepcopy(GOOD)
    for key, value in change.items():
        if key.startswith("rows."):
            file["rows"][0][key[5:]] = value
        else:
            file[key] = value
    with pytest.raises(InputError, match=rule):
        price_rows(file, where="f.yaml")


def test_missing_currency_is_named():
    file = {k: v for k, v in GOOD.items() if k != "currency"}
    with pytest.raises(InputError, match=r"f.yaml: currency is missing. Write `currency: USD`"):
        price_rows(file, where="f.yaml")


@pytest.mark.parametrize("data", [None, 3, [], "x", {1: 2}, {"provider": "a"}])
def test_anything_else_is_refused(data):
    with pytest.raises(InputError):
        price_rows(data, where="f.yaml")


def test_files(tmp_path: Path):
    with pytest.raises(InputError, match="No price file"):
        load_price_file(tmp_path / "none.yaml")
    bad = tmp_path / "bad.json"
    bad.write_text("[" * 100_000)
    with pytest.raises(InputError, match="not readable"):
        load_price_file(bad)
    good = tmp_path / "good.yaml"
    good.write_text(
        "provider: a\ncurrency: USD\nunit: USD/Mtok\n"
        "lists: {own: {source: x, date: 2026-11-30}}\n"
        "rows:\n  - {model: m, list: own, input: 1, output: 2, from: 2026-01-01}\n"
    )
    assert load_price_file(good)[0].starts == dt.date(2026, 1, 1)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=5), x, max_size=3),
    max_leaves=6,
)


@given(
    st.sampled_from([*GOOD, *(f"rows.{k}" for k in (
        "model", "list", "tier", "above", "hours", "from", "until", "input", "output",
        "cache_read", "cache_write", "reasoning", "max_input", "url", "note",
    ))]),
    JSON,
)  # fmt: skip
def test_any_value_anywhere_is_read_or_refused(key: str, value: object):
    """Nothing but an InputError comes out of a hostile file."""
    file = copy.deepcopy(GOOD)
    if key.startswith("rows."):
        file["rows"][0][key[5:]] = value
    else:
        file[key] = value
    with contextlib.suppress(InputError):
        price_rows(file, where="f.yaml")
