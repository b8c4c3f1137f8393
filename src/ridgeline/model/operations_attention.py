"""Attention between the projections: scores, outputs, cache traffic; dense, latent and sparse.

FLOP per query-key pair: 2·(key width + value width) for every query head. Cached entries are
read once per step and sequence, however many queries and heads of a group use them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ridgeline.model.architecture import (
    CompressedAttention,
    CrossAttention,
    LatentAttention,
    Linear,
    SoftmaxAttention,
)
from ridgeline.model.pairs import causal_pairs, chunk_pairs, compressed_pairs, window_pairs
from ridgeline.model.scene import Scene, gemm
from ridgeline.model.state import (
    core_read_bytes,
    index_key_bytes,
    index_read_bytes,
    kept_tokens,
    kv_entry_bytes,
    kv_head_share,
)
from ridgeline.model.work import Family, Number, Operation

Attention = SoftmaxAttention | LatentAttention | CompressedAttention | CrossAttention


def attended_pairs(core: Attention, new_tokens: Number, context: Number) -> Number:
    """Return the query-key pairs one sequence attends to in one layer [pair].

    A top-k selection caps what a query sees at top_k·block_size tokens.
    """
    match core:
        case CrossAttention():
            return new_tokens * core.num_source_tokens
        case CompressedAttention():
            pairs = window_pairs(new_tokens, context, core.window)
            if not core.ratio:
                return pairs
            top_k = core.indexer.top_k if core.indexer else None
            return pairs + compressed_pairs(new_tokens, context, core.ratio, top_k)
        case SoftmaxAttention() | LatentAttention():
            window = core.window
            if core.indexer is not None:
                chosen = core.indexer.top_k * core.indexer.block_size
                window = chosen if window is None else min(window, chosen)
            if window is None:
                return causal_pairs(new_tokens, context)
            if isinstance(core, SoftmaxAttention) and core.window_kind == "chunked":
                return chunk_pairs(new_tokens, context, window)
            return window_pairs(new_tokens, context, window)


def _traffic(core: Attention, scene: Scene, kv_share: Number) -> tuple[Number, Number]:
    """Return state bytes read and written by one layer on one device [B]."""
    entry = kv_entry_bytes(core, scene.precision)

    def read(new_tokens: Number, context: Number) -> Number:
        return core_read_bytes(core, context, scene.precision, new_tokens=new_tokens)

    def written(new_tokens: Number, context: Number) -> Number:
        match core:
            case CrossAttention():
                return np.where(np.equal(context, 0), core.num_source_tokens, 0)
            case CompressedAttention():
                added = kept_tokens(new_tokens, core.window)
                return added + new_tokens / core.ratio if core.ratio else added
            case SoftmaxAttention() if not core.stores_kv:
                return 0
            case SoftmaxAttention() | LatentAttention():
                return kept_tokens(new_tokens, core.window)

    write_bytes = scene.over_sequences(written) * entry
    return scene.over_sequences(read) * kv_share, write_bytes * kv_share


def _attention(
    core: Attention,
    scene: Scene,
    count: Number,
    *,
    family: Family,
    flop: Number,
    kv_share: Number,
    elements: Number,
    head_dim: Number,
) -> Operation:
    """Return the attention operation.

    `elements` are the activations it moves; `head_dim` is the mean width of a head's keys and
    values, which the efficiency of prefill depends on.
    """
    read, written = _traffic(core, scene, kv_share)
    first = scene.steps[0]
    return Operation(
        name="attention",
        family=family,
        component="attention",
        compute_format=scene.precision.attention_compute_format,
        count=count,
        flop=flop,
        state_read_bytes=read,
        state_write_bytes=written,
        activation_bytes=elements * scene.activation_bytes,
        shape={
            "batch": scene.sequences(),
            "new_tokens": first.new_tokens,
            "context": first.context,
            "num_heads": core.num_heads / scene.layout.tp,
            "head_dim": head_dim,
        },
        storage_format=scene.precision.kv.id,
    )


def softmax_operations(
    core: SoftmaxAttention | CompressedAttention | CrossAttention, scene: Scene, count: Number
) -> tuple[Operation, ...]:
    """Return the operations of dense, windowed, sparse, compressed or cross attention.

    FLOP = 2 · num_heads · (qk_head_dim + v_head_dim) · pairs
    """
    match core:
        case SoftmaxAttention():
            qk, v, num_kv = core.qk_head_dim, core.v_head_dim, core.num_kv_heads
        case CompressedAttention():
            qk, v, num_kv = core.head_dim, core.head_dim, 1
        case CrossAttention():
            qk, v, num_kv = core.head_dim, core.head_dim, core.num_kv_heads
    heads = core.num_heads / scene.layout.tp
    kv_share = kv_head_share(num_kv, scene.layout)
    pairs = scene.over_sequences(lambda q, c: attended_pairs(core, q, c))
    indexer = () if isinstance(core, CrossAttention) else indexer_operations(core, scene, count)
    sparse = isinstance(core, CompressedAttention) or bool(indexer)
    main = _attention(
        core,
        scene,
        count,
        family="sparse_attention" if sparse else "attention",
        flop=pairs * (heads * (2.0 * (qk + v))),
        kv_share=kv_share,
        elements=scene.local_tokens * ((heads + num_kv * kv_share) * (qk + v)),
        head_dim=(qk + v) / 2,
    )
    return (*indexer, main)


def indexer_operations(
    core: SoftmaxAttention | LatentAttention | CompressedAttention, scene: Scene, count: Number
) -> tuple[Operation, ...]:
    """Return the scoring of every visible entry by the indexer, replicated over tp.

        FLOP = 2 · heads · (head_dim + 1) · pairs

    Scores of every head, then their weighted sum: linear in context however few are chosen.

    Source: DeepSeek-AI 2025, DeepSeek-V3.2-Exp, section 2.
    """
    indexer = core.indexer
    if indexer is None or not (indexer.scores or indexer.key_dim):
        return ()
    ratio = core.ratio if isinstance(core, CompressedAttention) else 1

    def pairs(new_tokens: Number, context: Number) -> Number:
        if ratio > 1:
            return compressed_pairs(new_tokens, context, ratio)
        return causal_pairs(new_tokens, context)

    precision = scene.precision
    scored = scene.over_sequences(pairs) if indexer.scores else 0.0
    width = indexer.num_heads * indexer.head_dim + indexer.key_dim
    read = scene.over_sequences(lambda _, c: index_read_bytes(core, c, precision))
    return (
        Operation(
            name="indexer",
            family="indexer",
            component="attention",
            compute_format=precision.attention_compute_format,
            count=count,
            flop=scored * (2.0 * indexer.num_heads * (indexer.head_dim + 1)),
            state_read_bytes=read,
            state_write_bytes=scene.local_tokens * (index_key_bytes(core, precision) / ratio),
            activation_bytes=scene.local_tokens * (width * scene.activation_bytes),
            shape={"context": scene.steps[0].context, "new_tokens": scene.steps[0].new_tokens},
            storage_format=precision.kv.id,
        ),
    )


@dataclass(frozen=True, slots=True)
class _LatentWork:
    """What MLA does with one sequence's new tokens on one device."""

    rows: Number
    """Rows of kv_b_proj."""
    flop: Number
    """Between the projections."""
    kv_b_elements: Number
    """Activations that kv_b_proj moves."""
    elements: Number
    """Activations that attention moves."""


