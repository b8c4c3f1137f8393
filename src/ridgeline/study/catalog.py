"""What is in the catalogue: names with their main figures, entries with every source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ridgeline.catalog import Catalog, Kind
from ridgeline.catalog.figures import Entry, figures
from ridgeline.catalog.store import builtin_sources
from ridgeline.hardware import Device
from ridgeline.model.formats import ALIASES, FORMATS
from ridgeline.model.params import count_parameters
from ridgeline.study.resolve import open_catalog, resolve_cluster, resolve_model

ListKind = Literal["devices", "clusters", "models", "prices", "formats"]
ShowKind = Literal["device", "cluster", "price"]
_BYTES_PER_WEIGHT = {"bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "fp4": 0.5}
_SHELF: dict[str, Kind] = {"device": "devices", "cluster": "clusters", "price": "rental"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Rows of one kind, by id."""

    kind: ListKind
    rows: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure as it stands in the catalogue."""

    field: str
    value: str | bool | None
    kind: str
    source: str
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrySheet:
    """One entry: facts, figures with sources, what follows from them."""

    kind: ShowKind
    id: str
    name: str
    origin: str
    """`built in`, or the user's file."""
    facts: Mapping[str, Any]
    figures: Sequence[Figure]
    derived: Mapping[str, float | int | None]
    """SI units in the names."""
    sources: Mapping[str, str]
    """Address or title of each source key used."""
    tiers: Sequence[Mapping[str, Any]] = ()
    note: str | None = None
    flags: tuple[str, ...] = ()


def list_entries(kind: ListKind, pattern: str = "", catalog_dir: Path | None = None) -> Listing:
    """Return the entries of a kind whose id or another name contains `pattern`."""
    wanted = pattern.strip().lower()
    if kind == "formats":
        return Listing(kind=kind, rows=[_format_row(n) for n in sorted(FORMATS) if wanted in n])
    catalog = open_catalog(catalog_dir)
    shelf: Kind = "rental" if kind == "prices" else kind
    hits = {name for other, name in catalog.names(shelf).items() if wanted in other}
    row: dict[str, Callable[[Catalog, str], Mapping[str, Any]]] = {
        "devices": _device_row,
        "clusters": _cluster_row,
        "models": _model_row,
        "prices": _price_row,
    }
    return Listing(kind=kind, rows=[row[kind](catalog, name) for name in sorted(hits)])


def _device_row(catalog: Catalog, name: str) -> Mapping[str, Any]:
    device = catalog.device(name)
    peaks = device.peak_flop_per_s
    return {
        "id": name,
        "vendor": device.vendor,
        "peak_16_bit_flop_per_s": peaks.get("bf16", peaks.get("fp16")),
        "peak_fp8_flop_per_s": peaks.get("fp8"),
        "memory_bytes": device.memory.capacity_bytes,
        "bandwidth_bytes_per_s": device.memory.bandwidth_bytes_per_s,
        "drain_time_s": _drain_time_s(device),
        "usd_per_device_hour": catalog.price(name)[0],
        "confidence": device.confidence,
    }


def _cluster_row(catalog: Catalog, name: str) -> Mapping[str, Any]:
    cluster = resolve_cluster(name, catalog=catalog)
    inner = cluster.tiers[0] if cluster.tiers else None
    return {
        "id": name,
        "device": cluster.device.id,
        "num_devices": cluster.num_devices,
        "memory_bytes": cluster.num_devices * cluster.device.memory.capacity_bytes,
        "link": inner.name if inner else None,
        "topology": inner.topology if inner else None,
        "link_bytes_per_s": inner.bandwidth_bytes_per_s if inner else None,
        "usd_per_device_hour": cluster.usd_per_device_hour,
    }


def _model_row(catalog: Catalog, name: str) -> Mapping[str, Any]:
    entry = catalog.entry("models", name)
    arch = resolve_model(name, catalog)
    counts = count_parameters(arch)
    return {
        "id": name,
        "owner": (entry.get("hub") or "/").split("/")[0] or None,
        "hub": entry.get("hub"),
        "num_params": counts.num_params,
        "num_active_params": counts.num_active_params,
        "num_layers": arch.num_layers,
        "max_position_embeddings": arch.max_position_embeddings,
        "weight_format": arch.weight_format,
    }


def _price_row(catalog: Catalog, name: str) -> Mapping[str, Any]:
    usd, basis = catalog.price(name)
    rows = catalog.entry("rental", name)["prices"]
    return {
        "id": name,
        "usd_per_device_hour": usd,
        "basis": basis,
        "num_prices": len(rows),
        "newest": max(str(r["as_of"]) for r in rows),
    }


def _format_row(name: str) -> Mapping[str, Any]:
    form = FORMATS[name]
    return {
        "id": name,
        "bits_per_weight": form.bits_per_weight,
        "compute_format": form.compute_format,
        "source": form.source,
        "aliases": ", ".join(sorted(a for a, target in ALIASES.items() if target == name)) or None,
    }


def show_entry(kind: ShowKind, name: str, catalog_dir: Path | None = None) -> EntrySheet:
    """Return one entry with the source of each figure.

    Raises:
        UnknownNameError: no such entry; the nearest names are given.
    """
    catalog = open_catalog(catalog_dir)
    if kind == "cluster":
        return _cluster_sheet(catalog, name)
    device = catalog.find("devices", name)
    entry = catalog.entry(_SHELF[kind], device["id"] if device and kind == "price" else name)
    return _device_sheet(catalog, entry) if kind == "device" else _price_sheet(catalog, entry)


