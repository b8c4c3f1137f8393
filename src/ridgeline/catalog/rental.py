"""Rental prices: dated rows, and the one rule that picks a default from them.

The default of a device is the median over providers of each one's lowest price, among the
rows of the first group that has any: on-demand at specialist clouds, on-demand at other
providers, reserved, ownership cost. Within the group only the newest calendar year counts.
Indices, ranges and rows of another variant of the device never enter.
"""

from __future__ import annotations

import statistics

from ridgeline.catalog.figures import Entry, quantity

GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("on-demand, specialist clouds", "on-demand", ("specialist",)),
    ("on-demand, hyperscalers and marketplaces", "on-demand", ("hyperscaler", "marketplace")),
    ("reserved", "reserved", ("specialist", "hyperscaler", "marketplace", "model")),
    ("cost of ownership", "ownership", ("model",)),
)
"""Label, terms and markets of each group, in order of preference."""


def default_price(entry: Entry | None) -> tuple[float | None, str]:
    """Return the default price [USD/h per device] and one sentence on where it comes from.

    >>> row = {"provider": "A", "market": "specialist", "terms": "on-demand", "as_of": "2026-05"}
    >>> low, high = ({**row, "provider": p, "usd_per_device_hour": {"value": f"{v} USD/h"}}
    ...              for p, v in (("A", 2), ("B", 3)))
    >>> default_price({"id": "x", "prices": [low, high]})[0]
    2.5
    """
    rows: list[Entry] = [] if entry is None else entry["prices"]
    for label, terms, markets in GROUPS:
        group = [r for r in rows if _belongs(r, terms, markets)]
        if group:
            newest = max(str(r["as_of"])[:4] for r in group)
            lowest = _lowest_by_provider([r for r in group if str(r["as_of"])[:4] == newest])
            median = statistics.median(lowest.values())
            names = ", ".join(sorted(lowest))
            return median, f"{label}, median of {len(lowest)} in {newest}: {names}"
    return None, "no rental price in the catalogue"


def _belongs(row: Entry, terms: str, markets: tuple[str, ...]) -> bool:
    same = str(row["terms"]).startswith(terms) and row["market"] in markets
    return same and not row.get("variant")


def _lowest_by_provider(rows: list[Entry]) -> dict[str, float]:
    lowest: dict[str, float] = {}
    for row in rows:
        what = f"price of {row['provider']}"
        usd = quantity(row["usd_per_device_hour"], "usd_per_device_hour", what=what)
        lowest[row["provider"]] = min(usd, lowest.get(row["provider"], usd))
    return lowest
