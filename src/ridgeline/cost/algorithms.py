"""What each collective algorithm sends over each tier: steps and bytes, no time.

`ring_ll` and `pairwise_ll` send what `ring` and `pairwise` send, by the low-latency protocol of
the library (flags in the data instead of fences): a smaller launch, a smaller share of the link.
`one_copy` sends what `hierarchical` sends, by kernels for racks of one scale-up domain.

Legend: S payload; n ranks; m_i ranks under one unit of tier i; b_i = m_{i-1} ranks under one
unit below (b_0 = 1); q_i = m_i/b_i. Bytes are per device and direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgeline.cost.routing import expected_domains
from ridgeline.cost.topology import Pattern, hops
from ridgeline.hardware.records import Cluster
from ridgeline.model.work import Message, Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One algorithm: per tier, innermost first, its steps, bytes and who talks to whom."""

    name: str
    steps: tuple[Number, ...]
    """Messages that wait for each other, in hops."""
    bytes: tuple[Number, ...]
    patterns: tuple[Pattern, ...]
    own_bytes: Number
    """What a rank copies to itself."""
    overlapped: bool
    """Chunks flow through the tiers together: the slowest tier counts, not the sum."""
    mapped: bool = False
    """A kernel of a serving engine over memory that devices map of each other."""


def plans(message: Message, cluster: Cluster, members: tuple[Number, ...]) -> list[Plan]:
    """Return the candidate algorithms of one collective.

    Args:
        message: Kind, payload and group.
        cluster: Its tiers and topologies.
        members: m_i (cost.topology.ranks_per_tier).
    """
    build = _Builder(message, cluster, members)
    if message.kind == "all_reduce":
        return build.all_reduce()
    if message.kind == "all_to_all":
        return build.all_to_all()
    if message.kind == "point_to_point":
        return [build.point_to_point()]
    # An all-gather moves what a reduce-scatter of the gathered buffer moves, backwards.
    whole = message.payload_bytes
    if message.kind == "all_gather":
        whole = np.multiply(whole, message.group)
    return [
        build.ring("ring", whole, 1),
        build.ring("ring_ll", whole, 1),
        build.direct("direct", whole, 1),
    ]