def device_of(on: str, catalog_dir: Path | None = None) -> str:
    """Return the id of the device that a cluster, or a device by one of its names, stands for.

    >>> device_of("hgx-h100-8")
    'h100-sxm'
    """
    return resolve_cluster(on, catalog=open_catalog(catalog_dir)).device.id


def _figures(entry: Entry) -> list[Figure]:
    return [
        Figure(
            field=path,
            value=f["value"],
            kind=f.get("kind", ""),
            source=f["source"],
            note=f.get("note"),
        )
        for path, f in figures(entry)
    ]


def _sources(used: Sequence[str]) -> Mapping[str, str]:
    known = builtin_sources()
    return {
        key: known[key]["url"] or known[key]["title"] for key in dict.fromkeys(used) if key in known
    }


def _drain_time_s(device: Device) -> float:
    """Return capacity / bandwidth: the time to read all memory once [s]. Source: C1-F8."""
    return device.memory.capacity_bytes / device.memory.bandwidth_bytes_per_s


def _device_sheet(catalog: Catalog, entry: Entry) -> EntrySheet:
    name = entry["id"]
    device = catalog.device(name)
    shown = _figures(entry)
    usd, basis = catalog.price(name)
    derived: dict[str, float | int | None] = {"drain_time_s": _drain_time_s(device)}
    for fmt, peak in device.peak_flop_per_s.items():
        if fmt in _BYTES_PER_WEIGHT:
            bandwidth = device.memory.bandwidth_bytes_per_s
            derived[f"balance_ratio_{fmt}"] = peak / 2 * _BYTES_PER_WEIGHT[fmt] / bandwidth
    derived["usd_per_device_hour"] = usd
    facts = {k: entry[k] for k in ("vendor", "generation", "release", "confidence") if k in entry}
    facts["checked by"] = ", ".join(entry.get("checked_by", [])) or "nothing yet"
    facts["aliases"] = ", ".join(entry.get("aliases", [])) or "none"
    facts["price basis"] = basis
    return EntrySheet(
        kind="device",
        id=name,
        name=device.name,
        origin=catalog.origin("devices", name),
        facts=facts,
        figures=shown,
        derived=derived,
        sources=_sources([*(f.source for f in shown), *entry.get("checked_by", [])]),
        note=entry.get("note"),
        flags=device.flags,
    )


def _cluster_sheet(catalog: Catalog, name: str) -> EntrySheet:
    cluster = resolve_cluster(name, catalog=catalog)
    entry = catalog.find("clusters", name) or {}
    device = catalog.entry("devices", cluster.device.id)
    links = {k: device[k] for k in ("scale_up", "scale_out", "pcie") if device.get(k)}
    shown = [
        *_figures({k: v for k, v in entry.items() if k in ("tiers", "usd_per_device_hour")}),
        *_figures({"device": {"memory": device["memory"], **links}}),
    ]
    size = cluster.num_devices
    source: str = entry.get("source", "named after its device")
    facts = {
        "device": cluster.device.id,
        "devices": size,
        "source": source,
        "aliases": ", ".join(entry.get("aliases", [])) or "none",
        "price basis": cluster.price_basis,
    }
    usd = cluster.usd_per_device_hour
    derived: dict[str, float | int | None] = {
        "memory_bytes": size * cluster.device.memory.capacity_bytes,
        "bandwidth_bytes_per_s": size * cluster.device.memory.bandwidth_bytes_per_s,
        "drain_time_s": _drain_time_s(cluster.device),
        "usd_per_device_hour": usd,
        "usd_per_hour": None if usd is None else usd * size,
    }
    return EntrySheet(
        kind="cluster",
        id=cluster.id,
        name=cluster.name,
        origin=catalog.origin("clusters", cluster.id),
        facts=facts,
        figures=shown,
        derived=derived,
        tiers=[
            {
                "tier": t.name,
                "size": t.size,
                "topology": t.topology,
                "dimensions": "x".join(str(d) for d in t.dimensions) or None,
                "bandwidth_bytes_per_s": t.bandwidth_bytes_per_s,
                "latency_s": t.latency_s,
                "oversubscription": t.oversubscription,
                "in_network_reduction": t.in_network_reduction,
            }
            for t in cluster.tiers
        ],
        sources=_sources([source, *(f.source for f in shown)]),
        note=entry.get("note"),
        flags=cluster.flags,
    )


def _price_sheet(catalog: Catalog, entry: Entry) -> EntrySheet:
    name = entry["id"]
    usd, basis = catalog.price(name)
    shown: list[Figure] = []
    for row in entry["prices"]:
        figure = row["usd_per_device_hour"]
        words = [row.get("variant"), figure.get("note")]
        shown.append(
            Figure(
                field=f"{row['as_of']}, {row['provider']}, {row['terms']}",
                value=figure["value"],
                kind=figure["kind"],
                source=figure["source"],
                note="; ".join(w for w in words if w) or None,
            )
        )
    return EntrySheet(
        kind="price",
        id=name,
        name=f"Rental prices of {name}, per device",
        origin=catalog.origin("rental", name),
        facts={"default": basis},
        figures=shown,
        derived={"usd_per_device_hour": usd},
        sources=_sources([f.source for f in shown]),
    )
