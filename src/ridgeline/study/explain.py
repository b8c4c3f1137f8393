"""Why a measured run is as fast as it is: shares of the peaks, distance to both predictions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ridgeline.catalog import Catalog
from ridgeline.cost.own_curves import Calibration
from ridgeline.errors import InputError
from ridgeline.phase.deployment import Deployment
from ridgeline.readers.benchmarks import Measured, read_benchmarks
from ridgeline.study.deploy import deploy
from ridgeline.study.estimate import layout_dict
from ridgeline.study.explain_changes import (
    Answer,
    Change,
    Goal,
    answer,
    best_changes,
    share_of,
    utilisation,
)
from ridgeline.study.explain_run import Run, complete, with_figures
from ridgeline.study.resolve import open_catalog

_ENGINES = {"llama.cpp": "llamacpp", "trt": "trtllm", "sglang": "sglang", "vllm": "vllm"}
"""Word in a file's engine to the profile."""
_TUNED = re.compile(
    r"[-_](instruct|chat|it|hf|base|fp8|fp4|nvfp4|mxfp4|bf16|dynamic|block|gguf|awq|gptq|int4|w4a16|\d{4})$",
    re.IGNORECASE,
)
"""Endings of a served model's name that do not change its architecture."""
NUM_CHANGES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One share of the time of an output token."""

    name: str
    predicted_s: float
    share: float
    """Of the predicted time."""
    scaled_s: float
    """The same share of the measured time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A measured run beside what it could be."""

    request: Mapping[str, Any]
    measured: Measured
    run: Run
    deployment: Deployment
    mfu: float
    """Of all work, prompts included."""
    decode_mfu: float
    decode_mbu: float
    ideal: Answer
    """Pure roofline: datasheet peaks, free messages, no engine."""
    predicted: Answer
    """With measured kernels, networks and engines."""
    limits: tuple[Limit, ...]
    """Where the time of an output token goes, largest first; sums to it."""
    changes: tuple[Change, ...]
    others: tuple[Measured, ...] = ()
    """Further runs of the file."""
    flags: tuple[str, ...] = ()


def explain(
    source: Path | None,
    *,
    model: str | None = None,
    on: str | None = None,
    devices: int | None = None,
    degrees: Mapping[str, int | None] | None = None,
    dtype: str | None = None,
    kv_cache_dtype: str | None = None,
    engine: str = "auto",
    run: int | None = None,
    figures: Mapping[str, float | None] | None = None,
    goal: Goal = "throughput",
    memory_share: float = 0.9,
    calibration: Path | None = None,
    catalog_dir: Path | None = None,
) -> Explanation:
    """Return MFU, MBU, the distance to both predictions, where time goes, and what would help.

    Args:
        source: A result file of a benchmark tool; None when `figures` say everything.
        model: Catalogue name or path, in place of the file's.
        on: Cluster or device that was measured.
        devices: Devices of the replica.
        degrees: tp, pp, ep, dp, cp, in place of the file's.
        dtype: Weights.
        kv_cache_dtype: Cache.
        engine: Serving engine; `auto` takes the file's.
        run: Which run of the file, from 1; the last one when not given.
        figures: Fields of `Measured` by hand, in SI; they win over the file.
        goal: What the changes are ranked by.
        memory_share: Share of device memory the engine may fill.
        calibration: File of `ridgeline calibrate`, for the realistic prediction.
        catalog_dir: Folder of the user's own entries.

    Raises:
        InputError: the file, or facts that neither it nor the arguments give.
    """
    if goal not in ("throughput", "latency"):
        raise InputError(f"goal must be throughput or latency: {goal!r}.")
    chosen, others = _chosen(source, run)
    measured = with_figures(chosen, **(figures or {}))
    load = complete(measured)
    question = question_of(
        measured,
        model=model,
        on=on,
        devices=devices,
        degrees=degrees or {},
        dtype=dtype,
        kv_cache_dtype=kv_cache_dtype,
        engine=engine,
        memory_share=memory_share,
        calibration=calibration,
        catalog_dir=catalog_dir,
    )
    deployment = deploy(**question)
    predicted = answer(deployment, load)
    bound: dict[str, Any] = {
        **question,
        "efficiency": "ideal",
        "network": "ideal",
        "engine": "ideal",
        "calibration": None,
    }
    if deployment.layout is not None:
        bound["devices"] = deployment.num_devices
    mfu, decode_mfu, mbu, parts = utilisation(deployment, load)
    return Explanation(
        request=_request(question, deployment, goal),
        measured=measured,
        run=load,
        deployment=deployment,
        mfu=mfu,
        decode_mfu=decode_mfu,
        decode_mbu=mbu,
        ideal=answer(deploy(**bound), load),
        predicted=predicted,
        limits=_limits(parts, predicted, load),
        changes=best_changes(deployment, predicted, load, question, goal=goal, count=NUM_CHANGES),
        others=others,
        flags=_flags(deployment, measured, load, predicted, mbu),
    )


def _chosen(source: Path | None, run: int | None) -> tuple[Measured, tuple[Measured, ...]]:
    if source is None:
        if run is not None:
            raise InputError(f"--run says which run of a FILE, and none is given: {run}.")
        return Measured(tool="figures given by hand"), ()
    runs = read_benchmarks(source)
    if run is not None and not 1 <= run <= len(runs):
        raise InputError(f"--run must be from 1 to {len(runs)}, the runs of the file: {run}.")
    index = len(runs) - 1 if run is None else run - 1
    return runs[index], runs if len(runs) > 1 else ()


def question_of(
    measured: Measured,
    *,
    model: str | None,
    on: str | None,
    devices: int | None,
    degrees: Mapping[str, int | None],
    dtype: str | None,
    kv_cache_dtype: str | None,
    engine: str,
    memory_share: float,
    catalog_dir: Path | None,
    calibration: Path | Calibration | None = None,
) -> dict[str, Any]:
    """Return the arguments of `deploy` for a measured run; the file's facts where none are given.

    Raises:
        InputError: neither names the model or the cluster.
    """
    if model is None and measured.model is None:
        raise InputError(
            f"{measured.tool}: no model is named. Give --model: a catalogue name"
            " (`ridgeline list models`) or the path of its config.json."
        )
    name = model or catalogue_name(str(measured.model), open_catalog(catalog_dir))
    if on is None:
        said = f" It says {measured.device!r}." if measured.device else ""
        raise InputError(
            f"{measured.tool}: the cluster is not named in a form to look up.{said}"
            " Give --on: a cluster or device (`ridgeline list clusters`), and --tp and so on."
        )
    given = {k: v for k, v in degrees.items() if v is not None}
    layout = given or dict(measured.degrees or {})
    return {
        "model": name,
        "on": on,
        "devices": (None if layout else measured.num_devices) if devices is None else devices,
        "degrees": layout,
        "dtype": dtype or _format_of(measured.dtype) or _format_of(measured.model),
        "kv_cache_dtype": kv_cache_dtype,
        "efficiency": "calibrated",
        "network": "calibrated",
        "engine": engine if engine != "auto" else _engine_of(measured.engine),
        "memory_share": memory_share,
        "calibration": calibration,
        "catalog_dir": catalog_dir,
    }


def _engine_of(text: str | None) -> str:
    low = (text or "").lower()
    return next((name for word, name in _ENGINES.items() if word in low), "auto")


def _format_of(text: str | None) -> str | None:
    """Return a benchmark's word for the weights as ours; InferenceX's fp4 is nvfp4 or mxfp4."""
    low = (text or "").lower()
    for word, name in (("nvfp4", "nvfp4"), ("fp4", "nvfp4"), ("fp8", "fp8"), ("bf16", "bf16")):
        if word in low:
            return name
    return None


def catalogue_name(text: str, catalog: Catalog) -> str:
    """Return the catalogue's name for a served model; tuned variants share an architecture.

    Looks for the name itself, then without its folder or organisation, and without words such
    as `-Instruct` and `-FP8`. A name in a result file is never opened as a path.

    Raises:
        InputError: none of them is known.
    """
    stem = text.rstrip("/").rpartition("/")[2]
    names = [text, stem]
    while (shorter := _TUNED.sub("", names[-1])) != names[-1]:
        names.append(shorter)
    names += [n.removeprefix("Meta-").removeprefix("meta-") for n in names[1:]]
    hubs = {
        str(e.get("hub", "")).lower().rpartition("/")[2]: k
        for k, e in catalog.entries("models").items()
        if e.get("hub")
    }
    for name in names:
        entry = catalog.find("models", name) or catalog.find("models", name.lower())
        found = str(entry["id"]) if entry else hubs.get(name.lower())
        if found is None and entry is None:
            found = next((k for h, k in hubs.items() if _TUNED.sub("", h) == name.lower()), None)
        if found is not None:
            return found
    raise InputError(
        f"The file's model {text[:100]!r} is not in the catalogue. Give --model: a catalogue name"
        " (`ridgeline list models`) or the path of its config.json."
    )


def _limits(parts: Mapping[str, float], predicted: Answer, run: Run) -> tuple[Limit, ...]:
    """Return the predicted time of a token by cause, scaled to the measured time."""
    total = sum(parts.values())
    own = predicted.decode_s / run.tokens_per_step
    times = {k: share_of(v, total) * own for k, v in parts.items()}
    times["prompts of others"] = max(predicted.tpot_s - own, 0.0)
    rows = [
        Limit(
            name=name,
            predicted_s=value,
            share=value / predicted.tpot_s,
            scaled_s=value / predicted.tpot_s * run.tpot_s,
        )
        for name, value in times.items()
        if value > 0
    ]
    return tuple(sorted(rows, key=lambda x: -x.predicted_s))


def _request(question: Mapping[str, Any], deployment: Deployment, goal: Goal) -> dict[str, Any]:
    layout = deployment.layout
    precision = deployment.precision
    return {
        "model": deployment.architecture.name,
        "on": deployment.cluster.id,
        "devices": deployment.num_devices,
        "layout": None if layout is None else layout_dict(layout),
        "dtype": question["dtype"],
        "weights": precision.weights["expert" if _experts(deployment) else "ffn"].id,
        "kv_cache_dtype": precision.kv.id,
        "engine": None if deployment.engine is None else deployment.engine.name,
        "goal": goal,
    }


def _experts(deployment: Deployment) -> bool:
    return any(b.feed_forward.experts is not None for b in deployment.architecture.blocks)


def _flags(
    deployment: Deployment, measured: Measured, run: Run, predicted: Answer, mbu: float
) -> tuple[str, ...]:
    flags = list(run.flags)
    if measured.model and measured.model != deployment.architecture.name:
        flags.append(f"model {measured.model[:80]!r} taken as {deployment.architecture.name}")
    if measured.statistic != "mean":
        flags.append(f"times are the {measured.statistic}; Little's law wants means")
    if measured.request_rate_per_s is not None:
        flags.append(
            "open loop: arrivals at a fixed rate; compared with a closed loop of the same mean"
            " number in flight"
        )
    if run.tokens_per_step > 1:
        flags.append(
            f"speculation: {run.tokens_per_step:.3g} tokens per step as measured; the drafts'"
            " own time is not in the prediction"
        )
    if mbu > 1:
        flags.append(
            "MBU above 100 %: the model, its formats or the cluster are not what was measured,"
            " or requests shared a cached prefix"
        )
    if not predicted.fits:
        flags.append(
            "the load does not fit in memory by our count: the engine preempted or queued"
            " requests, or the deployment is another one"
        )
    return (*flags, *deployment.cluster.flags, *deployment.cluster.device.flags)
