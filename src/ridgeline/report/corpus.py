"""The corpus report as JSON and as text."""

from __future__ import annotations

import textwrap
from typing import Any

from ridgeline.report.table import MAX_WIDTH, Column, Style, render_table
from ridgeline.validate.corpus import SCHEMA_VERSION, CorpusReport, CorpusRow, Status

_STATUSES: tuple[Status, ...] = (
    "exact",
    "flagged",
    "silently_wrong",
    "refused_right",
    "refused_wrong",
    "unverified",
)
_WORDS: dict[Status, str] = {
    "exact": "equal to the oracle to the last parameter",
    "flagged": "read with an `assumed` flag; no oracle, or another count than it",
    "silently_wrong": "another count without a flag: a defect",
    "refused_right": "refused as it should be, with the reason",
    "refused_wrong": "refused although the index expects a count",
    "unverified": "no oracle; within 5 % of the published total",
}


def corpus_json(report: CorpusReport) -> dict[str, Any]:
    """Return the stable JSON object of `ridgeline validate --corpus`."""
    return {
        "schema_version": SCHEMA_VERSION,
        "files": len(report.rows),
        **{status: report.count(status) for status in _STATUSES},
        "exact_share": report.exact_share,
        "split_differs": report.split_differs,
        "active_checked": report.active_checked,
        "active_exact": report.active_exact,
        "rows": [_row_json(row) for row in report.rows],
    }


def _row_json(row: CorpusRow) -> dict[str, Any]:
    return {
        "file": row.file,
        "model": row.model,
        "model_type": row.model_type,
        "predicted": row.predicted,
        "truth": row.truth,
        "relative_error": row.relative_error,
        "predicted_multimodal": row.predicted_multimodal,
        "truth_multimodal": row.truth_multimodal,
        "predicted_active": row.predicted_active,
        "truth_active": row.truth_active,
        "predicted_active_excluding_input_embedding": row.predicted_active_excl,
        "truth_active_excluding_input_embedding": row.truth_active_excl,
        "published_total": row.published_total,
        "status": row.status,
        "flags": list(row.flags),
        "error": row.error,
    }


_COLUMNS = (
    Column(key="file", label="file", align="left", wrap=True),
    Column(key="status", label="status", align="left"),
    Column(key="predicted", label="predicted"),
    Column(key="known", label="known"),
    Column(key="error", label="off by"),
)


def _row_text(row: CorpusRow) -> dict[str, Any]:
    known = row.truth if row.truth is not None else row.published_total
    off = row.relative_error
    return {
        "file": row.file.removesuffix(".json"),
        "status": row.status,
        "predicted": None if row.predicted is None else row.predicted / 1e9,
        "known": None if known is None else known / 1e9,
        "error": "-" if off is None else f"{100 * off:+.2f} %",
    }


def _why(row: CorpusRow) -> str:
    """Return one line for people: the error, the flags, or where the parts differ."""
    why = row.error.partition(": ")[2] or "; ".join(row.flags)
    if row.split_agrees is False and row.status == "exact":
        why = f"multimodal {row.predicted_multimodal:,} here, {row.truth_multimodal:,} in the index"
    line = f"{row.file.removesuffix('.json')}: {why}"
    return textwrap.fill(textwrap.shorten(line, 300), MAX_WIDTH, subsequent_indent="    ")


def corpus_text(report: CorpusReport, style: Style = "text") -> str:
    """Return the summary and the rows that are not exact; counts in billions."""
    rest = [
        r for r in report.rows if r.status != "exact" or False in (r.split_agrees, r.active_agrees)
    ]
    table = render_table(_COLUMNS, [_row_text(r) for r in rest], style=style)
    if style != "text":
        return table
    lines = [f"{len(report.rows)} files"]
    lines += [f"{report.count(s):>6}  {s:<14}  {_WORDS[s]}" for s in _STATUSES if report.count(s)]
    lines.append(f"exact where an oracle exists: {100 * report.exact_share:.1f} %")
    lines.append(
        f"active parameters, both conventions: {report.active_exact} of {report.active_checked} "
        f"agree; multimodal part drawn elsewhere: {report.split_differs}"
    )
    if rest:
        lines += ["", "Rows that are not exact (billions of parameters)", "", table, "", "Why", ""]
        lines += [_why(r) for r in rest]
    return "\n".join(lines)
