"""Gemma 3n and 4: per-layer embeddings, shared KV caches, two head widths, experts beside dense.

Source of shapes: modeling_gemma3n and modeling_gemma4 of transformers 5.24.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ridgeline.model.architecture import Architecture, Block, FeedForward, Mixer
from ridgeline.model.build import dense, gqa, linear, moe
from ridgeline.readers.hf.assemble import assemble
from ridgeline.readers.hf.families.standard import head_dim_of
from ridgeline.readers.hf.keys import Keys, as_list
from ridgeline.readers.hf.layers import kinds, tied


def _kinds(k: Keys, n: int, every: int) -> list[str]:
    default = ["sliding_attention" if (i + 1) % every else "full_attention" for i in range(n)]
    if n and not k.has("layer_types"):
        default[-1] = "full_attention"
    return kinds(k, n, default)


def _per_layer_inputs(k: Keys, hidden: int) -> tuple[FeedForward, int]:
    """Return the gate and projection of per-layer embeddings, and their width."""
    width = k.maybe("hidden_size_per_layer_input", default=0) or 0
    if not width:
        return FeedForward(kind="none"), 0
    return (
        FeedForward(
            kind="per_layer_input",
            linears=(
                linear("per_layer_input_gate", hidden, width, "ffn"),
                linear("per_layer_projection", width, hidden, "ffn"),
            ),
        ),
        width,
    )


def read_gemma4(k: Keys) -> Architecture:
    """Return Gemma 4."""
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    local_dim = head_dim_of(k, hidden, heads)
    global_dim = k.count("global_head_dim", default=512)
    kv = k.maybe("num_key_value_heads", minimum=1) or heads
    same = k.flag("attention_k_eq_v", default=k.model_type.startswith("gemma4_unified"))
    kinds_ = _kinds(k, n, 6)
    gated_kv = (
        k.flag("attention_k_eq_v", default=True) if "attention_k_eq_v" in k.defaults else True
    )
    global_kv = k.maybe("num_global_key_value_heads", minimum=1) if gated_kv else None
    same = k.flag("attention_k_eq_v")
    shared = k.maybe("num_kv_shared_layers", default=0) or 0
    bias = k.flag("attention_bias")
    extra, width = _per_layer_inputs(k, hidden)
    size = k.count("intermediate_size")

    def attention(kind: str, *, reuses: bool) -> Mixer:
        full = kind == "full_attention"
        return gqa(
            hidden, heads, (global_kv or kv) if full else kv, global_dim if full else local_dim,
            q_bias=bias, o_bias=bias, qk_norm="head",
            window=None if full else k.maybe("sliding_window", minimum=1),
            stores_kv=not reuses, shares_kv_weights=reuses, value_is_key=full and same,
        )  # fmt: skip

    layers: list[Block] = []
    for i, kind in enumerate(kinds_):
        reuses = i >= n - shared
        wide = 2 if reuses and k.flag("use_double_wide_mlp") else 1
        feed = dense(hidden, size * wide)
        feed = replace(feed, linears=(*feed.linears, *extra.linears))
        norms = 4 * hidden + (hidden if width else 0)
        if k.flag("enable_moe_block"):
            experts = k.count("num_experts")
            routed = moe(hidden, experts, k.count("top_k_experts", "num_experts_per_tok"),
                         k.count("moe_intermediate_size"), num_vector_params=hidden + experts,
                         extra_linears=feed.linears)  # fmt: skip
            feed = routed
            norms += 3 * hidden
        layers.append(Block(count=1, mixer=attention(kind, reuses=reuses), feed_forward=feed,
                            num_norm_params=norms))  # fmt: skip
    table = (k.maybe("vocab_size_per_layer_input", default=262_144) or 0) * width * n
    outside = (linear("per_layer_model_projection", hidden, n * width, "ffn"),) if width else ()
    return assemble(
        k, layers, hidden_size=hidden, tie=tied(k, True), num_other_embedding_params=table,
        linears=outside, num_final_norm_params=hidden + width,
    )  # fmt: skip


def read_gemma3n(k: Keys) -> Architecture:
    """Return Gemma 3n: AltUp streams, LAuReL residuals and per-layer embeddings."""
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    dim = head_dim_of(k, hidden, heads)
    kv = k.maybe("num_key_value_heads", minimum=1) or heads
    shared = k.maybe("num_kv_shared_layers", default=0) or 0
    streams, rank = k.count("altup_num_inputs"), k.count("laurel_rank")
    extra, width = _per_layer_inputs(k, hidden)
    raw = k.raw("intermediate_size")
    sizes = [k.check(x, "intermediate_size", minimum=1) for x in as_list(raw)]
    bias = k.flag("attention_bias")
    streams_linears = (
        linear("altup.modality_router", hidden, streams, "ffn"),
        linear("laurel.linear_left", hidden, rank, "ffn"),
        linear("laurel.linear_right", rank, hidden, "ffn"),
    )
    # correct scale, correction and prediction coefficients, router norm
    vectors = (hidden if k.flag("altup_correct_scale", default=True) else 0) + streams**2
    vectors += streams**3 + hidden
    layers: list[Block] = []
    for i, kind in enumerate(_kinds(k, n, 5)):
        reuses = i >= n - shared
        full = kind == "full_attention"
        mixer = gqa(
            hidden, heads, kv, dim, q_bias=bias, o_bias=bias, qk_norm="head",
            window=None if full else k.maybe("sliding_window", minimum=1),
            stores_kv=not reuses, shares_kv_weights=reuses,
        )  # fmt: skip
        feed = dense(hidden, sizes[min(i, len(sizes) - 1)], num_vector_params=vectors)
        feed = replace(feed, linears=(*feed.linears, *streams_linears, *extra.linears))
        layers.append(Block(count=1, mixer=mixer, feed_forward=feed,
                            num_norm_params=5 * hidden + (hidden if width else 0)))  # fmt: skip
    table = (k.maybe("vocab_size_per_layer_input", default=262_144) or 0) * width * n
    projections = tuple(
        linear(f"altup_{kind}_{i}", hidden, hidden, "ffn")
        for kind in ("projection", "unembed_projection")
        for i in range(streams - 1)
    )
    outside = (linear("per_layer_model_projection", hidden, n * width, "ffn"), *projections)
    return assemble(
        k, layers, hidden_size=hidden, tie=tied(k, True), num_other_embedding_params=table,
        linears=outside, num_final_norm_params=hidden + width,
    )  # fmt: skip


GEMMA: dict[str, Callable[[Keys], Architecture]] = {
    "gemma4_text": read_gemma4,
    "gemma4_unified_text": read_gemma4,
    "gemma3n_text": read_gemma3n,
}
