"""From micro-benchmarks to efficiency curves: few figures each, fitted on logarithms."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ridgeline.cost.efficiency import Curve, Efficiency
from ridgeline.cost.own_curves import OwnCurve
from ridgeline.study.measure_kernels import Kernel

Array = NDArray[np.float64]
_GRID = 24
_ROUNDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A device as the micro-benchmarks show it."""

    bandwidth_bytes_per_s: float
    """Fastest of the reading kernels."""
    flop_per_s: float
    """Of the square product, or of the skinny ones where they are faster."""
    vector: Curve
    """Products of one row: matrix times vector."""
    product: Curve
    """Products of more rows."""
    short_attention: Curve
    """Attention over at most `boundary_tokens` cached tokens."""
    long_attention: Curve
    boundary_tokens: float
    element: Curve
    errors: dict[str, float]
    """Median absolute error of the fit on its own micro-benchmarks, by kind [1]."""

    def records(self, form: str, device: str, spread: float) -> tuple[OwnCurve, ...]:
        """Return the curves as records of a device: one that switches with size is two.

        Args:
            form: Format of the arithmetic, a `kernel_form`.
            device: Id.
            spread: σ of ln(measured / predicted) of steps.
        """
        curves = (
            ("gemm", self.product, np.inf),
            ("gemm", self.vector, 1.0),
            ("attention_decode", self.long_attention, np.inf),
            ("attention_decode", self.short_attention, self.boundary_tokens),
            ("elementwise", self.element, np.inf),
        )
        return tuple(
            OwnCurve(
                kind=kind,
                form=form,
                device=device,
                curve=replace(curve, spread=spread),
                up_to=up_to,
            )
            for kind, curve, up_to in curves
        )

    def efficiency(self, *, rows: float, context: float) -> Efficiency:
        """Return the curves of a decode step of `rows` sequences over `context` tokens."""
        short = context <= self.boundary_tokens
        return Efficiency(
            name="measured",
            curves={
                "gemm": self.vector if rows <= 1 else self.product,
                "attention": self.short_attention if short else self.long_attention,
                "elementwise": self.element,
            },
            default=self.element,
            source="micro-benchmarks of `ridgeline measure` on this machine",
        )


def fit_kernels(kernels: Sequence[Kernel]) -> Fit:
    """Return peaks and curves from micro-benchmarks alone.

    One row (matrix times vector): t = launch + bytes / (b·W).
    More rows (libraries first copy the matrix into their own order):
    t = launch + max(a, d) + κ·min(a, d).
    Attention: t = launch + (tokens + p)·bytes per token / (b·W), few and many tokens apart.
    Element-wise: t = launch + bytes / (b·W).

    Source: first principles.
    """
    groups = {
        kind: [k for k in kernels if k.kind == kind]
        for kind in ("read", "gemm", "skinny", "attention", "elementwise")
    }
    bandwidth = max(k.bytes_per_s for k in groups["read"] + _one_row(groups["skinny"]))
    peak = max(k.flop_per_s for k in groups["gemm"] + groups["skinny"])
    many = [k for k in groups["skinny"] if k.rows > 1]
    product, product_error = _product_curve(many, bandwidth, peak)
    vector, vector_error = _linear_curve(_one_row(groups["skinny"]), bandwidth)
    (short, long), boundary, seen_error = _attention_curve(groups["attention"], bandwidth)
    element, element_error = _linear_curve(groups["elementwise"], bandwidth)
    return Fit(
        bandwidth_bytes_per_s=bandwidth,
        flop_per_s=peak,
        vector=vector,
        product=product,
        short_attention=short,
        long_attention=long,
        boundary_tokens=boundary,
        element=element,
        errors={
            "product, one row": vector_error,
            "product, more rows": product_error,
            "attention": seen_error,
            "element-wise": element_error,
        },
    )


def _one_row(kernels: Sequence[Kernel]) -> list[Kernel]:
    return [k for k in kernels if k.rows == 1]


def _arrays(kernels: Sequence[Kernel]) -> tuple[Array, Array, Array]:
    return (
        np.array([k.sample.median_s for k in kernels]),
        np.array([k.flop for k in kernels]),
        np.array([k.moved_bytes for k in kernels]),
    )


def product_time(flop: Array, moved: Array, figures: tuple[Array, ...]) -> Array:
    """Return launch + max(a, d) + κ·min(a, d) [s] for figures (launch, a per FLOP, d per byte, κ).

    >>> one = np.array(1.0)
    >>> float(product_time(2 * one, 3 * one, (one, one, one, one / 2)))
    5.0
    """
    launch, per_flop, per_byte, overlap = figures
    a, d = flop * per_flop, moved * per_byte
    return launch + np.maximum(a, d) + overlap * np.minimum(a, d)


