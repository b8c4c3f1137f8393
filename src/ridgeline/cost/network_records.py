"""How far below its datasheet a network runs: launch, step and bandwidth share per collective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ridgeline.cost.network_fits import FITS, SYSTEMS, Fit
from ridgeline.hardware.records import Cluster, NetworkTier
from ridgeline.model.work import CollectiveKind, Message, Number


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRecord:
    """Fitted figures of one collective on one kind of tier."""

    launch_s: float
    """Fixed time of one collective."""
    step_s: float
    """Time of one step on the measured network, its wire included."""
    wire_latency_s: float = 0.0
    """Datasheet latency of the measured wire; what a wire is slower than it is added."""
    bandwidth_share: float
    """β: share of the link's datasheet rate."""
    contention: float = 0.0
    """How much of the share is lost as more than two ranks cross the bridges of one host."""
    most_bytes_per_s: float = np.inf
    """What the kernel can push or pull, however fast the link."""
    sharpness: float = 1.0
    """p of (latency^p + wire^p)^(1/p); 1 adds the two, less than 1 blurs the knee."""
    own_share: float = 0.0
    """What a rank's own part of the buffer costs, as a share of what sending it would."""
    expert_s: float = 0.0
    """Added to the launch per routed expert: counters that are sent and polled."""
    ranks: float = np.inf
    """Largest group that was measured; 0 for a prior."""
    spread: float = 0.0
    """Half-width of the 10-90 % band of measured over fitted, as a share."""
    source: str = ""
    flags: tuple[str, ...] = ()

    def share(self, members: Number, link_bytes_per_s: Number) -> Number:
        """Return the share of the link that ranks reach: min(β, most/link) / (1 + c·(1 - 2/m)).

        Of m ranks that lie in pairs under one bridge, 1 - 2/m talk to another pair.

        Args:
            members: m, ranks on one unit of the tier.
            link_bytes_per_s: Datasheet rate.
        """
        others = 1 - 2 / np.maximum(members, 2)
        share = np.minimum(self.bandwidth_share, self.most_bytes_per_s / link_bytes_per_s)
        return share / (1 + self.contention * others)

    def step_time(self, wire_latency_s: Number) -> Number:
        """Return the time of one step [s] over a wire of this latency."""
        return self.step_s + np.maximum(0.0, np.subtract(wire_latency_s, self.wire_latency_s))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ideal(LinkRecord):
    def step_time(self, wire_latency_s: Number) -> Number:
        return np.multiply(wire_latency_s, 0.0)


RecordKind = CollectiveKind | Literal["dispatch", "combine"]
"""Expert exchanges have kernels of their own, measured apart on the way out and back."""


