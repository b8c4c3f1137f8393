"""A published day of a service, recomputed from its own inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ridgeline.economics.token_cost import DayAccount, day_account
from ridgeline.errors import UnknownNameError
from ridgeline.study.estimate import estimate
from ridgeline.study.estimate_rows import Overlap

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """Predicted tokens per second per node of each pool, on the published layout."""

    prefill_tokens_per_s_per_node: float
    """Cache hits included, as published: fresh tokens over the share that misses."""
    decode_tokens_per_s_per_node: float
    decode_batch_per_device: float
    overlap: Overlap
    flags: tuple[str, ...]


_ENGINE = "ideal"
"""DeepSeek's own engine: its small kernels are not those of a public one."""


def predicted_throughput(day: ServiceDay, overlap: Overlap) -> Throughput:
    """Return what our engine says the day's nodes do [tokens/s per node].

    Decode runs the largest batch that still gives each user the published speed, at the
    published mean cache length; prefill computes fresh prompts (their length is not published).
    DeepSeek overlaps two micro-batches, so the truth lies between overlap `none` and `two-batch`.
    """
    entry = day.entry
    decode, prefill = dict(entry["decode"]), dict(entry["prefill"])
    speed, per_node = decode.pop("tokens_per_s_per_user"), entry["devices_per_node"]
    ranks = decode["dp"]
    steps = estimate(
        entry["model"],
        batch=[ranks * b for b in range(8, 257, 4)],
        context=entry["mean_kv_tokens"],
        overlap=overlap,
        engine=_ENGINE,
        **decode,
    )
    fast = steps.rows["fits"] & (steps.rows["tokens_per_s_per_user"] >= speed)
    last = int(fast.nonzero()[0][-1])
    prompt = estimate(
        entry["model"],
        phase="prefill",
        batch=prefill.pop("batch"),
        context=prefill.pop("prompt_tokens"),
        overlap=overlap,
        engine=_ENGINE,
        **prefill,
    )
    missed = 1.0 - entry["cached_tokens"] / entry["input_tokens"]
    return Throughput(
        prefill_tokens_per_s_per_node=float(prompt.rows["tokens_per_s_per_device"][0])
        * per_node
        / missed,
        decode_tokens_per_s_per_node=float(steps.rows["tokens_per_s_per_device"][last]) * per_node,
        decode_batch_per_device=float(steps.rows["batch"][last]) / ranks,
        overlap=overlap,
        flags=steps.flags,
    )


def known_days() -> tuple[str, ...]:
    """Return the names of the published days."""
    return tuple(sorted(p.stem for p in _DATA.glob("*.json")))
