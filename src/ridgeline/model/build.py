"""Small builders: one mixer or feed-forward part from its shape, as the model readers compose them.

Names of linears follow the modules of the reference implementations, so that storage formats and
tensor maps can find them. Weight split: q, gate and up by output, k and v by KV head, o and down
by input, routers and low-rank down-projections replicated.
"""

from __future__ import annotations

from typing import Literal

from ridgeline.model.architecture import (
    CompressedAttention,
    Core,
    Experts,
    FeedForward,
    Indexer,
    LatentAttention,
    Linear,
    Mixer,
    SoftmaxAttention,
    WeightClass,
)

QkNorm = Literal["none", "head", "full", "head_distinct"]
"""`head`: one weight vector of head_dim for all heads; `full`: over all heads at once;
`head_distinct`: one vector per head (same count as `full`)."""

Gate = Literal["none", "element", "head"]
"""Output gate: one value per output element, or one per head."""


def linear(
    name: str,
    in_features: int,
    out_features: int,
    weight_class: WeightClass = "attention",
    *,
    split: Literal["column", "row", "kv", "replicated"] = "replicated",
    bias: bool = False,
    state_only: bool = False,
    token_share: float = 1.0,
    groups: int = 1,
) -> Linear:
    """Return a `Linear`, positionally."""
    return Linear(
        name=name,
        in_features=in_features,
        out_features=out_features,
        weight_class=weight_class,
        split=split,
        bias=bias,
        state_only=state_only,
        token_share=token_share,
        groups=groups,
    )


def attention_kind(num_heads: int, num_kv_heads: int) -> str:
    """Return `mha`, `mqa` or `gqa`.

    >>> attention_kind(32, 8)
    'gqa'
    """
    if num_heads == num_kv_heads:
        return "mha"
    return "mqa" if num_kv_heads == 1 else "gqa"


def gqa(
    hidden_size: int,
    num_heads: int,
    num_kv_heads: int,
    head_dim: int,
    *,
    v_head_dim: int | None = None,
    output_size: int | None = None,
    q_bias: bool = False,
    k_bias: bool | None = None,
    v_bias: bool | None = None,
    o_bias: bool = False,
    qk_norm: QkNorm = "none",
    gate: Gate = "none",
    gate_bias: bool = False,
    sinks: bool = False,
    window: int | None = None,
    window_kind: Literal["sliding", "chunked"] = "sliding",
    stores_kv: bool = True,
    shares_kv_weights: bool = False,
    value_is_key: bool = False,
    indexer: Indexer | None = None,
    indexer_linears: tuple[Linear, ...] = (),
    num_extra_vector_params: int = 0,
    kind: str | None = None,
) -> Mixer:
    """Return softmax attention with separate q, k, v and o projections.

    Args:
        hidden_size: Width of the block's input.
        num_heads: Query heads.
        num_kv_heads: Key and value heads.
        head_dim: Width of one query and key head.
        v_head_dim: Width of one value head, when it differs.
        output_size: Width after o_proj, when it is not hidden_size.
        q_bias: Bias of q_proj; k_bias and v_bias follow it unless given.
        k_bias: Bias of k_proj.
        v_bias: Bias of v_proj.
        o_bias: Bias of o_proj.
        qk_norm: Norm on queries and keys.
        gate: Gate on the output, projected from the input.
        gate_bias: Bias of the gate's projection.
        sinks: One learned logit per head.
        window: Tokens seen; None sees all.
        window_kind: `sliding` or `chunked`.
        stores_kv: False where an earlier layer's cache is read.
        shares_kv_weights: True where the layer has no k and v projections of its own.
        value_is_key: True where k_proj also yields the values.
        indexer: Block-sparse selection.
        indexer_linears: Projections of the indexer.
        num_extra_vector_params: Vectors not covered by the options above.
        kind: Overrides the name.
    """
    v_dim = head_dim if v_head_dim is None else v_head_dim
    linears = [linear("q_proj", hidden_size, num_heads * head_dim, split="column", bias=q_bias)]
    if not shares_kv_weights:
        has_k_bias = q_bias if k_bias is None else k_bias
        has_v_bias = q_bias if v_bias is None else v_bias
        kv_width = num_kv_heads * head_dim
        linears.append(linear("k_proj", hidden_size, kv_width, split="kv", bias=has_k_bias))
        if not value_is_key:
            v_width = num_kv_heads * v_dim
            linears.append(linear("v_proj", hidden_size, v_width, split="kv", bias=has_v_bias))
    if gate != "none":
        width = num_heads * v_dim if gate == "element" else num_heads
        linears.append(linear("g_proj", hidden_size, width, split="column", bias=gate_bias))
    out = hidden_size if output_size is None else output_size
    linears.append(linear("o_proj", num_heads * v_dim, out, split="row", bias=o_bias))
    kv_heads_with_norm = 0 if shares_kv_weights else num_kv_heads
    norms = {
        "none": 0,
        "head": head_dim * (1 if shares_kv_weights else 2),
        "full": (num_heads + kv_heads_with_norm) * head_dim,
        "head_distinct": (num_heads + kv_heads_with_norm) * head_dim,
    }[qk_norm]
    return Mixer(
        kind=kind or attention_kind(num_heads, num_kv_heads),
        linears=(*linears, *indexer_linears),
        num_vector_params=norms + (num_heads if sinks else 0) + num_extra_vector_params,
        cores=(
            SoftmaxAttention(
                num_heads=num_heads,
                num_kv_heads=num_kv_heads,
                qk_head_dim=head_dim,
                v_head_dim=v_dim,
                window=window,
                window_kind=window_kind,
                stores_kv=stores_kv,
                indexer=indexer,
            ),
        ),
    )


