"""One transformer layer of unfused kernels, operation by operation, on tensor-parallel devices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ridgeline.cost.collectives import collective_time
from ridgeline.cost.roofline import operation_time
from ridgeline.errors import RidgelineError
from ridgeline.model.architecture import SoftmaxAttention
from ridgeline.model.layout import Layout
from ridgeline.model.work import Message, Operation
from ridgeline.validate.chip_names import find_chip
from ridgeline.validate.eager import eager_call_s
from ridgeline.validate.gemm_rows import gemm_operation
from ridgeline.validate.model_names import architecture_named, find_model
from ridgeline.validate.predict_collectives import cluster_of
from ridgeline.validate.prediction import (
    Answer,
    NotPredicted,
    Prediction,
    default_efficiency,
    default_network,
    in_unit,
)
from ridgeline.validate.truth_rows import TruthRow

_ORDER = (
    "Q_K_V",
    "Q_mul_K",
    "A_mul_V",
    "Wo_proj",
    "W1_proj",
    "W2_proj",
    "Softmax",
    "LayerNorm_MHA",
    "LayerNorm_FFN",
    "GeLU",
    "AllReduce_MHA",
    "AllReduce_FFN",
)


def predict_layer(rows: Sequence[TruthRow]) -> dict[str, Answer]:
    """Return the time of single operations of a layer, and of their sum."""
    answers: dict[str, Answer] = {}
    for row in rows:
        try:
            times = _times(row)
        except RidgelineError as error:
            answers[row.id] = NotPredicted(reason=str(error))
            continue
        name = row.metric.partition(":")[2]
        total = sum(times.values()) if row.metric == "layer_latency_sum" else times.get(name)
        if total is None:
            answers[row.id] = NotPredicted(reason=f"operation `{name}` is not modelled")
        else:
            answers[row.id] = Prediction(
                value=in_unit(total, row.unit), bound="kernel", family="layer operations"
            )
    return answers


def _times(row: TruthRow) -> dict[str, float]:
    """Return seconds by operation: batch sequences of new tokens over a cache, heads cut by tp."""
    arch = architecture_named(find_model(row.model))
    core = next(c for c in arch.blocks[0].mixer.cores if isinstance(c, SoftmaxAttention))
    tp, batch = row.count("tp"), row.count("batch")
    new = 1 if row.phase == "decode" else row.count("input_len", 1)
    keys = row.count("context_len", new) if row.phase == "decode" else new
    hidden, tokens = arch.hidden_size, float(batch * new)
    heads = core.num_heads / tp
    inner = arch.blocks[0].feed_forward.intermediate_size / tp
    scores = batch * heads * new * keys
    gemms = {
        "Q_K_V": [(tokens, hidden / tp, hidden)] * 3,
        "Wo_proj": [(tokens, hidden, hidden / tp)],
        "W1_proj": [(tokens, inner, hidden)],
        "W2_proj": [(tokens, hidden, inner)],
    }
    times = {name: sum(_gemm(row, *shape) for shape in shapes) for name, shapes in gemms.items()}
    # Batched products of every head: the scores go through memory.
    for name in ("Q_mul_K", "A_mul_V"):
        moved = 2.0 * (scores + batch * heads * core.qk_head_dim * (new + keys))
        times[name] = _local(row, 2.0 * scores * core.qk_head_dim, moved, "gemm", "gemm")
    times["Softmax"] = _local(row, 0.0, 4.0 * scores, "elementwise", "softmax")
    for name in ("LayerNorm_MHA", "LayerNorm_FFN"):
        times[name] = _local(row, 0.0, 4.0 * tokens * hidden, "elementwise", "layernorm")
    times["GeLU"] = _local(row, 0.0, 4.0 * tokens * inner, "elementwise", "gelu")
    message = Message(kind="all_reduce", payload_bytes=2.0 * tokens * hidden, group=tp, axis="tp")
    cost = collective_time(
        message,
        cluster_of(row.machine, tp),
        Layout(tp=tp),
        efficiency=default_network(),
        algorithms=("ring", "ring_ll"),
    )
    times["AllReduce_MHA"] = times["AllReduce_FFN"] = float(cost.time_s)
    return {name: times[name] for name in _ORDER}


def _gemm(row: TruthRow, m: float, n: float, k: float) -> float:
    operation = gemm_operation("bf16", *(np.array(x) for x in (m, n, k)))
    return _seconds(row, operation) + eager_call_s("gemm", find_chip(row.machine).device)


def _local(row: TruthRow, flop: float, moved: float, family: str, call: str) -> float:
    operation = Operation(
        name="layer",
        family="gemm" if family == "gemm" else "elementwise",
        component="kernel",
        compute_format="bf16",
        flop=flop,
        activation_bytes=moved,
        shape={"m": 1e6, "n": 1e6, "k": 1e3},
    )
    return _seconds(row, operation) + eager_call_s(call, find_chip(row.machine).device)


def _seconds(row: TruthRow, operation: Operation) -> float:
    device = find_chip(row.machine).device
    efficiency = default_efficiency()
    return float(operation_time(operation, device, efficiency.curve(operation, device)).time_s)
