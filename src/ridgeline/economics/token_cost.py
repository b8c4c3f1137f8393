"""What a million tokens cost to make, and when owning beats buying them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgeline.errors import InputError
from ridgeline.model.work import Number

SECONDS_PER_DAY = 86_400.0
SECONDS_PER_HOUR = 3600.0
_LEAST_UTILISATION = 1e-9
"""Costs divide by the utilisation; one token of a busy device in 30 years is less."""


def usd_per_mtok(
    *, usd_per_device_hour: Number, tokens_per_s_per_device: Number, utilisation: Number
) -> Number:
    """Return the device cost of a million tokens [USD/Mtok].

        c = (USD/h / 3600) / (u·tokens/s)·10^6

    Args:
        usd_per_device_hour: Rental price, or ownership_cost(...).total_usd_per_hour.
        tokens_per_s_per_device: Throughput while busy.
        utilisation: Share of capacity that is sold; state it, there is no default.

    Raises:
        InputError: a utilisation outside 0 < u ≤ 1.

    Source: pope2026, C1-F4.

    >>> usd_per_mtok(usd_per_device_hour=3.6, tokens_per_s_per_device=1000.0, utilisation=0.5)
    2.0
    """
    check_utilisation(utilisation)
    return usd_per_device_hour / SECONDS_PER_HOUR / (utilisation * tokens_per_s_per_device) * 1e6


def check_utilisation(utilisation: Number) -> None:
    """Refuse a utilisation that is not a share of capacity.

    Raises:
        InputError: outside 1e-9 ≤ u ≤ 1.
    """
    u = np.asarray(utilisation, dtype=np.float64)
    if not bool(np.all((u >= _LEAST_UTILISATION) & (u <= 1))):
        raise InputError(
            "utilisation must be above 0 and at most 1 (the share of capacity sold, from"
            f" {_LEAST_UTILISATION:g}):"
            f" {utilisation}. A load above 1 needs more devices."
        )


def sequences_in_flight(*, requests_per_s: Number, residence_s: Number) -> Number:
    """Return the mean number of sequences being served [seq]: N = λ·T (Little's law).

    Source: little1961.

    >>> sequences_in_flight(requests_per_s=100.0, residence_s=20.0)
    2000.0
    """
    return requests_per_s * residence_s


def utilisation_from_load(
    *, requests_per_s: Number, output_tokens: Number, tpot_s: Number, seats: Number
) -> Number:
    """Return the share of the decode seats that a load fills [1].

    A request keeps a seat for output_tokens·tpot_s (Little's law), so with `seats` = batch ×
    replicas:

        u = λ·osl·tpot / seats

    Values above 1 mean that the load does not fit; nothing is clipped.

    Source: little1961; P5 of the practice set (2000 seats, 20 ms, 1000 tokens: 100 requests/s).

    >>> utilisation_from_load(requests_per_s=50.0, output_tokens=1000, tpot_s=0.02, seats=2000)
    0.5
    """
    in_flight = sequences_in_flight(
        requests_per_s=requests_per_s, residence_s=output_tokens * tpot_s
    )
    return in_flight / seats


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCosts:
    """USD per million tokens of each kind, at one stated utilisation."""

    input_usd_per_mtok: Number
    cached_usd_per_mtok: Number
    output_usd_per_mtok: Number
    blended_usd_per_mtok: Number
    """Over all tokens of the mix, cached ones included."""
    utilisation: Number


def token_costs(
    *,
    usd_per_device_hour: Number,
    prefill_tokens_per_s_per_device: Number,
    decode_tokens_per_s_per_device: Number,
    cached_seconds_per_token: Number,
    input_tokens: Number,
    cached_tokens: Number,
    output_tokens: Number,
    utilisation: Number,
) -> TokenCosts:
    """Return the cost of input, cached, output and blended tokens [USD/Mtok].

    Each kind keeps devices busy for its own time; idle time is shared in proportion:

        c_kind = (USD/s / u)·seconds per token of that kind
        c_blend = Σ tokens_kind·c_kind / Σ tokens_kind

    Args:
        usd_per_device_hour: Rental or ownership cost of one device.
        prefill_tokens_per_s_per_device: Fresh prompt tokens per second per prefill device.
        decode_tokens_per_s_per_device: Output tokens per second per decode device.
        cached_seconds_per_token: Device time that loading one cached token blocks [s].
        input_tokens: Fresh (not cached) prompt tokens of the mix.
        cached_tokens: Prompt tokens served from the cache.
        output_tokens: Generated tokens.
        utilisation: Share of capacity sold, 0 < u ≤ 1.

    Raises:
        InputError: a utilisation outside 0 < u ≤ 1.

    Source: first principles.
    """
    check_utilisation(utilisation)
    per_second = usd_per_device_hour / SECONDS_PER_HOUR / utilisation * 1e6
    fresh = per_second / prefill_tokens_per_s_per_device
    cached = per_second * cached_seconds_per_token
    output = per_second / decode_tokens_per_s_per_device
    total = input_tokens + cached_tokens + output_tokens
    blended = (input_tokens * fresh + cached_tokens * cached + output_tokens * output) / total
    return TokenCosts(
        input_usd_per_mtok=fresh,
        cached_usd_per_mtok=cached,
        output_usd_per_mtok=output,
        blended_usd_per_mtok=blended,
        utilisation=utilisation,
    )


def break_even_tokens_per_day(
    *, usd_per_device_hour: Number, num_devices: Number, price_usd_per_mtok: Number
) -> Number:
    """Return the tokens per day above which N devices are cheaper than a price list [token/day].

    The devices cost the same whether or not they work:

        tokens/day = N·24·USD/h / price·10^6

    Compare with what the devices can make in a day before believing it.

    Source: first principles.

    >>> break_even_tokens_per_day(usd_per_device_hour=2.0, num_devices=8, price_usd_per_mtok=1.0)
    384000000.0
    """
    return num_devices * 24.0 * usd_per_device_hour / price_usd_per_mtok * 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class DayAccount:
    """A day of a service: what it sold at list price and what its devices cost."""

    cost_usd: Number
    income_usd: Number
    profit_over_cost: Number
    """(income − cost) / cost, what DeepSeek calls the cost profit margin."""
    input_tokens_per_s_per_node: Number
    """Fresh and cached, over the mean number of nodes."""
    output_tokens_per_s_per_node: Number


def day_account(
    *,
    fresh_tokens: Number,
    cached_tokens: Number,
    output_tokens: Number,
    input_usd_per_mtok: Number,
    cached_usd_per_mtok: Number,
    output_usd_per_mtok: Number,
    nodes: Number,
    devices_per_node: Number,
    usd_per_device_hour: Number,
) -> DayAccount:
    """Return cost, theoretical income and margin of one day [USD, USD, 1].

        cost = nodes·devices·24 h·USD/h ;  income = Σ tokens·price

    Args:
        fresh_tokens: Prompt tokens that missed the cache.
        cached_tokens: Prompt tokens that hit it.
        output_tokens: Generated tokens.
        input_usd_per_mtok: List price of a miss.
        cached_usd_per_mtok: List price of a hit.
        output_usd_per_mtok: List price of an output token.
        nodes: Mean number of nodes in use.
        devices_per_node: Devices of one node.
        usd_per_device_hour: Rental price.

    Source: deepseek2025infra, day 6.
    """
    cost = nodes * devices_per_node * 24.0 * usd_per_device_hour
    income = (
        fresh_tokens * input_usd_per_mtok
        + cached_tokens * cached_usd_per_mtok
        + output_tokens * output_usd_per_mtok
    ) / 1e6
    per_node_second = nodes * SECONDS_PER_DAY
    return DayAccount(
        cost_usd=cost,
        income_usd=income,
        profit_over_cost=(income - cost) / cost,
        input_tokens_per_s_per_node=(fresh_tokens + cached_tokens) / per_node_second,
        output_tokens_per_s_per_node=output_tokens / per_node_second,
    )
