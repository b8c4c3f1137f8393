"""What every operation of a step has in common: tokens, formats, shares of one device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ridgeline.model.architecture import Architecture, Linear
from ridgeline.model.layout import Layout
from ridgeline.model.precision import Precision
from ridgeline.model.work import (
    Axis,
    CollectiveKind,
    Message,
    Number,
    Operation,
    Routing,
    Step,
)

_DECODE_LIKE_TOKENS = 8
"""Up to this many new tokens a step needs logits for all of them (speculative verification)."""


def is_one(degree: Number) -> bool:
    """Whether a parallel degree is 1 everywhere, so that it sends nothing."""
    return bool(np.all(np.equal(degree, 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One forward pass on one device of a layout."""

    arch: Architecture
    steps: tuple[Step, ...]
    """Parts of a mixed batch that run together; usually one."""
    precision: Precision
    layout: Layout
    tokens: Number
    """New tokens of the whole replica: Σ batch·new_tokens."""
    local_tokens: Number
    """Of one device outside the experts: tokens are spread over dp and cp."""

    @classmethod
    def of(
        cls,
        arch: Architecture,
        steps: tuple[Step, ...],
        precision: Precision,
        layout: Layout,
    ) -> Scene:
        """Return the scene of a step."""
        tokens: Number = 0.0
        for step in steps:
            tokens = tokens + step.batch * (step.new_tokens * 1.0)
        return cls(
            arch=arch,
            steps=steps,
            precision=precision,
            layout=layout,
            tokens=tokens,
            local_tokens=tokens / (layout.dp * layout.cp),
        )

    @property
    def activation_bytes(self) -> float:
        """Bytes of one activation."""
        return self.precision.activation.bytes_per_weight

    def over_sequences(self, quantity: Callable[[Number, Number], Number]) -> Number:
        """Return Σ batch · quantity(new_tokens, context) on one of the dp·cp devices."""
        total: Number = 0.0
        for step in self.steps:
            total = total + step.batch * quantity(step.new_tokens, step.context)
        return total / (self.layout.dp * self.layout.cp)

    def sequences(self) -> Number:
        """Return the sequences of one attention group: batch / dp."""
        total: Number = 0.0
        for step in self.steps:
            total = total + step.batch
        return total / self.layout.dp

    def logit_tokens(self) -> Number:
        """Return the tokens of one device that need logits."""
        total: Number = 0.0
        for step in self.steps:
            wanted = step.logit_tokens
            if wanted is None:
                decode_like = np.less_equal(step.new_tokens, _DECODE_LIKE_TOKENS)
                wanted = np.where(decode_like, step.new_tokens, 1)
            total = total + step.batch * wanted
        return total / (self.layout.dp * self.layout.cp)

    def share(self, linear: Linear, kv_share: Number) -> Number:
        """Return the share of a weight on one device [1]."""
        if linear.split == "replicated":
            return 1.0
        return kv_share if linear.split == "kv" else 1 / self.layout.tp

    def message(
        self,
        name: str,
        kind: CollectiveKind,
        axis: Axis,
        *,
        payload_bytes: Number,
        group: Number,
        count: Number,
        routing: Routing | None = None,
    ) -> tuple[Operation, ...]:
        """Return one collective, or nothing where its group is a single rank everywhere."""
        if is_one(group):
            return ()
        return (
            Operation(
                name=name,
                family="collective",
                component="network",
                compute_format=self.precision.activation.compute_format,
                count=count,
                shape={"tokens": self.local_tokens},
                message=Message(
                    kind=kind,
                    payload_bytes=payload_bytes,
                    group=group,
                    axis=axis,
                    routing=routing,
                ),
            ),
        )


def joined_name(names: list[str]) -> str:
    """Return one name for projections that run as one GEMM.

    >>> joined_name(["q_proj", "k_proj", "v_proj"]), joined_name(["a", "b_proj"])
    ('q/k/v_proj', 'a+b_proj')
    """
    if len(names) == 1:
        return names[0]
    prefix = names[0].rpartition(".")[0]
    stems = [n.removeprefix(prefix + ".") if prefix else n for n in names]
    tails = {s.partition("_")[2] for s in stems}
    if len(tails) == 1 and "" not in tails:
        joined = "/".join(s.partition("_")[0] for s in stems) + "_" + tails.pop()
    else:
        joined = "+".join(stems)
    return f"{prefix}.{joined}" if prefix else joined


def gemm_groups(linears: tuple[Linear, ...]) -> list[list[Linear]]:
    """Return the projections that share an input, and so run as one GEMM.

    Same class, input width and rate, cut alike; matrices cut by input stay apart.
    """
    groups: dict[tuple[object, ...], list[Linear]] = {}
    for x in linears:
        alone = x.name if x.split == "row" or x.groups > 1 else ""
        cut = x.split != "replicated"
        key = (x.weight_class, x.in_features, cut, x.token_share, x.state_only, alone)
        groups.setdefault(key, []).append(x)
    return list(groups.values())


def gemm(
    group: list[Linear],
    scene: Scene,
    *,
    component: str,
    count: Number,
    rows: Number,
    kv_share: Number = 1.0,
) -> Operation:
    """Return one GEMM of m rows on one device: 2mnk FLOP over the weights it holds.

    Args:
        group: Matrices with one input, run as one.
        scene: The step.
        component: What it counts towards.
        count: Layers.
        rows: m, before the matrices' own token_share.
        kv_share: Share of the KV heads on one device.
    """
    first = group[0]
    weights: Number = 0.0
    outputs: Number = 0.0
    biases: Number = 0.0
    for x in group:
        share = scene.share(x, kv_share)
        weights = weights + x.num_weights * share
        width = x.out_features if x.split == "row" else x.out_features * share
        outputs = outputs + width
        if x.bias:
            biases = biases + width
    inner = first.in_features / first.groups
    inputs: Number = 1.0 * first.in_features
    if first.split == "row":
        inner = inner / scene.layout.tp
        inputs = inputs / scene.layout.tp
    m = rows * first.token_share if first.token_share != 1.0 else rows
    moved = scene.activation_bytes
    return Operation(
        name=joined_name([x.name for x in group]),
        family="gemm",
        component=component,
        compute_format=scene.precision.compute_format_of(first.weight_class),
        count=count,
        flop=m * (2 * weights),
        weight_bytes=weights * scene.precision.weight_bytes_of(first.weight_class) + biases * moved,
        activation_bytes=m * ((inputs + outputs) * moved),
        shape={"m": m, "n": outputs, "k": inner},
        storage_format=scene.precision.weights[first.weight_class].id,
    )
