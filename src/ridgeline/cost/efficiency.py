"""How far below its datasheet a device runs each family of operation.

A curve has three numbers with physical meaning: a fixed launch time, the share of the dense
peak that the arithmetic reaches, and the share of peak memory bandwidth that the traffic
reaches. Datasheet figures are never changed; the shares live here, with their source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ridgeline.model.work import Family


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Efficiency of one operation family: t = launch + max(FLOP/(c·peak), bytes/(b·W))."""

    launch_s: float = 0.0
    """Fixed time of one execution [s]."""
    compute_share: float = 1.0
    """c: share of the dense peak."""
    bandwidth_share: float = 1.0
    """b: share of peak memory bandwidth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Efficiency:
    """One curve per operation family, plus time of the host per step."""

    name: str
    curves: Mapping[Family, Curve]
    default: Curve
    """For a family without a curve of its own."""
    host_s: float = 0.0
    """Scheduling, sampling and launch time per step outside the kernels [s]."""
    source: str
    flags: tuple[str, ...] = ()

    def curve(self, family: Family) -> Curve:
        """Return the curve of `family`."""
        return self.curves.get(family, self.default)


IDEAL = Efficiency(
    name="ideal",
    curves={},
    default=Curve(),
    source="first principles: datasheet peaks, no launch time",
)
"""The pure roofline: a bound nobody beats."""

TYPICAL = Efficiency(
    name="typical",
    curves={
        "gemm": Curve(launch_s=4e-6, compute_share=0.72, bandwidth_share=0.80),
        "expert_gemm": Curve(launch_s=25e-6, compute_share=0.70, bandwidth_share=0.80),
        "attention": Curve(launch_s=10e-6, compute_share=0.55, bandwidth_share=0.85),
        "latent_attention": Curve(launch_s=12e-6, compute_share=0.55, bandwidth_share=0.75),
        "sparse_attention": Curve(launch_s=12e-6, compute_share=0.50, bandwidth_share=0.70),
        "indexer": Curve(launch_s=8e-6, compute_share=0.45, bandwidth_share=0.70),
        "recurrence": Curve(launch_s=10e-6, compute_share=0.30, bandwidth_share=0.70),
        "elementwise": Curve(launch_s=2e-6, compute_share=1.0, bandwidth_share=0.75),
        "embedding": Curve(launch_s=3e-6, compute_share=1.0, bandwidth_share=0.60),
    },
    default=Curve(launch_s=5e-6, compute_share=0.60, bandwidth_share=0.75),
    source=(
        "mid-points of published kernel measurements on A100 to GB200 (bf16 GEMM, decode and"
        " prefill attention, grouped GEMM); not fitted to the device at hand"
    ),
    flags=("efficiency: typical shares of the datasheet, not calibrated for this device",),
)
"""A prior for any device."""
