"""Bodies of the questions about prices: arguments of the study functions, each with its flag."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ridgeline.web.limits import MAX_REQUESTS
from ridgeline.web.schemas import (
    Count,
    Day,
    Degree,
    Number,
    Numbers,
    Request,
    Served,
    Text,
    Tokens,
    day,
    flag,
)

PriceTier = Literal["standard", "batch", "flex", "priority", "fast", "balanced", "ultrafast"]
Share = Annotated[float, Field(ge=0, le=1, strict=True)]


class PricesRequest(Request):
    """Which list prices."""

    pattern: Text = ""
    tier: PriceTier = flag("standard", "--tier")
    date: Day = day()
    hour: Annotated[int, Field(ge=0, le=23)] | None = flag(None, "--hour")


class SheetRequest(Request):
    """Whose price sheet."""

    model: Text
    date: Day = day()
    hour: Annotated[int, Field(ge=0, le=23)] | None = flag(None, "--hour")


class BillRequest(Request):
    """Arguments of `ridgeline.study.prices.cost`."""

    model: Text
    input_tokens: Tokens = flag(..., "--input")
    output_tokens: Tokens = flag(..., "--output")
    cached_tokens: Tokens = flag(0, "--cached")
    written_tokens: Tokens = flag(0, "--written")
    ttl: Text | None = flag(None, "--ttl")
    tier: PriceTier = flag("standard", "--tier")
    date: Day = day()
    hour: Annotated[int, Field(ge=0, le=23)] | None = flag(None, "--hour")


class DecodeRequest(Request):
    """Arguments of `ridgeline.study.price_decode.decode`."""

    model: Text
    date: Day = day()
    list_name: Text | None = flag(None, "--list")
    fast_speed: Number | None = flag(None, "--fast-speed")
    fast_price: Number | None = flag(None, "--fast-price")
    draws: Annotated[int, Field(ge=1000, le=200_000)] = flag(100_000, "--draws")
    seed: Annotated[int, Field(ge=0, le=2**31, strict=True)] = flag(0, "--seed")


class TraceRequest(Request):
    """Arguments of `ridgeline.study.prices.trace_cost`, with the lengths themselves."""

    model: Text
    lengths: Annotated[list[tuple[Count, Count]], Field(min_length=1, max_length=MAX_REQUESTS)]
    """Input and output tokens of every request."""
    cached_share: Share = flag(0.0, "--cached-share")
    """Of each prompt, read from the provider's cache."""
    tier: PriceTier = flag("standard", "--tier")
    date: Day = day()
    hour: Annotated[int, Field(ge=0, le=23)] | None = flag(None, "--hour")


class DayRequest(Request):
    """Which published day of a service."""

    name: Text = "deepseek-2025-02-28"


class CoverageRequest(Request):
    """Arguments of `ridgeline.study.price_coverage.cases`."""

    date: Day = day()
    draws: Annotated[int, Field(ge=1000, le=30_000)] = flag(30_000, "--draws")
    seed: Annotated[int, Field(ge=0, le=2**31)] = flag(0, "--seed")


class Operated(Served):
    """A model on devices of one's own or rented, at a speed."""

    on: Text = flag(..., "--on")
    """Cluster or device."""
    speed: Number = flag(20.0, "--speed")
    """Tokens per second of every user."""
    devices: Degree | None = flag(None, "--devices")
    tp: Degree | None = flag(None, "--tp")
    pp: Degree | None = flag(None, "--pp")
    ep: Degree | None = flag(None, "--ep")
    dp: Degree | None = flag(None, "--dp")
    dtype: Text | None = flag(None, "--dtype")
    kv_cache_dtype: Text | None = flag(None, "--kv-cache-dtype")
    usd_per_device_hour: Number | None = flag(None, "--usd-per-hour")


class MarginRequest(Operated):
    """Arguments of `ridgeline.study.margins.margins`; `model` is what is really served."""

    price: Text
    """provider/model."""
    date: Day = day()
    utilisation: Number | None = flag(None, "--utilisation")
    """Share of capacity sold; this or `rate` must be given."""
    rate: Number | None = flag(None, "--rate")
    """Requests per second instead (Little's law)."""
    replicas: Degree = flag(1, "--replicas")
    output_tokens: Annotated[int, Field(ge=1, le=2**27, strict=True)] = flag(500, "--osl")
    target_margin: Number = flag(0.5, "--target")


class BreakEvenRequest(Operated):
    """Arguments of `ridgeline.study.break_even.break_even`."""

    date: Day = day()
    utilisation: Number | None = flag(None, "--utilisation")
    """Share of capacity sold; this or `rate` must be given."""
    rate: Number | None = flag(None, "--rate")
    """Requests per second instead (Little's law)."""
    replicas: Degree = flag(1, "--replicas")
    isl: Tokens = flag("4k", "--isl")
    """Prompt tokens."""
    osl: Tokens = flag("500", "--osl")
    """Output tokens."""
    cached_share: Share = flag(0.0, "--cached-share")
    """Of the prompt, read from the cache."""
    price: Text | None = flag(None, "--against")
    """provider/model of a price list."""
    capex_usd: Number | None = flag(None, "--capex")
    """Purchase of one device."""
    own: Annotated[Numbers, Field(max_length=32)] = flag({}, "--own", repeat=True)
    """Figures of ownership over the catalogue's, by name."""


class ModesRequest(Operated):
    """Arguments of `ridgeline.study.margins.speed_modes`."""

    context: Tokens = flag("8k", "--context")
    utilisation: Number = flag(..., "--utilisation")
    """Share of capacity sold."""
    fast_ratio: Number = flag(2.5, "--fast")
    """Speed of the fast mode over the standard one."""
