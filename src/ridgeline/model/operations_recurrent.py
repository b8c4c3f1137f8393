"""Recurrent mixers between the projections: state that is read and written once per step."""

from __future__ import annotations

import math

import numpy as np

from ridgeline.model.architecture import Mixer, Recurrence
from ridgeline.model.scene import Scene
from ridgeline.model.state import recurrent_bytes, recurrent_share
from ridgeline.model.work import Number, Operation

_INTRA_CHUNK: dict[str, tuple[int, int]] = {
    # Products of a C × C matrix per head and chunk: (with key width, with value width).
    "mamba2": (1, 1),  # C·Bᵀ, ·X: Dao and Gu 2024, arXiv:2405.21060, section 6
    "lightning": (1, 1),  # Q·Kᵀ, ·V: Qin et al. 2024, arXiv:2401.04658
    "gated_delta_net": (3, 2),  # K·Kᵀ, T·K, Q·Kᵀ; T·V, ·V: Yang et al. 2024, arXiv:2412.06464
    "kda": (3, 2),  # as above: Kimi Linear 2025, arXiv:2510.26692
    "rwkv": (1, 1),
}
"""Kinds without an entry (mamba1, short_conv, rg_lru) scan token by token in prefill too."""


def intra_chunk_flop_per_token(core: Recurrence) -> float:
    """Return the extra FLOP per token of the chunked form, all heads [FLOP].

        2 · C · (a·N + b·P) per head, with N·P = state per head

    for a and b products of a C × C matrix. N = P = √(N·P) where the value width is not known.
    """
    keys, values = _INTRA_CHUNK.get(core.kind, (0, 0))
    if not core.num_heads or not core.state_elements:
        return 0.0
    per_head = core.state_elements / core.num_heads
    value_width = core.head_dim or math.sqrt(per_head)
    width = keys * per_head / value_width + values * value_width
    return 2.0 * core.chunk_size * width * core.num_heads


def recurrence_operations(
    core: Recurrence, mixer: Mixer, scene: Scene, count: Number
) -> tuple[Operation, ...]:
    """Return the convolution and recurrence of one layer as one operation.

    Runs of new tokens shorter than a chunk advance the state token by token; longer ones use
    the chunked form, which adds the work inside a chunk. Either way the state is read and
    written once per sequence. Activations: what the cut projections produce and consume, and
    once more in and out of the convolution.
    """
    share = recurrent_share(core, scene.layout)
    base = core.flop_per_token + core.conv_flop_per_token
    intra = intra_chunk_flop_per_token(core)

    def flop(new_tokens: Number, context: Number) -> Number:
        del context
        if not intra:
            return new_tokens * float(base)
        chunked = np.greater_equal(new_tokens, core.chunk_size)
        return new_tokens * np.where(chunked, base + intra, base)

    produced = sum(x.out_features for x in mixer.linears if x.split in {"column", "kv"})
    consumed = sum(x.in_features for x in mixer.linears if x.split == "row")
    passes = 3 if core.conv_elements else 1
    width = (passes * produced + consumed) / scene.layout.tp
    state = scene.sequences() * (recurrent_bytes(core, scene.precision) * share)
    return (
        Operation(
            name=core.kind,
            family="recurrence",
            component="recurrence",
            compute_format=scene.precision.activation.compute_format,
            count=count,
            flop=scene.over_sequences(flop) * share,
            state_read_bytes=state,
            state_write_bytes=state,
            activation_bytes=scene.local_tokens * (width * scene.activation_bytes),
            shape={"batch": scene.sequences(), "new_tokens": scene.steps[0].new_tokens},
        ),
    )
