"""GLM-5.3-Flash: KDA and latent attention without rotary part, hyper-connections, pooled indexer.

Source: modeling_glm5_next of transformers 5.24.0.
"""

from __future__ import annotations

from dataclasses import replace

from ridgeline.model.architecture import Architecture, Block, FeedForward, Mixer
from ridgeline.model.build import linear
from ridgeline.readers.hf.assemble import assemble
from ridgeline.readers.hf.families.deepseek_v4 import hyper_connection, hyper_vectors
from ridgeline.readers.hf.families.latent import LatentSpec, feeds_of, index_scores, latent_mixer
from ridgeline.readers.hf.families.linear import kda_of
from ridgeline.readers.hf.families.standard import MoeSpec
from ridgeline.readers.hf.keys import Keys
from ridgeline.readers.hf.layers import kinds, tied


def read_glm5_next(k: Keys) -> Architecture:
    """Return the language part of GLM-5.3-Flash."""
    hidden, n, streams = k.count("hidden_size"), k.layers(), k.count("hc_mult")
    default = ["linear_attention" if (i + 1) % 4 else "full_attention" for i in range(n)]
    found = kinds(k, n, default)
    scores = index_scores(k, n)
    pool, dim = k.count("index_kpool", default=16), k.count("index_head_dim")

    def with_streams(mixer: Mixer) -> Mixer:
        return replace(
            mixer,
            linears=(*mixer.linears, hyper_connection("attn_hc", hidden, streams)),
            num_vector_params=mixer.num_vector_params + hyper_vectors(streams),
        )

    def latent(*, runs: bool) -> Mixer:
        mixer = latent_mixer(k, LatentSpec(indexer=True), hidden, runs)
        if not runs:
            return with_streams(mixer)
        gate = linear("indexer.compress_gate", hidden, dim)
        return with_streams(
            replace(
                mixer,
                linears=(*mixer.linears, gate),
                num_vector_params=mixer.num_vector_params + pool * dim,
            )
        )

    def feed_with_streams(feed: FeedForward) -> FeedForward:
        return replace(
            feed,
            linears=(*feed.linears, hyper_connection("ffn_hc", hidden, streams)),
            num_vector_params=feed.num_vector_params + hyper_vectors(streams),
        )

    delta = with_streams(kda_of(k, hidden, full_forget=False, full_gate=False))
    feeds = feeds_of(k, hidden, n, MoeSpec(shared="n"), first_dense=3)
    layers = [
        Block(
            count=1,
            mixer=delta if t == "linear_attention" else latent(runs=runs),
            feed_forward=feed_with_streams(f),
            num_norm_params=2 * hidden,
        )
        for t, runs, f in zip(found, scores, feeds, strict=True)
    ]
    return assemble(k, layers, hidden_size=hidden, tie=tied(k))
