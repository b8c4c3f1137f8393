"""Which kernels of a device an operation runs: the format part of an efficiency record's key."""

from __future__ import annotations

from functools import lru_cache

from ridgeline.hardware.records import Device
from ridgeline.model.formats import format_named
from ridgeline.model.work import Operation

ATTENTION = frozenset({"attention", "latent_attention", "sparse_attention", "indexer"})
"""Families whose decode and prefill kernels differ."""


def kernel_form(operation: Operation, device: Device) -> str:
    """Return the format key of an operation's records.

    GEMMs: `bf16`, `fp8` (scales per tensor or channel), `fp8_block`, `fp4`, `w4a8`, and
    `w8a16`, `w4a16` where weights are expanded first, as on a device without narrow units.
    Attention: arithmetic, then the cache where it is narrower: `bf16`, `bf16/fp8`, `fp8`.
    """
    family = operation.family
    wide = operation.compute_format not in device.peak_flop_per_s
    if family in ATTENTION:
        return _attention_form(operation.compute_format, operation.storage_format, wide)
    if family in ("gemm", "expert_gemm"):
        return _gemm_form(operation.compute_format, operation.storage_format, wide)
    return "bf16"


@lru_cache(maxsize=256)
def _attention_form(compute: str, storage: str, wide: bool) -> str:
    if compute in ("fp8", "int8") and not wide:
        return "fp8"
    narrow = bool(storage) and format_named(storage).bits_per_weight < 12
    return "bf16/fp8" if narrow else "bf16"


@lru_cache(maxsize=256)
def _gemm_form(compute: str, storage: str, wide: bool) -> str:
    bits = format_named(storage).bits_per_weight if storage else 16.0
    if wide or compute in ("bf16", "fp16", "fp32", "tf32"):
        if bits > 12:
            return "bf16"
        return "w8a16" if bits > 6 else "w4a16"
    if compute == "fp4":
        return "fp4"
    if bits <= 6:
        return "w4a8"
    return "fp8_block" if storage.startswith(("fp8_block", "mxfp8")) else "fp8"
