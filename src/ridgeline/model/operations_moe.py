"""Mixture of experts: grouped GEMMs over the experts a batch touches, dispatch and combine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ridgeline.model.architecture import Experts, FeedForward
from ridgeline.model.coverage import expected_experts_touched
from ridgeline.model.layout import Layout
from ridgeline.model.scene import Scene, gemm_groups, joined_name
from ridgeline.model.work import Axis, CollectiveKind, Number, Operation, Routing

Imbalance = Callable[[Experts, Number, Layout], Number]
"""(experts, tokens of the replica, layout) -> load of the busiest rank over the mean, ≥ 1."""

_DISPATCH_BYTES = {"fp8": 1.0, "int8": 1.0, "fp6": 0.75, "fp4": 0.5, "int4": 0.5}
"""By arithmetic of the experts; scales (3 % at one fp32 per 128) left out. Wider: activations.
Source: deepseek2024v3 (fp8 out, bf16 back), lecture C2-F6."""


def devices_per_expert(layout: Layout) -> Number:
    """Return the devices that one expert is cut over: tp·cp·dp / ep [device]."""
    return layout.tp * layout.cp * layout.dp / layout.ep


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertLoad:
    """What one device's experts have to do in a step."""

    rows: Number
    """Token-expert pairs on the device."""
    touched: Number
    """Expected distinct experts whose weights are read."""
    shard: Number
    """Devices that one expert is cut over."""
    imbalance: Number
    """Load of this, the busiest, rank over the mean [1]."""


def expert_load(experts: Experts, scene: Scene, imbalance: Imbalance | None) -> ExpertLoad:
    """Return the load of the busiest device, I times the mean.

        rows    = I · tokens · k_eff / ep
        touched = min(I · n′ (1 − (1 − k_eff/n′)^tokens) / ep, n′ / ep),  n′ = n and copies

    k_eff leaves out choices that fall on experts without weights. A redundant copy takes an
    equal part of the load, so n′ copies are touched as if they were experts of their own. Few
    tokens meet few experts twice, so there the busiest rank also reads I times the mean.

    Source: first principles; I from model.imbalance.
    """
    layout = scene.layout
    slots = experts.num_experts + layout.num_redundant_experts
    busy = 1.0 if imbalance is None else imbalance(experts, scene.tokens, layout)
    mean = expected_experts_touched(slots, experts.mean_active, scene.tokens) / layout.ep
    return ExpertLoad(
        rows=scene.tokens * experts.mean_active / layout.ep * busy,
        touched=np.minimum(mean * busy, slots / layout.ep),
        shard=devices_per_expert(layout),
        imbalance=busy,
    )


def expert_operations(
    ffn: FeedForward, experts: Experts, scene: Scene, count: Number, imbalance: Imbalance | None
) -> tuple[Operation, ...]:
    """Return dispatch, grouped GEMMs and combine of one layer on one device."""
    load = expert_load(experts, scene, imbalance)
    moved = scene.activation_bytes
    width = experts.linears[0].in_features if experts.linears else scene.arch.hidden_size
    operations: list[Operation] = []
    for group in gemm_groups(experts.linears):
        first = group[0]
        inputs: Number = float(first.in_features)
        outputs: Number = float(sum(x.out_features for x in group))
        if first.split == "row":
            inputs = inputs / load.shard
        else:
            outputs = outputs / load.shard
        weights = sum(x.num_weights for x in group) / load.shard
        biases = sum(x.out_features for x in group if x.bias) / load.shard
        per_expert = weights * scene.precision.weight_bytes_of("expert") + biases * moved
        operations.append(
            Operation(
                name="experts." + joined_name([x.name for x in group]),
                family="expert_gemm",
                component="experts",
                compute_format=scene.precision.compute_format_of("expert"),
                count=count,
                flop=load.rows * (2.0 * weights),
                weight_bytes=load.touched * per_expert,
                activation_bytes=load.rows * ((inputs + outputs) * moved),
                shape={
                    "m": load.rows,
                    "n": outputs,
                    "k": inputs,
                    "num_groups": load.touched,
                    "tokens_per_expert": load.rows / np.maximum(load.touched, 1e-300),
                    "imbalance": load.imbalance,
                },
                storage_format=scene.precision.weights["expert"].id,
            )
        )
    before, after = _messages(experts, scene, count, width)
    # Activation function, gather into expert order, weighted sum back.
    inner = ffn.intermediate_size * (len(experts.linears)) / load.shard
    operations.append(
        Operation(
            name="experts.permute+activation",
            family="elementwise",
            component="experts",
            compute_format=scene.precision.activation.compute_format,
            count=count,
            weight_bytes=load.touched
            * (experts.num_vector_params * scene.precision.weight_bytes_of("norm")),
            activation_bytes=load.rows * ((3 * width + inner) * moved),
        )
    )
    return (*before, *operations, *after)


def _messages(
    experts: Experts, scene: Scene, count: Number, width: int
) -> tuple[tuple[Operation, ...], tuple[Operation, ...]]:
    """Return what goes out before the experts and comes back after them.

    Tokens are replicated over tp, so experts of other tp ranks need no message: the all-reduce
    after the layer sums their outputs. Between the dp·cp groups each token-expert pair is sent
    once (all-to-all over min(ep, dp·cp) ranks, tokens·k·width/ep on each): out in the experts'
    arithmetic format where that is 8 bits or narrower, back in activations. Where an expert is
    cut over more than tp devices (ep < dp·cp), its devices first gather their tokens: neighbours
    tp apart, cp ranks first.
    """
    layout = scene.layout
    token_bytes = width * scene.activation_bytes
    groups = layout.dp * layout.cp
    sharing = np.maximum(groups / layout.ep, 1.0)
    local = scene.local_tokens * token_bytes
    pairs = scene.tokens * experts.mean_active / layout.ep
    out_format = scene.precision.compute_format_of("expert")
    out_bytes = min(_DISPATCH_BYTES.get(out_format, np.inf), scene.activation_bytes)
    ranks = np.minimum(layout.ep, groups)
    # Of ep > dp·cp ranks, each tp index exchanges only the copies for its own experts.
    routing = Routing(
        top_k=experts.mean_active * ranks / layout.ep,
        num_experts=experts.num_experts * ranks / layout.ep,
        num_groups=experts.num_groups,
        top_groups=experts.num_groups_per_tok,
    )

    def send(name: str, kind: CollectiveKind, axis: Axis, size: Number) -> tuple[Operation, ...]:
        return scene.message(
            name,
            kind,
            axis,
            payload_bytes=size,
            group=ranks if axis == "ep" else sharing,
            count=count,
            routing=replace(routing, returning=name.endswith("combine")) if axis == "ep" else None,
        )

    before = (
        *send("experts.gather", "all_gather", "cp", local),
        *send("experts.dispatch", "all_to_all", "ep", pairs * (width * out_bytes)),
    )
    after = (
        *send("experts.combine", "all_to_all", "ep", pairs * token_bytes),
        *send("experts.scatter", "reduce_scatter", "cp", local * sharing),
    )
    return before, after
