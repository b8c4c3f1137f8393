"""How fast, how large, how expensive: one step of a model on a cluster, and what binds it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ridgeline.cost.efficiency import Efficiency
from ridgeline.cost.own_curves import Calibration
from ridgeline.errors import InputError
from ridgeline.hardware import Cluster
from ridgeline.model.architecture import Architecture
from ridgeline.model.draft import Speculation
from ridgeline.model.layout import Layout
from ridgeline.model.precision import Precision
from ridgeline.phase.breakdown import Breakdown
from ridgeline.phase.deployment import Deployment, Phase, step_breakdown
from ridgeline.study.chalk import Chalk, chalk_of
from ridgeline.study.deploy import copies_flags, deploy, speculation_dict, traffic_flags
from ridgeline.study.derived import derived_figures
from ridgeline.study.estimate_rows import Fidelity, Overlap, Question, estimate_rows, too_big
from ridgeline.study.rent import rental_price
from ridgeline.units import parse_sweep

MAX_ROWS = 100_000
_LARGEST = {"batch": 2**24, "context": 2**30}
"""Sequences and tokens beyond any deployment: larger numbers are slips of the keyboard."""


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

    def to_frame(self) -> Any:
        """Return the rows as a pandas frame (needs the `frame` extra)."""
        # The one door of the extra; pandas takes a second to import.
        pandas: Any = importlib.import_module("pandas")
        return pandas.DataFrame({k: np.asarray(v) for k, v in self.rows.items()})


def estimate(
    model: str | Architecture,
    *,
    on: str | Cluster,
    batch: str | int | Sequence[int] = "1:1024",
    context: str | int | Sequence[int] = 4096,
    phase: Phase = "decode",
    chunk: int = 2048,
    devices: int | None = None,
    tp: int | None = None,
    pp: int | None = None,
    ep: int | None = None,
    dp: int | None = None,
    cp: int | None = None,
    redundant_experts: int = 0,
    network: str = "calibrated",
    overlap: Overlap = "none",
    dtype: str | None = None,
    kv_cache_dtype: str | None = None,
    dtypes: Mapping[str, str] | None = None,
    usd_per_device_hour: float | None = None,
    fidelity: Fidelity = "detailed",
    efficiency: str | Efficiency = "calibrated",
    routing: str = "uniform",
    speculation: Speculation | None = None,
    engine: str = "auto",
    calibration: Path | Calibration | None = None,
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
        devices: Devices of the replica; tp·pp·dp·cp or all of the cluster's when not given.
        tp: Tensor-parallel degree; a plain layout is chosen when no degree is given.
        pp: Pipeline stages.
        ep: Expert-parallel ranks.
        dp: Attention data-parallel groups.
        cp: Context-parallel degree.
        redundant_experts: Extra copies of routed experts.
        network: `calibrated`, `typical`, or `ideal` (work divided evenly, messages free).
        overlap: Which bound fills `step_s`: `none`, `two-batch` or `full`.
        dtype: Storage format of the weights; the checkpoint's own when not given.
        kv_cache_dtype: Format of the cache; the checkpoint's or bf16 when not given.
        dtypes: Storage format by tensor class, over `dtype`.
        usd_per_device_hour: Rental price; the cluster's own when not given.
        fidelity: Which of the two fills `step_s` and what follows from it.
        efficiency: `calibrated`, `typical`, `ideal` (pure roofline), or an Efficiency.
        routing: How tokens choose experts: `uniform`, `zipf:1.0`, or `balanced`.
        speculation: Drafts that every decode step verifies.
        engine: What runs the kernels: `vllm`, `sglang`, `trtllm` ..., `ideal` (adds nothing), or
            `auto` (llamacpp for GGUF formats, CPUs and Apple; vllm on other GPUs).
        calibration: The user's own records, or the file of `ridgeline calibrate`.
        memory_share: Share of device memory the engine may fill.
        catalog_dir: Folder of the user's own entries.

    Raises:
        InputError: A value breaks its rule; the message says which.
        UnsupportedError: Not a decoder LM, or the device cannot compute in the format.
    """
    batches, contexts = _points(batch, "batch"), _points(context, "context")
    if len(batches) * len(contexts) > MAX_ROWS:
        raise InputError(
            f"batch × context may have at most {MAX_ROWS:,} points:"
            f" {len(batches) * len(contexts):,}. Use fewer or coarser ranges."
        )
    _check(phase=phase, chunk=chunk, fidelity=fidelity, overlap=overlap)
    deployment = deploy(
        model,
        on=on,
        devices=devices,
        degrees={"tp": tp, "pp": pp, "ep": ep, "dp": dp, "cp": cp},
        redundant_experts=redundant_experts,
        network=network,
        dtype=dtype,
        kv_cache_dtype=kv_cache_dtype,
        dtypes=dtypes,
        efficiency=efficiency,
        routing=routing,
        speculation=speculation,
        engine=engine,
        calibration=calibration,
        memory_share=memory_share,
        catalog_dir=catalog_dir,
    )
    grid = np.meshgrid(np.asarray(contexts, float), np.asarray(batches, float), indexing="ij")
    question = Question(
        deployment=deployment,
        phase=phase,
        batch=grid[1].ravel(),
        context=grid[0].ravel(),
        chunk=chunk if phase == "mixed" else 0,
        usd_per_device_hour=rental_price(usd_per_device_hour, deployment.cluster),
        fidelity=fidelity,
        overlap=overlap,
    )
    chalk = chalk_of(deployment)
    detail = step_breakdown(
        deployment,
        phase=phase,
        batch=question.batch,
        context=question.context,
        chunk=question.chunk,
        prompt=question.context,
    )
    return Estimate(
        request={**_request(question, batches, contexts), "routing": routing},
        deployment=deployment,
        chalk=chalk,
        rows=estimate_rows(question, chalk, detail),
        breakdown=detail,
        derived=derived_figures(
            deployment,
            chalk,
            phase=phase,
            batch=batches[0],
            context=contexts[0],
            chunk=question.chunk,
            usd_per_device_hour=question.usd_per_device_hour,
        ),
        flags=(*traffic_flags(deployment, routing), *_flags(question, detail)),
    )


