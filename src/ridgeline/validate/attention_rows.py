"""Attention cores of published rows as operations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ridgeline.hardware import Device
from ridgeline.model.architecture import LatentAttention, SoftmaxAttention
from ridgeline.model.formats import format_named
from ridgeline.model.layout import Layout
from ridgeline.model.operations_attention import latent_operations, softmax_operations
from ridgeline.model.precision import WEIGHT_CLASSES, Precision
from ridgeline.model.scene import Scene
from ridgeline.model.work import Operation, Step
from ridgeline.validate.flashinfer_plan import (
    grouped_query_growth,
    latent_growth,
    uses_matrix_units,
)
from ridgeline.validate.model_names import architecture_named, find_model
from ridgeline.validate.truth_rows import TruthRow, first_word, numbers

Array = NDArray[np.float64]
Kernel = tuple[tuple[Operation, ...], "Array | float"]
"""Operations, and FLOP that the kernel's own plan makes of one."""


def _precision(row: TruthRow) -> Precision:
    """Return formats for an attention core: 16-bit arithmetic unless the row says fp8."""
    plain = format_named("bf16")
    compute = first_word(row.text("compute_dtype") or "bf16")
    kv = first_word(row.text("kv_dtype") or compute)
    return Precision(
        weights=dict.fromkeys(WEIGHT_CLASSES, plain),
        kv=format_named("bf16" if kv in ("fp16", "f16", "bf16") else kv),
        activation=plain,
        attention_compute_format="fp8" if compute == "fp8" else "bf16",
    )


def _scene(step: Step, precision: Precision) -> Scene:
    # An attention core looks at nothing of the model but its own record.
    return Scene.of(architecture_named("llama-3.1-8b"), (step,), precision, Layout())


def softmax_kernel(rows: Sequence[TruthRow], device: Device) -> Kernel:
    """Return decode or prompt attention of one shape of heads, over all rows."""
    first = rows[0]
    heads, kv_heads, dim = first.number("heads"), first.number("kv_heads"), first.number("head_dim")
    if heads is None or kv_heads is None or dim is None:
        heads, kv_heads, dim = _heads_of(first)
    core = SoftmaxAttention(
        num_heads=int(heads), num_kv_heads=int(kv_heads), qk_head_dim=int(dim), v_head_dim=int(dim)
    )
    if "decode" not in first.metric:
        new = _either(rows, "seq_len", "prefill_chunk", "input_len", "context_len")
        before = np.nan_to_num(_either(rows, "kv_prefill"))
        step = Step(batch=np.ones(len(rows)), new_tokens=new, context=before)
        return softmax_operations(core, _scene(step, _precision(first)), 1), 1.0
    context = np.nan_to_num(_either(rows, "kv_len", "kv_decode", "context_len"))
    batch = np.nan_to_num(_either(rows, "n_decode", "batch"), nan=1.0)
    step = Step(batch=batch, new_tokens=np.ones(len(rows)), context=context)
    operations = softmax_operations(core, _scene(step, _precision(first)), 1)
    on_matrix_units = uses_matrix_units(heads / kv_heads, first_word(first.text("kv_dtype")))
    if not _planned(first, device) or not on_matrix_units:
        return operations, 1.0
    return operations, grouped_query_growth(
        batch, context, heads=heads, kv_heads=kv_heads, head_dim=dim, cores=device.num_cores or 1
    )


def latent_kernel(rows: Sequence[TruthRow], device: Device) -> Kernel:
    """Return MLA over all rows: absorbed decode, or the attention of expanded prompts.

    `head_dim` is what a head multiplies beside the rotary part, then that: the rank of the latent
    in decode (512+64), its own width in prompts (128+64).
    """
    first = rows[0]
    decode = "decode" in first.metric
    width, _, rope = first.text("head_dim").partition("+")
    core = LatentAttention(
        num_heads=int(first.number("heads") or 128),
        kv_lora_rank=int(width or 512) if decode else 512,
        qk_nope_head_dim=128 if decode else int(width or 128),
        qk_rope_head_dim=int(rope or 64),
        v_head_dim=128 if decode else int(width or 128),
    )
    batch = numbers(rows, "batch", 1.0)
    if not decode:
        new = _either(rows, "seq_len", "input_len", "context_len")
        step = Step(batch=batch, new_tokens=new, context=np.zeros(len(rows)))
        return latent_operations(core, (), _scene(step, _precision(first)), 1), 1.0
    context = np.nan_to_num(_either(rows, "kv_len", "context_len"))
    step = Step(batch=batch, new_tokens=np.ones(len(rows)), context=context)
    operations = latent_operations(core, (), _scene(step, _precision(first)), 1)
    if not _planned(first, device):
        return operations, 1.0
    growth = latent_growth(batch, context, heads=core.num_heads, cores=device.num_cores or 1)
    return operations, growth


def _planned(row: TruthRow, device: Device) -> bool:
    """Whether a row is of FlashInfer's kernels, which deal work by a plan of their own."""
    return "flashinfer" in row.engine.lower() and bool(device.num_cores)


def _either(rows: Sequence[TruthRow], *columns: str) -> Array:
    found = np.full(len(rows), np.nan)
    for column in columns:
        found = np.where(np.isnan(found), numbers(rows, column), found)
    return found


def _heads_of(row: TruthRow) -> tuple[float, float, float]:
    arch = architecture_named(find_model(row.model))
    core = next(c for b in arch.blocks for c in b.mixer.cores if isinstance(c, SoftmaxAttention))
    tp = row.count("tp")
    return core.num_heads / tp, max(core.num_kv_heads / tp, 1), float(core.qk_head_dim)
