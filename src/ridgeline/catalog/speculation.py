"""Published acceptance of drafts: tokens per verify step against draft length, with sources."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ridgeline.errors import UnknownNameError

_FILE = Path(__file__).parent / "data" / "speculation.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceCurve:
    """Mean tokens per verify step of one model, draft method and workload."""

    id: str
    model: str
    method: str
    """`mtp`, `eagle3` or `dspark`."""
    thinking: bool
    """Whether the model reasoned before it answered."""
    workload: str
    tokens_per_step: tuple[float, ...]
    """AL(k) at k = 1, 2, 3 … drafts [token/step], separate runs: may fall by noise."""
    source: str
    """Address of the measurement."""


@functools.cache
def acceptance_curves() -> dict[str, AcceptanceCurve]:
    """Return the published curves by id."""
    entries: dict[str, dict[str, Any]] = json.loads(_FILE.read_bytes())
    return {
        name: AcceptanceCurve(
            id=name,
            model=entry["model"],
            method=entry["method"],
            thinking=entry["thinking"],
            workload=entry["workload"],
            tokens_per_step=tuple(entry["tokens_per_step"]),
            source=entry["source"],
        )
        for name, entry in entries.items()
    }


def acceptance_curve(name: str) -> AcceptanceCurve:
    """Return one curve by id.

    Raises:
        UnknownNameError: no such curve.
    """
    curves = acceptance_curves()
    if name not in curves:
        raise UnknownNameError("acceptance curve", name, curves, list_command="ridgeline list")
    return curves[name]
