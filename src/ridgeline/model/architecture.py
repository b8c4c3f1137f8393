"""What a decoder language model is made of: the records everything else counts from.

A model is a run-length list of blocks. A block is a mixer (attention, recurrence ...) and a
feed-forward part. Both are lists of `Linear` layers (their weights are the parameters *and*
the GEMMs) plus a `core`: the arithmetic between the projections, which owns the state (KV cache).
Parameters, state bytes and operations all follow from these records; nothing is stored twice.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

Split = Literal["column", "row", "kv", "replicated"]
"""How tensor parallelism cuts a weight: by output (`column`), by input (`row`), by KV head with
replication once tp exceeds the KV heads (`kv`), or not at all (`replicated`)."""

WeightClass = Literal[
    "attention", "ffn", "expert", "shared_expert", "router", "embedding", "head", "norm"
]
"""Tensor class: decides the storage format and the compute format (see `model.formats`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """One weight matrix: `in_features × out_features / groups` weights, 2 FLOP each per token."""

    name: str
    """The usual short name, e.g. `q_proj`."""
    in_features: int
    out_features: int
    weight_class: WeightClass
    split: Split = "replicated"
    bias: bool = False
    """Whether `out_features` bias elements are added."""
    groups: int = 1
    """Block-diagonal groups; weights are in·out/groups."""
    token_share: float = 1.0
    """GEMM rows per token, when a layer runs on fewer tokens (a compressor at 1/4 rate)."""
    state_only: bool = False
    """Runs only where the state is produced (kv_b of MLA is absorbed in decode)."""

    @property
    def num_weights(self) -> int:
        """Elements of the matrix, without bias."""
        return self.in_features * self.out_features // self.groups

    @property
    def num_params(self) -> int:
        """Elements of the matrix and its bias."""
        return self.num_weights + (self.out_features if self.bias else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexer:
    """The light scorer of sparse attention: picks `top_k` tokens (or blocks) per query."""

    num_heads: int
    head_dim: int
    top_k: int
    """Entries selected per query."""
    block_size: int = 1
    """Tokens per selected entry; top_k·block_size tokens are attended."""
    key_dim: int = 0
    """Elements of index key cached per token, or per entry of a compressed cache (0: none)."""
    scores: bool = True
    """False where the layer reuses the choice of an earlier layer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftmaxAttention:
    """MHA, GQA or MQA over cached keys and values."""

    num_heads: int
    num_kv_heads: int
    qk_head_dim: int
    v_head_dim: int
    window: int | None = None
    """Tokens a query sees, itself included; None sees all."""
    window_kind: Literal["sliding", "chunked"] = "sliding"
    """`chunked` windows reset at multiples of `window`."""
    stores_kv: bool = True
    """False where the layer reads the cache of an earlier layer (cross-layer KV sharing)."""
    stores_v: bool = True
    """False where values are the keys (one tensor is cached)."""
    indexer: Indexer | None = None
    """Block-sparse selection, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """MLA: one latent (kv_lora_rank) and one rotary key (qk_rope_head_dim) cached per token."""

    num_heads: int
    kv_lora_rank: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int
    window: int | None = None
    indexer: Indexer | None = None
    """DeepSeek sparse attention (DSA), if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedAttention:
    """A sliding window plus a cache compressed by `ratio` (DeepSeek V4: CSA 4, HCA 128).

    One entry of `head_dim` elements, key and value at once, is kept per `ratio` tokens, and
    per token inside the window.
    """

    num_heads: int
    head_dim: int
    window: int
    ratio: int
    """Tokens per compressed entry; 0 keeps the window only."""
    overlap: bool = False
    """Compression windows overlap their neighbour (CSA)."""
    indexer: Indexer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """A linear or recurrent mixer with constant state: Mamba, delta nets, lightning, RWKV, conv."""

    kind: Literal[
        "mamba1", "mamba2", "gated_delta_net", "kda", "lightning", "short_conv", "rwkv", "rg_lru"
    ]
    num_heads: int
    state_elements: int
    """Elements of recurrent state per sequence and layer (without the convolution)."""
    conv_elements: int = 0
    """Elements of convolution state per sequence and layer."""
    flop_per_token: int = 0
    """Arithmetic of the recurrence per token in decode, projections and convolution apart."""
    conv_flop_per_token: int = 0
    state_bytes_per_element: float = 4.0
    """Recurrent state is kept in fp32 by the reference caches unless stated."""
    chunk_size: int = 64
    """Tokens per chunk of the parallel (prefill) form."""
    head_dim: int = 0
    """Value width of one head; 0: unknown, the state of a head is taken as square."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossAttention:
    """Attention over a fixed set of other tokens (images); its state does not grow."""

    num_heads: int
    num_kv_heads: int
    head_dim: int
    num_source_tokens: int


Core = SoftmaxAttention | LatentAttention | CompressedAttention | Recurrence | CrossAttention


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixer:
    """The token-mixing half of a block."""

    kind: str
    """What a user would call it: `gqa`, `mla`, `mamba2`, `gated_delta_net` ..."""
    linears: tuple[Linear, ...] = ()
    num_vector_params: int = 0
    """Everything that is not a Linear: q/k norms, sinks, convolution kernels, decay vectors."""
    cores: tuple[Core, ...] = ()
    """Usually one; two where a block runs attention and a recurrence side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """The routed part of a mixture-of-experts layer."""

    num_experts: int
    num_experts_per_tok: int
    linears: tuple[Linear, ...]
    """Of one expert."""
    num_vector_params: int = 0
    """Of one expert, beyond its linears."""
    num_zero_experts: int = 0
    """Experts without weights that may be chosen (identity); they take a share of top-k."""
    num_groups: int = 1
    """Groups of group-limited routing."""
    num_groups_per_tok: int = 1

    @property
    def num_params_per_expert(self) -> int:
        """Parameters of one expert."""
        return sum(x.num_params for x in self.linears) + self.num_vector_params

    @property
    def mean_active(self) -> float:
        """Experts with weights that a token visits on average (uniform routing)."""
        total = self.num_experts + self.num_zero_experts
        return self.num_experts_per_tok * self.num_experts / total


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedForward:
    """The channel-mixing half of a block: dense linears, a router and experts, or nothing."""

    kind: str
    """`dense_gated`, `dense`, `moe`, `none` ..."""
    linears: tuple[Linear, ...] = ()
    """Run for every token: dense projections, router, shared experts and their gate."""
    num_vector_params: int = 0
    experts: Experts | None = None
    intermediate_size: int = 0
    """Width between the projections, for activation traffic and memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """`count` equal layers in a row."""

    count: int
    mixer: Mixer
    feed_forward: FeedForward
    num_norm_params: int
    """Norm weights of one layer (all of its norms, exactly)."""
    num_other_params: int = 0
    """Anything else of one layer that is neither mixer nor feed-forward nor norm."""
    shares_weights: bool = False
    """True where the layer reuses the weights of an earlier one: it runs but is not counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """A decoder language model as counted, costed and sharded by everything else."""

    name: str
    """Hub id or file stem."""
    model_type: str
    hidden_size: int
    vocab_size: int
    blocks: tuple[Block, ...]
    num_input_embedding_params: int
    """Token embedding table only."""
    num_other_embedding_params: int = 0
    """Learned positions, per-layer embeddings, token types: looked up, not multiplied."""
    head: Linear | None = None
    """The LM head; None only for models without one."""
    tie_word_embeddings: bool = False
    """True: the head is the input embedding and is counted once."""
    num_final_norm_params: int = 0
    linears: tuple[Linear, ...] = ()
    """Run once per token outside the blocks: embedding projections and the like."""
    mtp_blocks: tuple[Block, ...] = ()
    """Multi-token-prediction layers: in the files, not in the counted model."""
    num_mtp_other_params: int = 0
    """Parameters of the MTP heads outside their blocks (projections, norms)."""
    num_multimodal_params: int = 0
    """Vision, audio and projector parameters, counted apart."""
    max_position_embeddings: int | None = None
    weight_format: str = "bf16"
    """Default storage format of the weights (key of `model.formats`)."""
    weight_formats: tuple[tuple[WeightClass, str], ...] = ()
    """Exceptions by tensor class, from quantization_config."""
    kv_format: str | None = None
    """Cache format, when the checkpoint prescribes one."""
    flags: tuple[str, ...] = ()
    """One sentence for anything assumed, unusual or ignored; `assumed: ...` marks a guess."""

    @property
    def num_layers(self) -> int:
        """Layers, MTP apart."""
        return sum(b.count for b in self.blocks)

    def distinct_blocks(self) -> tuple[tuple[Block, int], ...]:
        """Equal blocks merged over the whole depth, with their number of layers."""
        return _merged(_Identity(self.blocks))

    def distinct_stages(self, pp: int) -> tuple[tuple[tuple[int, ...], bool, bool], ...]:
        """Return the kinds of pipeline stages, each once.

        Each is the layers it holds of every one of `distinct_blocks`, whether it is the first
        stage, and whether the last. Stage s holds layers ⌊s·L/pp⌋ up to ⌊(s + 1)·L/pp⌋.
        """
        return _staged(_Identity(self.blocks), pp)


class _Identity:
    """Blocks hashed by where they are: comparing hundreds of them costs more than an estimate."""

    __slots__ = ("blocks",)

    def __init__(self, blocks: tuple[Block, ...]) -> None:
        self.blocks = blocks

    def __hash__(self) -> int:
        return id(self.blocks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.blocks is self.blocks


@functools.lru_cache(maxsize=64)
def _merged(key: _Identity) -> tuple[tuple[Block, int], ...]:
    counts: dict[Block, int] = {}
    for b in key.blocks:
        one = replace_count(b)
        counts[one] = counts.get(one, 0) + b.count
    return tuple(counts.items())


@functools.lru_cache(maxsize=512)
def _staged(key: _Identity, pp: int) -> tuple[tuple[tuple[int, ...], bool, bool], ...]:
    kinds = {block: i for i, (block, _) in enumerate(_merged(key))}
    layers = [kinds[replace_count(b)] for b in key.blocks for _ in range(b.count)]
    found: dict[tuple[tuple[int, ...], bool, bool], None] = {}
    for stage in range(pp):
        held = layers[stage * len(layers) // pp : (stage + 1) * len(layers) // pp]
        counts = tuple(held.count(i) for i in range(len(kinds)))
        found[counts, stage == 0, stage == pp - 1] = None
    return tuple(found)


def replace_count(block: Block, count: int = 1) -> Block:
    """Return `block` with another run length."""
    return Block(
        count=count,
        mixer=block.mixer,
        feed_forward=block.feed_forward,
        num_norm_params=block.num_norm_params,
        num_other_params=block.num_other_params,
        shares_weights=block.shares_weights,
    )


def run_length(layers: list[Block]) -> tuple[Block, ...]:
    """Merge equal neighbours of a layer-by-layer list into runs."""
    runs: list[Block] = []
    for layer in layers:
        if runs and replace_count(runs[-1]) == replace_count(layer):
            runs[-1] = replace_count(layer, runs[-1].count + layer.count)
        else:
            runs.append(layer)
    return tuple(runs)
