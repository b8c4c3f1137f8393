"""Multi-head latent attention families: DeepSeek V2 to V3.2, Kimi K2, GLM-5, LongCat and kin.

Source of shapes: the module of each name in transformers 5.24.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ridgeline.model.architecture import Architecture, Block, FeedForward, Indexer, Linear, Mixer
from ridgeline.model.build import Gate, dense, ffn_linears, linear, mla, moe
from ridgeline.readers.hf.assemble import assemble
from ridgeline.readers.hf.families.standard import MoeSpec, mixture, mtp_blocks
from ridgeline.readers.hf.keys import Keys, as_list
from ridgeline.readers.hf.layers import sparse_layers, tied


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentSpec:
    """How a family differs from DeepSeek V3."""

    experts: bool = True
    indexer: bool = False
    tie: bool = False
    gate: Gate = "none"
    sinks: bool = False
    score_vector: bool = False
    sparse_norm: bool = False
    """One more norm in layers with experts."""
    first_dense: int = 0
    """Dense layers in front where the config does not say."""
    a_bias: bool = True
    """attention_bias reaches the down-projections."""
    index_offset: int = 2
    index_freq_key: str = "index_topk_freq"


def index_scores(k: Keys, num_layers: int, offset: int = 2) -> list[bool]:
    """Return which layers run the indexer themselves; the others reuse an earlier choice."""
    named = k.per_layer("indexer_types", num_layers)
    if named is not None:
        return [str(x) == "full" for x in named]
    pattern = k.raw("index_topk_pattern", default=None)
    if pattern is not None:
        marks = list(pattern) if isinstance(pattern, str) else [str(x) for x in as_list(pattern)]
        if len(marks) >= num_layers:
            return [x in ("F", "full") for x in marks[:num_layers]]
    freq = max(1, k.maybe("index_topk_freq", default=1) or 1)
    start = k.maybe("index_skip_topk_offset", default=offset) or 0
    return [max(i - start + 1, 0) % freq == 0 for i in range(num_layers)]


def dsa(k: Keys, hidden: int, scores: bool) -> tuple[Indexer, tuple[Linear, ...], int]:
    """Return the indexer of DeepSeek sparse attention, its projections and vector weights."""
    heads, dim = k.count("index_n_heads"), k.count("index_head_dim")
    rank = k.maybe("q_lora_rank", minimum=1) or hidden
    indexer = Indexer(
        num_heads=heads,
        head_dim=dim,
        top_k=k.count("index_topk"),
        key_dim=dim if scores else 0,
        scores=scores,
    )
    if not scores:
        return indexer, (), 0
    linears = (
        linear("indexer.wq_b", rank, heads * dim),
        linear("indexer.wk", hidden, dim),
        linear("indexer.weights_proj", hidden, heads),
    )
    return indexer, linears, 2 * dim


def latent_mixer(k: Keys, spec: LatentSpec, hidden: int, scores: bool = True) -> Mixer:
    """Return the attention of one layer."""
    heads = k.count("num_attention_heads")
    bias = k.flag("attention_bias")
    indexer, linears, vectors = None, (), 0
    if spec.indexer:
        indexer, linears, vectors = dsa(k, hidden, scores)
    return mla(
        hidden,
        heads,
        q_lora_rank=k.maybe("q_lora_rank", minimum=1),
        kv_lora_rank=k.count("kv_lora_rank"),
        qk_nope_head_dim=k.count("qk_nope_head_dim"),
        qk_rope_head_dim=k.count("qk_rope_head_dim", minimum=0),
        v_head_dim=k.maybe("v_head_dim", minimum=1) or max(1, hidden // heads),
        a_bias=bias and spec.a_bias,
        o_bias=bias,
        gate=spec.gate,
        indexer=indexer,
        indexer_linears=linears,
        num_extra_vector_params=vectors + (heads if spec.sinks else 0),
    )


def feeds_of(
    k: Keys, hidden: int, num_layers: int, spec: MoeSpec | None, first_dense: int = 0
) -> list[FeedForward]:
    """Return the feed-forward part of each layer."""
    if spec is None:
        return [dense(hidden, k.count("intermediate_size"), bias=k.flag("mlp_bias"))] * num_layers
    if first_dense and not k.has("mlp_layer_types", "first_k_dense_replace", "moe_layer_freq"):
        sparse = [i >= first_dense for i in range(num_layers)]
    else:
        sparse = sparse_layers(k, num_layers)
    experts = mixture(k, spec, hidden) if any(sparse) else None
    plain = None if all(sparse) else dense(hidden, k.count("intermediate_size"))
    return [x for s in sparse if (x := experts if s else plain) is not None]


def read_latent(k: Keys, spec: LatentSpec) -> Architecture:
    """Return the architecture of a config with latent attention."""
    hidden, n = k.count("hidden_size"), k.layers()
    scores = index_scores(k, n, spec.index_offset) if spec.indexer else [True] * n
    mixers = {s: latent_mixer(k, spec, hidden, s) for s in set(scores)}
    moe_spec = MoeSpec(shared="n", score_vector=spec.score_vector) if spec.experts else None
    feeds = feeds_of(k, hidden, n, moe_spec, spec.first_dense)
    layers = [
        Block(
            count=1,
            mixer=mixers[s],
            feed_forward=f,
            num_norm_params=(3 if spec.sparse_norm and f.experts else 2) * hidden,
        )
        for s, f in zip(scores, feeds, strict=True)
    ]
    mtp = k.maybe("num_nextn_predict_layers", default=0) or 0
    last = [replace(layers[-1], mixer=mixers[True])] if True in mixers else layers[-1:]
    return assemble(
        k,
        layers,
        hidden_size=hidden,
        tie=tied(k, spec.tie),
        mtp_blocks=mtp_blocks(last, mtp),
        num_mtp_other_params=mtp * (2 * hidden * hidden + 3 * hidden),
    )


def read_longcat(k: Keys) -> Architecture:
    """Return LongCat-Flash: per layer two attentions and two dense parts beside one mixture.

    The mixture runs in parallel with the second half; zero experts carry no weights.
    """
    hidden = k.count("hidden_size")
    n = k.layers()
    spec = LatentSpec()
    attention = latent_mixer(k, spec, hidden)
    size = k.count("ffn_hidden_size", "intermediate_size")
    experts, zero = k.count("n_routed_experts"), k.maybe("zero_expert_num", default=0) or 0
    plain = dense(hidden, size)
    mixed = moe(
        hidden,
        experts,
        k.count("moe_topk", "num_experts_per_tok"),
        k.count("expert_ffn_hidden_size", "moe_intermediate_size"),
        num_zero_experts=zero,
        router_bias=k.flag("router_bias"),
        extra_linears=ffn_linears(hidden, size),
    )
    halves = [
        Block(count=1, mixer=attention, feed_forward=f, num_norm_params=2 * hidden)
        for f in (mixed, plain)
    ]
    k.note("each LongCat layer is shown as two, the first with the mixture beside its dense part")
    return assemble(k, halves * n, hidden_size=hidden, tie=tied(k))


def latent(spec: LatentSpec) -> Callable[[Keys], Architecture]:
    """Return a reader for one family."""
    return lambda k: read_latent(k, spec)


LATENT: dict[str, Callable[[Keys], Architecture]] = {
    "deepseek_v2": latent(LatentSpec()),
    "deepseek_v3": latent(LatentSpec()),
    "kimi_k2": latent(LatentSpec()),
    "sarvam_mla": latent(LatentSpec()),
    "mistral4": latent(LatentSpec()),
    "deepseek_v32": latent(LatentSpec(indexer=True)),
    "glm_moe_dsa": latent(LatentSpec(indexer=True)),
    "glm4_moe_lite": latent(LatentSpec(first_dense=1)),
    "axk1": latent(LatentSpec(sparse_norm=True, first_dense=1)),
    "minicpm3": latent(LatentSpec(experts=False)),
    "youtu": latent(LatentSpec(experts=False)),
    "longcat_flash": read_longcat,
}
