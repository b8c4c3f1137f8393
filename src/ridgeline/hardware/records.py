"""The records: datasheet figures as printed, dense and per direction; no efficiency inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTier:
    """One kind of memory of one device."""

    name: str
    capacity_bytes: float
    bandwidth_bytes_per_s: float
    """Peak read bandwidth."""
    latency_s: float = 0.0
    visible_bytes: float | None = None
    """What programs can allocate, where the label rounds (an 80 GB H100 shows 85.5e9 bytes)."""
    inline_ecc: bool = False
    """Check bits lie among the data and are read with them: 1/16 of capacity and bandwidth."""

    @property
    def usable_bytes(self) -> float:
        """What decides what fits [B]: visible bytes where known, otherwise the label."""
        return self.capacity_bytes if self.visible_bytes is None else self.visible_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkTier:
    """One level of the network; tiers are listed innermost first."""

    name: str
    """`package`, `scale_up` or `scale_out`, or what the vendor calls it."""
    size: int
    """Devices that this tier joins (8 for an HGX board, 72 for an NVL72 rack)."""
    bandwidth_bytes_per_s: float
    """Per device and per direction, datasheet."""
    latency_s: float = 0.0
    """Of one message through the tier."""
    topology: Literal["switch", "mesh", "torus", "fat_tree", "ring"] = "switch"
    dimensions: tuple[int, ...] = ()
    """Torus extents."""
    oversubscription: float = 1.0
    """Fat tree: injection over bisection bandwidth."""
    in_network_reduction: bool = False
    """The switch can reduce (NVLink SHARP and the like)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One accelerator (or CPU) as its datasheet describes it."""

    id: str
    name: str
    vendor: str
    peak_flop_per_s: Mapping[str, float]
    """Dense peak by arithmetic format: fp32 tf32 bf16 fp16 fp8 fp6 fp4 int8 int4."""
    memory: MemoryTier
    cache_bytes: float | None = None
    """Last-level on-chip cache or SRAM."""
    num_cores: int | None = None
    """Streaming multiprocessors or compute units, which thread blocks are dealt to."""
    tdp_w: float | None = None
    generation: str = ""
    """Microarchitecture, the key of efficiency records: `hopper`, `blackwell`, `cdna3` ..."""
    host_memory: MemoryTier | None = None
    """The device's share of host memory, through the host link's bandwidth."""
    confidence: str = "high"
    """high, medium, low, derived or rumour."""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Equal devices joined by network tiers."""

    id: str
    name: str
    device: Device
    num_devices: int
    tiers: tuple[NetworkTier, ...]
    """Innermost first; the last one joins all devices."""
    usd_per_device_hour: float | None = None
    """Rental price the preset carries; None where no price is known."""
    price_basis: str = ""
    """Where that price comes from: the rule, the providers and the year."""
    flags: tuple[str, ...] = field(default=())
