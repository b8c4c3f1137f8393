"""A plan as text, JSON, CSV or Markdown."""

from __future__ import annotations

import dataclasses
import textwrap
from typing import Any

from ridgeline.report.flags import flag_lines, wrapped
from ridgeline.report.table import MAX_WIDTH, Column, Style, render_table
from ridgeline.units import significant

SCHEMA_VERSION = "1"
_COLUMNS = (
    Column(key="how", label="layout", align="left", wrap=True),
    Column(key="batch", label="batch"),
    Column(key="ttft_ms", label="TTFT ms"),
    Column(key="tpot_ms", label="TPOT ms"),
    Column(key="tokens_per_s_per_user", label="tok/s/user"),
    Column(key="tokens_per_s_per_device", label="tok/s/device"),
    Column(key="usd_per_mtok", label="USD/Mtok"),
    Column(key="idle_devices", label="idle"),
)
_DEGREES = ("tp", "pp", "ep", "dp", "cp")


def layout_json(layout: Any) -> dict[str, int] | None:
    """Return the degrees of a layout as plain integers."""
    if layout is None:
        return None
    names = (*_DEGREES, "num_redundant_experts")
    return {name: int(getattr(layout, name)) for name in names}


def option_json(option: Any) -> dict[str, Any]:
    """Return one option as plain values in SI units."""
    values = {f.name: getattr(option, f.name) for f in dataclasses.fields(option)}
    band = values.pop("band")
    values |= {} if band is None else dataclasses.asdict(band)
    values["layout"] = layout_json(option.layout)
    values["prefill_layout"] = layout_json(option.prefill_layout)
    return values


def plan_json(result: Any) -> dict[str, Any]:
    """Return the stable JSON document of a plan."""
    return {
        "schema_version": SCHEMA_VERSION,
        "request": dict(result.request),
        "winner": option_json(result.winner),
        "runners_up": [option_json(o) for o in result.runners_up],
        "front": [option_json(o) for o in result.front],
        "reasons": [dataclasses.asdict(r) for r in result.reasons],
        "num_combinations": result.num_combinations,
        "num_fitting": result.num_fitting,
        "flags": list(result.flags),
    }


def plan_rows(result: Any, style: Style) -> str:
    """Return the front alone, as CSV (SI, full precision) or Markdown."""
    if style == "csv":
        rows: list[dict[str, Any]] = []
        for option in result.front:
            row = option_json(option)
            for key, prefix in (("layout", ""), ("prefill_layout", "prefill_")):
                degrees: dict[str, int] = row.pop(key) or {}
                row |= {f"{prefix}{k}": v for k, v in degrees.items()}
            rows.append(row)
        keys = list(dict.fromkeys(k for row in rows for k in row))
        return render_table([Column(key=k, label=k) for k in keys], rows, style="csv")
    return _front_table(result, result.front, style)


def plan_text(result: Any) -> str:
    """Return the plan for people: winner, why, runners-up, front, notes."""
    request = result.request
    wanted = [
        f"{name} at most {request[key] * 1e3:.4g} ms"
        for name, key in (("TTFT", "ttft_s"), ("TPOT", "tpot_s"))
        if request[key] is not None
    ]
    price = request["usd_per_device_hour"]
    heading = (
        f"{request['model']} on {request['devices']} devices of {request['on']}:"
        f" {request['isl']:,} tokens in, {request['osl']:,} out,"
        f" {' and '.join(wanted) or 'no targets'}, best {request['objective']}"
    )
    best = result.winner
    paid = "" if price is None else f"; {significant(price)} USD per device-hour"
    lines = [
        *textwrap.wrap(heading, MAX_WIDTH),
        f"{result.num_combinations:,} combinations evaluated, {result.num_fitting:,} fit",
        "",
        *textwrap.wrap(f"winner: {how_text(best)}", MAX_WIDTH, subsequent_indent="  "),
        render_table(_COLUMNS[1:], [_row(best)]),
        f"{significant(best.requests_per_s)} requests/s; {best.weights}, cache {best.kv}{paid}",
        *_band_lines(best),
        "",
    ]
    if result.reasons:
        lines += [*_why(result), ""]
    if result.runners_up:
        lines += ["best of other layouts", _table(result.runners_up[:6]), ""]
    front = _thinned(result.front)
    lines += [f"front of speed per user against tokens per device ({len(result.front)} points)"]
    lines += [_front_table(result, front), "", *flag_lines(result.flags)]
    return "\n".join(lines)


