"""What would help: the same prediction with one thing changed, run again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ridgeline.catalog import Catalog
from ridgeline.errors import RidgelineError
from ridgeline.model.layout import Layout
from ridgeline.phase.closed_loop import closed_loop
from ridgeline.phase.deployment import Deployment, fits, step_breakdown
from ridgeline.study.deploy import deploy
from ridgeline.study.explain_run import Run
from ridgeline.study.resolve import open_catalog

Goal = Literal["throughput", "latency"]
_WORTH = 0.01
_WIDE_BYTES = 1.5
"""Formats of more bytes per element than this can be halved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One predicted run."""

    tpot_s: float
    """Of a prefill run: time of the prompt."""
    ttft_s: float
    decode_s: float
    """A decode step without prompts beside it."""
    decoding: float
    requests_per_s: float
    output_tokens_per_s: float
    fits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing done differently, and what it would give by prediction before and after."""

    name: str
    flag: str
    """How the command line says it."""
    tpot_ratio: float
    """TPOT after / before."""
    throughput_ratio: float
    """Output tokens per second and device, after / before."""
    num_devices: int
    after: Answer


def answer(deployment: Deployment, run: Run, *, concurrency: float | None = None) -> Answer:
    """Return what the deployment would do with the run's load."""
    load = run.concurrency if concurrency is None else concurrency
    held = bool(
        fits(deployment, batch=load, tokens=run.isl + run.osl, step_tokens=load + run.isl)
        if run.kind == "decode"
        else fits(deployment, batch=1.0, tokens=run.isl, step_tokens=run.isl)
    )
    if run.kind == "prefill":
        step = float(step_breakdown(deployment, phase="prefill", batch=1.0, context=run.isl).step_s)
        return Answer(
            tpot_s=step,
            ttft_s=step,
            decode_s=step,
            decoding=1.0,
            requests_per_s=1 / step,
            output_tokens_per_s=run.isl / step,
            fits=held,
        )
    engine = deployment.engine
    loop = closed_loop(
        deployment,
        concurrency=load,
        isl=run.isl,
        osl=run.osl,
        budget=8192.0 if engine is None else float(engine.chunk_tokens),
        scheduling="mixed" if engine is None else engine.scheduling,
        tokens_per_step=run.tokens_per_step,
    )
    return Answer(
        tpot_s=float(loop.tpot_s),
        ttft_s=float(loop.ttft_s),
        decode_s=float(loop.decode_s),
        decoding=float(loop.decoding),
        requests_per_s=float(loop.requests_per_s),
        output_tokens_per_s=float(loop.output_tokens_per_s(run.osl)),
        fits=held,
    )


def best_changes(
    base: Deployment, before: Answer, run: Run, question: dict[str, Any], *, goal: Goal, count: int
) -> tuple[Change, ...]:
    """Return the changes that help most, best first; each a new prediction that fits.

    Args:
        base: What was measured.
        before: Its prediction.
        run: The load.
        question: Arguments of `deploy` that gave `base`.
        goal: `throughput` ranks by output tokens per second and device, `latency` by TPOT.
        count: How many.
    """
    found: dict[str, Change] = {}
    for kind, name, flag, changed, load in _candidates(base, run, question):
        try:
            deployment = deploy(**{**question, **changed()})
            after = answer(deployment, run, concurrency=load)
        except RidgelineError:
            continue  # A change that cannot be built or run is no advice.
        if not after.fits:
            continue
        per_device = after.output_tokens_per_s / deployment.num_devices
        change = Change(
            name=name,
            flag=flag,
            tpot_ratio=after.tpot_s / before.tpot_s,
            throughput_ratio=per_device / (before.output_tokens_per_s / base.num_devices),
            num_devices=deployment.num_devices,
            after=after,
        )
        if _gain(change, goal) > _WORTH and (
            kind not in found or _gain(change, goal) > _gain(found[kind], goal)
        ):
            found[kind] = change
    return tuple(sorted(found.values(), key=lambda c: -_gain(c, goal))[:count])


def _gain(change: Change, goal: Goal) -> float:
    return change.throughput_ratio - 1 if goal == "throughput" else 1 / change.tpot_ratio - 1


_Candidate = tuple[str, str, str, Callable[[], dict[str, Any]], float | None]
"""Kind (the best of a kind stays), words, flag, changed arguments, concurrency."""


