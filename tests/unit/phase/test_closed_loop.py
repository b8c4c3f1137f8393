"""Steady state at fixed concurrency."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeline.phase.closed_loop import closed_loop
from ridgeline.phase.deployment import step_breakdown
from ridgeline.study.deploy import deploy

ONE = deploy("llama-3.1-8b", on="h100-sxm")


def test_one_request_decodes_alone():
    """Nobody else's prompt delays it, and nothing queues."""
    loop = closed_loop(ONE, concurrency=1.0, isl=1000.0, osl=1000.0)
    step = step_breakdown(ONE, phase="decode", batch=1.0, context=1500.0).step_s
    assert loop.tpot_s == pytest.approx(step)
    prefill = step_breakdown(ONE, phase="prefill", batch=1.0, context=1000.0).step_s
    assert loop.ttft_s == pytest.approx(prefill, rel=0.5)


@settings(max_examples=20, deadline=None)
@given(st.floats(1, 256), st.floats(64, 8192), st.floats(64, 4096))
def test_littles_law_and_order(c, isl, osl):
    """C = rate · (TTFT + (O - 1)·TPOT); more users, slower each."""
    loop = closed_loop(ONE, concurrency=np.array([c, 2 * c]), isl=isl, osl=osl)
    cycle = loop.ttft_s + (osl - 1) * loop.tpot_s
    assert loop.requests_per_s * cycle == pytest.approx([c, 2 * c], rel=1e-9)
    assert loop.tpot_s[1] >= loop.tpot_s[0] * 0.999
    assert (loop.decoding <= [c, 2 * c]).all()
    assert (loop.tpot_s >= loop.decode_s * 0.999).all()


def test_separate_prefill_reads_the_weights_again():
    mixed, apart = (
        closed_loop(ONE, concurrency=32.0, isl=256.0, osl=256.0, scheduling=s)
        for s in ("mixed", "separate")
    )
    assert apart.prompt_s > mixed.prompt_s


def test_speculation_takes_fewer_steps():
    plain, fast = (
        closed_loop(ONE, concurrency=8.0, isl=512.0, osl=512.0, tokens_per_step=t)
        for t in (1.0, 2.0)
    )
    assert fast.tpot_s < plain.tpot_s
