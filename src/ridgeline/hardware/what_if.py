"""The same cluster with one figure changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from ridgeline.errors import InputError
from ridgeline.hardware.records import Cluster, MemoryTier, NetworkTier

Figure = Literal[
    "memory_bandwidth",
    "peak",
    "capacity",
    "scale_up_bandwidth",
    "scale_out_bandwidth",
    "latency",
    "scale_up_size",
]
UNITS: dict[Figure, str] = {
    "memory_bandwidth": "B/s",
    "peak": "FLOP/s",
    "capacity": "B",
    "scale_up_bandwidth": "B/s",
    "scale_out_bandwidth": "B/s",
    "latency": "s",
    "scale_up_size": "1",
}
"""Family of `units.parse_quantity` of each figure."""


def figure_value(cluster: Cluster, figure: Figure) -> float:
    """Return what a figure is now, in SI units: the widest peak, the outermost latency.

    Raises:
        InputError: the cluster has no such network tier.
    """
    device = cluster.device
    if figure == "memory_bandwidth":
        return device.memory.bandwidth_bytes_per_s
    if figure == "capacity":
        return device.memory.capacity_bytes
    if figure == "peak":
        return max(device.peak_flop_per_s.values())
    tier = cluster.tiers[_tier(cluster, figure)]
    if figure == "scale_up_size":
        return float(tier.size)
    return tier.latency_s if figure == "latency" else tier.bandwidth_bytes_per_s


def what_if(cluster: Cluster, figure: Figure, value: float) -> Cluster:
    """Return `cluster` with one figure at `value`; everything else, price included, stays.

    A peak scales all formats alike and a latency all tiers alike, so that the named one reaches
    `value`. A scale-up domain of the size of an outer tier or more replaces that tier.

    Args:
        cluster: As it is.
        figure: What changes.
        value: SI units.

    Raises:
        InputError: not above 0, no such tier, or a scale-up domain that the cluster's devices
            outgrow.
    """
    # Not <: NaN must be refused too.
    if not 0 < value < 1e30:
        raise InputError(f"{figure} must be above 0: {value}.")
    device = cluster.device
    if figure == "memory_bandwidth":
        return _with_memory(cluster, replace(device.memory, bandwidth_bytes_per_s=value))
    if figure == "capacity":
        return _with_memory(cluster, _resized(device.memory, value))
    ratio = value / figure_value(cluster, figure)
    if figure == "peak":
        peaks = {k: v * ratio for k, v in device.peak_flop_per_s.items()}
        return replace(cluster, device=replace(device, peak_flop_per_s=peaks))
    if figure == "scale_up_size":
        return _with_scale_up_size(cluster, value)
    if figure == "latency":
        tiers = [replace(t, latency_s=t.latency_s * ratio) for t in cluster.tiers]
    else:
        changed = _tier(cluster, figure)
        tiers = [
            replace(t, bandwidth_bytes_per_s=value) if i == changed else t
            for i, t in enumerate(cluster.tiers)
        ]
    return replace(cluster, tiers=tuple(tiers))


def _resized(memory: MemoryTier, capacity_bytes: float) -> MemoryTier:
    """Return `memory` with another capacity; what programs see of it keeps its share."""
    visible = memory.visible_bytes
    if visible is not None:
        visible *= capacity_bytes / memory.capacity_bytes
    return replace(memory, capacity_bytes=capacity_bytes, visible_bytes=visible)


def _with_memory(cluster: Cluster, memory: MemoryTier) -> Cluster:
    return replace(cluster, device=replace(cluster.device, memory=memory))


def _with_scale_up_size(cluster: Cluster, value: float) -> Cluster:
    if value != int(value):
        raise InputError(f"scale_up_size must be a whole number of devices: {value:g}.")
    at = _tier(cluster, "scale_up_size")
    outer = tuple(t for t in cluster.tiers[at + 1 :] if t.size > value)
    if not outer and value < cluster.num_devices:
        raise InputError(
            f"scale_up_size of {value:g} needs a scale-out network for {cluster.num_devices}"
            f" devices, and {cluster.id} has none. Use a cluster of several nodes, such as"
            f" {cluster.id}x2, and --devices {cluster.num_devices}."
        )
    domain = replace(cluster.tiers[at], size=int(value))
    return replace(cluster, tiers=(*cluster.tiers[:at], domain, *outer))


def _tier(cluster: Cluster, figure: Figure) -> int:
    """Return the tier meant: scale-up is `scale_up` or else the innermost, scale-out the last."""
    tiers: tuple[NetworkTier, ...] = cluster.tiers
    if not tiers:
        raise InputError(f"{cluster.id} has no network, so no {figure} to change.")
    if figure in {"scale_up_bandwidth", "scale_up_size"}:
        return next((i for i, t in enumerate(tiers) if t.name == "scale_up"), 0)
    if figure == "scale_out_bandwidth" and len(tiers) < 2:
        raise InputError(
            f"{cluster.id} has no scale-out network. Name a cluster of several nodes, such as"
            f" {cluster.id}x2."
        )
    return len(tiers) - 1
