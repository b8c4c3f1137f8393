"""A figure of the catalogue: `{value: 3.35 TB/s, source: key, kind: datasheet, note: ...}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from ridgeline.errors import InputError
from ridgeline.units import parse_quantity

Entry = Mapping[str, Any]
"""One catalogue entry, as in its YAML file."""

UNITS: dict[str, tuple[str, float]] = {
    "peak_flop_per_s": ("FLOP/s", 1e21),
    "capacity": ("B", 1e18),
    "bandwidth": ("B/s", 1e19),
    "cache": ("B", 1e15),
    "tdp": ("W", 1e7),
    "latency": ("s", 1.0),
    "pcie": ("B/s", 1e15),
    "chip_to_chip": ("B/s", 1e15),
    "usd_per_device_hour": ("USD/h", 1e5),
}
"""Unit family and the largest sensible value of each figure, by field name."""


def quantity(figure: Any, field: str, *, what: str) -> float:
    """Return the value of a figure in SI units.

    Raises:
        InputError: the value is unknown (null), of another unit, not positive, or enormous.
    """
    value = cast("Entry", figure).get("value") if isinstance(figure, Mapping) else None
    if value is None:
        raise InputError(f"{what} is not known: the catalogue has no value. Give one of your own.")
    unit, limit = UNITS[field]
    number = parse_quantity(cast("str", value), unit, what=what)
    if not 0 < number <= limit:
        raise InputError(f"{what} must be above 0 and at most {limit:g} {unit}: {value!r}.")
    return number


def known_quantity(figure: Any, field: str, *, what: str) -> float | None:
    """Return the value of a figure in SI units, None where there is none."""
    if not isinstance(figure, Mapping) or cast("Entry", figure).get("value") is None:
        return None
    return quantity(figure, field, what=what)


def figures(entry: Entry, path: str = "") -> Iterator[tuple[str, Entry]]:
    """Yield (field path, figure) of every figure of an entry, in file order."""
    for key, item in entry.items():
        where = f"{path}.{key}" if path else key
        items: list[Any] = cast("list[Any]", item) if isinstance(item, list) else [item]
        for i, each in enumerate(items):
            if not isinstance(each, Mapping):
                continue
            nested = cast("Entry", each)
            at = f"{where}[{i}]" if isinstance(item, list) else where
            if "value" in nested and "source" in nested:
                yield at, nested
            else:
                yield from figures(nested, at)
