"""Families that mix recurrences with attention, or have no attention at all.

Source of shapes: the module of each name in transformers 5.24.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil

from ridgeline.errors import InputError
from ridgeline.model.architecture import Architecture, Block, FeedForward, Mixer
from ridgeline.model.build import dense, moe, no_feed_forward, no_mixer
from ridgeline.model.build_recurrent import (
    gated_delta_net,
    mamba1,
    mamba2,
)
from ridgeline.readers.hf.assemble import assemble
from ridgeline.readers.hf.families.latent import feeds_of
from ridgeline.readers.hf.families.standard import (
    MoeSpec,
    Spec,
    attention_at,
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
        spec = Spec(qk_norm="head", gate="element", gate_bias="attention_bias")
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


def mamba2_of(
    k: Keys,
    hidden: int,
    *,
    norm: bool = True,
    inner: int | None = None,
    out_bias: bool | None = None,
) -> Mixer:
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
        out_bias=out_bias,
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
    ssm = mamba2_of(
        k,
        hidden,
        norm=k.flag("mamba_rms_norm"),
        inner=inner,
        out_bias=k.flag("projectors_bias"),
    )
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
}
