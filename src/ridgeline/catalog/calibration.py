"""Calibration records as entries: the fitted figures of a user's machine and their evidence.

They stand in a file of their own (`ridgeline calibrate --out`), or under `efficiency` of a device
entry (`ridgeline measure --out`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ridgeline.catalog.store import Catalog
from ridgeline.cost.efficiency import Curve
from ridgeline.cost.own_curves import FIGURES, Calibration, OwnCurve, OwnEngine, OwnLink
from ridgeline.errors import InputError

_US = 1e-6


def curve_of(entry: Mapping[str, Any], device: str) -> OwnCurve:
    """Return a curve from its entry; figures that it leaves out are the ideal ones."""
    figures = {
        n: float(entry[key]) * unit
        for n in FIGURES
        for key, unit in (_key(n),)
        if entry.get(key) is not None
    }
    up_to = entry.get("up_to")
    return OwnCurve(
        kind=entry["family"],
        form=entry["format"],
        device=device,
        curve=Curve(spread=float(entry["spread"]), **figures),
        up_to=np.inf if up_to is None else float(up_to),
    )


def curve_entry(record: OwnCurve) -> dict[str, Any]:
    """Return a curve as an entry, without its device; figures that change nothing are left out."""
    curve, ideal = record.curve, Curve()
    entry: dict[str, Any] = {"family": record.kind, "format": record.form}
    if np.isfinite(record.up_to):
        entry["up_to"] = record.up_to
    for name in FIGURES:
        value = float(getattr(curve, name))
        if name == "launch_s" or name.endswith("_share") or value != getattr(ideal, name):
            key, unit = _key(name)
            entry[key] = _rounded(value / unit)
    return {**entry, "spread": _rounded(curve.spread)}


def _key(figure: str) -> tuple[str, float]:
    """Return an entry's key for a figure of a curve, and its unit: times stand in µs."""
    return (f"{figure[:-2]}_us", _US) if figure.endswith("_s") else (figure, 1.0)


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def device_calibration(catalog: Catalog, device: str) -> Calibration:
    """Return what the catalogue's entry of a device says was measured on it; usually nothing."""
    entry = catalog.find("devices", device) or {}
    rows: list[Mapping[str, Any]] = entry.get("efficiency") or []
    return Calibration(
        curves=tuple(curve_of(row, device) for row in rows),
        source=f"kernels measured on {device}, in its catalogue entry",
    )


def read_calibration(path: Path) -> Calibration:
    """Return the records of a file that `ridgeline calibrate --out` wrote, or of a device entry.

    Raises:
        InputError: not readable, or an entry breaks a rule; the sentence says which.
    """
    # pydantic and PyYAML take 0.2 s, which only those pay who calibrate.
    from pydantic import ValidationError  # noqa: PLC0415

    from ridgeline.catalog.schema import CalibrationEntry  # noqa: PLC0415
    from ridgeline.catalog.yaml_files import (  # noqa: PLC0415
        entry_faults,
        fault_sentence,
        read_yaml,
    )

    data = read_yaml(path)
    if data.get("kind") == "device":
        faults = entry_faults("devices", data, str(path))
        if faults:
            raise InputError("\n".join(faults))
        curves: list[Mapping[str, Any]] = data.get("efficiency") or []
        rows = [{**row, "device": data["id"]} for row in curves]
        if not rows:
            raise InputError(
                f"{path.name}: a device entry without `efficiency`: nothing was measured there."
                " `ridgeline measure --out` writes entries that have it."
            )
        return _calibration({"curves": rows}, path.name)
    if data.get("kind") != "calibration":
        raise InputError(
            f"{path.name}: kind: must be calibration (`ridgeline calibrate --out` writes such"
            f" files) or device: {str(data.get('kind'))[:60]!r}."
        )
    try:
        CalibrationEntry.model_validate(data)
    except ValidationError as error:
        raise InputError(
            "\n".join(fault_sentence(path.name, fault) for fault in error.errors()[:20])
        ) from error
    return _calibration(data, path.name)


def _calibration(data: Mapping[str, Any], name: str) -> Calibration:
    def rows(key: str) -> Iterable[Mapping[str, Any]]:
        return data.get(key) or ()

    return Calibration(
        curves=tuple(curve_of(row, row["device"]) for row in rows("curves")),
        links=tuple(
            OwnLink(
                kind=row["collective"],
                device=row["device"],
                latency_ratio=float(row["latency_ratio"]),
                bandwidth_ratio=float(row["bandwidth_ratio"]),
            )
            for row in rows("collectives")
        ),
        engines=tuple(
            OwnEngine(
                engine=row["engine"],
                device=row["device"],
                layer_s=float(row["layer_us"]) * _US,
                sequence_s=float(row["sequence_us"]) * _US,
            )
            for row in rows("engines")
        ),
        source=f"own measurements ({name})",
    )
