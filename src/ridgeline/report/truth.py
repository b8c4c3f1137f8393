"""The score of published measurements as text, JSON and a picture."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import Any

from ridgeline.report.figure import COLOURS, new_figure, save_figure
from ridgeline.report.table import MAX_WIDTH, Column, Style, render_table
from ridgeline.units import significant
from ridgeline.validate.recorded import recorded
from ridgeline.validate.score import Score, Scored
from ridgeline.validate.truth import SCHEMA_VERSION, TruthReport

_COLUMNS = (
    Column(key="family", label="family", align="left"),
    Column(key="file", label="source", align="left", wrap=True),
    Column(key="scorable", label="", align="left"),
    Column(key="rows", label="rows"),
    Column(key="groups", label="groups"),
    Column(key="median", label="median"),
    Column(key="p90", label="p90"),
    Column(key="bias", label="bias"),
    Column(key="coverage", label="in band"),
    Column(key="sampled", label="sampled"),
    Column(key="bound", label="bound", align="left"),
)
_FAMILY_COLUMNS = tuple(c for c in _COLUMNS if c.key != "file")
_SOURCE_COLUMNS = tuple(c for c in _COLUMNS if c.key not in ("bound", "sampled"))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if abs(share) < 0.995 else f"{100 * share:.0f} %"


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f} %"


def _row(score: Score) -> dict[str, Any]:
    bound = next(iter(score.bounds), "").replace("network: ", "net: ")
    return {
        "family": score.family,
        "file": score.file,
        "scorable": score.scorable,
        "rows": score.num_rows,
        "groups": score.num_groups,
        "median": _percent(score.median_error),
        "p90": _percent(score.p90_error),
        "bias": f"{100 * score.bias:+.1f} %",
        "coverage": f"{100 * score.coverage:.0f} %",
        "sampled": _share(score.sampled_coverage),
        "bound": bound,
    }


def truth_text(result: TruthReport, style: Style = "text") -> str:
    """Return the scores by family and source, the worst rows, and what was not predicted."""
    report = result.report
    sources = render_table(_SOURCE_COLUMNS, [_row(s) for s in report.by_source], style=style)
    if style != "text":
        return sources
    lines = [
        f"Published against predicted: {result.source}, {len(report.scored):,} rows scored",
        "median: over (source, model, chip) groups, of each group's mean absolute error;",
        "p90: over rows; in band: share of rows inside the 10-90 % band of their family's other",
        "groups; sampled: inside the band that `estimate` and `plan` print (both aim at 80 %).",
        "",
        "By family",
        "",
        render_table(_FAMILY_COLUMNS, [_row(s) for s in report.scores], style=style),
        "",
        "By source",
        "",
        sources,
    ]
    if result.context.scores:
        context = [_row(s) for s in result.context.by_source]
        lines += ["", "Context rows (N), predicted for orientation, never part of a score", ""]
        lines += [render_table(_SOURCE_COLUMNS, context, style=style)]
    lines += ["", "Worst rows", ""]
    lines += [_worst(x) for s in report.scores for x in s.worst[:1]]
    lines += ["", "Not predicted yet", ""]
    lines += [
        _fill(f"{count:>5} x {file}: {reason}")
        for (file, reason), count in report.not_predicted.items()
    ]
    lines += [] if report.not_predicted else ["nothing"]
    lines += ["", *_verdict(result)]
    return "\n".join(lines)


def _worst(item: Scored) -> str:
    row, value = item.row, item.prediction.value
    name = " ".join(x for x in (row.model, row.chip, row.text("layout")) if x)
    return _fill(
        f"{item.prediction.family}: {row.id.rpartition('/')[2]} {name}: {row.metric}"
        f" {significant(value)} predicted, {significant(row.value)} {row.unit} published"
    )


def _fill(line: str) -> str:
    return textwrap.fill(textwrap.shorten(line, 290), MAX_WIDTH, subsequent_indent="    ")


def _verdict(result: TruthReport) -> list[str]:
    if not result.worse:
        return ["No group is worse than its recorded figure."]
    return [
        f"WORSE: {w.score.family}, {w.score.file}: {_percent(w.score.median_error)},"
        f" recorded {_percent(w.recorded)}"
        for w in result.worse
    ]


def _score_json(score: Score) -> dict[str, Any]:
    return {
        "family": score.family,
        "source": score.file or None,
        "scorable": score.scorable,
        "rows": score.num_rows,
        "groups": score.num_groups,
        "median_error": score.median_error,
        "row_median_error": score.row_median_error,
        "p90_error": score.p90_error,
        "bias": score.bias,
        "band_coverage": score.coverage,
        "sampled_band_coverage": score.sampled_coverage,
        "bounds": dict(score.bounds),
        "worst": [_item_json(x) for x in score.worst],
    }


def _item_json(item: Scored) -> dict[str, Any]:
    row = item.row
    band = recorded().bands.get(item.prediction.family)
    return {
        "id": row.id,
        "family": item.prediction.family,
        "model": row.model,
        "chip": row.chip,
        "metric": row.metric,
        "unit": row.unit,
        "published": row.value,
        "predicted": item.prediction.value,
        "p10": None if band is None else item.prediction.value * math.exp(band[0]),
        "p90": None if band is None else item.prediction.value * math.exp(band[1]),
        "sampled_p10": item.prediction.p10,
        "sampled_p90": item.prediction.p90,
        "error": item.error,
        "bound": item.prediction.bound,
        "flags": list(item.prediction.flags),
    }


def truth_json(result: TruthReport, *, rows: bool = True) -> dict[str, Any]:
    """Return the stable JSON object of `ridgeline validate`; errors are shares."""
    report = result.report
    data: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "source": result.source,
        "families": [_score_json(s) for s in report.scores],
        "sources": [_score_json(s) for s in report.by_source],
        "context": [_score_json(s) for s in result.context.by_source],
        "not_predicted": [
            {"source": file, "reason": reason, "rows": count}
            for (file, reason), count in report.not_predicted.items()
        ],
        "worse_than_recorded": [
            {"family": w.score.family, "source": w.score.file, "recorded": w.recorded,
             "median_error": w.score.median_error}
            for w in result.worse
        ],
    }  # fmt: skip
    if rows:
        data["rows"] = [_item_json(x) for x in report.scored]
    return data


def truth_plot(result: TruthReport, path: Path) -> None:
    """Draw predicted against published, one panel per family, log-log.

    Raises:
        InputError: an unknown suffix or a folder that does not exist.
    """
    by_family: dict[str, list[Scored]] = {}
    for item in result.report.scored:
        by_family.setdefault(item.prediction.family, []).append(item)
    columns = min(4, max(len(by_family), 1))
    rows = -(-max(len(by_family), 1) // columns)
    figure, axes = new_figure(rows, columns, width=3.1 * columns, height=2.9 * rows)
    flat = axes.ravel()
    for axis, (family, items) in zip(flat, sorted(by_family.items()), strict=False):
        _panel(axis, family, items)
    for axis in flat[len(by_family) :]:
        axis.set_visible(False)
    save_figure(figure, path)


_MOST_NAMED = 4


def _panel(axis: Any, family: str, items: list[Scored]) -> None:
    files = sorted({x.row.file for x in items})
    for colour, file in zip(COLOURS, files, strict=False):
        some = [x for x in items if x.row.file == file]
        axis.plot(
            [x.row.value for x in some],
            [x.prediction.value for x in some],
            ".",
            color=colour,
            markersize=3,
            alpha=0.6,
        )
    ends = [f(v for x in items for v in (x.row.value, x.prediction.value)) for f in (min, max)]
    axis.plot(ends, ends, color="0.3", linewidth=0.8)
    for factor in (0.5, 2.0):
        axis.plot(ends, [factor * e for e in ends], color="0.7", linewidth=0.6, linestyle=":")
    axis.set_xscale("log")
    axis.set_yscale("log")
    for line in (axis.xaxis, axis.yaxis):
        line.set_minor_formatter("")
    if len(files) <= _MOST_NAMED:
        axis.legend(files, fontsize=5, markerscale=2, loc="upper left", frameon=False)
    units = ", ".join(sorted({x.row.unit for x in items})[:3])
    axis.set_title(family, fontsize=9)
    axis.set_xlabel(f"published [{units}]", fontsize=7)
    axis.set_ylabel("predicted", fontsize=7)
    axis.tick_params(labelsize=7)
