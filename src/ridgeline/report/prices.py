"""Price lists as tables and JSON; computes nothing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from ridgeline.economics.price_list import PriceRow, Window, date_flags
from ridgeline.report.flags import wrapped
from ridgeline.report.table import Column, Style, render_table
from ridgeline.study.prices import SCHEMA_VERSION, Quote, Sheet, TraceQuote

_ROWS = (
    Column(key="id", label="provider/model", align="left", wrap=True),
    Column(key="list", label="list", align="left"),
    Column(key="tier", label="tier", align="left"),
    Column(key="above_tokens", label="above"),
    Column(key="input_usd_per_mtok", label="input"),
    Column(key="output_usd_per_mtok", label="output"),
    Column(key="cache_read_usd_per_mtok", label="read"),
    Column(key="cache_write", label="write", align="left", wrap=True),
    Column(key="when", label="when", align="left", wrap=True),
)
_DAYS = ("", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def hours_text(windows: Sequence[Window]) -> str:
    """Return windows for people: `01:00-04:00 Mon-Fri`."""
    by_days: dict[tuple[int, ...], list[str]] = {}
    for w in windows:
        a, b = w.start_minute, w.end_minute
        by_days.setdefault(w.weekdays, []).append(
            f"{a // 60:02}:{a % 60:02}-{b // 60:02}:{b % 60:02}"
        )
    parts: list[str] = []
    for days, spans in by_days.items():
        span = "" if not days else f" {_DAYS[days[0]]}-{_DAYS[days[-1]]}"
        parts.append(" ".join(spans) + span)
    return "; ".join(parts)


def row_dict(row: PriceRow) -> dict[str, Any]:
    """Return one price as JSON: USD per million tokens, ISO dates, with its source."""
    when = [f"from {row.starts}"] if row.starts else []
    when += [f"until {row.ends}"] if row.ends else []
    when += [hours_text(row.windows) + " UTC"] if row.windows else []
    return {
        "id": row.id,
        "list": row.list_name,
        "tier": row.tier,
        "above_tokens": row.above_tokens,
        "input_usd_per_mtok": row.input_usd_per_mtok,
        "output_usd_per_mtok": row.output_usd_per_mtok,
        "cache_read_usd_per_mtok": row.cache_read_usd_per_mtok,
        "cache_write": ", ".join(
            (f"{p:g}" if t == "any" else f"{p:g} ({t})") for t, p in row.cache_write_usd_per_mtok
        ),
        "cache_write_usd_per_mtok": dict(row.cache_write_usd_per_mtok),
        "cache_storage_usd_per_mtok_hour": row.cache_storage_usd_per_mtok_hour,
        "reasoning_usd_per_mtok": row.reasoning_usd_per_mtok,
        "when": ", ".join(when),
        "starts": str(row.starts) if row.starts else None,
        "ends": str(row.ends) if row.ends else None,
        "hours_utc": hours_text(row.windows),
        "max_input_tokens": row.max_input_tokens,
        "source": row.source,
        "as_of": str(row.as_of),
        "url": row.url,
    }


def rows_text(rows: Sequence[PriceRow], style: Style = "text") -> str:
    """Return prices as a table in USD per million tokens."""
    plain = style == "text" and all(r.tier == "standard" for r in rows)
    columns = tuple(c for c in _ROWS if not plain or c.key != "tier")
    return render_table(columns, [row_dict(r) for r in rows], style=style)


def rows_json(rows: Sequence[PriceRow], on: dt.date) -> dict[str, Any]:
    """Return prices as JSON, with what is assumed about them on that day."""
    return {
        "schema_version": SCHEMA_VERSION,
        "prices": [row_dict(r) for r in rows],
        "flags": list(date_flags(rows, on)),
    }


def date_lines(rows: Sequence[PriceRow], on: dt.date) -> list[str]:
    """Return what is assumed about prices on a day on which nobody read their list, wrapped."""
    return [line for flag in date_flags(rows, on) for line in wrapped(f"Note: {flag}.")]


def sheet_text(sheet: Sheet) -> str:
    """Return a model's sheet: in force, announced, disagreements, sources."""
    hour = "" if sheet.hour is None else f" {sheet.hour:02}:00 UTC"
    lines = [f"{sheet.model} on {sheet.on}{hour}, USD per million tokens", ""]
    if sheet.rows:
        lines.append(rows_text(sheet.rows))
    if sheet.announced:
        lines += ["", "Announced changes", rows_text(sheet.announced)]
    if sheet.disagreements:
        lines += ["", "The lists disagree (shown, never averaged)"]
        for d in sheet.disagreements:
            above = f" above {d.above_tokens:,}" if d.above_tokens else ""
            prices = ", ".join(f"{name} {price:g}" for name, price in d.prices)
            lines.append(f"  {d.tier}{above} {d.kind}: {prices} ({d.why})")
    lines += ["", *(x for flag in sheet.flags for x in wrapped(f"Note: {flag}."))]
    used = {r.list_name: r for r in (*sheet.rows, *sheet.announced)}
    for name, row in used.items():
        lines += wrapped(f"{name}: {row.source}, read {row.as_of}.")
    return "\n".join(lines)


