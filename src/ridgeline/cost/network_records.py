"""How far below its datasheet a network runs: launch, step and bandwidth share per collective."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ridgeline.hardware.records import Cluster, NetworkTier
from ridgeline.model.work import CollectiveKind, Number


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRecord:
    """Fitted figures of one collective on one kind of tier."""

    launch_s: float
    """Fixed time of one collective."""
    step_s: float
    """Time of one step, the wire's latency included; a slower wire than this counts instead."""
    bandwidth_share: float
    """β: share of the link's datasheet rate."""
    sharpness: float = 1.0
    """p of (latency^p + wire^p)^(1/p); 1 adds the two, less than 1 blurs the knee."""
    spread: float = 0.0
    """Half-width of the 10-90 % band of measured over fitted, as a share."""
    source: str = ""
    flags: tuple[str, ...] = ()

    def step_time(self, wire_latency_s: Number) -> Number:
        """Return the time of one step [s]: the fitted one, or the wire's if that is longer."""
        return np.maximum(self.step_s, wire_latency_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ideal(LinkRecord):
    def step_time(self, wire_latency_s: Number) -> Number:
        return np.multiply(wire_latency_s, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkEfficiency:
    """One record per (collective, algorithm, tier), with a fallback."""

    name: str
    records: Mapping[tuple[str, str, str], LinkRecord] = field(
        default_factory=dict[tuple[str, str, str], LinkRecord]
    )
    """By collective kind, algorithm and tier class (`generation:tier`)."""
    default: LinkRecord
    source: str
    flags: tuple[str, ...] = ()

    def of(
        self, kind: CollectiveKind, algorithm: str, cluster: Cluster, tier: NetworkTier
    ) -> LinkRecord:
        """Return the record that prices one algorithm on one tier."""
        key = (kind, algorithm, f"{cluster.device.generation}:{tier.name}")
        return self.records.get(key, self.default)

    def flags_for(self, kind: CollectiveKind, cluster: Cluster) -> tuple[str, ...]:
        """Return what a reader must know about the figures used."""
        del kind, cluster
        return self.flags


IDEAL = NetworkEfficiency(
    name="ideal",
    default=_Ideal(launch_s=0.0, step_s=0.0, bandwidth_share=1.0),
    source="first principles: no latency, all of the bandwidth",
)
"""The bound: alpha = 0, beta = 1."""

TYPICAL = NetworkEfficiency(
    name="typical",
    default=LinkRecord(launch_s=5e-6, step_s=2e-6, bandwidth_share=0.75, spread=0.5),
    source="mid-points of published NCCL measurements on A100 to B300; not fitted to this network",
    flags=("network: typical launch, step and bandwidth share, not calibrated for this system",),
)
"""A prior for any network."""
