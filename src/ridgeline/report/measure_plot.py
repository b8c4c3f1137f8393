"""Measured decode steps against batch, with the prediction, the roofline and the knees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ridgeline.report.figure import COLOURS, new_figure, save_figure


def plot_measure(result: Any, path: Path) -> None:
    """Draw one panel per context: measured with its spread, predicted, roofline, knees."""
    figure, axes = new_figure(1, len(result.knees), width=6.0 * len(result.knees) + 1, height=5.0)
    figure.suptitle(
        f"{result.machine['name']}, {result.machine['library']}: decode steps of a small"
        f" transformer (median error {result.median_error:.0%})"
    )
    for axis, found in zip(axes[0], result.knees, strict=True):
        _panel(axis, [p for p in result.points if p.context == found.context], found)
    save_figure(figure, path)


def _panel(axis: Any, points: list[Any], found: Any) -> None:
    batch = [p.batch for p in points]
    middle = [p.sample.median_s * 1e3 for p in points]
    below = [(p.sample.median_s - p.sample.low_s) * 1e3 for p in points]
    above = [(p.sample.high_s - p.sample.median_s) * 1e3 for p in points]
    axis.errorbar(
        batch, middle, yerr=(below, above), fmt="o", color=COLOURS[1], capsize=3, label="measured"
    )
    axis.plot(
        batch,
        [p.predicted_s * 1e3 for p in points],
        color=COLOURS[0],
        label="predicted from micro-benchmarks",
    )
    axis.plot(
        batch, [p.ideal_s * 1e3 for p in points], ":", color="0.4", label="roofline, measured peaks"
    )
    for value, colour, style, word in (
        (found.measured, COLOURS[1], "--", "measured"),
        (found.predicted, COLOURS[0], "-.", "predicted"),
    ):
        axis.axvline(value, color=colour, linestyle=style, label=f"knee {word}: {value:.3g}")
    axis.set(xscale="log", yscale="log", xlabel="batch [sequences]", ylabel="step time [ms]")
    axis.set_xscale("log", base=2)
    axis.set_xticks(batch, [str(b) for b in batch])
    axis.set_title(f"context {found.context:,} tokens")
    axis.legend(fontsize="small")
