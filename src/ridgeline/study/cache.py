"""Where a KV cache should wait: which tier, for how long, or compute it again."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ridgeline.catalog.tiers import storage_tiers, tier_data
from ridgeline.chalkboard import tiers as chalk
from ridgeline.economics.cache_tiers import (
    EnvelopePiece,
    HoldCost,
    StorageTier,
    hold_cost,
    hold_price_per_mtok_hour,
    lower_envelope,
    recompute_break_even_s,
)
from ridgeline.economics.ownership import HOURS_PER_MONTH
from ridgeline.errors import InputError
from ridgeline.model.architecture import Architecture
from ridgeline.model.state import state_bytes
from ridgeline.study.estimate import estimate
from ridgeline.study.price_decode import one_sheet
from ridgeline.study.price_findings import TTL_S
from ridgeline.study.prices import all_rows, find
from ridgeline.study.serving_cost import prefill_costs
from ridgeline.units import parse_quantity, parse_tokens

SCHEMA_VERSION = "1"
RECOMPUTE = "recompute"
_LEAST_RENT_USD = 1e-6
BALLPARK = {
    "hbm": "20 ms",
    "dram": "1-10 s",
    "cxl": "1-10 s",
    "flash": "1 min",
    "disk": "1 h",
}
"""Drain times as the lecture quotes them (C6-N16)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TierRow:
    """One tier for one cache."""

    tier: StorageTier
    kind: str
    line: HoldCost
    ballpark: str | None
    usd_per_gb_month: float
    usd_per_mtok_hour: float
    """Holding a million tokens of this model for an hour."""
    sessions_per_unit: float | None
    """Caches of this length that fit in one unit."""
    break_even_s: float
    """Hold time at which keeping costs as much as computing again."""
    dominated: bool
    """Never the cheapest place to keep it, at any hold time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldAnswer:
    """Where a cache should wait for one hold time."""

    hold_s: float
    best: str
    usd: float
    recompute_usd: float
    best_tier: str
    """Cheapest tier, whether or not recomputing is cheaper still."""
    best_tier_usd: float
    usable_share: float | None
    """Share of one unit that can be filled when every cache is read once per hold time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TtlRow:
    """A provider's price for keeping a cache, beside what this model's cache costs to keep."""

    ttl: str
    usd_per_mtok_hour: float
    break_even_reads: float
    dearest_tier: str | None
    """Most expensive tier whose rent the price covers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheAnswer:
    """Everything about one context of one model on one cluster."""

    request: Mapping[str, Any]
    cache_bytes: float
    recompute_s: float
    """One prompt alone."""
    recompute_usd: float
    """At the cheapest prefill, prompts computed together."""
    rows: tuple[TierRow, ...]
    envelope: tuple[EnvelopePiece, ...]
    """Cheapest choice over hold time, recomputing included."""
    tier_envelope: tuple[EnvelopePiece, ...]
    """The same among tiers only."""
    holds: tuple[HoldAnswer, ...]
    ttls: tuple[TtlRow, ...]
    flags: tuple[str, ...]


def cache(
    model: str | Architecture,
    *,
    on: str,
    context: str = "32k",
    hold: str = "5m,1h,24h",
    devices: int | None = None,
    dtype: str | None = None,
    kv_cache_dtype: str | None = None,
    usd_per_device_hour: float | None = None,
    usd_per_gb: Mapping[str, float] | None = None,
    only: Sequence[str] = (),
    stall: float = 1.0,
    provider_price: str | None = None,
    price_date: dt.date | None = None,
    price_file: Path | None = None,
) -> CacheAnswer:
    """Return hold and retrieve costs per tier, the envelope, and where to keep idle sessions.

    Args:
        model: Catalogue name or a model file.
        on: Cluster.
        context: Tokens of the cache.
        hold: Hold times, such as "5m,1h,24h".
        devices: Devices of the replica; the cache is spread over them and moves in parallel.
        dtype: Weights.
        kv_cache_dtype: Cache format.
        usd_per_device_hour: Rent; the cluster's own when not given.
        usd_per_gb: Purchase prices over the catalogue's, by tier id.
        only: Tier ids to consider; when empty, all that can stand beside the device.
        stall: Share of the load for which the accelerators wait, 0 to 1.
        provider_price: A `provider/model` whose cache writes are compared.
        price_date: Day of that price.
        price_file: The user's own list.

    Raises:
        InputError: a value breaks its rule, or no rent is known.
    """
    tokens, times = _lengths(context, hold, stall)
    asked = {
        "devices": devices,
        "dtype": dtype,
        "kv_cache_dtype": kv_cache_dtype,
        "usd_per_device_hour": usd_per_device_hour,
    }
    question: dict[str, Any] = {k: v for k, v in asked.items() if v is not None}
    run = estimate(model, on=on, batch=1, context=tokens, **question)
    rent = run.request["usd_per_device_hour"]
    if rent is None:
        raise InputError(f"No rental price is known for {on}: give --usd-per-hour.")
    if rent < _LEAST_RENT_USD:
        raise InputError(
            f"usd-per-hour must be at least {_LEAST_RENT_USD:g} here, since tiers are compared by"
            f" rent: {rent:g}."
        )
    n = int(run.request["devices"])
    size = float(state_bytes(run.deployment.architecture, tokens, run.deployment.precision))
    (prompt,) = prefill_costs(model, on=on, contexts=[tokens], question=question)
    recompute_usd = prompt.usd_per_mtok * tokens / 1e6
    tiers = _chosen(
        storage_tiers(run.deployment.cluster, usd_per_device_hour=rent, usd_per_gb=usd_per_gb),
        only,
        run.deployment.cluster.device.id,
    )
    lines = {t.id: _line(t, size, n, rent / 3600.0, stall) for t in tiers}
    pairs = [(k, float(x.fixed_usd), float(x.per_second_usd)) for k, x in lines.items()]
    among = lower_envelope(pairs)
    kept = {p.choice for p in among}
    rows = tuple(_row(t, lines[t.id], size, tokens, recompute_usd, kept) for t in tiers)
    return CacheAnswer(
        request={
            **{k: run.request[k] for k in ("model", "on", "devices", "dtypes")},
            "usd_per_device_hour": rent,
            "context": tokens,
            "hold_s": times,
            "stall": stall,
        },
        cache_bytes=size,
        recompute_s=prompt.alone_s,
        recompute_usd=recompute_usd,
        rows=rows,
        envelope=lower_envelope([*pairs, (RECOMPUTE, recompute_usd, 0.0)]),
        tier_envelope=among,
        holds=tuple(_answer(t, rows, recompute_usd) for t in times),
        ttls=_ttls(provider_price, price_date, price_file, rows),
        flags=_flags(run.flags, stall),
    )


def _lengths(context: str, hold: str, stall: float) -> tuple[int, list[float]]:
    """Return the tokens and the hold times [s], checked."""
    tokens = parse_tokens(context, what="context")
    if tokens < 1:
        raise InputError("context must be at least 1 token.")
    times = [parse_quantity(h.strip(), "s", what="hold") for h in hold.split(",")]
    if min(times) < 0:
        raise InputError(f"hold times must not be negative: {hold!r}.")
    if not 0 <= stall <= 1:
        raise InputError(f"stall must be from 0 (hidden) to 1 (accelerators wait): {stall}.")
    return tokens, times


def _line(tier: StorageTier, size: float, n: int, rent_s: float, stall: float) -> HoldCost:
    """Return the line of the whole cache: every device moves its share at the same time."""
    shared = StorageTier(
        **{f: getattr(tier, f) for f in StorageTier.__dataclass_fields__ if f != "stall_share"},
        stall_share=tier.stall_share * stall,
    )
    one = hold_cost(shared, cache_bytes=size / n, accelerator_usd_per_s=rent_s)
    waits = hold_cost(tier, cache_bytes=size / n, accelerator_usd_per_s=rent_s)
    return HoldCost(
        tier=tier.id,
        fixed_usd=n * one.fixed_usd,
        per_second_usd=n * one.per_second_usd,
        retrieve_s=waits.retrieve_s,
    )


def _row(
    tier: StorageTier,
    line: HoldCost,
    size: float,
    tokens: int,
    recompute_usd: float,
    kept: set[str],
) -> TierRow:
    kinds = {e["id"]: e["kind"] for e in tier_data()["tiers"]}
    capacity = tier.capacity_bytes
    return TierRow(
        tier=tier,
        kind=kinds[tier.id],
        line=line,
        ballpark=BALLPARK.get(kinds[tier.id]),
        usd_per_gb_month=tier.hold_usd_per_byte_s * 1e9 * HOURS_PER_MONTH * 3600.0,
        usd_per_mtok_hour=float(
            hold_price_per_mtok_hour(
                kv_bytes_per_token=size / tokens, hold_usd_per_byte_s=tier.hold_usd_per_byte_s
            )
        ),
        sessions_per_unit=None if capacity is None else capacity / size,
        break_even_s=float(recompute_break_even_s(recompute_usd=recompute_usd, line=line)),
        dominated=tier.id not in kept,
    )


def _answer(hold_s: float, rows: Sequence[TierRow], recompute_usd: float) -> HoldAnswer:
    best = min(rows, key=lambda r: float(r.line.usd(hold_s)))
    usd = float(best.line.usd(hold_s))
    again = recompute_usd < usd
    drain = best.tier.drain_s
    return HoldAnswer(
        hold_s=hold_s,
        best=RECOMPUTE if again else best.tier.id,
        usd=min(usd, recompute_usd),
        recompute_usd=recompute_usd,
        best_tier=best.tier.id,
        best_tier_usd=usd,
        usable_share=None if drain is None else min(1.0, hold_s / drain),
    )


def _chosen(
    tiers: tuple[StorageTier, ...], only: Sequence[str], device_id: str
) -> tuple[StorageTier, ...]:
    known = [t.id for t in tiers]
    for name in only:
        if name not in known:
            raise InputError(f"No tier {name!r}. Tiers: {', '.join(known)}.")
    return tuple(t for t in tiers if (t.id in only if only else _fits_device(t.id, device_id)))


def _fits_device(tier_id: str, device_id: str) -> bool:
    """Return whether a tier can stand beside a device (Grace memory needs a Grace)."""
    entry = next(e for e in tier_data()["tiers"] if e["id"] == tier_id)
    return any(part in device_id for part in entry.get("only_on", [""]))


def _ttls(
    price: str | None, on: dt.date | None, price_file: Path | None, rows: Sequence[TierRow]
) -> tuple[TtlRow, ...]:
    if price is None:
        return ()
    day = on or dt.datetime.now(tz=dt.UTC).date()
    base = one_sheet(find(price, all_rows(price_file)), day, None)[0]
    found: list[TtlRow] = []
    dearest_first = sorted(rows, key=lambda r: -r.usd_per_mtok_hour)
    for ttl, usd in base.cache_write_usd_per_mtok:
        if ttl not in TTL_S:
            continue
        per_hour = 3600.0 * float(
            chalk.implied_hold_price(
                write_usd_per_token=usd,
                base_usd_per_token=base.input_usd_per_mtok,
                lifetime_s=TTL_S[ttl],
            )
        )
        reads = chalk.break_even_reads(
            write_multiple=usd / base.input_usd_per_mtok,
            read_multiple=(base.cache_read_usd_per_mtok or 0.0) / base.input_usd_per_mtok,
        )
        found.append(
            TtlRow(
                ttl=ttl,
                usd_per_mtok_hour=per_hour,
                break_even_reads=float(reads),
                dearest_tier=next(
                    (r.tier.id for r in dearest_first if r.usd_per_mtok_hour <= per_hour), None
                ),
            )
        )
    if not found:
        raise InputError(f"{base.id} prices no cache write with a lifetime: try an anthropic/ one.")
    return tuple(found)


def _flags(flags: Sequence[str], stall: float) -> tuple[str, ...]:
    return (
        f"stall {stall:g}: the accelerators wait for {stall:.0%} of a load (0 if it is hidden)",
        "tier prices are dated catalogue entries; --price TIER=USD/GB overrides one",
        *flags,
    )
