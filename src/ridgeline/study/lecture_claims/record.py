"""A claim, the checks behind it, and how a verdict follows from stated and computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

Verdict = Literal["agrees", "rounds", "depends on an assumption", "slip on air", "statement"]

UNITS: dict[str, float] = {
    "": 1.0, "x": 1.0, "%": 0.01, "s": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0,
    "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "B/tok": 1.0, "kB/tok": 1e3,
    "MB/tok": 1e6, "GB/tok": 1e9, "TB/s": 1e12,
    "FLOP": 1.0, "FLOP/B": 1.0, "FLOP/tok": 1.0, "GFLOP/tok": 1e9,
    "seq": 1.0, "tok": 1.0, "ktok": 1e3, "Mtok": 1e6, "Ttok": 1e12, "tok/s": 1.0,
    "Mtok/s": 1e6, "1/s": 1.0, "param": 1.0, "Gparam": 1e9, "Tparam": 1e12,
    "USD/Mtok": 1e-6, "USD/Mtok/h": 1e-6 / 3600.0,
}  # fmt: skip
"""Unit in print to SI."""

SPOKEN = 0.10
"""A number said aloud may be off by this much and still be called rounded."""
ABOUT = 0.25
"""The same when it was said with an `about`."""
ORDER = math.sqrt(10.0)
"""Factor within which an order of magnitude is right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One stated value and the chalkboard call that must give it."""

    label: str
    stated: str
    """As written: `2400`, `2.4e3`, `~20`, `order 1000` or `3..5`."""
    unit: str
    function: Callable[..., Any]
    given: dict[str, Any]
    """Arguments of the function, SI."""

    def computed(self) -> float:
        """Return the chalkboard's value in `unit`."""
        return float(self.function(**self.given)) / UNITS[self.unit]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One row of the lecture: what is said, in our words, and the checks behind it."""

    id: str
    chapter: int
    says: str
    checks: tuple[Check, ...]
    assumption: str
    """Which choice the answer hangs on; named, it decides the verdict of a correct row."""
    note: str
    reason: str
    """Why nothing can be computed; only where there are no checks."""


def check(label: str, stated: str, function: Callable[..., Any], **given: Any) -> Check:
    """Return a check from "14.4 ms"; the unit follows the last blank."""
    number, _, unit = stated.rpartition(" ")
    if unit not in UNITS or not number:
        number, unit = stated, ""
    return Check(label=label, stated=number, unit=unit, function=function, given=given)


def claim(
    name: str,
    says: str,
    *checks: Check,
    chapter: int = 0,
    assumes: str = "",
    note: str = "",
    reason: str = "",
) -> Claim:
    """Return a claim; its chapter is in the id, and cards and problems name it."""
    return Claim(
        id=name,
        chapter=chapter or int(name[1]),
        says=says,
        checks=checks,
        assumption=assumes,
        note=note,
        reason=reason,
    )


def stated_bounds(stated: str) -> tuple[float, float]:
    """Return the range that a stated number covers by the digits it is written with.

    >>> stated_bounds("2.4e3"), stated_bounds("3..5")
    ((2350.0, 2450.0), (3.0, 5.0))
    """
    if ".." in stated:
        low, high = stated.split("..")
        return float(low), float(high)
    number = Decimal(stated.removeprefix("order ").removeprefix("~"))
    exponent = number.as_tuple().exponent
    if number == 0 or not isinstance(exponent, int):
        return float(number), float(number)
    half = Decimal((0, (5,), exponent - 1))
    return float(number - half), float(number + half)


def stated_value(stated: str) -> float | list[float]:
    """Return what is stated as a number, or as its two ends."""
    low, high = stated_bounds(stated)
    if ".." in stated:
        return [low, high]
    return float(stated.removeprefix("order ").removeprefix("~"))


def verdict(stated: str, computed: float) -> Verdict:
    """Return whether a computed value agrees with, rounds to, or contradicts what is stated."""
    low, high = stated_bounds(stated)
    slack = 1e-9 * max(abs(low), abs(high))
    if low - slack <= computed <= high + slack:
        return "agrees"
    if math.isnan(computed) or low * computed <= 0:
        return "slip on air"
    off = max(low / computed, computed / high)
    limit = ORDER if stated.startswith("order ") else 1 + (ABOUT if "~" in stated else SPOKEN)
    return "rounds" if off <= limit else "slip on air"


def overall(claim: Claim, verdicts: list[Verdict]) -> Verdict:
    """Return the verdict of a claim: its worst check, then any assumption it hangs on."""
    if not verdicts:
        return "statement"
    if "slip on air" in verdicts:
        return "slip on air"
    if claim.assumption:
        return "depends on an assumption"
    return "rounds" if "rounds" in verdicts else "agrees"
