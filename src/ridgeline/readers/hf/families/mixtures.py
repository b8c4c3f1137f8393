"""Mixture families whose layers differ in heads, widths or experts.

Source of shapes: the module of each name in transformers 5.24.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ridgeline.model.architecture import (
    Architecture,
    Block,
    CrossAttention,
    FeedForward,
    Indexer,
    Mixer,
)
from ridgeline.model.build import dense, gqa, linear, moe
from ridgeline.readers.hf.assemble import assemble
from ridgeline.readers.hf.families.standard import (
    MoeSpec,
    Spec,
    attention_at,
    head_dim_of,
    mixture,
    mtp_blocks,
)
from ridgeline.readers.hf.keys import Keys, as_list
from ridgeline.readers.hf.layers import FULL, kinds, sparse_layers, tied, windows


def _finish(
    k: Keys, mixers: list[Mixer], feeds: list[FeedForward], *, norms: int = 2, tie: bool = False
) -> Architecture:
    hidden = k.count("hidden_size")
    layers = [
        Block(count=1, mixer=m, feed_forward=f, num_norm_params=norms * hidden)
        for m, f in zip(mixers, feeds, strict=True)
    ]
    mtp = k.maybe("num_nextn_predict_layers", default=0) or 0
    return assemble(
        k, layers, hidden_size=hidden, tie=tied(k, tie), mtp_blocks=mtp_blocks(layers, mtp),
        num_mtp_other_params=mtp * (2 * hidden * hidden + 3 * hidden),
    )  # fmt: skip


def first_dense(k: Keys, n: int, count: int) -> list[bool]:
    """Return which layers are sparse; the first `count` are dense where the config is silent."""
    if k.has("mlp_layer_types", "moe_layer_freq", "first_k_dense_replace"):
        return sparse_layers(k, n)
    return [i >= count for i in range(n)]


def _feeds(
    k: Keys, sparse: list[bool], spec: MoeSpec, dense_key: str = "intermediate_size"
) -> list[FeedForward]:
    hidden = k.count("hidden_size")
    made: dict[bool, FeedForward] = {}
    if True in sparse:
        made[True] = mixture(k, spec, hidden)
    if False in sparse:
        size = k.maybe(dense_key, minimum=1) or k.count("intermediate_size")
        made[False] = dense(hidden, size, bias=k.flag("mlp_bias"))
    return [made[s] for s in sparse]


def read_laguna(k: Keys) -> Architecture:
    """Return Laguna: query heads per layer, gate per head."""
    hidden, n = k.count("hidden_size"), k.layers()
    per_layer = k.per_layer("num_attention_heads_per_layer", n)
    heads = [k.count("num_attention_heads")] * n
    if per_layer is not None:
        heads = [k.check(x, "num_attention_heads_per_layer", minimum=1) for x in per_layer]
    kv, dim = k.count("num_key_value_heads"), k.count("head_dim")
    bias = k.flag("attention_bias")
    gate = k.raw("gating", default=True)
    gate_kind: Any = "head" if gate is True or gate == "per-head" else "element"
    mixers = [
        gqa(hidden, h, kv, dim, q_bias=bias, o_bias=bias, qk_norm="head", gate=gate_kind,
            window=w[0], window_kind=w[1])
        for h, w in zip(heads, windows(k, n), strict=True)
    ]  # fmt: skip
    spec = MoeSpec(shared="shared_expert_intermediate_size", score_vector=True)
    return _finish(k, mixers, _feeds(k, first_dense(k, n, 1), spec))


def read_mimo_v2(k: Keys) -> Architecture:
    """Return MiMo-V2: windowed layers have more KV heads and sinks."""
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    pattern = k.per_layer("hybrid_layer_pattern", n)
    default = [
        "full_attention" if i == 0 or not (i + 1) % 6 else "sliding_attention" for i in range(n)
    ]
    if pattern is not None:
        default = ["sliding_attention" if x else "full_attention" for x in pattern]
    kv, dim, v_dim = k.count("num_key_value_heads"), k.count("head_dim"), k.count("v_head_dim")
    window = k.maybe("sliding_window_size", minimum=1)
    window = window + 1 if window is not None else k.maybe("sliding_window", minimum=1)
    bias = k.flag("attention_bias")

    def attention(kind: str) -> Mixer:
        if kind == "full_attention":
            return gqa(hidden, heads, kv, dim, v_head_dim=v_dim, q_bias=bias,
                       sinks=k.flag("add_full_attention_sink_bias"))  # fmt: skip
        return gqa(
            hidden, k.count("swa_num_attention_heads", default=heads),
            k.count("swa_num_key_value_heads", default=2 * kv),
            k.count("swa_head_dim", default=dim),
            v_head_dim=k.count("swa_v_head_dim", default=v_dim), q_bias=bias, window=window,
            sinks=k.flag("add_swa_attention_sink_bias", default=True),
        )  # fmt: skip

    made = {kind: attention(kind) for kind in ("full_attention", "sliding_attention")}
    mixers = [made.get(t, made["full_attention"]) for t in kinds(k, n, default)]
    return _finish(k, mixers, _feeds(k, first_dense(k, n, 1), MoeSpec(shared="n")))


def _one(k: Keys, name: str, value: Any) -> int:
    """Return a number that some configs repeat per layer.

    A list of equal entries counts as one; of different entries, the first, with a flag.
    """
    items = as_list(value) or [None]
    if any(x != items[0] for x in items):
        k.assume(f"`{name}` differs between layers; the first value is used for all")
    return k.check(items[0], name, minimum=0)


def read_hunyuan_moe(k: Keys) -> Architecture:
    """Return Hunyuan-A13B: lists of equal numbers, shared experts inside every mixture."""
    hidden, n = k.count("hidden_size"), k.layers()
    experts = _one(k, "num_experts", k.raw("num_experts"))
    top = _one(k, "moe_topk", k.raw("moe_topk", "num_experts_per_tok"))
    size = k.count("intermediate_size")
    feed = moe(hidden, experts, top, size, shared_size=size)
    mixer = attention_at(k, Spec(qk_norm="head"), hidden, FULL)
    return _finish(k, [mixer] * n, [feed] * n)


def read_llama4(k: Keys) -> Architecture:
    """Return Llama 4: chunked attention, mixtures with one shared expert in every m-th layer."""
    hidden, n = k.count("hidden_size"), k.layers()
    size = k.count("intermediate_size")
    step = k.count("interleave_moe_layer_step", default=1)
    at = k.whole_items("moe_layers")
    sparse = set(range(step - 1, n, step) if at is None else at)
    mixed = moe(hidden, k.count("num_local_experts"), k.count("num_experts_per_tok"), size,
                shared_size=size)  # fmt: skip
    plain = dense(hidden, k.count("intermediate_size_mlp"))
    chunk = k.maybe("attention_chunk_size", minimum=1)
    every = k.maybe("no_rope_layer_interval", default=4) or 4
    rope = k.per_layer("no_rope_layers", n) or [int((i + 1) % every != 0) for i in range(n)]
    default = ["chunked_attention" if x and chunk else "full_attention" for x in rope]
    made = {
        False: attention_at(k, Spec(), hidden, FULL),
        True: attention_at(k, Spec(), hidden, (chunk, "chunked")),
    }
    mixers = [made["chunk" in t] for t in kinds(k, n, default)]
    return _finish(k, mixers, [mixed if i in sparse else plain for i in range(n)])


def read_ernie_moe(k: Keys) -> Architecture:
    """Return ERNIE 4.5: mixtures between a first and a last layer, at an interval."""
    hidden, n = k.count("hidden_size"), k.layers()
    start, end = k.count("moe_layer_start_index", minimum=0), k.raw("moe_layer_end_index")
    step = k.count("moe_layer_interval", default=1)
    stop = n - 1 if end is None or end == -1 else k.check(end, "moe_layer_end_index")
    named = k.has("mlp_layer_types")
    sparse = sparse_layers(k, n) if named else [
        start <= i <= stop and (i + 1) % step == 0 for i in range(n)
    ]  # fmt: skip
    mixer = attention_at(k, Spec(q_bias="use_bias", o_bias="use_bias"), hidden, FULL)
    spec = MoeSpec(shared="n", score_vector=True, expert_bias=False)
    feeds = _feeds(k, sparse, spec)
    if k.flag("use_bias"):
        plain = dense(hidden, k.count("intermediate_size"), bias=True)
        feeds = [f if f.experts else plain for f in feeds]
        k.assume("use_bias adds biases to attention and dense parts, not to experts")
    return _finish(k, [mixer] * n, feeds, tie=True)


def read_ernie_vl_text(k: Keys) -> Architecture:
    """Return ERNIE 4.5 VL's language part; experts for images belong to the multimodal part.

    Experts come in two sizes and two groups, the first for text; each group has its own router.
    """
    hidden, n = k.count("hidden_size"), k.layers()
    size, vision_size = _pair(k, "moe_intermediate_size", (1536, 512))
    experts, vision_experts = _pair(k, "moe_num_experts", (64, 64))
    start = (
        _pair(k, "moe_layer_start_index", (1, 1))[0] if "moe_layer_start_index" in k.values else 1
    )
    sparse = first_dense(k, n, start)
    mixed = moe(
        hidden, experts, k.count("moe_k", "num_experts_per_tok"), size,
        shared_size=size * (k.maybe("moe_num_shared_experts", default=0) or 0),
        num_vector_params=experts,
    )  # fmt: skip
    plain = dense(hidden, k.count("intermediate_size"), bias=k.flag("use_bias"))
    mixer = attention_at(k, Spec(q_bias="use_bias", o_bias="use_bias"), hidden, FULL)
    arch = _finish(k, [mixer] * n, [mixed if s else plain for s in sparse], tie=True)
    image = vision_experts * (3 * hidden * vision_size + hidden + 1)
    return replace(arch, num_multimodal_params=image * sum(sparse))


def _pair(k: Keys, name: str, fallback: tuple[int, int]) -> tuple[int, int]:
    """Return text and image values of a key that may be one number or two."""
    raw = k.raw(name, default=None)
    if raw is None:
        return fallback
    items = as_list(raw)
    if not items:
        return fallback
    return k.check(items[0], name), k.check(items[-1], name)


def read_cohere2_moe(k: Keys) -> Architecture:
    """Return Cohere 2 with experts: one norm, dense layers in front."""
    hidden, n = k.count("hidden_size"), k.layers()
    made = {w: attention_at(k, Spec(), hidden, w) for w in set(windows(k, n, every=4))}
    spec = MoeSpec(size="intermediate_size", shared="n")
    feeds = _feeds(k, sparse_layers(k, n), spec, "prefix_dense_intermediate_size")
    return _finish(k, [made[w] for w in windows(k, n, every=4)], feeds, norms=1, tie=True)


def read_step(k: Keys) -> Architecture:
    """Return Step 3.5 / 3.7: gated heads, more query heads in windowed layers."""
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    dim, kv = head_dim_of(k, hidden, heads), k.count("num_key_value_heads")
    other = k.section("attention_other_setting", model_type="")
    wide = k.maybe("num_sliding_attention_heads", minimum=1)
    if wide is None and other is not None:
        wide = other.maybe("num_attention_heads", minimum=1)
    bias = k.flag("attention_bias")
    mixers = [
        gqa(hidden, (wide or heads) if w[0] else heads, kv, dim, q_bias=bias, o_bias=bias,
            qk_norm="head", gate="head", window=w[0])
        for w in windows(k, n)
    ]  # fmt: skip
    sparse = first_dense(k, n, 3)
    listed = k.raw("moe_layers_enum", default=None)
    if listed is not None and not k.has("mlp_layer_types"):
        sparse = enumerated_layers(k, listed, n)
    return _finish(k, mixers, _feeds(k, sparse, MoeSpec(shared="share_expert_dim")))


def enumerated_layers(k: Keys, listed: Any, n: int) -> list[bool]:
    """Return the layers named in "3,4,5" or a list."""
    items = listed.split(",") if isinstance(listed, str) else as_list(listed)
    try:
        at = {int(x) for x in items}
    except (TypeError, ValueError):
        k.assume("moe_layers_enum is not a list of layers; all but the first four and the last")
        at = set(range(4, n - 1))
    return [i in at for i in range(n)]


def read_minimax_m3(k: Keys) -> Architecture:
    """Return MiniMax M3: block-sparse attention chosen by a light indexer, and experts."""
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    kv, dim = k.count("num_key_value_heads"), head_dim_of(k, hidden, heads)
    sparse_config = k.section("sparse_attention_config", model_type="")
    marks = None if sparse_config is None else sparse_config.per_layer("sparse_attention_freq", n)
    default = ["full_attention"] * n
    if marks is not None:
        default = ["minimax_m3_sparse" if x else "full_attention" for x in marks]

    def option(new: str, old: str, fallback: int) -> int:
        if sparse_config is not None and sparse_config.has(old):
            return sparse_config.count(old)
        return k.count(new, default=fallback)

    i_heads, i_dim = option("index_n_heads", "sparse_num_index_heads", 4), option(
        "index_head_dim", "sparse_index_dim", 128)  # fmt: skip
    indexer = Indexer(
        num_heads=i_heads, head_dim=i_dim,
        top_k=option("index_topk_blocks", "sparse_topk_blocks", 16),
        block_size=option("index_block_size", "sparse_block_size", 128), key_dim=i_dim,
    )  # fmt: skip
    made = {
        "full_attention": gqa(hidden, heads, kv, dim, qk_norm="head"),
        "minimax_m3_sparse": gqa(
            hidden, heads, kv, dim, qk_norm="head", indexer=indexer, kind="block_sparse",
            indexer_linears=(
                linear("indexer.q_proj", hidden, i_heads * i_dim),
                linear("indexer.k_proj", hidden, i_dim),
            ),
            num_extra_vector_params=2 * i_dim,
        ),
    }  # fmt: skip
    mixers = [made.get(t, made["full_attention"]) for t in kinds(k, n, default)]
    spec = MoeSpec(size="intermediate_size", shared="shared_intermediate_size")
    return _finish(k, mixers, _feeds(k, sparse_layers(k, n), spec, "dense_intermediate_size"))


def read_mllama_text(k: Keys) -> Architecture:
    """Return Llama 3.2 Vision's language part: some layers attend to the image only."""
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    kv = k.maybe("num_key_value_heads", minimum=1) or heads
    dim = hidden // heads
    self_attention = gqa(hidden, heads, kv, dim)
    like = gqa(hidden, heads, kv, dim, qk_norm="head")
    # Keys and values of the image are projected once per image, not per text token.
    cross = Mixer(
        kind="cross_attention",
        linears=tuple(
            replace(x, token_share=0.0) if x.name in ("k_proj", "v_proj") else x
            for x in like.linears
        ),
        num_vector_params=like.num_vector_params + 2,
        cores=(CrossAttention(num_heads=heads, num_kv_heads=kv, head_dim=dim,
                              num_source_tokens=4 * 1601),),
    )  # fmt: skip
    at = set(k.whole_items("cross_attention_layers") or (3, 8, 13, 18, 23, 28, 33, 38))
    mixers = [cross if i in at else self_attention for i in range(n)]
    arch = _finish(k, mixers, [dense(hidden, k.count("intermediate_size"))] * n)
    # Eight special tokens are embedded but never predicted.
    return replace(arch, num_input_embedding_params=arch.num_input_embedding_params + 8 * hidden)


