"""Single kernels: GEMM, grouped GEMM, attention cores, element-wise kernels."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ridgeline.cost.best_gemms import BEST_GEMM
from ridgeline.cost.efficiency import Efficiency, sampled
from ridgeline.cost.roofline import arithmetic_format, operation_time
from ridgeline.errors import RidgelineError
from ridgeline.hardware import Device
from ridgeline.model.formats import format_named
from ridgeline.model.work import Number, Operation
from ridgeline.validate.attention_rows import latent_kernel, softmax_kernel
from ridgeline.validate.chip_names import find_chip
from ridgeline.validate.eager import HOST_SPREAD, eager_call_s
from ridgeline.validate.expert_rows import expert_kernels
from ridgeline.validate.gemm_rows import drawn_groups, gemm_operation, input_bytes, layer_shape
from ridgeline.validate.prediction import (
    IMPOSSIBLE,
    SECONDS,
    Answer,
    NotPredicted,
    Prediction,
    default_efficiency,
    in_unit,
    is_impossible,
)
from ridgeline.validate.set_up import engine_of
from ridgeline.validate.truth_rows import TruthRow, first_word, numbers

Array = NDArray[np.float64]
_SAMPLES = 64
_MAXIMUM = "gemm_max_achieved_tflops"
"""The best of a search over shapes, not a GEMM like any other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelBatch:
    """Rows that are one kind of kernel on one device, as arrays."""

    rows: tuple[TruthRow, ...]
    operations: tuple[Operation, ...]
    """Each over all rows; their times add."""
    device: Device
    family: str
    extra_s: float = 0.0
    """Host time of a call outside the kernel."""
    least_s: float = 0.0
    """Host time of a call that the device works through while the next one is made."""
    growth: Array | float = 1.0
    """FLOP that the kernel's own plan makes of one."""

    @property
    def executed(self) -> list[Operation]:
        """The operations as the kernel's own plan runs them."""
        return [replace(o, flop=o.flop * self.growth) for o in self.operations]

    def seconds(self, efficiency: Efficiency) -> Array:
        """Return the predicted time of every row [s]; samples stand in front of the rows."""
        times = [operation_time(o, self.device, efficiency.curve(o, self.device)).time_s
                 for o in self.executed]  # fmt: skip
        host: Number = 1.0
        if efficiency.draws:
            launch = efficiency.draws[self.operations[0].family][0]
            host = np.exp(HOST_SPREAD * np.asarray(launch))
        extra_s = host * np.full(len(self.rows), self.extra_s)
        return np.asarray(np.maximum(sum(times) + extra_s, host * self.least_s), dtype=np.float64)

    @property
    def flop(self) -> Array:
        """Of every row."""
        return np.asarray(sum(o.flop for o in self.operations) + np.zeros(len(self.rows)))

    @property
    def peak_s(self) -> Array:
        """Of every row: its arithmetic at the dense peak [s]."""
        peaks = self.device.peak_flop_per_s
        return np.asarray(
            sum(o.flop / peaks[arithmetic_format(self.device, o.compute_format)]
                for o in self.operations)
        )  # fmt: skip

    @property
    def measured_s(self) -> Array:
        """Time that every row states [s]: its own, or that of the work at its rate."""
        flop = self.flop
        return np.array([_seconds_of(row, float(flop[i])) for i, row in enumerate(self.rows)])


Handler = Callable[[list[TruthRow]], KernelBatch]


def predict_kernels(rows: Sequence[TruthRow]) -> dict[str, Answer]:
    """Return a prediction or a reason for every kernel row."""
    batches, answers = kernel_batches(rows)
    efficiency = default_efficiency()
    for batch in batches:
        own = replace(efficiency, engine=_library(batch.rows[0]))
        if batch.rows[0].metric == _MAXIMUM:
            own = BEST_GEMM
        try:
            answers.update(_answers(batch, own))
        except RidgelineError as error:
            answers.update({r.id: NotPredicted(reason=str(error)) for r in batch.rows})
    return answers


