"""A measured machine as text, JSON, CSV, and the device entry that the catalogue accepts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from ridgeline.errors import InputError
from ridgeline.report.estimate import finite
from ridgeline.report.flags import flag_lines, wrapped
from ridgeline.report.table import Column, Style, render_table
from ridgeline.units import human, significant

SCHEMA_VERSION = "1"
_SUFFIXES = (".yaml", ".yml")
_ID = re.compile(r"[a-z0-9][a-z0-9.\-]{0,79}")
_POINTS = (
    Column(key="context", label="context"),
    Column(key="batch", label="batch"),
    Column(key="measured_ms", label="measured"),
    Column(key="spread", label="10..90 %"),
    Column(key="predicted_ms", label="predicted"),
    Column(key="error", label="error %"),
    Column(key="ideal_ms", label="roofline"),
    Column(key="tokens_per_s", label="tok/s"),
    Column(key="bound_by", label="bound by", align="left"),
    Column(key="clean", label="quiet", align="left"),
)
_CURVES = (
    Column(key="name", label="kernel", align="left"),
    Column(key="launch_us", label="launch µs"),
    Column(key="compute", label="of peak %"),
    Column(key="bandwidth", label="of bandwidth %"),
    Column(key="unhidden", label="not hidden"),
    Column(key="tokens", label="tokens lost"),
    Column(key="error", label="fit error %"),
)
_CSV = ("context", "batch", "measured_s", "p10_s", "p90_s", "predicted_s", "ideal_s")


def measure_text(result: Any) -> str:
    """Return the measurement for people."""
    machine, fit = result.machine, result.fit
    count = machine["num_threads"]
    threads = "" if count is None else f", {count} thread{'s' * (count != 1)}"
    head = (
        f"{machine['name']} ({machine['cores']} cores), {machine['library']} on"
        f" {machine['device']}{threads}, {machine['format']}"
    )
    found = (
        f"memory bandwidth {human(fit.bandwidth_bytes_per_s, 'B/s')} (fastest read),"
        f" products {human(fit.flop_per_s, 'FLOP/s')} (fastest product)"
    )
    weights = result.shape.weight_elements * _element_bytes(result)
    model = (
        f"decode steps of a {result.shape.num_layers}-layer transformer,"
        f" {human(weights, 'B')} of weights read per step, predicted from the micro-benchmarks"
        f" alone (times in ms): {_verdict(result)}"
    )
    return "\n".join(
        [
            *wrapped(head),
            *wrapped(found),
            "",
            render_table(_CURVES, _curve_rows(fit)),
            "",
            *wrapped(model),
            render_table(_POINTS, _point_rows(result)),
            "",
            *_knee_lines(result.knees),
            *flag_lines(result.flags),
        ]
    )


def measure_rows(result: Any, style: Style) -> str:
    """Return the decode steps as CSV (SI, full precision) or Markdown."""
    if style == "csv":
        return render_table(
            [Column(key=k, label=k) for k in _CSV], _plain_points(result), style="csv"
        )
    return render_table(_POINTS, _point_rows(result), style=style)


def measure_json(result: Any) -> dict[str, Any]:
    """Return the stable JSON document; SI units, full precision."""
    return {
        "schema_version": SCHEMA_VERSION,
        "date": result.date,
        "machine": {k: finite(v) for k, v in result.machine.items()},
        "bandwidth_bytes_per_s": result.fit.bandwidth_bytes_per_s,
        "flop_per_s": result.fit.flop_per_s,
        "fit_errors": result.fit.errors,
        "kernels": [
            {
                "kind": k.kind,
                "name": k.name,
                "median_s": k.sample.median_s,
                "p10_s": k.sample.low_s,
                "p90_s": k.sample.high_s,
                "flop": k.flop,
                "bytes": k.moved_bytes,
                "undisturbed": k.sample.clean,
            }
            for k in result.kernels
        ],
        "rows": _plain_points(result),
        "median_error": result.median_error,
        "knees": [
            {"context": k.context, "measured": finite(k.measured), "predicted": finite(k.predicted)}
            for k in result.knees
        ],
        "flags": list(result.flags),
    }


def check_out(path: Path) -> str:
    """Return the id that a device file's name gives.

    Raises:
        InputError: a name that cannot be an id, another suffix, or no such folder.
    """
    name = path.name.removesuffix(path.suffix)
    if not path.parent.is_dir():
        raise InputError(f"--out: the folder {str(path.parent)!r} does not exist. Make it first.")
    if path.suffix not in _SUFFIXES or not _ID.fullmatch(name):
        raise InputError(
            f"--out must be named like my-machine.yaml, in lower-case letters, digits, dots and"
            f" hyphens: {path.name[:100]!r}."
        )
    return name


def device_yaml(result: Any, path: Path) -> str:
    """Return the machine as a device entry of the catalogue; the file's name is its id.

    Raises:
        InputError: see `check_out`.
    """
    name = check_out(path)
    machine = result.machine
    source = (
        f"`ridgeline measure` on {result.date}, {machine['library']} on {machine['device']},"
        f" threads: {machine['num_threads'] or 'all'}"
    )

    def measured(value: str, note: str) -> dict[str, str]:
        return {"value": value, "source": source, "kind": "measured", "note": note}

    entry: dict[str, Any] = {
        "kind": "device",
        "id": name,
        "name": machine["name"],
        "vendor": machine["vendor"],
        "generation": "measured",
        "confidence": "medium",
        "peak_flop_per_s": {
            machine["format"]: measured(
                f"{result.fit.flop_per_s / 1e9:.6g} GFLOP/s", "fastest matrix product, sustained"
            )
        },
        "memory": {
            "capacity": _capacity(machine["memory_bytes"], source),
            "bandwidth": measured(
                f"{result.fit.bandwidth_bytes_per_s / 1e9:.6g} GB/s", "fastest read, sustained"
            ),
        },
        "efficiency": result.efficiency_entries(name),
        "note": "sustained rates of the library named above, not a data sheet's",
    }
    if machine["cache_bytes"]:
        entry["cache"] = measured(
            f"{machine['cache_bytes'] / 2**20:.6g} MiB", "as the operating system says"
        )
    return yaml.safe_dump(entry, sort_keys=False, allow_unicode=True, width=100)


def _capacity(memory_bytes: float | None, source: str) -> dict[str, str]:
    if memory_bytes is None:
        raise InputError("--out: the system does not say how much memory it has.")
    return {
        "value": f"{memory_bytes / 1e9:.6g} GB",
        "source": source,
        "kind": "measured",
        "note": "as the operating system says",
    }


def _verdict(result: Any) -> str:
    quiet = sum(p.sample.clean for p in result.points)
    if not quiet:
        return "no verdict, other programs disturbed every step"
    of = "" if quiet == len(result.points) else f" over {quiet} undisturbed steps"
    return f"median error {significant(result.median_error * 100)} %{of}"


def _element_bytes(result: Any) -> int:
    return 4 if result.machine["format"] == "fp32" else 2


def _knee_lines(knees: Any) -> list[str]:
    return [
        "knee (the batch where what grows with it takes as long as what does not):",
        *(
            f"  context {k.context:,}: measured {significant(k.measured)},"
            f" predicted {significant(k.predicted)}"
            for k in knees
        ),
    ]


def _curve_rows(fit: Any) -> list[dict[str, Any]]:
    boundary = f"{fit.boundary_tokens:,.0f}"
    curves = (
        ("product, batch 1", fit.vector, "product, one row"),
        ("product, larger batch", fit.product, "product, more rows"),
        (f"attention to {boundary} tokens", fit.short_attention, "attention"),
        ("attention beyond", fit.long_attention, "attention"),
        ("element-wise", fit.element, "element-wise"),
    )
    rows: list[dict[str, Any]] = []
    for name, curve, key in curves:
        product = key == "product, more rows"
        rows.append(
            {
                "name": name,
                "launch_us": float(curve.launch_s) * 1e6,
                "compute": float(curve.compute_share) * 100 if product else None,
                "bandwidth": float(curve.bandwidth_share) * 100,
                "unhidden": float(curve.unhidden) if product else None,
                "tokens": float(curve.page_tokens) if key == "attention" else None,
                "error": fit.errors[key] * 100,
            }
        )
    return rows


def _point_rows(result: Any) -> list[dict[str, Any]]:
    return [
        {
            "context": p.context,
            "batch": p.batch,
            "measured_ms": p.sample.median_s * 1e3,
            "spread": f"{significant(p.sample.low_s * 1e3)}..{significant(p.sample.high_s * 1e3)}",
            "predicted_ms": p.predicted_s * 1e3,
            "error": p.error * 100,
            "ideal_ms": p.ideal_s * 1e3,
            "tokens_per_s": p.batch / p.sample.median_s,
            "bound_by": p.bound_by,
            "clean": p.sample.clean,
        }
        for p in result.points
    ]


def _plain_points(result: Any) -> list[dict[str, Any]]:
    return [
        {
            "context": p.context,
            "batch": p.batch,
            "measured_s": p.sample.median_s,
            "p10_s": p.sample.low_s,
            "p90_s": p.sample.high_s,
            "predicted_s": p.predicted_s,
            "ideal_s": p.ideal_s,
            "undisturbed": p.sample.clean,
        }
        for p in result.points
    ]
