"""Roofline: the time of one operation on one device."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgeline.cost.efficiency import Curve
from ridgeline.errors import UnsupportedError
from ridgeline.hardware import Device
from ridgeline.model.work import Number, Operation

_FALLBACKS: dict[str, tuple[str, ...]] = {
    "fp4": ("fp8", "bf16", "fp16", "fp32"),
    "fp6": ("fp8", "bf16", "fp16", "fp32"),
    "fp8": ("bf16", "fp16", "fp32"),
    "int4": ("int8", "bf16", "fp16", "fp32"),
    "int8": ("bf16", "fp16", "fp32"),
    "bf16": ("fp16", "fp32"),
    "fp16": ("bf16", "fp32"),
    "tf32": ("fp32",),
    "fp32": (),
}


def arithmetic_format(device: Device, compute_format: str) -> str:
    """Return the format the device really computes in: the asked one, or the next wider.

    A device without fp4 units multiplies dequantised fp8 or bf16; narrow weights then save
    memory traffic only.

    Raises:
        UnsupportedError: the device has no peak for the format or any wider one.
    """
    for candidate in (compute_format, *_FALLBACKS.get(compute_format, ())):
        if device.peak_flop_per_s.get(candidate):
            return candidate
    raise UnsupportedError(
        f"{device.id} has no peak for {compute_format} or a wider format: it lists"
        f" {', '.join(sorted(device.peak_flop_per_s)) or 'none'}. Choose another --dtype."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Time of one execution, and the bounds it came from [s]."""

    time_s: Number
    compute_s: Number
    memory_s: Number
    launch_s: float


def operation_bytes(operation: Operation) -> Number:
    """Return the bytes one execution moves through device memory [B]."""
    return (
        operation.weight_bytes
        + operation.state_read_bytes
        + operation.state_write_bytes
        + operation.activation_bytes
    )


def operation_time(operation: Operation, device: Device, curve: Curve) -> Timing:
    """Return the roofline time of one execution of a local (not network) operation [s].

    Compute and memory overlap perfectly inside one operation:

        t = launch + max(FLOP / (c·F), bytes / (b·W))

    Args:
        operation: Work on one device; arrays broadcast.
        device: Datasheet peaks F (by format) and W.
        curve: launch, c and b.

    Source: williams2009.
    """
    peak = device.peak_flop_per_s[arithmetic_format(device, operation.compute_format)]
    compute_s = operation.flop / (peak * curve.compute_share)
    memory_s = operation_bytes(operation) / (
        device.memory.bandwidth_bytes_per_s * curve.bandwidth_share
    )
    return Timing(
        time_s=np.maximum(compute_s, memory_s) + curve.launch_s,
        compute_s=compute_s,
        memory_s=memory_s,
        launch_s=curve.launch_s,
    )
