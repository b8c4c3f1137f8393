"""DeepSeek V4: compressed attention, hyper-connections and mixtures in every layer.

Source: modeling_deepseek_v4 of transformers 5.24.0.
"""

from __future__ import annotations

from dataclasses import replace

from ridgeline.model.architecture import (
    Architecture,
    Block,
    CompressedAttention,
    Indexer,
    Linear,
    Mixer,
)
from ridgeline.model.build import compressed_attention, linear
from ridgeline.readers.hf.assemble import assemble
from ridgeline.readers.hf.families.standard import MoeSpec, mixture, mtp_blocks
from ridgeline.readers.hf.keys import Keys
from ridgeline.readers.hf.layers import tied


def _ratios(k: Keys, num_layers: int) -> list[int]:
    """Return the compression ratio of each layer; 0 is the window alone."""
    rates = k.section("compress_rates")
    csa, hca = k.maybe("compress_rate_csa", default=4), k.maybe("compress_rate_hca", default=128)
    if rates is not None:
        csa = rates.maybe("compressed_sparse_attention", default=csa)
        hca = rates.maybe("heavily_compressed_attention", default=hca)
    types = k.per_layer("layer_types", num_layers)
    if types is not None:
        by_name = {
            "compressed_sparse_attention": csa or 4,
            "heavily_compressed_attention": hca or 128,
        }
        return [by_name.get(str(t), 0) for t in types]
    stated = k.per_layer("compress_ratios", num_layers)
    if stated is not None:
        return [k.check(x, "compress_ratios") for x in stated]
    return [(csa or 4) if i >= 2 and i % 2 else (hca or 128) for i in range(num_layers)]


def _mixer(k: Keys, hidden: int, ratio: int, csa_ratio: int) -> Mixer:
    heads, dim = k.count("num_attention_heads"), k.count("head_dim")
    rank, groups = k.count("q_lora_rank"), k.count("o_groups")
    out = groups * k.count("o_lora_rank")
    streams = k.count("hc_mult")
    linears: list[Linear] = [
        linear("q_a_proj", hidden, rank),
        linear("q_b_proj", rank, heads * dim, split="column"),
        linear("kv_proj", hidden, dim),
        linear("o_a_proj", heads * dim, out, split="column", groups=groups),
        linear("o_b_proj", out, hidden, split="row"),
        hyper_connection("attn_hc", hidden, streams),
    ]
    vectors = heads + rank + dim + hyper_vectors(streams)
    overlap = ratio == csa_ratio and ratio > 0
    indexer: Indexer | None = None
    if ratio:
        width = dim * (2 if overlap else 1)
        linears += [
            linear("compressor.kv_proj", hidden, width),
            linear("compressor.gate_proj", hidden, width),
        ]
        vectors += ratio * width + dim
    if overlap:
        n, d = k.count("index_n_heads"), k.count("index_head_dim")
        linears += [
            linear("indexer.kv_proj", hidden, 2 * d),
            linear("indexer.gate_proj", hidden, 2 * d),
            linear("indexer.q_b_proj", rank, n * d),
            linear("indexer.weights_proj", hidden, n),
        ]
        vectors += ratio * 2 * d + d
        indexer = Indexer(num_heads=n, head_dim=d, top_k=k.count("index_topk"), key_dim=d)
    core = CompressedAttention(
        num_heads=heads,
        head_dim=dim,
        window=k.count("sliding_window"),
        ratio=ratio,
        overlap=overlap,
        indexer=indexer,
    )
    return compressed_attention(tuple(linears), vectors, core)


def hyper_connection(name: str, hidden: int, streams: int, outputs: int | None = None) -> Linear:
    """Return the projection that mixes `streams` residual streams (mHC)."""
    out = streams * (streams + 2) if outputs is None else outputs
    return linear(f"{name}.fn", streams * hidden, out)


def hyper_vectors(streams: int) -> int:
    """Return the base and scale weights of one hyper-connection."""
    return streams * (streams + 2) + 3


def read_deepseek_v4(k: Keys) -> Architecture:
    """Return the architecture of a DeepSeek V4 config."""
    hidden, n, streams = k.count("hidden_size"), k.layers(), k.count("hc_mult")
    ratios = _ratios(k, n)
    small = [r for r in ratios if r]
    csa = min(small) if small and min(small) < 32 else 4
    feed = mixture(k, MoeSpec(shared="moe_intermediate_size", shared_bias="mlp_bias"), hidden)
    feed = replace(
        feed,
        linears=(*feed.linears, hyper_connection("ffn_hc", hidden, streams)),
        num_vector_params=feed.num_vector_params + hyper_vectors(streams),
    )
    mixers = {r: _mixer(k, hidden, r, csa) for r in set(ratios)}
    layers = [
        Block(count=1, mixer=mixers[r], feed_forward=feed, num_norm_params=2 * hidden)
        for r in ratios
    ]
    mtp = k.maybe("num_nextn_predict_layers", default=0) or 0
    window_only = replace(layers[-1], mixer=_mixer(k, hidden, 0, csa))
    return assemble(
        k,
        layers,
        hidden_size=hidden,
        tie=tied(k),
        num_final_norm_params=hidden + streams + 1,
        linears=(linear("hc_head.fn", streams * hidden, streams),),
        mtp_blocks=mtp_blocks([window_only], mtp),
        num_mtp_other_params=mtp * (2 * hidden * hidden + 3 * hidden),
    )
