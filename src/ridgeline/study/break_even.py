"""What a token costs to make, rented and owned, and the volume at which that beats a price list."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ridgeline.catalog.ownership import owner_of
from ridgeline.economics.energy import energy_per_token, energy_usd_per_mtok
from ridgeline.economics.ownership import Ownership, OwnershipCost, ownership_cost
from ridgeline.economics.price_list import PriceRow, bill, bracket
from ridgeline.economics.token_cost import (
    SECONDS_PER_DAY,
    TokenCosts,
    break_even_tokens_per_day,
    token_costs,
)
from ridgeline.errors import InputError
from ridgeline.model.architecture import Architecture
from ridgeline.study.margins import stated_utilisation
from ridgeline.study.price_decode import one_sheet
from ridgeline.study.prices import all_rows, find
from ridgeline.study.serving_cost import ServingCosts, serving_costs
from ridgeline.units import parse_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """What a token costs to make, rented and owned, and the volume at which that beats a list."""

    costs: ServingCosts
    utilisation: float
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    rental: TokenCosts
    owned: TokenCosts
    owner: Ownership
    owner_cost: OwnershipCost
    energy_j_per_output_token: float
    energy_usd_per_mtok: float
    price: PriceRow | None
    api_usd_per_mtok: float | None
    """Blended list price of the mix."""
    capacity_tokens_per_day: float
    """Tokens of the mix the devices make in a day when never idle."""
    rental_tokens_per_day: float | None
    """Volume at which renting costs as much as the list; above capacity: never."""
    owned_tokens_per_day: float | None
    flags: tuple[str, ...]


def break_even(
    model: str | Architecture,
    *,
    on: str,
    speed: float,
    date: dt.date,
    question: Mapping[str, Any],
    utilisation: float | None = None,
    rate: float | None = None,
    replicas: int = 1,
    isl: str = "4k",
    osl: str = "500",
    cached_share: float = 0.0,
    price: str | None = None,
    capex_usd: float | None = None,
    own: Mapping[str, float] | None = None,
    price_file: Path | None = None,
) -> BreakEven:
    """Return token costs for rental and ownership, energy, and break-even against a price list.

    Args:
        model: What is served.
        on: Cluster.
        speed: Tokens per second that every user gets.
        date: Day of the prices.
        question: Further arguments of `estimate`.
        utilisation: Share of capacity sold.
        rate: Requests per second instead (Little's law).
        replicas: Copies that share the rate.
        isl: Prompt tokens of a request.
        osl: Generated tokens.
        cached_share: Share of the prompt that hits the cache.
        price: `provider/model` to compare with.
        capex_usd: Purchase per device; the catalogue's when not given.
        own: Ownership figures by name, over the catalogue's.
        price_file: The user's own list.
    """
    prompt, output = parse_tokens(isl, what="isl"), parse_tokens(osl, what="osl")
    if min(prompt, output) < 1 or not 0 <= cached_share <= 1:
        raise InputError("isl and osl must be at least 1, and cached-share from 0 to 1.")
    cached = round(prompt * cached_share)
    costs = serving_costs(model, on=on, contexts=[prompt], speed=speed, question=question)
    owner = owner_of(costs.run.deployment.cluster.device, capex_usd=capex_usd, overrides=own)
    owner_cost = ownership_cost(owner)
    mix = _Mix(fresh=prompt - cached, cached=cached, output=output)
    prompt_s = _prompt_seconds(costs, mix)
    u = stated_utilisation(utilisation, rate, replicas, costs.rows[0], output, prompt_s=prompt_s)
    owned_rent = float(owner_cost.total_usd_per_hour)
    listed, asked = _list_price(price, date, price_file, mix)

    def volume(usd_per_hour: float) -> float | None:
        if not asked:
            return None
        return float(
            break_even_tokens_per_day(
                usd_per_device_hour=usd_per_hour,
                num_devices=costs.num_devices,
                price_usd_per_mtok=asked,
            )
        )

    joule = _joule_per_output_token(costs, owner, u)
    return BreakEven(
        costs=costs,
        utilisation=u,
        input_tokens=prompt,
        cached_tokens=cached,
        output_tokens=output,
        rental=_costs_at(costs.usd_per_device_hour, costs, mix, u),
        owned=_costs_at(owned_rent, costs, mix, u),
        owner=owner,
        owner_cost=owner_cost,
        energy_j_per_output_token=joule,
        energy_usd_per_mtok=float(
            energy_usd_per_mtok(energy_j_per_token=joule, usd_per_kwh=owner.usd_per_kwh)
        ),
        price=listed,
        api_usd_per_mtok=asked,
        capacity_tokens_per_day=_capacity_tokens_per_day(costs, mix),
        rental_tokens_per_day=volume(costs.usd_per_device_hour),
        owned_tokens_per_day=volume(owned_rent),
        flags=costs.flags,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mix:
    """Tokens of one request."""

    fresh: int
    cached: int
    output: int


def _cached_seconds(costs: ServingCosts) -> float:
    """Return the device time that loading one cached token blocks [s]."""
    return costs.rows[0].cached_usd_per_mtok / 1e6 / (costs.usd_per_device_hour / 3600.0)


def _prompt_seconds(costs: ServingCosts, mix: _Mix) -> float:
    """Return the time for which the prompt of one request keeps the replica busy [s]."""
    loaded = mix.cached * _cached_seconds(costs) / costs.num_devices
    return mix.fresh / costs.rows[0].prefill_tokens_per_s + loaded


def _costs_at(usd_per_hour: float, costs: ServingCosts, mix: _Mix, u: float) -> TokenCosts:
    row, n = costs.rows[0], costs.num_devices
    return token_costs(
        usd_per_device_hour=usd_per_hour,
        prefill_tokens_per_s_per_device=row.prefill_tokens_per_s / n,
        decode_tokens_per_s_per_device=row.decode_tokens_per_s / n,
        cached_seconds_per_token=_cached_seconds(costs),
        input_tokens=mix.fresh,
        cached_tokens=mix.cached,
        output_tokens=mix.output,
        utilisation=u,
    )


def _capacity_tokens_per_day(costs: ServingCosts, mix: _Mix) -> float:
    """Return the tokens of the mix that the replica makes in a day without a pause."""
    busy_s = _prompt_seconds(costs, mix) + mix.output / costs.rows[0].decode_tokens_per_s
    return (mix.fresh + mix.cached + mix.output) / busy_s * SECONDS_PER_DAY


def _joule_per_output_token(costs: ServingCosts, owner: Ownership, u: float) -> float:
    return float(
        energy_per_token(
            power_w=owner.power_w,
            pue=owner.pue,
            tokens_per_s=costs.rows[0].decode_tokens_per_s / costs.num_devices,
            utilisation=u,
        )
    )


def _list_price(
    price: str | None, date: dt.date, price_file: Path | None, mix: _Mix
) -> tuple[PriceRow | None, float | None]:
    """Return the row that prices the mix, and its blended price [USD/Mtok]."""
    if price is None:
        return None, None
    base, *rest = one_sheet(find(price, all_rows(price_file)), date, None)
    brackets = [base, *(r for r in rest if r.tier == "standard" and not r.windows)]
    prompt = mix.fresh + mix.cached
    row = bracket(brackets, prompt_tokens=prompt)
    asked = bill(
        row, input_tokens=prompt, output_tokens=mix.output, cached_tokens=mix.cached
    ).total_usd
    return row, asked / (prompt + mix.output) * 1e6
