"""Families that mix recurrences with attention, or have no attention at all.

Source of shapes: the module of each name in transformers 5.24.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil

from ridgeline.errors import InputError
from ridgeline.model.architecture import Architecture, Block, FeedForward, Mixer
from ridgeline.model.build import dense, gqa, moe, no_feed_forward, no_mixer
from ridgeline.model.build_recurrent import (
    gated_delta_net,
    kda,
    lightning,
    mamba1,
    mamba2,
    rg_lru,
    rwkv4,
    short_conv,
)
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

_QWEN_MOE = MoeSpec(shared="shared_expert_intermediate_size", shared_gate=True)


def delta_net_of(k: Keys, hidden: int) -> Mixer:
    """Return the gated delta net of the Qwen3-Next family."""
    return gated_delta_net(
        hidden,
        k.count("linear_num_key_heads"),
        k.count("linear_num_value_heads"),
        k.count("linear_key_head_dim"),
        k.count("linear_value_head_dim"),
        k.count("linear_conv_kernel_dim"),
    )


def _qwen_next(moe_spec: MoeSpec | None) -> Callable[[Keys], Architecture]:
    def read(k: Keys) -> Architecture:
        hidden, n = k.count("hidden_size"), k.layers()
        every = k.maybe("full_attention_interval", default=4) or 4
        default = ["linear_attention" if (i + 1) % every else "full_attention" for i in range(n)]
        spec = Spec(qk_norm="head", gate="element")
        mixers = {"linear_attention": delta_net_of(k, hidden)}
        full = attention_at(k, spec, hidden, FULL)
        feeds = feeds_of(k, hidden, n, moe_spec)
        layers = [
            Block(
                count=1,
                mixer=mixers.get(t, full),
                feed_forward=f,
                num_norm_params=2 * hidden,
            )
            for t, f in zip(kinds(k, n, default), feeds, strict=True)
        ]
        mtp = k.maybe("num_nextn_predict_layers", default=0) or 0
        return assemble(
            k,
            layers,
            hidden_size=hidden,
            tie=tied(k),
            mtp_blocks=mtp_blocks([replace(layers[-1], mixer=full)], mtp),
            num_mtp_other_params=mtp * (2 * hidden * hidden + 3 * hidden),
        )

    return read


def mamba2_of(k: Keys, hidden: int, *, norm: bool = True, inner: int | None = None) -> Mixer:
    """Return the Mamba-2 mixer of configs with `mamba_` keys."""
    heads = k.count("mamba_n_heads", "mamba_num_heads")
    dim = k.raw("mamba_d_head", "mamba_head_dim", default="auto")
    expand = k.number("mamba_expand", "expand", default=2)
    width = int(expand * hidden) if inner is None else inner
    head_dim = max(1, width // heads) if dim in ("auto", None) else k.check(dim, "mamba_d_head")
    return mamba2(
        hidden,
        heads,
        head_dim,
        k.count("mamba_d_state", "ssm_state_size"),
        k.count("mamba_n_groups", "n_groups"),
        k.count("mamba_d_conv", "conv_kernel"),
        conv_bias=k.flag("mamba_conv_bias", "use_conv_bias", default=True),
        proj_bias=k.flag("mamba_proj_bias"),
        norm=norm,
        chunk_size=k.maybe("mamba_chunk_size", "chunk_size", default=256) or 256,
    )


def read_bamba(k: Keys) -> Architecture:
    """Return Bamba: Mamba-2 layers, attention at the listed indices, dense parts."""
    hidden, n = k.count("hidden_size"), k.layers()
    at = set(k.whole_items("attn_layer_indices") or ())
    named = k.per_layer("layers_block_type", n, "layer_types")
    if named is not None:
        at = {i for i, t in enumerate(named) if "attention" in str(t) and "linear" not in str(t)}
    full, ssm = attention_at(k, Spec(), hidden, FULL), mamba2_of(k, hidden)
    feed = dense(hidden, k.count("intermediate_size"), bias=k.flag("mlp_bias"))
    layers = [
        Block(count=1, mixer=full if i in at else ssm, feed_forward=feed,
              num_norm_params=2 * hidden)
        for i in range(n)
    ]  # fmt: skip
    return assemble(k, layers, hidden_size=hidden, tie=tied(k))


def read_falcon_h1(k: Keys) -> Architecture:
    """Return Falcon-H1: attention and Mamba-2 side by side in every layer."""
    hidden, n = k.count("hidden_size"), k.layers()
    inner = k.maybe("mamba_d_ssm", minimum=1)
    full = attention_at(k, Spec(), hidden, FULL)
    proj_bias = k.flag("projectors_bias")
    ssm = mamba2_of(k, hidden, norm=k.flag("mamba_rms_norm"), inner=inner)
    if proj_bias:
        k.assume("projectors_bias adds a bias to the Mamba output projection only")
    both = Mixer(
        kind="gqa+mamba2",
        linears=(*full.linears, *ssm.linears),
        num_vector_params=full.num_vector_params + ssm.num_vector_params,
        cores=(*full.cores, *ssm.cores),
    )
    feed = dense(hidden, k.count("intermediate_size"), bias=k.flag("mlp_bias"))
    block = Block(count=n, mixer=both, feed_forward=feed, num_norm_params=2 * hidden)
    return assemble(k, [block], hidden_size=hidden, tie=tied(k))


def read_granite_hybrid(k: Keys) -> Architecture:
    """Return Granite 4: Mamba-2 or attention, each with experts and a shared dense part."""
    hidden, n = k.count("hidden_size"), k.layers()
    full, ssm = attention_at(k, Spec(), hidden, FULL), mamba2_of(k, hidden)
    shared = k.maybe("shared_intermediate_size", default=0) or 0
    experts = k.maybe("num_local_experts", default=0) or 0
    if experts:
        feed: FeedForward = moe(
            hidden, experts, k.count("num_experts_per_tok"), k.count("intermediate_size"),
            shared_size=shared,
        )  # fmt: skip
    else:
        feed = dense(hidden, shared)
    default = ["mamba"] * n
    layers = [
        Block(count=1, mixer=full if t in ("attention", "full_attention") else ssm,
              feed_forward=feed, num_norm_params=2 * hidden)
        for t in kinds(k, n, default, "layers_block_type")
    ]  # fmt: skip
    return assemble(k, layers, hidden_size=hidden, tie=tied(k))


_NEMOTRON_LETTERS = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}
_NEMOTRON_NAMES = {"linear_attention": "mamba", "full_attention": "attention"}


def nemotron_kinds(k: Keys) -> list[str]:
    """Return mamba, attention, mlp or moe per layer, from letters or names."""
    letters = k.text("hybrid_override_pattern")
    if letters:
        bad = set(letters) - set(_NEMOTRON_LETTERS)
        if bad:
            raise InputError(f"hybrid_override_pattern may hold M, *, - and E: {sorted(bad)}.")
        found = [_NEMOTRON_LETTERS[x] for x in letters]
    else:
        items = k.items("layers_block_type", "layer_types") or []
        found = [_NEMOTRON_NAMES.get(str(x), str(x)) for x in items]
    unknown = set(found) - {"mamba", "attention", "mlp", "moe"}
    if unknown or not found:
        raise InputError(f"layers_block_type is empty or holds unknown names: {sorted(unknown)}.")
    return found


def read_nemotron_h(k: Keys) -> Architecture:
    """Return Nemotron-H: each layer is one Mamba-2, attention, dense or mixture part."""
    hidden = k.count("hidden_size")
    heads = k.count("mamba_num_heads")
    found = nemotron_kinds(k)
    mlp_bias = k.flag("mlp_bias")
    parts: dict[str, tuple[Mixer, FeedForward]] = {
        "mamba": (
            mamba2(
                hidden, heads, k.count("mamba_head_dim"), k.count("ssm_state_size"),
                k.count("n_groups"), k.count("conv_kernel"),
                conv_bias=k.flag("use_conv_bias", default=True), proj_bias=k.flag("use_bias"),
                chunk_size=k.maybe("chunk_size", default=128) or 128,
            ),
            no_feed_forward(),
        ),
        "attention": (attention_at(k, Spec(), hidden, FULL), no_feed_forward()),
        "mlp": (no_mixer(), dense(hidden, k.count("intermediate_size"), gated=False,
                                  bias=mlp_bias)),
    }  # fmt: skip
    if "moe" in found:
        parts["moe"] = (no_mixer(), _nemotron_moe(k, hidden, mlp_bias))
    layers = [
        Block(count=1, mixer=parts[t][0], feed_forward=parts[t][1], num_norm_params=hidden)
        for t in found
    ]
    mtp = k.maybe("num_nextn_predict_layers", default=0) or 0
    extra = [layers[found.index(t)] for t in ("attention", "moe") if t in found] if mtp else []
    return assemble(
        k, layers, hidden_size=hidden, tie=tied(k),
        mtp_blocks=tuple(replace(b, count=mtp) for b in extra),
        num_mtp_other_params=mtp * (2 * hidden * hidden + 3 * hidden),
    )  # fmt: skip


def _nemotron_moe(k: Keys, hidden: int, bias: bool) -> FeedForward:
    shared = k.maybe("moe_shared_expert_intermediate_size", default=0) or 0
    num_shared = k.maybe("n_shared_experts", default=1)
    return moe(
        hidden,
        k.count("n_routed_experts"),
        k.count("num_experts_per_tok"),
        k.count("moe_intermediate_size"),
        gated=False,
        shared_size=shared if num_shared else 0,
        shared_bias=bias,
        latent_size=k.maybe("moe_latent_size", minimum=1),
        num_groups=k.maybe("n_group", default=1) or 1,
        num_groups_per_tok=k.maybe("topk_group", default=1) or 1,
    )


def read_jamba(k: Keys) -> Architecture:
    """Return Jamba: Mamba-1 with attention and experts at fixed periods."""
    hidden, n = k.count("hidden_size"), k.layers()
    period, offset = k.count("attn_layer_period"), k.count("attn_layer_offset", minimum=0)
    e_period, e_offset = k.count("expert_layer_period"), k.count("expert_layer_offset", minimum=0)
    rank = k.raw("mamba_dt_rank", default="auto")
    ssm = mamba1(
        hidden, k.count("mamba_expand") * hidden, k.count("mamba_d_state"),
        k.count("mamba_d_conv"),
        ceil(hidden / 16) if rank in ("auto", None) else k.check(rank, "mamba_dt_rank"),
        conv_bias=k.flag("mamba_conv_bias", default=True), proj_bias=k.flag("mamba_proj_bias"),
        inner_norms=True,
    )  # fmt: skip
    full = attention_at(k, Spec(q_bias=False, o_bias=False), hidden, FULL)
    size, experts = k.count("intermediate_size"), k.count("num_experts")
    plain = dense(hidden, size)
    mixed = moe(hidden, experts, k.count("num_experts_per_tok"), size) if experts > 1 else plain
    layers = [
        Block(
            count=1,
            mixer=full if i % period == offset else ssm,
            feed_forward=mixed if i % e_period == e_offset else plain,
            num_norm_params=2 * hidden,
        )
        for i in range(n)
    ]
    return assemble(k, layers, hidden_size=hidden, tie=tied(k))


def read_mamba(k: Keys) -> Architecture:
    """Return Mamba and Falcon-Mamba: Mamba-1 blocks and nothing else."""
    hidden, n = k.count("hidden_size"), k.layers()
    inner = k.maybe("intermediate_size", minimum=1) or int(k.number("expand") * hidden)
    if not k.has("intermediate_size"):
        inner = int(k.number("expand", default=2) * hidden)
    rank = k.raw("time_step_rank", default="auto")
    ssm = mamba1(
        hidden, inner, k.count("state_size"), k.count("conv_kernel"),
        ceil(hidden / 16) if rank in ("auto", None) else k.check(rank, "time_step_rank"),
        conv_bias=k.flag("use_conv_bias", default=True), proj_bias=k.flag("use_bias"),
    )  # fmt: skip
    block = Block(count=n, mixer=ssm, feed_forward=no_feed_forward(), num_norm_params=hidden)
    return assemble(k, [block], hidden_size=hidden, tie=tied(k, default=True))


def read_mamba2(k: Keys) -> Architecture:
    """Return Mamba-2 models."""
    hidden, n = k.count("hidden_size"), k.layers()
    ssm = mamba2(
        hidden, k.count("num_heads"), k.count("head_dim"), k.count("state_size"),
        k.count("n_groups"), k.count("conv_kernel"),
        conv_bias=k.flag("use_conv_bias", default=True), proj_bias=k.flag("use_bias"),
        chunk_size=k.maybe("chunk_size", default=256) or 256,
    )  # fmt: skip
    block = Block(count=n, mixer=ssm, feed_forward=no_feed_forward(), num_norm_params=hidden)
    return assemble(k, [block], hidden_size=hidden, tie=tied(k))


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


def kda_of(k: Keys, hidden: int, *, full_forget: bool, full_gate: bool) -> Mixer:
    """Return Kimi delta attention from either spelling of its keys."""
    inner = k.section("linear_attn_config", model_type="")
    if inner is not None:
        heads, dim = inner.count("num_heads"), inner.count("head_dim")
        kernel = inner.count("short_conv_kernel_size")
        full_gate = full_gate or inner.flag("use_full_rank_gate")
    else:
        heads = k.count("linear_num_heads", default=k.count("num_attention_heads"))
        dim = k.count("linear_head_dim", default=128)
        kernel = k.count("linear_conv_kernel_dim", "short_conv_kernel_size", default=4)
    return kda(hidden, heads, dim, kernel, full_rank_forget=full_forget, full_rank_gate=full_gate)


def kimi_kinds(k: Keys, num_layers: int, every: int = 4) -> list[str]:
    """Return linear or full attention per layer."""
    inner = k.section("linear_attn_config", model_type="")
    if inner is not None and not k.has("layer_types"):
        # Layers are numbered from 1 in these lists.
        full = set(inner.whole_items("full_attn_layers") or ())
        return [
            "full_attention" if i + 1 in full else "linear_attention" for i in range(num_layers)
        ]
    default = [
        "linear_attention" if (i + 1) % every else "full_attention" for i in range(num_layers)
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
    return assemble(k, layers, hidden_size=hidden, tie=tied(k))


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
    delta = kda_of(k, hidden, full_forget=True, full_gate=True)
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
        k, layers, hidden_size=hidden, tie=tied(k), mtp_blocks=mtp_blocks(layers, mtp),
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


HYBRID: dict[str, Callable[[Keys], Architecture]] = {
    "qwen3_next": _qwen_next(_QWEN_MOE),
    "qwen3_5_text": _qwen_next(None),
    "qwen3_5_moe_text": _qwen_next(_QWEN_MOE),
    "bamba": read_bamba,
    "falcon_h1": read_falcon_h1,
    "granitemoehybrid": read_granite_hybrid,
    "nemotron_h": read_nemotron_h,
    "jamba": read_jamba,
    "mamba": read_mamba,
    "falcon_mamba": read_mamba,
    "mamba2": read_mamba2,
    "minimax": read_minimax,
    "kimi_linear": read_kimi_linear,
    "bailing_hybrid": read_bailing_hybrid,
    "lfm2": read_lfm2,
    "lfm2_moe": read_lfm2_moe,
    "recurrent_gemma": read_recurrent_gemma,
    "rwkv": read_rwkv,
}
