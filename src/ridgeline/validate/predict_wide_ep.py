"""Large expert-parallel deployments, and how long a context fits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ridgeline.errors import RidgelineError
from ridgeline.model.architecture import SoftmaxAttention
from ridgeline.model.precision import Precision
from ridgeline.model.state import kv_entry_bytes
from ridgeline.model.work import Number
from ridgeline.phase.band import ratio_band
from ridgeline.phase.deployment import Deployment, Phase, step_breakdown, two_batch_step_s
from ridgeline.validate.chip_names import find_chip
from ridgeline.validate.model_names import architecture_named
from ridgeline.validate.prediction import Answer, NotPredicted, Prediction
from ridgeline.validate.set_up import set_up
from ridgeline.validate.truth_rows import TruthRow


def predict_wide_ep(rows: Sequence[TruthRow]) -> dict[str, Answer]:
    """Return throughput per device or node of wide expert parallelism."""
    answers: dict[str, Answer] = {}
    for row in rows:
        try:
            answers[row.id] = _wide(row)
        except RidgelineError as error:
            answers[row.id] = NotPredicted(reason=str(error))
    return answers


_PER_NODE = 8


def _wide(row: TruthRow) -> Answer:
    found = re.fullmatch(r"(input|output)_throughput_per_(gpu|node)", row.metric)
    batch = row.number("batch")
    if not found or batch is None:
        return NotPredicted(reason=f"wide-EP metric `{row.metric}` without a batch per device")
    ranks = row.count("ep", 0 + row.count("n_chips"))
    setup = set_up(row, degrees=(1, 1, ranks, ranks, 1))
    deployment = setup.deployment
    words = f"{row.text('layout')} {row.text('setup')}".lower()
    if "balanced" in words and "unbalanced" not in words:
        deployment = replace(deployment, imbalance=None)
    overlap = ("tbo" in words or "two micro-batch" in words) and "without tbo" not in words
    phase: Phase
    if found[1] == "input":
        prompt = row.number("input_len") or 4096.0
        batch = batch / prompt
        phase, context, tokens = "prefill", prompt, prompt
    else:
        phase, context, tokens = "decode", row.number("context_len") or 4096.0, 1.0
    total = batch * ranks
    where = {"batch": np.array([total]), "context": np.array([context])}

    def seconds(d: Deployment) -> Number:
        if overlap:
            return two_batch_step_s(d, phase=phase, **where)
        return step_breakdown(d, phase=phase, **where).step_s

    bound = step_breakdown(deployment, phase=phase, **where).bound_by()
    nodes = _PER_NODE if found[2] == "node" else 1
    value = batch * tokens * nodes / float(np.asarray(seconds(deployment)).ravel()[0])
    quick, slow = (float(edge[0]) for edge in ratio_band(deployment, seconds))
    return Prediction(
        value=value,
        bound=str(np.atleast_1d(bound)[0]),
        family=f"wide-EP {phase}",
        flags=setup.flags,
        p10=value / slow,
        p90=value / quick,
    )


_PALM_LAYERS, _PALM_HEADS = 118, 48


def predict_capacity(rows: Sequence[TruthRow]) -> dict[str, Answer]:
    """Return the longest context whose cache fits in a stated share of memory (PaLM 540B)."""
    answers: dict[str, Answer] = {}
    for row in rows:
        share = re.search(r"(\d+)% of", row.text("setup"))
        if row.metric != "max_context_length" or not share or "palm" not in row.model.lower():
            answers[row.id] = NotPredicted(reason=f"capacity metric `{row.metric}` is not modelled")
            continue
        answers[row.id] = _palm(row, float(share[1]) / 100)
    return answers


def _palm(row: TruthRow, share: float) -> Prediction:
    """PaLM 540B: 118 layers; one KV head of 256 (replicated unless sharded by batch), or 48 of 128.

    Source: Pope et al. 2022, arXiv:2211.05102, table 1 and section 3.3.
    """
    many = "multihead" in row.model.lower()
    heads, width = (_PALM_HEADS, 128) if many else (1, 256)
    core = SoftmaxAttention(
        num_heads=_PALM_HEADS, num_kv_heads=heads, qk_head_dim=width, v_head_dim=width
    )
    precision = Precision.of(architecture_named("llama-3.1-8b"), dtype="bf16")
    copies = row.count("n_chips") if "head-sharded" in row.model else 1
    per_token = _PALM_LAYERS * float(kv_entry_bytes(core, precision)) * copies
    memory = find_chip(row.machine).device.memory.capacity_bytes * row.count("n_chips")
    value = share * memory / (row.count("batch") * per_token)
    return Prediction(value=value, bound="capacity", family="capacity")