def _band_lines(option: Any) -> list[str]:
    """Return the 10-90 % band of an option, nothing where it was not sampled."""
    band = option.band
    if band is None:
        return []

    def span(low: float, high: float, scale: float = 1.0) -> str:
        return f"{significant(low * scale)}..{significant(high * scale)}"

    words = [
        f"TTFT {span(band.ttft_p10_s, band.ttft_p90_s, 1e3)} ms",
        f"TPOT {span(band.tpot_p10_s, band.tpot_p90_s, 1e3)} ms",
        f"{span(band.tokens_per_s_per_device_p10, band.tokens_per_s_per_device_p90)} tok/s/device",
    ]
    if band.usd_per_mtok_p10 is not None:
        words.append(f"{span(band.usd_per_mtok_p10, band.usd_per_mtok_p90)} USD/Mtok")
    return wrapped(f"10..90 %: {', '.join(words)}")


def how_text(option: Any) -> str:
    """Return an option in words: `2 x [tp 8]`, or `prefill 6 x [ep 6 dp 6] + decode 1 x ...`."""
    main = _copies(option.replicas, option.layout)
    if option.prefill_layout is None:
        return main
    return f"prefill {_copies(option.prefill_replicas, option.prefill_layout)} + decode {main}"


def _copies(replicas: int, layout: Any) -> str:
    degrees = layout_json(layout) or {}
    words = [f"{k} {degrees[k]}" for k in _DEGREES if degrees[k] > 1]
    extra = degrees["num_redundant_experts"]
    words += [f"{extra} redundant experts"] if extra else []
    return f"{replicas} x [{' '.join(words) or 'one device'}]"


def _row(option: Any) -> dict[str, Any]:
    return {
        "how": how_text(option),
        "batch": option.batch,
        "ttft_ms": option.ttft_s * 1e3,
        "tpot_ms": option.tpot_s * 1e3,
        "tokens_per_s_per_user": option.tokens_per_s_per_user,
        "tokens_per_s_per_device": option.tokens_per_s_per_device,
        "usd_per_mtok": option.usd_per_mtok,
        "idle_devices": option.idle_devices,
    }


def _table(options: Any) -> str:
    return render_table(_COLUMNS, [_row(o) for o in options])


def _front_table(result: Any, options: Any, style: Style = "text") -> str:
    """Return points with their number on the front, which --point takes."""
    number = {id(o): i for i, o in enumerate(result.front, start=1)}
    rows = [{"point": number[id(o)], **_row(o)} for o in options]
    return render_table((Column(key="point", label="point"), *_COLUMNS), rows, style=style)


def _thinned(front: Any, most: int = 12) -> list[Any]:
    """Return at most `most` points, ends included, evenly by rank."""
    if len(front) <= most:
        return list(front)
    return [front[round(i * (len(front) - 1) / (most - 1))] for i in range(most)]


def _gap_us(winner_s: float, runner_up_s: float) -> float:
    """Return a difference in µs, 0 where it is rounding of the last bits."""
    gap = runner_up_s - winner_s
    return 0.0 if abs(gap) <= 1e-9 * max(winner_s, runner_up_s) else gap * 1e6


def _why(result: Any) -> list[str]:
    """Return winner against runner-up in device time per output token."""
    second = result.runners_up[0]
    rows = [
        {
            "limit": r.limit,
            "winner": r.winner_s * 1e6,
            "runner": r.runner_up_s * 1e6,
            "gap": _gap_us(r.winner_s, r.runner_up_s),
        }
        for r in result.reasons
        if max(r.winner_s, r.runner_up_s) > 0
    ]
    total_w, total_r = (sum(row[k] for row in rows) for k in ("winner", "runner"))
    rows.append({"limit": "sum", "winner": total_w, "runner": total_r})
    rows[-1]["gap"] = _gap_us(total_w / 1e6, total_r / 1e6)
    worst = max(result.reasons, key=lambda r: r.runner_up_s - r.winner_s)
    gap = (worst.runner_up_s - worst.winner_s) * 1e6
    lost = (
        f"the runner-up, {how_text(second)}, loses most on {worst.limit}:"
        f" {significant(gap)} µs more per token"
    )
    if gap <= 0:
        lost = f"the runner-up, {how_text(second)}, costs no more per token but is slower per user"
    return [
        "why: device time per output token, µs",
        render_table(
            (
                Column(key="limit", label="limit", align="left"),
                Column(key="winner", label="winner"),
                Column(key="runner", label="runner-up"),
                Column(key="gap", label="difference"),
            ),
            rows,
        ),
        *textwrap.wrap(lost, MAX_WIDTH),
    ]