def _product_curve(kernels: Sequence[Kernel], bandwidth: float, peak: float) -> tuple[Curve, float]:
    """Return the curve with the smallest mean absolute log error, by a grid that closes in."""
    time, flop, moved = _arrays(kernels)
    shares = [np.geomspace(0.05, 1.0, _GRID), np.geomspace(0.05, 1.0, _GRID)]
    overlaps = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    launches = np.array([0.0, 2e-6, 10e-6, 40e-6])
    best: tuple[float, ...] = (np.inf, 0.0, 1.0, 1.0, 0.0)
    for _ in range(_ROUNDS):
        for launch, overlap in itertools.product(launches, overlaps):
            b, c = np.meshgrid(*shares, indexing="ij")
            model = product_time(
                flop,
                moved,
                (
                    np.asarray(launch),
                    1 / (peak * c[..., None]),
                    1 / (bandwidth * b[..., None]),
                    np.asarray(overlap),
                ),
            )
            error = np.abs(np.log(model / time)).mean(axis=-1)
            at = np.unravel_index(np.argmin(error), error.shape)
            if error[at] < best[0]:
                best = (float(error[at]), float(launch), float(b[at]), float(c[at]), float(overlap))
        around = np.geomspace(0.8, 1.25, _GRID)
        shares = [np.minimum(best[2] * around, 1.0), np.minimum(best[3] * around, 1.0)]
    _, launch, share, compute, overlap = best
    curve = Curve(launch_s=launch, compute_share=compute, bandwidth_share=share, unhidden=overlap)
    figures = tuple(
        np.asarray(x) for x in (launch, 1 / (peak * compute), 1 / (bandwidth * share), overlap)
    )
    return curve, _median_error(product_time(flop, moved, figures), time)


def _linear_curve(kernels: Sequence[Kernel], bandwidth: float) -> tuple[Curve, float]:
    time, _, moved = _arrays(kernels)
    launch, slope = _non_negative(np.stack([np.ones_like(moved), moved], axis=1), time)
    curve = Curve(launch_s=launch, bandwidth_share=1 / (slope * bandwidth))
    return curve, _median_error(launch + slope * moved, time)


def _attention_curve(
    kernels: Sequence[Kernel], bandwidth: float
) -> tuple[tuple[Curve, Curve], float, float]:
    """Return the curves for few and for many cached tokens, where they part, and the error.

    Libraries switch kernels with the size of a product; the boundary is the one between tried
    sizes that fits best, with at least three kernels on either side.
    """
    tokens = np.array([k.moved_bytes / k.sequence_bytes for k in kernels])
    time = np.array([k.sample.median_s for k in kernels])
    best: tuple[float, float, Curve, Curve, Array] | None = None
    for boundary in np.unique(tokens):
        low, high = tokens <= boundary, tokens > boundary
        if min(low.sum(), high.sum()) < 3:
            continue
        few, model_few = _one_attention_curve(kernels, low, bandwidth)
        many, model_many = _one_attention_curve(kernels, high, bandwidth)
        model = np.where(low, model_few, model_many)
        error = float(np.abs(np.log(model / time)).mean())
        if best is None or error < best[0]:
            best = (error, float(boundary), few, many, model)
    assert best is not None  # noqa: S101  a dozen sizes leave three on either side
    return (best[2], best[3]), best[1], _median_error(best[4], time)


def _one_attention_curve(
    kernels: Sequence[Kernel], mask: NDArray[np.bool_], bandwidth: float
) -> tuple[Curve, Array]:
    time, _, moved = _arrays(kernels)
    per_token = np.array([k.sequence_bytes for k in kernels])
    design = np.stack([np.ones_like(moved), per_token, moved], axis=1)
    launch, fixed, slope = _non_negative(design[mask], time[mask])
    curve = Curve(
        launch_s=launch, page_tokens=fixed / slope, bandwidth_share=1 / (slope * bandwidth)
    )
    return curve, launch + fixed * per_token + slope * moved


def _non_negative(design: Array, time: Array) -> tuple[float, ...]:
    """Return least squares of relative errors with coefficients of at least zero.

    Every subset of the columns that keeps the last is tried; there are two or three.
    """
    scaled = design / time[:, None]
    last = design.shape[1] - 1
    best: tuple[float, Array] | None = None
    for chosen in itertools.product((True, False), repeat=last):
        mask = np.array([*chosen, True])
        values = np.linalg.lstsq(scaled[:, mask], np.ones_like(time), rcond=None)[0]
        if np.any(values < 0):
            continue
        full = np.zeros(design.shape[1])
        full[mask] = values
        error = float(np.abs(scaled @ full - 1).mean())
        if best is None or error < best[0]:
            best = (error, full)
    assert best is not None  # noqa: S101  the last column alone is positive: times and work are
    return tuple(float(x) for x in best[1])


def _median_error(model: Array, time: Array) -> float:
    return float(np.median(np.abs(model / time - 1)))


def knee(batch: Sequence[float], time_s: Sequence[float]) -> float:
    """Return the batch where what grows with it equals what does not: a / b of t = a + b·B.

    A line through steps of two sequences and more, least squares of relative errors; with one
    sequence libraries run another kernel.

    >>> round(knee([2, 4, 8, 16], [12.0, 14.0, 18.0, 26.0]), 6)
    10.0
    """
    b, t = np.asarray(batch, dtype=float), np.asarray(time_s, dtype=float)
    many = b > 1
    fixed, slope = _non_negative(np.stack([np.ones_like(b[many]), b[many]], axis=1), t[many])
    return fixed / slope
