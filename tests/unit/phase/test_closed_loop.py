"""Steady state at fixed concurrency."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeline.phase.closed_loop import (
    _gathering_steps,
    _queue_steps,
    _together,
    _waiting_for_host,
    closed_loop,
)
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
    """C = rate · (TTFT + (O - 1)·TPOT); more users, slower each, until prompts fill every step."""
    loop = closed_loop(ONE, concurrency=np.array([c, 2 * c]), isl=isl, osl=osl)
    cycle = loop.ttft_s + (osl - 1) * loop.tpot_s
    assert loop.requests_per_s * cycle == pytest.approx([c, 2 * c], rel=1e-9)
    assert loop.tpot_s[1] >= loop.tpot_s[0] * 0.99
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


def test_a_scheduler_that_looks_every_thirty_steps_makes_prompts_wait_for_fifteen():
    """Half an interval more, and a prompt that came in the same interval."""
    often, seldom = (
        closed_loop(ONE, concurrency=2.0, isl=64.0, osl=4096.0, scheduling="separate", poll_steps=n)
        for n in (1.0, 30.0)
    )
    waited = seldom.ttft_s - often.ttft_s
    assert waited == pytest.approx(14.5 * often.decode_s, rel=0.02)
    alone = closed_loop(
        ONE, concurrency=1.0, isl=64.0, osl=4096.0, scheduling="separate", poll_steps=30.0
    )
    assert alone.ttft_s < often.ttft_s


def test_prompts_wait_until_every_attention_group_has_one():
    """Four groups have one each after 4 (1 + 1/2 + 1/3 + 1/4) = 25/3 arrivals.

    At 1/3 per step that takes 25 steps: (25 + 25/3 · 12.5) / (1 + 25/3) = 13.84 on average. At
    1/100 per step the first gives up after 60: (60 + 0.6 · 30) / 1.6 = 48.75.
    """
    steps = _gathering_steps(np.array([1 / 3, 1 / 100]), 4.0, 60.0)
    assert steps == pytest.approx([13.84, 48.75], rel=1e-3)
    assert _gathering_steps(np.array(1 / 8), 1.0, 60.0) == 0.0
    assert _gathering_steps(np.array(1 / 8), 4.0, 0.0) == 0.0


def test_prompts_of_one_batch_come_out_together():
    """Four others: two came first; a batch of three holds one of the later two."""
    assert _together(np.array(4.0), np.array(1.0)) == pytest.approx(2.0)
    assert _together(np.array(4.0), np.array(3.0)) == pytest.approx(3.0)
    assert _together(np.array(4.0), np.array(64.0)) == pytest.approx(4.0)


def test_a_server_that_everyone_needs_all_the_time_queues_everyone_else():
    """No thinking: nine of ten wait, the one in service half; waiting vanishes with the load."""
    wait = _queue_steps(np.array([10.0, 10.0]), np.array([1.0, 1.0]), np.array([1e-9, 1e6]))
    assert wait[0] == pytest.approx(8.55, rel=0.02)
    assert wait[1] == pytest.approx(0.0, abs=1e-3)


def test_steps_with_prompts_last_as_long_as_their_launches():
    """30 ms of launches over 10 ms + 4 ms of a chunk in every fourth step: 4 ms on average.

    With two chunks per step, every step waits 30 - 18 ms; a busy device waits for nothing.
    """
    wait = _waiting_for_host(
        np.full(3, 30e-3), np.array([10e-3, 10e-3, 40e-3]), np.full(3, 4e-3), np.array([0.25, 2, 1])
    )
    assert wait == pytest.approx([4e-3, 12e-3, 0.0])
