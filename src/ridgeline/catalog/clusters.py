"""What people call clusters: presets, devices, multiples of either, torus slices."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ridgeline.catalog.figures import Entry, known_quantity
from ridgeline.catalog.hardware import Unit, build_cluster, device_unit, preset_unit
from ridgeline.catalog.store import LIST_COMMANDS, Catalog
from ridgeline.errors import InputError, UnknownNameError
from ridgeline.hardware import Cluster

_MULTIPLE = re.compile(r"^(?:(?P<before>\d{1,7})x(?P<a>.+)|(?P<b>.+?)-?x(?P<after>\d{1,7}))$")
_TORUS = re.compile(r"^(?P<device>.+?)-(?P<dims>\d{1,4}(?:x\d{1,4}){1,2})$")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    unit: Unit
    device: Entry
    preset: Entry
    num_devices: int
    """Devices when none are asked for: all of a preset, one of a device."""


def named_cluster(catalog: Catalog, text: str, devices: int | None = None) -> Cluster:
    """Return the cluster that `text` names, with `devices` devices if given.

    A preset (`hgx-h100-8`), a device (`h100-sxm`, one of it), a multiple of either
    (`hgx-h100-8x18`, `8xh100-sxm`), or a torus slice (`tpu-v5p-4x4x8`).

    Raises:
        UnknownNameError: no such preset or device.
        InputError: a number of devices that cannot be built.
    """
    name = text.strip().lower()
    found, times = _named(catalog, name), 1
    if found is None and (match := _MULTIPLE.match(name)) is not None:
        found = _named(catalog, match["a"] or match["b"])
        times = int(match["before"] or match["after"])
    if found is None:
        known = {**catalog.names("devices"), **catalog.names("clusters")}
        raise UnknownNameError("cluster", text, known, list_command=LIST_COMMANDS["clusters"])
    if devices is not None and times != 1:
        raise InputError(f"Give the number of devices once, not `{text}` and {devices} devices.")
    count = found.num_devices * times if devices is None else devices
    same = count == found.num_devices
    return build_cluster(
        found.unit,
        found.device,
        count,
        base=found.num_devices,
        price=_price(catalog, found),
        dimensions=found.preset.get("dimensions", ()) if same else (),
    )


def _named(catalog: Catalog, name: str) -> _Named | None:
    preset = catalog.find("clusters", name) or _torus_slice(catalog, name)
    if preset is not None:
        device = catalog.entry("devices", preset["device"])
        unit = preset_unit(preset, device)
        return _Named(unit=unit, device=device, preset=preset, num_devices=unit.num_devices)
    device = catalog.find("devices", name)
    if device is None:
        return None
    return _Named(unit=device_unit(device), device=device, preset={}, num_devices=1)


def _torus_slice(catalog: Catalog, name: str) -> Entry | None:
    """Return `tpu-v5p-4x4x8` as a preset; None for other names."""
    match = _TORUS.match(name)
    device = None if match is None else catalog.find("devices", match["device"])
    if match is None or device is None:
        return None
    link: Entry = device.get("scale_up") or {}
    if link.get("topology") != "torus":
        return None
    dims = [int(d) for d in match["dims"].split("x")]
    size = math.prod(dims)
    if len(dims) != link["num_dimensions"] or not 1 <= size <= link["size"]:
        raise InputError(
            f"A slice of {device['id']} has {link['num_dimensions']} dimensions and at most"
            f" {link['size']:,} devices: {match['dims']}."
        )
    title = f"{device['name']}, {match['dims']} slice"
    return {
        "id": name,
        "name": title,
        "device": device["id"],
        "num_devices": size,
        "dimensions": dims,
    }


def _price(catalog: Catalog, found: _Named) -> tuple[float | None, str]:
    figure = found.preset.get("usd_per_device_hour")
    what = f"{found.unit.id} usd_per_device_hour"
    usd = known_quantity(figure, "usd_per_device_hour", what=what)
    if usd is None or figure is None:
        return catalog.price(found.device["id"])
    return usd, f"{found.unit.id}: {figure['source']}"
