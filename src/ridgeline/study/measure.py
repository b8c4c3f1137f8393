"""Measure the machine in front of you, predict a small real model on it, and run that model."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from ridgeline.catalog.calibration import curve_entry
from ridgeline.cost.efficiency import IDEAL, Efficiency
from ridgeline.cost.own_curves import OwnCurve
from ridgeline.hardware import Cluster
from ridgeline.hardware.records import Device, MemoryTier
from ridgeline.model.layout import Layout
from ridgeline.model.precision import Precision
from ridgeline.phase.deployment import Deployment, step_breakdown
from ridgeline.study.measure_backend import Backend, Sample, backend_named
from ridgeline.study.measure_fit import Fit, fit_kernels, knee
from ridgeline.study.measure_kernels import NUM_KERNELS, Kernel, run_kernels
from ridgeline.study.measure_model import Shape, SmallTransformer

BATCHES = (1, 2, 4, 8, 16, 32, 64)
QUICK_BATCHES = (1, 2, 8, 32, 64)
CONTEXTS = (128, 1024)
QUICK_CONTEXTS = (256,)
_CACHE_GUESS_BYTES = 32.0 * 2**20
_TIMES_CACHE = 6
_MOST_LAYERS = 48
_SPREAD = 0.25
"""Spread of repeats above which a figure is called noisy."""

_FORM = "bf16"
"""What records call every format of 16 bits and more."""
_DECILES_APART = 2.563
"""Standard deviations between the 10th and the 90th percentile of a normal distribution."""
_LEAST_SPREAD = 0.05
_FITTED = ("launch_us", "compute_share", "bandwidth_share", "unhidden", "page_tokens")

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One decode step, predicted and measured."""

    batch: int
    context: int
    sample: Sample
    predicted_s: float
    ideal_s: float
    """Pure roofline with the measured peaks."""
    bound_by: str

    @property
    def error(self) -> float:
        """Predicted over measured, minus one."""
        return self.predicted_s / self.sample.median_s - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Knee:
    """Where the step stops being flat, at one context."""

    context: int
    measured: float
    predicted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What a machine does, and how well that predicts a model on it."""

    date: str
    machine: Mapping[str, Any]
    """Name, vendor, cores, memory, cache, library, threads."""
    kernels: tuple[Kernel, ...]
    fit: Fit
    shape: Shape
    device: Device
    points: tuple[Point, ...]
    knees: tuple[Knee, ...]
    flags: tuple[str, ...]

    @property
    def median_error(self) -> float:
        """Median absolute error of the predicted steps, undisturbed ones if there are any [1]."""
        clean = [p for p in self.points if p.sample.clean] or self.points
        return float(np.median([abs(p.error) for p in clean]))

    def efficiency_entries(self, device: str) -> list[dict[str, Any]]:
        """Return the fitted curves as the `efficiency` of a catalogue entry, with evidence.

        The measured steps, which no curve was fitted to, give the held-out error and the spread.
        """
        logs = [np.log(p.sample.median_s / p.predicted_s) for p in self.points]
        low, high = np.quantile(logs, [0.1, 0.9])
        spread = max(float(high - low) / _DECILES_APART, _LEAST_SPREAD)
        evidence = {
            "source": f"micro-benchmarks of `ridgeline measure` on {self.date}",
            "software": str(self.machine["library"]),
            "rows": len(self.kernels),
            "error_held_out": float(f"{self.median_error:.4g}"),
        }
        return [
            {
                **curve_entry(record),
                "evidence": {
                    **evidence,
                    "fitted": list(_FITTED),
                    "error_fitted": float(f"{self._error(record):.4g}"),
                },
            }
            for record in self.fit.records(_FORM, device, spread)
        ]

    def _error(self, record: OwnCurve) -> float:
        one_row = record.up_to == 1
        name = {
            "gemm": "product, one row" if one_row else "product, more rows",
            "attention_decode": "attention",
        }
        return self.fit.errors[name.get(record.kind, "element-wise")]


def measure(
    *,
    library: str = "numpy",
    device: str = "cpu",
    quick: bool = False,
    progress: Progress | None = None,
) -> Measurement:
    """Return micro-benchmarks, the prediction from them alone, and the measured decode steps.

    Args:
        library: `numpy` or `torch`.
        device: `cpu`, `cuda` or `mps`.
        quick: Fewer repeats and points.
        progress: Called with (done, total) steps.

    Raises:
        InputError: torch is not installed.
        UnsupportedError: no such device on this machine.
    """
    backend = backend_named(library, device)
    machine = machine_facts(backend)
    cache_bytes = machine["cache_bytes"] or _CACHE_GUESS_BYTES
    batches = QUICK_BATCHES if quick else BATCHES
    contexts = QUICK_CONTEXTS if quick else CONTEXTS
    counter = _Counter(progress, total=NUM_KERNELS + len(batches) * len(contexts))
    kernels = run_kernels(
        backend, cache_bytes=cache_bytes, quick=quick, progress=lambda _: counter.step()
    )
    fit = fit_kernels(kernels)
    shape = sized_shape(cache_bytes, backend.bytes_per_element)
    record = device_record(machine, fit, backend)
    points = _decode(
        backend, shape, record, fit, batches=batches, contexts=contexts, counter=counter
    )
    return Measurement(
        date=datetime.now(tz=UTC).date().isoformat(),
        machine=machine,
        kernels=kernels,
        fit=fit,
        shape=shape,
        device=record,
        points=points,
        knees=tuple(_knee(points, c) for c in contexts),
        flags=_flags(machine, kernels, points),
    )


class _Counter:
    """Steps done, for the progress bar."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def step(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(min(self._done, self._total), self._total)


