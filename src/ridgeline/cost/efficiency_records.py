"""Calibrated efficiency: the fitted curves, and priors for what nobody measured."""

from __future__ import annotations

from dataclasses import replace
from math import hypot
from statistics import median

from ridgeline.cost.efficiency import MOST_SHARE, TYPICAL, Curve, Efficiency, FittedDevice
from ridgeline.cost.efficiency_fits import FITS, Fit

_UNSEEN_SPREAD = 0.2
"""Added in quadrature to a prior's spread: how far the fitted generations lie apart."""

_LIBRARIES_APART = {"expert_gemm": 0.3, "latent_attention_decode": 0.3, "elementwise": 0.3}
"""σ between libraries, added in quadrature, of kinds that one library was measured for: published
times of others are off by a median of 17 to 24 % (docs/validation.md), which is 0.674 σ."""

_Key = tuple[str, str, str]


def _curve(fit: Fit) -> Curve:
    return Curve(
        launch_s=fit.launch_us * 1e-6,
        compute_share=fit.compute_share,
        bandwidth_share=fit.bandwidth_share,
        unhidden=fit.unhidden,
        tail_tiles=fit.tail_tiles,
        row_tile=fit.row_tile,
        quantize_passes=fit.quantize_passes,
        page_tokens=fit.page_tokens,
        softmax_width=fit.softmax_width,
        ramp_s=fit.ramp_us * 1e-6,
        spread=hypot(fit.spread_percent / 100, _LIBRARIES_APART.get(fit.kind, 0.0)),
    )


_NAMES = (
    "launch_s",
    "compute_share",
    "bandwidth_share",
    "unhidden",
    "tail_tiles",
    "row_tile",
    "quantize_passes",
    "page_tokens",
    "softmax_width",
    "ramp_s",
)


def _prior(fits: list[Fit]) -> Curve:
    """Return the median of every figure over generations, with a wider spread."""
    curves = [_curve(fit) for fit in fits]
    figures = {name: median(float(getattr(c, name)) for c in curves) for name in _NAMES}
    inside = median(c.spread for c in curves)
    return Curve(**figures, spread=(inside**2 + _UNSEEN_SPREAD**2) ** 0.5)


FITTED = {
    "ampere": FittedDevice(flop_per_s=312e12, fp32_flop_per_s=19.5e12, tdp_w=400),
    "hopper": FittedDevice(flop_per_s=989.4e12, fp32_flop_per_s=66.9e12, tdp_w=700),
    "blackwell": FittedDevice(flop_per_s=2375e12, fp32_flop_per_s=77.5e12, tdp_w=1100),
    "blackwell_ultra": FittedDevice(flop_per_s=2375e12, fp32_flop_per_s=77.5e12, tdp_w=1250),
    "ada": FittedDevice(flop_per_s=362.05e12, fp32_flop_per_s=91.6e12, tdp_w=350, inline_ecc=True),
    "blackwell_rtx": FittedDevice(flop_per_s=467.8e12, fp32_flop_per_s=117e12, tdp_w=600),
}
"""Datasheets of efficiency_fits.SYSTEMS; the mean of two where two were fitted together."""

_TYPICAL_OF_BEST = 0.96
"""Fitted share over that of the best shape (cost.best_gemms) in bf16, median over generations."""

_PUBLISHED = {
    ("bf16", "cdna3"): _TYPICAL_OF_BEST * (708 * 843) ** 0.5 / 1307.4,
    ("bf16", "gaudi2"): MOST_SHARE,
    ("fp8", "gaudi2"): MOST_SHARE,
}
"""Share of peak of a large GEMM: TFLOP/s of MI300X and MI325X over theirs (Sander et al. 2025,
Measuring Max-Achievable FLOPs, Part 2, ROCm blogs); Gaudi 2 `frequently exceeds 90 %` in bare
operators (Lee et al. 2025, arXiv:2503.09975)."""

_GAMING = {"rtx-4090": "ada", "rtx-5090": "blackwell_rtx"}
"""Cards whose bf16 GEMMs pass the peak at the rated clock (179 of 165, 254 of 210 TFLOP/s): matrix
units at half rate leave power for a higher one. They count as reaching it, so that the roofline
stays a bound. Source: xzwgit, gpu-flops-bench (cuBLASLt)."""


def _records() -> dict[_Key, Curve]:
    records = {(f.kind, f.form, f.generation): _curve(f) for f in FITS}
    groups: dict[tuple[str, str], list[Fit]] = {}
    for fit in (f for f in FITS if "@" not in f.form):
        groups.setdefault((fit.kind, fit.form), []).append(fit)
    records.update({(*key, "*"): _prior(fits) for key, fits in groups.items()})
    for (form, generation), share in _PUBLISHED.items():
        prior = records["gemm", form, "*"]
        records["gemm", form, generation] = replace(prior, compute_share=share)
    for name, generation in _GAMING.items():
        family = records["gemm", "bf16", generation]
        records["gemm", "bf16", name] = replace(family, compute_share=1.0)
    return records


CALIBRATED: Efficiency = replace(
    TYPICAL,
    name="calibrated",
    records=_records(),
    fitted=FITTED,
    source=(
        "kernels of vLLM, SGLang and TensorRT-LLM as measured in NVIDIA aiconfigurator-core 0.12.0"
        " (PyPI, Apache-2.0), fitted by dev/fit_kernels.py on 2026-12-01; medians over generations"
        " where a device was not measured"
    ),
    flags=(),
)
"""Fitted curves first, then priors over generations, then `TYPICAL`."""
