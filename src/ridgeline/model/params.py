"""Parameters of an architecture: total, active and by component, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ridgeline.model.architecture import Architecture, Block, FeedForward, Linear, Mixer


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterCount:
    """Unique weights, tied tables once, buffers and MTP layers apart."""

    num_params: int
    """All of the model, vision and audio included."""
    num_text_params: int
    """Without vision, audio and projectors."""
    num_multimodal_params: int
    num_routed_params: int
    """Routed experts of all layers."""
    num_active_params: float
    """Text parameters a token uses: text - routed·(1 - k/E), input embedding included."""
    num_active_params_excluding_input_embedding: float
    """The same without the input embedding table (when tied, the table still serves as head)."""
    num_mtp_params: int
    num_params_by_component: dict[str, int]
    """Sums to num_params."""


def linears_params(linears: tuple[Linear, ...]) -> int:
    """Return the elements of all matrices and biases."""
    return sum(x.num_params for x in linears)


def mixer_params(mixer: Mixer) -> int:
    """Return the parameters of a mixer."""
    return linears_params(mixer.linears) + mixer.num_vector_params


def routed_params(feed_forward: FeedForward) -> int:
    """Return the parameters of the routed experts, all of them."""
    experts = feed_forward.experts
    return 0 if experts is None else experts.num_experts * experts.num_params_per_expert


def feed_forward_params(feed_forward: FeedForward) -> int:
    """Return the parameters of a feed-forward part, experts included."""
    dense = linears_params(feed_forward.linears) + feed_forward.num_vector_params
    return dense + routed_params(feed_forward)


def block_params(block: Block) -> int:
    """Return the parameters of one layer; 0 where it reuses the weights of another."""
    if block.shares_weights:
        return 0
    return (
        mixer_params(block.mixer)
        + feed_forward_params(block.feed_forward)
        + block.num_norm_params
        + block.num_other_params
    )


def _over_layers(arch: Architecture, measure: Callable[[Block], int]) -> int:
    return sum(b.count * measure(b) for b in arch.blocks if not b.shares_weights)


def _dense_by_class(block: Block, classes: tuple[str, ...]) -> int:
    return linears_params(tuple(x for x in block.feed_forward.linears if x.weight_class in classes))


def _dense_rest(block: Block) -> int:
    special = _dense_by_class(block, ("router", "shared_expert"))
    total = linears_params(block.feed_forward.linears) + block.feed_forward.num_vector_params
    return total - special


def components(arch: Architecture) -> dict[str, int]:
    """Return parameters by component; zero entries are left out."""
    head = 0
    if arch.head is not None:
        weights = 0 if arch.tie_word_embeddings else arch.head.num_weights
        head = weights + arch.head.num_params - arch.head.num_weights
    parts = {
        "input_embedding": arch.num_input_embedding_params,
        "other_embedding": arch.num_other_embedding_params,
        "mixer": _over_layers(arch, lambda b: mixer_params(b.mixer)),
        "ffn": _over_layers(arch, _dense_rest),
        "router": _over_layers(arch, lambda b: _dense_by_class(b, ("router",))),
        "shared_experts": _over_layers(arch, lambda b: _dense_by_class(b, ("shared_expert",))),
        "routed_experts": _over_layers(arch, lambda b: routed_params(b.feed_forward)),
        "norm": _over_layers(arch, lambda b: b.num_norm_params) + arch.num_final_norm_params,
        "other": _over_layers(arch, lambda b: b.num_other_params) + linears_params(arch.linears),
        "head": head,
        "multimodal": arch.num_multimodal_params,
    }
    return {k: v for k, v in parts.items() if v}


def _idle_routed(block: Block) -> float:
    """Return the routed parameters of one layer that a token leaves untouched on average."""
    experts = block.feed_forward.experts
    if experts is None:
        return 0.0
    return (experts.num_experts - experts.mean_active) * experts.num_params_per_expert


def count_parameters(arch: Architecture) -> ParameterCount:
    """Return every count of `arch`.

    A block that reuses weights is not counted; a token still runs it, which the operations show.
    """
    parts = components(arch)
    total = sum(parts.values())
    text = total - arch.num_multimodal_params
    idle = sum(b.count * _idle_routed(b) for b in arch.blocks if not b.shares_weights)
    active = text - idle
    table = 0 if arch.tie_word_embeddings else arch.num_input_embedding_params
    mtp = sum(b.count * block_params(b) for b in arch.mtp_blocks) + arch.num_mtp_other_params
    return ParameterCount(
        num_params=total,
        num_text_params=text,
        num_multimodal_params=arch.num_multimodal_params,
        num_routed_params=parts.get("routed_experts", 0),
        num_active_params=active,
        num_active_params_excluding_input_embedding=active - table,
        num_mtp_params=mtp,
        num_params_by_component=parts,
    )