def sized_shape(cache_bytes: float, bytes_per_element: int) -> Shape:
    """Return the model whose weights exceed the last-level cache sixfold, by its layers.

    >>> sized_shape(32 * 2**20, 4).num_layers
    4
    """
    for layers in range(2, _MOST_LAYERS):
        shape = Shape(num_layers=layers)
        if shape.weight_elements * bytes_per_element >= _TIMES_CACHE * cache_bytes:
            return shape
    return Shape(num_layers=_MOST_LAYERS)


def predicted_step(
    shape: Shape, device: Device, fit: Fit, *, batch: float, context: float
) -> tuple[float, float, str]:
    """Return the predicted and the ideal step [s], and what binds, from micro-benchmarks alone.

    Args:
        shape: The model.
        device: With the measured peaks.
        fit: Curves.
        batch: Sequences.
        context: Cached tokens.
    """
    steps = [
        step_breakdown(
            _deployment(shape, device, efficiency), phase="decode", batch=batch, context=context
        )
        for efficiency in (fit.efficiency(rows=batch, context=context), IDEAL)
    ]
    return float(steps[0].step_s), float(steps[1].step_s), str(steps[0].bound_by())


def _deployment(shape: Shape, device: Device, efficiency: Efficiency) -> Deployment:
    architecture = shape.architecture()
    form = next(iter(device.peak_flop_per_s))
    return Deployment(
        architecture=architecture,
        precision=Precision.of(architecture, dtype=form, kv_dtype=form, activation_dtype=form),
        cluster=Cluster(id=device.id, name=device.name, device=device, num_devices=1, tiers=()),
        num_devices=1,
        layout=Layout(),
        efficiency=efficiency,
    )


def _decode(
    backend: Backend,
    shape: Shape,
    device: Device,
    fit: Fit,
    *,
    batches: tuple[int, ...],
    contexts: tuple[int, ...],
    counter: _Counter,
) -> tuple[Point, ...]:
    model = SmallTransformer(backend, shape, batch=max(batches), tokens=max(contexts) + 1)
    points: list[Point] = []
    for context in contexts:
        for batch in batches:
            predicted, ideal, bound = predicted_step(
                shape, device, fit, batch=float(batch), context=float(context)
            )
            tokens = backend.integers(batch, shape.vocab_size)
            sample = backend.timed(lambda t=tokens, c=context: model.decode(t, c), repeats=7)
            points.append(
                Point(
                    batch=batch,
                    context=context,
                    sample=sample,
                    predicted_s=predicted,
                    ideal_s=ideal,
                    bound_by=bound,
                )
            )
            counter.step()
    return tuple(points)


