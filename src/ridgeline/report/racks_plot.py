"""Four charts of the rack study: traffic, cliff, largest models, topologies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ridgeline.report.figure import COLOURS, new_figure, save_figure


def plot_racks(result: Any, path: Path) -> None:
    """Draw the traffic heat map, the rack cliff, models per domain and other networks."""
    figure, axes = new_figure(2, 2, width=13.0, height=10.0)
    asked = result.request
    figure.suptitle(
        f"{asked['model']}, {asked['tokens_per_device']} tokens per device,"
        f" {asked['devices_per_rack']} devices per rack ({asked['on']})"
    )
    _heat_map(figure, axes[0, 0], result)
    _cliff(axes[0, 1], result)
    _domains(axes[1, 0], result)
    _networks(axes[1, 1], result)
    save_figure(figure, path)


def _heat_map(figure: Any, axis: Any, result: Any) -> None:
    matrix = result.traffic_bytes / 1e3
    image = axis.imshow(matrix, cmap="viridis", vmin=0.0, interpolation="nearest")
    figure.colorbar(image, ax=axis, label="dispatch per layer [kB]")
    size, total = result.request["devices_per_rack"], len(matrix)
    for edge in range(size, total, size):
        axis.axhline(edge - 0.5, color="white", linewidth=1.5)
        axis.axvline(edge - 0.5, color="white", linewidth=1.5)
    for row in range(0, total, size):
        for column in range(0, total, size):
            if total // size <= 6:
                axis.text(
                    column + size / 2,
                    row + size / 2,
                    "scale-up" if row == column else "scale-out",
                    ha="center",
                    va="center",
                    color="white",
                    fontsize="small",
                    bbox={"facecolor": "black", "alpha": 0.5, "edgecolor": "none"},
                )
    axis.grid(visible=False)
    axis.set(xlabel="receiving device", ylabel="sending device", title="Who sends to whom")


def _cliff(axis: Any, result: Any) -> None:
    counts = list(dict.fromkeys(row["racks"] for row in result.cliff))
    ratios = list(dict.fromkeys(row["ratio"] for row in result.cliff))
    width = 0.8 / len(ratios)
    for i, ratio in enumerate(ratios):
        rows = [row for row in result.cliff if row["ratio"] == ratio]
        at = np.arange(len(counts)) + (i - (len(ratios) - 1) / 2) * width
        axis.bar(
            at,
            [row["time_detailed_s"] * 1e3 for row in rows],
            width * 0.9,
            color=COLOURS[i % len(COLOURS)],
            label=f"detailed, scale-up/scale-out = {ratio:g}",
        )
        for key, mark, label in (
            ("time_chalk_s", "_", "chalk, every copy"),
            ("time_ideal_once_per_rack_s", "x", "bound, one copy per rack"),
        ):
            axis.plot(
                at,
                [row[key] * 1e3 for row in rows],
                mark,
                color="black",
                markersize=11 if mark == "_" else 5,
                label=label if i == 0 else None,
            )
    axis.set_xticks(np.arange(len(counts)), [str(c) for c in counts])
    axis.set(xlabel="racks", ylabel="all-to-all of one step [ms]", title="The rack cliff")
    axis.legend(fontsize="small")


def _domains(axis: Any, result: Any) -> None:
    at = np.arange(len(result.domains))
    for i, width in enumerate(("bf16", "fp8", "fp4")):
        values = [d[f"params_{width}"] / 1e12 for d in result.domains]
        axis.bar(at + (i - 1) * 0.27, values, 0.25, color=COLOURS[i], label=width)
    names = [f"{d['cluster']}\n{d['devices']}" for d in result.domains]
    axis.set_xticks(at, names, fontsize="x-small")
    axis.set(
        yscale="log",
        xlabel="scale-up domain and its devices",
        ylabel="largest model [10¹² parameters]",
        title="What one domain can hold",
    )
    axis.legend(title="weights", fontsize="small")


def _networks(axis: Any, result: Any) -> None:
    rows = result.topologies[::-1]
    at = np.arange(len(rows))
    for shift, key, colour, label in (
        (0.2, "time_ideal_s", COLOURS[5], "bound"),
        (-0.2, "time_detailed_s", COLOURS[0], "detailed"),
    ):
        bars = axis.barh(at + shift, [row[key] * 1e3 for row in rows], 0.38, color=colour)
        bars.set_label(label)
        axis.bar_label(bars, fmt=" %.3g", fontsize="small")
    axis.set_yticks(at, [row["network"] for row in rows], fontsize="small")
    axis.set(xlabel="all-to-all of one step [ms]", title="The same experts on other networks")
    axis.legend(fontsize="small")
