"""The roofline of one operation."""

import numpy as np
import pytest

from ridgeline.cost.efficiency import Curve
from ridgeline.cost.roofline import arithmetic_format, operation_time
from ridgeline.errors import UnsupportedError
from ridgeline.hardware import Device, MemoryTier
from ridgeline.model.work import Operation

DEVICE = Device(
    id="toy",
    name="toy",
    vendor="none",
    peak_flop_per_s={"bf16": 100e12},
    memory=MemoryTier(name="hbm", capacity_bytes=1e9, bandwidth_bytes_per_s=1e12),
)


def gemm(m: float) -> Operation:
    """Return an m × 1000 × 1000 bf16 GEMM: 2e6·m FLOP over 2 MB of weights."""
    return Operation(
        name="gemm",
        family="gemm",
        component="ffn",
        compute_format="bf16",
        flop=2e6 * m,
        weight_bytes=2e6,
    )


def test_memory_binds_a_thin_gemm_and_compute_a_fat_one():
    """At m = 1: 2 MB / 1 TB/s = 2 µs; m = 1000: 2 GFLOP / 100 TFLOP/s = 20 µs."""
    timing = operation_time(gemm(np.array([1.0, 1000.0])), DEVICE, Curve())
    assert timing.time_s == pytest.approx([2e-6, 20e-6])


def test_shares_and_launch_slow_it():
    """Half the bandwidth doubles the memory time; the launch is added."""
    curve = Curve(launch_s=1e-6, bandwidth_share=0.5)
    assert operation_time(gemm(1.0), DEVICE, curve).time_s == pytest.approx(5e-6)


def test_missing_formats_fall_to_the_next_wider_one():
    """fp4 weights on a bf16 device multiply in bf16; fp64 has no wider format."""
    assert arithmetic_format(DEVICE, "fp4") == "bf16"
    with pytest.raises(UnsupportedError, match="toy has no peak for fp64"):
        arithmetic_format(DEVICE, "fp64")
