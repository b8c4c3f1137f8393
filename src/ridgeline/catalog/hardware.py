"""Catalogue entries become hardware records; N devices become tiers.

A cluster of n devices is cut from, or built of, a unit (a board, a rack, a pod slice): up to
the unit its inner tier is cut down, beyond it whole units are joined by the scale-out tier.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ridgeline.catalog.figures import Entry, known_quantity, quantity
from ridgeline.errors import InputError
from ridgeline.hardware import Cluster, Device, MemoryTier, NetworkTier

MAX_DEVICES = 1_000_000
_PCIE_HOST = 8
"""Devices that one host joins over PCIe, where nothing else is said."""
_PCIE_LATENCY_S = 5e-6
"""Assumed: two PCIe crossings and a copy through host memory for a small message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What a cluster is cut from: a preset, or a lone device with its own links."""

    id: str
    name: str
    num_devices: int
    tiers: tuple[NetworkTier, ...]
    flags: tuple[str, ...] = ()


def device_record(entry: Entry) -> Device:
    """Return the device of a catalogue entry; a missing memory figure raises, others stay None."""
    name = entry["id"]
    memory = entry["memory"]
    peaks = {
        fmt: quantity(figure, "peak_flop_per_s", what=f"{name} peak_flop_per_s.{fmt}")
        for fmt, figure in entry["peak_flop_per_s"].items()
        if figure.get("value") is not None
    }
    flags: list[str] = []
    if entry["confidence"] in ("low", "rumour"):
        flags.append(f"{name}: {entry['confidence']} confidence, announced or press figures")
    elif entry["confidence"] == "derived":
        flags.append(f"{name}: derived figures, see `ridgeline show device {name}`")
    return Device(
        id=name,
        name=entry["name"],
        vendor=entry["vendor"],
        peak_flop_per_s=peaks,
        memory=_memory_tier("memory", memory, f"{name} memory"),
        cache_bytes=known_quantity(entry.get("cache"), "cache", what=f"{name} cache"),
        num_cores=None if entry.get("cores") is None else int(entry["cores"]["value"]),
        tdp_w=known_quantity(entry.get("tdp"), "tdp", what=f"{name} tdp"),
        generation=entry["generation"],
        host_memory=_host_memory(entry),
        confidence=entry["confidence"],
        flags=tuple(flags),
    )


def _memory_tier(label: str, entry: Entry, what: str) -> MemoryTier:
    return MemoryTier(
        name=label,
        capacity_bytes=quantity(entry["capacity"], "capacity", what=f"{what}.capacity"),
        bandwidth_bytes_per_s=quantity(entry["bandwidth"], "bandwidth", what=f"{what}.bandwidth"),
        visible_bytes=known_quantity(entry.get("visible"), "capacity", what=f"{what}.visible"),
        inline_ecc=_holds(entry, "inline_ecc"),
    )


def _holds(entry: Entry, fact: str) -> bool:
    """Return whether an entry states a fact as true."""
    found: Entry = entry.get(fact) or {}
    return bool(found.get("value", False))


def _host_memory(entry: Entry) -> MemoryTier | None:
    """Return the device's share of host memory, no faster than the link to it."""
    if entry.get("host_memory") is None:
        return None
    name = entry["id"]
    tier = _memory_tier("host", entry["host_memory"], f"{name} host_memory")
    links = [known_quantity(entry.get(k), k, what=f"{name} {k}") for k in ("chip_to_chip", "pcie")]
    link = max((x for x in links if x is not None), default=tier.bandwidth_bytes_per_s)
    return replace(tier, bandwidth_bytes_per_s=min(tier.bandwidth_bytes_per_s, link))