def _latent_work(core: LatentAttention, heads: Number, q: Number, c: Number) -> _LatentWork:
    """Return the work of q new tokens over c cached ones, in the form with fewer FLOP."""
    rank, rope = core.kv_lora_rank, core.qk_rope_head_dim
    per_head = core.qk_nope_head_dim + core.v_head_dim
    absorbed_width, expanded_width = 2 * rank + rope, per_head + rope
    pairs = attended_pairs(core, q, c)
    dense = pairs if core.indexer is None else causal_pairs(q, c)
    cached = c if core.window is None else kept_tokens(c, core.window)
    absorbed = pairs * (2.0 * absorbed_width)
    expanded = dense * (2.0 * expanded_width)
    absorbs = absorbed <= expanded + cached * (2.0 * rank * per_head)
    rows = np.where(absorbs, q, cached + q)
    # Absorbed, every head sends its query into the latent space and its output back from it.
    latents = np.where(absorbs, 2.0 * heads, 1.0)
    # Queries and outputs; the expanded form also reads the keys and values that kv_b made.
    per_query = np.where(absorbs, absorbed_width, expanded_width)
    made = np.where(absorbs, 0.0, rows * per_head)
    return _LatentWork(
        rows=rows,
        flop=heads * np.where(absorbs, absorbed, expanded),
        kv_b_elements=rows * (latents * rank + heads * per_head),
        elements=heads * (q * per_query + made) + q * (rank + rope),
    )


def latent_operations(
    core: LatentAttention, kv_b: tuple[Linear, ...], scene: Scene, count: Number
) -> tuple[Operation, ...]:
    """Return kv_b_proj and the attention of MLA, in the cheaper of its two forms.

    With r = kv_lora_rank, d = qk_nope, e = qk_rope, v = v_head_dim, and H heads:

        absorbed    kv_b on the q new tokens (as two batched GEMMs, queries in and outputs out),
                    then 2·H·(2r + e) per pair, straight on the cached latents
        expanded    kv_b on all c + q tokens, then 2·H·(d + e + v) per pair

    Each part of a step takes the form with fewer FLOP: decode absorbs, prefill expands, and a
    chunk of prefill over a long cache pays for expanding that cache again. Top-k selection
    (DSA) lowers the pairs of the absorbed form only; the expanded form masks.

    Source: DeepSeek-AI 2024, DeepSeek-V2, arXiv:2405.04434, 2.1.2 and appendix C.
    """
    heads = core.num_heads / scene.layout.tp

    works = [(x.batch, _latent_work(core, heads, x.new_tokens, x.context)) for x in scene.steps]
    groups = scene.layout.dp * scene.layout.cp

    def total(figure: Callable[[_LatentWork], Number]) -> Number:
        return sum(batch * figure(work) for batch, work in works) / groups

    rows = total(lambda work: work.rows)
    moved = total(lambda work: work.kv_b_elements) * scene.activation_bytes
    projections = tuple(
        replace(
            gemm([x], scene, component="attention", count=count, rows=rows),
            activation_bytes=moved,
        )
        for x in kv_b
    )
    indexer = indexer_operations(core, scene, count)
    main = _attention(
        core,
        scene,
        count,
        family="sparse_attention" if indexer else "latent_attention",
        flop=total(lambda work: work.flop),
        kv_share=1.0,
        elements=total(lambda work: work.elements),
        head_dim=(core.qk_nope_head_dim + core.qk_rope_head_dim + core.v_head_dim) / 2,
    )
    return (*projections, *indexer, main)
