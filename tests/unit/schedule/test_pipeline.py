"""Decode loops, executed, against the rules of chapters 3 and 4."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeline.chalkboard.pipelines import one_at_a_time_idle_share, pipeline_latency
from ridgeline.errors import InputError
from ridgeline.schedule.pipeline import Task, decode_loop, idle_share, run, token_period_s

times = st.lists(st.floats(0.1, 10.0), min_size=1, max_size=6)


def test_two_stages_by_hand():
    """Stages of 1 s and 2 s, two micro-batches, no hop: the slow one never waits, 4 s a token."""
    loop = decode_loop([1.0, 2.0], micro_batches=2, hop_s=0.0, tokens=3)
    assert loop.start_s[:4] == (0.0, 1.0, 1.0, 3.0)
    assert token_period_s(loop) == 4.0
    assert idle_share(loop) == pytest.approx(1 - 6 / 8)


@given(times, st.integers(1, 9), st.floats(0.0, 5.0))
def test_period_is_the_slowest_stage_or_the_round_trip(stages, micro, hop):
    """max(M·max s, Σ s + P·h): C4-F7, and the bottleneck stage."""
    loop = decode_loop(stages, micro_batches=micro, hop_s=hop, tokens=40)
    trip = sum(stages) + (len(stages) * hop if len(stages) > 1 else 0.0)
    assert token_period_s(loop) == pytest.approx(max(micro * max(stages), trip))


@given(st.integers(1, 8), st.integers(1, 16))
def test_idle_share_of_equal_stages(stages, micro):
    """1 - M/P below P, nothing from M = P on (C4-F3, C4-F5)."""
    loop = decode_loop([1.0] * stages, micro_batches=micro, hop_s=0.0, tokens=4)
    assert idle_share(loop) == pytest.approx(max(0.0, 1 - micro / stages))


def test_one_at_a_time_and_the_hop_tax():
    loop = decode_loop([5.0] * 4, micro_batches=1, hop_s=0.0, tokens=3)
    assert idle_share(loop) == one_at_a_time_idle_share(stages=4)
    loop = decode_loop([5.0] * 4, micro_batches=1, hop_s=2.0, tokens=3)
    assert token_period_s(loop) == pipeline_latency(stages=4, whole_model_s=20.0, hop_s=2.0)


@given(times, st.integers(1, 6), st.floats(0.0, 3.0))
def test_a_schedule_breaks_no_rule(stages, micro, hop):
    loop = decode_loop(stages, micro_batches=micro, hop_s=hop, tokens=3)
    busy: dict[int, float] = {}
    for i, task in enumerate(loop.tasks):
        assert loop.start_s[i] >= busy.get(task.resource, 0.0)
        busy[task.resource] = loop.end_s[i]
        for j, lag in task.after:
            assert loop.start_s[i] >= loop.end_s[j] + lag
    assert len(loop.tasks) == 3 * micro * len(stages)


def test_refusals():
    with pytest.raises(InputError, match="earlier"):
        run([Task(resource=0, duration_s=1.0, after=((0, 0.0),))])
    with pytest.raises(InputError, match="at least one"):
        decode_loop([], micro_batches=1, hop_s=0.0, tokens=1)
    with pytest.raises(InputError, match="two tokens"):
        token_period_s(decode_loop([1.0], micro_batches=1, hop_s=0.0, tokens=1))