def mla(
    hidden_size: int,
    num_heads: int,
    *,
    q_lora_rank: int | None,
    kv_lora_rank: int,
    qk_nope_head_dim: int,
    qk_rope_head_dim: int,
    v_head_dim: int,
    a_bias: bool = False,
    o_bias: bool = False,
    norms: bool = True,
    gate: Gate = "none",
    window: int | None = None,
    indexer: Indexer | None = None,
    indexer_linears: tuple[Linear, ...] = (),
    num_extra_vector_params: int = 0,
) -> Mixer:
    """Return multi-head latent attention.

    Queries go through `q_lora_rank` (None: straight); keys and values through one latent of
    `kv_lora_rank` plus one shared rotary key of `qk_rope_head_dim`. kv_b_proj runs only where
    the state is produced: decode absorbs it into the queries and the output.

    Args:
        hidden_size: Width of the block's input.
        num_heads: Query heads.
        q_lora_rank: Rank of the query path, or None.
        kv_lora_rank: Rank of the cached latent.
        qk_nope_head_dim: Key width without position.
        qk_rope_head_dim: Key width with position.
        v_head_dim: Value width.
        a_bias: Bias of the down-projections.
        o_bias: Bias of o_proj.
        norms: RMS norms on both latents.
        gate: Gate on the output.
        window: Tokens seen; None sees all.
        indexer: Sparse selection (DSA).
        indexer_linears: Its projections.
        num_extra_vector_params: Vectors not covered above.

    Source: DeepSeek-AI 2024, DeepSeek-V2, arXiv:2405.04434.
    """
    q_width = num_heads * (qk_nope_head_dim + qk_rope_head_dim)
    if q_lora_rank is None:
        linears = [linear("q_proj", hidden_size, q_width, split="column")]
    else:
        linears = [
            linear("q_a_proj", hidden_size, q_lora_rank, bias=a_bias),
            linear("q_b_proj", q_lora_rank, q_width, split="column"),
        ]
    kv_width = num_heads * (qk_nope_head_dim + v_head_dim)
    latent = kv_lora_rank + qk_rope_head_dim
    linears += [
        linear("kv_a_proj_with_mqa", hidden_size, latent, bias=a_bias),
        linear("kv_b_proj", kv_lora_rank, kv_width, split="column", state_only=True),
    ]
    if gate != "none":
        width = num_heads * v_head_dim if gate == "element" else num_heads
        linears.append(linear("g_proj", hidden_size, width, split="column"))
    linears.append(linear("o_proj", num_heads * v_head_dim, hidden_size, split="row", bias=o_bias))
    vectors = (q_lora_rank or 0) + kv_lora_rank if norms else 0
    return Mixer(
        kind="mla" if indexer is None else "dsa",
        linears=(*linears, *indexer_linears),
        num_vector_params=vectors + num_extra_vector_params,
        cores=(
            LatentAttention(
                num_heads=num_heads,
                kv_lora_rank=kv_lora_rank,
                qk_nope_head_dim=qk_nope_head_dim,
                qk_rope_head_dim=qk_rope_head_dim,
                v_head_dim=v_head_dim,
                window=window,
                indexer=indexer,
            ),
        ),
    )


def compressed_attention(
    linears: tuple[Linear, ...], num_vector_params: int, core: CompressedAttention
) -> Mixer:
    """Return window-plus-compressed attention named by its ratio (`csa`, `hca` or `swa`)."""
    kind = "swa" if core.ratio == 0 else "csa" if core.indexer is not None else "hca"
    cores: tuple[Core, ...] = (core,)
    return Mixer(kind=kind, linears=linears, num_vector_params=num_vector_params, cores=cores)


