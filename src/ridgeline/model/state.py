"""State: what a sequence keeps in device memory between steps, as a function of its length.

Sliding and chunked layers keep the last window − 1 tokens: the next query sees those and
itself. That is what transformers' DynamicCache keeps too (checked in tests/oracle); engines
with paged caches round up to blocks.
"""

from __future__ import annotations

import math

import numpy as np

from ridgeline.model.architecture import (
    Architecture,
    CompressedAttention,
    Core,
    CrossAttention,
    LatentAttention,
    Recurrence,
    SoftmaxAttention,
)
from ridgeline.model.layout import Layout
from ridgeline.model.precision import Precision
from ridgeline.model.work import Number

_ONE = Layout()
_BY_CHANNEL = frozenset({"mamba1", "short_conv", "rg_lru"})


def kv_head_share(num_kv_heads: int, layout: Layout) -> Number:
    """Return the share of all KV heads on one device: max(1/tp, 1/num_kv_heads) [1].

    Once tp exceeds the KV heads they are replicated, one per device.
    """
    return np.maximum(1 / layout.tp, 1 / num_kv_heads)


def recurrent_share(core: Recurrence, layout: Layout) -> Number:
    """Return the share of a recurrent state on one device [1].

    States split by head; those without heads split by channel.
    """
    if core.kind in _BY_CHANNEL:
        return 1 / layout.tp
    return np.maximum(1 / layout.tp, 1 / max(core.num_heads, 1))


def kept_tokens(tokens: Number, window: int | None) -> Number:
    """Return the tokens a layer keeps: all, or the last window − 1 [token]."""
    return tokens if window is None else np.minimum(tokens, max(window - 1, 0))


def kv_entry_bytes(core: Core, precision: Precision) -> float:
    """Return the bytes of one cached entry of one layer, all heads, index keys apart [B]."""
    match core:
        case SoftmaxAttention():
            width = core.qk_head_dim + (core.v_head_dim if core.stores_v else 0)
            return core.num_kv_heads * width * precision.kv.bytes_per_weight
        case LatentAttention():
            return (core.kv_lora_rank + core.qk_rope_head_dim) * precision.kv.bytes_per_weight
        case CompressedAttention():
            return core.head_dim * precision.kv.bytes_per_weight
        case CrossAttention():
            return 2 * core.num_kv_heads * core.head_dim * precision.kv.bytes_per_weight
        case Recurrence():
            return 0.0


def index_key_bytes(core: Core, precision: Precision) -> float:
    """Return the bytes of one cached index key of one layer [B]."""
    if isinstance(core, SoftmaxAttention | LatentAttention | CompressedAttention) and core.indexer:
        return core.indexer.key_dim * precision.kv.bytes_per_weight
    return 0.0


def recurrent_bytes(core: Recurrence, precision: Precision) -> float:
    """Return the constant state of one recurrent layer and sequence [B]."""
    conv = core.conv_elements * precision.activation.bytes_per_weight
    return core.state_elements * core.state_bytes_per_element + conv


def _compressed_bytes(core: CompressedAttention, tokens: Number, precision: Precision) -> Number:
    """Return window, compressed entries, and what waits to be compressed [B].

    Up to ratio − 1 tokens wait, as an entry and a gate (two of each with overlap); overlapping
    windows also keep the last whole one.
    """
    entry = kv_entry_bytes(core, precision)
    total = kept_tokens(tokens, core.window) * entry
    if not core.ratio:
        return total
    key_dim = core.indexer.key_dim if core.indexer else 0
    whole = np.floor_divide(tokens, core.ratio)
    waiting = (tokens - whole * core.ratio) * (2 if core.overlap else 1)
    if core.overlap:
        waiting = waiting + core.ratio * np.minimum(whole, 1)
    pending = 2 * (core.head_dim + key_dim) * precision.activation.bytes_per_weight
    return total + whole * (entry + index_key_bytes(core, precision)) + waiting * pending


