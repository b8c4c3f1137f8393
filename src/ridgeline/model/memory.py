"""Bytes that stay on one device: weights, state of the running sequences, workspace."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ridgeline.model.architecture import Architecture, Block, Linear
from ridgeline.model.layout import Layout
from ridgeline.model.operations import num_kv_heads
from ridgeline.model.operations_moe import devices_per_expert
from ridgeline.model.precision import Precision
from ridgeline.model.state import core_state_bytes, kv_head_share
from ridgeline.model.work import Number

_ONE = Layout()
_LOGIT_BYTES = 4.0
"""Engines sample from fp32 logits."""


def _fullest_stage(
    arch: Architecture,
    pp: Number,
    per_layer: Sequence[Number],
    *,
    first: Number = 0.0,
    last: Number = 0.0,
    shared: Number = 0.0,
) -> Number:
    """Return the most that one stage holds [B], from what each kind of layer and each end holds.

    `shared` is held once where both ends are on one stage.
    """
    found: Number = 0.0
    for stages in np.unique(pp):
        most: Number = 0.0
        for counts, is_first, is_last in arch.distinct_stages(int(stages)):
            held = is_first * first + is_last * last - (is_first and is_last) * shared
            for count, one in zip(counts, per_layer, strict=True):
                held = held + count * one
            most = np.maximum(most, held)
        found = found + np.where(np.equal(pp, stages), most, 0.0)
    return found


def _linear_bytes(x: Linear, precision: Precision, share: Number) -> Number:
    bias = x.out_features if x.bias else 0
    weights = x.num_weights * precision.weight_bytes_of(x.weight_class)
    # A bias of a matrix cut by input lives on every device.
    kept = 1.0 if x.split in {"row", "replicated"} else share
    return weights * share + bias * precision.activation.bytes_per_weight * kept


def _block_bytes(block: Block, precision: Precision, layout: Layout) -> Number:
    kv_share = kv_head_share(num_kv_heads(block.mixer), layout)
    total: Number = 0.0
    for x in (*block.mixer.linears, *block.feed_forward.linears):
        share = 1.0 if x.split == "replicated" else 1 / layout.tp
        total = total + _linear_bytes(x, precision, kv_share if x.split == "kv" else share)
    vectors = (
        block.num_norm_params
        + block.num_other_params
        + block.mixer.num_vector_params
        + block.feed_forward.num_vector_params
    )
    total = total + vectors * precision.weight_bytes_of("norm")
    experts = block.feed_forward.experts
    if experts is None:
        return total
    one = experts.num_vector_params * precision.weight_bytes_of("norm")
    for x in experts.linears:
        one = one + _linear_bytes(x, precision, 1.0)
    held = (experts.num_experts + layout.num_redundant_experts) / layout.ep
    return total + held * one / devices_per_expert(layout)


def weight_bytes_per_device(
    arch: Architecture, precision: Precision, layout: Layout = _ONE, *, multimodal: bool = True
) -> Number:
    """Return the weights on the fullest device [B].

    Blocks that share the weights of an earlier one hold nothing of their own. Stage s holds
    layers ⌊s·L/pp⌋ up to ⌊(s + 1)·L/pp⌋ of L, the first one the embedding too and the last one
    the head; the fullest counts. Multi-token-prediction layers are left out.

    Args:
        arch: The model.
        precision: Formats.
        layout: Parallel degrees.
        multimodal: Count vision and audio parts too (whole on every device, first stage).
    """
    layers = [
        0.0 if b.shares_weights else _block_bytes(b, precision, layout)
        for b, _ in arch.distinct_blocks()
    ]
    embedding = precision.weight_bytes_of("embedding")
    first = arch.num_input_embedding_params * embedding / layout.tp
    first = first + arch.num_other_embedding_params * embedding
    for x in arch.linears:
        first = first + _linear_bytes(
            x, precision, 1.0 if x.split == "replicated" else 1 / layout.tp
        )
    if multimodal:
        first = first + arch.num_multimodal_params * precision.activation.bytes_per_weight
    norm: Number = arch.num_final_norm_params * precision.weight_bytes_of("norm")
    head: Number = 0.0
    if arch.head is not None:
        head = _linear_bytes(
            arch.head, precision, 1.0 if arch.head.split == "replicated" else 1 / layout.tp
        )
    # A tied head is the embedding, unless the two are on different stages.
    shared = head if _tied(arch) else 0.0
    return _fullest_stage(arch, layout.pp, layers, first=first, last=norm + head, shared=shared)


def _tied(arch: Architecture) -> bool:
    return arch.tie_word_embeddings


def state_bytes_per_device(
    arch: Architecture,
    tokens: Number,
    batch: Number,
    precision: Precision,
    layout: Layout = _ONE,
) -> Number:
    """Return the state of `batch` sequences of `tokens` tokens on the fullest device [B].

    Sequences are spread over dp; KV heads over tp, replicated beyond their number; tokens over
    cp; layers over pp, so that the stage with the most caching layers counts.
    """
    layers: list[Number] = []
    for block, _ in arch.distinct_blocks():
        kept: Number = 0.0
        for core in block.mixer.cores:
            kept = kept + core_state_bytes(core, tokens, precision, layout)
        layers.append(kept)
    return np.ceil(batch / layout.dp) * _fullest_stage(arch, layout.pp, layers)


def activation_workspace_bytes(
    arch: Architecture,
    tokens: Number,
    precision: Precision,
    layout: Layout = _ONE,
    *,
    logit_tokens: Number = 0,
) -> Number:
    """Return the buffers live at the widest point of a forward pass on one device [B].

        t · a · (2·h + max over layers of (mixer width, feed-forward width)) + 4 · t_logit · V/tp

    t tokens of the device, a bytes per activation, h for the residual and one normed copy.
    Mixer width: what the input projections produce and the output projection consumes.
    Feed-forward width: the same; for experts k_eff·(2·h + widths), since every chosen expert
    has a copy of its tokens. Logits are kept in fp32.

    Args:
        arch: The model.
        tokens: New tokens of the whole replica in the step (the engine's token budget).
        precision: Formats.
        layout: Parallel degrees.
        logit_tokens: Tokens of the replica that need logits.

    Source: first principles; engines that fuse more need less.
    """
    widest: Number = 0.0
    for block, _ in arch.distinct_blocks():
        mixer = _live_width(block.mixer.linears) / layout.tp
        ffn = _live_width(block.feed_forward.linears) / layout.tp
        experts = block.feed_forward.experts
        if experts is not None and experts.linears:
            shard = devices_per_expert(layout)
            width = 2 * experts.linears[0].in_features + _live_width(experts.linears) / shard
            # Pairs per device over its own tokens: tokens·k/ep against tokens/(dp·cp).
            spread = layout.dp * layout.cp / layout.ep
            ffn = ffn + experts.mean_active * spread * width
        widest = np.maximum(widest, np.maximum(mixer, ffn))
    local = tokens / (layout.dp * layout.cp)
    live = local * precision.activation.bytes_per_weight * (2 * arch.hidden_size + widest)
    logits = logit_tokens / (layout.dp * layout.cp) * arch.vocab_size / layout.tp
    return live + logits * _LOGIT_BYTES


def _live_width(linears: tuple[Linear, ...]) -> float:
    """Return the elements per token that input projections produce and row-cut ones consume."""
    produced = sum(x.out_features for x in linears if x.split != "row")
    return float(produced + sum(x.in_features for x in linears if x.split == "row"))
