"""The worked arithmetic of a check: its formula with the numbers put in, units kept.

Formula and symbols are read from the docstring of the chalkboard function, where they stand once.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any

from ridgeline.study.lecture_claims.record import Check
from ridgeline.units import human

_UNITS = (
    ("flop_per_s", "FLOP/s"),
    ("flop_per_byte", "FLOP/B"),
    ("flop_per_param_token", "FLOP/(param·token)"),
    ("bytes_per_s", "B/s"),
    ("bytes_per_token", "B/token"),
    ("bytes_per_param", "B/param"),
    ("usd_per_s", "USD/s"),
    ("usd_per_token", "USD/token"),
    ("tokens_per_s", "token/s"),
    ("_per_token", ""),
    ("bytes", "B"),
    ("params", "param"),
    ("tokens", "token"),
    ("batch", "seq"),
    ("_s", "s"),
)
"""How an argument's name ends, and its unit."""
_COUNTED = ("", "param", "token", "seq", "USD/s", "USD/token", "B/param", "B/token")
"""Units that read better without a prefix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How a value was computed."""

    function: str
    equation: str
    substituted: str
    """The equation with its inputs; empty where none of them stands in it."""
    inputs: dict[str, str]
    """In print, with units."""
    given: dict[str, float | str]
    """In SI; the name of an argument ends in its unit."""


def work(check: Check) -> Work:
    """Return the formula of a check, the same with numbers, and its inputs with units."""
    doc = inspect.getdoc(check.function) or ""
    inputs = {name: in_print(name, value) for name, value in check.given.items()}
    equation = _equation(doc)
    left, sign, right = equation.partition(" = ")
    symbols = {symbol: inputs[name] for name, symbol in _symbols(doc) if name in inputs}
    filled = _put_in(right, symbols)
    return Work(
        function=f"{check.function.__module__.rsplit('.', 1)[-1]}.{check.function.__name__}",
        equation=equation,
        substituted=f"{left}{sign}{filled}" if filled != right else "",
        inputs=inputs,
        given={name: _plain(value) for name, value in check.given.items()},
    )


def in_print(name: str, value: Any) -> str:
    """Return an argument with the unit that its name ends in."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return str(getattr(value, "source", value))
    unit = next((unit for ending, unit in _UNITS if name.endswith(ending)), "")
    if unit in _COUNTED and abs(value) < 1e6:
        return f"{_exact(value)} {unit}".strip()
    return human(value, unit).strip()


def _plain(value: Any) -> float | str:
    return value if isinstance(value, int | float) else str(getattr(value, "source", value))


def _exact(value: float) -> str:
    """Return whole numbers whole and others with up to four digits."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


def _equation(doc: str) -> str:
    body = doc.split("\nArgs:", maxsplit=1)[0]
    return next((line.strip() for line in body.splitlines() if line.startswith("    ")), "")


def _symbols(doc: str) -> list[tuple[str, str]]:
    args = doc.partition("\nArgs:")[2].partition("\n\n")[0]
    return re.findall(r"^ +(\w+): ([^\s,.;]{1,6}?)(?:[,.;]|\s|$)", args, flags=re.MULTILINE)


def _put_in(right: str, symbols: dict[str, str]) -> str:
    if not symbols:
        return right
    names = "|".join(re.escape(s) for s in sorted(symbols, key=len, reverse=True))
    return re.sub(
        rf"(?<![\w_])({names})(?![\w_*(])", lambda match: _bracketed(symbols[match.group(1)]), right
    )


def _bracketed(text: str) -> str:
    return f"({text})" if " " in text or text.startswith("-") else text
