"""What a price sheet gives away: each figure, its hypothesis, what it implies, how plausible."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgeline.catalog.prices import builtin_prices, provider_kinds
from ridgeline.economics.price_list import PriceRow, in_force
from ridgeline.economics.price_posterior import (
    FIRST_PARTY_PRIOR,
    HOST_PRIOR,
    Evidence,
    Offer,
    Posterior,
    posterior,
)
from ridgeline.errors import InputError
from ridgeline.study.price_findings import (
    MAX_FAST_RATIO,
    Finding,
    cache_read_findings,
    cache_write_findings,
    fast_findings,
    level_findings,
    ratio_findings,
    step_finding,
)
from ridgeline.study.prices import PREFERRED_LISTS, all_rows, find
from ridgeline.study.resolve import open_catalog

SCHEMA_VERSION = "1"
MARKET = (("h100-sxm", 0.4), ("h200-sxm", 0.3), ("b200", 0.2), ("mi300x", 0.1))
"""Devices a provider may rent and their prior shares (assumed)."""
PRECISIONS = (("bf16", 2.0, 0.2), ("fp8", 1.0, 0.6), ("fp4", 0.5, 0.2))
"""Weight format, bytes per weight, prior share (assumed)."""
SRAM_PROVIDERS = frozenset({"groq", "cerebras", "sambanova"})
OPEN_PROVIDERS = frozenset({"deepseek", "moonshot", "zai", "minimax", "alibaba", "meta"})
"""First parties that publish their weights and compete with hosts at the same prices."""
TARIFF_MODELS = 5
"""Models of one provider at one price that make it a tariff class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A sheet, its findings, and the joint posterior."""

    row: PriceRow
    steps: tuple[PriceRow, ...]
    evidence: Evidence
    posterior: Posterior
    prior_name: str
    findings: tuple[Finding, ...]
    draws: int
    seed: int
    flags: tuple[str, ...]


def offers() -> tuple[Offer, ...]:
    """Return the devices and precisions a provider may use, from the catalogue."""
    catalog = open_catalog()
    found: list[Offer] = []
    for name, share in MARKET:
        device = catalog.device(name)
        usd, _ = catalog.price(device.id)
        if usd is None:
            raise InputError(f"{name} has no rental price in the catalogue.")
        for fmt, width, weight in PRECISIONS:
            peak = device.peak_flop_per_s.get(fmt) or device.peak_flop_per_s["fp8"]
            found.append(
                Offer(
                    name=f"{name} {fmt}",
                    peak_flop_per_s=peak,
                    bandwidth_bytes_per_s=device.memory.bandwidth_bytes_per_s,
                    usd_per_device_hour=usd,
                    bytes_per_weight=width,
                    weight=share * weight,
                )
            )
    return tuple(found)


def decode(
    model: str,
    *,
    on: dt.date,
    price_file: Path | None = None,
    list_name: str | None = None,
    fast_speed: float | None = None,
    fast_price: float | None = None,
    draws: int = 100_000,
    seed: int = 0,
) -> Decoded:
    """Return what the standard sheet of a model implies, figure by figure and jointly.

    Args:
        model: `provider/model`, or a bare name that one provider lists.
        on: Day of the prices; a withdrawn model is read on its last day.
        price_file: The user's own list.
        list_name: Which list, where several state the model.
        fast_speed: Speed of a fast mode over the standard one, which no price list states.
        fast_price: Its price over the standard one; the sheet's fast tier when not given.
        draws: Monte-Carlo draws.
        seed: Same seed, same bands.

    Raises:
        UnknownNameError: no such price.
        InputError: several providers list the name, or nothing can be decoded.
    """
    if fast_price is not None and not 0 < fast_price <= MAX_FAST_RATIO:
        raise InputError(
            f"--fast-price must be above 0 and at most {MAX_FAST_RATIO:,.0f}: {fast_price}."
        )
    rows = one_sheet(find(model, all_rows(price_file)), on, list_name)
    base = next(r for r in rows if r.tier == "standard" and r.above_tokens == 0)
    steps = tuple(
        sorted(
            (r for r in rows if r.tier == "standard" and r.above_tokens and not r.windows),
            key=lambda r: r.above_tokens,
        )
    )
    if base.input_usd_per_mtok <= 0 or base.output_usd_per_mtok <= 0:
        raise InputError(f"{base.id} is free of charge: a price of 0 says nothing about cost.")
    evidence = evidence_of(base, steps)
    closed = (
        provider_kinds().get(base.provider) == "first_party" and base.provider not in OPEN_PROVIDERS
    )
    result = posterior(
        evidence,
        offers(),
        FIRST_PARTY_PRIOR if closed else HOST_PRIOR,
        draws=draws,
        seed=seed,
    )
    fast = _fast_price(base, rows, fast_price)
    if fast_speed is not None and (fast is None or fast <= 1):
        raise InputError(
            f"--fast-speed needs a fast tier that costs more, and the sheet of {base.id} has none:"
            " give --fast-price above 1."
        )
    return Decoded(
        row=base,
        steps=steps,
        evidence=evidence,
        posterior=result,
        prior_name="closed first party" if closed else "open weights",
        findings=(
            *_findings(base, steps, evidence, result),
            *fast_findings(fast, fast_speed),
        ),
        draws=draws,
        seed=seed,
        flags=_flags(base, evidence, result, on),
    )


def _findings(
    base: PriceRow, steps: Sequence[PriceRow], evidence: Evidence, result: Posterior
) -> list[Finding]:
    return [
        *level_findings(base, evidence, result),
        *ratio_findings(base, evidence, result),
        *(step_finding(base, s, result) for s in steps),
        *cache_read_findings(base),
        *cache_write_findings(base, result),
    ]


def evidence_of(base: PriceRow, steps: Sequence[PriceRow] = ()) -> Evidence:
    """Return the figures of a sheet as evidence, with what the provider's other prices say."""
    same = {
        r.model.lower().rsplit("/", 1)[-1]
        for r in builtin_prices()
        if r.provider == base.provider
        and r.tier == "standard"
        and r.input_usd_per_mtok == base.input_usd_per_mtok
        and r.output_usd_per_mtok == base.output_usd_per_mtok
    }
    return Evidence(
        input_usd_per_mtok=base.input_usd_per_mtok,
        output_usd_per_mtok=base.output_usd_per_mtok,
        cache_read_usd_per_mtok=base.cache_read_usd_per_mtok or None,
        steps=tuple(
            (float(s.above_tokens), s.output_usd_per_mtok / base.output_usd_per_mtok) for s in steps
        ),
        max_context=float(base.max_input_tokens or 1_000_000),
        tariff=len(same) >= TARIFF_MODELS and provider_kinds().get(base.provider) != "first_party",
        hbm_bound=base.provider not in SRAM_PROVIDERS,
    )


