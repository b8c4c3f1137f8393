"""A fitted record with its evidence, and the reasons for which one is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ridgeline.cost.own_curves import OwnCurve, OwnEngine, OwnLink
from ridgeline.validate.robust_fit import (
    LEAST_ROWS,
    ROWS_PER_FIGURE,
    Array,
    Fitted,
    median_error,
)
from ridgeline.validate.truth_rows import TruthRow

_DECILES_APART = 2.563
"""Standard deviations between the 10th and the 90th percentile of a normal distribution."""
_LEAST_SPREAD = 0.02
_MOST_WORDS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What was not fitted, and why."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedRecord:
    """One fitted record; errors are medians of |predicted / measured - 1|."""

    what: str
    """`gemm bf16`, `all_reduce`, `vllm` ..."""
    device: str
    rows: int
    figures: Mapping[str, float]
    """Fitted, in SI."""
    error_shipped: float
    error_fitted: float
    error_held_out: float
    """Of rows that the figures were not fitted to, each left out in turn."""
    spread: float
    """σ of ln(measured / predicted) of rows left out."""
    record: OwnCurve | OwnLink | OwnEngine | None = None
    shipped: Mapping[str, float] = field(default_factory=dict[str, float])
    """All figures of the form as shipped."""
    kept: tuple[str, ...] = ()
    """Those that the rows do not decide; they stay as shipped."""
    source: str = ""
    software: str = ""


def judged(what: str, device: str, fitted: Fitted | None, before: Array) -> FittedRecord | Refusal:
    """Return the record of a fit, or why there is none: too few rows, or no gain on rows left out.

    Args:
        what: Kind of record.
        device: Its device.
        fitted: None where the rows decide no figure.
        before: ln(measured / predicted) of the shipped figures.
    """
    name = f"{what} on {device}"
    if fitted is None:
        few = "1 row does" if before.size == 1 else f"{before.size} rows do"
        return Refusal(
            what=name,
            reason=f"{few} not decide a single figure: at least {LEAST_ROWS} rows are needed,"
            f" {ROWS_PER_FIGURE} per figure, of different sizes: small ones show the launch,"
            " large ones the shares of the peaks",
        )
    held_out, shipped = median_error(fitted.held_out), median_error(before)
    if held_out >= shipped:
        return Refusal(
            what=name,
            reason=f"rows left out are predicted no better than as shipped: {held_out:.1%} against"
            f" {shipped:.1%}; the shipped figures stand",
        )
    low, high = np.quantile(fitted.held_out, [0.1, 0.9])
    return FittedRecord(
        what=what,
        device=device,
        rows=before.size,
        figures=fitted.figures,
        error_shipped=shipped,
        error_fitted=median_error(fitted.residuals),
        error_held_out=held_out,
        spread=max(float(high - low) / _DECILES_APART, _LEAST_SPREAD),
    )


def sources(rows: Sequence[TruthRow]) -> dict[str, str]:
    """Return the files and the software of rows, as fields of a record."""
    files, engines = ({getattr(r, n) for r in rows} - {""} for n in ("file", "engine"))
    return {
        "source": ", ".join(sorted(files))[:_MOST_WORDS],
        "software": ", ".join(sorted(engines))[:_MOST_WORDS],
    }
