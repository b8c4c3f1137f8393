"""A published day of a service, recomputed from its own inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ridgeline.economics.token_cost import DayAccount, day_account
from ridgeline.errors import UnknownNameError

_DATA = Path(__file__).parents[1] / "catalog" / "data" / "service_days"
_INPUTS = (
    "cached_tokens", "output_tokens", "input_usd_per_mtok", "cached_usd_per_mtok",
    "output_usd_per_mtok", "nodes", "devices_per_node", "usd_per_device_hour",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceDay:
    """The inputs, what follows from them, and what was published."""

    entry: Mapping[str, Any]
    account: DayAccount


def service_day(name: str) -> ServiceDay:
    """Return a published day recomputed.

    Raises:
        UnknownNameError: no such day.
    """
    path = _DATA / f"{name}.json"
    known = {p.stem for p in _DATA.glob("*.json")}
    if name not in known:
        raise UnknownNameError("service day", name, known, list_command="ridgeline prices day")
    entry = json.loads(path.read_bytes())
    return ServiceDay(
        entry=entry,
        account=day_account(
            fresh_tokens=entry["input_tokens"] - entry["cached_tokens"],
            **{k: entry[k] for k in _INPUTS},
        ),
    )


def known_days() -> tuple[str, ...]:
    """Return the names of the published days."""
    return tuple(sorted(p.stem for p in _DATA.glob("*.json")))