def one_sheet(rows: Sequence[PriceRow], on: dt.date, list_name: str | None) -> tuple[PriceRow, ...]:
    """Return the rows of one model in one list, the standard one first.

    Raises:
        InputError: several providers, or nothing standard in force.
    """
    ids = sorted({r.id for r in rows})
    if len(ids) > 1:
        first = [i for i in ids if provider_kinds().get(i.split("/")[0]) == "first_party"]
        if len(first) != 1:
            shown = ", ".join(ids[:12])
            raise InputError(f"Several providers list it; choose one: {shown}.")
        rows = [r for r in rows if r.id == first[0]]
    current = in_force(rows, on)
    if not current:
        last = max((r.ends for r in rows if r.ends), default=None)
        if last is None:
            raise InputError(f"No price of {ids[0]} is in force on {on}. Try another --date.")
        current = in_force(rows, last - dt.timedelta(days=1))
    order = [list_name] if list_name else [*PREFERRED_LISTS]
    names = sorted({r.list_name for r in current})
    order += [] if list_name else names
    for name in order:
        mine = tuple(r for r in current if r.list_name == name)
        plain = [r for r in mine if r.tier == "standard" and r.above_tokens == 0]
        if plain:
            # Where the hour matters the dearer row is decoded: peak is when capacity is priced.
            top = max(plain, key=lambda r: r.input_usd_per_mtok)
            return (top, *(r for r in mine if r not in plain))
    raise InputError(f"No standard price of {ids[0]} in the list {list_name or names}.")


def _fast_price(base: PriceRow, rows: Sequence[PriceRow], given: float | None) -> float | None:
    if given is not None:
        return given
    fast = next((r for r in rows if r.tier == "fast" and not r.above_tokens), None)
    return None if fast is None else fast.output_usd_per_mtok / base.output_usd_per_mtok


def _flags(base: PriceRow, evidence: Evidence, p: Posterior, on: dt.date) -> tuple[str, ...]:
    flags: list[str] = []
    if base.ends is not None and base.ends <= on:
        flags.append(f"withdrawn on {base.ends}: its last price is decoded")
    if base.windows or any(
        r.windows for r in builtin_prices() if r.id == base.id and r.list_name == base.list_name
    ):
        flags.append("priced by the hour: the dearer (peak) row is decoded")
    if evidence.tariff:
        flags.append(
            f"{base.provider} asks this very price for {TARIFF_MODELS} or more models: a tariff"
            " class, so the band is that of the class"
        )
    if evidence.blended:
        flags.append("input and output cost the same: the ratio says nothing about cost")
    if not evidence.hbm_bound:
        flags.append(f"{base.provider} serves from SRAM: only the price level is used")
    if p.markup.median > 5:
        flags.append(
            f"the price is about {p.markup.median:.0f} times the cost of any plausible hardware:"
            " ratios may still speak, the level does not"
        )
    if p.explained < 0.1:
        flags.append("no draw explains the ratios of this sheet: it is not priced by cost")
    k = p.kv_bytes_per_token
    if k.decades > 0.8 * k.prior_decades:
        flags.append(
            f"the sheet narrows cache bytes per token from {k.prior_decades:.1f} to"
            f" {k.decades:.1f} decades only: that band is mostly the prior"
        )
    return tuple(flags)
