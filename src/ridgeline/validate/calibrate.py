"""`calibrate`: a user's own measurements become records over the shipped figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ridgeline.catalog import Catalog
from ridgeline.catalog.calibration import read_calibration
from ridgeline.cost.own_curves import Calibration, OwnCurve, OwnEngine, OwnLink
from ridgeline.errors import InputError, UnknownNameError
from ridgeline.readers.benchmarks import read_benchmarks
from ridgeline.study.explain_run import with_figures
from ridgeline.study.resolve import open_catalog
from ridgeline.validate.calibrate_engines import Result, calibrate_engines
from ridgeline.validate.calibrate_kernels import calibrate_kernels
from ridgeline.validate.calibrate_links import calibrate_links
from ridgeline.validate.fitted_record import FittedRecord, Refusal
from ridgeline.validate.predict import predictor_of
from ridgeline.validate.predict_collectives import predict_collectives
from ridgeline.validate.predict_kernels import predict_kernels
from ridgeline.validate.prediction import SECONDS
from ridgeline.validate.truth_rows import TruthRow, read_own_rows

_RESULTS = (".json", ".jsonl")
_ENTRIES = (".yaml", ".yml")
_TABLES = (".csv", ".csv.gz")
_FACTS: dict[str, Any] = {
    "model": None,
    "on": None,
    "devices": None,
    "degrees": {},
    "dtype": None,
    "kv_cache_dtype": None,
    "engine": "auto",
    "memory_share": 0.9,
    "catalog_dir": None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationResult:
    """What was fitted, what was refused, and what the fits go into."""

    date: str
    version: str
    """Of ridgeline, whose shipped figures stand where nothing was fitted."""
    records: tuple[FittedRecord, ...]
    refused: tuple[Refusal, ...]
    taken: tuple[Calibration, ...]
    """Records that a file held already: the device entries of `measure`."""


def calibrate(
    files: Sequence[Path], *, device: str | None = None, facts: Mapping[str, Any] | None = None
) -> CalibrationResult:
    """Return records fitted to files of measurements, each with its error before and after.

    Kernels first, then messages, then engines with the new kernels and messages.

    Args:
        files: CSV of kernels and collectives, JSON of benchmark tools, YAML of `measure`.
        device: Rows without a chip are of it, and only rows of it are used.
        facts: What benchmark files do not state: arguments of `deploy` and figures of `Measured`.

    Raises:
        InputError: a file that is none of these, or nothing that could be fitted; says why.
    """
    known = dict(facts or {})
    figures = known.pop("figures", {})
    catalog = open_catalog(known.get("catalog_dir"))
    name = None if device is None else _device_id(device, catalog)
    rows: list[TruthRow] = []
    results: list[Result] = []
    taken: list[Calibration] = []
    for path in files:
        if path.name.endswith(_TABLES):
            rows += read_own_rows(path, name or "")
        elif path.suffix in _ENTRIES:
            taken.append(read_calibration(path))
        elif path.suffix in _RESULTS:
            results += [
                Result(file=path.name, measured=with_figures(m, **figures))
                for m in read_benchmarks(path)
            ]
        else:
            raise InputError(
                f"{str(path)[:100]!r}: measurements are .csv (kernels, collectives), .json or"
                " .jsonl (results of benchmark tools) or .yaml (of `ridgeline measure`)."
            )
    records, refused = _fitted_rows(rows, name)
    own = merged([_calibration_of(records), *taken])
    if results:
        more, left = calibrate_engines(results, {**_FACTS, **known}, own)
        records, refused = [*records, *more], [*refused, *left]
    if not records and not taken:
        raise _nothing(refused)
    return CalibrationResult(
        date=datetime.now(tz=UTC).date().isoformat(),
        version=version("ridgeline"),
        records=tuple(records),
        refused=tuple(refused),
        taken=tuple(taken),
    )


def calibration_of(result: CalibrationResult) -> Calibration:
    """Return everything a calibration holds, as `deploy` takes it."""
    return merged([_calibration_of(result.records), *result.taken])


def merged(parts: Sequence[Calibration]) -> Calibration:
    """Return several calibrations as one; earlier ones win where they disagree."""
    found = Calibration()
    for part in parts:
        found = found.over(part)
    return found


def _calibration_of(records: Sequence[FittedRecord]) -> Calibration:
    found = [r.record for r in records]
    return Calibration(
        curves=tuple(r for r in found if isinstance(r, OwnCurve)),
        links=tuple(r for r in found if isinstance(r, OwnLink)),
        engines=tuple(r for r in found if isinstance(r, OwnEngine)),
    )


def _fitted_rows(
    rows: Sequence[TruthRow], device: str | None
) -> tuple[list[FittedRecord], list[Refusal]]:
    kernels = [r for r in rows if predictor_of(r) is predict_kernels]
    messages = [r for r in rows if predictor_of(r) is predict_collectives]
    strange = [r for r in (*kernels, *messages) if not _known(r.unit)]
    if strange:
        raise InputError(
            f"{strange[0].file}: unit must be us, ms, s, TFLOP/s, GB/s or G elem/s:"
            f" {strange[0].unit[:60]!r}."
        )
    others = [r for r in rows if predictor_of(r) not in (predict_kernels, predict_collectives)]
    if any(not r.chip for r in rows):
        raise InputError(
            "Some rows name no chip. Give --device: a name of `ridgeline list devices`."
        )
    records, refused = calibrate_kernels(kernels, device)
    more, left = calibrate_links(messages, device)
    if others:
        areas = ", ".join(sorted({r.area for r in others}))[:100]
        reason = f"area {areas}: only kernels and collectives are fitted from tables"
        left.append(Refusal(what=f"{len(others)} rows", reason=reason))
    return [*records, *more], [*refused, *left]


def _known(unit: str) -> bool:
    return unit.strip() in {*SECONDS, "TFLOP/s", "GB/s"} or unit.startswith("G elem")


def _device_id(text: str, catalog: Catalog) -> str:
    entry = catalog.find("devices", text)
    if entry is None:
        raise UnknownNameError(
            "device", text, catalog.names("devices"), list_command="ridgeline list devices"
        )
    return str(entry["id"])


def _nothing(refused: Sequence[Refusal]) -> InputError:
    if not refused:
        return InputError("No measurements of the device in these files.")
    lines = [f"  {r.what}: {r.reason.rstrip('.')}." for r in refused[:20]]
    return InputError("Nothing could be fitted:\n" + "\n".join(lines))