def sheet_json(sheet: Sheet) -> dict[str, Any]:
    """Return a model's sheet as JSON."""
    return {
        "schema_version": SCHEMA_VERSION,
        "model": sheet.model,
        "date": str(sheet.on),
        "hour_utc": sheet.hour,
        "prices": [row_dict(r) for r in sheet.rows],
        "announced": [row_dict(r) for r in sheet.announced],
        "disagreements": [
            {
                "tier": d.tier,
                "above_tokens": d.above_tokens,
                "kind": d.kind,
                "usd_per_mtok": dict(d.prices),
                "why": d.why,
            }
            for d in sheet.disagreements
        ],
        "flags": list(sheet.flags),
    }


_QUOTES = (
    Column(key="id", label="provider/model", align="left", wrap=True),
    Column(key="list", label="list", align="left"),
    Column(key="hours_utc", label="hours (UTC)", align="left", wrap=True),
    Column(key="above_tokens", label="bracket"),
    Column(key="input_usd", label="input"),
    Column(key="cached_usd", label="cached"),
    Column(key="written_usd", label="written"),
    Column(key="output_usd", label="output"),
    Column(key="total_usd", label="total"),
)


def quote_rows(quotes: Sequence[Quote]) -> list[dict[str, Any]]:
    """Return one row per list."""
    return [
        {
            "id": q.row.id,
            "list": q.row.list_name,
            "hours_utc": hours_text(q.row.windows),
            "above_tokens": q.row.above_tokens,
            "input_usd": q.bill.input_usd,
            "cached_usd": q.bill.cached_usd,
            "written_usd": q.bill.written_usd,
            "output_usd": q.bill.output_usd,
            "total_usd": q.bill.total_usd,
            "flags": list(q.bill.flags),
        }
        for q in quotes
    ]


def quotes_text(quotes: Sequence[Quote], style: Style = "text") -> str:
    """Return bills as a table."""
    text = render_table(_QUOTES, quote_rows(quotes), style=style)
    notes = dict.fromkeys(f for q in quotes for f in q.bill.flags)
    return (
        text
        if style != "text"
        else "\n".join(
            [
                "US dollars for these tokens",
                text,
                *(x for n in notes for x in wrapped(f"Note: {n}.")),
            ]
        )
    )


_TRACES = (
    Column(key="model", label="provider/model", align="left", wrap=True),
    Column(key="list", label="list", align="left"),
    Column(key="hours_utc", label="hours (UTC)", align="left", wrap=True),
    Column(key="num_requests", label="requests"),
    Column(key="input_tokens", label="input tokens"),
    Column(key="output_tokens", label="output tokens"),
    Column(key="num_long", label="repriced"),
    Column(key="total_usd", label="total USD"),
)


def trace_rows(quotes: Sequence[TraceQuote]) -> list[dict[str, Any]]:
    """Return one row per list."""
    return [
        {
            "model": q.model,
            "list": q.list_name,
            "hours_utc": hours_text(q.windows),
            "num_requests": q.num_requests,
            "input_tokens": q.input_tokens,
            "output_tokens": q.output_tokens,
            "num_long": q.num_long,
            "total_usd": q.total_usd,
            "flags": list(q.flags),
        }
        for q in quotes
    ]


def traces_text(quotes: Sequence[TraceQuote], style: Style = "text") -> str:
    """Return the bills of a trace as a table."""
    text = render_table(_TRACES, trace_rows(quotes), style=style)
    notes = dict.fromkeys(f for q in quotes for f in q.flags)
    return (
        text
        if style != "text"
        else "\n".join(
            [
                "US dollars for these tokens",
                text,
                *(x for n in notes for x in wrapped(f"Note: {n}.")),
            ]
        )
    )
