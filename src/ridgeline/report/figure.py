"""Figures with one look: colour-blind safe, labelled axes, saved by suffix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ridgeline.report.output import check_output

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette, safe for colour-blind readers."""
SUFFIXES = (".png", ".svg", ".pdf")


def new_figure(rows: int, columns: int, *, width: float = 11.0, height: float = 8.0) -> Any:
    """Return (figure, axes array) without touching a display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - slow to import
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.ravel():
        axis.grid(visible=True, which="major", alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def check_path(path: Path) -> None:
    """Refuse a file that no figure can be written to.

    Raises:
        InputError: see `check_output`.
    """
    check_output(path, flag="--plot", suffixes=SUFFIXES)


def save_figure(figure: Any, path: Path) -> None:
    """Write the figure; the suffix decides the format.

    Raises:
        InputError: see `check_path`.
    """
    check_path(path)
    figure.savefig(path, dpi=150)
