"""Which layouts a model can take: divisibility, with the remedy named."""

from __future__ import annotations

import math
from dataclasses import fields

from ridgeline.model.architecture import (
    Architecture,
    CompressedAttention,
    CrossAttention,
    LatentAttention,
    Recurrence,
    SoftmaxAttention,
)
from ridgeline.model.layout import Layout

_NODE = 8
"""Devices of the board that engines treat as one tensor-parallel group."""


def head_counts(arch: Architecture) -> tuple[set[int], set[int]]:
    """Return the numbers of query heads and of KV heads that occur in the layers."""
    heads: set[int] = set()
    kv_heads: set[int] = set()
    for block in arch.blocks:
        for core in block.mixer.cores:
            match core:
                case SoftmaxAttention() | CrossAttention():
                    heads.add(core.num_heads)
                    kv_heads.add(core.num_kv_heads)
                case LatentAttention() | CompressedAttention() | Recurrence():
                    heads.add(core.num_heads)
    return {h for h in heads if h > 1}, kv_heads


def expert_counts(arch: Architecture) -> set[int]:
    """Return the numbers of routed experts that occur in the layers."""
    return {b.feed_forward.experts.num_experts for b in arch.blocks if b.feed_forward.experts}


def layout_faults(arch: Architecture, layout: Layout) -> tuple[str, ...]:
    """Return a sentence per broken rule (scalar degrees); empty when the layout works.

    tp divides the query heads, and divides the KV heads or is a multiple of them (they are
    then replicated); ep divides the devices of a stage and the physical experts; a stage has
    at least one layer.
    """
    faults: list[str] = []
    for f in fields(layout):
        value = int(getattr(layout, f.name))
        least = 0 if f.name == "num_redundant_experts" else 1
        if value < least:
            faults.append(f"`{f.name}` must be at least {least}: {value}.")
    if faults:
        return tuple(faults)
    tp, pp, ep = int(layout.tp), int(layout.pp), int(layout.ep)
    heads, kv_heads = head_counts(arch)
    faults += [
        f"`tp` must divide {n} heads: tp={tp}. Use one of {_divisors(n)}."
        for n in sorted(heads)
        if n % tp
    ]
    faults += [
        f"`tp` must divide num_key_value_heads or be a multiple of it: tp={tp},"
        f" num_key_value_heads={n}. Use {_around(n)}."
        for n in sorted(kv_heads)
        if n % tp and tp % n
    ]
    if pp > arch.num_layers:
        faults.append(
            f"`pp` must be at most the number of layers: pp={pp}, layers={arch.num_layers}."
        )
    return (*faults, *_expert_faults(arch, layout, ep))


def _expert_faults(arch: Architecture, layout: Layout, ep: int) -> list[str]:
    experts = expert_counts(arch)
    if ep > 1 and not experts:
        return [f"`ep` needs routed experts, and {arch.name} has none: ep={ep}. Use ep=1."]
    stage = int(layout.tp * layout.cp * layout.dp)
    faults: list[str] = []
    if stage % ep:
        faults.append(
            f"`ep` must divide tp·cp·dp = {stage}: ep={ep}. Use one of {_divisors(stage)}."
        )
    for n in sorted(experts):
        physical = n + int(layout.num_redundant_experts)
        if physical % ep:
            faults.append(
                f"`ep` must divide the {physical} physical experts: ep={ep}. Add"
                f" {-physical % ep} redundant experts, or use one of {_divisors(n)}."
            )
    return faults


def default_layout(arch: Architecture, num_devices: int, scale_up: int) -> Layout:
    """Return a plain layout for `num_devices`: what an engine starts with, not a search.

    Dense: tensor parallel inside the scale-up domain, as far as heads divide, the rest data
    parallel. Mixtures on up to 8 devices: the same, every device an expert rank; on more:
    attention data parallel, experts filled up with copies until they divide.
    """
    heads, kv_heads = head_counts(arch)
    common = math.gcd(*heads) if heads else num_devices
    limit = math.gcd(common, num_devices)
    tp = max(
        t
        for t in range(1, min(limit, max(scale_up, 1)) + 1)
        if limit % t == 0 and all(n % t == 0 or t % n == 0 for n in kv_heads)
    )
    experts = expert_counts(arch)
    if not experts:
        return Layout(tp=tp, dp=num_devices // tp)
    ep = math.gcd(num_devices, *experts)
    if num_devices > _NODE:
        redundant = -min(experts) % num_devices
        return Layout(dp=num_devices, ep=num_devices, num_redundant_experts=redundant)
    return Layout(tp=tp, dp=num_devices // tp, ep=ep)


def _divisors(n: int) -> str:
    return ", ".join(str(d) for d in range(1, n + 1) if n % d == 0)


def _around(n: int) -> str:
    return ", ".join(str(d) for d in range(1, n + 1) if n % d == 0) + f", {2 * n} or {4 * n}"
