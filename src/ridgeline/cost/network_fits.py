"""Fitted figures of collectives; written by dev/fit_collectives.py, never by hand.

Measurements: NVIDIA aiconfigurator-core 0.12.0 (PyPI, Apache-2.0), read on 2026-12-01: NCCL 2.23
to 2.29, custom all-reduce of vLLM, SGLang and TensorRT-LLM under CUDA graphs (their median),
DeepEP as of SGLang 0.5.6 and 0.5.12.
"""

from __future__ import annotations

from typing import NamedTuple


class Fit(NamedTuple):
    """One fitted algorithm on one tier of one generation."""

    kind: str
    algorithm: str
    generation: str
    tier: str
    launch_us: float
    step_us: float
    wire_us: float
    """Catalogue latency of the measured tier."""
    bandwidth_share: float
    sharpness: float
    own_share: float
    expert_us: float
    error_percent: float
    """Median absolute error on the fitted system."""
    spread_percent: float
    """Half-width of the 10-90 % band of measured over fitted."""


SYSTEMS = {
    "ampere": "A100 SXM",
    "hopper": "H100 SXM",
    "blackwell": "B200 SXM",
    "blackwell_ultra": "B300 SXM",
    "ada": "L40S (one pair)",
    "blackwell_rtx": "RTX PRO 6000 Server",
}
"""Generation to the system measured and fitted; H200, GB200 and GB300 were held out."""

