"""Price lists asked: what is listed, what is in force, what a request or a trace costs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ridgeline.catalog.prices import builtin_prices, load_price_file
from ridgeline.economics.price_list import (
    Bill,
    PriceRow,
    Window,
    at_hour,
    bill,
    bracket,
    changes_after,
    date_flags,
    in_force,
)
from ridgeline.errors import InputError, UnknownNameError
from ridgeline.readers.lengths import read_lengths

SCHEMA_VERSION = "1"
PREFERRED_LISTS = ("litellm", "genai-prices", "llm-prices")
"""Which list answers when several do; a list of the user's own comes first."""
TOLERANCE = 0.005
"""Two lists agree when every price is within this share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """One bracket of one tier on which two lists differ."""

    tier: str
    above_tokens: int
    kind: str
    prices: tuple[tuple[str, float], ...]
    """List name and USD/Mtok."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """What is listed for one model: in force, announced, and where lists disagree."""

    model: str
    on: dt.date
    hour: int | None
    rows: tuple[PriceRow, ...]
    announced: tuple[PriceRow, ...]
    disagreements: tuple[Disagreement, ...]
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A mix of tokens under one list and tier."""

    row: PriceRow
    bill: Bill


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceQuote:
    """A trace of requests under one list and tier."""

    model: str
    list_name: str
    tier: str
    windows: tuple[Window, ...]
    num_requests: int
    input_tokens: int
    output_tokens: int
    num_long: int
    """Requests repriced by a long-context bracket."""
    total_usd: float
    flags: tuple[str, ...] = ()


def all_rows(price_file: Path | None = None) -> tuple[PriceRow, ...]:
    """Return the built-in rows, or those of the user's file alone."""
    return builtin_prices() if price_file is None else load_price_file(price_file)


def listed(
    pattern: str = "",
    *,
    on: dt.date,
    hour: int | None = None,
    price_file: Path | None = None,
    tier: str = "standard",
) -> tuple[PriceRow, ...]:
    """Return the rows in force on a day whose `provider/model` contains the pattern."""
    words = pattern.lower().split()
    rows = [
        r for r in all_rows(price_file) if r.tier == tier and all(w in r.id.lower() for w in words)
    ]
    return tuple(sorted(_current(rows, on, hour), key=_order))


def find(model: str, rows: Iterable[PriceRow]) -> tuple[PriceRow, ...]:
    """Return the rows of `provider/model`, or of every provider that lists the bare name.

    Raises:
        UnknownNameError: with the nearest matches.
    """
    rows = tuple(rows)
    name = model.strip().lower()
    found = tuple(r for r in rows if name == r.id.lower())
    if not found:
        found = tuple(r for r in rows if name in _bare_names(r))
    if not found:
        raise UnknownNameError(
            "price of", model, {r.id for r in rows}, list_command="ridgeline prices list"
        )
    return found


def _bare_names(row: PriceRow) -> tuple[str, str]:
    return row.model.lower(), row.model.lower().rsplit("/", 1)[-1]


def show(
    model: str, *, on: dt.date, hour: int | None = None, price_file: Path | None = None
) -> Sheet:
    """Return everything listed for a model on a day, and at an hour (UTC) if one is given."""
    rows = find(model, all_rows(price_file))
    current = _current(rows, on, hour)
    flags: list[str] = []
    if not current:
        ended = max((r.ends for r in rows if r.ends), default=None)
        flags.append(f"nothing is in force on {on}" + (f"; last ended {ended}" if ended else ""))
    if any(r.windows for r in current) and hour is None:
        flags.append("priced by the time of day: give --hour (UTC) for the price of the moment")
    flags += date_flags(current, on)
    return Sheet(
        model=model,
        on=on,
        hour=hour,
        rows=tuple(sorted(current, key=_order)),
        announced=changes_after(rows, on),
        disagreements=_disagreements(current),
        flags=tuple(flags),
    )


def cost(
    model: str,
    *,
    on: dt.date,
    hour: int | None,
    input_tokens: int,
    output_tokens: int,
    cached_tokens: int = 0,
    written_tokens: int = 0,
    ttl: str | None = None,
    tier: str = "standard",
    price_file: Path | None = None,
) -> tuple[Quote, ...]:
    """Return the bill of one request under every list of the model, long prompts repriced."""
    quotes: list[Quote] = []
    for group in _groups(find(model, all_rows(price_file)), on, hour, tier):
        row = bracket(group, prompt_tokens=input_tokens)
        one = bill(
            row,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cached_tokens=cached_tokens,
            written_tokens=written_tokens,
            ttl=ttl,
        )
        flags = (*one.flags, *date_flags([row], on))
        quotes.append(Quote(row=row, bill=replace(one, flags=flags)))
    if not quotes:
        raise InputError(f"No {tier} price of {model} is in force on {on}. Try another --date.")
    return tuple(quotes)