def _candidates(base: Deployment, run: Run, question: dict[str, Any]) -> Iterator[_Candidate]:
    if run.kind == "decode":
        for factor, word in ((2.0, "twice"), (4.0, "four times"), (0.5, "half")):
            load = run.concurrency * factor
            if load >= 1:
                yield (
                    "concurrency",
                    f"{word} the requests in flight ({load:,.0f})",
                    f"--concurrency {load:.0f}",
                    dict,
                    load,
                )
    precision = base.precision
    heavy = max(
        precision.weight_bytes_of("ffn"),
        precision.weight_bytes_of("expert" if _has_experts(base) else "ffn"),
    )
    if heavy > _WIDE_BYTES:
        yield "weights", "weights in fp8", "--dtype fp8", lambda: {"dtype": "fp8"}, None
    if heavy > 0.75 and base.cluster.device.peak_flop_per_s.get("fp4"):
        yield "weights", "weights in nvfp4", "--dtype nvfp4", lambda: {"dtype": "nvfp4"}, None
    if precision.kv.bytes_per_weight > _WIDE_BYTES and run.kind == "decode":
        yield (
            "cache",
            "cache in fp8",
            "--kv-cache-dtype fp8",
            lambda: {"kv_cache_dtype": "fp8"},
            None,
        )
    yield from _layouts(base)
    yield from _devices(base, question)


def _has_experts(base: Deployment) -> bool:
    return any(b.feed_forward.experts is not None for b in base.architecture.blocks)


def _layouts(base: Deployment) -> Iterator[_Candidate]:
    layout = base.layout or Layout()
    tp, pp, dp = int(layout.tp), int(layout.pp), int(layout.dp)
    for new in (tp * 2, tp // 2):
        if new >= 1:
            degrees = {"tp": new, "pp": pp, "dp": dp, "cp": int(layout.cp)}
            devices = new * pp * dp * int(layout.cp)
            yield (
                "tp",
                f"tp {new} in place of {tp} ({devices} devices)",
                f"--tp {new}",
                lambda degrees=degrees: {"degrees": degrees, "devices": None},
                None,
            )


def _devices(base: Deployment, question: dict[str, Any]) -> Iterator[_Candidate]:
    """Yield later devices of the same vendor with a link like the one at hand."""
    directory: Path | None = question.get("catalog_dir")
    catalog: Catalog = open_catalog(directory)
    entries = catalog.entries("devices")
    now = entries.get(base.cluster.device.id)
    if now is None or not now.get("release"):
        return
    for name, entry in entries.items():
        later = str(entry.get("release") or "") > str(now["release"])
        alike = (entry.get("scale_up") is None) == (now.get("scale_up") is None)
        if (
            later
            and alike
            and entry["vendor"] == now["vendor"]
            and entry.get("confidence") == "high"
        ):
            on = name if base.num_devices == 1 else f"{base.num_devices}x{name}"
            yield (
                "device",
                f"{entry['name']} in place of {now['name']}",
                f"--on {on}",
                lambda on=on: {"on": on, "devices": base.num_devices},
                None,
            )


def share_of(value: float, total: float) -> float:
    """Return value / total, and 0 where the total is 0."""
    return value / total if total else 0.0


def utilisation(base: Deployment, run: Run) -> tuple[float, float, float, dict[str, float]]:
    """Return MFU of all work, MFU and MBU of decode steps, and the predicted step's limits [s].

        MFU        = X · (t_peak(prompt) + osl · t_peak(step) / B)
        decode MFU = t_peak(step) / t,  decode MBU = bytes(step) / (t·W),  t = TPOT · τ

    where t_peak is the work of one device at its dense peak, and B what Little's law says.

    Source: first principles; pope2022 (MFU).
    """
    if run.kind == "prefill":
        step = step_breakdown(base, phase="prefill", batch=1.0, context=run.isl)
    else:
        context = run.isl + run.osl / 2
        step = step_breakdown(base, phase="decode", batch=run.decoding, context=context)
    bandwidth = base.cluster.device.memory.bandwidth_bytes_per_s
    measured_s = run.tpot_s * run.tokens_per_step
    decode_mfu = float(step.peak_s) / measured_s
    mbu = float(step.required_bytes) / (measured_s * bandwidth)
    limits = {k: float(np.asarray(v)) for k, v in step.limit_s().items()}
    if run.kind == "prefill":
        return decode_mfu, decode_mfu, mbu, limits
    prompt = step_breakdown(base, phase="prefill", batch=1.0, context=run.isl)
    per_request = float(prompt.peak_s) + run.osl * float(step.peak_s) / run.decoding
    return run.requests_per_s * per_request, decode_mfu, mbu, limits
