"""The lecture's pictures as PNG files; computes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ridgeline.report.figure import COLOURS, new_figure, save_figure


def plot_lecture(pictures: Sequence[Any], folder: Path) -> list[Path]:
    """Draw each picture into `folder` and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    return [_draw(picture, folder / f"{picture.id.lower()}.png") for picture in pictures]


def _draw(picture: Any, path: Path) -> Path:
    figure, axes = new_figure(1, 1, width=8.0, height=5.0)
    axis = axes[0, 0]
    for colour, line in zip(COLOURS, picture.lines, strict=False):
        axis.plot(
            line.x,
            line.y,
            color="black" if line.strong else colour,
            linewidth=3.0 if line.strong else 1.6,
            alpha=0.55 if line.strong else 1.0,
            zorder=1 if line.strong else 2,
            label=line.label,
        )
    for label, place in picture.marks:
        axis.axvline(place, color="0.4", linestyle=":")
        axis.annotate(
            label,
            (place, 0.02),
            xycoords=("data", "axes fraction"),
            rotation=90,
            ha="right",
            va="bottom",
            fontsize="small",
        )
    axis.set(xlabel=picture.x, ylabel=picture.y)
    axis.set_title(f"{picture.id}: {picture.title}", fontsize="medium")
    if "x" in picture.logs:
        axis.set_xscale("log")
    if "y" in picture.logs:
        axis.set_yscale("log")
    axis.legend(fontsize="small")
    save_figure(figure, path)
    return path
