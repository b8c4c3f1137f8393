"""Curves, links and engines measured by the user, over those that ship.

The shipped efficiency stays as it is: an `OwnEfficiency` answers with the user's curve where one
was fitted for the kind of kernel, the format and the very device, and with the shipped one
elsewhere. Nothing is moved between devices: a curve holds for the device it was measured on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeline.cost.efficiency import MOST_DECODE_TOKENS, Curve, Efficiency
from ridgeline.cost.engines import EngineProfile
from ridgeline.cost.kernel_forms import kernel_form
from ridgeline.cost.network_records import LinkRecord, NetworkEfficiency, RecordKind
from ridgeline.hardware.records import Cluster, Device, NetworkTier
from ridgeline.model.work import Operation

FIGURES = tuple(f.name for f in fields(Curve) if f.name != "spread")
"""Fields of a curve that are fitted."""
_MOST_LINK_SHARE = 1.0
_ENGINE_KERNELS = frozenset({"one_shot", "two_shot"})
"""Kernels of serving engines beside the library that users measure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCurve:
    """One curve of one device."""

    kind: str
    """As in `Efficiency.records`: attention has `_decode` and `_prefill` apart."""
    form: str
    """As `kernel_form` says it."""
    device: str
    """Its id."""
    curve: Curve
    up_to: float = np.inf
    """Holds to this many rows of a GEMM, or cached tokens of attention: libraries switch kernels
    with size. Of several that hold, the one with the smallest reach does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLink:
    """What a library's messages of one kind take beside the shipped records."""

    kind: str
    device: str
    latency_ratio: float = 1.0
    """Launch and steps over the shipped ones."""
    bandwidth_ratio: float = 1.0
    """Share of the link over the shipped one; never above the whole link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnEngine:
    """What an engine adds to the kernels on the user's device."""

    engine: str
    device: str
    layer_s: float
    """Small kernels per layer, those of routed experts included."""
    sequence_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Everything one user measured."""

    curves: tuple[OwnCurve, ...] = ()
    links: tuple[OwnLink, ...] = ()
    engines: tuple[OwnEngine, ...] = ()
    source: str = "own measurements"

    def over(self, other: Calibration) -> Calibration:
        """Return both, this one where they disagree."""
        curves = {(c.kind, c.form, c.device) for c in self.curves}
        kept = tuple(c for c in other.curves if (c.kind, c.form, c.device) not in curves)
        links = {(x.kind, x.device): x for x in (*other.links, *self.links)}
        engines = {(e.engine, e.device): e for e in (*other.engines, *self.engines)}
        used = [c.source for c in (self, other) if c.curves or c.links or c.engines]
        return Calibration(
            curves=(*kept, *self.curves),
            links=tuple(links.values()),
            engines=tuple(engines.values()),
            source=" and ".join(used) or self.source,
        )

    def engine(self, name: str, device: str) -> OwnEngine | None:
        """Return the engine fitted on a device, if one was."""
        return next((e for e in self.engines if (e.engine, e.device) == (name, device)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnEfficiency(Efficiency):
    """An efficiency with the user's curves on top."""

    own: tuple[OwnCurve, ...] = ()

    def curve(self, operation: Operation, device: Device) -> Curve:
        """Return the curve of an operation; arrays take each point's own where curves part."""
        # Named, because a slotted dataclass is not the class that super() would look for.
        found = Efficiency.curve(self, operation, device)
        mine = self._of(operation, device)
        for record in sorted(mine, key=lambda c: -c.up_to):
            holds = _holds(record, operation)
            if np.all(holds):
                found = self._drawn(operation.family, record.curve)
            elif np.any(holds):
                found = _chosen(holds, self._drawn(operation.family, record.curve), found)
        return found

    def flag(self, operation: Operation, device: Device) -> str | None:
        """Return the flag of the shipped curve, none where the user's own hold everywhere."""
        held = [_holds(record, operation) for record in self._of(operation, device)]
        if held and np.all(np.any(np.stack(np.broadcast_arrays(*held)), axis=0)):
            return None
        return Efficiency.flag(self, operation, device)

    def _of(self, operation: Operation, device: Device) -> list[OwnCurve]:
        form = kernel_form(operation, device)
        kinds = {operation.family, f"{operation.family}_decode", f"{operation.family}_prefill"}
        if operation.family == "embedding":
            kinds.add("elementwise")
        return [c for c in self.own if c.device == device.id and c.kind in kinds and c.form == form]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnNetwork(NetworkEfficiency):
    """Network records with the user's ratios on top."""

    own: Mapping[tuple[str, str], OwnLink] = field(default_factory=dict[tuple[str, str], OwnLink])
    """By kind and device."""

    def of(
        self, kind: RecordKind, algorithm: str, cluster: Cluster, tier: NetworkTier
    ) -> LinkRecord:
        """Return the shipped record, with the user's ratios for this kind and device."""
        record = NetworkEfficiency.of(self, kind, algorithm, cluster, tier)
        mine = self.own.get((kind, cluster.device.id))
        if mine is None or algorithm in _ENGINE_KERNELS:
            return record
        share = record.bandwidth_share * mine.bandwidth_ratio
        return replace(
            record,
            launch_s=record.launch_s * mine.latency_ratio,
            step_s=record.step_s * mine.latency_ratio,
            bandwidth_share=min(share, max(_MOST_LINK_SHARE, record.bandwidth_share)),
        )


