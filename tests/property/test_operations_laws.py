"""Laws of operations, state and memory, on models of every mixer kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeline.model.architecture import (
    Architecture,
    Block,
    CompressedAttention,
    FeedForward,
    Indexer,
    Mixer,
)
from ridgeline.model.build import (
    compressed_attention,
    dense,
    gqa,
    linear,
    mla,
    moe,
    no_feed_forward,
)
from ridgeline.model.build_recurrent import gated_delta_net, mamba2
from ridgeline.model.coverage import expected_experts_touched
from ridgeline.model.layout import Layout
from ridgeline.model.memory import state_bytes_per_device, weight_bytes_per_device
from ridgeline.model.operations import operations
from ridgeline.model.precision import Precision
from ridgeline.model.state import kv_bytes_per_token, state_bytes, state_read_bytes
from ridgeline.model.work import Operation, Step

H, V = 512, 1000


def model(mixers: list[Mixer], ffn: FeedForward) -> Architecture:
    blocks = tuple(Block(count=2, mixer=m, feed_forward=ffn, num_norm_params=2 * H) for m in mixers)
    return Architecture(
        name="literal",
        model_type="literal",
        hidden_size=H,
        vocab_size=V,
        blocks=blocks,
        num_input_embedding_params=V * H,
        head=linear("lm_head", H, V, "head", split="column"),
        num_final_norm_params=H,
    )


_MLA = {"q_lora_rank": 96, "kv_lora_rank": 64, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16}
_MIXTURE = moe(H, 16, 2, 256, shared_size=256)
_CSA = CompressedAttention(
    num_heads=8,
    head_dim=64,
    window=16,
    ratio=4,
    overlap=True,
    indexer=Indexer(num_heads=4, head_dim=32, top_k=8, key_dim=32),
)
_CSA_LINEARS = (
    linear("q_proj", H, 512, split="column"),
    linear("kv_proj", H, 64),
    linear("o_proj", 512, H, split="row"),
)
MODELS = {
    "dense": model([gqa(H, 8, 4, 64)], dense(H, 1024)),
    "windows": model(
        [gqa(H, 8, 4, 64, window=12), gqa(H, 8, 4, 64, window=9, window_kind="chunked")],
        dense(H, 1024),
    ),
    "moe": model([gqa(H, 8, 2, 64)], _MIXTURE),
    "mla": model([mla(H, 8, v_head_dim=32, **_MLA)], _MIXTURE),
    "compressed": model([compressed_attention(_CSA_LINEARS, 64, _CSA)], _MIXTURE),
    "hybrid": model(
        [mamba2(H, 8, 64, 32, 1, 4), gated_delta_net(H, 4, 8, 32, 32, 4), gqa(H, 8, 4, 64)],
        dense(H, 1024),
    ),
    "mixer_only": model([mamba2(H, 8, 64, 32, 1, 4)], no_feed_forward()),
}
PRECISION = {k: Precision.of(a) for k, a in MODELS.items()}

names = st.sampled_from(sorted(MODELS))
counts = st.integers(1, 300)
lengths = st.integers(0, 5000)


def total(ops: tuple[Operation, ...], field: str) -> float:
    return float(sum(op.count * getattr(op, field) for op in ops))


def work(name: str, step: Step | tuple[Step, ...], **degrees: int) -> tuple[Operation, ...]:
    return operations(MODELS[name], step, PRECISION[name], Layout(**degrees))


@settings(deadline=None)
@given(
    name=st.sampled_from(["dense", "windows", "moe", "compressed"]),
    chunks=st.lists(st.integers(1, 60), min_size=1, max_size=6),
    start=lengths,
)
def test_prefill_in_chunks_is_prefill_at_once(name: str, chunks: list[int], start: int) -> None:
    whole = work(name, Step(batch=3, new_tokens=sum(chunks), context=start, logit_tokens=0))
    parts, done = 0.0, start
    for new in chunks:
        step = Step(batch=3, new_tokens=new, context=done, logit_tokens=0)
        parts += total(work(name, step), "flop")
        done += new
    assert parts == pytest.approx(total(whole, "flop"), rel=1e-12)


@settings(deadline=None)
@given(name=names, batch=counts, new=st.integers(1, 64), context=lengths)
def test_degree_one_sends_nothing_and_more_work_never_shrinks(
    name: str, batch: int, new: int, context: int
) -> None:
    base = work(name, Step(batch=batch, new_tokens=new, context=context, logit_tokens=1))
    assert all(op.message is None for op in base)
    more = Step(batch=batch + 1, new_tokens=new, context=context, logit_tokens=1)
    # A whole number of chunks later: chunked attention restarts, so it may shrink in between.
    later = Step(batch=batch, new_tokens=new, context=context + 14 * 9, logit_tokens=1)
    for field in ("flop", "weight_bytes", "activation_bytes", "state_read_bytes"):
        assert total(work(name, more), field) >= total(base, field)
    for field in ("flop", "weight_bytes"):
        assert total(work(name, later), field) >= total(base, field) * (1 - 1e-12)


@settings(deadline=None)
@given(
    name=names,
    tp=st.sampled_from([1, 2, 4, 8]),
    dp=st.sampled_from([1, 2, 4]),
    pp=st.sampled_from([1, 2]),
    wide=st.booleans(),
    context=lengths,
)
def test_shards_hold_and_do_at_least_the_whole(
    name: str, tp: int, dp: int, pp: int, wide: bool, context: int
) -> None:
    layout = Layout(tp=tp, dp=dp, pp=pp, ep=min(tp * dp, 16) if wide else 1)
    arch, precision = MODELS[name], PRECISION[name]
    shards = tp * dp * pp
    held = shards * weight_bytes_per_device(arch, precision, layout)
    assert held >= weight_bytes_per_device(arch, precision) * (1 - 1e-12)
    kept = shards * state_bytes_per_device(arch, context, 8, precision, layout)
    assert kept >= 8 * state_bytes(arch, context, precision) * (1 - 1e-12)
    step = Step(batch=8, context=context)
    alone = operations(arch, step, precision)
    shared = operations(arch, step, precision, layout)
    for field in ("flop", "weight_bytes", "state_read_bytes", "activation_bytes"):
        assert shards * total(shared, field) >= total(alone, field) * (1 - 1e-12)


@settings(deadline=None, max_examples=50)
@given(name=names, seed=st.integers(0, 2**31))
def test_arrays_equal_loops_over_points(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    batch, new, context = (rng.integers(low, 200, 5) for low in (1, 1, 0))
    tp, dp = rng.choice([1, 2, 4], 5), rng.choice([1, 2], 5)
    arch, precision = MODELS[name], PRECISION[name]
    step = Step(batch=batch, new_tokens=new, context=context)
    swept = operations(arch, step, precision, Layout(tp=tp, dp=dp, ep=tp))
    for i in range(5):
        point = Step(batch=int(batch[i]), new_tokens=int(new[i]), context=int(context[i]))
        layout = Layout(tp=int(tp[i]), dp=int(dp[i]), ep=int(tp[i]))
        single = {
            op.name + str(j): op for j, op in enumerate(_local(arch, point, layout, precision))
        }
        local = [op for op in swept if op.message is None]
        for j, op in enumerate(local):
            one = single[op.name + str(j)]
            for field in ("flop", "weight_bytes", "state_read_bytes", "activation_bytes"):
                value = np.broadcast_to(getattr(op, field), 5)[i]
                assert value == pytest.approx(getattr(one, field), rel=1e-12)


def _local(arch: Architecture, step: Step, layout: Layout, precision: Precision) -> list[Operation]:
    return [op for op in operations(arch, step, precision, layout) if op.message is None]


@settings(deadline=None)
@given(name=names, tp=st.sampled_from([1, 2, 4]), dp=st.sampled_from([1, 2]))
def test_a_large_step_reads_every_weight_on_the_device_once(name: str, tp: int, dp: int) -> None:
    layout = Layout(tp=tp, dp=dp, ep=dp)
    arch, precision = MODELS[name], PRECISION[name]
    read = total(operations(arch, Step(batch=10**6), precision, layout), "weight_bytes")
    table = arch.num_input_embedding_params * precision.weight_bytes_of("embedding") / tp
    held = weight_bytes_per_device(arch, precision, layout)
    assert read == pytest.approx(held - table, rel=1e-9)


@settings(deadline=None)
@given(name=names, context=lengths, batch=counts)
def test_a_mixed_step_adds_flop_and_state_but_reads_weights_once(
    name: str, context: int, batch: int
) -> None:
    decode = Step(batch=batch, context=context)
    chunk = Step(batch=1, new_tokens=64, context=context)
    both = work(name, (decode, chunk))
    for field in ("flop", "state_read_bytes", "state_write_bytes"):
        parts = total(work(name, decode), field) + total(work(name, chunk), field)
        assert total(both, field) == pytest.approx(parts, rel=1e-12)
    most = total(work(name, decode), "weight_bytes") + total(work(name, chunk), "weight_bytes")
    assert total(work(name, chunk), "weight_bytes") <= total(both, "weight_bytes") <= most


@settings(deadline=None)
@given(name=names, context=st.integers(0, 50_000))
def test_decode_reads_what_the_state_module_says(name: str, context: int) -> None:
    arch, precision = MODELS[name], PRECISION[name]
    read = total(work(name, Step(batch=1, context=context)), "state_read_bytes")
    assert read == pytest.approx(float(state_read_bytes(arch, context, precision)), rel=1e-12)
    growth = kv_bytes_per_token(arch, precision, max(context, 1))
    assert 0 <= growth <= float(state_bytes(arch, 10**6, precision))


@given(
    experts=st.integers(1, 512),
    chosen=st.integers(1, 512),
    tokens=st.floats(0, 1e9),
)
def test_experts_touched_stay_between_bounds(experts: int, chosen: int, tokens: float) -> None:
    chosen = min(chosen, experts)
    touched = float(expected_experts_touched(experts, chosen, tokens))
    assert 0 <= touched <= experts
    assert touched <= chosen * tokens * (1 + 1e-12) or tokens < 1
    if tokens >= 1:
        assert touched >= chosen * (1 - 1e-12)
