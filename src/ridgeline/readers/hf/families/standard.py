"""Decoders of one pattern: softmax attention and a dense or mixture feed-forward part.

Each family is one `Spec`: which biases, norms, gates and experts it has. Keys that say so in the
file win over the spec where the spec names the key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ridgeline.model.architecture import Architecture, Block, FeedForward
from ridgeline.model.build import Gate, QkNorm, dense, gqa, moe
from ridgeline.readers.hf.assemble import assemble
from ridgeline.readers.hf.keys import Keys
from ridgeline.readers.hf.layers import Window, sparse_layers, tied, windows

_SPARSITY_KEYS = ("mlp_layer_types", "first_k_dense_replace", "moe_layer_freq", "mlp_only_layers")
Switch = bool | str
"""A fixed choice, or the key that decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoeSpec:
    """How a family writes its experts."""

    size: str = "moe_intermediate_size"
    """Key of the intermediate width of one expert."""
    shared: str | None = None
    """Key of the shared experts' total width; `n` multiplies n_shared_experts by the size."""
    shared_gate: bool = False
    shared_bias: Switch = False
    score_vector: Switch = False
    """One learned correction per expert."""
    router_bias: Switch = False
    expert_bias: Switch = False
    gated: bool = True
    all_layers: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """How a family differs from Llama."""

    q_bias: Switch = "attention_bias"
    k_bias: Switch | None = None
    v_bias: Switch | None = None
    o_bias: Switch = "attention_bias"
    qk_norm: QkNorm = "none"
    qk_norm_key: str | None = None
    """Key that turns the q/k norm on."""
    qk_norm_bias: bool = False
    gate: Gate = "none"
    gate_bias: Switch = False
    sinks: bool = False
    gated: bool = True
    mlp_bias: Switch = False
    norms: int = 2
    """Norms of hidden size per layer."""
    norm_width: int = 1
    """Vectors per norm: 1 RMS, 2 LayerNorm with bias, 0 without weights."""
    head_bias: Switch = False
    tie: bool = False
    """Where neither file nor class says."""
    moe: MoeSpec | None = None
    window_every: int | None = None
    window_always: bool = False
    inner_ratio: int = 4
    """Feed-forward width over hidden size where the config has none."""
    positions: int | None = None
    """Learned positions: offset added to max_position_embeddings."""
    embedding_norm: bool = False
    mlp_vectors: int = 0
    """Learned scalars of the activation."""
    mtp: bool = False
    post_norm_key: str | None = None
    """Key that adds two norms per layer."""
    one_norm_key: str | None = None
    """Key that runs attention and feed-forward part in parallel, behind one norm."""
    first_dense: int = 0
    """Dense layers in front where the config does not say."""


def switch(k: Keys, choice: Switch) -> bool:
    """Return the choice, or what the key says."""
    return k.flag(choice) if isinstance(choice, str) else choice


