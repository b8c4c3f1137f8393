"""How one copy of a model is spread over devices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Degree = int | NDArray[np.int64]
"""A parallel degree, or a broadcastable array of them (a layout search is one more axis)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Parallel degrees of one model replica; every degree of 1 costs nothing.

    Attention runs on tp·cp devices per group, in `dp` groups side by side (attention data
    parallelism, each group with its own sequences). Experts are spread over `ep` ranks, each
    expert cut over tp·cp·dp/ep devices. Layers are cut into `pp` stages.
    Devices of the replica: tp·cp·dp·pp.
    """

    tp: Degree = 1
    pp: Degree = 1
    ep: Degree = 1
    dp: Degree = 1
    cp: Degree = 1
    num_redundant_experts: Degree = 0
    """Extra physical copies of routed experts, spread over the ranks."""

    @property
    def num_devices(self) -> Degree:
        """Devices of one replica."""
        return self.tp * self.cp * self.dp * self.pp