def _knee(points: tuple[Point, ...], context: int) -> Knee:
    here = [p for p in points if p.context == context]
    batch = [float(p.batch) for p in here]
    return Knee(
        context=context,
        measured=knee(batch, [p.sample.median_s for p in here]),
        predicted=knee(batch, [p.predicted_s for p in here]),
    )


def machine_facts(backend: Backend) -> dict[str, Any]:
    """Return what the operating system or torch says about the device."""
    if backend.device == "cuda":
        facts = backend.xp.cuda.get_device_properties(0)
        return {
            "name": str(facts.name),
            "vendor": "AMD" if getattr(backend.xp.version, "hip", None) else "NVIDIA",
            "memory_bytes": float(facts.total_memory),
            "cache_bytes": float(getattr(facts, "L2_cache_size", 0)) or None,
            **_library(backend),
        }
    info = _read("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", info)
    name = found.group(1).strip() if found else platform.processor() or platform.machine()
    words = {"amd": "AMD", "intel": "Intel", "apple": "Apple", "arm": "Arm"}
    low = f"{name} {info[:400]} {platform.platform()}".lower()
    vendor = next((v for w, v in words.items() if w in low), "unknown")
    return {
        "name": name or "unknown processor",
        "vendor": "Apple" if platform.system() == "Darwin" else vendor,
        "memory_bytes": _memory_bytes(),
        "cache_bytes": _last_cache_bytes(),
        **_library(backend),
    }


def _library(backend: Backend) -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "library": f"{backend.library} {backend.xp.__version__}",
        "device": backend.device,
        "num_threads": backend.num_threads,
        "format": backend.compute_format,
    }


def _read(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", errors="replace")
    except OSError:
        return ""


def _memory_bytes() -> float | None:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return None


def _last_cache_bytes() -> float | None:
    """Return the size of the outermost cache, where Linux says."""
    sizes: list[float] = []
    for index in range(5):
        text = _read(f"/sys/devices/system/cpu/cpu0/cache/index{index}/size").strip()
        found = re.fullmatch(r"(\d+)([KM]?)", text)
        if found:
            sizes.append(float(found.group(1)) * {"K": 2**10, "M": 2**20, "": 1}[found.group(2)])
    return max(sizes) if sizes else None


def device_record(machine: Mapping[str, Any], fit: Fit, backend: Backend) -> Device:
    """Return the machine as the engine sees a device, with measured peaks."""
    return Device(
        id="this-machine",
        name=str(machine["name"]),
        vendor=str(machine["vendor"]),
        peak_flop_per_s={backend.compute_format: fit.flop_per_s},
        memory=MemoryTier(
            name="memory",
            capacity_bytes=machine["memory_bytes"] or 0.0,
            bandwidth_bytes_per_s=fit.bandwidth_bytes_per_s,
        ),
        cache_bytes=machine["cache_bytes"],
        generation="measured",
    )


def _flags(
    machine: Mapping[str, Any], kernels: tuple[Kernel, ...], points: tuple[Point, ...]
) -> tuple[str, ...]:
    samples = [*(k.sample for k in kernels), *(p.sample for p in points)]
    flags: list[str] = []
    unclean = sum(not s.clean for s in samples)
    if unclean:
        flags.append(
            f"other programs disturbed {unclean} of {len(samples)} timings in nearly every repeat:"
            " run it on a quiet machine, or with --threads 1"
        )
    spread = float(np.median([p.sample.spread for p in points]))
    if spread > _SPREAD:
        flags.append(f"steps vary by {spread:.0%} (10th to 90th percentile): a noisy machine")
    if machine["cache_bytes"] is None:
        flags.append("assumed: 32 MiB of last-level cache; the system does not say")
    return tuple(flags)
