"""Catalogue listings and entries as text, JSON, CSV or Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from ridgeline.report.flags import wrapped
from ridgeline.report.table import Collected, Column, Style, render_table
from ridgeline.units import human

SCHEMA_VERSION = "1"
_UNITS = (
    ("_flop_per_s", "FLOP/s"),
    ("_bytes_per_s", "B/s"),
    ("_bytes", "B"),
    ("_s", "s"),
    ("usd_per_device_hour", "USD/h"),
    ("usd_per_hour", "USD/h"),
    ("num_params", ""),
    ("num_active_params", ""),
)
_LABELS = {
    "peak_16_bit_flop_per_s": "16-bit peak",
    "peak_fp8_flop_per_s": "fp8 peak",
    "memory_bytes": "memory",
    "bandwidth_bytes_per_s": "bandwidth",
    "drain_time_s": "drain",
    "usd_per_device_hour": "USD/h each",
    "usd_per_hour": "USD/h",
    "num_devices": "devices",
    "link_bytes_per_s": "link speed",
    "num_params": "params",
    "num_active_params": "active",
    "num_layers": "layers",
    "max_position_embeddings": "positions",
    "weight_format": "format",
    "num_prices": "prices",
    "latency_s": "latency",
    "in_network_reduction": "reduces",
}
_LEFT = {
    "id",
    "owner",
    "vendor",
    "device",
    "link",
    "topology",
    "hub",
    "basis",
    "confidence",
    "tier",
    "weight_format",
    "compute_format",
    "source",
}
_WIDE = {"hub", "basis", "source"}
_NOT_IN_TEXT = {"vendor", "link", "hub", "num_layers", "max_position_embeddings", "aliases"}
"""Columns that would make a table wider than a screen; CSV and JSON keep them."""


class _Listing(Protocol):
    @property
    def kind(self) -> str: ...
    @property
    def rows(self) -> Sequence[Mapping[str, Any]]: ...


def words(key: str, value: Any) -> Any:
    """Return a value with its unit, by the ending of its name; other values stay as they are."""
    if not isinstance(value, float | int) or isinstance(value, bool):
        return value
    unit = next((u for ending, u in _UNITS if key.endswith(ending)), None)
    if unit is None:
        return value
    if unit == "USD/h":
        return f"{value:,.2f}"
    text = human(float(value), unit).rstrip()
    return text if unit else text.replace("G", "B")


def _label(key: str) -> str:
    return _LABELS.get(key, key.replace("_", " "))


def _columns(keys: Sequence[str]) -> list[Column]:
    return [
        Column(
            key=k,
            label=_label(k),
            align="left" if k in _LEFT else "right",
            wrap=k in _WIDE,
        )
        for k in keys
    ]


def listing_text(listing: _Listing, style: Style = "text") -> str:
    """Return a listing as a table; CSV keeps SI numbers."""
    if not listing.rows:
        return f"No {listing.kind} match. All names: `ridgeline list {listing.kind}`."
    hidden: set[str] = set() if style == "csv" else _NOT_IN_TEXT
    columns = _columns([k for k in listing.rows[0] if k not in hidden])
    rows = [
        dict(row) if style == "csv" else {k: words(k, v) for k, v in row.items()}
        for row in listing.rows
    ]
    return render_table(columns, rows, style=style)


def listing_json(listing: _Listing) -> dict[str, Any]:
    """Return a listing as plain data."""
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": listing.kind,
        "entries": [dict(row) for row in listing.rows],
    }


def entry_json(sheet: Any) -> dict[str, Any]:
    """Return an entry sheet as plain data."""
    return {"schema_version": SCHEMA_VERSION, **asdict(sheet)}


def entry_text(sheet: Any) -> str:
    """Return an entry with the source of each figure."""
    lines = [f"{sheet.id}: {sheet.name}"]
    facts = {**sheet.facts, "entry": sheet.origin}
    lines += [f"  {key}: {value}" for key, value in facts.items()]
    if sheet.tiers:
        keys = [k for k in sheet.tiers[0] if any(t[k] is not None for t in sheet.tiers)]
        tiers = [{k: words(k, v) for k, v in tier.items()} for tier in sheet.tiers]
        lines += ["", render_table(_columns(keys), tiers)]
    addresses = _addresses(sheet)
    rows = [_figure_row(f, addresses) for f in sheet.figures]
    lines += ["", render_table(_FIGURE_COLUMNS, rows)]
    if sheet.derived:
        lines += ["", "What follows"]
        lines += [f"  {_label(k)}: {_derived(k, v)}" for k, v in sheet.derived.items()]
    if sheet.note:
        lines += ["", *wrapped(f"Note: {sheet.note}")]
    lines += [line for flag in sheet.flags for line in wrapped(f"Flag: {flag}")]
    sources = {**sheet.sources, **{mark: address for address, mark in addresses.items()}}
    lines += ["", "Sources", *(f"  {k}: {v}" for k, v in sources.items())]
    return "\n".join(lines)


_FIGURE_COLUMNS = (
    Column(key="field", label="figure", align="left", wrap=True),
    Column(key="value", label="value"),
    Column(key="kind", label="kind", align="left"),
    Column(key="source", label="source", align="left", wrap=True),
    Column(key="note", label="note", align="left", wrap=True),
)


def figures_table(sheet: Any) -> Collected:
    """Return the figures of an entry with their sources in full."""
    rows = [
        {**_figure_row(f, {}), "source": sheet.sources.get(f.source, f.source)}
        for f in sheet.figures
    ]
    return Collected(columns=_FIGURE_COLUMNS, rows=rows)


def _addresses(sheet: Any) -> dict[str, str]:
    """Return a mark such as `[1]` for each source that is an address, too long for a column."""
    used = dict.fromkeys(f.source for f in sheet.figures if "://" in f.source)
    return {address: f"[{i}]" for i, address in enumerate(used, 1)}


def _figure_row(figure: Any, addresses: Mapping[str, str]) -> Mapping[str, Any]:
    value = "unknown" if figure.value is None else figure.value
    source = addresses.get(figure.source, figure.source)
    return {**asdict(figure), "value": value, "source": source, "note": figure.note or ""}


def _derived(key: str, value: Any) -> str:
    if value is None:
        return "unknown"
    if key.startswith("balance_ratio"):
        return f"{value:,.0f} (half the peak x bytes per weight / bandwidth)"
    return str(words(key, value))
