"""Devices and models that the lecture names, as literals with their sources.

Peaks are dense. Capacities are as marketed (GB = 1e9 B). The catalogue is the place for anything
else; these stay literals so that a claim does not move when a catalogue entry does.
"""

from __future__ import annotations

from dataclasses import dataclass

USD_2_PER_HOUR = 2.0 / 3600.0
"""USD per second of one device; the example rate of the lecture."""
DAY_S = 86_400.0
MONTH_S = 30 * DAY_S
BYTES = {"bf16": 2.0, "fp8": 1.0, "fp4": 0.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """Datasheet figures of one device."""

    peak: dict[str, float]
    """FLOP/s by number format."""
    bandwidth: float
    """B/s of device memory."""
    capacity: float
    """B of device memory."""
    scale_up: float = float("nan")
    """B/s per direction."""
    scale_out: float = float("nan")
    """B/s per direction."""
    source: str


A100 = Chip(
    peak={"bf16": 312e12},
    bandwidth=2.039e12,
    capacity=80e9,
    source="NVIDIA A100 80GB SXM datasheet, nvidia.com/en-us/data-center/a100",
)
H100 = Chip(
    peak={"bf16": 989e12, "fp8": 1979e12},
    bandwidth=3.35e12,
    capacity=80e9,
    scale_up=450e9,
    scale_out=50e9,
    source="NVIDIA H100 SXM datasheet, nvidia.com/en-us/data-center/h100 (halved: no sparsity)",
)
H800 = Chip(
    peak=H100.peak,
    bandwidth=H100.bandwidth,
    capacity=80e9,
    scale_up=200e9,
    scale_out=50e9,
    source="techpowerup.com/gpu-specs/h800-sxm5.c3975; NVLink 400 GB/s both ways",
)
H200 = Chip(
    peak=H100.peak,
    bandwidth=4.8e12,
    capacity=141e9,
    source="NVIDIA H200 datasheet, nvidia.com/en-us/data-center/h200",
)
B200 = Chip(
    peak={"bf16": 2250e12, "fp8": 4500e12, "fp4": 9000e12},
    bandwidth=8e12,
    capacity=192e9,
    source="NVIDIA Blackwell architecture brief; HGX boards are sold with 180 GB and 7.7 TB/s",
)
GB200 = Chip(
    peak={"bf16": 2500e12, "fp8": 5000e12, "fp4": 10_000e12},
    bandwidth=8e12,
    capacity=192e9,
    scale_up=900e9,
    scale_out=50e9,
    source="nvidia.com/en-us/data-center/gb200-nvl72; the rack is sold with 186 GB per device",
)
GB300 = Chip(
    peak={"bf16": 2500e12, "fp8": 5000e12, "fp4": 15_000e12},
    bandwidth=8e12,
    capacity=288e9,
    scale_up=900e9,
    scale_out=100e9,
    source="nvidia.com/en-us/data-center/gb300-nvl72",
)
RUBIN = Chip(
    peak={"fp4": 35_000e12},
    bandwidth=22e12,
    capacity=288e9,
    scale_up=1800e9,
    scale_out=200e9,
    source="nvidia.com/en-us/data-center/vera-rubin-nvl72, announced; dense peak disputed, 25-50",
)
MI300X = Chip(
    peak={"bf16": 1307.4e12, "fp8": 2614.9e12},
    bandwidth=5.3e12,
    capacity=192e9,
    source="AMD Instinct MI300X data sheet, amd.com",
)
MI355X = Chip(
    peak={"bf16": 2500e12, "fp8": 5000e12, "fp4": 10_000e12},
    bandwidth=8e12,
    capacity=288e9,
    source="AMD Instinct MI355X brochure, amd.com (2.5 PFLOP/s BF16, rounded)",
)
TPU_V5E = Chip(
    peak={"bf16": 197e12}, bandwidth=819e9, capacity=16e9, source="cloud.google.com/tpu/docs/v5e"
)
TPU_V5P = Chip(
    peak={"bf16": 459e12}, bandwidth=2.765e12, capacity=95e9, source="cloud.google.com/tpu/docs/v5p"
)
TPU_V6E = Chip(
    peak={"bf16": 918e12}, bandwidth=1.638e12, capacity=32e9, source="cloud.google.com/tpu/docs/v6e"
)
TPU_V7 = Chip(
    peak={"fp8": 4614e12},
    bandwidth=7.38e12,
    capacity=192e9,
    source="docs.cloud.google.com/tpu/docs/tpu7x",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Published shape of one model."""

    total: float
    """Parameters."""
    active: float
    """Parameters one token uses."""
    layers: int
    source: str


DEEPSEEK_V3 = Model(
    total=671e9,
    active=37e9,
    layers=61,
    source="arXiv 2412.19437: 671B total, 37B active, 61 layers, 58 with 256 experts of which 8",
)
LLAMA_70B = Model(total=70e9, active=70e9, layers=80, source="arXiv 2407.21783, rounded as named")
LLAMA_8B = Model(total=8e9, active=8e9, layers=32, source="arXiv 2407.21783, rounded as named")

MLA_WIDTH = 512.0 + 64.0
"""Latent rank and rotary part of DeepSeek V3's cache, arXiv 2412.19437."""

R = 300.0
"""The lecture's balance ratio."""
SPARSITY = 8.0
"""The lecture's total over active, 256 / 32 experts."""


def ratio_inputs(chip: Chip, number_format: str) -> dict[str, float]:
    """Return the arguments of `balance_ratio` for a device at a precision."""
    return {
        "peak_flop_per_s": chip.peak[number_format],
        "bytes_per_param": BYTES[number_format],
        "bandwidth_bytes_per_s": chip.bandwidth,
    }


def drain_inputs(chip: Chip) -> dict[str, float]:
    """Return the arguments of `drain_time` for a device's memory."""
    return {"capacity_bytes": chip.capacity, "bandwidth_bytes_per_s": chip.bandwidth}
