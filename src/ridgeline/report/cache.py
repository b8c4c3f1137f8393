"""Cache tiers as tables, JSON and charts; computes nothing."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ridgeline.report.figure import COLOURS, new_figure, save_figure
from ridgeline.report.table import MAX_WIDTH, Column, Style, render_table
from ridgeline.study.cache import RECOMPUTE, SCHEMA_VERSION, CacheAnswer
from ridgeline.study.cache_check import Check
from ridgeline.units import human, significant

_TIERS = (
    Column(key="tier", label="tier", align="left"),
    Column(key="drain", label="drain", align="right"),
    Column(key="ballpark", label="lecture", align="right"),
    Column(key="usd_per_gb_month", label="$/GB-mo"),
    Column(key="usd_per_mtok_hour", label="$/Mtok-h"),
    Column(key="retrieve", label="retrieve", align="right"),
    Column(key="fixed_usd", label="move $"),
    Column(key="hold_usd_per_hour", label="hold $/h"),
    Column(key="break_even", label="until", align="right"),
    Column(key="verdict", label="", align="left"),
)
_HOLDS = (
    Column(key="hold", label="hold", align="right"),
    Column(key="best", label="cheapest", align="left"),
    Column(key="usd", label="USD"),
    Column(key="best_tier", label="best tier", align="left"),
    Column(key="best_tier_usd", label="USD"),
    Column(key="recompute_usd", label="recompute USD"),
    Column(key="usable_share", label="unit usable"),
)
_TTLS = (
    Column(key="ttl", label="lifetime", align="left"),
    Column(key="usd_per_mtok_hour", label="USD/Mtok-h"),
    Column(key="break_even_reads", label="pays from reads"),
    Column(key="dearest_tier", label="dearest tier it covers", align="left"),
)
_CHECKS = (
    Column(key="system", label="published", align="left", wrap=True),
    Column(key="predicted", label="predicted", align="right"),
    Column(key="measured", label="measured", align="right"),
    Column(key="error", label="error %", digits=2),
    Column(key="note", label="note", align="left", wrap=True),
)


def span(seconds: float) -> str:
    """Return a duration for people: ms to days."""
    if not math.isfinite(seconds):
        return "always"
    if seconds <= 0:
        return "never"
    for scale, unit in ((86_400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= scale:
            return f"{significant(seconds / scale)} {unit}"
    return human(seconds, "s")


def tier_rows(answer: CacheAnswer) -> list[dict[str, Any]]:
    """Return one row per tier, in SI units."""
    return [
        {
            "tier": r.tier.id,
            "name": r.tier.name,
            "kind": r.kind,
            "capacity_bytes": r.tier.capacity_bytes,
            "read_bytes_per_s": r.tier.read_bytes_per_s,
            "drain_s": r.tier.drain_s,
            "lecture_drain": r.ballpark,
            "usd_per_gb_month": r.usd_per_gb_month,
            "usd_per_mtok_hour": r.usd_per_mtok_hour,
            "retrieve_s": float(r.line.retrieve_s),
            "fixed_usd": float(r.line.fixed_usd),
            "hold_usd_per_hour": float(r.line.per_second_usd) * 3600.0,
            "cheaper_than_recompute_until_s": r.break_even_s,
            "sessions_per_unit": r.sessions_per_unit,
            "dominated": r.dominated,
        }
        for r in answer.rows
    ]


def _tier_cells(answer: CacheAnswer) -> list[dict[str, Any]]:
    return [
        {
            **row,
            "drain": "-" if row["drain_s"] is None else span(row["drain_s"]),
            "ballpark": row["lecture_drain"],
            "retrieve": span(row["retrieve_s"]) if row["retrieve_s"] else "0",
            "break_even": span(row["cheaper_than_recompute_until_s"]),
            "verdict": "dominated" if row["dominated"] else "",
        }
        for row in tier_rows(answer)
    ]


def _pieces(answer: CacheAnswer) -> str:
    parts = [f"{answer.envelope[0].choice}"]
    parts += [f"{p.choice} from {span(p.from_s)}" for p in answer.envelope[1:]]
    return ", ".join(parts)


def cache_text(answer: CacheAnswer) -> str:
    """Return the tiers, the envelope and the hold answers."""
    q = answer.request
    holds = [
        {
            "hold": span(h.hold_s) if h.hold_s else "0",
            "best": h.best,
            "usd": h.usd,
            "best_tier": h.best_tier,
            "best_tier_usd": h.best_tier_usd,
            "recompute_usd": h.recompute_usd,
            "usable_share": h.usable_share,
        }
        for h in answer.holds
    ]
    lines = [
        (
            f"{q['model']} on {q['devices']} devices of {q['on']}, {q['context']:,} tokens:"
            f" cache {human(answer.cache_bytes, 'B')}; computing it again takes"
            f" {span(answer.recompute_s)} and {significant(answer.recompute_usd)} USD at"
            f" {q['usd_per_device_hour']:g} USD per device-hour"
        ),
        "",
        render_table(_TIERS, _tier_cells(answer)),
        "",
        (
            "drain: capacity / bandwidth of a unit; lecture: its ballpark; move: write, wear, read"
            " and waiting,\nonce; until: hold time after which recomputing is cheaper."
        ),
        f"Cheapest over hold time: {_pieces(answer)}.",
        "",
        render_table(_HOLDS, holds),
    ]
    if answer.ttls:
        lines += [
            "",
            "What the provider's write premium buys",
            render_table(_TTLS, ttl_rows(answer)),
        ]
    lines += ["", *(f"Note: {f}." for f in answer.flags)]
    return "\n".join(x if "\n" in x else textwrap.fill(x, MAX_WIDTH) for x in lines)


def ttl_rows(answer: CacheAnswer) -> list[dict[str, Any]]:
    """Return one row per lifetime the provider prices."""
    return [
        {
            "ttl": t.ttl,
            "usd_per_mtok_hour": t.usd_per_mtok_hour,
            "break_even_reads": t.break_even_reads,
            "dearest_tier": t.dearest_tier,
        }
        for t in answer.ttls
    ]


def cache_rows(answer: CacheAnswer, style: Style) -> str:
    """Return the tiers as CSV or Markdown."""
    rows = tier_rows(answer)
    return render_table([Column(key=k, label=k) for k in rows[0]], rows, style=style)


def cache_json(answer: CacheAnswer) -> dict[str, Any]:
    """Return the answer as JSON; an open end of the envelope is null."""
    return {
        "schema_version": SCHEMA_VERSION,
        "request": dict(answer.request),
        "cache_bytes": answer.cache_bytes,
        "recompute_s": answer.recompute_s,
        "recompute_usd": answer.recompute_usd,
        "tiers": tier_rows(answer),
        "envelope": [
            {
                "choice": p.choice,
                "from_s": p.from_s,
                "until_s": p.until_s if math.isfinite(p.until_s) else None,
            }
            for p in answer.envelope
        ],
        "holds": [
            {
                "hold_s": h.hold_s,
                "best": h.best,
                "usd": h.usd,
                "best_tier": h.best_tier,
                "best_tier_usd": h.best_tier_usd,
                "recompute_usd": h.recompute_usd,
                "usable_share": h.usable_share,
            }
            for h in answer.holds
        ],
        "ttls": ttl_rows(answer),
        "flags": list(answer.flags),
    }


def checks_text(checks: Sequence[Check], hit_bandwidth: tuple[float, float]) -> str:
    """Return published offload figures beside their predictions."""
    rows = [
        {
            "system": c.system,
            "predicted": human(c.predicted, c.unit),
            "measured": human(c.measured, c.unit),
            "error": 100.0 * c.error,
            "note": c.note,
        }
        for c in checks
    ]
    low, high = hit_bandwidth
    errors = sorted(abs(c.error) for c in checks)
    return "\n".join(
        [
            render_table(_CHECKS, rows),
            "",
            (
                f"Median absolute error {100 * errors[len(errors) // 2]:.0f} %, worst"
                f" {100 * errors[-1]:.0f} %. Bandwidths are predicted as 0.92 of the line rate."
            ),
            (
                f"DeepSeek's published day reads {human(low, 'B/s')} (fp8) to {human(high, 'B/s')}"
                " (bf16) of cache per node on average, of 43 GB/s peak per 3FS client."
            ),
        ]
    )


def plot_cache(answer: CacheAnswer, path: Path) -> None:
    """Draw total cost against hold time per tier, the envelope, and retrieval times (C6-Q4)."""
    figure, axes = new_figure(1, 2, width=12.0, height=5.5)
    q = answer.request
    figure.suptitle(
        f"{q['model']} on {q['devices']} devices of {q['on']}: a cache of {q['context']:,} tokens"
    )
    _cost_lines(axes[0, 0], answer)
    _retrieval_bars(axes[0, 1], answer)
    save_figure(figure, path)


def _cost_lines(axis: Any, answer: CacheAnswer) -> None:
    hold = np.logspace(-1, 7, 400)
    best = np.full_like(hold, answer.recompute_usd)
    shown = [r for r in answer.rows if not r.dominated] + [r for r in answer.rows if r.dominated]
    for i, row in enumerate(shown):
        usd = np.asarray(row.line.usd(hold))
        best = np.minimum(best, usd)
        axis.plot(
            hold,
            usd,
            color="0.7" if row.dominated else COLOURS[i % len(COLOURS)],
            linewidth=0.9 if row.dominated else 1.6,
            label=f"{row.tier.id}{' (dominated)' if row.dominated else ''}",
        )
    axis.axhline(answer.recompute_usd, color="0.2", linestyle="--", label=RECOMPUTE)
    axis.plot(hold, best, color="black", linewidth=5, alpha=0.18, label="cheapest")
    for piece in answer.envelope[1:]:
        axis.axvline(piece.from_s, color="0.5", linestyle=":", linewidth=0.8)
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="hold time [s]",
        ylabel="write, hold and read once [USD]",
        ylim=(float(best.min()) / 3, answer.recompute_usd * 30),
    )
    axis.set_xticks(
        [1, 60, 3600, 86_400, 2_592_000], ["1 s", "1 min", "1 h", "1 d", "30 d"], minor=False
    )
    axis.set_title("Cost against hold time")
    axis.legend(fontsize="x-small", loc="lower right")


def _retrieval_bars(axis: Any, answer: CacheAnswer) -> None:
    rows = [r for r in answer.rows if r.line.retrieve_s]
    names = [r.tier.id for r in rows]
    axis.barh(names, [float(r.line.retrieve_s) for r in rows], color=COLOURS[0], label="retrieve")
    drains = [(n, r.tier.drain_s) for n, r in zip(names, rows, strict=True) if r.tier.drain_s]
    axis.plot(
        [d for _, d in drains],
        [n for n, _ in drains],
        "o",
        color=COLOURS[1],
        label="drain of a unit",
    )
    axis.axvline(answer.recompute_s, color="0.2", linestyle="--", label=RECOMPUTE)
    axis.set(xscale="log", xlabel="time [s]")
    axis.invert_yaxis()
    axis.set_title("Time to bring it back, and drain time")
    axis.legend(fontsize="small")
