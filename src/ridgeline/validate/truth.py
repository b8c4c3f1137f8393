"""`validate --truth`: read published rows, predict them, score them, compare with the record."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass, replace
from pathlib import Path

from ridgeline.catalog.calibration import read_calibration
from ridgeline.catalog.store import DATA
from ridgeline.validate.predict import predict
from ridgeline.validate.prediction import calibrated_by
from ridgeline.validate.recorded import Worse, grown, is_recorded, recorded
from ridgeline.validate.score import Report, score
from ridgeline.validate.truth_rows import TruthRow, read_directory, read_rows

SCHEMA_VERSION = 1
PACKAGED = DATA / "truth" / "measurements.csv.gz"
CONTEXT_METRICS = frozenset(("median_ttft",))
"""Predicted and shown, though their rows are marked as context (N)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthReport:
    """Scores of Y and P rows, of context rows that are predicted all the same, and what grew."""

    report: Report
    context: Report
    worse: tuple[Worse, ...]
    source: str


def packaged_rows() -> tuple[TruthRow, ...]:
    """Return the few hundred measurements that ship, under the names of their source files."""
    text = gzip.decompress(PACKAGED.read_bytes()).decode()
    by_file: dict[str, list[str]] = {}
    reader = csv.reader(io.StringIO(text))
    head = next(reader)
    at = head.index("file")
    for cells in reader:
        out = io.StringIO()
        csv.writer(out).writerow(cells)
        by_file.setdefault(cells[at], []).append(out.getvalue())
    line = ",".join(head) + "\n"
    return tuple(
        row for file, lines in by_file.items() for row in read_rows([line, *lines], file=file)
    )


def validate_truth(
    directory: Path | None = None, *, calibration: Path | None = None
) -> TruthReport:
    """Return the score of every published row of a folder, or of the packaged ones.

    Args:
        directory: Of CSV files.
        calibration: File of `ridgeline calibrate`: predict with it. Errors on record are those of
            the shipped figures, so that nothing counts as grown.

    Raises:
        InputError: no such folder, or a file in it that holds no measurements.
    """
    rows = packaged_rows() if directory is None else read_directory(directory)
    source = "packaged measurements" if directory is None else directory.name
    if calibration is None:
        return score_rows(rows, source)
    with calibrated_by(read_calibration(calibration)):
        return replace(score_rows(rows, f"{source}, with {calibration.name}"), worse=())


def score_rows(rows: tuple[TruthRow, ...], source: str) -> TruthReport:
    """Predict and score rows; ids are made unique by their file."""
    rows = tuple(
        replace(r, id=f"{r.file}/{r.id}")
        for r in rows
        if r.scorable != "N" or r.metric in CONTEXT_METRICS
    )
    answers = predict(rows)
    bands = recorded()
    first = score(rows, answers, bands=bands.bands)
    report = score(rows, answers, bands=bands.bands, held_out=is_recorded(first, bands))
    return TruthReport(
        report=report,
        context=score(rows, answers, bands=bands.bands, scorable="N"),
        worse=grown(report, bands),
        source=source,
    )
