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
    launch_s: Number


def operation_bytes(operation: Operation) -> Number:
    """Return the bytes one execution moves through device memory [B]."""
    return (
        operation.weight_bytes
        + operation.state_read_bytes
        + operation.state_write_bytes
        + operation.activation_bytes
    )


TILE = 128
"""Rows and columns of an output tile of a GEMM, queries of a tile of attention."""
_PASS_BYTES = 3.0
"""A quantisation pass reads 2 bytes and writes 1 per element."""


def executed_flop(operation: Operation, curve: Curve) -> Number:
    """Return FLOP with what padding and the last wave waste [FLOP].

        expert rows: max(r, t + r/2) per expert instead of t, for tiles of r rows
        last wave:   FLOP · (1 + w/tiles), tiles = rows·n/128² or queries·heads/128; attention
                     to a cache of l tokens before q new ones counts 1 + 2l/q pieces per tile
        softmax:     FLOP · (1 + s/d) for heads of width d
        rounds:      blocks of r query rows walk a cache of l tokens before q new ones alone; n
                     blocks on S cores take ⌈n/S⌉ rounds, which is felt as far as blocks are
                     equally long: FLOP · (1 + (⌈x⌉/x - 1) · l/(l + q/2)), x = n/S. The unequal
                     ones of a causal triangle fill each other's rounds.

    Source: first principles; r, w and s fitted; blocks as their kernel documents them.
    """
    flop, shape = operation.flop, operation.shape
    rows: Number = shape.get("m", 0.0)
    if np.any(curve.row_tile) and "tokens_per_expert" in shape:
        tokens = shape["tokens_per_expert"]
        padded = np.maximum(curve.row_tile, tokens + curve.row_tile / 2)
        growth = padded / np.maximum(tokens, 1e-9)
        flop = flop * growth
        rows = rows * growth
    if np.any(curve.softmax_width):
        flop = flop * (1.0 + curve.softmax_width / shape["head_dim"])
    if np.any(curve.tail_tiles):
        if "n" in shape:
            tiles = rows * shape["n"] / TILE**2
        else:
            tiles = shape["batch"] * shape["new_tokens"] * shape["num_heads"] / TILE
            # Kernels split a long cache over idle cores: a tail is one query tile's own part.
            tiles = tiles * (1.0 + 2.0 * shape.get("context", 0.0) / shape["new_tokens"])
        flop = flop * (1.0 + curve.tail_tiles / np.maximum(tiles, 1e-9))
    if np.any(curve.block_rows):
        flop = flop * _rounds(operation, curve)
    return flop


def _rounds(operation: Operation, curve: Curve) -> Number:
    """Return how much longer whole rounds take than a full device would [1]."""
    shape = operation.shape
    new, before = shape["new_tokens"], shape.get("context", 0.0)
    rows = np.where(np.greater(curve.block_rows, 0), curve.block_rows, 1.0)
    blocks = shape["batch"] * np.ceil(new / rows) * shape["num_heads"]
    filled = blocks / np.maximum(curve.cores, 1.0)
    wasted = np.ceil(filled - 1e-9) / np.maximum(filled, 1e-9) - 1.0
    equal = before / np.maximum(before + new / 2.0, 1e-9)
    return 1.0 + np.where(np.greater(curve.block_rows, 0), wasted * equal, 0.0)


def moved_bytes(operation: Operation, curve: Curve) -> Number:
    """Return bytes with quantisation passes and half-filled pages [B]."""
    moved = operation_bytes(operation)
    shape = operation.shape
    if np.any(curve.page_tokens):
        wasted = curve.page_tokens / np.maximum(shape["context"], 1.0)
        moved = moved + operation.state_read_bytes * wasted
    if np.any(curve.quantize_passes):
        passes = curve.quantize_passes * shape.get("wide_inputs", 1.0)
        moved = moved + passes * _PASS_BYTES * shape["m"] * shape["k"]
    return moved


def operation_time(operation: Operation, device: Device, curve: Curve) -> Timing:
    """Return the roofline time of one execution of a local (not network) operation [s].

    Compute and memory overlap inside one operation but for a share κ of the shorter:

        t = launch + max(a, d) + κ·min(a, d),  a = FLOP′ / (c·F),  d = x + ρ·x/(x + ρ),
        x = bytes′ / (b·W)

    ρ is the ramp: a short stream runs at half the rate, a long one trails by ρ.
    FLOP′ and bytes′ include what padding and quantisation add; with the ideal curve this is the
    roofline.

    Args:
        operation: Work on one device; arrays broadcast.
        device: Datasheet peaks F (by format) and W.
        curve: launch, c, b, κ and paddings.

    Source: williams2009.
    """
    peak = device.peak_flop_per_s[arithmetic_format(device, operation.compute_format)]
    compute_s = executed_flop(operation, curve) / (peak * curve.compute_share)
    memory_s = moved_bytes(operation, curve) / (
        device.memory.bandwidth_bytes_per_s * curve.bandwidth_share
    )
    if np.any(curve.ramp_s):
        memory_s = memory_s + curve.ramp_s * memory_s / (memory_s + curve.ramp_s)
    busy = np.maximum(compute_s, memory_s)
    if np.any(curve.unhidden):
        busy = busy + curve.unhidden * np.minimum(compute_s, memory_s)
    return Timing(
        time_s=busy + curve.launch_s,
        compute_s=compute_s,
        memory_s=memory_s,
        launch_s=curve.launch_s,
    )
