"""A model on devices: the steps it can run, what they cost, and what fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ridgeline.cost.efficiency import Efficiency
from ridgeline.hardware import Cluster
from ridgeline.model.architecture import Architecture
from ridgeline.model.layout import Layout
from ridgeline.model.memory import (
    activation_workspace_bytes,
    state_bytes_per_device,
    weight_bytes_per_device,
)
from ridgeline.model.operations import operations
from ridgeline.model.precision import Precision
from ridgeline.model.work import Number, Operation, Step
from ridgeline.phase.breakdown import Breakdown, breakdown

Phase = Literal["decode", "prefill", "mixed"]

RUNTIME_RESERVE_BYTES = 2e9
"""Context of the runtime, communication buffers and captured graphs on one device [B]:
assumed; engine logs of 8-device vLLM and SGLang servers show 1 to 4 GB."""
_PER_SEQUENCE = frozenset(
    {"attention", "latent_attention", "sparse_attention", "indexer", "recurrence"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """One replica of a model on devices of a cluster."""

    architecture: Architecture
    precision: Precision
    cluster: Cluster
    num_devices: int
    """Devices that hold one replica."""
    layout: Layout | None
    """None: work and bytes are divided evenly over the devices by an ideal network."""
    efficiency: Efficiency
    memory_share: float = 0.9
    """Share of device memory that the engine may use (`--gpu-memory-utilization`)."""

    @property
    def shards(self) -> float:
        """Even division that stands in for a layout."""
        return float(self.num_devices) if self.layout is None else 1.0


def step_operations(
    deployment: Deployment, *, phase: Phase, batch: Number, context: Number, chunk: Number = 0
) -> tuple[Operation, ...]:
    """Return the operations of one step on one device (of the whole replica without a layout).

    Args:
        deployment: Model, precision and layout.
        phase: `decode`: one new token per sequence over `context` cached ones; `prefill`:
            `batch` prompts of `context` tokens at once; `mixed`: a decode step that also
            carries `chunk` prompt tokens of one more sequence.
        batch: Sequences in the replica.
        context: Tokens.
        chunk: Prompt tokens riding along in a mixed step.
    """
    layout = deployment.layout or Layout()

    def ops(step: Step) -> tuple[Operation, ...]:
        return operations(deployment.architecture, step, deployment.precision, layout)

    if phase == "prefill":
        return ops(Step(batch=batch, new_tokens=context, context=0))
    decode = ops(Step(batch=batch, new_tokens=1, context=context))
    if phase == "decode":
        return decode
    # Weights are read once for decode and chunk together: the linear part sees both as tokens,
    # the part that works per sequence sees them apart.
    together = ops(Step(batch=np.asarray(batch) + chunk, new_tokens=1, context=0))
    prompt = ops(Step(batch=1, new_tokens=chunk, context=0))
    return (
        *(op for op in together if op.family not in _PER_SEQUENCE),
        *(op for op in decode if op.family in _PER_SEQUENCE),
        *(op for op in prompt if op.family in _PER_SEQUENCE),
    )


def step_breakdown(
    deployment: Deployment, *, phase: Phase, batch: Number, context: Number, chunk: Number = 0
) -> Breakdown:
    """Return one step of `deployment` as a breakdown; arguments as in `step_operations`."""
    return breakdown(
        step_operations(deployment, phase=phase, batch=batch, context=context, chunk=chunk),
        deployment.cluster.device,
        deployment.efficiency,
        shards=deployment.shards,
    )


def memory_parts_bytes(
    deployment: Deployment, *, batch: Number, tokens: Number, step_tokens: Number
) -> dict[str, Number]:
    """Return what takes memory on one device [B].

    Args:
        deployment: Model, precision and layout.
        batch: Sequences in the replica.
        tokens: Tokens held per sequence when the step ends.
        step_tokens: New tokens of the whole step, for the workspace.
    """
    layout = deployment.layout or Layout()
    d = deployment
    return {
        "weights": weight_bytes_per_device(d.architecture, d.precision, layout) / d.shards,
        "kv cache": state_bytes_per_device(d.architecture, tokens, batch, d.precision, layout)
        / d.shards,
        "activations": activation_workspace_bytes(
            d.architecture, step_tokens, d.precision, layout, logit_tokens=batch
        )
        / d.shards,
        "runtime": RUNTIME_RESERVE_BYTES,
    }


def usable_bytes(deployment: Deployment) -> float:
    """Return the memory the engine may fill on one device [B]."""
    return deployment.memory_share * deployment.cluster.device.memory.capacity_bytes


def fits(
    deployment: Deployment, *, batch: Number, tokens: Number, step_tokens: Number
) -> NDArray[np.bool_]:
    """Return where everything fits on every device."""
    parts = memory_parts_bytes(deployment, batch=batch, tokens=tokens, step_tokens=step_tokens)
    total: Number = 0.0
    for value in parts.values():
        total = total + value
    return np.asarray(total <= usable_bytes(deployment))


def largest_that_fits(fits_at: Callable[[int], bool], limit: int = 2**30) -> int:
    """Return the largest n in 0..limit with `fits_at(n)`, assuming fitting is monotone in n.

    >>> largest_that_fits(lambda n: n * 3 <= 100)
    33
    """
    if not fits_at(1):
        return 0
    low, high = 1, 2
    while high < limit and fits_at(high):
        low, high = high, high * 2
    high = min(high, limit)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits_at(middle) else (low, middle)
    return limit if fits_at(limit) and high == limit else low
