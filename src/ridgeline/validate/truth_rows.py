"""Published measurements: one row each, from CSV files that share their first 29 columns."""

from __future__ import annotations

import csv
import gzip
import io
import math
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError

REQUIRED = ("id", "area", "chip", "metric", "unit", "value", "scorable")
"""Columns without which a file is not a file of measurements."""
_MAX_BYTES = 200_000_000
_ENDING = re.compile(r"\.csv(\.gz)?$")
_MACHINES = (
    (
        "casys-kaist/llmservingsim",
        "rtx pro 6000 blackwell",
        "RTX PRO 6000 Blackwell Server Edition",
    ),
)
"""Where a row's own words leave two chips open: source, those words, and what the source names in
the record beside its figures (LLMServingSim, profiler/perf/RTXPRO6000/*/bf16/meta.yaml, `gpu`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthRow:
    """One measurement and all that was said about its set-up."""

    file: str
    """Name of the file, without its endings."""
    id: str
    area: str
    model: str
    chip: str
    engine: str
    phase: str
    metric: str
    unit: str
    value: float
    scorable: str
    """Y: all facts known; P: one stated assumption; N: context."""
    cells: Mapping[str, str]
    """Every other column that is not empty, as text."""

    @property
    def group(self) -> tuple[str, str, str]:
        """Rows are averaged within (file, model, chip) first."""
        return self.file, self.model, self.chip

    @property
    def machine(self) -> str:
        """Return the chip as the source's own records name it, else as the row does."""
        source, chip = self.text("source").lower(), self.chip.lower()
        named = (name for of, words, name in _MACHINES if of in source and chip.startswith(words))
        return next(named, self.chip)

    def text(self, column: str) -> str:
        """Return a cell, empty where the file has none."""
        return self.cells.get(column, "")

    def number(self, column: str) -> float | None:
        """Return a cell as a number, None where it is empty or text."""
        try:
            value = float(self.cells.get(column, ""))
        except ValueError:
            return None
        return value if math.isfinite(value) else None

    def count(self, column: str, default: int = 1) -> int:
        """Return a whole number of at least 1; `default` where the file says nothing."""
        value = self.number(column)
        return default if value is None or value < 1 else int(value)


_OWN = frozenset(
    ("id", "area", "model", "chip", "engine", "phase", "metric", "unit", "value", "scorable")
)


def read_rows(
    lines: Iterable[str], *, file: str, required: tuple[str, ...] = REQUIRED
) -> tuple[TruthRow, ...]:
    """Return the rows of one CSV.

    Args:
        lines: With a header.
        file: Name for messages and groups.
        required: Columns that must be there.

    Raises:
        InputError: a required column is missing, or a value is not a finite number.
    """
    reader = csv.DictReader(lines)
    # Files of measurements mark what is scored; own files without the column mean every row.
    default = "N" if "scorable" in required else "Y"
    try:
        _check_columns(reader.fieldnames or (), file, required)
        return tuple(_row(file, reader.line_num, raw, default) for raw in reader)
    except csv.Error as error:
        raise InputError(f"{file}, line {reader.line_num}: not readable as CSV: {error}.") from None


def _check_columns(names: Sequence[str], file: str, required: tuple[str, ...]) -> None:
    missing = [c for c in required if c not in names]
    if missing:
        raise InputError(f"{file}: a file of measurements needs the columns {', '.join(missing)}.")
    twice = next((c for c in names if c and names.count(c) > 1), None)
    if twice is not None:
        raise InputError(f"{file}: the column {twice[:60]!r} stands twice; keep one of them.")


def _row(
    file: str, line: int, raw: Mapping[str | None, str | list[str] | None], default: str
) -> TruthRow:
    cells = {k: v.strip() for k, v in raw.items() if k and isinstance(v, str) and v.strip()}
    try:
        value = float(cells.get("value", ""))
    except ValueError:
        value = math.nan
    scorable = cells.get("scorable", default).upper()
    if not math.isfinite(value) and scorable != "N":
        raise InputError(f"{file}, line {line}: value must be a number: {cells.get('value')!r}.")
    return TruthRow(
        file=file,
        id=cells.get("id", f"{file}:{line}"),
        area=cells.get("area", ""),
        model=cells.get("model", ""),
        chip=cells.get("chip", ""),
        engine=cells.get("engine", ""),
        phase=cells.get("phase", ""),
        metric=cells.get("metric", ""),
        unit=cells.get("unit", ""),
        value=value,
        scorable=scorable,
        cells={k: v for k, v in cells.items() if k not in _OWN},
    )


OWN_REQUIRED = ("metric", "unit", "value")
"""What a user's own rows need; those of one machine need no chip in every row."""


def read_own_rows(path: Path, chip: str) -> tuple[TruthRow, ...]:
    """Return a user's own measurements from one *.csv or *.csv.gz.

    All of them count but those that a `scorable` column marks N.

    Args:
        path: The file.
        chip: Of rows that name none.

    Raises:
        InputError: not readable, or of another shape.
    """
    name = _ENDING.sub("", path.name)
    rows = read_rows(io.StringIO(_text(path)), file=name, required=OWN_REQUIRED)
    return tuple(
        replace(
            row,
            id=f"{name}:{i}",
            chip=row.chip or chip,
            area=row.area or "kernels",
            scorable="Y",
        )
        for i, row in enumerate(rows)
        if math.isfinite(row.value) and row.value > 0 and row.scorable != "N"
    )


def read_directory(directory: Path) -> tuple[TruthRow, ...]:
    """Return the rows of every *.csv and *.csv.gz of a folder.

    Raises:
        InputError: no such folder, no such file in it, or a file of another shape.
    """
    if not directory.is_dir():
        raise InputError(f"--truth must be a folder of CSV files: {str(directory)[:200]!r}.")
    paths = sorted(p for p in directory.iterdir() if p.name.endswith((".csv", ".csv.gz")))
    if not paths:
        raise InputError(f"No *.csv or *.csv.gz in {str(directory)[:200]!r}.")
    rows: list[TruthRow] = []
    for path in paths:
        rows += read_rows(io.StringIO(_text(path)), file=_ENDING.sub("", path.name))
    return tuple(rows)


def _text(path: Path) -> str:
    try:
        # Reading a pipe may never end.
        if not path.is_file():
            raise InputError(f"No plain file: {str(path)[:200]!r}.")
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path.name} is larger than {_MAX_BYTES / 1e6:.0f} MB.")
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path.name[:100]} cannot be read: {str(error)[:120]}.") from None
    if len(data) > _MAX_BYTES:
        raise InputError(f"{path.name} unpacks to more than {_MAX_BYTES / 1e6:.0f} MB.")
    return data.decode("utf-8", errors="replace")


def numbers(
    rows: Sequence[TruthRow], column: str, default: float = math.nan
) -> NDArray[np.float64]:
    """Return a column of numbers, `default` where a row has none."""
    found = (row.number(column) for row in rows)
    return np.array([default if x is None else x for x in found], dtype=np.float64)


def first_word(text: str) -> str:
    """Return the first word in lower case; empty for an empty text."""
    return re.split(r"[ ,(/]", text.strip().lower())[0]