# Columns are the fields of Fit, in order.
_TABLE = """
all_gather     ring         ampere          scale_up   9.91  0.78 2 0.786 0.591 0.465 0.000  4.0 11
all_gather     ring_ll      ampere          scale_up   7.41  0.78 2 0.073 0.591 0.465 0.000  4.0 11
reduce_scatter ring         ampere          scale_up   23.4  0.79 2 0.733 0.757 0.249 0.000  4.2 10
reduce_scatter ring_ll      ampere          scale_up   9.24  0.79 2 0.374 0.757 0.249 0.000  4.2 10
all_to_all     pairwise     ampere          scale_up   18.4  0.67 2 0.714 0.714 0.212 0.000  2.4  7
all_to_all     pairwise_ll  ampere          scale_up   11.7  0.67 2 0.420 0.714 0.212 0.000  2.4  7
all_reduce     ring         ampere          scale_up   9.56  0.86 2 0.802 0.604 0.231 0.000  3.7 10
all_reduce     ring_ll      ampere          scale_up   7.83  0.86 2 0.141 0.604 0.231 0.000  3.7 10
all_reduce     one_shot     ampere          scale_up   4.35  1.19 2 0.471 1.231 0.000 0.000  4.7 10
all_reduce     two_shot     ampere          scale_up   11.7  1.19 2 0.539 1.231 0.098 0.000  4.7 10
all_gather     ring         hopper          scale_up   18.7  0.92 2 0.811 0.930 0.453 0.000  3.8  7
all_gather     ring_ll      hopper          scale_up   5.14  0.92 2 0.381 0.930 0.453 0.000  3.8  7
reduce_scatter ring         hopper          scale_up   14.7  0.78 2 0.804 0.908 0.618 0.000  2.7  6
reduce_scatter ring_ll      hopper          scale_up   5.24  0.78 2 0.463 0.908 0.618 0.000  2.7  6
all_to_all     pairwise     hopper          scale_up   10.5  1.08 2 0.729 0.787 0.158 0.000  6.6 12
all_to_all     pairwise_ll  hopper          scale_up   6.11  1.08 2 0.054 0.787 0.158 0.000  6.6 12
all_reduce     ring         hopper          scale_up   12.6  0.80 2 0.866 0.795 0.302 0.000  2.8  6
all_reduce     ring_ll      hopper          scale_up   5.16  0.80 2 0.538 0.795 0.302 0.000  2.8  6
all_reduce     in_network   hopper          scale_up   32.8  0.80 2 0.589 0.795 0.000 0.000  2.8  6
all_reduce     one_shot     hopper          scale_up   2.98  1.10 2 0.520 1.139 0.000 0.000  4.4  9
all_reduce     two_shot     hopper          scale_up   7.25  1.10 2 0.556 1.139 0.011 0.000  4.4  9
dispatch       direct       hopper          scale_up   6.42  1.30 2 0.592 0.988 0.356 0.017  3.0  6
combine        direct       hopper          scale_up   10.7  0.20 2 0.479 1.154 0.252 0.006  2.7  7
dispatch       hierarchical hopper          scale_up   23.9  1.23 2 0.614 0.809 0.000 0.000  3.1  6
combine        hierarchical hopper          scale_up   34.7  1.04 2 0.681 0.770 0.000 0.004  5.7 12
dispatch       direct       hopper          scale_out  15.2  1.05 5 0.973 0.953 0.293 0.022  3.7 10
combine        direct       hopper          scale_out  16.7  1.00 5 0.930 0.981 0.466 0.028  1.5  4
dispatch       hierarchical hopper          scale_out     3  0.36 5 0.831 0.741 0.000 0.010  2.3  3
combine        hierarchical hopper          scale_out  29.6  6.87 5 0.699 0.658 0.000 0.004  2.0  5
all_gather     ring         blackwell       scale_up   26.4  1.37 2 0.752 1.030 0.449 0.000  3.2  9
all_gather     ring_ll      blackwell       scale_up   7.91  1.37 2 0.278 1.030 0.449 0.000  3.2  9
reduce_scatter ring         blackwell       scale_up   25.7  1.38 2 0.731 1.019 0.619 0.000  3.7  7
reduce_scatter ring_ll      blackwell       scale_up   7.58  1.38 2 0.314 1.019 0.619 0.000  3.7  7
all_to_all     pairwise     blackwell       scale_up   13.5  1.37 2 0.704 0.802 0.783 0.000  3.4  8
all_to_all     pairwise_ll  blackwell       scale_up    8.6  1.37 2 0.051 0.802 0.783 0.000  3.4  8
all_reduce     ring         blackwell       scale_up   33.5  1.37 2 0.730 1.038 0.222 0.000  3.4  6
all_reduce     ring_ll      blackwell       scale_up   7.62  1.37 2 0.324 1.038 0.222 0.000  3.4  6
all_reduce     in_network   blackwell       scale_up   69.5  1.37 2 0.494 1.038 0.000 0.000  3.4  6
all_reduce     one_shot     blackwell       scale_up   4.27  1.84 2 0.256 1.183 0.000 0.000  3.8  8
all_reduce     two_shot     blackwell       scale_up   12.8  1.84 2 0.425 1.183 0.001 0.000  3.8  8
dispatch       direct       blackwell       scale_up   12.2  1.01 2 0.532 1.026 0.136 0.029  2.2  5
combine        direct       blackwell       scale_up   14.9  1.52 2 0.664 1.090 0.305 0.013  4.1  9
dispatch       hierarchical blackwell       scale_up   32.1  1.14 2 0.302 0.786 0.000 0.000  3.6 10
combine        hierarchical blackwell       scale_up   41.5  1.54 2 0.392 0.745 0.000 0.005  6.7 14
all_gather     ring         blackwell_ultra scale_up   27.6  1.33 2 0.755 1.069 0.440 0.000  3.5  8
all_gather     ring_ll      blackwell_ultra scale_up   7.73  1.33 2 0.282 1.069 0.440 0.000  3.5  8
reduce_scatter ring         blackwell_ultra scale_up   24.2  1.39 2 0.740 1.011 0.611 0.000  4.4  7
reduce_scatter ring_ll      blackwell_ultra scale_up   7.29  1.39 2 0.326 1.011 0.611 0.000  4.4  7
all_to_all     pairwise     blackwell_ultra scale_up   13.9  1.33 2 0.712 0.855 0.790 0.000  4.2  9
all_to_all     pairwise_ll  blackwell_ultra scale_up   8.57  1.33 2 0.040 0.855 0.790 0.000  4.2  9
all_reduce     ring         blackwell_ultra scale_up   34.3  1.36 2 0.727 1.093 0.191 0.000  3.6  7
all_reduce     ring_ll      blackwell_ultra scale_up   7.37  1.36 2 0.317 1.093 0.191 0.000  3.6  7
all_reduce     in_network   blackwell_ultra scale_up   70.6  1.36 2 0.499 1.093 0.000 0.000  3.6  7
all_reduce     one_shot     blackwell_ultra scale_up   1.82  5.17 2 0.115 1.736 0.000 0.000  3.0  8
all_reduce     two_shot     blackwell_ultra scale_up   16.4  5.17 2 0.422 1.736 0.112 0.000  3.0  8
dispatch       direct       blackwell_ultra scale_up   12.3  1.59 2 0.556 0.983 0.209 0.027  2.2  5
combine        direct       blackwell_ultra scale_up   15.4  1.25 2 0.664 1.093 0.287 0.015  5.1  8
dispatch       hierarchical blackwell_ultra scale_up   32.8  1.11 2 0.309 0.783 0.000 0.000  4.0 10
combine        hierarchical blackwell_ultra scale_up   41.3  1.91 2 0.398 0.744 0.000 0.004  6.1 14
all_gather     ring         ada             pcie         29  1.17 5 0.742 1.309 0.200 0.000  0.8  4
all_gather     ring_ll      ada             pcie       5.62  1.17 5 0.321 1.309 0.200 0.000  0.8  4
reduce_scatter ring         ada             pcie       24.8  1.06 5 0.668 1.191 0.120 0.000  1.3  4
reduce_scatter ring_ll      ada             pcie       5.46  1.06 5 0.316 1.191 0.120 0.000  1.3  4
all_to_all     pairwise     ada             pcie       11.7  1.00 5 0.799 0.849 0.119 0.000  1.7  8
all_to_all     pairwise_ll  ada             pcie       7.13  1.00 5 0.391 0.849 0.119 0.000  1.7  8
all_reduce     ring         ada             pcie       29.7  1.46 5 0.715 1.246 0.120 0.000  1.8  3
all_reduce     ring_ll      ada             pcie       4.12  1.46 5 0.339 1.246 0.120 0.000  1.8  3
all_reduce     one_shot     ada             pcie       35.9  0.36 5 0.576 0.674 0.000 0.000  4.5  4
all_reduce     two_shot     ada             pcie       6.34  0.36 5 0.606 0.674 0.305 0.000  4.5  4
all_gather     ring         blackwell_rtx   pcie        3.8  1.87 5 0.392 0.649 0.001 0.000  8.7 16
all_gather     ring_ll      blackwell_rtx   pcie       3.04  1.87 5 0.421 0.649 0.001 0.000  8.7 16
reduce_scatter ring         blackwell_rtx   pcie       30.6  1.75 5 0.379 0.665 0.001 0.000  7.5 17
reduce_scatter ring_ll      blackwell_rtx   pcie       3.14  1.75 5 0.389 0.665 0.001 0.000  7.5 17
all_to_all     pairwise     blackwell_rtx   pcie       10.5  1.24 5 0.365 0.856 0.001 0.000 17.0 33
all_to_all     pairwise_ll  blackwell_rtx   pcie       6.47  1.24 5 0.130 0.856 0.001 0.000 17.0 33
all_reduce     ring         blackwell_rtx   pcie       11.2  1.63 5 0.037 0.679 0.001 0.000  8.3 23
all_reduce     ring_ll      blackwell_rtx   pcie       2.13  1.63 5 0.426 0.679 0.001 0.000  8.3 23
all_reduce     one_shot     blackwell_rtx   pcie         19  1.31 5 0.151 0.604 0.000 0.000 12.1 30
all_reduce     two_shot     blackwell_rtx   pcie       22.4  1.31 5 0.376 0.604 0.292 0.000 12.1 30
"""


def _fit(line: str) -> Fit:
    kind, algorithm, generation, tier, *figures = line.split()
    return Fit(kind, algorithm, generation, tier, *(float(figure) for figure in figures))


FITS: tuple[Fit, ...] = tuple(_fit(line) for line in _TABLE.splitlines() if line)
"""All fits."""
