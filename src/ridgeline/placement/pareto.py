"""The exact Pareto front of two figures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def pareto_front(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the points that no other beats in both, larger being better, by falling x.

    A point is dominated when another is at least as large in both and larger in one; of equal
    points the first is kept.

    >>> pareto_front(np.array([1.0, 2.0, 3.0, 2.0]), np.array([3.0, 2.0, 1.0, 1.5])).tolist()
    [2, 1, 0]
    """
    order = np.lexsort((-y, -x))
    best = np.maximum.accumulate(np.concatenate(([-np.inf], y[order][:-1])))
    return order[y[order] > best].astype(np.int64)
