"""A claim of the lecture with other inputs, and answers to its questions marked."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ridgeline.errors import InputError, UnknownNameError
from ridgeline.study.lecture import Value, all_claims
from ridgeline.study.lecture_claims.record import SPOKEN, UNITS, Claim, stated_bounds, verdict
from ridgeline.units import parse_quantity

Mark = Literal["right", "close", "wrong", "wrong unit"]
RIGHT = 0.02
"""An answer within this share of the computed value is right; within SPOKEN it is close."""
DIMENSIONS: dict[str, tuple[str, ...]] = {
    "a number": ("", "x", "%"),
    "time": ("s", "ms", "min", "h"),
    "bytes": ("B", "kB", "MB", "GB", "TB"),
    "bytes per token": ("B/tok", "kB/tok", "MB/tok", "GB/tok"),
    "bandwidth": ("TB/s",),
    "work": ("FLOP",),
    "work per byte": ("FLOP/B",),
    "work per token": ("FLOP/tok", "GFLOP/tok"),
    "sequences": ("seq",),
    "tokens": ("tok", "ktok", "Mtok", "Ttok"),
    "tokens per second": ("tok/s", "Mtok/s"),
    "a rate": ("1/s",),
    "parameters": ("param", "Gparam", "Tparam"),
    "price": ("USD/Mtok",),
    "price of holding": ("USD/Mtok/h",),
}
"""Dimension to the units in print that have it."""
_OF_UNIT = {unit: name for name, units in DIMENSIONS.items() for unit in units}
_COUNTS = ("sequences", "tokens", "parameters")
"""Asked for as bare numbers too."""
_FAMILIES = {"s": "time", "B": "bytes", "B/s": "bandwidth"}
_WORDS = {
    "token": "tok", "tokens": "tok", "sequences": "seq", "sequence": "seq", "bytes": "B",
    "byte": "B", "seconds": "s", "second": "s", "parameters": "param", "params": "param",
    "$/Mtok": "USD/Mtok", "B/token": "B/tok", "kB/token": "kB/tok", "tokens/s": "tok/s",
    "FLOP/byte": "FLOP/B", "times": "x",
}  # fmt: skip
_ANSWER = re.compile(r"^\s*([+-]?[\d.,_]*\d[\d.,_]*(?:[eE][+-]?\d{1,3})?)\s*(.*?)\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recomputed:
    """One value of a claim at other inputs."""

    claim: Claim
    index: int
    value: Value
    changed: tuple[str, ...]
    """Inputs that differ from the lecture's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """An answer beside the computed value."""

    claim: Claim
    index: int
    value: Value
    mark: Mark
    given: float | None
    """In the unit of the value; None for a wrong unit."""
    why: str


def recompute(name: str, index: int = 0, inputs: Mapping[str, float] | None = None) -> Recomputed:
    """Return a value of a claim with some of its inputs replaced [unit of the value].

    Raises:
        UnknownNameError: no such claim.
        InputError: no such value or input, or no finite result.
    """
    claim, check = _check(name, index)
    given = dict(check.given)
    for key, number in (inputs or {}).items():
        given[key] = _input(key, number, check.given)
    edited = replace(check, given=given)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # of a mean over nothing
            computed = edited.computed()
    except (ArithmeticError, ValueError, TypeError, IndexError, RuntimeWarning) as error:
        raise InputError(f"{claim.id} has no value at these inputs: {error}.") from None
    if not math.isfinite(computed):
        raise InputError(f"{claim.id} has no finite value at these inputs: {computed}.")
    return Recomputed(
        claim=claim,
        index=index,
        value=Value(check=edited, computed=computed, verdict=verdict(check.stated, computed)),
        changed=tuple(k for k, v in given.items() if v != check.given[k]),
    )


def mark_answer(name: str, index: int, answer: str) -> Marked:
    """Return whether an answer with its unit is right.

    Right: within 2 % of the computed value, or what a true claim states. Close: within 10 %.

    Raises:
        UnknownNameError: no such claim.
        InputError: no such value, or no number.
    """
    claim, check = _check(name, index)
    value = recompute(name, index).value
    number, dimension = _parsed(answer)
    asked = _OF_UNIT[check.unit]
    bare = dimension == "a number" and answer.strip()[-1:].isdigit()
    if dimension != asked and not (bare and asked in _COUNTS):
        units = ", ".join(u for u in DIMENSIONS[asked] if u) or "no unit"
        said = "a bare number" if bare else dimension or "an unknown unit"
        why = f"The answer is {asked} ({units}); {answer.strip()[:40]!r} is {said}."
        return Marked(claim=claim, index=index, value=value, mark="wrong unit", given=None, why=why)
    given = number / UNITS[check.unit]
    return Marked(
        claim=claim, index=index, value=value, mark=_mark(given, value), given=given, why=""
    )


def _mark(given: float, value: Value) -> Mark:
    low, high = stated_bounds(value.check.stated)
    if value.verdict == "agrees" and low <= given <= high:
        return "right"
    off = abs(given - value.computed)
    if off <= RIGHT * abs(value.computed):
        return "right"
    return "close" if off <= SPOKEN * abs(value.computed) else "wrong"


def _parsed(answer: str) -> tuple[float, str]:
    """Return a number in SI and its dimension; an unknown unit has the dimension ''."""
    match = _ANSWER.match(answer)
    if match is None:
        raise InputError(f"The answer must be a number with its unit, such as 20 ms: {answer!r}.")
    number = parse_quantity(match[1], "1", what="answer")
    unit = _WORDS.get(match[2], match[2])
    if unit in UNITS:
        return number * UNITS[unit], _OF_UNIT[unit]
    for family, dimension in _FAMILIES.items():
        try:
            return parse_quantity(f"{match[1]} {unit}", family), dimension
        except InputError:
            continue
    return number, ""


def _check(name: str, index: int) -> tuple[Claim, Any]:
    claims = {claim.id: claim for claim in all_claims()}
    claim = claims.get(name.strip().upper())
    if claim is None:
        raise UnknownNameError("claim", name, claims, list_command="ridgeline lecture")
    if not 0 <= index < len(claim.checks):
        raise InputError(f"{claim.id} has {len(claim.checks)} values, counted from 0: {index}.")
    return claim, claim.checks[index]


def _input(key: str, number: float, given: Mapping[str, Any]) -> Any:
    """Return a replaced input in the type of the original.

    Whole numbers are counts of layers, rounds or bits that are looped over: at most twice.
    """
    old = given.get(key)
    if not isinstance(old, int | float):
        names = ", ".join(k for k, v in given.items() if isinstance(v, int | float))
        raise InputError(f"inputs can be {names}: {key[:60]!r}.")
    if isinstance(old, bool):
        return bool(number)
    if not math.isfinite(number):
        raise InputError(f"{key} must be finite: {number}.")
    if isinstance(old, float):
        return float(number)
    most = max(2 * old, 8)
    if number != int(number) or not 0 <= number <= most:
        raise InputError(f"{key} must be a whole number from 0 to {most}: {number:g}.")
    return int(number)
