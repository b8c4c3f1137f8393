"""The rows of an estimate: from a breakdown and the chalkboard to what people read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ridgeline.cost.memory_fit import Fits, fit
from ridgeline.phase.band import band
from ridgeline.phase.breakdown import Breakdown
from ridgeline.phase.deployment import (
    Deployment,
    Phase,
    fits,
    memory_parts_bytes,
    two_batch_step_s,
    usable_bytes,
)
from ridgeline.study.chalk import Chalk

Fidelity = Literal["detailed", "chalk"]
Overlap = Literal["none", "two-batch", "full"]
_SECONDS_PER_HOUR = 3600.0
MOST_BANDED_ROWS = 4096
"""A longer sweep goes without a band, which costs as much as 32 sweeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One estimate over flat arrays of batch and context."""

    deployment: Deployment
    phase: Phase
    batch: NDArray[np.float64]
    context: NDArray[np.float64]
    chunk: int
    """Prompt tokens of a mixed step per attention group, else 0."""
    usd_per_device_hour: float | None
    fidelity: Fidelity
    overlap: Overlap

    @property
    def new_tokens(self) -> NDArray[np.float64]:
        """Tokens per sequence that count as output of the step (prompt tokens in prefill)."""
        if self.phase == "prefill":
            return self.context
        return np.full_like(self.context, self.deployment.tokens_per_step)

    @property
    def computed(self) -> NDArray[np.float64]:
        """Tokens per sequence that the step computes, rejected drafts included."""
        if self.phase == "prefill":
            return self.context
        return np.full_like(self.context, self.deployment.decode_tokens)

    @property
    def cached(self) -> NDArray[np.float64]:
        """Tokens per sequence in the cache before the step."""
        return np.zeros_like(self.context) if self.phase == "prefill" else self.context

    @property
    def step_tokens(self) -> NDArray[np.float64]:
        """New tokens of the whole step, prompt chunks included."""
        layout = self.deployment.layout
        groups = 1 if layout is None else float(layout.dp)
        return self.batch * self.computed + self.chunk * groups


def estimate_rows(q: Question, chalk: Chalk, detail: Breakdown) -> dict[str, NDArray[Any]]:
    """Return the columns of an estimate, one value per point of the question."""
    shape = q.batch.shape
    n = q.deployment.num_devices
    chalk_step = np.asarray(
        chalk.step_s(batch=q.batch, new_tokens=q.step_tokens / q.batch, context=q.cached)
    )
    bounds = {
        "none": detail.step_s,
        "two-batch": _two_batch(q, detail),
        "full": detail.overlap_step_s,
    }
    detailed = q.fidelity == "detailed"
    step = np.broadcast_to(np.asarray(bounds[q.overlap]), shape) if detailed else chalk_step
    tokens_per_s = q.batch * q.new_tokens / step
    price = np.nan if q.usd_per_device_hour is None else q.usd_per_device_hour
    columns: dict[str, Any] = {
        "batch": q.batch.astype(np.int64),
        "context": q.context.astype(np.int64),
        "step_s": step,
        **_band(q, detail, step if detailed else np.full(shape, np.nan)),
        "chalk_step_s": chalk_step,
        **_chalk_terms(q, chalk),
        "two_batch_step_s": bounds["two-batch"],
        "overlap_step_s": bounds["full"],
        "network_s": detail.network_s,
        "tokens_per_s_per_user": q.new_tokens / step,
        "tokens_per_s_per_device": tokens_per_s / n,
        "usd_per_mtok": price * n / _SECONDS_PER_HOUR / tokens_per_s * 1e6,
        **(_detail_shares(q, detail, step) if detailed else _chalk_shares(q, chalk, step)),
        "fits": fits(
            q.deployment,
            batch=q.batch,
            tokens=q.cached + q.computed,
            step_tokens=q.step_tokens,
        ),
    }
    return {k: np.broadcast_to(np.asarray(v), shape) for k, v in columns.items()}


def too_big(q: Question) -> str | None:
    """Return what the smallest row lacks, in words, when not even that row fits."""
    first = int(np.lexsort((q.batch, q.context))[0])
    batch, tokens = q.batch[first], (q.cached + q.computed)[first]
    held = memory_parts_bytes(
        q.deployment, batch=batch, tokens=tokens, step_tokens=q.step_tokens[first]
    )
    sizes = {name: float(np.max(value)) for name, value in held.items()}
    found = fit(sizes, usable_bytes(q.deployment))
    if isinstance(found, Fits):
        return None
    shared = found.needed_bytes - sizes["runtime"]
    room = found.available_bytes - sizes["runtime"]
    least = q.deployment.num_devices * shared / room
    return (
        found.sentence(f"does not fit: batch {batch:,.0f} at {tokens:,.0f} tokens")
        + f"; at least {np.ceil(least):,.0f} such devices hold it, or narrower --dtype formats"
    )


def _chalk_terms(q: Question, chalk: Chalk) -> dict[str, Any]:
    """Return the three lines of the board, whose upper edge is the chalkboard's step."""
    terms = chalk.terms_s(batch=q.batch, new_tokens=q.step_tokens / q.batch, context=q.cached)
    return {f"chalk_{name.partition(' ')[0]}_s": value for name, value in terms.items()}


def _band(q: Question, detail: Breakdown, step: NDArray[np.float64]) -> dict[str, Any]:
    """Return the 10-90 % band of `step`, which overlap and chance shift by the same factor."""
    if q.batch.size > MOST_BANDED_ROWS:
        return {"step_p10_s": np.nan, "step_p90_s": np.nan}
    edges = band(
        q.deployment,
        phase=q.phase,
        batch=q.batch,
        context=q.context,
        chunk=q.chunk,
        prompt=q.context,
    )
    return {
        "step_p10_s": step * edges.p10_s / detail.step_s,
        "step_p90_s": step * edges.p90_s / detail.step_s,
    }


def _two_batch(q: Question, detail: Breakdown) -> Any:
    if not np.any(np.greater(detail.network_s, 0)):
        return detail.step_s
    return two_batch_step_s(
        q.deployment,
        phase=q.phase,
        batch=q.batch,
        context=q.context,
        chunk=q.chunk,
        prompt=q.context,
    )


def _detail_shares(q: Question, detail: Breakdown, step: NDArray[np.float64]) -> dict[str, Any]:
    bandwidth = q.deployment.cluster.device.memory.bandwidth_bytes_per_s
    return {
        "mfu": detail.peak_s / step,
        "mbu": detail.required_bytes / bandwidth / step,
        "bound_by": detail.bound_by(),
    }


def _chalk_shares(q: Question, chalk: Chalk, step: NDArray[np.float64]) -> dict[str, Any]:
    per_sequence = q.step_tokens / q.batch
    terms = chalk.terms_s(batch=q.batch, new_tokens=per_sequence, context=q.cached)
    return {
        "mfu": terms["compute"] / step,
        "mbu": (terms["weight read"] + terms["state read"]) / step,
        "bound_by": chalk.bound_by(batch=q.batch, new_tokens=per_sequence, context=q.cached),
    }
