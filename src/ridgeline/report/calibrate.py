"""A calibration as text, JSON, CSV, and the YAML that `--calibration` reads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ridgeline.catalog.calibration import curve_entry
from ridgeline.cost.own_curves import OwnCurve, OwnEngine, OwnLink
from ridgeline.report.flags import wrapped
from ridgeline.report.output import check_output
from ridgeline.report.table import Column, Style, render_table
from ridgeline.units import significant

SCHEMA_VERSION = "1"
_COLUMNS = (
    Column(key="what", label="family", align="left"),
    Column(key="device", label="device", align="left"),
    Column(key="rows", label="rows"),
    Column(key="shipped", label="shipped %"),
    Column(key="fitted", label="fitted %"),
    Column(key="held_out", label="left out %"),
    Column(key="spread", label="spread %"),
)
_FIGURES = (
    Column(key="what", label="family", align="left"),
    Column(key="figure", label="figure", align="left"),
    Column(key="before", label="shipped"),
    Column(key="after", label="fitted"),
)
_LEGEND = (
    "kept: the rows do not decide this figure, and it stays as shipped; bound: the physical limit"
)


def check_out(path: Path, files: Sequence[Path]) -> None:
    """Refuse a file name that `--calibration` would not read, before work is done.

    Raises:
        InputError: see `check_output`.
    """
    check_output(path, flag="--out", suffixes=(".yaml", ".yml"), inputs=files)


def calibrate_text(result: Any, out: Path | None) -> str:
    """Return errors before and after, the figures, and what could not be fitted."""
    lines: list[str] = []
    if result.records:
        lines += [
            "median error of predictions: as shipped, fitted, and of rows left out of the fit",
            render_table(_COLUMNS, [_error_row(r) for r in result.records]),
            "",
            render_table(_FIGURES, [row for r in result.records for row in _figure_rows(r)]),
            _LEGEND,
            "",
        ]
    for own in result.taken:
        curves = len(own.curves)
        lines += wrapped(f"taken as it is: {curves} curves of {own.source}")
    for refusal in result.refused:
        lines += wrapped(f"- not fitted: {refusal.what}: {refusal.reason}")
    if out is None:
        lines.append("--out my-calibration.yaml writes the records for --calibration.")
    else:
        lines.append(f"use it: --calibration {out} of estimate, plan, explain and validate.")
    return "\n".join(lines)


def calibrate_json(result: Any) -> dict[str, Any]:
    """Return the stable JSON document: SI units, errors as shares."""
    return {
        "schema_version": SCHEMA_VERSION,
        "date": result.date,
        "version": result.version,
        "records": [_plain(r) for r in result.records],
        "taken": [own.source for own in result.taken],
        "refused": [{"what": r.what, "reason": r.reason} for r in result.refused],
    }


def calibrate_rows(result: Any, style: Style) -> str:
    """Return the errors alone, as CSV (shares) or Markdown."""
    if style == "csv":
        keys = ("what", "device", "rows", "error_shipped", "error_fitted", "error_held_out")
        rows = [{k: getattr(r, k) for k in (*keys, "spread")} for r in result.records]
        return render_table([Column(key=k, label=k) for k in (*keys, "spread")], rows, style=style)
    return render_table(_COLUMNS, [_error_row(r) for r in result.records], style=style)


def calibration_yaml(result: Any) -> str:
    """Return the file for `--calibration`, with the evidence of every record."""
    found = [(r.record, _evidence(r), r.device) for r in result.records]
    entry: dict[str, Any] = {
        "kind": "calibration",
        "schema_version": 1,
        "date": result.date,
        "software": f"ridgeline {result.version}",
        "curves": [
            {"device": device, **curve_entry(record), "evidence": evidence}
            for record, evidence, device in found
            if isinstance(record, OwnCurve)
        ],
        "collectives": [
            {
                "device": device,
                "collective": record.kind,
                "latency_ratio": _rounded(record.latency_ratio),
                "bandwidth_ratio": _rounded(record.bandwidth_ratio),
                "evidence": evidence,
            }
            for record, evidence, device in found
            if isinstance(record, OwnLink)
        ],
        "engines": [
            {
                "device": device,
                "engine": record.engine,
                "layer_us": _rounded(record.layer_s * 1e6),
                "sequence_us": _rounded(record.sequence_s * 1e6),
                "evidence": evidence,
            }
            for record, evidence, device in found
            if isinstance(record, OwnEngine)
        ],
    }
    entry["curves"] += [
        {"device": c.device, **curve_entry(c), "evidence": {"source": own.source, "rows": 1,
         "error_fitted": c.curve.spread}}
        for own in result.taken
        for c in own.curves
    ]  # fmt: skip
    return yaml.safe_dump(entry, sort_keys=False, allow_unicode=True, width=100)


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def _evidence(record: Any) -> dict[str, Any]:
    evidence: dict[str, Any] = {"source": record.source, "rows": record.rows}
    if record.software:
        evidence["software"] = record.software
    evidence["fitted"] = sorted(record.figures)
    for name in ("error_shipped", "error_fitted", "error_held_out"):
        evidence[name] = _rounded(getattr(record, name))
    return evidence


def _plain(record: Any) -> dict[str, Any]:
    return {
        "family": record.what,
        "device": record.device,
        "rows": record.rows,
        "fitted": dict(record.figures),
        "shipped": dict(record.shipped),
        "kept": list(record.kept),
        **{n: getattr(record, n) for n in ("error_shipped", "error_fitted", "error_held_out")},
        "spread": record.spread,
        "source": record.source,
        "software": record.software,
    }


def _error_row(record: Any) -> dict[str, Any]:
    return {
        "what": record.what,
        "device": record.device,
        "rows": record.rows,
        "shipped": record.error_shipped * 100,
        "fitted": record.error_fitted * 100,
        "held_out": record.error_held_out * 100,
        "spread": record.spread * 100,
    }


_UNITS = {"launch_s": "launch µs", "layer_s": "per layer µs", "sequence_s": "per sequence µs"}


def _figure_rows(record: Any) -> list[dict[str, Any]]:
    return [
        {
            "what": record.what,
            "figure": _UNITS.get(name, name.replace("_", " ")),
            "before": _number(name, shipped),
            "after": _after(record.figures, name),
        }
        for name, shipped in record.shipped.items()
    ]


def _number(name: str, value: float) -> str:
    return significant(value * 1e6 if name.endswith("_s") else value)


def _after(figures: Mapping[str, float], name: str) -> str:
    if name not in figures:
        return "kept"
    value = figures[name]
    bound = " (bound)" if name.endswith("_share") and math.isclose(value, 1.0) else ""
    return _number(name, value) + bound