class _Builder:
    """The tiers of one group, and the algorithms laid over them."""

    def __init__(self, message: Message, cluster: Cluster, members: tuple[Number, ...]) -> None:
        self.message = message
        self.payload = message.payload_bytes
        self.group = message.group
        self.tiers = cluster.tiers
        self.members = members
        self.below: tuple[Number, ...] = (np.ones_like(members[0]), *members[:-1])
        self.units = tuple(
            np.ceil(np.divide(m, b)) for m, b in zip(members, self.below, strict=True)
        )

    def _hops(self, index: int, pattern: Pattern) -> Number:
        return hops(self.tiers[index], self.members[index], pattern)

    def ring(self, name: str, whole: Number, passes: int) -> Plan:
        """`passes` rings through all ranks: (n−1)/n of the buffer over every edge.

        Of the n edges n/b − n/m cross tier i; one ring per rank of a unit shares its links.
        """
        n = self.group
        bytes_ = tuple(
            passes * (q > 1) * np.divide(np.subtract(n, 1), n) * whole / b
            for q, b in zip(self.units, self.below, strict=True)
        )
        steps = tuple(
            passes * np.maximum(0.0, np.ceil(np.divide(n, b)) - np.ceil(np.divide(n, m)))
            for m, b in zip(self.members, self.below, strict=True)
        )
        own = passes * np.divide(whole, n)
        return self._plan(name, steps, bytes_, "neighbour", overlapped=True, own=own)

    def direct(
        self,
        name: str,
        whole: Number,
        passes: int,
        *,
        mapped: bool = False,
        overlapped: bool = False,
    ) -> Plan:
        """Tier after tier, everybody to everybody at once: (q−1)/q of what is left there."""
        bytes_ = tuple(
            passes * (q - 1) / q * whole / b for q, b in zip(self.units, self.below, strict=True)
        )
        steps = tuple(passes * (q > 1) * self._hops(i, "spread") for i, q in enumerate(self.units))
        own = passes * np.divide(whole, self.group)
        return self._plan(
            name, steps, bytes_, "spread", overlapped=overlapped, own=own, mapped=mapped
        )

    def all_reduce(self) -> list[Plan]:
        """Ring, double binary trees, one- and two-shot, hierarchical, in-network where it can."""
        whole = self.payload
        found = [
            self.ring("ring", whole, 2),
            self.ring("ring_ll", whole, 2),
            *self._trees(whole),
            self._one_shot(whole),
            self.direct("hierarchical", whole, 2, overlapped=True),
            self.direct("two_shot", whole, 2, mapped=True),
        ]
        if any(tier.in_network_reduction for tier in self.tiers):
            found.append(self._in_network(found[-1], whole))
        return found

    def _trees(self, whole: Number) -> list[Plan]:
        """Chains inside the innermost tier, two binary trees over the others, up and down.

        2·(q−1) steps inside, 2·⌈log2 q⌉ outside. Two units swap S/b; of more, the busiest is
        inside one tree and a leaf of the other: 2·S/b. Within one host libraries build none.
        """
        if self.tiers[-1].name == "pcie" or len(self.tiers) == 1:
            return []
        outside = [2 * np.ceil(np.log2(np.maximum(1, q))) for q in self.units[1:]]
        steps = (2 * (self.units[0] - 1), *outside)
        bytes_ = tuple(
            np.clip(q - 1, 0, 2) * whole / b if i else 2 * (q - 1) / q * whole
            for i, (q, b) in enumerate(zip(self.units, self.below, strict=True))
        )
        return [self._plan("tree", steps, bytes_, "neighbour", overlapped=True)]

    def _one_shot(self, whole: Number) -> Plan:
        """Everybody sends the whole buffer to everybody: one step, (n−1)·S bytes."""
        steps = tuple((q > 1) * self._hops(i, "spread") for i, q in enumerate(self.units))
        bytes_ = tuple(
            np.subtract(m, b) * whole for m, b in zip(self.members, self.below, strict=True)
        )
        return self._plan("one_shot", steps, bytes_, "spread", overlapped=True, mapped=True)

    def _in_network(self, two_shot: Plan, whole: Number) -> Plan:
        """The switch adds and multicasts: a device sends S for its share and S/q of the sum."""
        bytes_ = tuple(
            (q > 1) * (1 + 1 / q) * whole / b if tier.in_network_reduction else other
            for tier, q, b, other in zip(
                self.tiers, self.units, self.below, two_shot.bytes, strict=True
            )
        )
        return self._plan("in_network", two_shot.steps, bytes_, "spread", overlapped=False)

    def all_to_all(self) -> list[Plan]:
        """Pairwise; with expert routing direct, or hierarchical with one copy per unit of a tier.

        Pairwise and direct send (m_i − b_i)/n of the payload over tier i. Hierarchical sends each
        token once to every distinct unit below tier i that its experts touch, and forwards:

            (S/k)·D(n/b_i)·(1 − 1/q_i), D the expected distinct units among n/b_i.

        Source: deepseek2024v3 (node-limited dispatch), first principles (D).
        """
        outward = [np.subtract(m, b) for m, b in zip(self.members, self.below, strict=True)]
        steps = tuple((q > 1) * self._hops(i, "spread") for i, q in enumerate(self.units))
        bytes_ = tuple(self.payload * part / self.group for part in outward)
        own = np.divide(self.payload, self.group)
        routing = self.message.routing
        if routing is None:
            # A library posts sends peer by peer: its start grows with every doubling of them.
            posted = tuple(
                step * np.maximum(1.0, np.ceil(np.log2(q)))
                for step, q in zip(steps, self.units, strict=True)
            )
            return [
                self._plan(name, posted, bytes_, "spread", overlapped=True, own=own)
                for name in ("pairwise", "pairwise_ll")
            ]
        found = [self._plan("direct", steps, bytes_, "spread", overlapped=True, own=own)]
        once = np.divide(self.payload, routing.top_k)
        copies = tuple(
            once
            * expected_domains(routing, np.divide(self.group, b))
            * np.where(np.greater(m, b), 1 - np.divide(b, m), 0.0)
            for m, b in zip(self.members, self.below, strict=True)
        )
        own = once * expected_domains(routing, self.group) / self.group
        found += [
            self._plan(name, steps, copies, "spread", overlapped=True, own=own)
            for name in ("hierarchical", "one_copy")
        ]
        return found

    def point_to_point(self) -> Plan:
        """One send over the outermost tier that the group spans."""
        steps: list[Number] = []
        for i, q in enumerate(self.units):
            farther = np.zeros_like(q, dtype=bool)
            for other in self.units[i + 1 :]:
                farther = farther | (other > 1)
            steps.append(np.where((q > 1) & ~farther, 1.0, 0.0))
        bytes_ = tuple(self.payload * step for step in steps)
        return self._plan("send", tuple(steps), bytes_, "pair", overlapped=True)

    def _plan(
        self,
        name: str,
        steps: tuple[Number, ...],
        bytes_: tuple[Number, ...],
        pattern: Pattern,
        *,
        overlapped: bool,
        own: Number = 0.0,
        mapped: bool = False,
    ) -> Plan:
        return Plan(
            name=name,
            steps=steps,
            bytes=bytes_,
            patterns=(pattern,) * len(self.tiers),
            own_bytes=own,
            overlapped=overlapped,
            mapped=mapped,
        )
