"""GEMMs of published rows as operations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import RidgelineError
from ridgeline.model.formats import format_named
from ridgeline.model.work import Operation
from ridgeline.validate.model_names import architecture_named, find_model
from ridgeline.validate.truth_rows import TruthRow

Array = NDArray[np.float64]


def input_bytes(compute: str) -> float:
    """Return bytes per input element [B]: benchmarks of a kernel hand it narrow ones."""
    return {"fp8": 1.0, "fp4": 0.5}.get(compute, 2.0)


def gemm_operation(form: str, m: Array, n: Array, k: Array) -> Operation:
    """Return one GEMM of m × k activations with k × n weights of a storage format."""
    storage = format_named(form)
    compute = "bf16" if storage.weights_only else storage.compute_format
    return Operation(
        name="gemm",
        family="gemm",
        component="kernel",
        compute_format=compute,
        flop=2.0 * m * n * k,
        weight_bytes=n * k * storage.bytes_per_weight,
        activation_bytes=m * (2.0 * n + input_bytes(compute) * k),
        shape={"m": m, "n": n, "k": k, "wide_inputs": float(input_bytes(compute) > 1)},
        storage_format=storage.id,
    )


_PROJECTIONS = {
    "qkv_proj": ("q_proj", "k_proj", "v_proj"),
    "gate_up_proj": ("gate_proj", "up_proj"),
}


def layer_shape(row: TruthRow) -> tuple[float, float]:
    """Return (n, k) of a named projection of the row's model at its tp.

    Raises:
        RidgelineError: no such model.
        KeyError: the model has no projection of that name.
    """
    arch = architecture_named(find_model(row.model))
    op, tp = row.text("op"), row.count("tp")
    if op in ("lm_head", "head") and arch.head is not None:
        return arch.head.out_features / tp, float(arch.head.in_features)
    names = _PROJECTIONS.get(op, (op,))
    linears = {x.name: x for b in arch.blocks for x in (*b.mixer.linears, *b.feed_forward.linears)}
    chosen = [linears[name] for name in names if name in linears]
    if not chosen:
        raise RidgelineError(f"{row.model} has no projection `{op}`")
    n = float(sum(x.out_features for x in chosen))
    k = float(chosen[0].in_features)
    if chosen[0].split == "row":
        return n, k / tp
    return n / tp, k


_DRAWS = np.linspace(0.7, 1.3, 601)[:-1] + 0.0005


def drawn_groups(mean: Array) -> tuple[Array, Array]:
    """Return the share of groups that have rows at all, and the mean rows of those [1].

    A group has ⌊mean · u⌋ rows, u uniform from 0.7 to 1.3, as the benchmark draws them.

    Source: DeepSeek 2025, DeepGEMM, tests/generators.py; InferSim's kernel_benchmark alike.
    """
    counts = np.floor(mean[:, None] * _DRAWS)
    touched = np.asarray(np.mean(counts > 0, axis=1), dtype=np.float64)
    return touched, np.mean(counts, axis=1) / touched