def ffn_linears(
    hidden_size: int,
    intermediate_size: int,
    *,
    gated: bool = True,
    bias: bool = False,
    down_bias: bool | None = None,
    weight_class: WeightClass = "ffn",
    prefix: str = "",
) -> tuple[Linear, ...]:
    """Return gate (when gated), up and down projections."""
    names = ("gate_proj", "up_proj") if gated else ("up_proj",)
    up = tuple(
        linear(prefix + n, hidden_size, intermediate_size, weight_class, split="column", bias=bias)
        for n in names
    )
    last = bias if down_bias is None else down_bias
    down = linear(
        f"{prefix}down_proj", intermediate_size, hidden_size, weight_class, split="row", bias=last
    )
    return (*up, down)


def dense(
    hidden_size: int,
    intermediate_size: int,
    *,
    gated: bool = True,
    bias: bool = False,
    num_vector_params: int = 0,
) -> FeedForward:
    """Return a dense feed-forward part, `dense_gated` (three matrices) or `dense` (two)."""
    return FeedForward(
        kind="dense_gated" if gated else "dense",
        linears=ffn_linears(hidden_size, intermediate_size, gated=gated, bias=bias),
        num_vector_params=num_vector_params,
        intermediate_size=intermediate_size,
    )


def no_feed_forward() -> FeedForward:
    """Return the empty feed-forward part of a mixer-only block."""
    return FeedForward(kind="none")


def no_mixer() -> Mixer:
    """Return the empty mixer of a feed-forward-only block."""
    return Mixer(kind="none")


def moe(
    hidden_size: int,
    num_experts: int,
    num_experts_per_tok: int,
    expert_size: int,
    *,
    gated: bool = True,
    expert_bias: bool = False,
    router_bias: bool = False,
    router_size: int | None = None,
    shared_size: int = 0,
    shared_gate: bool = False,
    shared_bias: bool = False,
    shared_gated: bool | None = None,
    num_zero_experts: int = 0,
    num_groups: int = 1,
    num_groups_per_tok: int = 1,
    latent_size: int | None = None,
    num_vector_params: int = 0,
    extra_linears: tuple[Linear, ...] = (),
) -> FeedForward:
    """Return a mixture of experts.

    Args:
        hidden_size: Width of the block's input.
        num_experts: Routed experts with weights.
        num_experts_per_tok: Experts chosen per token.
        expert_size: Intermediate width of one expert.
        gated: Three matrices per expert, else two.
        expert_bias: Biases inside experts.
        router_bias: Learned bias of the router projection.
        router_size: Outputs of the router, when not experts + zero experts.
        shared_size: Intermediate width of all shared experts together; 0 for none.
        shared_gate: A scalar gate in front of the shared experts.
        shared_bias: Biases inside shared experts.
        shared_gated: Three matrices for shared experts; follows `gated` unless given.
        num_zero_experts: Identity experts that may be chosen.
        num_groups: Groups of group-limited routing.
        num_groups_per_tok: Groups a token may use.
        latent_size: Width the routed experts work in, when not hidden_size.
        num_vector_params: Anything else (learned score corrections).
        extra_linears: Dense projections run for every token, beside router and shared experts.
    """
    width = hidden_size if latent_size is None else latent_size
    outputs = num_experts + num_zero_experts if router_size is None else router_size
    linears = [linear("router", hidden_size, outputs, "router", bias=router_bias)]
    if latent_size is not None:
        linears += [
            linear("latent_down_proj", hidden_size, latent_size, "ffn"),
            linear("latent_up_proj", latent_size, hidden_size, "ffn"),
        ]
    if shared_size:
        linears += ffn_linears(
            hidden_size,
            shared_size,
            gated=gated if shared_gated is None else shared_gated,
            bias=shared_bias,
            weight_class="shared_expert",
            prefix="shared_expert.",
        )
    if shared_gate:
        linears.append(linear("shared_expert_gate", hidden_size, 1, "router"))
    return FeedForward(
        kind="moe",
        linears=(*linears, *extra_linears),
        num_vector_params=num_vector_params,
        intermediate_size=expert_size,
        experts=Experts(
            num_experts=num_experts,
            num_experts_per_tok=num_experts_per_tok,
            linears=ffn_linears(
                width, expert_size, gated=gated, bias=expert_bias, weight_class="expert"
            ),
            num_zero_experts=num_zero_experts,
            num_groups=num_groups,
            num_groups_per_tok=num_groups_per_tok,
        ),
    )
