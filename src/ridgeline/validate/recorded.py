"""Errors and bands on record: what a run is compared with, and the bands of new predictions."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ridgeline.validate.score import Report, Score, Scored, residual_bands

PATH = Path(__file__).parents[1] / "catalog" / "data" / "truth" / "recorded.json"
_SLACK, _RELATIVE_SLACK = 0.005, 0.02
"""Errors may grow by half a point, or 2 % of themselves, before a check fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What dev/record_validation.py wrote."""

    bands: Mapping[str, tuple[float, float]]
    """10th and 90th percentile of ln(published / predicted) by family."""
    errors: Mapping[str, float]
    """Median error by `group_key`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worse:
    """A group whose error grew."""

    score: Score
    recorded: float


@cache
def recorded() -> Recorded:
    """Return the figures on record; empty where none were written."""
    if not PATH.exists():
        return Recorded(bands={}, errors={})
    data = json.loads(PATH.read_bytes())
    return Recorded(
        bands={k: (v[0], v[1]) for k, v in data["bands"].items()}, errors=data["errors"]
    )


def group_key(score: Score, ids: Sequence[str]) -> str:
    """Return the name of exactly these rows of a family and source."""
    rows = zlib.crc32("\n".join(sorted(ids)).encode())
    return f"{score.family}|{score.file}|{score.scorable}|{len(ids)}|{rows:08x}"


def _keys(report: Report) -> list[tuple[Score, str, list[Scored]]]:
    result: list[tuple[Score, str, list[Scored]]] = []
    for score in report.by_source:
        items = [
            x
            for x in report.scored
            if (x.prediction.family, x.row.file, x.row.scorable)
            == (score.family, score.file, score.scorable)
        ]
        result.append((score, group_key(score, [x.row.id for x in items]), items))
    return result


def grown(report: Report, against: Recorded) -> tuple[Worse, ...]:
    """Return the groups on record, row for row, whose error grew."""
    found: list[Worse] = []
    for score, key, _ in _keys(report):
        before = against.errors.get(key)
        if before is not None:
            allowed = before + max(_SLACK, _RELATIVE_SLACK * before)
            if score.median_error > allowed:
                found.append(Worse(score=score, recorded=before))
    return tuple(found)


def to_record(*reports: Report) -> dict[str, Any]:
    """Return what to write: bands of the first report, errors of all of them."""
    errors = {
        key: round(score.median_error, 5) for report in reports for score, key, _ in _keys(report)
    }
    bands = {k: [round(x, 4) for x in v] for k, v in residual_bands(reports[0].scored).items()}
    return {"bands": bands, "errors": dict(sorted(errors.items()))}


def is_recorded(report: Report, against: Recorded) -> frozenset[tuple[str, str]]:
    """Return (file, id) of the rows that the bands were made from."""
    return frozenset(
        (x.row.file, x.row.id)
        for _, key, items in _keys(report)
        if key in against.errors
        for x in items
    )
