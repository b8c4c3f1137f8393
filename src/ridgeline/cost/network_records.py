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
    sharpness: float = 1.0
    """p of (latency^p + wire^p)^(1/p); 1 adds the two, less than 1 blurs the knee."""
    own_share: float = 0.0
    """What a rank's own part of the buffer costs, as a share of what sending it would."""
    expert_s: float = 0.0
    """Added to the launch per routed expert: counters that are sent and polled."""
    spread: float = 0.0
    """Half-width of the 10-90 % band of measured over fitted, as a share."""
    source: str = ""
    flags: tuple[str, ...] = ()

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
    """By kind (`record_kind`), algorithm and `generation:tier`; `*:tier` is the prior of a tier."""
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
        generation = cluster.device.generation
        seen = {(k, key) for k, _, key in self.records}
        found: list[str] = []
        for tier, ranks in used.items():
            if (kind, f"{generation}:{tier}") not in seen:
                name = generation or cluster.device.id
                found.append(f"network: {kind} over {tier} not measured on {name}; prior, ±50 %")
            elif ranks > MEASURED_RANKS.get(tier, 0):
                most = MEASURED_RANKS.get(tier, 0)
                found.append(
                    f"network: {kind} over {tier} measured up to {most} ranks, extrapolated beyond"
                )
        return (*self.flags, *found)

    def _find(
        self, kind: RecordKind, algorithm: str, cluster: Cluster, tier: NetworkTier
    ) -> LinkRecord | None:
        # Chains and trees are built of the same sends as rings.
        for name in (algorithm, "ring") if algorithm == "tree" else (algorithm,):
            for where in (cluster.device.generation, "*"):
                record = self.records.get((kind, name, f"{where}:{tier.name}"))
                if record is not None:
                    return record
        return None


IDEAL = NetworkEfficiency(
    name="ideal",
    default=_Ideal(launch_s=0.0, step_s=0.0, bandwidth_share=1.0),
    source="first principles: no latency, all of the bandwidth",
)
"""The bound: alpha = 0, beta = 1."""

_PRIOR = LinkRecord(
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
    launch_s=10e-6,
    step_s=8e-6,
    wire_latency_s=5e-6,
    bandwidth_share=0.75,
    spread=0.5,
    source="assumed: NCCL over InfiniBand takes 25 to 40 us for small messages on two nodes",
)
MEASURED_RANKS = {"scale_up": 8, "pcie": 8, "scale_out": 64}
"""Largest group that the fits have seen on a tier; beyond it they extrapolate."""
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


def _fitted() -> dict[tuple[str, str, str], LinkRecord]:
    """Records of the fits, and for each tier their medians with a band of at least ±50 %."""
    records = {
        (f.kind, f.algorithm, f"{f.generation}:{f.tier}"): LinkRecord(
            launch_s=f.launch_us * 1e-6,
            step_s=f.step_us * 1e-6,
            wire_latency_s=f.wire_us * 1e-6,
            bandwidth_share=f.bandwidth_share,
            sharpness=f.sharpness,
            own_share=f.own_share,
            expert_s=f.expert_us * 1e-6,
            spread=f.spread_percent / 100,
            source=f"fitted to {SYSTEMS[f.generation]}, median error {f.error_percent} %",
        )
        for f in FITS
    }
    for kind, algorithm in _UNMEASURED:
        records[kind, algorithm, "*:scale_out"] = _SCALE_OUT
    groups: dict[tuple[str, str, str], list[Fit]] = {}
    for f in FITS:
        groups.setdefault((f.kind, f.algorithm, f"*:{f.tier}"), []).append(f)
    for key, fits in groups.items():
        records[key] = LinkRecord(
            launch_s=float(np.median([f.launch_us for f in fits])) * 1e-6,
            step_s=float(np.median([f.step_us for f in fits])) * 1e-6,
            wire_latency_s=float(np.median([f.wire_us for f in fits])) * 1e-6,
            bandwidth_share=float(np.median([f.bandwidth_share for f in fits])),
            sharpness=float(np.median([f.sharpness for f in fits])),
            own_share=float(np.median([f.own_share for f in fits])),
            expert_s=float(np.median([f.expert_us for f in fits])) * 1e-6,
            spread=max(0.5, *(f.spread_percent / 100 for f in fits)),
            source="median of " + ", ".join(SYSTEMS[f.generation] for f in fits),
        )
    return records


CALIBRATED = NetworkEfficiency(
    name="calibrated",
    records=_fitted(),
    default=_PRIOR,
    source="cost/network_fits.py: NCCL, custom all-reduce and DeepEP measurements",
)
"""Fitted to measurements where there are any; else their median; else the prior."""