def kernel_batches(rows: Sequence[TruthRow]) -> tuple[list[KernelBatch], dict[str, Answer]]:
    """Return kernel rows as arrays of operations, and the reasons of those that are none."""
    answers: dict[str, Answer] = {}
    found: list[KernelBatch] = []
    batches: dict[tuple[Handler, tuple[str, ...]], list[TruthRow]] = defaultdict(list)
    for row in rows:
        handler = _handler(row)
        if handler is None:
            answers[row.id] = NotPredicted(reason=f"kernel metric `{row.metric}` is not modelled")
            continue
        batches[handler, (row.machine, row.metric, *_static(row))].append(row)
    for (handler, _), batch in batches.items():
        try:
            found.append(handler(batch))
        except RidgelineError as error:
            answers.update({r.id: NotPredicted(reason=str(error)) for r in batch})
    return found, answers


def _library(row: TruthRow) -> str:
    """Return the engine whose own kernels a row names, empty where it names none."""
    engine = engine_of(row.engine)
    return engine if engine in ("vllm", "sglang", "trtllm") else ""


def _static(row: TruthRow) -> tuple[str, ...]:
    """What must agree for rows to be one array."""
    columns = ("w_dtype", "compute_dtype", "kv_dtype", "heads", "kv_heads", "head_dim", "tp", "op")
    return (*(row.text(c) for c in columns), row.model, _library(row))


def _handler(row: TruthRow) -> Handler | None:
    return next((run for words, run in _HANDLERS if re.match(words, row.metric)), None)


def weight_format(row: TruthRow) -> str:
    """Return the storage format of a GEMM's weights."""
    word = first_word(row.text("w_dtype") or row.text("compute_dtype") or "bf16")
    if word == "fp8" and ("block" in row.text("compute_dtype") or "DeepGEMM" in row.engine):
        return "fp8_block"
    return {"nvfp4": "nvfp4", "fp4": "nvfp4"}.get(word, word)


def _elements(row: TruthRow) -> float:
    return (row.number("M") or 0) * (row.number("N") or 1)


def _seconds_of(row: TruthRow, flop: float) -> float:
    if row.unit == "TFLOP/s":
        return flop / (row.value * 1e12)
    if row.unit.startswith("G elem"):
        return _elements(row) / (row.value * 1e9)
    return row.value * SECONDS[row.unit.strip()]


def _answers(batch: KernelBatch, efficiency: Efficiency) -> dict[str, Answer]:
    rows, device = batch.rows, batch.device
    total, flop = batch.seconds(efficiency), batch.flop
    compute: Array = np.zeros(len(rows))
    memory: Array = np.zeros(len(rows))
    flags: dict[str, None] = {}
    for op in batch.executed:
        timing = operation_time(op, device, efficiency.curve(op, device))
        compute, memory = compute + timing.compute_s, memory + timing.memory_s
        note = efficiency.flag(op, device)
        if note is not None:
            flags[note] = None
    samples = batch.seconds(sampled(efficiency, num=_SAMPLES, seed=0))
    edges = np.quantile(samples, [0.1, 0.9], axis=0)
    result: dict[str, Answer] = {}
    least, measured = np.zeros(len(rows)) + batch.peak_s, batch.measured_s
    for i, row in enumerate(rows):
        if is_impossible(float(measured[i]), float(least[i])):
            result[row.id] = IMPOSSIBLE
            continue
        seconds = float(total[i])
        low, high = sorted(_value(row, float(edge[i]), float(flop[i])) for edge in edges)
        bound = "compute" if compute[i] > memory[i] else "memory"
        if max(compute[i], memory[i]) < seconds / 2:
            bound = "launch"
        result[row.id] = Prediction(
            value=_value(row, seconds, float(flop[i])),
            bound=bound,
            family=batch.family,
            flags=tuple(flags),
            p10=low,
            p90=high,
        )
    return result


def _value(row: TruthRow, seconds: float, flop: float) -> float:
    if row.unit == "TFLOP/s":
        return flop / seconds / 1e12
    if row.unit.startswith("G elem"):
        return _elements(row) / seconds / 1e9
    return in_unit(seconds, row.unit)


def _gemm(rows: list[TruthRow]) -> KernelBatch:
    form = weight_format(rows[0])
    m, n, k = (numbers(rows, c) for c in "MNK")
    if np.isnan(n).any() or np.isnan(k).any():
        n, k = layer_shape(rows[0])
        n, k = np.full(len(rows), n), np.full(len(rows), k)
    if np.isnan(m).any():
        m = numbers(rows, "batch")
    word = {"fp16": "bf16"}.get(first_word(form), first_word(form)).replace("_block", "")
    most = "max " if rows[0].metric == _MAXIMUM else ""
    operation = gemm_operation(form, m, n, k)
    return _batch(rows, [operation], f"gemm {most}{word}", extra_s=_host_s(rows[0]))


