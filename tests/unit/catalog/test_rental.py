"""The rule that picks a default price."""

from ridgeline.catalog.rental import default_price


def _row(provider, usd, *, market="specialist", terms="on-demand", as_of="2026-03", **more):
    figure = {"value": f"{usd} USD/h", "source": "s", "kind": "datasheet"}
    row = {"provider": provider, "market": market, "terms": terms, "as_of": as_of}
    return {**row, "usd_per_device_hour": figure, **more}


def _price(*rows):
    return default_price({"id": "x", "prices": list(rows)})


def test_median_over_providers_of_their_lowest_price():
    """A: min(4, 2) = 2, B: 3, C: 7; median 3."""
    usd, basis = _price(_row("A", 4), _row("A", 2), _row("B", 3), _row("C", 7))
    assert usd == 3
    assert basis == "on-demand, specialist clouds, median of 3 in 2026: A, B, C"


def test_older_years_other_markets_indices_and_variants_do_not_enter():
    usd, _ = _price(
        _row("A", 2),
        _row("B", 9, as_of="2025-11"),
        _row("C", 9, market="hyperscaler"),
        _row("D", 9, market="index"),
        _row("E", 9, variant="16 GB"),
        _row("F", 0.1, terms="spot"),
    )
    assert usd == 2


def test_the_next_group_is_used_and_named():
    assert _price(_row("AWS", 7, market="hyperscaler"))[1].startswith("on-demand, hyperscalers")
    assert _price(_row("S", 3, market="model", terms="reserved 3 years"))[1].startswith("reserved")


def test_no_price_is_not_zero():
    assert _price(_row("I", 2, market="index")) == (None, "no rental price in the catalogue")
    assert default_price(None)[0] is None
