"""How fast, how large, how expensive: one step of a model on a cluster, and what binds it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ridgeline.cost.efficiency import IDEAL, TYPICAL, Efficiency
from ridgeline.errors import InputError
from ridgeline.hardware import Cluster
from ridgeline.model.architecture import Architecture
from ridgeline.model.precision import Precision
from ridgeline.phase.breakdown import Breakdown
from ridgeline.phase.deployment import (
    Deployment,
    Phase,
    fits,
    step_breakdown,
)
from ridgeline.study.chalk import Chalk, chalk_of
from ridgeline.study.derived import derived_figures
from ridgeline.study.resolve import open_catalog, resolve_cluster, resolve_model
from ridgeline.units import parse_sweep

if TYPE_CHECKING:
    import pandas

SCHEMA_VERSION = "1"
Fidelity = Literal["detailed", "chalk"]
EFFICIENCIES: dict[str, Efficiency] = {"typical": TYPICAL, "ideal": IDEAL}
MAX_ROWS = 1_000_000
_SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Rows over batch × context, the breakdown behind them, and the derived figures."""

    request: Mapping[str, Any]
    """What was asked, with every default filled in."""
    deployment: Deployment
    chalk: Chalk
    rows: Mapping[str, NDArray[Any]]
    """Column name to values, one per (context, batch) point; see `glossary.TERMS`."""
    breakdown: Breakdown
    """The detailed step at every row."""
    derived: Mapping[str, float | int | None]
    flags: tuple[str, ...] = ()

    def to_frame(self) -> pandas.DataFrame:
        """Return the rows as a pandas frame (needs the `frame` extra)."""
        import pandas as pd  # noqa: PLC0415 - the one door of the `frame` extra

        return pd.DataFrame({k: np.asarray(v) for k, v in self.rows.items()})


def estimate(  # noqa: PLR0913 - one argument per flag of the verb
    model: str | Architecture,
    *,
    on: str | Cluster,
    batch: str | int | Sequence[int] = "1:1024",
    context: str | int | Sequence[int] = 4096,
    phase: Phase = "decode",
    chunk: int = 2048,
    devices: int | None = None,
    dtype: str | None = None,
    kv_cache_dtype: str | None = None,
    dtypes: Mapping[str, str] | None = None,
    usd_per_device_hour: float | None = None,
    fidelity: Fidelity = "detailed",
    efficiency: str | Efficiency = "typical",
    memory_share: float = 0.9,
    catalog_dir: Path | None = None,
) -> Estimate:
    """Return step time, speed, cost and limits of a model on a cluster over batch and context.

    Args:
        model: Catalogue name, path of a config.json, GGUF or directory, or an Architecture.
        on: Cluster or device name, or a Cluster.
        batch: Sequences per step: a number, several, or a range such as "1:4096".
        context: Cached tokens per sequence (the prompt length in prefill).
        phase: `decode`, `prefill`, or `mixed` (decode plus `chunk` prompt tokens).
        chunk: Prompt tokens in a mixed step.
        devices: Devices of the replica; all of the cluster's when not given.
        dtype: Storage format of the weights; the checkpoint's own when not given.
        kv_cache_dtype: Format of the cache; the checkpoint's or bf16 when not given.
        dtypes: Storage format by tensor class, over `dtype`.
        usd_per_device_hour: Rental price; the cluster's own when not given.
        fidelity: Which of the two fills `step_s` and what follows from it.
        efficiency: `typical`, `ideal` (pure roofline), or an Efficiency.
        memory_share: Share of device memory the engine may fill.
        catalog_dir: Folder of the user's own entries.

    Raises:
        InputError: A value breaks its rule; the message says which.
        UnsupportedError: Not a decoder LM, or the device cannot compute in the format.
    """
    points = _points(batch, "batch"), _points(context, "context")
    _check(phase=phase, chunk=chunk, fidelity=fidelity, memory_share=memory_share)
    catalog = open_catalog(catalog_dir)
    architecture = resolve_model(model, catalog) if isinstance(model, str) else model
    cluster = resolve_cluster(on, devices, catalog) if isinstance(on, str) else on
    num_devices = cluster.num_devices if devices is None else devices
    price = _price(usd_per_device_hour, cluster)
    deployment = Deployment(
        architecture=architecture,
        precision=Precision.of(
            architecture, dtype=dtype, kv_dtype=kv_cache_dtype, per_class=dict(dtypes or {})
        ),
        cluster=cluster,
        num_devices=num_devices,
        layout=None,
        efficiency=_efficiency(efficiency),
        memory_share=memory_share,
    )
    grid_context, grid_batch = (
        x.ravel()
        for x in np.meshgrid(
            np.asarray(points[1], dtype=float), np.asarray(points[0], dtype=float), indexing="ij"
        )
    )
    if grid_batch.size > MAX_ROWS:
        raise InputError(
            f"batch × context may have at most {MAX_ROWS:,} points: {grid_batch.size:,}."
            " Use fewer or coarser ranges."
        )
    chalk = chalk_of(deployment)
    detail = step_breakdown(
        deployment, phase=phase, batch=grid_batch, context=grid_context, chunk=chunk
    )
    rows = _rows(deployment, chalk, detail, phase, grid_batch, grid_context, chunk, price, fidelity)
    request = {
        "model": architecture.name,
        "on": cluster.id,
        "devices": num_devices,
        "phase": phase,
        "chunk": chunk if phase == "mixed" else None,
        "batch": list(points[0]),
        "context": list(points[1]),
        "dtypes": formats_of(deployment.precision),
        "usd_per_device_hour": price,
        "fidelity": fidelity,
        "efficiency": deployment.efficiency.name,
        "gpu_memory_utilization": memory_share,
    }
    return Estimate(
        request=request,
        deployment=deployment,
        chalk=chalk,
        rows=rows,
        breakdown=detail,
        derived=derived_figures(
            deployment,
            chalk,
            phase=phase,
            batch=points[0][0],
            context=points[1][0],
            chunk=chunk,
            usd_per_device_hour=price,
        ),
        flags=_flags(deployment, detail, price),
    )