def record_kind(message: Message) -> RecordKind:
    """Return the key of the records that price a message."""
    if message.routing is None:
        return message.kind
    return "combine" if message.routing.returning else "dispatch"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkEfficiency:
    """One record per collective, algorithm and tier, with a prior for what nobody measured."""

    name: str
    records: Mapping[tuple[str, str, str], LinkRecord] = field(
        default_factory=dict[tuple[str, str, str], LinkRecord]
    )
    """By kind (`record_kind`), algorithm and place (`_places`)."""
    default: LinkRecord
    """Where not even the prior knows the algorithm."""
    source: str
    flags: tuple[str, ...] = ()

    def of(
        self, kind: RecordKind, algorithm: str, cluster: Cluster, tier: NetworkTier
    ) -> LinkRecord:
        """Return the record that prices one algorithm on one tier."""
        return self._find(kind, algorithm, cluster, tier) or self.default

    def known(self, kind: RecordKind, names: Sequence[str], cluster: Cluster) -> tuple[str, ...]:
        """Return the algorithms measured on the innermost tier; all names where none was.

        An algorithm without a record must not win because its prior is rosier than the
        measurements of its rivals.
        """
        tier = cluster.tiers[0]
        measured = tuple(n for n in names if self._find(kind, n, cluster, tier) is not None)
        return measured or tuple(names)

    def mapped_ranks(self, cluster: Cluster, innermost: Number) -> Number:
        """Return the most ranks that map each other's memory: at most one innermost unit's.

        The bound assumes all.
        """
        if not self.records:
            return np.inf
        place = _places(cluster, cluster.tiers[0])[0]
        in_rack = place.endswith(RACK) and ("all_reduce", "ring", place) in self.records
        key = RACK if in_rack else cluster.tiers[0].name
        return np.minimum(innermost, _MAPPED_RANKS.get(key, np.inf))

    def flags_for(
        self, kind: RecordKind, cluster: Cluster, used: Mapping[str, int]
    ) -> tuple[str, ...]:
        """Return what a reader must know about the figures used.

        Args:
            kind: The collective.
            cluster: Decides the generation.
            used: Most ranks under one unit of each tier that carries anything.
        """
        if not self.records:
            return self.flags
        found: list[str] = []
        for tier in cluster.tiers:
            ranks = used.get(tier.name)
            if ranks is None:
                continue
            most = self._measured(kind, cluster, tier)
            if not most:
                name = cluster.device.generation or cluster.device.id
                found.append(
                    f"network: {kind} over {tier.name} not measured on {name}; prior, ±50 %"
                )
            elif ranks > most:
                found.append(
                    f"network: {kind} over {tier.name} measured up to {most:g} ranks,"
                    " extrapolated beyond"
                )
        return (*self.flags, *found)

    def _measured(self, kind: RecordKind, cluster: Cluster, tier: NetworkTier) -> float:
        """Return the largest group that any algorithm of a collective was measured on."""
        names = {name for k, name, _ in self.records if k == kind}
        found = [self._find(kind, name, cluster, tier) for name in names]
        return max((r.ranks for r in found if r is not None), default=0.0)

    def _find(
        self, kind: RecordKind, algorithm: str, cluster: Cluster, tier: NetworkTier
    ) -> LinkRecord | None:
        # Chains and trees are built of the same sends as rings.
        for name in (algorithm, "ring") if algorithm == "tree" else (algorithm,):
            for place in _places(cluster, tier):
                record = self.records.get((kind, name, place))
                if record is not None:
                    return record
        return None


RACK = "@rack"
"""Ends the place of a tier that joins more devices than one board holds."""
_BOARD = 16
_MAPPED_RANKS = {"pcie": 2.0, RACK: 4.0}
"""Beyond them vLLM and SGLang leave an all-reduce to the library: more than two devices without
NVLink, more than the four of one host in a rack."""
_LIKE = {"blackwell_ultra": "blackwell"}
"""Generations whose racks have the links and switches of another's."""


def _places(cluster: Cluster, tier: NetworkTier) -> tuple[str, ...]:
    """Return where to look for records of a tier: its racks, its boards, then the prior."""
    generation = cluster.device.generation
    found = (f"{generation}:{tier.name}", f"*:{tier.name}")
    if tier.size <= _BOARD:
        return found
    return (f"{_LIKE.get(generation, generation)}:{tier.name}{RACK}", *found)


IDEAL = NetworkEfficiency(
    name="ideal",
    default=_Ideal(launch_s=0.0, step_s=0.0, bandwidth_share=1.0),
    source="first principles: no latency, all of the bandwidth",
)
"""The bound: alpha = 0, beta = 1."""

_PRIOR = LinkRecord(
    ranks=0,
    launch_s=5e-6,
    step_s=0.0,
    bandwidth_share=0.75,
    spread=0.5,
    source="assumed: launch of a kernel, the wire's latency per step, 3/4 of the link",
)

TYPICAL = NetworkEfficiency(
    name="typical",
    default=_PRIOR,
    source="mid-points of published NCCL measurements on A100 to B300; not fitted to this network",
    flags=("network: typical launch, step and bandwidth share, not calibrated for this system",),
)
"""A prior for any network."""


_SCALE_OUT = LinkRecord(
    ranks=0,
    launch_s=10e-6,
    step_s=8e-6,
    wire_latency_s=5e-6,
    bandwidth_share=0.75,
    spread=0.5,
    source="assumed: NCCL over InfiniBand takes 25 to 40 us for small messages on two nodes",
)
_UNMEASURED: tuple[tuple[CollectiveKind, str], ...] = (
    ("all_reduce", "ring"),
    ("all_reduce", "ring_ll"),
    ("all_reduce", "one_shot"),
    ("all_reduce", "two_shot"),
    ("all_reduce", "in_network"),
    ("all_gather", "ring"),
    ("all_gather", "ring_ll"),
    ("reduce_scatter", "ring"),
    ("reduce_scatter", "ring_ll"),
    ("all_to_all", "pairwise"),
    ("all_to_all", "pairwise_ll"),
    ("point_to_point", "send"),
)
"""Collectives over scale-out that have only a prior."""


