"""Families of 2025 and 2026 with parts of their own.

Source of shapes: the module of each name in transformers 5.24.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ridgeline.model.architecture import Architecture, Block, FeedForward, Mixer, Recurrence
from ridgeline.model.build import dense, gqa, linear, moe
from ridgeline.model.build_recurrent import gated_delta_net, mamba1, mamba2, short_conv
from ridgeline.readers.hf.assemble import assemble
from ridgeline.readers.hf.families.deepseek_v4 import hyper_connection
from ridgeline.readers.hf.families.hybrid import delta_net_of
from ridgeline.readers.hf.families.latent import LatentSpec, feeds_of, latent_mixer
from ridgeline.readers.hf.families.standard import MoeSpec, Spec, attention_at, head_dim_of
from ridgeline.readers.hf.keys import Keys
from ridgeline.readers.hf.layers import FULL, Window, kinds, tied

LINEAR = "linear_attention"
SLIDING = "sliding_attention"
FULL_NAME = "full_attention"


def _window(k: Keys, kind: str) -> Window:
    return (k.maybe("sliding_window", minimum=1), "sliding") if kind == SLIDING else FULL


def read_lfm3(k: Keys) -> Architecture:
    """Return LFM3: short convolutions, gated attention, norms before and after."""
    hidden, n = k.count("hidden_size"), k.layers()
    default = [
        FULL_NAME if i % 4 == 2 else SLIDING if i % 4 == 0 and i > 0 else "conv" for i in range(n)
    ]
    gate = "head" if k.flag("use_attention_gate", default=True) else "none"
    spec = Spec(qk_norm="head", gate=gate)
    conv = short_conv(hidden, k.count("conv_L_cache"), bias=k.flag("conv_bias"))
    norms = 4 if k.flag("use_sandwich_norm", default=True) else 2
    feed = dense(hidden, k.count("intermediate_size"))
    layers = [
        Block(
            count=1,
            mixer=conv if t == "conv" else attention_at(k, spec, hidden, _window(k, t)),
            feed_forward=feed,
            num_norm_params=norms * hidden,
        )
        for t in kinds(k, n, default)
    ]
    return assemble(k, layers, hidden_size=hidden, tie=tied(k, default=True))


def read_lara_mini(k: Keys) -> Architecture:
    """Return Lara Mini: delta nets, windows and full attention in a period of five, experts."""
    hidden, n = k.count("hidden_size"), k.layers()
    period = (LINEAR, SLIDING, LINEAR, FULL_NAME, SLIDING)
    delta, spec = delta_net_of(k, hidden), Spec(qk_norm="head")
    feeds = feeds_of(k, hidden, n, MoeSpec(shared="shared_expert_intermediate_size"))
    layers = [
        Block(
            count=1,
            mixer=delta if t == LINEAR else attention_at(k, spec, hidden, _window(k, t)),
            feed_forward=f,
            num_norm_params=2 * hidden,
        )
        for t, f in zip(kinds(k, n, [period[i % 5] for i in range(n)]), feeds, strict=True)
    ]
    return assemble(k, layers, hidden_size=hidden, tie=tied(k, default=True))


def read_olmo_hybrid(k: Keys) -> Architecture:
    """Return OLMo Hybrid: delta nets with full attention in every fourth layer."""
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    key_heads = k.maybe("linear_num_key_heads", minimum=1) or heads
    value_heads = k.maybe("linear_num_value_heads", minimum=1) or heads
    key_dim = k.maybe("linear_key_head_dim", minimum=1) or int(0.75 * hidden / key_heads)
    value_dim = k.maybe("linear_value_head_dim", minimum=1) or 2 * key_dim
    delta = gated_delta_net(
        hidden, key_heads, value_heads, key_dim, value_dim, k.count("linear_conv_kernel_dim")
    )
    full = attention_at(k, Spec(qk_norm="full"), hidden, FULL)
    feed = dense(hidden, k.count("intermediate_size"))
    default = [FULL_NAME if i % 4 == 3 else LINEAR for i in range(n)]
    if n and FULL_NAME not in default:
        default[-1] = FULL_NAME
    layers = [
        Block(
            count=1,
            mixer=delta if t == LINEAR else full,
            feed_forward=feed,
            num_norm_params=2 * hidden,
        )
        for t in kinds(k, n, default)
    ]
    return assemble(k, layers, hidden_size=hidden, tie=tied(k))


def read_hy_v4(k: Keys) -> Architecture:
    """Return Hunyuan 4: gated latent attention with sinks, shared indexers, two streams mixed."""
    hidden, n, streams = k.count("hidden_size"), k.layers(), k.count("hc_mult")
    named = k.per_layer("indexer_types", n)
    runs = [i == 0 or (i - 1) % 4 == 0 for i in range(n)]
    if named is not None:
        runs = [str(x) == "full" for x in named]
    spec = LatentSpec(indexer=True, gate="element", sinks=True)
    vectors = 2 * streams + 2

    def mixer(*, scores: bool) -> Mixer:
        base = latent_mixer(k, spec, hidden, scores)
        stream = hyper_connection("attn_hc", hidden, streams, 2 * streams)
        return replace(
            base,
            linears=(*base.linears, stream),
            num_vector_params=base.num_vector_params + vectors,
        )

    def feed(part: FeedForward) -> FeedForward:
        stream = hyper_connection("ffn_hc", hidden, streams, 2 * streams)
        return replace(
            part,
            linears=(*part.linears, stream),
            num_vector_params=part.num_vector_params + vectors,
        )

    feeds = feeds_of(k, hidden, n, MoeSpec(shared="n"), first_dense=1)
    layers = [
        Block(
            count=1,
            mixer=mixer(scores=r),
            feed_forward=feed(f),
            num_norm_params=2 * hidden,
        )
        for r, f in zip(runs, feeds, strict=True)
    ]
    return assemble(
        k,
        layers,
        hidden_size=hidden,
        tie=tied(k),
        num_final_norm_params=hidden + streams + 1,
        linears=(linear("hc_head.fn", streams * hidden, streams),),
    )


def read_muse_spark(k: Keys) -> Architecture:
    """Return Muse Spark: gated attention, experts in a narrower width, gated residuals."""
    hidden, n = k.count("hidden_size"), k.layers()
    default = [FULL_NAME if (n - 1 - i) % 4 == 0 else SLIDING for i in range(n)]
    spec = Spec(gate="element")
    latent = k.count("moe_hidden_size", default=hidden)
    feed = moe(
        hidden,
        k.count("num_local_experts"),
        k.count("num_experts_per_tok"),
        k.count("moe_intermediate_size"),
        latent_size=latent,
        num_vector_params=2 * latent,
    )
    if any(str(x) == "dense" for x in k.per_layer("mlp_layer_types", n) or []):
        k.assume("dense layers are read as mixtures")
    # Experts' gate and up share one matrix of twice the expert width, as everywhere.
    layers = [
        Block(
            count=1,
            mixer=attention_at(k, spec, hidden, _window(k, t)),
            feed_forward=feed,
            num_norm_params=3 * hidden,
            num_other_params=2 * hidden,
        )
        for t in kinds(k, n, default)
    ]
    return assemble(k, layers, hidden_size=hidden, tie=tied(k))


def read_diffllama(k: Keys) -> Architecture:
    """Return DiffLlama: four learned vectors of head_dim per layer."""
    hidden, n = k.count("hidden_size"), k.layers()
    dim = head_dim_of(k, hidden, k.count("num_attention_heads"))
    base = attention_at(k, Spec(), hidden, FULL)
    mixer = replace(base, num_vector_params=base.num_vector_params + 4 * dim)
    feed = dense(hidden, k.count("intermediate_size"))
    block = Block(count=n, mixer=mixer, feed_forward=feed, num_norm_params=2 * hidden)
    return assemble(k, [block], hidden_size=hidden, tie=tied(k))


def read_xlstm(k: Keys) -> Architecture:
    """Return xLSTM: matrix memories with scalar gates per head.

    State per head: qk_dim·v_dim, the normaliser of qk_dim, and one maximum.
    """
    hidden, n = k.count("hidden_size", "embedding_dim"), k.layers()
    heads = k.count("num_heads")
    if k.flag("use_bias"):
        k.assume("use_bias is true; biases of the projections are not counted")
    key, value = int(k.number("qk_dim_factor") * hidden), int(k.number("v_dim_factor") * hidden)
    state = key * value // heads
    mixer = Mixer(
        kind="mlstm",
        linears=(
            linear("q", hidden, key, split="column"),
            linear("k", hidden, key, split="column"),
            linear("v", hidden, value, split="column"),
            linear("ogate_preact", hidden, value, split="column"),
            linear("igate_preact", hidden, heads, split="column", bias=True),
            linear("fgate_preact", hidden, heads, split="column", bias=True),
            linear("out_proj", value, hidden, split="row"),
        ),
        num_vector_params=value,
        cores=(
            Recurrence(
                kind="lightning",
                num_heads=heads,
                head_dim=max(1, value // heads),
                state_elements=state + key + heads,
                flop_per_token=5 * state,
            ),
        ),
    )
    multiple = k.count("ffn_round_up_to_multiple_of", default=64)
    size = int(k.number("ffn_proj_factor") * hidden)
    size += -size % multiple
    block = Block(
        count=n, mixer=mixer, feed_forward=dense(hidden, size), num_norm_params=2 * hidden
    )
    if tied(k):
        k.assume("tie_word_embeddings is true, but the class of xlstm keeps a separate head")
    return assemble(k, [block], hidden_size=hidden, tie=False)


def _zamba_layers(
    k: Keys, ssm: Mixer, shared: Block, hybrid: list[bool], copies: int, adapter: int
) -> list[Block]:
    """Return the layers; a hybrid one is the shared transformer, then its own Mamba block."""
    hidden = k.count("hidden_size")
    out: list[Block] = []
    seen = 0
    plain = Block(count=1, mixer=ssm, feed_forward=FeedForward(kind="none"),
                  num_norm_params=hidden)  # fmt: skip
    joined = replace(ssm, linears=(*ssm.linears, linear("linear", hidden, hidden)))
    for is_hybrid in hybrid:
        if not is_hybrid:
            out.append(plain)
            continue
        out.append(replace(shared, shares_weights=seen >= copies))
        out.append(replace(plain, mixer=joined, num_other_params=adapter))
        seen += 1
    k.note("each hybrid Zamba layer is shown as two: the shared transformer and its Mamba block")
    return out


def _zamba_shared(k: Keys, hidden: int, *, bias: bool) -> Block:
    heads = k.count("num_attention_heads")
    kv = k.maybe("num_key_value_heads", minimum=1) or heads
    wide = 2 * hidden
    attention = gqa(wide, heads, kv, max(1, wide // heads), output_size=hidden)
    size = k.maybe("intermediate_size", minimum=1) or 4 * hidden
    return Block(
        count=1,
        mixer=attention,
        feed_forward=dense(hidden, size, bias=bias),
        num_norm_params=wide + hidden,
    )


def read_zamba(k: Keys) -> Architecture:
    """Return Zamba: Mamba-1 layers and one transformer block used again and again."""
    hidden, n = k.count("hidden_size"), k.layers()
    period, offset = k.count("attn_layer_period"), k.count("attn_layer_offset", minimum=0)
    default = [i == 2 or (i > 2 and (i - 3) % period == offset) for i in range(n)]
    named = k.per_layer("layers_block_type", n)
    hybrid = default if named is None else [str(x) == "hybrid" for x in named]
    rank = k.raw("mamba_dt_rank", default="auto")
    ssm = mamba1(
        hidden,
        k.count("mamba_expand") * hidden,
        k.count("mamba_d_state"),
        k.count("mamba_d_conv"),
        -(-hidden // 16) if rank in ("auto", None) else k.check(rank, "mamba_dt_rank"),
        conv_bias=k.flag("mamba_conv_bias", default=True),
        proj_bias=k.flag("mamba_proj_bias"),
        num_heads=k.count("n_mamba_heads"),
    )
    layers = _zamba_layers(k, ssm, _zamba_shared(k, hidden, bias=False), hybrid, 1, 0)
    return assemble(k, layers, hidden_size=hidden, tie=tied(k, default=True))


def read_zamba2(k: Keys) -> Architecture:
    """Return Zamba 2: Mamba-2 layers, shared transformer blocks with low-rank adapters per use."""
    hidden, n = k.count("hidden_size"), k.layers()
    named = k.per_layer("layers_block_type", n)
    at = set(k.whole_items("hybrid_layer_ids") or (6, 12, 18, 24, 30, 36, 42, 47, 51))
    hybrid = [i in at for i in range(n)]
    if named is not None:
        hybrid = [str(x) == "hybrid" for x in named]
    inner, heads = k.count("mamba_expand") * hidden, k.count("n_mamba_heads")
    bias = k.flag("add_bias_linear")
    ssm = mamba2(
        hidden,
        heads,
        k.maybe("mamba_headdim", minimum=1) or max(1, inner // heads),
        k.count("mamba_d_state"),
        k.count("mamba_ngroups"),
        k.count("mamba_d_conv"),
        conv_bias=k.flag("use_conv_bias", default=True),
        proj_bias=bias,
        chunk_size=k.maybe("chunk_size", default=256) or 256,
    )
    shared = _zamba_shared(k, hidden, bias=bias)
    rank, size = k.count("adapter_rank"), shared.feed_forward.intermediate_size
    adapter = hidden * rank + rank * 2 * size
    if k.flag("use_shared_attention_adapter"):
        adapter += 3 * (2 * hidden * rank + rank * 2 * hidden)
    layers = _zamba_layers(k, ssm, shared, hybrid, k.count("num_mem_blocks"), adapter)
    return assemble(k, layers, hidden_size=hidden, tie=tied(k, default=True))


def read_modernbert_decoder(k: Keys) -> Architecture:
    """Return the ModernBERT decoder (Ettin): no norm before the first attention, a dense head."""
    hidden, n = k.count("hidden_size"), k.layers()
    width = hidden * (2 if k.flag("norm_bias") else 1)
    every = k.maybe("global_attn_every_n_layers", default=3) or 3
    default = [FULL_NAME if i % every == 0 else SLIDING for i in range(n)]
    local = k.maybe("local_attention", minimum=1)
    feed = dense(hidden, k.count("intermediate_size"), bias=k.flag("mlp_bias"))
    layers = [
        Block(
            count=1,
            mixer=attention_at(
                k, Spec(), hidden, ((local or 2) // 2, "sliding") if t == SLIDING else FULL
            ),
            feed_forward=feed,
            num_norm_params=width * (1 if i == 0 else 2),
        )
        for i, t in enumerate(kinds(k, n, default))
    ]
    bias = k.flag("classifier_bias")
    return assemble(
        k,
        layers,
        hidden_size=hidden,
        tie=tied(k, default=True),
        head_bias=k.flag("decoder_bias", default=True),
        num_final_norm_params=3 * width,
        linears=(linear("head.dense", hidden, hidden, "head", bias=bias),),
    )


RECENT: dict[str, Callable[[Keys], Architecture]] = {
    "lfm3": read_lfm3,
    "lara_mini": read_lara_mini,
    "olmo_hybrid": read_olmo_hybrid,
    "hy_v4": read_hy_v4,
    "hy_v4_vl_text": read_hy_v4,
    "muse_spark_text": read_muse_spark,
    "diffllama": read_diffllama,
    "xlstm": read_xlstm,
    "zamba": read_zamba,
    "zamba2": read_zamba2,
    "modernbert-decoder": read_modernbert_decoder,
}