def read_jetmoe(k: Keys) -> Architecture:
    """Return JetMoE: experts in the feed-forward part and on the attention's q and o."""
    hidden, n = k.count("hidden_size"), k.layers()
    kv, dim = k.count("num_key_value_heads"), k.count("kv_channels", "head_dim")
    experts, top = k.count("num_local_experts"), k.count("num_experts_per_tok")
    base = gqa(hidden, kv * top, kv, dim)
    width, share = kv * dim, top / experts
    mixer = replace(
        base,
        kind="mixture_of_attention",
        linears=(
            linear("router", hidden, experts, "router"),
            *(
                linear(f"experts.{i}.q_proj", hidden, width, split="column", token_share=share)
                for i in range(experts)
            ),
            *(
                linear(f"experts.{i}.o_proj", width, hidden, split="row", token_share=share)
                for i in range(experts)
            ),
            linear("kv_proj", hidden, 2 * width, split="kv"),
        ),
        num_vector_params=hidden,
    )
    size = k.count("intermediate_size")
    feed = moe(hidden, experts, top, size, num_vector_params=hidden)
    return _finish(k, [mixer] * n, [feed] * n, tie=True)


def _flagged(k: Keys, like: str, read: Callable[[Keys], Architecture]) -> Architecture:
    k.assume(f"{k.model_type} is read as {like}")
    return read(k)


def read_hy_v3(k: Keys) -> Architecture:
    """Return Hunyuan 3: the first layer is dense where the config is silent."""
    hidden, n = k.count("hidden_size"), k.layers()
    mixer = attention_at(k, Spec(qk_norm="head"), hidden, FULL)
    spec = MoeSpec(shared="n", shared_bias="mlp_bias")
    return _finish(k, [mixer] * n, _feeds(k, first_dense(k, n, 1), spec))


MIXTURES: dict[str, Callable[[Keys], Architecture]] = {
    "laguna": read_laguna,
    "mimo_v2_flash": read_mimo_v2,
    "hunyuan_v1_moe": read_hunyuan_moe,
    "llama4_text": read_llama4,
    "ernie4_5_moe": read_ernie_moe,
    "ernie4_5_vl_moe_text": read_ernie_vl_text,
    "cohere2_moe": read_cohere2_moe,
    "step3p5": read_step,
    "minimax_m3_vl_text": read_minimax_m3,
    "minimax_m3": lambda k: _flagged(k, "minimax_m3_vl_text", read_minimax_m3),
    "mllama_text_model": read_mllama_text,
    "jetmoe": read_jetmoe,
    "hy_v3": read_hy_v3,
}
