"""Price lists from files: built in, or the user's own; refused with file, entry and rule."""

from __future__ import annotations

import datetime as dt
import functools
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ridgeline.economics.price_list import PriceRow, Window, overlap
from ridgeline.errors import InputError

DATA = Path(__file__).parent / "data" / "prices"
UNITS = {"USD/Mtok": 1.0, "USD/ktok": 1e3, "USD/token": 1e6}
"""What a file may be written in, and the factor to USD per million tokens."""
TIERS = ("standard", "batch", "flex", "priority", "fast", "balanced", "ultrafast")
KINDS = ("first_party", "host")
MAX_USD_PER_MTOK = 1e5
_HEAD = {"provider", "kind", "currency", "unit", "lists", "rows"}
_ROW = {
    "model", "list", "tier", "above", "hours", "from", "until", "input", "output", "cache_read",
    "cache_write", "reasoning", "cache_storage_per_hour", "max_input", "url", "note",
}  # fmt: skip
_TTL = re.compile(r"any|[1-9]\d{0,2}[mhd]")
_HOURS = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-(?:([01]\d|2[0-3]):([0-5]\d)|(24):(00))")


@functools.cache
def builtin_prices() -> tuple[PriceRow, ...]:
    """Return every built-in row, by provider."""
    rows: list[PriceRow] = []
    for path in sorted(DATA.glob("*.json")):
        rows += price_rows(json.loads(path.read_bytes()), where=path.name)
    return tuple(rows)


@functools.cache
def provider_kinds() -> Mapping[str, str]:
    """Return `first_party` or `host` by built-in provider."""
    heads = [json.loads(p.read_bytes()) for p in sorted(DATA.glob("*.json"))]
    return {h["provider"]: h["kind"] for h in heads}


def load_price_file(path: Path) -> tuple[PriceRow, ...]:
    """Return the rows of a YAML or JSON price file.

    Raises:
        InputError: with the file, the entry and the rule it breaks.
    """
    import yaml  # noqa: PLC0415 - the built-in lists are JSON

    if not path.is_file():
        raise InputError(f"No price file {path}.")
    if path.stat().st_size > 50_000_000:
        raise InputError(f"{path}: a price file may have at most 50 MB.")
    try:
        text = path.read_text(encoding="utf-8")
        data = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except (UnicodeDecodeError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise InputError(f"{path}: not readable as YAML or JSON ({str(error)[:200]}).") from error
    return price_rows(data, where=path.name)


def price_rows(data: Any, *, where: str) -> tuple[PriceRow, ...]:
    """Return the rows of a parsed price file.

    Raises:
        InputError: with the file, the entry and the rule it breaks.
    """
    head = _mapping(data, f"{where}: a price file must be a mapping with provider and rows")
    _known_keys(head, _HEAD, where)
    provider = _text(head.get("provider"), f"{where}: provider")
    if "currency" not in head:
        raise InputError(f"{where}: currency is missing. Write `currency: USD`.")
    if head["currency"] != "USD":
        raise InputError(
            f"{where}: currency must be USD: {head['currency']!r}. Convert the prices and name the"
            " rate in a note."
        )
    unit = str(head.get("unit"))
    if unit not in UNITS:
        raise InputError(f"{where}: unit must be one of {', '.join(UNITS)}: {unit[:60]!r}.")
    if head.get("kind", "host") not in KINDS:
        raise InputError(f"{where}: kind must be first_party or host: {head['kind']!r}.")
    scale = UNITS[unit]
    lists = _lists(head.get("lists"), where)
    raw: Any = head.get("rows")
    if not isinstance(raw, list) or not raw:
        raise InputError(f"{where}: rows must be a list with at least one price.")
    rows = tuple(
        _row(item, provider, lists, scale, f"{where}: rows[{i}]")
        for i, item in enumerate(cast("list[Any]", raw))
    )
    clash = overlap(rows)
    if clash is not None:
        left, right = clash
        raise InputError(
            f"{where}: two prices of {left.id} ({left.tier}, above {left.above_tokens:,} tokens,"
            f" list {left.list_name}) overlap in dates: from {left.starts or 'the beginning'}"
            f" until {left.ends or 'open'}, and from {right.starts or 'the beginning'}."
            " Each must start on its own day and end by the next start."
        )
    return rows


def _lists(value: Any, where: str) -> dict[str, tuple[str, dt.date]]:
    lists = _mapping(value, f"{where}: lists must name each list with its source and date")
    found: dict[str, tuple[str, dt.date]] = {}
    for name, entry in lists.items():
        at = f"{where}: lists.{name}"
        each = _mapping(entry, f"{at} must have source and date")
        date = _date(each.get("date"), f"{at}.date")
        if date is None:
            raise InputError(f"{at}.date is missing: the day on which the list was read.")
        found[name] = (_text(each.get("source"), f"{at}.source"), date)
    return found


def _row(
    item: Any,
    provider: str,
    lists: Mapping[str, tuple[str, dt.date]],
    scale: float,
    where: str,
) -> PriceRow:
    row = _mapping(item, f"{where} must be a mapping")
    model = _text(row.get("model"), f"{where}.model")
    where = f"{where} ({model})"
    _known_keys(row, _ROW, where)
    name = str(row.get("list"))
    if name not in lists:
        raise InputError(f"{where}.list must be one of {', '.join(lists) or 'none'}: {name!r}.")
    tier = row.get("tier", "standard")
    if tier not in TIERS:
        raise InputError(f"{where}.tier must be one of {', '.join(TIERS)}: {tier!r}.")
    starts, ends = _date(row.get("from"), f"{where}.from"), _date(row.get("until"), where)
    if starts and ends and ends <= starts:
        raise InputError(f"{where}: until must be after from: {starts} to {ends}.")
    writes = _mapping(row.get("cache_write", {}), f"{where}.cache_write must be by lifetime")
    for ttl in writes:
        if not _TTL.fullmatch(ttl):
            raise InputError(f"{where}.cache_write: a lifetime is written 5m, 1h or any: {ttl!r}.")

    def price(key: str) -> float | None:
        return _price(row.get(key), scale, f"{where}.{key}")

    source, as_of = lists[name]
    return PriceRow(
        provider=provider,
        model=model,
        list_name=name,
        tier=tier,
        above_tokens=_count(row.get("above", 0), f"{where}.above"),
        windows=_windows(row.get("hours", []), f"{where}.hours"),
        starts=starts,
        ends=ends,
        input_usd_per_mtok=_required(price("input"), f"{where}.input"),
        output_usd_per_mtok=_required(price("output"), f"{where}.output"),
        cache_read_usd_per_mtok=price("cache_read"),
        cache_write_usd_per_mtok=tuple(
            (t, _required(_price(v, scale, f"{where}.cache_write.{t}"), where))
            for t, v in writes.items()
        ),
        reasoning_usd_per_mtok=price("reasoning"),
        cache_storage_usd_per_mtok_hour=price("cache_storage_per_hour"),
        max_input_tokens=_count(row["max_input"], f"{where}.max_input")
        if "max_input" in row
        else None,
        source=source,
        as_of=as_of,
        url=None if "url" not in row else _text(row["url"], f"{where}.url"),
        note=None if "note" not in row else _text(row["note"], f"{where}.note"),
    )


def _mapping(value: Any, rule: str) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(k, str) for k in cast("Any", value)):
        raise InputError(f"{rule}.")
    return cast("dict[str, Any]", value)


