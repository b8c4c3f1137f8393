"""Text becomes SI at the door, and SI becomes text again on the way out.

Decimal prefixes are decimal (GB = 1e9 B) and binary ones binary (GiB = 2^30 B).
In token counts `k` and `M` are binary, as model cards use them: 128k = 131,072 tokens.
"""

from __future__ import annotations

import math
import re

from ridgeline.errors import InputError

_SCALES = {
    "B": {"B": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15,
          "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40},
    "B/s": {"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12, "PB/s": 1e15,
            "GiB/s": 2.0**30, "TiB/s": 2.0**40, "Gb/s": 1e9 / 8, "Tb/s": 1e12 / 8},
    "FLOP/s": {"FLOP/s": 1.0, "GFLOP/s": 1e9, "TFLOP/s": 1e12, "PFLOP/s": 1e15, "EFLOP/s": 1e18},
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9,
          "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86400.0},
    "W": {"W": 1.0, "kW": 1e3, "MW": 1e6, "GW": 1e9},
    "USD": {"USD": 1.0},
    "USD/h": {"USD/h": 1.0},
    "1": {"": 1.0, "%": 0.01},
}  # fmt: skip
_NUMBER = re.compile(r"^\s*([+-]?(?:\d[\d_,]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*$")
_TOKENS = {"": 1, "k": 1024, "K": 1024, "m": 1024**2, "M": 1024**2}
_MAX_SWEEP = 100_000


def parse_quantity(text: str | float, unit: str, *, what: str = "value") -> float:
    """Return `text` ("3.35 TB/s") in SI units of the family `unit` ("B/s").

    Raises:
        InputError: not a finite number, or a unit of another family.

    >>> parse_quantity("3.35 TB/s", "B/s")
    3350000000000.0
    """
    scales = _SCALES[unit]
    match = _NUMBER.match(str(text))
    suffix = match.group(2) if match else ""
    if match is None or suffix not in scales:
        units = ", ".join(s for s in scales if s)
        raise InputError(
            f"{what} must be a number with one of the units {units}: {str(text)[:80]!r}."
        )
    value = float(match.group(1).replace(",", "").replace("_", "")) * scales[suffix]
    if not math.isfinite(value):
        raise InputError(f"{what} must be finite: {str(text)[:80]!r}.")
    return value


def parse_tokens(text: str, *, what: str = "context") -> int:
    """Return a token or sequence count; `k` and `M` are binary (32k = 32,768).

    >>> parse_tokens("128k")
    131072
    """
    match = _NUMBER.match(text)
    if match is None or match.group(2) not in _TOKENS:
        raise InputError(f"{what} must be a whole number, optionally with k or M: {text[:80]!r}.")
    value = float(match.group(1).replace(",", "").replace("_", "")) * _TOKENS[match.group(2)]
    if value > 2**40:  # inf as well
        raise InputError(f"{what} must be at most 2^40: {text[:80]!r}.")
    if value != int(value) or value < 0:
        raise InputError(f"{what} must be a whole number of at least 0: {text[:80]!r}.")
    return int(value)


def parse_sweep(text: str, *, what: str = "batch", minimum: int = 1) -> tuple[int, ...]:
    """Return the points of a sweep: "1:4096" in powers of two, "1:64:8" in steps, or "1,8,64".

    >>> parse_sweep("1:8")
    (1, 2, 4, 8)
    """
    points: list[int] = []
    for item in text.split(","):
        ends = [parse_tokens(end, what=what) for end in item.split(":")]
        if (
            len(ends) > 3
            or (len(ends) > 1 and ends[0] > ends[1])
            or (len(ends) == 3 and not ends[2])
        ):
            raise InputError(f"{what} ranges are written low:high or low:high:step: {item[:80]!r}.")
        if len(ends) == 1:
            points.append(ends[0])
            continue
        if len(ends) == 3:
            if (ends[1] - ends[0]) // ends[2] > _MAX_SWEEP:
                raise InputError(f"{what} may have at most {_MAX_SWEEP:,} points: {item[:80]!r}.")
            points += range(ends[0], ends[1] + 1, ends[2])
            continue
        value = ends[0]
        while value < ends[1]:
            points.append(value)
            value = max(1, value * 2)
        points.append(ends[1])
    if min(points) < minimum:
        raise InputError(f"{what} must be at least {minimum}: {min(points)}.")
    if len(points) > _MAX_SWEEP:
        raise InputError(f"{what} may have at most {_MAX_SWEEP:,} points: {len(points):,}.")
    return tuple(dict.fromkeys(points))


def significant(value: float, digits: int = 3) -> str:
    """Return `value` with three significant digits and thousands separators, without a unit.

    >>> significant(12345.678), significant(0.012345)
    ('12,300', '0.0123')
    """
    if math.isnan(value):
        return "n/a"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    rounded = round(value, digits - 1 - magnitude)
    magnitude = math.floor(math.log10(abs(rounded)))
    if magnitude >= 15 or magnitude < -4:
        return f"{rounded:.{digits - 1}e}"
    return f"{rounded:,.{max(0, digits - 1 - magnitude)}f}"


_PREFIXES = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def human(value: float, unit: str) -> str:
    """Return `value` in SI `unit` with three significant digits and a decimal prefix.

    >>> human(3.35e12, "B/s"), human(0.0052, "s"), human(42_949_672_960, "B")
    ('3.35 TB/s', '5.20 ms', '42.9 GB')
    """
    if not math.isfinite(value) or value == 0:
        return f"{significant(value)} {unit}"
    if unit == "s":
        for scale, prefix in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")):
            if abs(value) >= scale * 0.9995:
                return f"{significant(value / scale)} {prefix}"
        return f"{significant(value)} s"
    for scale, prefix in _PREFIXES:
        if abs(value) >= scale * 0.9995:
            return f"{significant(value / scale)} {prefix}{unit}"
    return f"{significant(value)} {unit}"