def with_curves(efficiency: Efficiency, calibration: Calibration, device: str = "") -> Efficiency:
    """Return the efficiency with the user's curves on top; itself where there are none.

    Args:
        efficiency: As shipped.
        calibration: The user's.
        device: Flags then say what of it holds on this device.
    """
    flags = (*efficiency.flags, *(_flags(calibration, device) if device else ()))
    if not calibration.curves:
        return replace(efficiency, flags=flags) if flags != efficiency.flags else efficiency
    shipped: dict[str, Any] = {f.name: getattr(efficiency, f.name) for f in fields(Efficiency)}
    shipped["source"] = f"{calibration.source}; elsewhere {efficiency.source}"
    shipped["flags"] = flags
    return OwnEfficiency(**shipped, own=calibration.curves)


def _flags(calibration: Calibration, device: str) -> tuple[str, ...]:
    held = (*calibration.curves, *calibration.links, *calibration.engines)
    if not held:
        return ()
    mine = [
        *(c.kind.replace("_", " ") for c in calibration.curves if c.device == device),
        *(x.kind.replace("_", " ") for x in calibration.links if x.device == device),
    ]
    if mine:
        return (f"efficiency: {', '.join(dict.fromkeys(mine))} from {calibration.source}",)
    if any(e.device == device for e in calibration.engines):
        return ()
    return (f"calibration: nothing in {calibration.source} is of {device}; shipped figures hold",)


def with_links(network: NetworkEfficiency, calibration: Calibration) -> NetworkEfficiency:
    """Return the network records with the user's ratios on top."""
    if not calibration.links:
        return network
    shipped: dict[str, Any] = {f.name: getattr(network, f.name) for f in fields(NetworkEfficiency)}
    shipped["source"] = f"{calibration.source}; elsewhere {network.source}"
    return OwnNetwork(**shipped, own={(x.kind, x.device): x for x in calibration.links})


def with_engine(
    profile: EngineProfile | None, calibration: Calibration, device: str
) -> EngineProfile | None:
    """Return the profile with the user's own times where they were fitted on this device."""
    mine = None if profile is None else calibration.engine(profile.name, device)
    if profile is None or mine is None:
        return profile
    return replace(
        profile,
        layer_s=mine.layer_s,
        expert_layer_s=0.0,
        older_layer_s={},
        sequence_s=mine.sequence_s,
        source=calibration.source,
        flags=(f"engine: times of {profile.name} on {device} from {calibration.source}",),
    )


def _holds(record: OwnCurve, operation: Operation) -> NDArray[np.bool_]:
    """Return where a curve holds: few or many new tokens, and sizes within its reach."""
    size = operation.shape.get("context" if "attention" in record.kind else "m", 0.0)
    within = np.asarray(np.less_equal(size, record.up_to))
    many = np.asarray(np.greater(operation.shape.get("new_tokens", 1), MOST_DECODE_TOKENS))
    if record.kind.endswith("_decode"):
        return within & ~many
    return within & many if record.kind.endswith("_prefill") else within


def _chosen(where: NDArray[np.bool_], first: Curve, second: Curve) -> Curve:
    figures: dict[str, Any] = {
        n: np.where(where, getattr(first, n), getattr(second, n)) for n in FIGURES
    }
    return Curve(**figures, spread=max(first.spread, second.spread))
