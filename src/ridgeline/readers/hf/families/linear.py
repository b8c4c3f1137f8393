"""Recurrences beside latent attention, short convolutions, RG-LRU and RWKV.

Source of shapes: the module of each name in transformers 5.24.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ridgeline.model.architecture import Architecture, Block, FeedForward, Mixer
from ridgeline.model.build import dense, gqa, moe
from ridgeline.model.build_recurrent import kda, lightning, rg_lru, rwkv4, short_conv
from ridgeline.readers.hf.assemble import assemble
from ridgeline.readers.hf.families.latent import LatentSpec, feeds_of, latent_mixer
from ridgeline.readers.hf.families.standard import (
    MoeSpec,
    Spec,
    attention_at,
    head_dim_of,
    mixture,
    mtp_blocks,
)
from ridgeline.readers.hf.keys import Keys
from ridgeline.readers.hf.layers import FULL, kinds, tied


def read_minimax(k: Keys) -> Architecture:
    """Return MiniMax-Text: lightning attention with softmax attention in between, all mixtures."""
    hidden, n = k.count("hidden_size"), k.layers()
    heads = k.count("num_attention_heads")
    head_dim = head_dim_of(k, hidden, heads)
    full = attention_at(k, Spec(q_bias=False, o_bias=False), hidden, FULL)
    linear_mixer = lightning(hidden, heads, head_dim, chunk_size=k.maybe("block_size") or 256)
    feed = mixture(k, MoeSpec(size="intermediate_size"), hidden)
    marks = k.per_layer("attn_type_list", n)
    default = ["full_attention" if (i + 1) % 2 else "linear_attention" for i in range(n)]
    if marks is not None:
        default = ["full_attention" if x == 1 else "linear_attention" for x in marks]
    layers = [
        Block(count=1, mixer=linear_mixer if t == "linear_attention" else full,
              feed_forward=feed, num_norm_params=2 * hidden)
        for t in kinds(k, n, default)
    ]  # fmt: skip
    return assemble(k, layers, hidden_size=hidden, tie=tied(k))


def kda_of(
    k: Keys, hidden: int, *, full_forget: bool, full_gate: bool, width_key: str = "linear_head_dim"
) -> Mixer:
    """Return Kimi delta attention from either spelling of its keys."""
    inner = k.section("linear_attn_config", model_type="")
    if inner is not None:
        heads, dim = inner.count("num_heads"), inner.count("head_dim")
        kernel = inner.count("short_conv_kernel_size")
        full_gate = full_gate or inner.flag("use_full_rank_gate")
    else:
        heads = k.count("linear_num_heads", default=k.count("num_attention_heads"))
        stated = "linear_head_dim" if k.has("linear_head_dim") else width_key
        dim = k.count(stated, default=128)
        kernel = k.count("linear_conv_kernel_dim", "short_conv_kernel_size", default=4)
    return kda(hidden, heads, dim, kernel, full_rank_forget=full_forget, full_rank_gate=full_gate)


def _never_tied(k: Keys) -> bool:
    """Return False: these classes keep a head of their own whatever the file says."""
    if tied(k):
        k.assume(f"tie_word_embeddings is true, but {k.model_type} keeps a separate head")
    return False


def kimi_kinds(k: Keys, num_layers: int) -> list[str]:
    """Return linear or full attention per layer."""
    inner = k.section("linear_attn_config", model_type="")
    if inner is not None and not k.has("layer_types"):
        # Layers are numbered from 1 in these lists.
        full = set(inner.whole_items("full_attn_layers") or ())
        return [
            "full_attention" if i + 1 in full else "linear_attention" for i in range(num_layers)
        ]
    default = [
        "full_attention" if i and i % 4 == 0 else "linear_attention" for i in range(num_layers)
    ]
    return kinds(k, num_layers, default)


def read_kimi_linear(k: Keys) -> Architecture:
    """Return Kimi Linear and Kimi K3: KDA with latent attention in between.

    K3 adds an output gate, experts that work in a narrower latent width, and attention over the
    residuals of earlier blocks.
    """
    hidden, n = k.count("hidden_size"), k.layers()
    gated = k.flag("mla_use_output_gate")
    full = latent_mixer(k, LatentSpec(gate="element" if gated else "none"), hidden)
    delta = kda_of(k, hidden, full_forget=False, full_gate=False)
    feeds = feeds_of(k, hidden, n, MoeSpec(shared="n"), first_dense=1)
    latent = k.maybe("routed_expert_hidden_size", minimum=1)
    if latent is not None:
        k.assume(
            "experts work in routed_expert_hidden_size; the output gate is element-wise; "
            "the attention over residuals (attn_res_block_size) is not counted"
        )
        mixed = _latent_mixture(k, hidden, latent)
        feeds = [mixed if f.experts else f for f in feeds]
    layers = [
        Block(count=1, mixer=delta if t == "linear_attention" else full, feed_forward=f,
              num_norm_params=2 * hidden)
        for t, f in zip(kimi_kinds(k, n), feeds, strict=True)
    ]  # fmt: skip
    return assemble(k, layers, hidden_size=hidden, tie=_never_tied(k))


def _latent_mixture(k: Keys, hidden: int, latent: int) -> FeedForward:
    size = k.count("moe_intermediate_size")
    return moe(
        hidden,
        k.count("num_experts"),
        k.count("num_experts_per_tok"),
        size,
        shared_size=size * (k.maybe("n_shared_experts", default=0) or 0),
        latent_size=latent,
        num_vector_params=latent if k.flag("latent_moe_use_norm") else 0,
    )


def read_bailing_hybrid(k: Keys) -> Architecture:
    """Return Ling 3: KDA with gated latent attention at the end of each layer group."""
    hidden, n = k.count("hidden_size"), k.layers()
    full = latent_mixer(k, LatentSpec(gate="head"), hidden)
    delta = kda_of(k, hidden, full_forget=True, full_gate=True, width_key="head_dim")
    feeds = feeds_of(k, hidden, n, MoeSpec(shared="n"))
    every = k.maybe("layer_group_size", default=6) or 6
    default = ["linear_attention" if (i + 1) % every else "full_attention" for i in range(n)]
    layers = [
        Block(count=1, mixer=delta if t == "linear_attention" else full, feed_forward=f,
              num_norm_params=2 * hidden)
        for t, f in zip(kinds(k, n, default), feeds, strict=True)
    ]  # fmt: skip
    mtp = k.maybe("num_nextn_predict_layers", default=0) or 0
    return assemble(
        k, layers, hidden_size=hidden, tie=_never_tied(k), mtp_blocks=mtp_blocks(layers, mtp),
        num_mtp_other_params=mtp * (2 * hidden * hidden + 3 * hidden),
    )  # fmt: skip


def lfm_inner(k: Keys, hidden: int) -> int:
    """Return the feed-forward width of LFM2: two thirds, scaled and rounded up when adjusted."""
    size = k.count("intermediate_size", "block_ff_dim", default=4 * hidden)
    if not k.flag("block_auto_adjust_ff_dim", default=True):
        return size
    multiple = k.count("block_multiple_of", default=256)
    scaled = int(k.number("block_ffn_dim_multiplier", default=1.0) * int(2 * size / 3))
    return multiple * ((scaled + multiple - 1) // multiple)


def _lfm2(k: Keys, feeds: list[FeedForward]) -> Architecture:
    hidden, n = k.count("hidden_size"), k.layers()
    full = attention_at(k, Spec(q_bias=False, o_bias=False, qk_norm="head"), hidden, FULL)
    conv = short_conv(hidden, k.count("conv_L_cache"), bias=k.flag("conv_bias"))
    at = k.whole_items("full_attn_idxs")
    default = ["full_attention" if at is None or i in at else "conv" for i in range(n)]
    layers = [
        Block(count=1, mixer=conv if t == "conv" else full, feed_forward=f,
              num_norm_params=2 * hidden)
        for t, f in zip(kinds(k, n, default), feeds, strict=True)
    ]  # fmt: skip
    tie = k.flag("tie_embedding", default=True) if "tie_embedding" in k.values else tied(k, True)
    return assemble(k, layers, hidden_size=hidden, tie=tie)


def read_lfm2(k: Keys) -> Architecture:
    """Return LFM2: gated short convolutions with attention in between."""
    hidden = k.count("hidden_size")
    return _lfm2(k, [dense(hidden, lfm_inner(k, hidden))] * k.layers())


def read_lfm2_moe(k: Keys) -> Architecture:
    """Return LFM2 with experts after the first dense layers."""
    hidden = k.count("hidden_size")
    spec = MoeSpec()
    return _lfm2(k, feeds_of(k, hidden, k.layers(), spec))


def read_recurrent_gemma(k: Keys) -> Architecture:
    """Return RecurrentGemma: two RG-LRU blocks per local attention block."""
    hidden, n = k.count("hidden_size"), k.layers()
    heads = k.count("num_attention_heads")
    width = k.maybe("lru_width", minimum=1) or hidden
    local = gqa(
        hidden, heads, k.maybe("num_key_value_heads", minimum=1) or heads,
        head_dim_of(k, hidden, heads), q_bias=k.flag("attention_bias"), o_bias=True,
        window=k.maybe("attention_window_size", minimum=1),
    )  # fmt: skip
    recurrent = rg_lru(hidden, width, heads, k.count("conv1d_width", default=4))
    pattern = k.items("block_types", "_block_types") or ["recurrent", "recurrent", "attention"]
    feed = dense(hidden, k.count("intermediate_size") // 2, bias=True)
    layers = [
        Block(count=1, mixer=local if pattern[i % len(pattern)] == "attention" else recurrent,
              feed_forward=feed, num_norm_params=2 * hidden)
        for i in range(n)
    ]  # fmt: skip
    return assemble(k, layers, hidden_size=hidden, tie=tied(k, default=True))


def read_rwkv(k: Keys) -> Architecture:
    """Return RWKV-4."""
    hidden, n = k.count("hidden_size"), k.layers()
    width = k.maybe("attention_hidden_size", minimum=1) or hidden
    size = k.maybe("intermediate_size", minimum=1) or 4 * hidden
    feed = dense(hidden, size, gated=False)
    from_gate = dense(hidden, hidden, gated=False).linears[0]
    feed = replace(
        feed,
        kind="rwkv",
        linears=(*feed.linears, replace(from_gate, name="receptance")),
        num_vector_params=2 * hidden,
    )
    block = Block(count=n, mixer=rwkv4(hidden, width), feed_forward=feed,
                  num_norm_params=4 * hidden)  # fmt: skip
    return assemble(k, [block], hidden_size=hidden, tie=tied(k), num_final_norm_params=4 * hidden)


LINEAR: dict[str, Callable[[Keys], Architecture]] = {
    "minimax": read_minimax,
    "kimi_linear": read_kimi_linear,
    "bailing_hybrid": read_bailing_hybrid,
    "lfm2": read_lfm2,
    "lfm2_moe": read_lfm2_moe,
    "recurrent_gemma": read_recurrent_gemma,
    "rwkv": read_rwkv,
}
