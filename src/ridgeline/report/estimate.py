"""An estimate as text, JSON, CSV or Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from ridgeline.report.flags import flag_lines, wrapped
from ridgeline.report.table import Column, Style, render_table
from ridgeline.study.estimate import layout_words as layout_text
from ridgeline.units import human, significant

SCHEMA_VERSION = "1"
_COLUMNS = (
    Column(key="batch", label="batch"),
    Column(key="step_ms", label="step ms"),
    Column(key="chalk_step_ms", label="chalk ms"),
    Column(key="tokens_per_s_per_user", label="tok/s/user"),
    Column(key="tokens_per_s_per_device", label="tok/s/device"),
    Column(key="usd_per_mtok", label="USD/Mtok"),
    Column(key="mfu_pct", label="MFU %"),
    Column(key="mbu_pct", label="MBU %"),
    Column(key="bound_by", label="bound by", align="left"),
    Column(key="fits", label="fits", align="left"),
)
_PART_COLUMNS = (
    Column(key="name", label="part", align="left", wrap=True),
    Column(key="component", label="component", align="left"),
    Column(key="count", label="times"),
    Column(key="ms", label="ms"),
    Column(key="share", label="share %"),
    Column(key="bound_by", label="bound by", align="left"),
    Column(key="gflop", label="GFLOP"),
    Column(key="mb", label="MB"),
)
_DERIVED = (
    ("critical_batch", "critical batch", "seq", "compute = weight reading, KV dropped (chalk)"),
    ("critical_batch_with_kv", "... with KV kept", "seq", "at this context (chalk)"),
    ("latency_floor_s", "latency floor", "s", "detailed step at batch 1, empty cache"),
    ("chalk_latency_floor_s", "... chalkboard", "s", "all weights read once"),
    ("cost_floor_usd_per_mtok", "cost floor", "USD/Mtok", "detailed, batch without limit"),
    ("chalk_cost_floor_usd_per_mtok", "... chalkboard", "USD/Mtok", "max of compute and KV"),
    ("balance_context", "balance context", "token", "KV reads = compute (chalk)"),
    ("drain_time_s", "HBM drain time", "s", "capacity / bandwidth"),
    ("max_batch", "largest batch", "seq", "that fits at this context"),
    ("max_context", "longest context", "token", "that fits at this batch"),
)


def finite(value: Any) -> Any:
    """Return `value` as JSON has it: NumPy scalars unwrapped, NaN and infinities as None."""
    plain: Any = cast("Any", value).item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def rows_of(result: Any) -> list[dict[str, Any]]:
    """Return the rows as plain dicts, without parts."""
    names = list(result.rows)
    columns = [np.asarray(result.rows[n]).tolist() for n in names]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def parts_of(result: Any, index: int) -> list[dict[str, Any]]:
    """Return the parts of one row: name, component, time and limit [s]; they sum to the step."""
    shape = np.shape(result.rows["batch"])

    def at(value: Any) -> float:
        return float(np.broadcast_to(np.asarray(value, dtype=float), shape)[index])

    parts: list[dict[str, Any]] = []
    for part in result.breakdown.parts:
        limits = {k: at(v) for k, v in part.limit_s().items()}
        parts.append(
            {
                "name": part.name,
                "component": part.component,
                "family": part.operation.family,
                "count": at(part.executions),
                "time_s": at(part.time_s),
                "bound_by": max(limits, key=lambda k: limits[k]) if limits else "network",
                "algorithm": _algorithm_at(part, shape, index),
                "flop": at(part.operation.flop * part.executions),
                "bytes": at(
                    (
                        part.operation.weight_bytes
                        + part.operation.state_read_bytes
                        + part.operation.state_write_bytes
                        + part.operation.activation_bytes
                    )
                    * part.executions
                ),
                "limits_s": limits,
            }
        )
    host = at(result.breakdown.host_s)
    if host:
        parts.append(
            {
                "name": "host",
                "component": "host",
                "family": "host",
                "count": 1.0,
                "time_s": host,
                "bound_by": "host",
                "algorithm": "",
                "flop": 0.0,
                "bytes": 0.0,
                "limits_s": {"host": host},
            }
        )
    return parts


def _algorithm_at(part: Any, shape: tuple[int, ...], index: int) -> str:
    return str(np.broadcast_to(np.asarray(part.algorithm), shape)[index])


def estimate_json(result: Any, *, parts: bool = True) -> dict[str, Any]:
    """Return the stable JSON document of an estimate; SI units, full precision.

    Without `parts` it has the rows alone, for curves of many points.
    """
    rows = [{k: finite(v) for k, v in row.items()} for row in rows_of(result)]
    for index, row in enumerate(rows if parts else []):
        row["parts"] = parts_of(result, index)
    derived = {k: finite(v) for k, v in result.derived.items()}
    return {
        "schema_version": SCHEMA_VERSION,
        "request": dict(result.request),
        "rows": rows,
        "derived": {**derived, "flags": list(result.flags)},
        "flags": list(result.flags),
    }


def estimate_rows(result: Any, style: Style) -> str:
    """Return the rows alone, as CSV (SI, full precision) or Markdown."""
    rows = rows_of(result)
    if style == "csv":
        return render_table([Column(key=k, label=k) for k in result.rows], rows, style="csv")
    context = Column(key="context", label="context")
    return render_table([_COLUMNS[0], context, *_COLUMNS[1:]], _print_rows(rows), style=style)


def estimate_text(result: Any, *, why: bool = False) -> str:
    """Return the estimate for people: heading, a table per context, derived figures, flags."""
    rows = _print_rows(rows_of(result))
    lines = [_heading(result), ""]
    for context in dict.fromkeys(row["context"] for row in rows):
        word = "prompt" if result.request["phase"] == "prefill" else "context"
        lines.append(f"{word} {context:,} tokens")
        lines.append(render_table(_COLUMNS, [r for r in rows if r["context"] == context]))
        lines.append("")
    lines += [_derived_text(result), ""]
    if why:
        lines += [why_text(result), ""]
    return "\n".join([*lines, *flag_lines(result.flags)])


def why_text(result: Any) -> str:
    """Return the breakdown of one row: the largest batch that fits at the first context."""
    index = _row_to_explain(result)
    row = rows_of(result)[index]
    parts = parts_of(result, index)
    total = sum(p["time_s"] for p in parts)
    limits: dict[str, float] = {}
    for part in parts:
        for name, value in part["limits_s"].items():
            limits[name] = limits.get(name, 0.0) + value
    shares = [
        f"{k} {significant(v / total * 100)} %"
        for k, v in sorted(limits.items(), key=lambda kv: -kv[1])
        if v > total * 5e-4
    ]
    helps = [
        f"{k} {significant(v)} %" for k, v in _elasticities_at(result, index).items() if v > 0.005
    ]
    bounds = [
        f"two micro-batches {human(float(row['two_batch_step_s']), 's')}",
        f"all behind the largest {human(float(row['overlap_step_s']), 's')}",
    ]
    heading = (
        f"why {human(total, 's')}{_band_text(row)} at batch {row['batch']:,},"
        f" context {row['context']:,} (the parts sum to it):"
    )
    return "\n".join(
        [
            heading,
            _parts_table(parts, total),
            *wrapped("limits: " + ", ".join(shares)),
            *wrapped("a figure 1 % better shortens the step by: " + ", ".join(helps)),
            *_busiest_rank(result, index),
            *wrapped("hiding messages behind work: " + ", ".join(bounds)),
        ]
    )


def _busiest_rank(result: Any, index: int) -> list[str]:
    """Return the load of the fullest expert rank over the mean, where experts are spread."""
    shape = np.shape(result.rows["batch"])
    factors = [
        float(np.broadcast_to(p.operation.shape["imbalance"], shape)[index])
        for p in result.breakdown.parts
        if "imbalance" in p.operation.shape
    ]
    layout = result.request["layout"]
    if not factors or layout is None or layout["ep"] == 1:
        return []
    busiest, routing = significant(max(factors)), result.request["routing"]
    return [f"busiest expert rank: {busiest} x the mean load ({routing} routing)"]


def _parts_table(parts: list[dict[str, Any]], total: float) -> str:
    """Return the parts, equal names of different layer kinds merged, longest first."""
    merged: dict[tuple[str, str], dict[str, Any]] = {}
    longest: dict[tuple[str, str], float] = {}
    for p in parts:
        name = f"{p['name']} ({p['algorithm']})" if p["algorithm"] else p["name"]
        key = (name, p["component"])
        seen = merged.setdefault(
            key, {**p, "name": name, "count": 0.0, "time_s": 0.0, "flop": 0.0, "bytes": 0.0}
        )
        for field in ("count", "time_s", "flop", "bytes"):
            seen[field] += p[field]
        if p["time_s"] > longest.get(key, -1.0):
            longest[key] = p["time_s"]
            seen["bound_by"] = p["bound_by"]
    return render_table(
        _PART_COLUMNS,
        [
            {
                **p,
                "ms": p["time_s"] * 1e3,
                "share": p["time_s"] / total * 100,
                "gflop": p["flop"] / 1e9,
                "mb": p["bytes"] / 1e6,
            }
            for p in sorted(merged.values(), key=lambda p: -p["time_s"])
        ],
    )


def _elasticities_at(result: Any, index: int) -> dict[str, float]:
    shape = np.shape(result.rows["batch"])
    values: Mapping[str, Any] = result.breakdown.elasticities()
    return {
        k: float(np.broadcast_to(np.asarray(v, dtype=float), shape)[index])
        for k, v in values.items()
    }


def _row_to_explain(result: Any) -> int:
    context = result.rows["context"]
    candidates = np.flatnonzero((context == context[0]) & np.asarray(result.rows["fits"]))
    return int(candidates[-1]) if candidates.size else 0


def _print_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            **row,
            "step_ms": row["step_s"] * 1e3,
            "chalk_step_ms": row["chalk_step_s"] * 1e3,
            "mfu_pct": row["mfu"] * 100,
            "mbu_pct": row["mbu"] * 100,
        }
        for row in rows
    ]


def _band_text(row: Mapping[str, Any]) -> str:
    """Return the 10-90 % band of a step, empty where it was not sampled."""
    low, high = row["step_p10_s"], row["step_p90_s"]
    if low is None or not math.isfinite(low):
        return ""
    return f" (10-90 %: {human(float(low), 's')} to {human(float(high), 's')})"


def _heading(result: Any) -> str:
    request = result.request
    chalk = result.chalk
    formats = sorted(set(request["dtypes"]["weights"].values()))
    price = request["usd_per_device_hour"]
    cost = "no price" if price is None else f"{significant(price)} USD per device-hour"
    layout = request["layout"]
    degrees = "network ideal" if layout is None else layout_text(layout)
    devices = "device" if request["devices"] == 1 else "devices"
    first = (
        f"{request['model']} on {request['on']}: {request['phase']}, {request['devices']} {devices}"
        f" ({degrees}), {request['efficiency']} efficiency"
    )
    second = (
        f"{params_text(chalk.num_params)} parameters,"
        f" {params_text(chalk.num_active_params)} active;"
        f" weights {'/'.join(formats)}; cache {request['dtypes']['kv']},"
        f" {human(chalk.kv_bytes_per_token, 'B')}/token; {cost}"
    )
    return "\n".join([*wrapped(first), *wrapped(second)])


def _derived_text(result: Any) -> str:
    rows: list[dict[str, Any]] = []
    positions = result.deployment.architecture.max_position_embeddings
    for key, label, unit, meaning in _DERIVED:
        value = result.derived.get(key)
        if value is None:
            shown = "never" if key == "critical_batch_with_kv" else "-"
        elif unit in {"s", "token", "seq"}:
            shown = human(float(value), "s") if unit == "s" else f"{_count(float(value))} {unit}"
        else:
            shown = f"{significant(float(value))} {unit}"
        note = _at(meaning, result.rows)
        if key == "max_context" and positions is not None and (value or 0) > positions:
            note += f"; the model's positions end at {positions:,}"
        rows.append({"label": label, "value": shown, "note": note})
    return render_table(
        (
            Column(key="label", label="derived", align="left"),
            Column(key="value", label="value"),
            Column(key="note", label="meaning", align="left", wrap=True),
        ),
        rows,
    )


def _at(meaning: str, rows: Mapping[str, Any]) -> str:
    """Return a meaning with the batch or context it holds at, where the rows have several."""
    for name in ("batch", "context"):
        values = np.ravel(rows[name])
        if values.min() != values.max():
            meaning = meaning.replace(f"at this {name}", f"at {name} {values[0]:,.0f}")
    return meaning


def params_text(count: float) -> str:
    """Return a parameter count as people say it: 70.6 B, 1.04 T."""
    return human(count, "").rstrip().replace("G", "B")


def _count(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) and value >= 100 else significant(value)
