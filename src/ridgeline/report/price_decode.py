"""Decoded price sheets and their coverage as text and JSON; computes nothing."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ridgeline.economics.price_posterior import Band
from ridgeline.report.flags import wrapped
from ridgeline.report.prices import row_dict
from ridgeline.report.table import Column, Style, render_table
from ridgeline.study.price_coverage import Case, Coverage, Truth
from ridgeline.study.price_decode import SCHEMA_VERSION, Decoded
from ridgeline.study.price_findings import Finding
from ridgeline.units import human, significant

_BANDS = (
    Column(key="quantity", label="joint posterior", align="left"),
    Column(key="low", label="10 %"),
    Column(key="median", label="median"),
    Column(key="high", label="90 %"),
    Column(key="decades", label="decades", digits=2),
    Column(key="prior", label="before the sheet", align="left"),
)
_NAMES = {
    "active_params": ("active parameters", ""),
    "kv_bytes_per_token": ("cache per token (bf16)", "B"),
    "batch_over_critical": ("batch / critical batch", "1"),
    "kv_share": ("cache share of a decode step", "1"),
    "markup": ("price / cost", "1"),
}


def _quantity(value: float, unit: str) -> str:
    if unit in {"1", "USD/GB-month"}:
        return significant(value) + ("" if unit == "1" else f" {unit}")
    return human(value, "B") if unit == "B" else f"{significant(value / 1e9)}e9"


def band_text(finding: Finding) -> str:
    """Return a finding's band for people."""
    low, high = finding.low, finding.high
    if high is None:
        return "-"
    if low is None:
        return f"at most {_quantity(high, finding.unit)}"
    if low == high:
        return _quantity(high, finding.unit)
    return f"{_quantity(low, finding.unit)} to {_quantity(high, finding.unit)}"


def _finding_lines(finding: Finding) -> list[str]:
    band = band_text(finding)
    then = finding.implied if band == "-" else f"{finding.implied}: {band}"
    lines = [finding.figure]
    for word, text in (("if", finding.hypothesis), ("then", then), ("so", finding.plausibility)):
        lines += textwrap.wrap(text, 98, initial_indent=f"  {word:<5}", subsequent_indent=" " * 7)
    return [*lines, ""]


def decoded_text(decoded: Decoded, truth: Truth | None) -> str:
    """Return findings, posterior, flags, and the truth where it is public."""
    row, p = decoded.row, decoded.posterior
    bands = [
        {
            "quantity": name,
            "low": _quantity(b.low, unit),
            "median": _quantity(b.median, unit),
            "high": _quantity(b.high, unit),
            "decades": b.decades,
            "prior": f"{_quantity(b.prior_low, unit)} to {_quantity(b.prior_high, unit)}",
        }
        for key, (name, unit) in _NAMES.items()
        if isinstance(b := getattr(p, key), Band)
    ]
    findings = [line for f in decoded.findings for line in _finding_lines(f)]
    return "\n".join(
        [
            *wrapped(
                f"{row.id} ({row.list_name}, read {row.as_of}), USD per million tokens: input"
                f" {row.input_usd_per_mtok:g}, output {row.output_usd_per_mtok:g}"
            ),
            "",
            *findings,
            render_table(_BANDS, bands),
            "",
            (
                f"{decoded.draws:,} draws (seed {decoded.seed}, prior of {decoded.prior_name}),"
                f" {p.effective_draws:,.0f} carry the weight. A hypothesis is not a fact."
            ),
            *_truth_lines(decoded, truth),
            *(line for flag in decoded.flags for line in wrapped(f"Note: {flag}.")),
        ]
    )


