"""Routing counts, ranks in nodes and racks, and where each copy of an expert lives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


_MOST_TOKENS = 1e18
"""Beyond any log of routing; larger counts are slips."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankTree:
    """Expert-parallel ranks, in order, in nodes of equal size in racks of equal size."""

    num_ranks: int
    ranks_per_node: int
    nodes_per_rack: int

    def __post_init__(self) -> None:
        """Check that ranks fill nodes and nodes fill racks."""
        for name in ("num_ranks", "ranks_per_node", "nodes_per_rack"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1: {getattr(self, name)}.")
        if self.num_ranks % self.ranks_per_node:
            raise InputError(
                f"ranks_per_node must divide {self.num_ranks} ranks: {self.ranks_per_node}. "
                f"Use a divisor such as {_divisor(self.num_ranks, self.ranks_per_node)}."
            )
        if self.num_nodes % self.nodes_per_rack:
            raise InputError(
                f"nodes_per_rack must divide {self.num_nodes} nodes: {self.nodes_per_rack}. "
                f"Use a divisor such as {_divisor(self.num_nodes, self.nodes_per_rack)}."
            )

    @property
    def num_nodes(self) -> int:
        """Nodes that hold the ranks."""
        return self.num_ranks // self.ranks_per_node

    @property
    def num_racks(self) -> int:
        """Racks that hold the nodes."""
        return self.num_nodes // self.nodes_per_rack


def _divisor(total: int, near: int) -> int:
    return max(d for d in range(1, min(near, total) + 1) if total % d == 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingLog:
    """What routers chose: tokens per layer and expert, and where they came from if known."""

    load: Floats
    """Tokens sent to each expert, [layers, experts]."""
    by_source: Floats | None = None
    """The same by the rank that sent them, [layers, source ranks, experts]; sums to `load`."""
    routes: Ints | None = None
    """Experts of single tokens, [tokens, layers, top_k]: which experts fire together."""
    route_source: Ints | None = None
    """Rank that sent each token of `routes`, [tokens]."""
    layers: tuple[int, ...] = ()
    """The model's own layer numbers; empty: 0, 1, 2 ..."""
    flags: tuple[str, ...] = ()
    """What the reader assumed."""

    def __post_init__(self) -> None:
        """Check that counts are finite, at least 0, and that no layer is silent."""
        if self.load.ndim != 2 or 0 in self.load.shape:
            raise InputError(
                f"Routing counts must be a table of layers × experts: shape {self.load.shape}."
            )
        # The comparison is false for nan, and what passes can be summed.
        bad = ~((self.load >= 0) & (self.load <= _MOST_TOKENS))
        if bad.any():
            layer, expert = (int(i[0]) for i in np.nonzero(bad))
            raise InputError(
                f"Routing counts must be finite, at least 0 and at most {_MOST_TOKENS:g}: "
                f"layer {self.layer_names[layer]}, expert {expert} has {self.load[layer, expert]}."
            )
        silent = np.flatnonzero(self.load.sum(axis=1) == 0)
        if len(silent):
            raise InputError(
                "Every layer must have routed tokens: layer "
                f"{self.layer_names[int(silent[0])]} has none. Leave dense layers out."
            )
        if self.by_source is not None and self.by_source.shape[::2] != self.load.shape:
            raise InputError(
                "Counts by source must be layers × sources × experts: "
                f"{self.by_source.shape} beside {self.load.shape} counts."
            )

    @property
    def num_layers(self) -> int:
        """Layers with experts."""
        return int(self.load.shape[0])

    @property
    def num_experts(self) -> int:
        """Routed (logical) experts per layer."""
        return int(self.load.shape[1])

    @property
    def layer_names(self) -> tuple[int, ...]:
        """The model's layer numbers."""
        return self.layers or tuple(range(self.load.shape[0]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Which expert each physical slot holds; slots are numbered rank by rank."""

    physical_to_logical: Ints
    """Expert in each slot, [layers, slots]; slot p is on rank p // slots_per_rank."""
    num_experts: int
    num_ranks: int

    @property
    def slots_per_rank(self) -> int:
        """Physical experts on each rank."""
        return int(self.physical_to_logical.shape[1]) // self.num_ranks

    @property
    def copies(self) -> Ints:
        """Physical copies of each expert, [layers, experts]."""
        table = self.physical_to_logical
        offset = table + self.num_experts * np.arange(len(table))[:, None]
        count = np.bincount(offset.reshape(-1), minlength=len(table) * self.num_experts)
        return count.reshape(len(table), self.num_experts).astype(np.int64)

    @property
    def logical_to_physical(self) -> Ints:
        """Slots of each expert, padded with -1, [layers, experts, most copies]."""
        table, copies = self.physical_to_logical, self.copies
        result = np.full((*copies.shape, int(copies.max())), -1, dtype=np.int64)
        for layer, row in enumerate(table):
            order = np.argsort(row, kind="stable")
            first = np.cumsum(copies[layer]) - copies[layer]
            experts = row[order]
            result[layer, experts, np.arange(len(row)) - first[experts]] = order
        return result

    def rank_loads(self, load: Floats) -> Floats:
        """Return the tokens each rank computes when copies share evenly, [layers, ranks]."""
        share = load / self.copies
        flat = np.take_along_axis(share, self.physical_to_logical, axis=1)
        return flat.reshape(len(flat), self.num_ranks, -1).sum(axis=2)


def initial_placement(
    num_layers: int, num_experts: int, *, num_ranks: int, num_redundant: int
) -> Placement:
    """Return the placement engines start from: slot p holds expert p mod experts.

    Raises:
        InputError: slots do not fill the ranks evenly, or there are more than anyone can use.

    Source: first principles.
    """
    slots = num_experts + num_redundant
    if num_redundant < 0:
        raise InputError(f"redundant experts must be at least 0: {num_redundant}.")
    if slots % num_ranks:
        remedy = num_redundant + -slots % num_ranks
        raise InputError(
            f"ranks must divide experts + redundant: {num_experts} + {num_redundant} slots over "
            f"{num_ranks} ranks. Use {remedy} redundant experts."
        )
    if slots > num_experts * num_ranks:
        raise InputError(
            f"redundant experts must be at most experts × (ranks - 1) = "
            f"{num_experts * (num_ranks - 1)}: {num_redundant}. More copies cannot help."
        )
    table = np.tile(np.arange(slots, dtype=np.int64) % num_experts, (num_layers, 1))
    return Placement(physical_to_logical=table, num_experts=num_experts, num_ranks=num_ranks)