def head_dim_of(k: Keys, hidden: int, heads: int) -> int:
    """Return the stated head width, or hidden size over heads."""
    return k.maybe("head_dim", minimum=1) or max(1, hidden // heads)


def mixture(k: Keys, spec: MoeSpec, hidden: int) -> FeedForward:
    """Return the mixture that `spec` describes."""
    size = k.count(spec.size)
    num_experts = k.count("num_experts")
    shared = 0
    if spec.shared == "n":
        shared = size * (k.maybe("n_shared_experts", default=0) or 0)
    elif spec.shared is not None:
        shared = k.maybe(spec.shared, default=0) or 0
    return moe(
        hidden,
        num_experts,
        k.count("num_experts_per_tok"),
        size,
        gated=spec.gated,
        expert_bias=switch(k, spec.expert_bias),
        router_bias=switch(k, spec.router_bias),
        shared_size=shared,
        shared_gate=spec.shared_gate and shared > 0,
        shared_bias=switch(k, spec.shared_bias),
        num_groups=k.maybe("n_group", default=1) or 1,
        num_groups_per_tok=k.maybe("topk_group", default=1) or 1,
        num_vector_params=num_experts if switch(k, spec.score_vector) else 0,
    )


def attention_at(k: Keys, spec: Spec, hidden: int, window: Window):  # noqa: ANN201
    """Return the attention of one layer."""
    heads = k.count("num_attention_heads")
    head_dim = head_dim_of(k, hidden, heads)
    kv_heads = k.maybe("num_key_value_heads", minimum=1) or heads
    qk_on = spec.qk_norm if spec.qk_norm_key is None or k.flag(spec.qk_norm_key) else "none"
    q_bias = switch(k, spec.q_bias)
    extra = 0
    if spec.qk_norm_bias and qk_on != "none":
        extra = 2 * head_dim if qk_on == "head" else (heads + kv_heads) * head_dim
    return gqa(
        hidden,
        heads,
        kv_heads,
        head_dim,
        q_bias=q_bias,
        k_bias=None if spec.k_bias is None else switch(k, spec.k_bias),
        v_bias=None if spec.v_bias is None else switch(k, spec.v_bias),
        o_bias=switch(k, spec.o_bias),
        qk_norm=qk_on,
        gate=spec.gate,
        gate_bias=switch(k, spec.gate_bias),
        sinks=spec.sinks,
        window=window[0],
        window_kind=window[1],
        num_extra_vector_params=extra,
    )


def inner_size(k: Keys, spec: Spec, hidden: int) -> int:
    """Return the feed-forward width."""
    return k.maybe("intermediate_size", minimum=1) or spec.inner_ratio * hidden


def read_standard(k: Keys, spec: Spec) -> Architecture:
    """Return the architecture of a config that follows `spec`."""
    hidden, n = k.count("hidden_size"), k.layers()
    spans = windows(k, n, every=spec.window_every, always=spec.window_always)
    mixers = {w: attention_at(k, spec, hidden, w) for w in set(spans)}
    sparse = [False] * n
    if spec.moe is not None:
        sparse = [True] * n if spec.moe.all_layers else sparse_layers(k, n)
        if spec.first_dense and not k.has(*_SPARSITY_KEYS):
            sparse = [s and i >= spec.first_dense for i, s in enumerate(sparse)]
    feeds: dict[bool, FeedForward] = {}
    if any(sparse) and spec.moe is not None:
        feeds[True] = mixture(k, spec.moe, hidden)
    if not all(sparse):
        feeds[False] = dense(
            hidden,
            inner_size(k, spec, hidden),
            gated=spec.gated,
            bias=switch(k, spec.mlp_bias),
            num_vector_params=spec.mlp_vectors,
        )
    width = spec.norm_width * hidden
    norms = spec.norms + (2 if spec.post_norm_key and k.flag(spec.post_norm_key) else 0)
    if spec.one_norm_key and k.flag(spec.one_norm_key):
        norms = 1
    layers = [
        Block(count=1, mixer=mixers[w], feed_forward=feeds[s], num_norm_params=norms * width)
        for w, s in zip(spans, sparse, strict=True)
    ]
    other = 0
    if spec.positions is not None:
        other = (k.count("max_position_embeddings") + spec.positions) * hidden
    mtp = (k.maybe("num_nextn_predict_layers", default=0) or 0) if spec.mtp else 0
    return assemble(
        k,
        layers,
        hidden_size=hidden,
        tie=tied(k, spec.tie),
        head_bias=switch(k, spec.head_bias),
        num_final_norm_params=width * (2 if spec.embedding_norm else 1),
        num_other_embedding_params=other,
        mtp_blocks=mtp_blocks(layers, mtp),
        num_mtp_other_params=mtp * (2 * hidden * hidden + 3 * hidden),
    )


def mtp_blocks(layers: list[Block], count: int) -> tuple[Block, ...]:
    """Return `count` prediction layers shaped like the last layer."""
    return (replace(layers[-1], count=count),) if count and layers else ()


def standard(spec: Spec) -> Callable[[Keys], Architecture]:
    """Return a reader for one family."""
    return lambda k: read_standard(k, spec)
