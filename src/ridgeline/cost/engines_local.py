"""llama.cpp: kernels of its own, priced by its own shares.

One user's decode is matrix-vector products that stream the weights, so bytes over bandwidth plus
a time per layer for a dozen small kernels explain it: two storage formats on one card give both
numbers. Prompts run on tensor cores with 16-bit accumulation, which consumer cards do at twice
the rate of their datasheet peak for 32-bit accumulation.
"""

from __future__ import annotations

from dataclasses import replace

from ridgeline.cost.efficiency import Curve, Efficiency, data_share
from ridgeline.hardware.records import Device

_SPREAD = 0.2
STREAM_SHARE, HBM_STREAM_SHARE = 0.95, 0.5
"""Share of bandwidth that matrix-vector kernels stream: GDDR and LPDDR cards; HBM cards, whose
many channels a single stream of small loads does not fill (A100)."""
_STACKED = frozenset(
    ("volta", "ampere", "hopper", "blackwell", "blackwell_ultra", "cdna2", "cdna3", "cdna4")
)
"""Generations of cards with stacked memory (HBM)."""
_EXPERTS = 0.16
_PROMPT_SHARE = 0.40
"""Of the dense peak with 16-bit accumulation: 0.44 in fp16, 0.37 in K-quants."""


def llama_cpp_kernels(device: Device) -> Efficiency:
    """Return the efficiency of llama.cpp on a device.

    Source: Llama-3-8B in Q4_K_M and F16 on twelve cards, llama.cpp of May 2024
    (github.com/XiongjieDai/GPU-Benchmarks-on-LLM-Inference); llama-bench on DGX Spark, 2025.
    """
    stream = HBM_STREAM_SHARE if device.generation in _STACKED else STREAM_SHARE
    stream *= data_share(device)
    gemm = Curve(compute_share=_PROMPT_SHARE, bandwidth_share=stream, spread=_SPREAD)
    return Efficiency(
        name="llama.cpp",
        curves={
            "gemm": gemm,
            "expert_gemm": replace(gemm, compute_share=_EXPERTS),
            "attention": replace(gemm, bandwidth_share=0.8 * stream),
            "elementwise": Curve(bandwidth_share=stream, spread=_SPREAD),
        },
        default=gemm,
        source="Llama-3-8B on twelve cards and llama-bench on DGX Spark",
    )


def with_half_accumulation(device: Device) -> Device:
    """Return the device with the 16-bit peaks of 16-bit accumulation, half of its int8 peak."""
    half = device.peak_flop_per_s.get("int8", 0.0) / 2
    peaks = {
        name: max(peak, half) if name in ("bf16", "fp16") else peak
        for name, peak in device.peak_flop_per_s.items()
    }
    return replace(device, peak_flop_per_s=peaks)
