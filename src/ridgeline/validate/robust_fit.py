"""Few positive figures fitted to logarithms of measured over predicted, within bounds.

Large residuals count with their size, not their square (soft L1), so that one disturbed row does
not move a figure. A figure that the rows do not decide is not fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Figures = Mapping[str, float]
Residual = Callable[[Figures], Array]
"""ln(measured / predicted) of every row, given the figures."""
Bounds = Mapping[str, tuple[float, float]]

ROWS_PER_FIGURE = 3
"""Rows that a fitted figure needs at least."""
LEAST_ROWS = 4
_SCALE = 0.1
"""Residuals above 10 % count less than their square."""
_UNDECIDED = 0.35
"""Standard error of ln(figure) above which the rows do not decide it."""
_LEAST_NOISE = 0.02
_STEP, _CLOSE = 1e-4, 1e-5
_ROUNDS = 60
_FOLDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """Figures that the rows decide, and how well they do."""

    figures: dict[str, float]
    residuals: Array
    """Of all rows with these figures."""
    held_out: Array
    """Of every row, with figures fitted without it (and its fold)."""


def median_error(residuals: Array) -> float:
    """Return the median of |predicted / measured - 1|."""
    return float(np.median(np.abs(np.expm1(-residuals))))


def robust_fit(residual: Residual, start: Figures, bounds: Bounds) -> Fitted | None:
    """Return the fit over as many of the figures as the rows decide; None where they decide none.

    Args:
        residual: Of all rows.
        start: Every figure that may be fitted, above zero.
        bounds: Lowest and highest physical value of each.

    Source: Gauss-Newton with damping (Marquardt 1963) on soft-L1 weights; the variance of a
    figure is that of the diagonal of (JᵀJ)⁻¹.
    """
    count = residual(start).size
    if count < LEAST_ROWS:
        return None
    names = list(start)
    while names:
        found = _best(residual, names, start, bounds)
        error = _standard_errors(residual, names, {**start, **found})
        worst = int(np.argmax(error))
        if error[worst] <= _UNDECIDED and len(names) * ROWS_PER_FIGURE <= count:
            return Fitted(
                figures=found,
                residuals=residual({**start, **found}),
                held_out=_held_out(residual, names, {**start, **found}, bounds),
            )
        del names[worst]
    return None


def _best(
    residual: Residual, names: Sequence[str], start: Figures, bounds: Bounds
) -> dict[str, float]:
    """Return the best of several starts: times are maxima, whose fits have local optima."""
    rows = np.arange(residual(start).size)
    tries: list[dict[str, float]] = []
    for share in (0.0, -0.7, 0.7):
        moved = {n: start[n] * float(np.exp(share)) for n in names}
        tries.append(_descend(residual, rows, names, {**start, **moved}, bounds))
    return min(tries, key=lambda f: _cost(residual({**start, **f})))


def _cost(r: Array) -> float:
    return float(np.sum(np.sqrt(1 + (r / _SCALE) ** 2) - 1))


def _descend(
    residual: Residual,
    rows: NDArray[np.int64],
    names: Sequence[str],
    start: Figures,
    bounds: Bounds,
) -> dict[str, float]:
    low, high = (np.log([bounds[n][i] for n in names]) for i in (0, 1))

    def at(x: Array) -> Array:
        return residual({**start, **dict(zip(names, np.exp(x).tolist(), strict=True))})[rows]

    x: Array = np.clip(np.log([start[n] for n in names]), low, high).astype(np.float64)
    r, damping = at(x), 1e-2
    for _ in range(_ROUNDS):
        jacobian = np.stack([(at(x + _STEP * e) - r) / _STEP for e in np.eye(len(names))], axis=1)
        weight = 1 / np.sqrt(1 + (r / _SCALE) ** 2)
        gradient = jacobian.T @ (weight * r)
        # A figure at its bound that wants beyond it stands still.
        free = ~(((x <= low) & (gradient > 0)) | ((x >= high) & (gradient < 0)))
        normal = (jacobian.T * weight) @ jacobian * np.outer(free, free)
        normal = normal + np.diag(damping * np.diag(normal) + 1e-9)
        step = np.linalg.solve(normal, -gradient * free)
        trial: Array = np.clip(x + np.clip(step, -1, 1), low, high)
        moved = at(trial)
        if _cost(moved) < _cost(r):
            small = float(np.max(np.abs(trial - x))) < _CLOSE
            x, r, damping = trial, moved, damping / 4
            if small:
                break
        else:
            damping *= 8
            if damping > 1e8:
                break
    return dict(zip(names, np.exp(x).tolist(), strict=True))


def _standard_errors(residual: Residual, names: Sequence[str], figures: Figures) -> Array:
    """Return the standard error of the logarithm of each figure."""
    r = residual(figures)
    columns = [(residual({**figures, n: figures[n] * np.exp(0.05)}) - r) / 0.05 for n in names]
    jacobian = np.stack(columns, axis=1)
    noise = max(float(np.median(np.abs(r))) * 1.483, _LEAST_NOISE)
    variance = np.linalg.pinv(jacobian.T @ jacobian + 1e-9 * np.eye(len(names)))
    return np.asarray(noise * np.sqrt(np.abs(np.diag(variance))))


def _held_out(residual: Residual, names: Sequence[str], figures: Figures, bounds: Bounds) -> Array:
    """Return every row's residual with figures from the other rows (folds of many rows)."""
    count = residual(figures).size
    fold = np.arange(count) % min(count, _FOLDS)
    result = np.zeros(count)
    for k in np.unique(fold):
        rest = np.flatnonzero(fold != k)
        other = _descend(residual, rest, names, figures, bounds)
        result[fold == k] = residual({**figures, **other})[fold == k]
    return result
