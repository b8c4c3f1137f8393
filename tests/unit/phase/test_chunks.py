"""Chunks of a prompt see what came before them."""

from dataclasses import replace

import numpy as np
import pytest

from ridgeline.model.layout import Layout
from ridgeline.model.operations import operations
from ridgeline.model.precision import Precision
from ridgeline.model.work import Step
from ridgeline.phase.deployment import chunk_steps, step_breakdown
from ridgeline.study.deploy import deploy


def flop(architecture, steps):
    precision = Precision.of(architecture)
    return sum(
        float(np.asarray(op.flop)) * op.count
        for op in operations(
            architecture, tuple(replace(s, logit_tokens=0) for s in steps), precision, Layout()
        )
    )


@pytest.mark.parametrize("model", ["llama-3.1-8b", "gpt-oss-20b", "gemma-3-27b", "qwen3-30b-a3b"])
@pytest.mark.parametrize("prompt", [4096, 16384, 40960])
def test_chunks_sum_to_the_whole_prompt(model, prompt):
    """Every FLOP of a prompt but the head is spent once, in one step or in n mean chunks."""
    architecture = deploy(model, on="hgx-h100-8").architecture
    chunk = 2048
    parts = chunk_steps(1, chunk, prompt)
    whole = flop(architecture, (Step(batch=1, new_tokens=prompt, context=0),))
    mean = flop(architecture, parts)
    assert mean * prompt / chunk == pytest.approx(whole, rel=1e-9)


def test_mean_chunk_is_the_mean_of_all_chunks():
    """Against the chunks one by one: context 0, 2048, 4096 and 6144."""
    architecture = deploy("llama-3.1-8b", on="hgx-h100-8").architecture
    one_by_one = [
        flop(architecture, (Step(batch=3, new_tokens=2048, context=k * 2048),)) for k in range(4)
    ]
    mean = flop(architecture, chunk_steps(3, 2048, 8192))
    assert mean == pytest.approx(np.mean(one_by_one), rel=1e-12)


def test_a_chunk_longer_than_the_prompt_holds_several():
    first, others = chunk_steps(2, 2048, 512)
    assert (float(first.batch), float(first.new_tokens)) == (8.0, 512.0)
    assert float(others.batch) == 0.0


def test_later_chunks_cost_more():
    deployment = deploy("llama-3.1-8b", on="hgx-h100-8", devices=1)

    def step(prompt):
        return step_breakdown(
            deployment, phase="mixed", batch=8, context=1000.0, chunk=2048, prompt=prompt
        ).step_s

    assert step(None) == pytest.approx(step(2048))
    assert step(2048) < step(16384) < step(131072)