def decoded_json(decoded: Decoded, truth: Truth | None) -> dict[str, Any]:
    """Return the sheet, its findings and the posterior as JSON."""
    p = decoded.posterior
    return {
        "schema_version": SCHEMA_VERSION,
        "price": row_dict(decoded.row),
        "steps": [row_dict(r) for r in decoded.steps],
        "prior": decoded.prior_name,
        "draws": decoded.draws,
        "seed": decoded.seed,
        "effective_draws": p.effective_draws,
        "explained": p.explained,
        "posterior": {key: {**asdict(getattr(p, key))} for key in _NAMES},
        "findings": [asdict(f) for f in decoded.findings],
        "truth": None if truth is None else asdict(truth),
        "flags": list(decoded.flags),
    }


def _truth_lines(decoded: Decoded, truth: Truth | None) -> list[str]:
    if truth is None:
        return []
    p = decoded.posterior
    active = "inside" if p.active_params.holds(truth.active_params) else "outside"
    cache = "inside" if p.kv_bytes_per_token.holds(truth.kv_bytes_per_token) else "outside"
    return [
        (
            f"Public architecture {truth.model}: {significant(truth.active_params / 1e9)}e9 active"
            f" ({active} its band), {human(truth.kv_bytes_per_token, 'B')} of cache per token"
            f" ({cache} its band)."
        )
    ]


_SCORES = (
    Column(key="group", label="sheets of", align="left"),
    Column(key="num_cases", label="sheets"),
    Column(key="num_models", label="models"),
    Column(key="active_coverage", label="active in band"),
    Column(key="active_decades", label="width", digits=3),
    Column(key="active_prior_decades", label="prior", digits=3),
    Column(key="kv_coverage", label="cache in band"),
    Column(key="kv_decades", label="width", digits=3),
    Column(key="kv_prior_decades", label="prior", digits=3),
)
_CASES = (
    Column(key="price", label="price", align="left", wrap=True),
    Column(key="active", label="active: true, band", align="left"),
    Column(key="kv", label="cache: true, band", align="left"),
    Column(key="why", label="why missed", align="left", wrap=True),
)


def coverage_text(scores: Sequence[Coverage], found: Sequence[Case], *, every: bool) -> str:
    """Return scores, then the misses (or every case)."""
    shown = [c for c in found if every or c.why]
    rows = [
        {
            "price": c.price,
            "active": f"{c.active_params / 1e9:.3g}B in {c.active_band.low / 1e9:.3g}-"
            f"{c.active_band.high / 1e9:.3g}B",
            "kv": f"{c.kv_bytes_per_token / 1e3:.3g} in {c.kv_band.low / 1e3:.3g}-"
            f"{c.kv_band.high / 1e3:.3g} kB",
            "why": c.why,
        }
        for c in shown
    ]
    return "\n".join(
        [
            "Coverage of the 10-90 % bands; widths in decades (powers of ten), medians",
            "",
            render_table(_SCORES, [asdict(s) for s in scores]),
            "",
            (
                f"Before any sheet is read the prior alone holds"
                f" {scores[0].active_prior_coverage:.0%} and {scores[0].kv_prior_coverage:.0%}:"
                " a sheet without a context step\nnarrows the active size but says little about"
                " the cache, whose band is mostly the prior."
            ),
            "",
            render_table(_CASES, rows),
        ]
    )


def coverage_rows(found: Sequence[Case], style: Style) -> str:
    """Return every case as CSV or Markdown."""
    keys = ("price", "model", "active_params", "active_low", "active_high",
            "kv_bytes_per_token", "kv_low", "kv_high", "why")  # fmt: skip
    columns = [Column(key=k, label=k, align="left") for k in keys]
    return render_table(columns, [case_dict(c) for c in found], style=style)


def case_dict(case: Case) -> dict[str, Any]:
    """Return one case as a flat row."""
    return {
        "price": case.price,
        "model": case.model,
        "active_params": case.active_params,
        "active_low": case.active_band.low,
        "active_high": case.active_band.high,
        "kv_bytes_per_token": case.kv_bytes_per_token,
        "kv_low": case.kv_band.low,
        "kv_high": case.kv_band.high,
        "why": case.why,
    }
