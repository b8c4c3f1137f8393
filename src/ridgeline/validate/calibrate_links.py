"""Messages of a user's device from collective rows: ratios to the shipped records."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from ridgeline.cost.own_curves import Calibration, OwnLink
from ridgeline.model.work import Message
from ridgeline.validate.chip_names import find_chip
from ridgeline.validate.fitted_record import FittedRecord, Refusal, judged, sources
from ridgeline.validate.predict_collectives import (
    collective_kind,
    library_cost,
    library_message,
    predict_collectives,
)
from ridgeline.validate.prediction import SECONDS, NotPredicted, calibrated_by
from ridgeline.validate.robust_fit import Array, Figures, robust_fit
from ridgeline.validate.truth_rows import TruthRow

BOUNDS = {"latency_ratio": (0.1, 20.0), "bandwidth_ratio": (0.1, 5.0)}
"""The share of a link never exceeds all of it, whatever the ratio."""
_START = {"latency_ratio": 1.0, "bandwidth_ratio": 1.0}


def calibrate_links(
    rows: Sequence[TruthRow], device: str | None
) -> tuple[list[FittedRecord], list[Refusal]]:
    """Return one record per collective and device, and what could not be fitted.

    Args:
        rows: Collective rows.
        device: Keep rows of this device only; None keeps all.
    """
    groups: dict[tuple[str, str], list[TruthRow]] = defaultdict(list)
    reasons: Counter[str] = Counter()
    answers = predict_collectives(rows)
    for row in rows:
        kind, answer = collective_kind(row), answers[row.id]
        if isinstance(answer, NotPredicted) or kind is None:
            reasons[answer.reason if isinstance(answer, NotPredicted) else _EXCHANGE] += 1
            continue
        name = find_chip(row.machine).device.id
        if device is None or name == device:
            groups[kind, name].append(row)
    refused = [Refusal(what=f"{n} rows", reason=reason) for reason, n in reasons.items()]
    records: list[FittedRecord] = []
    for (kind, name), members in sorted(groups.items()):
        found = _fit(kind, name, members)
        if isinstance(found, Refusal):
            refused.append(found)
        else:
            records.append(found)
    return records, refused


_EXCHANGE = "exchanges of experts are not fitted: the shipped figures stand"


def _fit(kind: str, device: str, rows: list[TruthRow]) -> FittedRecord | Refusal:
    batches: dict[tuple[str, float], list[tuple[TruthRow, Message]]] = defaultdict(list)
    for row in rows:
        message = library_message(row)
        if message is not None:
            batches[row.machine, float(message.group)].append((row, message))
    ordered = [row for batch in batches.values() for row, _ in batch]
    together = [
        (chip, replace(batch[0][1], payload_bytes=np.array([m.payload_bytes for _, m in batch])))
        for (chip, _), batch in batches.items()
    ]
    measured = np.log([_seconds(r, m) for batch in batches.values() for r, m in batch])

    def residual(figures: Figures) -> Array:
        own = OwnLink(kind=kind, device=device, **dict(figures))
        with calibrated_by(Calibration(links=(own,))):
            times = [np.asarray(library_cost(m, chip).time_s) for chip, m in together]
        return np.asarray(measured - np.log(np.concatenate(times)))

    fitted = robust_fit(residual, _START, BOUNDS)
    found = judged(kind, device, fitted, residual(_START))
    if isinstance(found, Refusal) or fitted is None:
        return cast("Refusal", found)
    return replace(
        found,
        record=OwnLink(kind=kind, device=device, **fitted.figures),
        shipped=_START,
        kept=tuple(n for n in _START if n not in fitted.figures),
        **sources(ordered),
    )


def _seconds(row: TruthRow, message: Message) -> float:
    """Return the measured time [s], also of a row that states a bus bandwidth."""
    if row.unit.strip() in SECONDS:
        return row.value * SECONDS[row.unit.strip()]
    ranks = float(message.group)
    return float(message.payload_bytes) * 2 * (ranks - 1) / ranks / (row.value * 1e9)
