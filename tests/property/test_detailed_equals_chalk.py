"""The law that ties the two fidelities together."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeline.cost.efficiency import IDEAL
from ridgeline.model.operations import operations
from ridgeline.model.params import count_parameters
from ridgeline.model.precision import Precision
from ridgeline.model.state import kv_bytes_per_token
from ridgeline.model.work import Step
from ridgeline.phase.breakdown import breakdown
from ridgeline.study.chalk import Chalk
from ridgeline.study.resolve import resolve_cluster, resolve_model

DEVICE = resolve_cluster("h100-sxm").device
MODELS = ["llama-3.3-70b-instruct", "qwen3-8b", "mixtral-8x22b-v0.1", "qwen3-235b-a22b"]


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=20, deadline=None)
@given(
    batch=st.integers(min_value=4096, max_value=2**20),
    context=st.integers(min_value=0, max_value=2**17),
)
def test_ideal_detailed_equals_the_chalkboard(name, batch, context):
    """Efficiency 1, no launch, no network, every expert touched, no attention FLOP.

    The chalkboard reads and multiplies with every parameter; the engine only looks its input
    embedding, norms and other vectors up, so these are left out of the chalkboard's counts.
    What is left must agree to rounding (the coverage of 4,096 sequences leaves 1e-9 of it).
    """
    architecture = resolve_model(name)
    precision = Precision.of(architecture, dtype="bf16", kv_dtype="bf16")
    ops = [
        replace(op, activation_bytes=0.0, state_write_bytes=0.0)
        for op in operations(architecture, Step(batch=batch, context=context), precision)
        if op.family not in {"elementwise", "embedding"}
    ]
    ops = [replace(op, flop=0.0) if op.family == "attention" else op for op in ops]
    detailed = breakdown(ops, DEVICE, IDEAL)
    count = count_parameters(architecture)
    looked_up = count.num_params_by_component.get("norm", 0) + sum(
        b.count * (b.mixer.num_vector_params + b.feed_forward.num_vector_params)
        for b in architecture.blocks
    )
    if not architecture.tie_word_embeddings:
        looked_up += architecture.num_input_embedding_params
    chalk = Chalk(
        num_params=count.num_text_params - looked_up,
        num_active_params=count.num_active_params - looked_up,
        bytes_per_param=2.0,
        kv_bytes_per_token=float(kv_bytes_per_token(architecture, precision=precision)),
        peak_flop_per_s=DEVICE.peak_flop_per_s["bf16"],
        bandwidth_bytes_per_s=DEVICE.memory.bandwidth_bytes_per_s,
        capacity_bytes=DEVICE.memory.capacity_bytes,
        compute_format="bf16",
    )
    expected = chalk.step_s(batch=float(batch), new_tokens=1.0, context=float(context))
    assert detailed.overlap_step_s == pytest.approx(float(expected), rel=1e-5)
    assert np.all(detailed.step_s >= detailed.overlap_step_s * (1 - 1e-12))
