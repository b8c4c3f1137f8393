"""What drafting costs: the model's own MTP layer, or a stated share of a decode step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ridgeline.errors import InputError
from ridgeline.model.architecture import Architecture, Linear, replace_count
from ridgeline.model.layout import Layout
from ridgeline.model.memory import state_bytes_per_device, weight_bytes_per_device
from ridgeline.model.precision import Precision
from ridgeline.model.speculation import tokens_per_step
from ridgeline.model.work import Number, Operation, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """Drafts of a verify step, how likely they are kept, and what makes them."""

    acceptance: tuple[float, ...]
    """a_1 … a_k: probability that draft i is kept, given that i - 1 before it were [1]."""
    draft_share: float | None = None
    """Time of one draft over a plain decode step [1]; None: the model's own MTP layer."""

    @property
    def drafts(self) -> int:
        """Drafted tokens k of a step; it computes k + 1."""
        return len(self.acceptance)

    @property
    def tokens_per_step(self) -> float:
        """Expected output tokens of a step [token]."""
        return float(tokens_per_step(self.acceptance))


def check_speculation(arch: Architecture, speculation: Speculation) -> None:
    """Raise InputError where a probability or share breaks its rule, or nothing can draft."""
    if not 1 <= speculation.drafts <= 64:
        raise InputError(f"spec-tokens must be from 1 to 64: {speculation.drafts}.")
    tokens_per_step(speculation.acceptance)
    share = speculation.draft_share
    if share is None and not arch.mtp_blocks:
        raise InputError(
            f"{arch.name} has no MTP layer to draft with. Give --draft-cost, the time of one"
            " draft over a decode step: 0.02 to 0.1 is usual for EAGLE heads."
        )
    # Not <: NaN must be refused too.
    if share is not None and not 0 <= share <= 1:
        raise InputError(f"draft-cost must be from 0 to 1 decode step: {share}.")


def draft_operations(
    arch: Architecture,
    step: Step,
    layout: Layout,
    speculation: Speculation,
    operations_of: Callable[[Architecture, Step, Layout], tuple[Operation, ...]],
) -> tuple[Operation, ...]:
    """Return the work of all k drafts on one device, one after another.

    MTP: each draft runs the embedding, the projection of (hidden, embedding), one MTP block and
    the LM head, on the last stage of a pipeline. Otherwise each is `draft_share` of everything
    that a plain decode step does.

    Args:
        arch: The model.
        step: One new token per sequence.
        layout: Degrees.
        speculation: k and the share.
        operations_of: (architecture, step, layout) -> operations.

    Source: deepseek2024v3 (section 2.2).
    """
    if speculation.draft_share is None:
        work = operations_of(_draft(arch), step, _last_stage(layout))
        times: float = speculation.drafts
    else:
        work = operations_of(arch, step, layout)
        times = speculation.drafts * speculation.draft_share
    return tuple(replace(op, name=f"draft.{op.name}", count=op.count * times) for op in work)


def draft_bytes(
    arch: Architecture,
    speculation: Speculation,
    precision: Precision,
    layout: Layout,
    *,
    batch: Number,
    tokens: Number,
) -> Number:
    """Return weights and cache of the MTP layers on one device [B]; 0 for a stated share.

    Embedding and head are the model's own.

    Args:
        arch: The model.
        speculation: Whether the model's own layers draft.
        precision: Formats.
        layout: Degrees; the layers sit on the last stage.
        batch: Sequences in the replica.
        tokens: Tokens held per sequence.
    """
    if speculation.draft_share is not None:
        return 0.0
    own = replace(
        _draft(arch),
        blocks=arch.mtp_blocks,
        num_input_embedding_params=0,
        num_other_embedding_params=0,
        num_multimodal_params=0,
        head=None,
    )
    where = _last_stage(layout)
    cache = state_bytes_per_device(own, tokens, batch, precision, where)
    return weight_bytes_per_device(own, precision, where) + cache


def _draft(arch: Architecture) -> Architecture:
    """Return one MTP block between the embedding and the head as a model of its own."""
    join = Linear(
        name="join_proj",
        in_features=2 * arch.hidden_size,
        out_features=arch.hidden_size,
        weight_class="ffn",
    )
    return replace(
        arch,
        blocks=(replace_count(arch.mtp_blocks[0]),),
        mtp_blocks=(),
        linears=(join,) if arch.num_mtp_other_params else (),
    )


def _last_stage(layout: Layout) -> Layout:
    return replace(layout, pp=np.ones_like(layout.pp) if np.ndim(layout.pp) else 1)
