"""Fitted figures of collectives; written by dev/fit_collectives.py, never by hand.

Measurements: NVIDIA aiconfigurator-core 0.12.0 (PyPI, Apache-2.0), read on 2026-12-01: NCCL 2.23
to 2.29, custom all-reduce of vLLM, SGLang and TensorRT-LLM under CUDA graphs (their median),
DeepEP as of SGLang 0.5.6 and 0.5.12, TensorRT-LLM 1.2 between the ranks of one NVLink domain.
"""

from __future__ import annotations

from typing import NamedTuple


class Fit(NamedTuple):
    """One fitted algorithm on one tier of one generation."""

    kind: str
    algorithm: str
    place: str
    """Generation and tier."""
    ranks: int
    """Largest group measured."""
    launch_us: float
    step_us: float
    wire_us: float
    """Catalogue latency of the measured tier."""
    bandwidth_share: float
    contention: float
    sharpness: float
    own_share: float
    expert_us: float
    error_percent: float
    """Median absolute error on the fitted system."""
    spread_percent: float
    """Half-width of the 10-90 % band of measured over fitted."""


SYSTEMS = {
    "ampere:scale_up": "A100 SXM",
    "hopper:scale_up": "H100 SXM",
    "hopper:scale_out": "H100 SXM, 2 to 8 nodes",
    "blackwell:scale_up": "B200 SXM",
    "blackwell_ultra:scale_up": "B300 SXM",
    "blackwell:scale_up@rack": "GB200",
    "ada:pcie": "L40S (one pair)",
    "blackwell_rtx:pcie": "RTX PRO 6000 Server",
}
"""Place to the system measured and fitted; H200 and GB300 were held out."""