def _known_keys(entry: Mapping[str, Any], known: set[str], where: str) -> None:
    for key in entry:
        if key not in known:
            raise InputError(
                f"{where}: unknown key {key[:60]!r}. Known: {', '.join(sorted(known))}."
            )


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > 500:
        raise InputError(f"{what} must be a name of 1 to 500 characters: {str(value)[:60]!r}.")
    return value


def _count(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 2**40:
        raise InputError(f"{what} must be a whole number of tokens from 0: {str(value)[:60]!r}.")
    return value


def _price(value: Any, scale: float, what: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{what} must be a number: {str(value)[:60]!r}.")
    if value < 0:
        raise InputError(f"{what} must not be negative: {value}. A free kind of token is 0.")
    usd = value * scale
    if usd > MAX_USD_PER_MTOK:
        raise InputError(
            f"{what} must be at most {MAX_USD_PER_MTOK:,.0f} USD/Mtok: {usd:g}. Check the unit."
        )
    return usd


def _required(value: float | None, what: str) -> float:
    if value is None:
        raise InputError(f"{what} is missing.")
    return value


def _date(value: Any, what: str) -> dt.date | None:
    if value is None or type(value) is dt.date:
        return value
    try:
        return dt.date.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be a date YYYY-MM-DD: {str(value)[:60]!r}.") from error


def _windows(value: Any, what: str) -> tuple[Window, ...]:
    if not isinstance(value, list):
        raise InputError(f"{what} must be a list of {{utc: HH:MM-HH:MM, weekdays: [1..7]}}.")
    return tuple(_window(item, what) for item in cast("list[Any]", value))


def _window(item: Any, what: str) -> Window:
    each = _mapping(item, f"{what}: each must have utc")
    match = _HOURS.fullmatch(str(each.get("utc")))
    if match is None:
        raise InputError(f"{what}: utc must be HH:MM-HH:MM: {each.get('utc')!r}.")
    a, b, c, d = [int(x) for x in match.groups() if x is not None]
    if c * 60 + d <= a * 60 + b:
        raise InputError(f"{what}: a window must end after it starts: {each['utc']}. Split it.")
    days: Any = each.get("weekdays", [])
    if not isinstance(days, list) or not all(d in range(1, 8) for d in cast("list[Any]", days)):
        raise InputError(f"{what}: weekdays are 1 (Monday) to 7: {days!r}.")
    return Window(
        start_minute=a * 60 + b,
        end_minute=c * 60 + d,
        weekdays=tuple(sorted(cast("list[int]", days))),
    )
