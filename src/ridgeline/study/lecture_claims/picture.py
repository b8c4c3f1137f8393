"""A picture of the lecture: what is drawn against what, and the points to mark."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One curve; `strong` is the bold sum or maximum."""

    label: str
    x: Array
    y: Array
    strong: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """One figure of the lecture."""

    id: str
    title: str
    x: str
    """Label of the horizontal axis, with unit."""
    y: str
    lines: tuple[Line, ...]
    marks: tuple[tuple[str, float], ...] = ()
    """Vertical lines: label and place."""
    logs: str = ""
    """Axes in logarithms: `x`, `y` or `xy`."""
