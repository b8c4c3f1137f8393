"""Where a KV cache should live: hold it, bring it back, or compute it again.

k: KV bytes per token, C: capacity [B], W: bandwidth [B/s], T: hold time [s]. A tier's price has
two sides, room (per byte and second) and motion (the tier, and a waiting accelerator, for as long
as the bytes move).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ridgeline.model.work import Number

SECONDS_PER_YEAR = 31_557_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageTier:
    """One place for bytes, as one device sees it."""

    id: str
    name: str
    capacity_bytes: float | None
    """Of one unit; None where it is not a fixed unit (a network service)."""
    read_bytes_per_s: float
    write_bytes_per_s: float
    """Equal to reading unless the medium is slower to write (flash)."""
    hold_usd_per_byte_s: float
    """Rent of room: capex over life, a monthly price, or the accelerator's own HBM."""
    unit_usd_per_s: float
    """Rent of a whole unit while it moves bytes; 0 where motion is not sold."""
    latency_s: float = 0.0
    wear_usd_per_byte: float = 0.0
    """Endurance used up by writing one byte."""
    read_usd_per_byte: float = 0.0
    """Retrieval fee of a service."""
    stall_share: float = 1.0
    """Share of the move for which an accelerator waits; 0 for its own memory."""

    @property
    def drain_s(self) -> float | None:
        """Capacity over bandwidth: time to read it all once [s]."""
        return None if self.capacity_bytes is None else self.capacity_bytes / self.read_bytes_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldCost:
    """Cost of one write, a hold and one read: a straight line in the hold time."""

    tier: str
    fixed_usd: Number
    """Write, wear, read and the accelerator's waiting."""
    per_second_usd: Number
    """Room."""
    retrieve_s: Number
    """Time to bring the cache back."""

    def usd(self, hold_s: Number) -> Number:
        """Return the cost after `hold_s` [USD]."""
        return self.fixed_usd + self.per_second_usd * hold_s


def hold_usd_per_byte_s(
    *, capex_usd_per_byte: Number, life_years: Number, overhead_per_year: Number = 0.0
) -> Number:
    """Return the rent of room in a bought medium [USD/(B·s)].

        h = capex·(1/life + overhead) / seconds per year

    Args:
        capex_usd_per_byte: Purchase price.
        life_years: Straight-line life.
        overhead_per_year: Capital, power and hosting as a share of capex per year.

    Source: first principles.
    """
    return capex_usd_per_byte * (1.0 / life_years + overhead_per_year) / SECONDS_PER_YEAR


def wear_usd_per_byte(
    *, capex_usd_per_byte: Number, drive_writes_per_day: Number, warranty_years: Number
) -> Number:
    """Return the endurance used by writing one byte to flash [USD/B].

    A drive is spent after DWPD·365.25·years full writes:

        wear = capex / (DWPD·365.25·years)

    Source: first principles (JESD218 defines the rating).
    """
    return capex_usd_per_byte / (drive_writes_per_day * 365.25 * warranty_years)


def hold_cost(tier: StorageTier, *, cache_bytes: Number, accelerator_usd_per_s: Number) -> HoldCost:
    """Return what one write, hold and read of a cache costs in a tier [USD].

        retrieve = latency + bytes/W_read
        fixed = bytes·(wear + fee) + (bytes/W_write + bytes/W_read)·unit USD/s
                + retrieve·stall·accelerator USD/s
        per second = bytes·h

    Writing happens beside the computation and stalls nobody.

    Args:
        tier: Where.
        cache_bytes: Size of the cache.
        accelerator_usd_per_s: Price of the accelerators that wait for it.

    Source: pope2026, C6-F12 to F14; stall, link, wear and write terms S20.
    """
    move_s = cache_bytes / tier.read_bytes_per_s + cache_bytes / tier.write_bytes_per_s
    retrieve_s = np.where(
        tier.stall_share > 0, tier.latency_s + cache_bytes / tier.read_bytes_per_s, 0.0
    )
    return HoldCost(
        tier=tier.id,
        fixed_usd=cache_bytes * (tier.wear_usd_per_byte + tier.read_usd_per_byte)
        + np.where(tier.stall_share > 0, move_s * tier.unit_usd_per_s, 0.0)
        + retrieve_s * tier.stall_share * accelerator_usd_per_s,
        per_second_usd=cache_bytes * tier.hold_usd_per_byte_s,
        retrieve_s=retrieve_s,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopePiece:
    """The cheapest choice between two hold times."""

    choice: str
    from_s: float
    until_s: float
    """inf for the last piece."""


def lower_envelope(lines: Sequence[tuple[str, float, float]]) -> tuple[EnvelopePiece, ...]:
    """Return which line a + b·T is lowest over T ≥ 0, and where it changes hands [s].

    Args:
        lines: (name, a, b) with a and b at least 0.

    Source: first principles; switch points T = (a_j − a_i)/(b_i − b_j).

    >>> [(p.choice, p.from_s) for p in lower_envelope([("hbm", 0, 2), ("ssd", 10, 1)])]
    [('hbm', 0.0), ('ssd', 10.0)]
    """
    pieces: list[EnvelopePiece] = []
    start = 0.0
    name, level, slope = min(lines, key=lambda x: (x[1], x[2], x[0]))
    while True:
        best: tuple[float, float, str, float] | None = None
        for other, a, b in lines:
            if b < slope:
                candidate = (max(start, (a - level) / (slope - b)), b, other, a)
                best = candidate if best is None else min(best, candidate)
        until = np.inf if best is None else best[0]
        if until > start:
            pieces.append(EnvelopePiece(choice=name, from_s=start, until_s=float(until)))
        if best is None:
            return tuple(pieces)
        start, slope, name, level = best


def recompute_break_even_s(*, recompute_usd: Number, line: HoldCost) -> Number:
    """Return the hold time at which keeping costs as much as computing again [s].

    Negative: recomputing is cheaper from the start.

    Source: pope2026, C6-F15.
    """
    return (recompute_usd - line.fixed_usd) / line.per_second_usd


def hold_price_per_mtok_hour(*, kv_bytes_per_token: Number, hold_usd_per_byte_s: Number) -> Number:
    """Return what holding a million tokens for an hour costs in a tier [USD/(Mtok·h)].

    Source: pope2026, C6-F12 and N13 ($2/h, 192 GB, 70 kB/token: $0.73).

    >>> round(hold_price_per_mtok_hour(kv_bytes_per_token=70e3,
    ...       hold_usd_per_byte_s=2 / 3600 / 192e9), 2)
    0.73
    """
    return kv_bytes_per_token * hold_usd_per_byte_s * 3600.0 * 1e6
