"""Decoders of 2018 to 2023 that do not fit the standard pattern.

Source of shapes: the module of each name in transformers 5.24.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from ridgeline.errors import UnsupportedError
from ridgeline.model.architecture import Architecture, Block, FeedForward, Mixer
from ridgeline.model.build import dense, gqa, linear, moe
from ridgeline.readers.hf.assemble import assemble
from ridgeline.readers.hf.families.standard import Spec, read_standard
from ridgeline.readers.hf.keys import Keys, as_list
from ridgeline.readers.hf.layers import tied


def read_gpt_bigcode(k: Keys) -> Architecture:
    """Return StarCoder: GPT-2 with one key and value head."""
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    kv = 1 if k.flag("multi_query", default=True) else heads
    mixer = gqa(hidden, heads, kv, hidden // heads, q_bias=True, o_bias=True)
    size = k.maybe("n_inner", "intermediate_size", minimum=1) or 4 * hidden
    block = Block(count=n, mixer=mixer, feed_forward=dense(hidden, size, gated=False, bias=True),
                  num_norm_params=4 * hidden)  # fmt: skip
    positions = k.count("max_position_embeddings")
    return assemble(k, [block], hidden_size=hidden, tie=tied(k, True),
                    num_final_norm_params=2 * hidden,
                    num_other_embedding_params=positions * hidden)  # fmt: skip


def read_bloom(k: Keys) -> Architecture:
    """Return BLOOM: ALiBi, biases everywhere, a norm on the embedding."""
    hidden, n, heads = k.count("hidden_size", "n_embed"), k.layers(), k.count("num_attention_heads")
    mixer = gqa(hidden, heads, heads, hidden // heads, q_bias=True, o_bias=True)
    block = Block(count=n, mixer=mixer,
                  feed_forward=dense(hidden, 4 * hidden, gated=False, bias=True),
                  num_norm_params=4 * hidden)  # fmt: skip
    return assemble(
        k, [block], hidden_size=hidden, tie=tied(k, True), num_final_norm_params=4 * hidden
    )


def read_mpt(k: Keys) -> Architecture:
    """Return MPT: ALiBi, no biases."""
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    attention = k.section("attn_config", model_type="")
    kv = heads
    if attention is not None:
        if attention.text("attn_type") == "multiquery_attention":
            kv = 1
        kv = attention.maybe("kv_n_heads", minimum=1) or kv
    if not k.flag("no_bias", default=True):
        k.assume("no_bias is false, but the reference class builds no biases")
    mixer = gqa(hidden, heads, kv, hidden // heads)
    size = int(k.number("expansion_ratio", default=4) * hidden)
    block = Block(count=n, mixer=mixer, feed_forward=dense(hidden, size, gated=False),
                  num_norm_params=2 * hidden)  # fmt: skip
    return assemble(k, [block], hidden_size=hidden, tie=tied(k, True))


def read_opt(k: Keys) -> Architecture:
    """Return OPT; the 350M model embeds in another width and has no final norm."""
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    bias = k.flag("enable_bias", default=True)
    affine = k.flag("layer_norm_elementwise_affine", default=True)
    width = k.maybe("word_embed_proj_dim", minimum=1) or hidden
    mixer = gqa(hidden, heads, heads, hidden // heads, q_bias=bias, o_bias=bias)
    feed = dense(hidden, k.count("ffn_dim", "intermediate_size"), gated=False, bias=bias)
    norm = 2 * hidden if affine else 0
    block = Block(count=n, mixer=mixer, feed_forward=feed, num_norm_params=2 * norm)
    last = k.flag("do_layer_norm_before", default=True) and not k.flag("_remove_final_layer_norm")
    projections = (linear("project_in", width, hidden), linear("project_out", hidden, width))
    return assemble(
        k, [block], hidden_size=hidden, tie=tied(k, True), embedding_size=width,
        num_final_norm_params=norm if last else 0,
        linears=projections if width != hidden else (),
        num_other_embedding_params=(k.count("max_position_embeddings") + 2) * hidden,
    )  # fmt: skip


def read_falcon(k: Keys) -> Architecture:
    """Return Falcon: parallel attention, one or a few key and value heads."""
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    new = k.flag("new_decoder_architecture")
    kv = heads
    if new:
        kv = k.maybe("num_kv_heads", minimum=1) or heads
    elif k.flag("multi_query", default=True):
        kv = 1
    bias = k.flag("bias")
    norms = 1
    stated = k.maybe("num_ln_in_parallel_attn")
    if not k.flag("parallel_attn", default=True) or stated == 2 or (stated is None and new):
        norms = 2
    mixer = gqa(hidden, heads, kv, hidden // heads, q_bias=bias, o_bias=bias)
    size = k.maybe("ffn_hidden_size", minimum=1) or 4 * hidden
    block = Block(count=n, mixer=mixer, feed_forward=dense(hidden, size, gated=False, bias=bias),
                  num_norm_params=norms * 2 * hidden)  # fmt: skip
    return assemble(
        k, [block], hidden_size=hidden, tie=tied(k, True), num_final_norm_params=2 * hidden
    )


def read_gpt_neo(k: Keys) -> Architecture:
    """Return GPT-Neo: global and local attention in turn, no bias on q, k and v."""
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    kinds = [str(x) for x in (k.items("attention_layers") or [])]
    if not kinds:
        groups = k.items("attention_types") or [[["global", "local"], 1]]
        for group in groups:
            pair = as_list(group)
            if len(pair) == 2 and len(kinds) < n:
                times = min(n, k.check(pair[1], "attention_types"))
                kinds += [str(x) for x in as_list(pair[0])] * times
            if len(kinds) >= n:
                break
    window = k.count("window_size", default=256)
    size = k.maybe("intermediate_size", minimum=1) or 4 * hidden
    feed = dense(hidden, size, gated=False, bias=True)
    layers = [
        Block(
            count=1,
            mixer=gqa(hidden, heads, heads, hidden // heads, o_bias=True,
                      window=window if i < len(kinds) and kinds[i] == "local" else None),
            feed_forward=feed,
            num_norm_params=4 * hidden,
        )
        for i in range(n)
    ]  # fmt: skip
    return assemble(
        k, layers, hidden_size=hidden, tie=tied(k, True), num_final_norm_params=2 * hidden,
        num_other_embedding_params=k.count("max_position_embeddings") * hidden,
    )  # fmt: skip


def read_gpt(k: Keys) -> Architecture:
    """Return the first GPT: norms after, none at the end."""
    spec = Spec(q_bias=True, o_bias=True, gated=False, mlp_bias=True, norm_width=2, tie=True,
                positions=0)  # fmt: skip
    return replace(read_standard(k, spec), num_final_norm_params=0)


def read_ctrl(k: Keys) -> Architecture:
    """Return CTRL: sinusoidal positions, tied head with a bias of its own."""
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    mixer = gqa(hidden, heads, heads, hidden // heads, q_bias=True, o_bias=True)
    feed = dense(hidden, k.count("dff"), gated=False, bias=True)
    block = Block(count=n, mixer=mixer, feed_forward=feed, num_norm_params=4 * hidden)
    return assemble(k, [block], hidden_size=hidden, tie=tied(k, True), head_bias=True,
                    num_final_norm_params=2 * hidden)  # fmt: skip


def read_neox_japanese(k: Keys) -> Architecture:
    """Return GPT-NeoX Japanese: no biases but one, in the last attention."""
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    feed = dense(hidden, hidden * k.count("intermediate_multiple_size", default=4), gated=False)

    def block(count: int, *, o_bias: bool) -> Block:
        mixer = gqa(hidden, heads, heads, hidden // heads, o_bias=o_bias)
        return Block(count=count, mixer=mixer, feed_forward=feed, num_norm_params=4 * hidden)

    layers = [block(1, o_bias=i == n - 1) for i in range(n)]
    return assemble(
        k, layers, hidden_size=hidden, tie=tied(k, True), num_final_norm_params=2 * hidden
    )


def read_bitnet(k: Keys) -> Architecture:
    """Return BitNet: one more norm inside the attention and inside the feed-forward part."""
    arch = read_standard(k, Spec())
    size = k.count("intermediate_size")
    return replace(
        arch,
        blocks=tuple(
            replace(b, num_norm_params=b.num_norm_params + arch.hidden_size + size)
            for b in arch.blocks
        ),
    )


def read_dbrx(k: Keys) -> Architecture:
    """Return DBRX: its attention and experts are described in nested objects."""
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    attention = k.section("attn_config", model_type="")
    experts = k.section("ffn_config", model_type="")
    if attention is None or experts is None:
        raise UnsupportedError("DBRX configs need `attn_config` and `ffn_config`.")
    from_size = experts.count("ffn_hidden_size", default=3584)
    feed = _moe_of(experts, hidden, from_size)
    mixer = gqa(hidden, heads, attention.count("kv_n_heads", default=1), hidden // heads)
    block = Block(count=n, mixer=mixer, feed_forward=feed, num_norm_params=2 * hidden)
    return assemble(k, [block], hidden_size=hidden, tie=tied(k))


def _moe_of(experts: Keys, hidden: int, size: int) -> FeedForward:
    return moe(
        hidden,
        experts.count("moe_num_experts", default=4),
        experts.count("moe_top_k", default=1),
        size,
    )


def read_nemotron_nas(k: Keys) -> Architecture:
    """Return DeciLM and Nemotron-NAS: each layer has its own heads and width, or lacks a part.

    Widths are 2/3 · ffn_mult · hidden · 2 rounded up to 256; a part marked no_op is left out,
    one marked replace_with_linear is a single square projection.
    """
    k.assume(f"{k.model_type} is remote code; counted from its published modeling file")
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    head_dim = k.maybe("head_dim", minimum=1) or hidden // heads
    layers: list[Block] = []
    for item in k.per_layer("block_configs", n) or []:
        values = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        inner = Keys(values, "", path="block_configs.", flags=k.flags)
        a = inner.section("attention", model_type="")
        f = inner.section("ffn", model_type="")
        norms = 0
        mixer, feed = Mixer(kind="none"), dense(hidden, 1)
        if a is not None and not a.flag("no_op"):
            norms += hidden
            if a.flag("replace_with_linear"):
                square = linear("linear_attn", hidden, hidden)
                mixer = Mixer(kind="linear", linears=(square,))
            else:
                mixer = gqa(hidden, heads, max(1, heads // a.count("n_heads_in_group")), head_dim,
                            window=a.maybe("window_length", minimum=1))  # fmt: skip
        if f is not None and not f.flag("no_op"):
            norms += hidden
            size = int(2 * f.number("ffn_mult", default=0) * hidden / 3)
            size += -size % 256
            feed = dense(hidden, size)
            if f.flag("replace_with_linear"):
                feed = replace(feed, kind="linear", linears=(linear("linear_mlp", hidden, hidden,
                                                                    "ffn"),))  # fmt: skip
        else:
            feed = replace(feed, kind="none", linears=(), intermediate_size=0)
        layers.append(Block(count=1, mixer=mixer, feed_forward=feed, num_norm_params=norms))
    if not layers:
        raise UnsupportedError("`block_configs` is missing or empty; the layers are unknown.")
    return assemble(k, layers, hidden_size=hidden, tie=tied(k))


LEGACY: dict[str, Callable[[Keys], Architecture]] = {
    "gpt_bigcode": read_gpt_bigcode,
    "bloom": read_bloom,
    "mpt": read_mpt,
    "opt": read_opt,
    "falcon": read_falcon,
    "gpt_neo": read_gpt_neo,
    "openai-gpt": read_gpt,
    "ctrl": read_ctrl,
    "gpt_neox_japanese": read_neox_japanese,
    "bitnet": read_bitnet,
    "dbrx": read_dbrx,
    "nemotron-nas": read_nemotron_nas,
    "gpt-sw3": lambda k: read_standard(k, Spec(q_bias=True, o_bias=True, gated=False,
                                               mlp_bias=True, norm_width=2, tie=True,
                                               positions=0)),
}  # fmt: skip