def _request(
    question: Question, batches: tuple[int, ...], contexts: tuple[int, ...]
) -> dict[str, Any]:
    d = question.deployment
    layout = d.layout
    return {
        "model": d.architecture.name,
        "on": d.cluster.id,
        "devices": d.num_devices,
        "layout": None if layout is None else layout_dict(layout),
        "phase": question.phase,
        "chunk": question.chunk or None,
        "batch": list(batches),
        "context": list(contexts),
        "dtypes": formats_of(d.precision),
        "usd_per_device_hour": question.usd_per_device_hour,
        "fidelity": question.fidelity,
        "overlap": question.overlap,
        "efficiency": d.efficiency.name,
        "engine": "ideal" if d.engine is None else d.engine.name,
        "network": "ideal" if layout is None else d.network.name,
        "speculation": speculation_dict(d.speculation),
        "gpu_memory_utilization": d.memory_share,
    }


def layout_dict(layout: Layout) -> dict[str, int]:
    """Return the degrees as plain integers, redundant experts where there are any."""
    degrees = {k: int(getattr(layout, k)) for k in ("tp", "pp", "ep", "dp", "cp")}
    extra = int(layout.num_redundant_experts)
    return {**degrees, "num_redundant_experts": extra} if extra else degrees


def layout_words(layout: Mapping[str, int]) -> str:
    """Return the degrees above 1 as people say them: `dp 72 ep 72 redundant experts 32`."""
    words = {"num_redundant_experts": "redundant experts"}
    return " ".join(f"{words.get(k, k)} {v}" for k, v in layout.items() if v > 1) or "one device"


def _flags(question: Question, detail: Breakdown) -> tuple[str, ...]:
    d = question.deployment
    flags = [words for words in (too_big(question),) if words]
    if d.num_devices > 1 and d.layout is None:
        flags.append(
            "network ideal: work and bytes are divided evenly over"
            f" {d.num_devices} devices and communication is free"
        )
    if question.phase == "mixed":
        flags.append(
            "mixed: speed and cost count output tokens only; the chunk is the mean one of prompts"
            " as long as the context"
        )
    flags += copies_flags(d)
    positions = d.architecture.max_position_embeddings
    if positions is not None and np.max(question.context) > positions:
        flags.append(f"extrapolated: contexts above the model's {positions:,} positions are shown")
    if question.usd_per_device_hour is None:
        flags.append("no rental price is known for this cluster: give --usd-per-hour for costs")
    elif question.usd_per_device_hour == d.cluster.usd_per_device_hour and d.cluster.price_basis:
        flags.append(f"price: {d.cluster.price_basis}")
    return (
        *flags,
        *detail.flags,
        *d.cluster.flags,
        *d.cluster.device.flags,
        *d.architecture.flags,
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
        text = value
    else:
        text = str(value) if isinstance(value, int) else ",".join(str(x) for x in value)
    points = parse_sweep(text, what=what)
    if max(points) > _LARGEST[what]:
        raise InputError(f"{what} must be at most {_LARGEST[what]:,}: {max(points):,}.")
    return points


def _check(*, phase: str, chunk: int, fidelity: str, overlap: str) -> None:
    for name, value, allowed in (
        ("phase", phase, get_args(Phase)),
        ("fidelity", fidelity, get_args(Fidelity)),
        ("overlap", overlap, get_args(Overlap)),
    ):
        if value not in allowed:
            raise InputError(f"{name} must be one of {', '.join(allowed)}: {value!r}.")
    if not 1 <= chunk <= 2**30:
        raise InputError(f"chunk must be from 1 to 2^30 tokens: {chunk}.")
