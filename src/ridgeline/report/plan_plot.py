"""Two charts of a plan: what speed per user costs in throughput and in money."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ridgeline.report.figure import COLOURS, new_figure, save_figure
from ridgeline.report.plan import how_text

_KINDS = (("mixed", "o", "prefill and decode together"), ("pools", "s", "separate pools"))


def plot_plan(result: Any, path: Path) -> None:
    """Draw tokens/s per device and USD per 1e6 tokens against tokens/s per user."""
    request = result.request
    figure, axes = new_figure(1, 2, width=13.0, height=6.0)
    figure.suptitle(
        f"{request['model']} on {request['devices']} devices of {request['on']}:"
        f" {request['isl']:,} tokens in, {request['osl']:,} out"
    )
    labels = {
        "tokens_per_s_per_device": ("throughput [output tokens/s per device]", "Throughput"),
        "usd_per_mtok": ("cost [USD per 1e6 output tokens]", "Cost"),
    }
    for axis, (key, (label, title)) in zip(axes.ravel(), labels.items(), strict=True):
        if getattr(result.winner, key) is None:
            axis.text(0.5, 0.5, "no price known: give --usd-per-hour", ha="center", va="center")
            axis.set_axis_off()
            continue
        _front(axis, result, key)
        axis.set(
            xscale="log",
            yscale="log",
            xlabel="speed [output tokens/s per user]",
            ylabel=label,
            title=f"{title} against speed: no option beats a point in both",
        )
        axis.legend(fontsize="small", loc="lower left" if title == "Throughput" else "upper left")
    save_figure(figure, path)


def _front(axis: Any, result: Any, key: str) -> None:
    speed = [o.tokens_per_s_per_user for o in result.front]
    axis.plot(speed, [getattr(o, key) for o in result.front], color="0.7", zorder=1)
    _bands(axis, result, key)
    for i, (kind, mark, label) in enumerate(_KINDS):
        mine = [o for o in result.front if o.kind == kind]
        if mine:
            axis.plot(
                [o.tokens_per_s_per_user for o in mine],
                [getattr(o, key) for o in mine],
                mark,
                color=COLOURS[i],
                markersize=4,
                label=label,
            )
    marked = [("winner", result.winner, "*", 14), *_runner_up(result)]
    for i, (name, option, mark, size) in enumerate(marked):
        axis.plot(
            option.tokens_per_s_per_user,
            getattr(option, key),
            mark,
            color=COLOURS[2 + i],
            markersize=size,
            markeredgecolor="black",
            label=f"{name}: {_short(how_text(option))}",
            linestyle="none",
        )
    tpot = result.request["tpot_s"]
    if tpot is not None:
        axis.axvline(1 / tpot, color="0.4", linestyle=":", label=f"TPOT target {tpot * 1e3:.4g} ms")


def _bands(axis: Any, result: Any, key: str) -> None:
    """Draw the 10-90 % band of every point of the front in both directions."""
    points = [o for o in result.front if o.band is not None]
    if not points:
        return
    value = [getattr(o, key) for o in points]
    low = [getattr(o.band, f"{key}_p10") for o in points]
    high = [getattr(o.band, f"{key}_p90") for o in points]
    speed = [o.tokens_per_s_per_user for o in points]
    axis.vlines(speed, low, high, color="0.8", linewidth=1, zorder=0, label="10-90 % band")
    axis.hlines(
        value,
        [1 / o.band.tpot_p90_s for o in points],
        [1 / o.band.tpot_p10_s for o in points],
        color="0.8",
        linewidth=1,
        zorder=0,
    )


def _runner_up(result: Any) -> list[tuple[str, Any, str, int]]:
    return [("runner-up", o, "D", 8) for o in result.runners_up[:1]]


def _short(text: str, most: int = 64) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