def _rows(
    deployment: Deployment,
    chalk: Chalk,
    detail: Breakdown,
    phase: Phase,
    batch: NDArray[np.float64],
    context: NDArray[np.float64],
    chunk: int,
    price: float | None,
    fidelity: Fidelity,
) -> dict[str, NDArray[Any]]:
    new_tokens = context if phase == "prefill" else np.ones_like(context)
    cached = np.zeros_like(context) if phase == "prefill" else context
    step_tokens = batch * new_tokens + (chunk if phase == "mixed" else 0)
    shape = batch.shape
    chalk_step = chalk.step_s(batch=batch, new_tokens=step_tokens / batch, context=cached)
    detail_step = np.broadcast_to(detail.step_s, shape)
    step = detail_step if fidelity == "detailed" else chalk_step
    tokens_per_s = batch * new_tokens / step
    n = deployment.num_devices
    usd = (
        np.full(shape, np.nan)
        if price is None
        else price * n / _SECONDS_PER_HOUR / tokens_per_s * 1e6
    )
    bandwidth = deployment.cluster.device.memory.bandwidth_bytes_per_s
    if fidelity == "detailed":
        mfu = detail.peak_s / step
        mbu = detail.required_bytes / bandwidth / step
        bound = np.broadcast_to(detail.bound_by(), shape)
    else:
        terms = chalk.terms_s(batch=batch, new_tokens=step_tokens / batch, context=cached)
        mfu = terms["compute"] / step
        mbu = (terms["weight read"] + terms["state read"]) / step
        bound = chalk.bound_by(batch=batch, new_tokens=step_tokens / batch, context=cached)
    return {
        "batch": batch.astype(np.int64),
        "context": context.astype(np.int64),
        "step_s": step,
        "chalk_step_s": chalk_step,
        "overlap_step_s": np.broadcast_to(detail.overlap_step_s, shape),
        "tokens_per_s_per_user": new_tokens / step,
        "tokens_per_s_per_device": tokens_per_s / n,
        "usd_per_mtok": usd,
        "mfu": np.broadcast_to(mfu, shape),
        "mbu": np.broadcast_to(mbu, shape),
        "bound_by": bound,
        "fits": np.broadcast_to(
            fits(deployment, batch=batch, tokens=cached + new_tokens, step_tokens=step_tokens),
            shape,
        ),
    }


def _flags(deployment: Deployment, detail: Breakdown, price: float | None) -> tuple[str, ...]:
    flags: list[str] = []
    if deployment.num_devices > 1 and deployment.layout is None:
        flags.append(
            "network ideal: work and bytes are divided evenly over"
            f" {deployment.num_devices} devices and communication is free"
        )
    if price is None:
        flags.append("no rental price is known for this cluster: give --usd-per-hour for costs")
    return (
        *flags,
        *detail.flags,
        *deployment.cluster.flags,
        *deployment.cluster.device.flags,
        *deployment.architecture.flags,
    )


def formats_of(precision: Precision) -> dict[str, Any]:
    """Return the storage formats by tensor class, and the cache's."""
    return {
        "weights": {k: v.id for k, v in precision.weights.items()},
        "kv": precision.kv.id,
        "activation": precision.activation.id,
    }


def context_sweep(model: str | Architecture, *, batch: str, **question: Any) -> Estimate:
    """Return the same question at its first, middle and last batch over contexts 1k to 1M."""
    points = _points(batch, "batch")
    few = sorted({points[0], points[len(points) // 2], points[-1]})
    return estimate(model, batch=few, context="1k:1M", **question)


def _points(value: str | int | Sequence[int], what: str) -> tuple[int, ...]:
    if isinstance(value, str):
        return parse_sweep(value, what=what)
    if isinstance(value, int):
        return parse_sweep(str(value), what=what)
    return parse_sweep(",".join(str(x) for x in value), what=what)


def _check(*, phase: str, chunk: int, fidelity: str, memory_share: float) -> None:
    if phase not in get_args(Phase):
        raise InputError(f"phase must be decode, prefill or mixed: {phase!r}.")
    if fidelity not in get_args(Fidelity):
        raise InputError(f"fidelity must be chalk or detailed: {fidelity!r}.")
    if not 1 <= chunk <= 2**30:
        raise InputError(f"chunk must be from 1 to 2^30 tokens: {chunk}.")
    if not 0 < memory_share <= 1:
        raise InputError(
            f"gpu-memory-utilization must be above 0 and at most 1: {memory_share}. Usual: 0.9."
        )


def _price(given: float | None, cluster: Cluster) -> float | None:
    if given is None:
        return cluster.usd_per_device_hour
    if not math.isfinite(given) or given < 0 or given > 1e6:
        raise InputError(f"usd-per-hour must be from 0 to 1e6 USD per device-hour: {given}.")
    return given


def _efficiency(value: str | Efficiency) -> Efficiency:
    if isinstance(value, Efficiency):
        return value
    if value not in EFFICIENCIES:
        raise InputError(f"efficiency must be {' or '.join(EFFICIENCIES)}: {value!r}.")
    return EFFICIENCIES[value]