def _batch(
    rows: Sequence[TruthRow], operations: Sequence[Operation], family: str, extra_s: float = 0.0
) -> KernelBatch:
    return KernelBatch(
        rows=tuple(rows),
        operations=tuple(operations),
        device=_device(rows[0]),
        family=family,
        extra_s=extra_s,
        least_s=_queued_s(rows[0]),
    )


def _device(row: TruthRow) -> Device:
    return find_chip(row.machine).device


def _grouped_gemm(rows: list[TruthRow]) -> KernelBatch:
    """M tokens for every local expert; N, K of one expert's matrix.

    Engines' experts were measured with gather, activation and scatter. A library's kernel on its
    own has none of them: it is the library's dense kernel over the padded rows of all groups.
    Its benchmarks draw the rows of each group, so that groups of one row on average are half empty.
    """
    form = weight_format(rows[0])
    storage = format_named(form)
    m, n, k = (numbers(rows, c) for c in "MNK")
    groups = numbers(rows, "local_experts")
    if not _library(rows[0]):
        touched, drawn = drawn_groups(m)
        groups, m = groups * touched, drawn
    rows_total = m * groups
    operation = Operation(
        name="experts",
        family="expert_gemm" if _library(rows[0]) else "gemm",
        component="kernel",
        compute_format=storage.compute_format,
        flop=2.0 * rows_total * n * k,
        weight_bytes=groups * n * k * storage.bytes_per_weight,
        activation_bytes=rows_total * (2.0 * n + input_bytes(storage.compute_format) * k),
        shape={
            "wide_inputs": float(input_bytes(storage.compute_format) > 1),
            "m": rows_total,
            "n": n,
            "k": k,
            "num_groups": groups,
            "tokens_per_expert": m,
            "imbalance": np.ones_like(m),
        },
        storage_format=storage.id,
    )
    return _batch(rows, [operation], "grouped gemm")


def _experts(rows: list[TruthRow]) -> KernelBatch:
    return _batch(rows, expert_kernels(rows, weight_format(rows[0])), "expert layer")


def _attention(rows: list[TruthRow]) -> KernelBatch:
    operations, growth = softmax_kernel(rows, _device(rows[0]))
    family = "decode attention" if "decode" in rows[0].metric else "prefill attention"
    return replace(_batch(rows, operations, family), growth=growth)


def _latent(rows: list[TruthRow]) -> KernelBatch:
    operations, growth = latent_kernel(rows, _device(rows[0]))
    family = "mla decode" if "decode" in rows[0].metric else "mla prefill"
    return replace(_batch(rows, operations, family), growth=growth)


def _elementwise(rows: list[TruthRow]) -> KernelBatch:
    """One element-wise or row-wise kernel over M × N elements (M where no N is given)."""
    elements = numbers(rows, "M") * np.nan_to_num(numbers(rows, "N"), nan=1.0)
    operation = Operation(
        name=rows[0].text("op"),
        family="elementwise",
        component="kernel",
        compute_format="bf16",
        activation_bytes=elements * 4.0,
        shape={},
    )
    return _batch(rows, [operation], "elementwise", extra_s=_host_s(rows[0]))


def _host_s(row: TruthRow) -> float:
    """Return host time inside the measured one: profilers of kernels, and graphs, see none."""
    if not row.engine.startswith("PyTorch ("):
        return 0.0
    return eager_call_s(row.text("op"), _device(row))


def _queued_s(row: TruthRow) -> float:
    """Return the least time of a call whose benchmark queues ten from Python and waits once.

    Source: InferSim, kernel_benchmark/*_mha_decode.py, *_mla_decode.py, fa3_*.py.
    """
    attention = row.metric.startswith(("mha_", "mla_"))
    if not attention or "infersim" not in row.text("source").lower():
        return 0.0
    return eager_call_s("gemm", _device(row))


_HANDLERS: tuple[tuple[str, Handler], ...] = (
    (r"grouped_gemm", _grouped_gemm),
    (rf"(gemm_latency|{_MAXIMUM})$", _gemm),
    (r"(fused_)?moe_(\w+_)?latency$", _experts),
    (r"mha_(decode|prefill)_latency$|attention_", _attention),
    (r"mla_(decode|prefill)_latency$", _latent),
    (r"elementwise_throughput$", _elementwise),
)
"""By the beginning of a row's metric."""
