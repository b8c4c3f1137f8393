"""Devices, memory, networks and clusters as plain records in SI units."""

from ridgeline.hardware.records import Cluster, Device, MemoryTier, NetworkTier

__all__ = ["Cluster", "Device", "MemoryTier", "NetworkTier"]
