"""Work: what one device must compute, move and send in one step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Number = float | int | NDArray[np.floating[Any]] | NDArray[np.signedinteger[Any]]
"""Every formula takes floats or broadcastable arrays."""

Family = Literal[
    "gemm",
    "expert_gemm",
    "attention",
    "latent_attention",
    "sparse_attention",
    "indexer",
    "recurrence",
    "elementwise",
    "embedding",
    "collective",
]
"""Operation family: the key of efficiency curves."""

CollectiveKind = Literal[
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "point_to_point"
]

Axis = Literal["tp", "ep", "cp", "dp", "pp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One forward pass: `batch` sequences, `new_tokens` each, over `context` cached tokens.

    Decode is new_tokens = 1; prefill is context = 0; a chunk of prefill has both; speculative
    verification of k drafts is new_tokens = k + 1.
    """

    batch: Number
    new_tokens: Number = 1
    context: Number = 0
    logit_tokens: Number | None = None
    """Tokens per sequence that need logits; None: all in decode-like steps (new_tokens ≤ 8),
    else 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """How an expert dispatch chooses where its copies go; lets a transport send fewer copies."""

    top_k: Number
    """Copies of each token in the payload."""
    num_experts: Number
    """Distinct targets, spread evenly and in order over the ranks."""
    num_groups: Number = 1
    """Node-limited routing: groups the experts are cut into."""
    top_groups: Number = 1
    """Groups a token may choose experts from."""
    returning: bool = False
    """The way back: results to the ranks of their tokens (combine)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What an operation sends: the payload of one collective on one device."""

    kind: CollectiveKind
    payload_bytes: Number
    """Bytes of the buffer on one rank before the collective (see cost.collectives)."""
    group: Number
    """Ranks that take part; 1 costs nothing."""
    axis: Axis
    """The parallel degree the group belongs to (decides which tiers it spans)."""
    routing: Routing | None = None
    """Of an expert dispatch or combine; None: every byte of an all-to-all is distinct."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One kernel-like piece of work on one device, repeated `count` times in the step.

    All quantities are per execution on one device, floats or broadcastable arrays.
    """

    name: str
    """As in the architecture: `q_proj`, `attention`, `experts.up_proj`, `lm_head` ..."""
    family: Family
    component: str
    """`attention`, `ffn`, `experts`, `embedding`, `head`, `network` ...: what a chart stacks."""
    compute_format: str
    """Arithmetic format: key of Device.peak_flop_per_s (with the device's fallback)."""
    count: Number = 1
    flop: Number = 0.0
    weight_bytes: Number = 0.0
    state_read_bytes: Number = 0.0
    state_write_bytes: Number = 0.0
    activation_bytes: Number = 0.0
    """Activations read and written in device memory."""
    shape: Mapping[str, Number] = field(default_factory=dict[str, Number])
    """What an efficiency curve may look at: m, n, k; tokens_per_expert; num_groups; context ..."""
    storage_format: str = ""
    """Id of the format of its weights, or of the cache it reads; efficiency depends on it."""
    message: Message | None = None
