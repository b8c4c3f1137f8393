"""Ownership assumptions with a source and date per figure."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ridgeline.economics.ownership import Ownership
from ridgeline.errors import InputError
from ridgeline.hardware import Device

_FILE = Path(__file__).parent / "data" / "ownership.json"


@functools.cache
def ownership_data() -> Mapping[str, Any]:
    """Return the file: `defaults` and `capex_usd_per_device`."""
    return json.loads(_FILE.read_bytes())


def owner_of(
    device: Device, *, capex_usd: float | None = None, overrides: Mapping[str, float] | None = None
) -> Ownership:
    """Return the assumptions for a device; any of them may be overridden by name.

    Raises:
        InputError: no capex or power is known for the device, or an unknown or negative figure.
    """
    defaults = {k: float(v["value"]) for k, v in ownership_data()["defaults"].items()}
    for name, value in (overrides or {}).items():
        if name not in defaults:
            raise InputError(f"No ownership figure {name!r}. Figures: {', '.join(defaults)}.")
        if not 0 <= value < 1e9:
            raise InputError(f"--own {name} must be from 0: {value}.")
        defaults[name] = value
    if defaults["life_years"] <= 0 or not 0 < defaults["availability"] <= 1:
        raise InputError("life_years must be above 0, and availability above 0 and at most 1.")
    if capex_usd is None:
        known = ownership_data()["capex_usd_per_device"]
        if device.id not in known:
            raise InputError(
                f"No purchase price is known for {device.id}: give --capex. Known:"
                f" {', '.join(sorted(known))}."
            )
        capex_usd = float(known[device.id]["value"])
    if not 0 <= capex_usd <= 1e7:
        raise InputError(f"capex must be from 0 to 1e7 USD per device: {capex_usd}.")
    if device.tdp_w is None:
        raise InputError(f"{device.id} states no power: ownership cannot be priced.")
    server = defaults.pop("server_over_tdp") * defaults.pop("draw_over_maximum")
    return Ownership(capex_usd=capex_usd, power_w=device.tdp_w * server, **defaults)