def _tier(
    name: str, entry: Entry, *, size: int, what: str, dimensions: Sequence[int] = ()
) -> NetworkTier:
    tier = NetworkTier(
        name=name,
        size=size,
        bandwidth_bytes_per_s=quantity(entry["bandwidth"], "bandwidth", what=f"{what}.bandwidth"),
        latency_s=quantity(entry["latency"], "latency", what=f"{what}.latency"),
        topology=entry.get("topology", "switch"),
        oversubscription=float(entry.get("oversubscription", 1.0)),
        in_network_reduction=_holds(entry, "in_network_reduction"),
    )
    if tier.topology == "torus":
        dims = tuple(dimensions) or torus_dimensions(size, entry.get("num_dimensions", 2))
        return replace(tier, dimensions=dims)
    return tier


def torus_dimensions(num_devices: int, num_dimensions: int) -> tuple[int, ...]:
    """Return the most even extents whose product is `num_devices`, smallest first.

    >>> torus_dimensions(64, 3), torus_dimensions(32, 2), torus_dimensions(8, 3)
    ((4, 4, 4), (4, 8), (2, 2, 2))
    """
    if num_dimensions == 1:
        return (num_devices,)
    root = round(num_devices ** (1 / num_dimensions))
    first = max(d for d in range(1, root + 1) if num_devices % d == 0)
    return tuple(sorted((first, *torus_dimensions(num_devices // first, num_dimensions - 1))))


def _pcie_tier(device: Entry, size: int) -> NetworkTier:
    return NetworkTier(
        name="pcie",
        size=size,
        bandwidth_bytes_per_s=quantity(device["pcie"], "pcie", what=f"{device['id']} pcie"),
        latency_s=_PCIE_LATENCY_S,
    )


def device_unit(device: Entry) -> Unit:
    """Return a lone device as a unit as large as its scale-up domain, or its PCIe host."""
    name, title = device["id"], device["name"]
    if device.get("scale_up") is not None:
        size = device["scale_up"]["size"]
        tier = _tier("scale_up", device["scale_up"], size=size, what=f"{name} scale_up")
        return Unit(id=name, name=title, num_devices=size, tiers=(tier,))
    if known_quantity(device.get("pcie"), "pcie", what=f"{name} pcie") is not None:
        flag = "no scale-up link: devices of a host talk over PCIe, 8 to a host"
        tiers = (_pcie_tier(device, _PCIE_HOST),)
        return Unit(id=name, name=title, num_devices=_PCIE_HOST, tiers=tiers, flags=(flag,))
    return Unit(id=name, name=title, num_devices=1, tiers=())


def preset_unit(entry: Entry, device: Entry) -> Unit:
    """Return a cluster entry as a unit; its tiers come from the device unless it names its own."""
    name, size = entry["id"], entry["num_devices"]
    tiers: tuple[NetworkTier, ...] = ()
    if entry.get("tiers"):
        tiers = tuple(
            _tier(
                t["name"],
                t,
                size=t["size"],
                what=f"{name} tiers.{t['name']}",
                dimensions=t.get("dimensions", ()),
            )
            for t in entry["tiers"]
        )
        _check_sizes(name, size, tiers)
    elif size > 1:
        link: Literal["scale_up", "pcie", "scale_out"] = entry.get("link", "scale_up")
        if device.get(link) is None:
            raise InputError(f"Cluster {name}: device {device['id']} has no {link} link.")
        tiers = (_inner_tier(link, entry, device, size),)
    return Unit(id=name, name=entry["name"], num_devices=size, tiers=tiers)


def _inner_tier(link: str, entry: Entry, device: Entry, size: int) -> NetworkTier:
    if link == "pcie":
        return _pcie_tier(device, size)
    dims = entry.get("dimensions", ())
    if dims and math.prod(dims) != size:
        raise InputError(
            f"Cluster {entry['id']}: dimensions must multiply to num_devices: {dims}, {size}."
        )
    what = f"{device['id']} {link}"
    domain = device[link].get("size", size)
    tier = _tier(link, device[link], size=max(domain, size), what=what)
    return _cut(tier, size, dims)


def _check_sizes(name: str, num_devices: int, tiers: tuple[NetworkTier, ...]) -> None:
    sizes = [t.size for t in tiers]
    nested = all(b % a == 0 and b > a for a, b in itertools.pairwise(sizes))
    if not nested or sizes[-1] != num_devices:
        raise InputError(
            f"Cluster {name}: tier sizes must grow, each a multiple of the one before, up to"
            f" num_devices: sizes {sizes}, num_devices {num_devices}."
        )


def _cut(tier: NetworkTier, size: int, dimensions: Sequence[int] = ()) -> NetworkTier:
    """Return `tier` with fewer devices; a mesh loses the links to the peers that are gone."""
    if tier.topology == "torus":
        dims = tuple(dimensions) or torus_dimensions(size, len(tier.dimensions))
        return replace(tier, size=size, dimensions=dims)
    if tier.topology == "mesh" and size < tier.size:
        share = (size - 1) / (tier.size - 1)
        bandwidth = tier.bandwidth_bytes_per_s * share
        return replace(tier, size=size, bandwidth_bytes_per_s=bandwidth)
    return replace(tier, size=size)


def build_cluster(
    unit: Unit,
    device: Entry,
    num_devices: int,
    *,
    base: int,
    price: tuple[float | None, str] = (None, ""),
    dimensions: Sequence[int] = (),
) -> Cluster:
    """Return `num_devices` devices as a cut of `unit`, or as whole units joined by scale-out.

    Args:
        unit: What it is made of.
        device: Catalogue entry of the device.
        num_devices: How many.
        base: Devices that the unit's bare name stands for.
        price: Rental price [USD/h per device] and where it comes from.
        dimensions: Torus extents; the most even ones where none are given.

    Raises:
        InputError: not a whole number of units, or units that nothing joins.
    """
    whole = unit.num_devices
    if not 1 <= num_devices <= MAX_DEVICES:
        raise InputError(f"Devices must be between 1 and {MAX_DEVICES:,}: {num_devices}.")
    if num_devices <= whole:
        inner = [t for t in unit.tiers if t.size < num_devices]
        outer = next((t for t in unit.tiers if t.size >= num_devices), None)
        if num_devices > 1 and outer is not None:
            inner.append(_cut(outer, num_devices, dimensions))
        tiers = tuple(inner) if num_devices > 1 else ()
    else:
        tiers = (*unit.tiers, _scale_out(unit, device, num_devices))
    record = device_record(device)
    usd, basis = price
    cluster_id, name = _title(unit, num_devices, base)
    return Cluster(
        id=cluster_id,
        name=name,
        device=record,
        num_devices=num_devices,
        tiers=tiers,
        usd_per_device_hour=usd,
        price_basis=basis,
        flags=(*record.flags, *(unit.flags if num_devices > 1 else ())),
    )


def _title(unit: Unit, num_devices: int, base: int) -> tuple[str, str]:
    """Return an id that can be typed again, and a name."""
    if num_devices == base:
        return unit.id, unit.name
    if base == 1:
        return f"{num_devices}x{unit.id}", f"{num_devices} x {unit.name}"
    if num_devices % base == 0:
        times = num_devices // base
        return f"{unit.id}x{times}", f"{times} x ({unit.name})"
    return f"{unit.id} ({num_devices} devices)", f"{num_devices} devices of {unit.name}"


def _scale_out(unit: Unit, device: Entry, num_devices: int) -> NetworkTier:
    whole = unit.num_devices
    if num_devices % whole:
        below = num_devices // whole * whole
        raise InputError(
            f"Devices must be at most {whole} or a multiple of it for {unit.id}: {num_devices}."
            f" Use {below} or {below + whole}."
        )
    link: Mapping[str, Any] | None = device.get("scale_out")
    if link is None:
        raise InputError(
            f"{device['id']} has no scale-out network in the catalogue: at most {whole} devices"
            f" of {unit.id}, not {num_devices}."
        )
    return _tier("scale_out", link, size=num_devices, what=f"{device['id']} scale_out")
