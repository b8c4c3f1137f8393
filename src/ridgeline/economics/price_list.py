"""Dated list prices: which row is in force, and what a request costs under it.

A model's sheet is a set of rows. A row holds from its start until the next start of the same key
(list, tier, context bracket, hours); history is appended to, never edited.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ridgeline.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Hours of the day, in UTC, on some days of the week."""

    start_minute: int
    end_minute: int
    """Exclusive; 1440 is midnight at the end of the day."""
    weekdays: tuple[int, ...] = ()
    """1 is Monday, 7 Sunday; empty means every day."""

    def holds(self, when: dt.datetime) -> bool:
        """Return whether `when` (UTC) lies in the window."""
        if self.weekdays and when.isoweekday() not in self.weekdays:
            return False
        return self.start_minute <= when.hour * 60 + when.minute < self.end_minute


_STAYS = dt.timedelta(days=31)
"""A list read this long ago is taken to hold still."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceRow:
    """One line of a price list; all prices in USD per million tokens."""

    provider: str
    model: str
    list_name: str
    """Who wrote the price down."""
    tier: str = "standard"
    """standard, batch, flex, priority, fast ..."""
    above_tokens: int = 0
    """The row prices the whole of a prompt longer than this."""
    windows: tuple[Window, ...] = ()
    """Hours in which the row replaces the one without hours."""
    starts: dt.date | None = None
    """None: as far back as the list goes."""
    ends: dt.date | None = None
    """Exclusive; None: until a later row of the same key starts."""
    input_usd_per_mtok: float
    output_usd_per_mtok: float
    cache_read_usd_per_mtok: float | None = None
    """None: not offered, or not known."""
    cache_write_usd_per_mtok: tuple[tuple[str, float], ...] = ()
    """By lifetime (5m, 1h, 12h; `any` where the list names none)."""
    reasoning_usd_per_mtok: float | None = None
    cache_storage_usd_per_mtok_hour: float | None = None
    max_input_tokens: int | None = None
    source: str
    as_of: dt.date
    """Day on which the list was read."""
    url: str | None = None
    note: str | None = None

    @property
    def id(self) -> str:
        """`provider/model`."""
        return f"{self.provider}/{self.model}"

    @property
    def key(self) -> tuple[object, ...]:
        """What two rows must differ in to hold at the same time."""
        return (
            self.provider,
            self.list_name,
            self.model,
            self.tier,
            self.above_tokens,
            self.windows,
        )


def in_force(rows: Iterable[PriceRow], on: dt.date) -> tuple[PriceRow, ...]:
    """Return the rows that hold on a day: of each key the latest start that is not ended."""
    latest: dict[tuple[object, ...], PriceRow] = {}
    for row in rows:
        if row.starts is not None and row.starts > on:
            continue
        best = latest.get(row.key)
        first = dt.date.min
        if best is None or (row.starts or first) >= (best.starts or first):
            latest[row.key] = row
    return tuple(r for r in latest.values() if r.ends is None or on < r.ends)


def date_flags(rows: Iterable[PriceRow], on: dt.date) -> tuple[str, ...]:
    """Return what is assumed about rows on a day on which nobody read their list."""
    before: dict[tuple[str, dt.date], int] = {}
    after: dict[tuple[str, dt.date], int] = {}
    for row in rows:
        read = (row.list_name, row.as_of)
        if row.starts is None and on < row.as_of:
            before[read] = before.get(read, 0) + 1
        elif on > row.as_of + _STAYS:
            after[read] = after.get(read, 0) + 1
    return (
        *(
            f"extrapolated: {name} was read on {day} and does not say since when its price holds;"
            f" taken for {on} too{f' ({count:,} rows)' if count > 1 else ''}"
            for (name, day), count in before.items()
        ),
        *(
            f"extrapolated: {name} was read on {day}; changes between then and {on} are not known"
            f"{f' ({count:,} rows)' if count > 1 else ''}"
            for (name, day), count in after.items()
        ),
    )


def at_hour(rows: Iterable[PriceRow], when: dt.datetime) -> tuple[PriceRow, ...]:
    """Return the rows that hold at a moment (UTC): hours win over the row without hours."""
    chosen: dict[tuple[object, ...], PriceRow] = {}
    for row in in_force(rows, when.date()):
        key = row.key[:-1]
        if row.windows:
            if any(w.holds(when) for w in row.windows):
                chosen[key] = row
        else:
            chosen.setdefault(key, row)
    return tuple(chosen.values())


def changes_after(rows: Iterable[PriceRow], on: dt.date) -> tuple[PriceRow, ...]:
    """Return the rows announced to start after a day, in order."""
    later = [r for r in rows if r.starts is not None and r.starts > on]
    return tuple(sorted(later, key=lambda r: (r.starts or on, r.key[:5])))


def overlap(rows: Sequence[PriceRow]) -> tuple[PriceRow, PriceRow] | None:
    """Return two rows of one key that hold on the same day against the rule, if any.

    A later start ends an open row; a second row with the same start, or a stated end beyond the
    next start, is a contradiction.
    """
    groups: dict[tuple[object, ...], list[PriceRow]] = {}
    for row in rows:
        groups.setdefault(row.key, []).append(row)
    for group in groups.values():
        group.sort(key=lambda r: r.starts or dt.date.min)
        for left, right in itertools.pairwise(group):
            same = left.starts == right.starts
            if same or (left.ends is not None and left.ends > (right.starts or left.ends)):
                return left, right
    return None


def bracket(rows: Iterable[PriceRow], *, prompt_tokens: float) -> PriceRow:
    """Return the row that prices a prompt: the highest context bracket below its length.

    The rows must be of one list and tier, at one moment (`at_hour`).

    Raises:
        InputError: no row is in force.
    """
    fitting = [r for r in rows if r.above_tokens == 0 or prompt_tokens > r.above_tokens]
    if not fitting:
        raise InputError("No price is in force for that model, tier and day. Try another --date.")
    return max(fitting, key=lambda r: r.above_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """USD by kind of token; the parts sum to the total."""

    input_usd: float
    cached_usd: float
    written_usd: float
    output_usd: float
    flags: tuple[str, ...] = ()

    @property
    def total_usd(self) -> float:
        """Sum of the parts [USD]."""
        return self.input_usd + self.cached_usd + self.written_usd + self.output_usd


def bill(
    row: PriceRow,
    *,
    input_tokens: float,
    output_tokens: float,
    cached_tokens: float = 0.0,
    written_tokens: float = 0.0,
    ttl: str | None = None,
) -> Bill:
    """Return what tokens cost under one row [USD].

        input = (prompt − cached − written)·p_in + cached·p_read + written·p_write

    Args:
        row: From `bracket`, so that a long prompt is repriced as a whole.
        input_tokens: The whole prompt, cached and written parts included.
        output_tokens: Generated tokens, reasoning included.
        cached_tokens: Prompt tokens read from the provider's cache.
        written_tokens: Prompt tokens written to it.
        ttl: Lifetime of the write (5m, 1h ...); needed where several are priced.

    Raises:
        InputError: more cached and written tokens than the prompt has, or no such write price.
    """
    fresh = input_tokens - cached_tokens - written_tokens
    if min(fresh, cached_tokens, written_tokens, output_tokens) < 0:
        raise InputError(
            "cached and written tokens are part of the input and may not exceed it:"
            f" input {input_tokens:,}, cached {cached_tokens:,}, written {written_tokens:,}."
        )
    flags: list[str] = []
    read = row.cache_read_usd_per_mtok
    if read is None and cached_tokens:
        flags.append(f"{row.id} lists no cache-read price: cached tokens are billed as input")
        read = row.input_usd_per_mtok
    write = row.input_usd_per_mtok
    if written_tokens:
        write, note = _write_price(row, ttl)
        flags += note
    return Bill(
        input_usd=fresh * row.input_usd_per_mtok / 1e6,
        cached_usd=cached_tokens * (read or 0.0) / 1e6,
        written_usd=written_tokens * write / 1e6,
        output_usd=output_tokens * row.output_usd_per_mtok / 1e6,
        flags=tuple(flags),
    )


def _write_price(row: PriceRow, ttl: str | None) -> tuple[float, list[str]]:
    prices = dict(row.cache_write_usd_per_mtok)
    if not prices:
        return row.input_usd_per_mtok, [
            f"{row.id} lists no cache-write price: written tokens are billed as input"
        ]
    if ttl is None and len(prices) == 1:
        return next(iter(prices.values())), []
    if ttl is None or ttl not in prices:
        raise InputError(
            f"{row.id} prices cache writes for {', '.join(prices)}: say which with --ttl."
        )
    return prices[ttl], []
