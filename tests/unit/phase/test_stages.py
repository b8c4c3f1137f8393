"""Real stages set the pace of a pipeline, against the decode loop event by event."""

from dataclasses import replace

import numpy as np
import pytest

from ridgeline.phase.deployment import step_breakdown
from ridgeline.schedule.pipeline import decode_loop, token_period_s
from ridgeline.study.deploy import deploy
from ridgeline.study.pipelines import stage_times_s

CONTEXT = 4096.0


def _deployment(model: str, pp: int, engine: str = "ideal"):
    degrees = {"tp": 8, "pp": pp}
    return deploy(model, on=f"hgx-h800-8x{pp}", devices=8 * pp, degrees=degrees, engine=engine)


@pytest.mark.parametrize("model", ["deepseek-v3", "gemma-3-27b-it", "gpt-oss-120b"])
@pytest.mark.parametrize(("pp", "micro", "loops"), [(2, 8, 2), (4, 8, 4), (8, 1, 3), (8, 1, 8)])
def test_a_token_takes_as_long_as_in_the_loop(model, pp, micro, loops):
    deployment = _deployment(model, pp)
    times, hop = stage_times_s(deployment, batch=float(micro), context=CONTEXT)
    loop = decode_loop(times, micro_batches=loops, hop_s=hop, tokens=64)
    step = step_breakdown(deployment, phase="decode", batch=float(micro * loops), context=CONTEXT)
    assert float(step.step_s) == pytest.approx(token_period_s(loop), rel=1e-9)
    assert sum(float(np.asarray(p.time_s)) for p in step.parts) == pytest.approx(
        float(step.step_s) - float(np.asarray(step.host_s))
    )


def test_prompts_in_a_row_wait_for_the_slowest_stage():
    deployment = _deployment("deepseek-v3", 4)
    one, two, five = (
        float(step_breakdown(deployment, phase="prefill", batch=b, context=CONTEXT).step_s)
        for b in (1.0, 2.0, 5.0)
    )
    pace = two - one
    assert pace > one / 4 * 1.02
    assert five == pytest.approx(one + 4 * pace)


def test_arrays_of_stages_are_each_their_own():
    whole = _deployment("deepseek-v3", 8, "vllm")

    def step_s(pp):
        deployment = replace(whole, layout=replace(whole.layout, pp=pp))
        batch = np.full(np.shape(pp), 64.0)
        return step_breakdown(deployment, phase="decode", batch=batch, context=CONTEXT).step_s

    numbers = (1, 2, 4, 8)
    alone = [float(step_s(pp)) for pp in numbers]
    assert step_s(np.array(numbers)) == pytest.approx(alone, rel=1e-12)


def test_work_of_a_device_is_that_of_a_mean_stage():
    """MFU counts what the replica computes, spread over all of its devices."""
    flop = [
        float(
            step_breakdown(
                _deployment("gemma-3-27b-it", pp), phase="decode", batch=64.0, context=CONTEXT
            ).flop
        )
        for pp in (1, 4)
    ]
    assert flop[0] == pytest.approx(4 * flop[1], rel=1e-6)
