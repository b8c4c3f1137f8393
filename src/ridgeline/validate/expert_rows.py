"""Routed experts of published rows as operations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import UnsupportedError
from ridgeline.model.layout import Layout
from ridgeline.model.operations_moe import expert_operations
from ridgeline.model.precision import Precision
from ridgeline.model.scene import Scene
from ridgeline.model.work import Operation, Step
from ridgeline.validate.model_names import architecture_named, find_model
from ridgeline.validate.truth_rows import TruthRow, numbers

Array = NDArray[np.float64]
_TOUCHED = re.compile(r"(?i)(\d+)\s+(?:activated|active|distinct)\s+(?:local\s+)?experts")


def expert_kernels(rows: Sequence[TruthRow], weight_format: str) -> tuple[Operation, ...]:
    """Return gather, grouped GEMMs and scatter of one layer of a model's routed experts.

    Tokens stand in `M`, else in `batch`; how many experts they meet in `activated_experts` or in
    the set-up's words (`64 activated experts`), else it is the mean of uniform routing.

    Raises:
        UnsupportedError: the model has no routed experts.
        RidgelineError: no such model.
    """
    first = rows[0]
    arch = architecture_named(find_model(first.model))
    ffn = next((b.feed_forward for b in arch.blocks if b.feed_forward.experts is not None), None)
    if ffn is None or ffn.experts is None:
        raise UnsupportedError(f"{first.model} has no routed experts.")
    tokens = numbers(rows, "M")
    tokens = np.where(np.isnan(tokens), numbers(rows, "batch", 1.0), tokens)
    scene = Scene.of(
        arch,
        (Step(batch=tokens, new_tokens=np.ones(len(rows)), context=np.ones(len(rows))),),
        Precision.of(arch, dtype=weight_format),
        Layout(tp=first.count("tp")),
    )
    stated = np.array([_touched(row) for row in rows])
    # Inside one tp group experts send no messages of their own.
    return tuple(_meeting(o, stated) for o in expert_operations(ffn, ffn.experts, scene, 1, None))


def _touched(row: TruthRow) -> float:
    stated = row.number("activated_experts")
    if stated is None and (found := _TOUCHED.search(row.text("setup"))):
        stated = float(found[1])
    return np.nan if stated is None else stated


def _meeting(operation: Operation, stated: Array) -> Operation:
    """Return an operation whose tokens meet as many experts as stated (NaN: as expected)."""
    if operation.family != "expert_gemm":
        return operation
    expected = operation.shape["num_groups"]
    touched = np.where(np.isnan(stated), expected, stated)
    shape = {
        **operation.shape,
        "num_groups": touched,
        "tokens_per_expert": operation.shape["m"] / touched,
    }
    return replace(
        operation, weight_bytes=operation.weight_bytes * (touched / expected), shape=shape
    )
