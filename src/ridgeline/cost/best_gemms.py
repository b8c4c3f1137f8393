"""The best GEMM of a search over shapes: what a maximum achieved rate should be compared with."""

from __future__ import annotations

from dataclasses import replace
from math import hypot
from statistics import median

from ridgeline.cost.efficiency import MOST_SHARE, Curve, Efficiency
from ridgeline.cost.efficiency_records import CALIBRATED

_MEASURED = {
    "bf16": {
        "ada": 0.743,
        "ampere": 0.909,
        "blackwell": 0.740,
        "blackwell_rtx": 0.915,
        "blackwell_ultra": 0.813,
        "hopper": 0.842,
    },
    "fp8": {
        "ada": 0.565,
        "blackwell": 0.671,
        "blackwell_rtx": 0.857,
        "blackwell_ultra": 0.729,
        "hopper": 0.738,
    },
    "fp8_block": {
        "ada": 0.324,
        "blackwell": 0.680,
        "blackwell_rtx": 0.655,
        "blackwell_ultra": 0.722,
        "hopper": 0.659,
    },
    "fp4": {"blackwell": 0.548, "blackwell_rtx": 0.769, "blackwell_ultra": 0.407},
}
"""Share of the dense peak of the best GEMM in a thousand shapes, by form and generation: median
over engines, mean over systems. Source: the measurements of `CALIBRATED`, dev/best_gemms.py."""

_SPREAD = 0.061
"""σ of one engine's best about the median of engines. Source: as `_MEASURED`."""

_PUBLISHED = {
    ("bf16", "mi300x"): 708 / 1307.4,
    ("bf16", "mi325x"): 843 / 1307.4,
    ("fp8", "mi300x"): 1273 / 2614.9,
    ("fp8", "mi325x"): 1519 / 2614.9,
    ("fp8", "mi355x"): 3130 / 5033,
    ("bf16", "mi355x"): 3130 / 5033 * (708 / 1307.4) / (1273 / 2614.9),
    ("bf16", "rtx-4090"): 179.2 / 165.2,
    ("fp8", "rtx-4090"): 354.3 / 330.3,
    ("bf16", "rtx-5090"): 254.0 / 209.5,
    ("bf16", "gaudi2"): MOST_SHARE,
    ("fp8", "gaudi2"): MOST_SHARE,
}
"""Source: Sander et al. 2025, Measuring Max-Achievable FLOPs, Part 2, ROCm blogs (hipBLASLt);
Cao et al. 2026, FP8 GEMM Optimization on CDNA 4, ROCm blogs (bf16 to fp8 as on CDNA 3);
xzwgit, gpu-flops-bench (cuBLASLt, cards that pass their rated clock);
Gaudi 2 `frequently exceeds 90 %` at plain operators: Lee et al. 2025, arXiv:2503.09975."""

_UNSEEN_SPREAD = 0.2
"""Added in quadrature where a generation was not measured: σ between those that were."""


def _records() -> dict[tuple[str, str, str], Curve]:
    records: dict[tuple[str, str, str], Curve] = {}
    unseen = hypot(_SPREAD, _UNSEEN_SPREAD)
    for form, shares in _MEASURED.items():
        for generation, share in shares.items():
            records["gemm", form, generation] = Curve(compute_share=share, spread=_SPREAD)
        prior = median(shares.values())
        records["gemm", form, "*"] = Curve(compute_share=prior, spread=unseen)
    for (form, name), share in _PUBLISHED.items():
        records["gemm", form, name] = Curve(compute_share=share, spread=_SPREAD)
    return records


BEST_GEMM: Efficiency = replace(
    CALIBRATED,
    name="best GEMM",
    records=_records(),
    source="best of a thousand shapes measured for `calibrated`; vendors' own beside",
)
"""Curves without launch, tail and memory losses: the shape that was searched for has none."""