def core_state_bytes(
    core: Core, tokens: Number, precision: Precision, layout: Layout = _ONE
) -> Number:
    """Return what one core of one layer keeps per sequence on one device [B].

    Args:
        core: The arithmetic that owns the state.
        tokens: Length of the sequence; scalar or array.
        precision: Formats.
        layout: KV heads split over tp (replicated beyond their number), latents and index keys
            do not; everything that grows is cut over cp; recurrent state splits by head.
    """
    match core:
        case SoftmaxAttention():
            share = kv_head_share(core.num_kv_heads, layout)
            kept = kept_tokens(tokens, core.window) if core.stores_kv else 0
            keys = index_key_bytes(core, precision) * tokens
            return (kept * kv_entry_bytes(core, precision) * share + keys) / layout.cp
        case LatentAttention():
            kept = kept_tokens(tokens, core.window) * kv_entry_bytes(core, precision)
            return (kept + index_key_bytes(core, precision) * tokens) / layout.cp
        case CompressedAttention():
            return _compressed_bytes(core, tokens, precision) / layout.cp
        case CrossAttention():
            share = kv_head_share(core.num_kv_heads, layout)
            return core.num_source_tokens * kv_entry_bytes(core, precision) * share / layout.cp
        case Recurrence():
            return recurrent_bytes(core, precision) * recurrent_share(core, layout)


def state_bytes(
    arch: Architecture, tokens: Number, precision: Precision, layout: Layout = _ONE
) -> Number:
    """Return the state of one sequence of `tokens` tokens on one device, all layers [B].

    With the default layout that is the whole sequence. A pipeline holds all layers together;
    `memory.state_bytes_per_device` takes its fullest stage.
    """
    total: Number = 0.0
    for block, count in arch.distinct_blocks():
        for core in block.mixer.cores:
            total = total + count * core_state_bytes(core, tokens, precision, layout)
    return total


def compression_period(arch: Architecture) -> int:
    """Return the tokens after which every compressed cache has grown by whole entries."""
    ratios = {
        core.ratio
        for block in arch.blocks
        for core in block.mixer.cores
        if isinstance(core, CompressedAttention) and core.ratio
    }
    return math.lcm(*ratios) if ratios else 1


def kv_bytes_per_token(
    arch: Architecture, precision: Precision, at_tokens: int = 32768, layout: Layout = _ONE
) -> float:
    """Return the growth of the state by one more token at a length [B/token].

    Windows shorter than the length no longer grow. A compressed cache grows by one entry per
    `ratio` tokens, so its mean over a whole period is taken.
    """
    period = compression_period(arch)
    later = state_bytes(arch, at_tokens + period, precision, layout)
    return float(later - state_bytes(arch, at_tokens, precision, layout)) / period


def _read_entries(core: Core, context: Number, new_tokens: Number) -> Number:
    """Return the cached entries of one layer that `new_tokens` queries read together [entry].

    Dense attention reads each reachable entry once; top-k selections of different queries are
    taken as disjoint, up to the whole context.
    """
    match core:
        case SoftmaxAttention() | LatentAttention():
            if core.window is None:
                reach = context
            elif isinstance(core, SoftmaxAttention) and core.window_kind == "chunked":
                reach = np.remainder(context, core.window)
            else:
                reach = kept_tokens(context, core.window)
            if core.indexer is None:
                return reach
            return np.minimum(reach, new_tokens * core.indexer.top_k * core.indexer.block_size)
        case CompressedAttention():
            reach = kept_tokens(context, core.window)
            if not core.ratio:
                return reach
            entries = np.floor_divide(context, core.ratio)
            if core.indexer is not None:
                entries = np.minimum(entries, new_tokens * core.indexer.top_k)
            return reach + entries
        case CrossAttention():
            return core.num_source_tokens
        case Recurrence():
            return 0


def core_read_bytes(
    core: Core, context: Number, precision: Precision, *, new_tokens: Number = 1
) -> Number:
    """Return the cached entries one layer reads per sequence in a step, all heads [B].

    Index keys and recurrent state are counted by their own functions.
    """
    return _read_entries(core, context, new_tokens) * kv_entry_bytes(core, precision)


def index_read_bytes(core: Core, context: Number, precision: Precision) -> Number:
    """Return the index keys one layer reads per sequence in a step [B]."""
    keys = index_key_bytes(core, precision)
    if not keys or not isinstance(core, SoftmaxAttention | LatentAttention | CompressedAttention):
        return 0.0
    if core.indexer is None or not core.indexer.scores:
        return 0.0
    if isinstance(core, CompressedAttention):
        return np.floor_divide(context, max(core.ratio, 1)) * keys
    return context * keys


def state_read_bytes(arch: Architecture, context: Number, precision: Precision) -> Number:
    """Return the state one sequence reads in one decode step, all layers and devices [B].

    Layers that share the cache of an earlier one read it again; recurrent state is read whole.
    """
    total: Number = 0.0
    for block, count in arch.distinct_blocks():
        for core in block.mixer.cores:
            read = core_read_bytes(core, context, precision)
            read = read + index_read_bytes(core, context, precision)
            if isinstance(core, Recurrence):
                read = read + recurrent_bytes(core, precision)
            total = total + count * read
    return total
