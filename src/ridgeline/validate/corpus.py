"""Predicted against known parameter counts, over a directory of config files with an INDEX.csv.

A row's truth is `oracle_corrected` where present, else `meta_params`; text and multimodal parts
are compared apart through `meta_nontext_params`. Files without a truth are held against the
published total.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ridgeline.errors import InputError, RidgelineError, UnsupportedError
from ridgeline.model.architecture import Architecture
from ridgeline.model.params import ParameterCount, count_parameters
from ridgeline.readers.files import read_config_file

Status = Literal[
    "exact", "flagged", "silently_wrong", "refused_right", "refused_wrong", "unverified"
]
SCHEMA_VERSION = 1
_PUBLISHED_SHARE = 0.05
"""Published totals are rounded; a card figure further off than this is worth a look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusRow:
    """One file: what was predicted, what is known, and how they compare."""

    file: str
    model: str
    model_type: str
    predicted: int | None
    truth: int | None
    predicted_multimodal: int | None
    truth_multimodal: int | None
    predicted_active: float | None
    truth_active: float | None
    predicted_active_excl: float | None
    truth_active_excl: float | None
    published_total: float | None
    status: Status
    flags: tuple[str, ...] = ()
    error: str = ""

    @property
    def relative_error(self) -> float | None:
        """Predicted over truth (or the published total), minus one."""
        known = self.truth if self.truth is not None else self.published_total
        return None if known is None or self.predicted is None else self.predicted / known - 1

    @property
    def split_agrees(self) -> bool | None:
        """Whether language and multimodal parts are told apart as the index does."""
        if self.truth_multimodal is None or self.predicted_multimodal is None:
            return None
        return self.predicted_multimodal == self.truth_multimodal

    @property
    def active_agrees(self) -> bool | None:
        """Whether both active counts are exact; None where the index has none."""
        pairs = (
            (self.predicted_active, self.truth_active),
            (self.predicted_active_excl, self.truth_active_excl),
        )
        known = [(p, t) for p, t in pairs if t is not None]
        if not known or self.predicted is None:
            return None
        return all(p is not None and abs(p - t) <= 1 for p, t in known)


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusReport:
    """Every row, and the counts that the verdict rests on."""

    rows: tuple[CorpusRow, ...]

    def count(self, status: Status) -> int:
        """Return how many rows have `status`."""
        return sum(row.status == status for row in self.rows)

    @property
    def exact_share(self) -> float:
        """Exact rows over all that have a truth and should be read."""
        with_truth = [r for r in self.rows if r.truth is not None and r.status != "refused_right"]
        exact = sum(r.status == "exact" for r in with_truth)
        return exact / len(with_truth) if with_truth else 1.0

    @property
    def split_differs(self) -> int:
        """Rows exact in total whose multimodal part is drawn elsewhere than in the index."""
        return sum(r.status == "exact" and r.split_agrees is False for r in self.rows)

    @property
    def active_checked(self) -> int:
        """Rows whose active counts could be compared."""
        return sum(r.active_agrees is not None for r in self.rows)

    @property
    def active_exact(self) -> int:
        """Rows whose active counts agree in both conventions."""
        return sum(r.active_agrees is True for r in self.rows)


def _number(row: dict[str, str | None], key: str) -> float | None:
    text = (row.get(key) or "").strip()
    try:
        return float(text) if text else None
    except ValueError:
        return None


def _whole(row: dict[str, str | None], key: str) -> int | None:
    value = _number(row, key)
    return None if value is None else int(value)


def read_index(directory: Path) -> list[dict[str, str | None]]:
    """Return the rows of INDEX.csv.

    Raises:
        InputError: no such file, or it lacks the column `file`.
    """
    path = directory / "INDEX.csv"
    if not path.is_file():
        raise InputError(f"{directory.name or directory}/ holds no INDEX.csv.")
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows: list[dict[str, str | None]] = list(csv.DictReader(stream))
    except (UnicodeDecodeError, csv.Error, OSError) as error:
        raise InputError(f"INDEX.csv cannot be read: {error}.") from None
    if rows and "file" not in rows[0]:
        raise InputError("INDEX.csv must have a column `file`.")
    return rows


def score_file(directory: Path, row: dict[str, str | None]) -> CorpusRow:
    """Return the verdict on one file of the index."""
    name = (row.get("file") or "").strip()
    expected = (row.get("expected_behaviour") or "").strip()
    arch: Architecture | None = None
    counts: ParameterCount | None = None
    error: RidgelineError | None = None
    try:
        if not name or Path(name).name != name:
            raise InputError("the index names no plain file in its directory.")
        arch = read_config_file(directory / name, name=(row.get("model") or name).strip())
        counts = count_parameters(arch)
    except RidgelineError as problem:
        error = problem
    truth = _whole(row, "oracle_corrected")
    truth = _whole(row, "meta_params") if truth is None else truth
    published = _number(row, "published_total_B")
    published = None if published is None else published * 1e9
    other = _whole(row, "meta_nontext_params")
    return CorpusRow(
        file=name,
        model=(row.get("model") or "").strip(),
        model_type=(row.get("model_type") or "").strip(),
        predicted=None if counts is None else counts.num_params,
        truth=truth,
        predicted_multimodal=None if counts is None else counts.num_multimodal_params,
        truth_multimodal=None if truth is None else other,
        predicted_active=None if counts is None else counts.num_active_params,
        truth_active=_number(row, "meta_active_incl_embed"),
        predicted_active_excl=None
        if counts is None
        else counts.num_active_params_excluding_input_embedding,
        truth_active_excl=_number(row, "meta_active_excl_input_embed"),
        published_total=published,
        status=_status(arch, counts, error, truth, published, expected),
        flags=() if arch is None else arch.flags,
        error="" if error is None else str(error),
    )


def _status(
    arch: Architecture | None,
    counts: ParameterCount | None,
    error: RidgelineError | None,
    truth: int | None,
    published: float | None,
    expected: str,
) -> Status:
    """Return the verdict; a wrong count that carries no `assumed` flag is silent."""
    must_refuse = expected.startswith(("must_refuse", "no model_type"))
    if counts is None or arch is None:
        right = must_refuse and isinstance(error, UnsupportedError | InputError)
        return "refused_right" if right else "refused_wrong"
    if must_refuse:
        # A count where a refusal is due is wrong whatever its flags say.
        return "silently_wrong"
    assumed = any(f.startswith("assumed") for f in arch.flags)
    if truth is not None and counts.num_params == truth:
        return "exact"
    if assumed:
        return "flagged"
    off = published and abs(counts.num_params / published - 1) > _PUBLISHED_SHARE
    return "silently_wrong" if truth is not None or off else "unverified"


def validate_corpus(directory: Path) -> CorpusReport:
    """Return the report over every file in the index of `directory`.

    Raises:
        InputError: no readable INDEX.csv.
    """
    return CorpusReport(rows=tuple(score_file(directory, row) for row in read_index(directory)))
