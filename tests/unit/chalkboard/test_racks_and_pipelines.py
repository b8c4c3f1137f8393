"""Chapters 2 to 4 on paper, and against small simulations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeline.chalkboard import memory, pipelines, racks


def test_all_to_all_slowdown():
    """ρ 8: one rack 1; two max(1/2, 8/2) = 4; three 16/3; four 6. ρ 1 has no cliff."""
    count = np.array([1.0, 2.0, 3.0, 4.0])
    slow = racks.all_to_all_slowdown(racks=count, bandwidth_ratio=8.0)
    assert np.allclose(slow, [1, 4, 16 / 3, 6])
    assert (racks.all_to_all_slowdown(racks=count, bandwidth_ratio=1.0) <= 1).all()


def test_slowdown_against_the_traffic_matrix():
    """Sum what each of 12 devices sends inside and outside its rack over three racks."""
    matrix = racks.traffic_matrix(
        devices=12, tokens_per_device=64.0, experts_per_token=4.0, token_bytes=1.0
    )
    rack = np.arange(12) // 4
    outside = (matrix * (rack[:, None] != rack[None, :])).sum(axis=1)
    everything = 64.0 * 4.0
    assert np.allclose(outside / everything, racks.crossing_share(racks=3.0))
    time = max((everything - outside[0]) / 8.0, outside[0] / 1.0)
    one_rack = everything / 8.0
    assert time / one_rack == pytest.approx(
        racks.all_to_all_slowdown(racks=3.0, bandwidth_ratio=8.0)
    )


def test_dispatch_and_combine_bytes():
    """8 × 7168 × (1 + 2) = 172,032 B; 58 layers 9.978 MB; 128 tokens at 900 GB/s 1.419 ms."""
    token = racks.all_to_all_bytes_per_token(
        experts_per_token=8.0,
        hidden_size=7168.0,
        dispatch_bytes=1.0,
        combine_bytes=2.0,
        moe_layers=np.array([1.0, 58.0]),
    )
    assert token.tolist() == [172_032, 9_977_856]
    time = racks.all_to_all_time(
        tokens_per_device=128.0, bytes_per_token=token[1], link_bytes_per_s=900e9
    )
    assert time == pytest.approx(1.419e-3, rel=1e-3)


def test_moe_layer_with_every_expert_chosen_is_a_dense_mixture():
    rng = np.random.default_rng(1)
    hidden, router = rng.standard_normal((3, 4)), rng.standard_normal((4, 2))
    up, down = rng.standard_normal((2, 4, 5)), rng.standard_normal((2, 5, 4))
    gates = np.exp(hidden @ router)
    gates /= gates.sum(axis=1, keepdims=True)
    dense = hidden + sum(
        gates[:, i : i + 1] * (np.maximum(hidden @ up[i], 0) @ down[i]) for i in range(2)
    )
    out = racks.moe_layer(hidden=hidden, router=router, up=up, down=down, experts_per_token=2)
    assert np.allclose(out, dense)


def test_layers_per_stage():
    """ρ 8: l ≥ 8 / (2·a): 1 for 8 or 4 experts, 2 for 2, 4 for 1."""
    least = pipelines.least_layers_per_stage(
        experts_per_token=np.array([8.0, 4.0, 2.0, 1.0]), bandwidth_ratio=8.0
    )
    assert least.tolist() == [1, 1, 2, 4]


def _flush_idle_share(stages: int, micro_batches: int) -> float:
    """Run a forward flush: a stage starts when its input and itself are free."""
    done = np.zeros((stages, micro_batches))
    for m in range(micro_batches):
        for s in range(stages):
            ready = max(done[s - 1, m] if s else 0, done[s, m - 1] if m else 0)
            done[s, m] = ready + 1
    return 1 - micro_batches / done.max()


@given(stages=st.integers(1, 8), micro_batches=st.integers(1, 20))
def test_bubble_against_a_schedule_that_is_run(stages, micro_batches):
    law = pipelines.training_bubble(stages=float(stages), micro_batches=float(micro_batches))
    assert law == pytest.approx(_flush_idle_share(stages, micro_batches), abs=1e-12)


@given(stages=st.integers(2, 32), percent=st.integers(1, 60))
def test_micro_batches_for_a_bubble_are_the_fewest(stages, percent):
    bubble = percent / 100
    count = pipelines.micro_batches_for_bubble(stages=float(stages), bubble=bubble)
    at = pipelines.training_bubble(stages=float(stages), micro_batches=count)
    below = pipelines.training_bubble(stages=float(stages), micro_batches=count - 1)
    assert at <= bubble + 1e-9
    assert below > bubble


def _decode_idle_share(stages: int, micro_batches: int, rounds: int = 200) -> float:
    """Run a decode loop: a micro-batch re-enters stage 0 after its last stage."""
    stage_free, batch_free = np.zeros(stages), np.zeros(micro_batches)
    for _ in range(rounds):
        for m in range(micro_batches):
            for s in range(stages):
                end = max(stage_free[s], batch_free[m]) + 1
                stage_free[s] = batch_free[m] = end
    return 1 - rounds * micro_batches / stage_free[-1]


@pytest.mark.parametrize(("stages", "micro_batches"), [(4, 1), (4, 3), (4, 4), (4, 6), (7, 5)])
def test_decode_loop_against_a_loop_that_is_run(stages, micro_batches):
    law = memory.decode_idle_share(micro_batches=float(micro_batches), stages=float(stages))
    assert _decode_idle_share(stages, micro_batches) == pytest.approx(law, abs=0.02)


@given(stages=st.integers(1, 64), context=st.floats(1.0, 1e7), kv=st.floats(1.0, 1e6))
def test_stages_cancel_in_the_cache(stages, context, kv):
    """B = P·b over E·P devices is b over E."""
    shape = {"context_tokens": context, "kv_bytes_per_token": kv, "devices_per_stage": 64.0}
    fixed = memory.kv_per_device(batch=2000.0 * stages, stages=float(stages), **shape)
    full = memory.kv_per_device_full_pipeline(micro_batch=2000.0, **shape)
    assert fixed == pytest.approx(full, rel=1e-12)


def test_memory_per_device():
    """1e12 / 256 = 3.906 GB and 2000·1e5·2048 / 64 = 6.4 GB."""
    got = memory.memory_per_device(
        total_params=1e12,
        bytes_per_param=1.0,
        micro_batch=2000.0,
        context_tokens=1e5,
        kv_bytes_per_token=2048.0,
        devices_per_stage=64.0,
        stages=4.0,
    )
    assert got == pytest.approx(3.90625e9 + 6.4e9)


def test_longest_context_and_largest_batch_fill_the_memory():
    """72 × 192 GB less 671 GB over 2400·35,136 B is 156k tokens."""
    shape = {"total_params": 671e9, "bytes_per_param": 1.0, "kv_bytes_per_token": 35_136.0}
    context = memory.longest_context(capacity_bytes=13.824e12, batch=2400.0, **shape)
    assert context == pytest.approx(155_980, rel=1e-4)
    batch = memory.largest_batch(capacity_bytes=13.824e12, context_tokens=context, **shape)
    assert batch == pytest.approx(2400)
    used = memory.system_memory(batch=batch, context_tokens=context, **shape)
    assert used == pytest.approx(13.824e12)


def test_weight_time_and_hops():
    """1e12 / (72·8e12) = 1.736 ms; 20 ms and four hops of 2 ms are 28 ms."""
    time = memory.stage_weight_time(
        total_params=1e12,
        bytes_per_param=1.0,
        scale_up_devices=72.0,
        device_bandwidth_bytes_per_s=8e12,
    )
    assert time == pytest.approx(1.736e-3, rel=1e-3)
    assert memory.latency_with_hops(step_s=20e-3, stages=4.0, hop_s=2e-3) == pytest.approx(28e-3)
    assert pipelines.pipeline_latency(stages=4.0, whole_model_s=20e-3, hop_s=2e-3) == pytest.approx(
        28e-3
    )
