"""Layers plus embedding, head and the rest: one `Architecture`."""

from __future__ import annotations

from collections.abc import Sequence

from ridgeline.errors import InputError
from ridgeline.model.architecture import Architecture, Block, Linear, run_length
from ridgeline.model.build import linear
from ridgeline.readers.hf.keys import Keys

_MAX_TENSOR = 10**12


def assemble(
    k: Keys,
    layers: Sequence[Block],
    *,
    hidden_size: int,
    vocab_size: int | None = None,
    head_vocab: int | None = None,
    embedding_size: int | None = None,
    num_other_embedding_params: int = 0,
    tie: bool,
    head_bias: bool = False,
    num_final_norm_params: int | None = None,
    linears: tuple[Linear, ...] = (),
    mtp_blocks: tuple[Block, ...] = (),
    num_mtp_other_params: int = 0,
) -> Architecture:
    """Return the architecture; the caller renames it.

    Args:
        k: The text config.
        layers: One block per layer.
        hidden_size: Width of the residual stream.
        vocab_size: Rows of the input embedding; the config's unless given.
        head_vocab: Rows of the head, when they differ.
        embedding_size: Width of the input embedding, when it is not hidden_size.
        num_other_embedding_params: Learned positions and other tables.
        tie: The head is the input embedding.
        head_bias: Bias of the head.
        num_final_norm_params: Weights after the last layer; one RMS norm unless given.
        linears: Projections outside the layers.
        mtp_blocks: Multi-token prediction layers.
        num_mtp_other_params: Their projections and norms.
    """
    vocab = k.count("vocab_size") if vocab_size is None else vocab_size
    width = hidden_size if embedding_size is None else embedding_size
    return Architecture(
        name="",
        model_type=k.model_type,
        hidden_size=hidden_size,
        vocab_size=vocab,
        blocks=run_length(list(layers)),
        num_input_embedding_params=vocab * width,
        num_other_embedding_params=num_other_embedding_params,
        head=linear("lm_head", width, head_vocab or vocab, "head", split="column", bias=head_bias),
        tie_word_embeddings=tie,
        num_final_norm_params=hidden_size
        if num_final_norm_params is None
        else num_final_norm_params,
        linears=linears,
        mtp_blocks=mtp_blocks,
        num_mtp_other_params=num_mtp_other_params,
        max_position_embeddings=k.maybe(
            "max_position_embeddings", "model_max_length", "max_sequence_length"
        ),
    )


def check_sizes(arch: Architecture) -> None:
    """Refuse tensors that no machine holds.

    Raises:
        InputError: a tensor beyond 1e12 elements, or expert counts that cannot be.
    """
    for block in (*arch.blocks, *arch.mtp_blocks):
        experts = block.feed_forward.experts
        inner: tuple[Linear, ...] = () if experts is None else experts.linears
        for x in (*block.mixer.linears, *block.feed_forward.linears, *inner):
            if x.num_weights > _MAX_TENSOR:
                raise InputError(
                    f"`{x.name}` would have {x.in_features:,} × {x.out_features:,} weights; "
                    "at most 1e12 per tensor are read."
                )
        if experts is not None:
            total = experts.num_experts + experts.num_zero_experts
            if not 1 <= experts.num_experts_per_tok <= total:
                raise InputError(
                    f"Experts per token must be between 1 and {total}: "
                    f"{experts.num_experts_per_tok}."
                )
            if (
                experts.num_experts * sum(x.num_weights for x in experts.linears)
                > 100 * _MAX_TENSOR
            ):
                raise InputError("The experts of one layer would exceed 1e14 weights.")
    if arch.num_input_embedding_params > _MAX_TENSOR:
        raise InputError("The embedding table would exceed 1e12 weights.")
