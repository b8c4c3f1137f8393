"""Curves of a user's device from kernel rows: the shipped form, with its figures fitted again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ridgeline.cost.efficiency import MOST_DECODE_TOKENS, Curve
from ridgeline.cost.efficiency_records import CALIBRATED
from ridgeline.cost.kernel_forms import kernel_form
from ridgeline.cost.own_curves import Calibration, OwnCurve, with_curves
from ridgeline.model.work import Operation
from ridgeline.validate.fitted_record import FittedRecord, Refusal, judged, sources
from ridgeline.validate.predict_kernels import KernelBatch, kernel_batches
from ridgeline.validate.prediction import NotPredicted
from ridgeline.validate.robust_fit import Array, Figures, robust_fit
from ridgeline.validate.truth_rows import TruthRow

_COMMON = ("launch_s", "compute_share", "bandwidth_share", "unhidden", "tail_tiles")
FORMS: dict[str, tuple[str, ...]] = {
    "gemm": (*_COMMON, "quantize_passes"),
    "expert_gemm": (*_COMMON, "row_tile", "quantize_passes"),
    "attention_prefill": (*_COMMON, "softmax_width"),
    "attention_decode": ("launch_s", "compute_share", "bandwidth_share", "page_tokens"),
    "latent_attention_prefill": _COMMON,
    "latent_attention_decode": (
        "launch_s",
        "compute_share",
        "bandwidth_share",
        "unhidden",
        "page_tokens",
    ),
    "elementwise": ("launch_s", "bandwidth_share"),
}
"""Figures of each kind of kernel, as in the shipped fits."""
BOUNDS = {
    "launch_s": (2e-7, 1e-3),
    "compute_share": (0.02, 1.0),
    "bandwidth_share": (0.02, 1.0),
    "unhidden": (1e-3, 1.0),
    "tail_tiles": (1e-3, 1000.0),
    "row_tile": (1.0, 256.0),
    "quantize_passes": (1e-3, 8.0),
    "page_tokens": (1e-3, 2000.0),
    "softmax_width": (1e-3, 300.0),
}
"""What physics allows: shares of a peak are at most 1."""
_Key = tuple[str, str, str]


def calibrate_kernels(
    rows: Sequence[TruthRow], device: str | None
) -> tuple[list[FittedRecord], list[Refusal]]:
    """Return one record per kind of kernel, format and device, and what could not be fitted.

    Args:
        rows: Kernel rows.
        device: Keep rows of this device only; None keeps all.
    """
    batches, answers = kernel_batches(rows)
    refused = [
        Refusal(what=f"{sum(a == b for b in answers.values())} rows", reason=a.reason)
        for a in dict.fromkeys(answers.values())
        if isinstance(a, NotPredicted)
    ]
    groups: dict[_Key, list[KernelBatch]] = defaultdict(list)
    for batch in (pure for b in batches for pure in _pure(b)):
        if device is None or batch.device.id == device:
            operation = _main(batch)
            key = (_kind(operation), kernel_form(operation, batch.device), batch.device.id)
            groups[key].append(batch)
    records: list[FittedRecord] = []
    for key, members in sorted(groups.items()):
        found = _fit(key, members)
        if isinstance(found, Refusal):
            refused.append(found)
        else:
            records.append(found)
    return records, refused


def _main(batch: KernelBatch) -> Operation:
    return max(batch.executed, key=lambda o: float(np.sum(o.flop)))


def _many(operation: Operation) -> Any:
    return np.greater(operation.shape.get("new_tokens", 1), MOST_DECODE_TOKENS)


def _kind(operation: Operation) -> str:
    if "attention" not in operation.family:
        return operation.family
    return f"{operation.family}_{'prefill' if np.all(_many(operation)) else 'decode'}"


def _pure(batch: KernelBatch) -> list[KernelBatch]:
    """Return a batch, or its rows of few and of many new tokens apart."""
    many = np.broadcast_to(_many(_main(batch)), (len(batch.rows),))
    if "attention" not in _main(batch).family or many.all() or not many.any():
        return [batch]
    halves = ([r for r, m in zip(batch.rows, many, strict=True) if m == side] for side in (0, 1))
    return [b for half in halves for b in kernel_batches(half)[0]]


def _fit(key: _Key, members: list[KernelBatch]) -> FittedRecord | Refusal:
    kind, form, device = key
    what = f"{kind.replace('_', ' ')} {form}"
    shipped = CALIBRATED.curve(_main(members[0]), members[0].device)
    measured = [np.log(b.measured_s) for b in members]
    if kind not in FORMS:
        return Refusal(what=what, reason="no form to fit: the shipped figures stand")

    before = np.concatenate(
        [m - np.log(b.seconds(CALIBRATED)) for m, b in zip(measured, members, strict=True)]
    )
    if not np.isfinite(before).all():
        return Refusal(what=f"{what} on {device}", reason="a row lacks one of its sizes")

    def residual(figures: Figures) -> Array:
        record = OwnCurve(kind=kind, form=form, device=device, curve=_with(shipped, figures))
        efficiency = with_curves(CALIBRATED, Calibration(curves=(record,)))
        return np.concatenate(
            [m - np.log(b.seconds(efficiency)) for m, b in zip(measured, members, strict=True)]
        )

    start = {
        name: float(np.clip(float(getattr(shipped, name)), *BOUNDS[name]))
        for name in FORMS[kind]
        if name != "quantize_passes" or form not in ("bf16", "w4a16", "w8a16")
    }
    fitted = robust_fit(residual, start, BOUNDS)
    rows = [row for b in members for row in b.rows]
    judgement = judged(what, device, fitted, before)
    if isinstance(judgement, Refusal) or fitted is None:
        return judgement if isinstance(judgement, Refusal) else Refusal(what=what, reason="")
    curve = replace(_with(shipped, fitted.figures), spread=judgement.spread)
    return replace(
        judgement,
        record=OwnCurve(kind=kind, form=form, device=device, curve=curve),
        shipped={name: float(getattr(shipped, name)) for name in start},
        kept=tuple(name for name in start if name not in fitted.figures),
        **sources(rows),
    )


def _with(curve: Curve, figures: Figures) -> Curve:
    return replace(curve, **dict(figures))
