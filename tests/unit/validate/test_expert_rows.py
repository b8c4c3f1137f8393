"""Routed experts of published rows, by pencil."""

import numpy as np
import pytest

from made_rows import made_row
from ridgeline.validate.predict_kernels import kernel_batches, predict_kernels
from ridgeline.validate.prediction import NotPredicted, Prediction
from ridgeline.validate.truth_rows import TruthRow

HIDDEN, INNER, TOP_K, EXPERTS = 2048, 768, 8, 128
"""Qwen3-30B-A3B."""


def _row(name: str, model: str = "Qwen3-30B-A3B", **cells: str) -> TruthRow:
    formats = {"compute_dtype": "bf16", "w_dtype": "bf16"}
    return made_row("moe_latency", id=name, model=model, engine="vLLM", **formats, **cells)


def test_stated_experts_are_read():
    rows = [
        _row("1", M="64", activated_experts="32"),
        _row("2", M="64", setup="64 tokens over 128 activated experts"),
        _row("3", M="4096"),
    ]
    ((batch,), none) = kernel_batches(rows)
    assert not none
    gemms = [o for o in batch.operations if o.family == "expert_gemm"]
    per_expert = 3 * HIDDEN * INNER * 2
    read = sum(np.asarray(o.weight_bytes) for o in gemms)
    assert read == pytest.approx([32 * per_expert, 128 * per_expert, EXPERTS * per_expert])
    flop = sum(np.asarray(o.flop) for o in gemms)
    pairs = np.array([64, 64, 4096]) * TOP_K
    assert flop == pytest.approx(2.0 * pairs * 3 * HIDDEN * INNER)
    assert gemms[0].shape["tokens_per_expert"] == pytest.approx(pairs / [32, 128, EXPERTS])


def test_tensor_parallel_ranks_share_every_expert():
    ((whole,), _) = kernel_batches([_row("1", M="64", activated_experts="32")])
    ((half,), _) = kernel_batches([_row("1", M="64", activated_experts="32", tp="2")])
    assert whole.flop == pytest.approx(2 * half.flop)


def test_answers():
    answers = predict_kernels([_row("1", M="64"), _row("2", model="Llama-3.1-8B", M="64")])
    assert isinstance(answers["1"], Prediction)
    assert isinstance(answers["2"], NotPredicted)
    assert "no routed experts" in answers["2"].reason
