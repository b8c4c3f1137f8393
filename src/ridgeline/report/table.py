"""Rows as a text table, Markdown or CSV; computes nothing.

Text tables are right-aligned for numbers, left-aligned for words, and made to fit a width by
wrapping the columns marked `wrap`.
"""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from ridgeline.units import significant

Style = Literal["text", "markdown", "csv"]
MAX_WIDTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: the row key, what stands above it, and how a value is printed."""

    key: str
    label: str
    align: Literal["left", "right"] = "right"
    digits: int | None = 3
    """Significant digits of floats; None prints them in full."""
    wrap: bool = False
    """May be broken over lines to fit the width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """A table as it was asked for, before it became text."""

    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]


_COLLECTED: ContextVar[list[Collected] | None] = ContextVar("collected", default=None)


@contextmanager
def collected_tables() -> Generator[list[Collected]]:
    """Collect text tables for another rendering; a mark stands where each one was."""
    tables: list[Collected] = []
    token = _COLLECTED.set(tables)
    try:
        yield tables
    finally:
        _COLLECTED.reset(token)


def placed(text: str, tables: Sequence[Collected]) -> str:
    """Return `text` with collected tables in the places of their marks."""
    for n, table in enumerate(tables):
        text = text.replace(f"\0{n}\0", render_table(table.columns, table.rows))
    return text


def format_cell(value: Any, digits: int | None = 3) -> str:
    """Return one value as print: three significant digits for floats, `yes`/`no`, `-` for None."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return repr(value) if digits is None else significant(value, digits)
    return str(value)


def render_table(
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Any]],
    *,
    style: Style = "text",
    width: int = MAX_WIDTH,
) -> str:
    """Return the table as text, Markdown, or CSV (CSV keeps full precision and raw keys)."""
    if style == "csv":
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([c.key for c in columns])
        writer.writerows([_csv_cell(row.get(c.key)) for c in columns] for row in rows)
        return out.getvalue().rstrip("\n")
    body = [[format_cell(row.get(c.key), c.digits) for c in columns] for row in rows]
    if style == "markdown":
        rule = [("---:" if c.align == "right" else "---") for c in columns]
        lines = [[c.label for c in columns], rule, *body]
        return "\n".join(f"| {' | '.join(x.replace('|', '/') for x in line)} |" for line in lines)
    tables = _COLLECTED.get()
    if tables is not None:
        tables.append(Collected(columns=columns, rows=rows))
        return f"\0{len(tables) - 1}\0"
    return _text(columns, body, width)


def _csv_cell(value: Any) -> Any:
    return "" if value is None else value


def _text(columns: Sequence[Column], body: list[list[str]], width: int) -> str:
    cells = [[c.label for c in columns], *body]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    spare = width - 2 * (len(columns) - 1) - sum(widths)
    for i in sorted((i for i, c in enumerate(columns) if c.wrap), key=lambda i: -widths[i]):
        if spare >= 0:
            break
        shrunk = max(12, widths[i] + spare)
        spare += widths[i] - shrunk
        widths[i] = shrunk
    lines = [_line(columns, cells[0], widths), ["-" * w for w in widths]]
    text = ["  ".join(part).rstrip() for part in lines]
    for row in body:
        parts = [
            textwrap.wrap(x, widths[i]) or [""] if columns[i].wrap else [x]
            for i, x in enumerate(row)
        ]
        for k in range(max(len(p) for p in parts)):
            piece = [p[k] if k < len(p) else "" for p in parts]
            text.append("  ".join(_line(columns, piece, widths)).rstrip())
    return "\n".join(text)


def _line(columns: Sequence[Column], cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        x.rjust(w) if c.align == "right" else x.ljust(w)
        for c, x, w in zip(columns, cells, widths, strict=True)
    ]