_LINK_BYTES_PER_S = {
    "ampere:scale_up": 300e9,
    "hopper:scale_up": 450e9,
    "hopper:scale_out": 50e9,
    "blackwell:scale_up": 900e9,
    "blackwell_ultra:scale_up": 900e9,
    "ada:pcie": 31.5e9,
    "blackwell_rtx:pcie": 63e9,
}
"""Rate of the measured links, per device and direction."""
_KERNEL_BOUND = frozenset({"one_shot", "hierarchical"})
"""Measured at the same B/s on links of 300, 450 and 900 GB/s: 140 to 235 and 270 to 360 GB/s."""


_HOSTS_APART = 0.3
"""Half-width of the 10-90 % band of other hosts and library versions than the fitted ones: their
published times are off by a median of 17 % (docs/validation.md); 1.28/0.674 times that is 31 %."""


def _record(f: Fit) -> LinkRecord:
    return LinkRecord(
        launch_s=f.launch_us * 1e-6,
        step_s=f.step_us * 1e-6,
        wire_latency_s=f.wire_us * 1e-6,
        bandwidth_share=f.bandwidth_share,
        contention=f.contention,
        sharpness=f.sharpness,
        own_share=f.own_share,
        expert_s=f.expert_us * 1e-6,
        ranks=f.ranks,
        spread=float(np.hypot(f.spread_percent / 100, _HOSTS_APART)),
        source=f"fitted to {SYSTEMS[f.place]}, median error {f.error_percent} %",
    )


def priors(
    records: Mapping[tuple[str, str, str], LinkRecord],
) -> dict[tuple[str, str, str], LinkRecord]:
    """Return for each tier the medians of its records, with a band of at least ±50 %.

    Args:
        records: By kind, algorithm and place; racks are left out.
    """
    groups: dict[tuple[str, str, str], list[tuple[LinkRecord, float]]] = {}
    for (kind, algorithm, place), record in records.items():
        tier = place.split(":")[1]
        if not tier.endswith(RACK):
            rate = record.bandwidth_share * _LINK_BYTES_PER_S[place]
            groups.setdefault((kind, algorithm, f"*:{tier}"), []).append((record, rate))
    return {key: _prior(key[1], *zip(*found, strict=True)) for key, found in groups.items()}


def _prior(algorithm: str, records: tuple[LinkRecord, ...], rates: tuple[float, ...]) -> LinkRecord:
    def median(name: str) -> float:
        return float(np.median([getattr(r, name) for r in records]))

    bound = algorithm in _KERNEL_BOUND
    return LinkRecord(
        launch_s=median("launch_s"),
        step_s=median("step_s"),
        wire_latency_s=median("wire_latency_s"),
        bandwidth_share=_PRIOR.bandwidth_share if bound else median("bandwidth_share"),
        most_bytes_per_s=float(np.median(rates)) if bound else np.inf,
        contention=median("contention"),
        sharpness=median("sharpness"),
        own_share=median("own_share"),
        expert_s=median("expert_s"),
        ranks=0,
        spread=max(0.5, *(r.spread for r in records)),
        source=f"median of {len(records)} measured systems",
    )


def _fitted() -> dict[tuple[str, str, str], LinkRecord]:
    """Records of the fits, and priors for every other system."""
    records = {(f.kind, f.algorithm, f.place): _record(f) for f in FITS}
    unmeasured = {(k, name, "*:scale_out"): _SCALE_OUT for k, name in _UNMEASURED}
    return {**unmeasured, **priors(records), **records}


CALIBRATED = NetworkEfficiency(
    name="calibrated",
    records=_fitted(),
    default=_PRIOR,
    source="cost/network_fits.py: NCCL, custom all-reduce and DeepEP measurements",
)
"""Fitted to measurements where there are any; else their median; else the prior."""
