"""A model on devices: the steps it can run, what they cost, and what fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ridgeline.cost.collectives import CollectiveCost, collective_time
from ridgeline.cost.efficiency import Efficiency
from ridgeline.cost.engines import EngineProfile
from ridgeline.cost.network_records import CALIBRATED, NetworkEfficiency
from ridgeline.cost.remembered import remembered
from ridgeline.errors import InputError
from ridgeline.hardware import Cluster
from ridgeline.model.architecture import Architecture
from ridgeline.model.draft import Speculation, draft_bytes, draft_operations
from ridgeline.model.layout import Layout
from ridgeline.model.memory import (
    activation_workspace_bytes,
    state_bytes_per_device,
    weight_bytes_per_device,
)
from ridgeline.model.operations import operation_groups, operations
from ridgeline.model.operations_moe import Imbalance
from ridgeline.model.precision import Precision
from ridgeline.model.scene import is_one
from ridgeline.model.work import Message, Number, Operation, Step
from ridgeline.phase.breakdown import Breakdown, breakdown
from ridgeline.phase.stages import Pipeline

Phase = Literal["decode", "prefill", "mixed"]

RUNTIME_RESERVE_BYTES = 2e9
"""Context of the runtime, communication buffers and captured graphs on one device [B]:
assumed; engine logs of 8-device vLLM and SGLang servers show 1 to 4 GB."""


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
    network: NetworkEfficiency = CALIBRATED
    imbalance: Imbalance | None = None
    """Load of the busiest expert rank over the mean, as a function of tokens."""
    speculation: Speculation | None = None
    """Drafts that every decode step verifies."""
    engine: EngineProfile | None = None
    """What the serving engine adds to the kernels; None adds nothing."""
    memory_share: float = 0.9
    """Share of device memory that the engine may use (`--gpu-memory-utilization`)."""

    def __post_init__(self) -> None:
        """Refuse a share of memory that no engine can be given."""
        if not 0 < self.memory_share <= 1:
            raise InputError(
                "gpu-memory-utilization must be above 0 and at most 1:"
                f" {self.memory_share}. Usual: 0.9."
            )

    def price_message(self, message: Message) -> CollectiveCost:
        """Return the cost of one message on this cluster and layout."""
        return collective_time(
            message, self.cluster, self.layout or Layout(), efficiency=self.network
        )

    @property
    def shards(self) -> float:
        """Even division that stands in for a layout."""
        return float(self.num_devices) if self.layout is None else 1.0

    @property
    def decode_tokens(self) -> int:
        """Tokens that a decode step computes per sequence: 1, or drafts + 1."""
        return 1 if self.speculation is None else self.speculation.drafts + 1

    @property
    def tokens_per_step(self) -> float:
        """Expected output tokens per sequence and decode step [token]."""
        return 1.0 if self.speculation is None else self.speculation.tokens_per_step


def chunk_steps(sequences: Number, chunk: Number, prompt: Number) -> tuple[Step, Step]:
    """Return the mean chunk of a prompt as the first one and the mean of the others.

    A prompt of P tokens in chunks of c has n = P/c of them, the k-th over (k-1)·c cached tokens:
    one over none, the others over P/2 on average. What grows in proportion to the context (and
    windows shorter than a chunk) sums over the chunks to the whole prompt. A chunk longer than
    the prompt holds several prompts.

    Args:
        sequences: Prompts that are cut at the same time.
        chunk: c, tokens of each per step.
        prompt: P [token].

    Source: first principles; the first of n chunks has weight 1/n.

    >>> first, others = chunk_steps(1, 2048, 8192)
    >>> float(first.batch), float(others.batch), float(others.context)
    (0.25, 0.75, 4096.0)
    """
    new = np.maximum(np.minimum(chunk, prompt), 1)
    batch = np.multiply(sequences, np.divide(chunk, new))
    first = new / np.maximum(prompt, 1)
    return (
        Step(batch=batch * first, new_tokens=new, context=0),
        Step(batch=batch * (1 - first), new_tokens=new, context=np.divide(prompt, 2)),
    )


def step_operations(
    deployment: Deployment,
    *,
    phase: Phase,
    batch: Number,
    context: Number,
    chunk: Number = 0,
    prompt: Number | None = None,
) -> tuple[Operation, ...]:
    """Return the operations of one step on one device (of the whole replica without a layout).

    Args:
        deployment: Model, precision and layout.
        phase: `decode`: one new token per sequence (with speculation the drafts too, and the
            work of drafting) over `context` cached ones; `prefill`:
            `batch` prompts of `context` tokens at once; `mixed`: a decode step that also
            carries `chunk` prompt tokens of one more sequence per attention group, so that
            weights are read once for both.
        batch: Sequences in the replica.
        context: Tokens.
        chunk: Prompt tokens riding along in a mixed step, per attention group.
        prompt: Length of the prompts that the chunks are cut from; the step is the mean over
            them. None: every chunk starts a prompt.
    """
    groups = _operation_groups(
        deployment, phase=phase, batch=batch, context=context, chunk=chunk, prompt=prompt
    )
    return tuple(op for group in groups for op in group)


def _operation_groups(
    deployment: Deployment,
    *,
    phase: Phase,
    batch: Number,
    context: Number,
    chunk: Number,
    prompt: Number | None,
) -> tuple[tuple[Operation, ...], ...]:
    """Return them by what pipeline stages differ in; drafting goes with the head."""
    layout = deployment.layout or Layout()

    def run(
        arch: Architecture, steps: Step | tuple[Step, ...], layout: Layout
    ) -> tuple[Operation, ...]:
        return operations(arch, steps, deployment.precision, layout, imbalance=deployment.imbalance)

    if phase == "prefill":
        steps = (Step(batch=batch, new_tokens=context, context=0),)
    else:
        steps = (Step(batch=batch, new_tokens=deployment.decode_tokens, context=context),)
    if phase == "mixed":
        alone = (Step(batch=layout.dp, new_tokens=chunk, context=0),)
        steps = (*steps, *(alone if prompt is None else chunk_steps(layout.dp, chunk, prompt)))
    *before, head, send = operation_groups(
        deployment.architecture,
        steps,
        deployment.precision,
        layout,
        imbalance=deployment.imbalance,
    )
    if phase != "prefill" and deployment.speculation is not None:
        drafted = Step(batch=batch, new_tokens=1, context=context)
        head += draft_operations(
            deployment.architecture, drafted, layout, deployment.speculation, run
        )
    return (*before, head, send)


def step_breakdown(
    deployment: Deployment,
    *,
    phase: Phase,
    batch: Number,
    context: Number,
    chunk: Number = 0,
    prompt: Number | None = None,
) -> Breakdown:
    """Return one step of `deployment` as a breakdown; arguments as in `step_operations`.

    With P pipeline stages, decode runs M = min(P, B) micro-batches at a time in a loop that the
    slowest stage paces; prefill sends its prompts one by one (see `phase.stages`).

    Source: lecture C4-F3, C4-F5, C4-F7.
    """
    layout = deployment.layout or Layout()
    pp = layout.pp
    alone = is_one(pp)
    if alone:
        micro, turns = batch, 1.0
    elif phase == "prefill":
        # A prompt batch smaller than the number of attention groups is one micro-batch; without
        # a pipeline all prompts run at once.
        micro = np.where(np.equal(pp, 1), batch, np.minimum(batch, layout.dp))
        turns = np.ceil(batch / micro)
    else:
        micro, turns = np.maximum(batch / pp, 1.0), np.minimum(batch, pp)
    # The attention group with one sequence more sets the pace.
    busiest = np.ceil(micro / layout.dp) * layout.dp
    groups = _operation_groups(
        deployment, phase=phase, batch=busiest, context=context, chunk=chunk, prompt=prompt
    )
    work = tuple(op for group in groups for op in group)
    pipeline = Pipeline(
        architecture=deployment.architecture,
        groups=tuple(i for i, group in enumerate(groups) for _ in group),
        counts=tuple(op.count for op in work),
        pp=pp,
        micro_batches=turns,
        loop=phase != "prefill",
    )
    return breakdown(
        work,
        deployment.cluster.device,
        deployment.efficiency,
        network=None if deployment.layout is None else remembered(deployment.price_message),
        shards=deployment.shards,
        repeats=turns,
        occupancy=micro / busiest,
        engine=deployment.engine,
        layers=deployment.architecture.num_layers / pp,
        sequences=busiest / layout.dp,
        pipeline=None if alone else pipeline,
    )


def two_batch_step_s(
    deployment: Deployment,
    *,
    phase: Phase,
    batch: Number,
    context: Number,
    chunk: Number = 0,
    prompt: Number | None = None,
) -> Number:
    """Return the step with two micro-batches, one computing while the other communicates [s].

        t = 2 · max(local(B/2), network(B/2))

    Each half reads the weights again, so this pays only where messages are long.

    Source: deepseek2024v3 (section 3.4), S8 of the lecture's simplifications.
    """
    half = step_breakdown(
        deployment,
        phase=phase,
        batch=np.maximum(np.asarray(batch) / 2, 1.0),
        context=context,
        chunk=np.asarray(chunk) / 2,
        prompt=prompt,
    )
    return 2 * np.maximum(half.local_s, half.network_s)


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
    parts: dict[str, Number] = {
        "weights": weight_bytes_per_device(d.architecture, d.precision, layout) / d.shards,
        "kv cache": state_bytes_per_device(d.architecture, tokens, batch, d.precision, layout)
        / d.shards,
        "activations": activation_workspace_bytes(
            d.architecture, step_tokens, d.precision, layout, logit_tokens=batch
        )
        / d.shards,
        "runtime": RUNTIME_RESERVE_BYTES,
    }
    if d.speculation is not None:
        parts["drafts"] = (
            draft_bytes(
                d.architecture, d.speculation, d.precision, layout, batch=batch, tokens=tokens
            )
            / d.shards
        )
    return parts


def usable_bytes(deployment: Deployment) -> float:
    """Return the memory the engine may fill on one device [B]."""
    return deployment.memory_share * deployment.cluster.device.memory.usable_bytes


def fits(
    deployment: Deployment, *, batch: Number, tokens: Number, step_tokens: Number
) -> NDArray[np.bool_]:
    """Return where everything fits on every device."""
    parts = memory_parts_bytes(deployment, batch=batch, tokens=tokens, step_tokens=step_tokens)
    total: Number = 0.0
    for value in parts.values():
        total = total + value
    return np.asarray(total <= usable_bytes(deployment))


_POINTS = 64
"""Asked at once while an interval is narrowed."""


def largest_that_fits(
    fits_at: Callable[[NDArray[np.float64]], NDArray[np.bool_]], limit: int = 2**30
) -> int:
    """Return the largest n in 0..limit with `fits_at(n)`, assuming fitting is monotone in n.

    Args:
        fits_at: Answers for an array of numbers.
        limit: Largest n that is asked.

    >>> largest_that_fits(lambda n: n * 3 <= 100)
    33
    """
    asked = np.array([*(2.0**i for i in range((limit - 1).bit_length())), float(limit)])
    low, high = 0, limit + 1
    while True:
        held = fits_at(asked)
        first = len(asked) if np.all(held) else int(np.argmin(held))
        low = int(asked[first - 1]) if first else low
        high = int(asked[first]) if first < len(asked) else high
        if high - low < 2:
            return low
        asked = np.unique(np.round(np.linspace(low, high, _POINTS)))[1:-1]