# Columns are the fields of Fit, in order.
_TABLE = """
all_gather ring ampere:scale_up                  8  9.91  0.78 2 0.786 0.00 0.59 0.47 0.000  4.0 11
all_gather ring_ll ampere:scale_up               8  7.41  0.78 2 0.073 0.00 0.59 0.47 0.000  4.0 11
reduce_scatter ring ampere:scale_up              8  24.1  0.79 2 0.733 0.00 0.77 0.25 0.000  4.2 10
reduce_scatter ring_ll ampere:scale_up           8  9.27  0.79 2 0.365 0.00 0.77 0.25 0.000  4.2 10
all_to_all pairwise ampere:scale_up              8  17.7  0.69 2 0.727 0.00 0.71 0.25 0.000  3.1  7
all_to_all pairwise_ll ampere:scale_up           8    11  0.69 2 0.427 0.00 0.71 0.25 0.000  3.1  7
all_reduce ring ampere:scale_up                  8  9.56  0.86 2 0.802 0.00 0.60 0.23 0.000  3.7 10
all_reduce ring_ll ampere:scale_up               8  7.85  0.86 2 0.144 0.00 0.60 0.23 0.000  3.7 10
all_reduce one_shot ampere:scale_up              8  4.04  1.50 2 0.472 0.00 1.23 0.00 0.000  4.8 10
all_reduce two_shot ampere:scale_up              8  11.1  1.50 2 0.539 0.00 1.23 0.09 0.000  4.8 10
all_gather ring hopper:scale_up                  8  18.7  0.92 2 0.811 0.00 0.93 0.45 0.000  3.8  7
all_gather ring_ll hopper:scale_up               8  5.14  0.92 2 0.381 0.00 0.93 0.45 0.000  3.8  7
reduce_scatter ring hopper:scale_up              8  14.7  0.78 2 0.804 0.00 0.91 0.62 0.000  2.7  6
reduce_scatter ring_ll hopper:scale_up           8  5.24  0.78 2 0.463 0.00 0.91 0.62 0.000  2.7  6
all_to_all pairwise hopper:scale_up              8    10  0.48 2 0.741 0.00 0.76 0.17 0.000  4.7 12
all_to_all pairwise_ll hopper:scale_up           8     6  0.48 2 0.034 0.00 0.76 0.17 0.000  4.7 12
all_reduce ring hopper:scale_up                  8  15.3  0.80 2 0.853 0.00 0.85 0.26 0.000  2.8  6
all_reduce ring_ll hopper:scale_up               8  5.08  0.80 2 0.504 0.00 0.85 0.26 0.000  2.8  6
all_reduce in_network hopper:scale_up            8  52.4  0.80 2 0.677 0.00 0.85 0.00 0.000  2.8  6
all_reduce one_shot hopper:scale_up              8   3.3  0.80 2 0.518 0.00 1.17 0.00 0.000  3.9  8
all_reduce two_shot hopper:scale_up              8  9.25  0.80 2 0.589 0.00 1.17 0.06 0.000  3.9  8
dispatch direct hopper:scale_up                  8  6.47  1.25 2 0.589 0.00 0.99 0.32 0.017  3.0  6
combine direct hopper:scale_up                   8  9.12  1.74 2 0.481 0.00 1.15 0.29 0.006  2.7  7
dispatch hierarchical hopper:scale_up            8  23.1  2.11 2 0.614 0.00 0.81 0.00 0.000  3.1  6
combine hierarchical hopper:scale_up             8  35.7  0.07 2 0.681 0.00 0.77 0.00 0.004  5.7 12
dispatch direct hopper:scale_out                64  15.2  1.09 5 0.973 0.00 0.95 0.52 0.022  3.7 10
combine direct hopper:scale_out                 64  14.8  1.32 5 0.930 0.00 0.98 0.00 0.028  1.5  4
dispatch hierarchical hopper:scale_out          16     3  0.36 5 0.831 0.00 0.74 0.00 0.010  2.3  3
combine hierarchical hopper:scale_out           16     3  6.87 5 0.699 0.00 0.66 0.00 0.010  2.0  5
all_gather ring blackwell:scale_up               8  26.4  1.37 2 0.752 0.00 1.03 0.45 0.000  3.2  9
all_gather ring_ll blackwell:scale_up            8  7.91  1.37 2 0.278 0.00 1.03 0.45 0.000  3.2  9
reduce_scatter ring blackwell:scale_up           8  25.7  1.38 2 0.731 0.00 1.02 0.62 0.000  3.7  7
reduce_scatter ring_ll blackwell:scale_up        8  7.58  1.38 2 0.314 0.00 1.02 0.62 0.000  3.7  7
all_to_all pairwise blackwell:scale_up           8  13.7  0.62 2 0.719 0.00 0.81 0.86 0.000  2.8  6
all_to_all pairwise_ll blackwell:scale_up        8  8.74  0.62 2 0.050 0.00 0.81 0.86 0.000  2.8  6
all_reduce ring blackwell:scale_up               8  35.2  1.37 2 0.733 0.00 1.06 0.16 0.000  3.9  7
all_reduce ring_ll blackwell:scale_up            8  7.63  1.37 2 0.310 0.00 1.06 0.16 0.000  3.9  7
all_reduce in_network blackwell:scale_up         8   112  1.37 2 0.538 0.00 1.06 0.00 0.000  3.9  7
all_reduce one_shot blackwell:scale_up           8  3.33  2.78 2 0.256 0.00 1.18 0.00 0.000  3.6  7
all_reduce two_shot blackwell:scale_up           8  10.9  2.78 2 0.425 0.00 1.18 0.00 0.000  3.6  7
dispatch direct blackwell:scale_up               8  11.6  1.59 2 0.531 0.00 1.03 0.11 0.029  2.2  5
combine direct blackwell:scale_up                8  15.3  1.11 2 0.636 0.00 1.09 0.00 0.013  4.1  9
dispatch hierarchical blackwell:scale_up         8  32.3  0.93 2 0.302 0.00 0.79 0.00 0.000  3.6 10
combine hierarchical blackwell:scale_up          8  41.5  1.50 2 0.392 0.00 0.75 0.00 0.005  6.7 14
all_gather ring blackwell_ultra:scale_up         8  27.6  1.33 2 0.755 0.00 1.07 0.44 0.000  3.5  8
all_gather ring_ll blackwell_ultra:scale_up      8  7.73  1.33 2 0.282 0.00 1.07 0.44 0.000  3.5  8
reduce_scatter ring blackwell_ultra:scale_up     8  24.2  1.39 2 0.740 0.00 1.01 0.61 0.000  4.4  7
reduce_scatter ring_ll blackwell_ultra:scale_up  8  7.29  1.39 2 0.326 0.00 1.01 0.61 0.000  4.4  7
all_to_all pairwise blackwell_ultra:scale_up     8  14.1  0.63 2 0.723 0.00 0.87 0.85 0.000  3.8  8
all_to_all pairwise_ll blackwell_ultra:scale_up  8  8.75  0.63 2 0.041 0.00 0.87 0.85 0.000  3.8  8
all_reduce ring blackwell_ultra:scale_up         8  35.1  1.35 2 0.710 0.00 1.10 0.12 0.000  4.3  8
all_reduce ring_ll blackwell_ultra:scale_up      8  7.38  1.35 2 0.305 0.00 1.10 0.12 0.000  4.3  8
all_reduce in_network blackwell_ultra:scale_up   8  94.8  1.35 2 0.529 0.00 1.10 0.00 0.000  4.3  8
all_reduce one_shot blackwell_ultra:scale_up     8  4.23  2.76 2 0.115 0.00 1.74 0.00 0.000  2.9  8
all_reduce two_shot blackwell_ultra:scale_up     8  21.2  2.76 2 0.422 0.00 1.74 0.11 0.000  2.9  8
dispatch direct blackwell_ultra:scale_up         8    12  1.92 2 0.555 0.00 0.98 0.20 0.027  2.2  5
combine direct blackwell_ultra:scale_up          8  15.6  1.06 2 0.651 0.00 1.09 0.14 0.015  5.1  8
dispatch hierarchical blackwell_ultra:scale_up   8  30.1  3.76 2 0.309 0.00 0.78 0.00 0.000  4.0 10
combine hierarchical blackwell_ultra:scale_up    8  42.2  1.03 2 0.398 0.00 0.74 0.00 0.004  6.1 14
all_gather ring blackwell:scale_up@rack          4  25.3  1.32 2 0.755 0.00 1.04 0.44 0.000  3.0  5
all_gather ring_ll blackwell:scale_up@rack       4  8.52  1.32 2 0.292 0.00 1.04 0.44 0.000  3.0  5
reduce_scatter ring blackwell:scale_up@rack      4  21.9  1.34 2 0.712 0.00 1.09 0.63 0.000  3.5  5
reduce_scatter ring_ll blackwell:scale_up@rack   4   8.3  1.34 2 0.289 0.00 1.09 0.63 0.000  3.5  5
all_to_all pairwise blackwell:scale_up@rack      4  15.6  0.25 2 0.729 0.00 0.93 0.89 0.000  3.2  5
all_to_all pairwise_ll blackwell:scale_up@rack   4  9.71  0.25 2 0.023 0.00 0.93 0.89 0.000  3.2  5
all_reduce ring blackwell:scale_up@rack          4  41.5  1.35 2 0.744 0.00 1.25 0.20 0.000  2.9  5
all_reduce ring_ll blackwell:scale_up@rack       4  8.41  1.35 2 0.285 0.00 1.25 0.20 0.000  2.9  5
all_reduce in_network blackwell:scale_up@rack    4   192  1.35 2 0.635 0.00 1.25 0.00 0.000  2.9  5
all_reduce one_shot blackwell:scale_up@rack      4  3.82  1.33 2 0.263 0.00 0.89 0.00 0.000  2.4  5
all_reduce two_shot blackwell:scale_up@rack      4  2.59  1.33 2 0.426 0.00 0.89 0.99 0.000  2.4  5
dispatch direct blackwell:scale_up@rack          4  9.07  0.87 2 0.533 0.00 1.02 0.28 0.025  2.4  5
combine direct blackwell:scale_up@rack           4  9.72  1.52 2 0.618 0.00 1.09 0.01 0.017  4.2  9
dispatch hierarchical blackwell:scale_up@rack    4  32.2  1.01 2 0.187 0.00 0.96 0.00 0.000  5.5 20
combine hierarchical blackwell:scale_up@rack     4  37.7  1.04 2 0.238 0.00 0.92 0.00 0.006  7.7 17
dispatch one_copy blackwell:scale_up@rack       64    24  1.04 2 0.576 0.00 0.90 0.00 0.000  7.2 13
combine one_copy blackwell:scale_up@rack        64  12.4  0.91 2 0.532 0.00 0.92 0.00 0.000  8.2 40
all_gather ring blackwell_rtx:pcie               8  17.3  1.85 5 0.996 1.95 1.04 0.94 0.000  3.0  9
all_gather ring_ll blackwell_rtx:pcie            8  3.81  1.85 5 0.434 1.95 1.04 0.94 0.000  3.0  9
reduce_scatter ring blackwell_rtx:pcie           8  20.3  1.71 5 0.543 0.86 1.03 0.07 0.000  2.9  7
reduce_scatter ring_ll blackwell_rtx:pcie        8   3.9  1.71 5 0.263 0.86 1.03 0.07 0.000  2.9  7
all_to_all pairwise blackwell_rtx:pcie           8  5.31  2.10 5 0.479 0.83 0.79 0.09 0.000  6.4 14
all_to_all pairwise_ll blackwell_rtx:pcie        8  3.88  2.10 5 0.162 0.83 0.79 0.09 0.000  6.4 14
all_reduce ring blackwell_rtx:pcie               8  25.3  1.59 5 0.650 1.11 0.95 0.06 0.000  3.3  8
all_reduce ring_ll blackwell_rtx:pcie            8  3.09  1.59 5 0.371 1.11 0.95 0.06 0.000  3.3  8
all_reduce one_shot blackwell_rtx:pcie           8  3.63  0.94 5 0.360 0.63 1.34 0.00 0.000  4.3  8
all_reduce two_shot blackwell_rtx:pcie           8  4.25  0.94 5 0.707 0.63 1.34 0.20 0.000  4.3  8
all_gather ring ada:pcie                         2  29.1  1.09 5 0.735 1.95 1.31 0.19 0.000  0.8  4
all_gather ring_ll ada:pcie                      2  5.71  1.09 5 0.317 1.95 1.31 0.19 0.000  0.8  4
reduce_scatter ring ada:pcie                     2  24.3  1.56 5 0.697 0.86 1.19 0.17 0.000  1.3  4
reduce_scatter ring_ll ada:pcie                  2  4.96  1.56 5 0.329 0.86 1.19 0.17 0.000  1.3  4
all_to_all pairwise ada:pcie                     2  11.7  1.03 5 0.795 0.83 0.85 0.11 0.000  1.7  8
all_to_all pairwise_ll ada:pcie                  2  7.11  1.03 5 0.389 0.83 0.85 0.11 0.000  1.7  8
all_reduce ring ada:pcie                         2  29.7  1.49 5 0.711 1.11 1.25 0.11 0.000  1.8  3
all_reduce ring_ll ada:pcie                      2  4.05  1.49 5 0.338 1.11 1.25 0.11 0.000  1.8  3
all_reduce one_shot ada:pcie                     2  35.9  0.36 5 0.576 0.63 0.67 0.00 0.000  4.5  4
all_reduce two_shot ada:pcie                     2  6.34  0.36 5 0.606 0.63 0.67 0.30 0.000  4.5  4
"""


def _fit(line: str) -> Fit:
    kind, algorithm, place, ranks, *figures = line.split()
    return Fit(kind, algorithm, place, int(ranks), *(float(figure) for figure in figures))


FITS: tuple[Fit, ...] = tuple(_fit(line) for line in _TABLE.splitlines() if line)
"""All fits."""
