"""Storage tiers with a source and date per figure, as records of one accelerator."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ridgeline.catalog.figures import Entry
from ridgeline.economics.cache_tiers import StorageTier, hold_usd_per_byte_s, wear_usd_per_byte
from ridgeline.economics.ownership import HOURS_PER_MONTH
from ridgeline.errors import InputError, UnknownNameError
from ridgeline.hardware import Cluster
from ridgeline.units import parse_quantity

_FILE = Path(__file__).parent / "data" / "tiers" / "tiers.json"
GB = 1e9


@functools.cache
def tier_data() -> Mapping[str, Any]:
    """Return the file: `life`, `tiers` and published `measurements`."""
    return json.loads(_FILE.read_bytes())


def storage_tiers(
    cluster: Cluster,
    *,
    usd_per_device_hour: float,
    usd_per_gb: Mapping[str, float] | None = None,
) -> tuple[StorageTier, ...]:
    """Return every tier as one device of the cluster sees it; its own memory first.

    Prices are the middle of the stated range (geometric), or the user's own.

    Args:
        cluster: Whose memory and rent `hbm` takes.
        usd_per_device_hour: Rent of one device.
        usd_per_gb: Purchase price by tier id, over the catalogue's.

    Raises:
        UnknownNameError: a price for a tier that does not exist.
        InputError: a price that is not positive.
    """
    own = dict(usd_per_gb or {})
    entries = tier_data()["tiers"]
    known = {e["id"] for e in entries}
    for name, price in own.items():
        if name not in known:
            raise UnknownNameError(
                "tier", name, known, list_command="ridgeline cache MODEL --on CLUSTER"
            )
        if not (math.isfinite(price) and price > 0):
            raise InputError(f"--price {name} must be above 0 USD/GB: {price}.")
    memory = cluster.device.memory
    per_s = usd_per_device_hour / 3600.0
    hbm = StorageTier(
        id="hbm",
        name=f"{memory.name} of {cluster.device.name}",
        capacity_bytes=memory.capacity_bytes,
        read_bytes_per_s=memory.bandwidth_bytes_per_s,
        write_bytes_per_s=memory.bandwidth_bytes_per_s,
        hold_usd_per_byte_s=per_s / memory.capacity_bytes,
        unit_usd_per_s=per_s,
        stall_share=0.0,
    )
    if "hbm" in own:
        hbm = replace(hbm, hold_usd_per_byte_s=_bought(own["hbm"]))
    return (hbm, *(_tier(e, own.get(e["id"])) for e in entries if e["id"] != "hbm"))


def _bought(usd_per_gb: float) -> float:
    life = tier_data()["life"]
    return float(
        hold_usd_per_byte_s(
            capex_usd_per_byte=usd_per_gb / GB,
            life_years=life["life_years"]["value"],
            overhead_per_year=life["overhead_per_year"]["value"],
        )
    )


def _tier(entry: Entry, own_usd_per_gb: float | None) -> StorageTier:
    what = f"tier {entry['id']}"
    read = parse_quantity(entry["read"]["value"], "B/s", what=what)
    write = entry.get("write")
    capacity = entry.get("capacity")
    size = None if capacity is None else parse_quantity(capacity["value"], "B", what=what)
    monthly = entry.get("usd_per_gb_month")
    wear = 0.0
    if monthly is not None and own_usd_per_gb is None:
        hold = _middle(monthly) / GB / (HOURS_PER_MONTH * 3600.0)
    else:
        price = own_usd_per_gb if own_usd_per_gb is not None else _middle(entry["usd_per_gb"])
        hold = _bought(price)
        if "drive_writes_per_day" in entry:
            wear = float(
                wear_usd_per_byte(
                    capex_usd_per_byte=price / GB,
                    drive_writes_per_day=entry["drive_writes_per_day"]["value"],
                    warranty_years=entry["warranty_years"]["value"],
                )
            )
    return StorageTier(
        id=entry["id"],
        name=entry["name"],
        capacity_bytes=size,
        read_bytes_per_s=read,
        write_bytes_per_s=read
        if write is None
        else parse_quantity(write["value"], "B/s", what=what),
        hold_usd_per_byte_s=hold,
        unit_usd_per_s=0.0 if size is None else hold * size,
        latency_s=parse_quantity(entry["latency"]["value"], "s", what=what),
        wear_usd_per_byte=wear,
    )


def _middle(figure: Entry) -> float:
    return math.sqrt(figure["low"] * figure["high"])