def trace_cost(
    model: str,
    trace: Path,
    *,
    on: dt.date,
    hour: int | None,
    cached_share: float = 0.0,
    tier: str = "standard",
    price_file: Path | None = None,
) -> tuple[TraceQuote, ...]:
    """Return the bill of a trace of (input, output) lengths under every list of the model.

    Args:
        model: Name of a price.
        trace: Azure CSV, or Mooncake JSONL; `.gz` is read too.
        on: Day.
        hour: Hour in UTC, or None.
        cached_share: Share of each prompt that is read from the provider's cache.
        tier: Service tier.
        price_file: The user's own list.

    Raises:
        InputError: a bad trace, share, or no price in force.
    """
    if not 0 <= cached_share <= 1:
        raise InputError(f"cached-share must be from 0 to 1: {cached_share}.")
    lengths = read_lengths(trace)
    quotes: list[TraceQuote] = []
    for group in _groups(find(model, all_rows(price_file)), on, hour, tier):
        total, long, flags = 0.0, 0, dict[str, None]()
        for prompt, output in lengths:
            row = bracket(group, prompt_tokens=prompt)
            long += row.above_tokens > 0
            one = bill(
                row,
                input_tokens=prompt,
                output_tokens=output,
                cached_tokens=int(prompt * cached_share),
            )
            total += one.total_usd
            flags.update(dict.fromkeys(one.flags))
        quotes.append(
            TraceQuote(
                model=group[0].id,
                list_name=group[0].list_name,
                tier=tier,
                windows=group[0].windows,
                num_requests=len(lengths),
                input_tokens=sum(x for x, _ in lengths),
                output_tokens=sum(y for _, y in lengths),
                num_long=long,
                total_usd=total,
                flags=(*flags, *date_flags(group, on)),
            )
        )
    if not quotes:
        raise InputError(f"No {tier} price of {model} is in force on {on}. Try another --date.")
    return tuple(quotes)


def _current(rows: Sequence[PriceRow], on: dt.date, hour: int | None) -> tuple[PriceRow, ...]:
    if hour is None:
        return in_force(rows, on)
    if not 0 <= hour <= 23:
        raise InputError(f"hour must be from 0 to 23 (UTC): {hour}.")
    return at_hour(rows, dt.datetime(on.year, on.month, on.day, hour, tzinfo=dt.UTC))


def _groups(
    rows: Sequence[PriceRow], on: dt.date, hour: int | None, tier: str
) -> list[list[PriceRow]]:
    """Return the rows in force by provider, list and hours: each group prices any prompt."""
    groups: dict[tuple[object, ...], list[PriceRow]] = {}
    for row in _current(rows, on, hour):
        if row.tier == tier:
            hours = () if hour is not None else row.windows
            groups.setdefault((row.id, row.list_name, hours), []).append(row)
    return list(groups.values())


def _disagreements(rows: Sequence[PriceRow]) -> tuple[Disagreement, ...]:
    """Compare lists bracket by bracket, provider by provider."""
    places: dict[tuple[str, str, int], dict[str, list[PriceRow]]] = {}
    for row in rows:
        # 199,999 and 200,000 are one bracket, written as "from" and as "above".
        key = (row.id, row.tier, (row.above_tokens + 1) // 10 * 10)
        places.setdefault(key, {}).setdefault(row.list_name, []).append(row)
    found: list[Disagreement] = []
    for (_, tier, above), by_list in sorted(places.items()):
        for kind in ("input", "output", "cache_read"):
            prices = {
                name: sorted(
                    {p for r in rs if (p := getattr(r, f"{kind}_usd_per_mtok")) is not None}
                )
                for name, rs in by_list.items()
            }
            base = [
                (name, float(p))
                for name, rs in by_list.items()
                if (p := getattr(_base(rs), f"{kind}_usd_per_mtok")) is not None
            ]
            if len(base) < 2 or max(p for _, p in base) <= min(p for _, p in base) * (
                1 + TOLERANCE
            ):
                continue
            found.append(
                Disagreement(
                    tier=tier, above_tokens=above, kind=kind, prices=tuple(base),
                    why=_why(by_list, prices),
                )
            )  # fmt: skip
    return tuple(found)


def _base(rows: Sequence[PriceRow]) -> PriceRow:
    return next((r for r in rows if not r.windows), rows[0])


def _why(by_list: dict[str, list[PriceRow]], prices: dict[str, list[Any]]) -> str:
    timed = sorted(name for name, rs in by_list.items() if any(r.windows for r in rs))
    untimed = sorted(set(by_list) - set(timed))
    same = len({tuple(prices[name]) for name in timed}) == 1
    parts = [f"{' and '.join(timed)}: same by the hour, one states peak, one off-peak"] * (
        len(timed) > 1 and same
    )
    parts += [f"{', '.join(untimed)}: knows no hours"] * bool(timed and untimed)
    if parts:
        return "; ".join(parts)
    starts = {max((r.starts for r in rs if r.starts), default=None) for rs in by_list.values()}
    if len(starts) > 1:
        return "the lists date the last change differently"
    return "not explained: one of the lists is stale or prices another variant"


def _order(row: PriceRow) -> tuple[object, ...]:
    return (row.provider, row.model.lower(), row.list_name, row.tier, row.above_tokens,
            len(row.windows))  # fmt: skip
