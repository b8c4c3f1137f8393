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

# kind, algorithm, generation, tier; launch, step, wire [us]; β, p, own share; error, spread [%]
_TABLE = """
all_gather     ring         ampere          scale_up   9.03  0.82 2 0.809 0.563 0.478  6.3 11.5
reduce_scatter ring         ampere          scale_up   8.63  0.77 2 0.804 0.550 0.295  4.8  9.5
all_to_all     pairwise     ampere          scale_up   11.7  0.30 2 0.761 0.579 0.217  2.6 10.0
all_reduce     ring         ampere          scale_up   8.83  0.86 2 0.824 0.578 0.244  3.6 10.5
all_reduce     one_shot     ampere          scale_up   3.08  2.43 2 0.484 1.190 0.000  4.9 10.6
all_reduce     two_shot     ampere          scale_up   8.93  2.43 2 0.540 1.190 0.066  4.9 10.6
all_gather     ring         hopper          scale_up   4.75  0.84 2 0.890 0.601 0.526  4.1  9.3
reduce_scatter ring         hopper          scale_up   4.97  0.77 2 0.855 0.662 0.702  2.6  6.2
all_to_all     pairwise     hopper          scale_up   7.37  0.80 2 0.813 0.587 0.130  8.0 18.3
all_reduce     ring         hopper          scale_up    4.9  0.78 2 0.915 0.619 0.340  2.7  5.9
all_reduce     in_network   hopper          scale_up   14.4  0.78 2 0.611 0.619 0.000  2.7  5.9
all_reduce     one_shot     hopper          scale_up   3.66  0.44 2 0.516 1.170 0.000  4.5  9.4
all_reduce     two_shot     hopper          scale_up    9.8  0.44 2 0.583 1.170 0.059  4.5  9.4
dispatch       direct       hopper          scale_up   9.14  0.77 2 0.741 0.634 0.025 11.0 30.8
combine        direct       hopper          scale_up   10.5  0.91 2 0.485 1.023 0.297  5.8 11.4
dispatch       hierarchical hopper          scale_up     24  1.00 2 0.597 0.795 0.000  3.0  8.4
combine        hierarchical hopper          scale_up   35.7  0.16 2 0.646 0.758 0.000  8.1 17.6
dispatch       direct       hopper          scale_out     3 13.55 5 0.974 0.950 0.300  3.9  9.8
combine        direct       hopper          scale_out  0.23 13.99 5 0.930 0.982 0.300  1.6  3.5
dispatch       hierarchical hopper          scale_out     3  0.52 5 0.831 0.741 0.000  2.3  3.2
combine        hierarchical hopper          scale_out     3  7.82 5 0.699 0.658 0.000  2.0  5.5
all_gather     ring         blackwell       scale_up   7.39  1.30 2 0.875 0.606 0.525  3.8 11.6
reduce_scatter ring         blackwell       scale_up   7.13  1.36 2 0.831 0.637 0.734  3.4  8.8
all_to_all     pairwise     blackwell       scale_up   9.55  1.43 2 0.813 0.598 0.769  6.4 13.7
all_reduce     ring         blackwell       scale_up   7.18  1.34 2 0.802 0.655 0.307  3.0  7.5
all_reduce     in_network   blackwell       scale_up   38.1  1.34 2 0.581 0.655 0.000  3.0  7.5
all_reduce     one_shot     blackwell       scale_up   4.77  1.35 2 0.251 1.208 0.000  3.7  7.4
all_reduce     two_shot     blackwell       scale_up   13.7  1.35 2 0.411 1.208 0.001  3.7  7.4
dispatch       direct       blackwell       scale_up   15.2  1.48 2 1.000 0.565 0.001 13.4 32.0
combine        direct       blackwell       scale_up   17.1  0.93 2 0.702 0.904 0.215  7.9 16.1
dispatch       hierarchical blackwell       scale_up   32.1  0.99 2 0.291 0.772 0.000  4.9 11.6
combine        hierarchical blackwell       scale_up   41.6  1.40 2 0.371 0.726 0.000  8.0 18.0
all_gather     ring         blackwell_ultra scale_up   7.21  1.26 2 0.867 0.617 0.507  4.0 11.2
reduce_scatter ring         blackwell_ultra scale_up   6.88  1.37 2 0.838 0.639 0.722  3.4  8.5
all_to_all     pairwise     blackwell_ultra scale_up   9.63  1.37 2 0.824 0.615 0.773  6.7 17.0
all_reduce     ring         blackwell_ultra scale_up   6.92  1.32 2 0.823 0.661 0.305  3.6  8.1
all_reduce     in_network   blackwell_ultra scale_up   31.2  1.32 2 0.557 0.661 0.000  3.6  8.1
all_reduce     one_shot     blackwell_ultra scale_up      5  2.01 2 0.113 1.801 0.000  3.1  7.4
all_reduce     two_shot     blackwell_ultra scale_up   22.7  2.01 2 0.417 1.801 0.497  3.1  7.4
dispatch       direct       blackwell_ultra scale_up   13.7  3.50 2 1.000 0.570 0.001 11.6 28.3
combine        direct       blackwell_ultra scale_up   16.8  1.80 2 0.716 0.893 0.274  9.6 15.4
dispatch       hierarchical blackwell_ultra scale_up   31.3  3.12 2 0.296 0.783 0.000  4.9 11.8
combine        hierarchical blackwell_ultra scale_up   42.5  0.91 2 0.375 0.729 0.000  8.0 16.7
all_gather     ring         ada             pcie       4.54  1.37 5 0.761 0.662 0.200  4.4 10.3
reduce_scatter ring         ada             pcie       5.25  0.51 5 0.652 0.664 0.067  3.1  9.7
all_to_all     pairwise     ada             pcie       7.13  0.85 5 0.802 0.658 0.084  3.7  6.7
all_reduce     ring         ada             pcie       4.49  0.80 5 0.720 0.649 0.105  5.0 10.6
all_reduce     one_shot     ada             pcie         29 94.08 5 0.585 5.173 0.000  5.1  6.7
all_reduce     two_shot     ada             pcie          6 94.08 5 0.700 5.173 0.300  5.1  6.7
all_gather     ring         blackwell_rtx   pcie       3.04  1.87 5 0.421 0.649 0.001  8.7 15.9
reduce_scatter ring         blackwell_rtx   pcie       3.14  1.75 5 0.389 0.665 0.001  7.5 17.4
all_to_all     pairwise     blackwell_rtx   pcie       6.53  1.32 5 0.378 0.672 0.001 18.5 32.8
all_reduce     ring         blackwell_rtx   pcie       2.13  1.63 5 0.426 0.679 0.001  8.3 22.9
all_reduce     one_shot     blackwell_rtx   pcie        137 39.49 5 0.042 0.418 0.000 12.1 29.8
all_reduce     two_shot     blackwell_rtx   pcie       94.1 39.49 5 0.099 0.418 0.575 12.1 29.8
"""


def _fit(line: str) -> Fit:
    kind, algorithm, generation, tier, *figures = line.split()
    return Fit(kind, algorithm, generation, tier, *(float(figure) for figure in figures))


FITS: tuple[Fit, ...] = tuple(_fit(line) for line in _TABLE.splitlines() if line)
"""All fits."""
