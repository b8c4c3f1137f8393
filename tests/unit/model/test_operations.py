from dataclasses import replace

import numpy as np
import pytest

from ridgeline.errors import InputError
from ridgeline.model.architecture import (
    Architecture,
    Block,
    CrossAttention,
    FeedForward,
    Indexer,
    LatentAttention,
    Mixer,
)
from ridgeline.model.build import dense, gqa, linear, mla, moe
from ridgeline.model.imbalance import expert_imbalance
from ridgeline.model.layout import Layout
from ridgeline.model.operations import operations, stage_blocks
from ridgeline.model.precision import Precision
from ridgeline.model.scene import joined_name
from ridgeline.model.work import Operation, Step


def model(mixer: Mixer, ffn: FeedForward, *, layers: int, hidden: int, vocab: int) -> Architecture:
    block = Block(count=layers, mixer=mixer, feed_forward=ffn, num_norm_params=2 * hidden)
    return Architecture(
        name="literal",
        model_type="literal",
        hidden_size=hidden,
        vocab_size=vocab,
        blocks=(block,),
        num_input_embedding_params=vocab * hidden,
        head=linear("lm_head", hidden, vocab, "head", split="column"),
        num_final_norm_params=hidden,
    )


LLAMA = model(gqa(4096, 32, 8, 128), dense(4096, 14336), layers=32, hidden=4096, vocab=128256)
DEEPSEEK = model(
    mla(
        7168,
        128,
        q_lora_rank=1536,
        kv_lora_rank=512,
        qk_nope_head_dim=128,
        qk_rope_head_dim=64,
        v_head_dim=128,
    ),
    moe(7168, 256, 8, 2048, shared_size=2048),
    layers=61,
    hidden=7168,
    vocab=129280,
)


def named(
    arch: Architecture, step: Step, layout: Layout | None = None, **options: object
) -> dict[str, Operation]:
    ops = operations(arch, step, Precision.of(arch), layout, **options)  # type: ignore[arg-type]
    return {op.name: op for op in ops}


def test_decode_of_an_8b_model_by_hand() -> None:
    ops = named(LLAMA, Step(batch=8, context=4096))
    qkv = ops["q/k/v_proj"]
    # m = 8, n = 32·128 + 2·8·128 = 6,144, k = 4,096.
    assert dict(qkv.shape) == {"m": 8, "n": 6144, "k": 4096}
    assert qkv.flop == 2 * 8 * 6144 * 4096
    assert qkv.weight_bytes == 6144 * 4096 * 2
    assert qkv.activation_bytes == 8 * (4096 + 6144) * 2
    assert qkv.count == 32
    # 4 · 32 heads · 128 · 4,097 visible tokens, 8 sequences.
    assert ops["attention"].flop == 8 * 4 * 32 * 128 * 4097
    assert ops["attention"].state_read_bytes == 8 * 4096 * 4096
    assert ops["attention"].state_write_bytes == 8 * 4096
    # One logit row per sequence in decode.
    assert ops["lm_head"].flop == 2 * 8 * 128256 * 4096


def test_prefill_needs_logits_of_the_last_token_only() -> None:
    ops = named(LLAMA, Step(batch=2, new_tokens=1000))
    assert ops["down_proj"].shape["m"] == 2000
    assert ops["lm_head"].shape["m"] == 2
    assert ops["attention"].flop == 2 * 4 * 32 * 128 * 500_500
    assert named(LLAMA, Step(batch=2, new_tokens=4))["lm_head"].shape["m"] == 8


def test_matrices_with_one_input_run_as_one() -> None:
    names = list(named(DEEPSEEK, Step(batch=1)))
    assert "q_a_proj+kv_a_proj_with_mqa" in names
    assert "shared_expert.gate/up_proj" in names
    assert "experts.gate/up_proj" in names
    assert joined_name(["q_proj", "k_proj", "v_proj"]) == "q/k/v_proj"
    assert joined_name(["a", "b_proj"]) == "a+b_proj"


def test_decode_absorbs_the_latent_projection_and_prefill_expands_it() -> None:
    decode = named(DEEPSEEK, Step(batch=1, context=4999))
    # 2·128·(2·512 + 64) FLOP per pair, on 5,000 visible latents.
    assert decode["attention"].flop == 2 * 128 * 1088 * 5000
    assert decode["kv_b_proj"].shape["m"] == 1
    assert decode["attention"].state_read_bytes == 4999 * 576 * 2
    # Per head: nope query in, latent query out; latent output in, value out (bf16).
    assert decode["kv_b_proj"].activation_bytes == 128 * (128 + 512 + 512 + 128) * 2
    # Latent queries with their rotary part, latent outputs, and the token's own latent.
    assert decode["attention"].activation_bytes == (128 * (576 + 512) + 576) * 2
    prefill = named(DEEPSEEK, Step(batch=1, new_tokens=1000))
    # 2·128·(128 + 64 + 128) FLOP per pair.
    assert prefill["attention"].flop == 2 * 128 * 320 * 500_500
    assert prefill["kv_b_proj"].shape["m"] == 1000
    assert prefill["kv_b_proj"].activation_bytes == 1000 * (512 + 128 * 256) * 2
    # Queries, outputs, and the expanded keys and values; the latent with the rotary key once.
    assert prefill["attention"].activation_bytes == 1000 * (128 * (320 + 256) + 576) * 2
    # A long chunk over a long cache expands the cache again; a short one does not.
    chunk = named(DEEPSEEK, Step(batch=1, new_tokens=512, context=8192))
    assert chunk["kv_b_proj"].shape["m"] == 8704
    verify = named(DEEPSEEK, Step(batch=1, new_tokens=4, context=8192))
    assert verify["kv_b_proj"].shape["m"] == 4


def test_sparse_selection_caps_attention_but_not_the_indexer() -> None:
    indexer = Indexer(num_heads=64, head_dim=128, top_k=2048, key_dim=128)
    core = DEEPSEEK.blocks[0].mixer.cores[0]
    assert isinstance(core, LatentAttention)
    mixer = replace(DEEPSEEK.blocks[0].mixer, cores=(replace(core, indexer=indexer),))
    arch = replace(DEEPSEEK, blocks=(replace(DEEPSEEK.blocks[0], mixer=mixer),))
    ops = named(arch, Step(batch=1, context=99_999))
    assert ops["attention"].flop == 2 * 128 * 1088 * 2048
    assert ops["attention"].family == "sparse_attention"
    assert ops["indexer"].flop == 2 * 64 * 129 * 100_000
    assert ops["indexer"].state_read_bytes == 99_999 * 128 * 2
    assert ops["indexer"].state_write_bytes == 128 * 2


def test_experts_read_are_those_a_batch_is_expected_to_touch() -> None:
    ops = named(DEEPSEEK, Step(batch=8, context=0))
    up = ops["experts.gate/up_proj"]
    touched = 256 * (1 - (1 - 8 / 256) ** 8)
    assert up.weight_bytes == pytest.approx(touched * 2 * 7168 * 2048 * 2)
    assert up.flop == 8 * 8 * 2 * 2 * 7168 * 2048
    assert up.shape["tokens_per_expert"] == pytest.approx(64 / touched)


def test_wide_expert_parallel_decode_with_data_parallel_attention() -> None:
    # 144 devices, 88 sequences each: 88 rows in attention, 88·8 expert rows, 256/144 experts.
    ops = named(DEEPSEEK, Step(batch=144 * 88, context=5000), Layout(ep=144, dp=144))
    assert ops["q_b_proj"].shape["m"] == 88
    assert ops["experts.down_proj"].shape["m"] == 704
    assert ops["experts.down_proj"].shape["num_groups"] == pytest.approx(256 / 144)
    dispatch = ops["experts.dispatch"].message
    assert dispatch is not None
    assert (dispatch.kind, dispatch.group, dispatch.axis) == ("all_to_all", 144, "ep")
    assert dispatch.payload_bytes == 88 * 8 * 7168 * 2
    assert "mixer.all_reduce" not in ops


def test_expert_parallel_inside_tensor_parallel_needs_no_dispatch() -> None:
    ops = named(DEEPSEEK, Step(batch=64, context=0), Layout(tp=8, ep=8))
    assert "experts.dispatch" not in ops
    reduce = ops["ffn.all_reduce"].message
    assert reduce is not None
    assert (reduce.payload_bytes, reduce.group, reduce.axis) == (64 * 7168 * 2, 8, "tp")
    # Each device holds 32 whole experts and an eighth of the pairs.
    assert ops["experts.down_proj"].flop == 64 * 2 * 7168 * 2048


def test_experts_cut_over_data_parallel_groups_gather_tokens_first() -> None:
    ops = named(DEEPSEEK, Step(batch=64, context=0), Layout(dp=4))
    gather = ops["experts.gather"].message
    assert gather is not None
    assert (gather.kind, gather.payload_bytes, gather.group) == ("all_gather", 16 * 7168 * 2, 4)
    # Every device does a quarter of each expert for all 64 tokens.
    assert ops["experts.down_proj"].shape["m"] == 512
    assert ops["experts.down_proj"].shape["k"] == 512


def test_redundant_experts_and_imbalance() -> None:
    step = Step(batch=10**6, context=0)
    layout = Layout(ep=32, dp=32, num_redundant_experts=32)
    ops = named(DEEPSEEK, step, layout)
    assert ops["experts.down_proj"].shape["num_groups"] == pytest.approx(9)
    busy = named(DEEPSEEK, step, layout, imbalance=lambda *_: 1.5)
    assert busy["experts.down_proj"].flop == 1.5 * ops["experts.down_proj"].flop


def test_dispatch_follows_eight_bit_experts_and_combine_stays_wide() -> None:
    """DeepSeek-V3: 8 · 7168 · (1 + 2) B per token and layer; weight-only formats send bf16."""
    layout, step = Layout(ep=144, dp=144), Step(batch=144, context=0)
    sent: dict[str, float] = {}
    for dtype in ("fp8_block", "nvfp4", "int4"):
        precision = Precision.of(DEEPSEEK, dtype=dtype)
        ops = {op.name: op for op in operations(DEEPSEEK, step, precision, layout)}
        out, back = ops["experts.dispatch"].message, ops["experts.combine"].message
        assert out is not None
        assert back is not None
        assert back.payload_bytes == 8 * 7168 * 2
        sent[dtype] = float(out.payload_bytes) / (8 * 7168)
    assert sent == {"fp8_block": 1.0, "nvfp4": 0.5, "int4": 2.0}


def test_the_busiest_rank_reads_at_least_one_expert() -> None:
    """One token, 8 of 256 experts on 144 ranks: the mean rank reads 8/144, the busiest one 1."""
    ops = named(
        DEEPSEEK,
        Step(batch=1, context=0),
        Layout(ep=64, dp=64),
        imbalance=expert_imbalance(),
    )
    touched = ops["experts.down_proj"].shape["num_groups"]
    assert 1 <= touched < 2
    everywhere = named(
        DEEPSEEK, Step(batch=10**7), Layout(ep=64, dp=64), imbalance=expert_imbalance()
    )
    assert everywhere["experts.down_proj"].shape["num_groups"] == 4


def test_kv_projections_replicate_beyond_the_kv_heads() -> None:
    ops = named(LLAMA, Step(batch=1, context=1000), Layout(tp=16))
    # 4,096/16 query columns and one KV head (2 · 128) on each device.
    assert ops["q/k/v_proj"].shape["n"] == 256 + 256
    assert ops["attention"].state_read_bytes == 1000 * 4096 / 8
    assert ops["o_proj"].shape["k"] == 256


def test_context_parallel_moves_queries_in_decode_and_keys_in_prefill() -> None:
    decode = named(LLAMA, Step(batch=4, context=100_000), Layout(cp=4))["context.gather"].message
    prefill = named(LLAMA, Step(batch=4, new_tokens=100_000), Layout(cp=4))["context.gather"]
    assert decode is not None
    assert prefill.message is not None
    # Queries and outputs of one sequence: 32 · 256 · 2 B. Keys and values: 8 · 256 · 2 B a token.
    assert decode.payload_bytes == 32 * 256 * 2
    assert prefill.message.payload_bytes == 100_000 * 8 * 256 * 2


def test_stages_share_the_layers_and_only_the_ends_hold_embedding_and_head() -> None:
    assert [sum(n for _, n in stage_blocks(LLAMA, 5, s)) for s in range(5)] == [6, 6, 7, 6, 7]
    first = named(LLAMA, Step(batch=1), Layout(pp=4), stage=0)
    last = named(LLAMA, Step(batch=1), Layout(pp=4), stage=3)
    average = named(LLAMA, Step(batch=1), Layout(pp=4))
    assert (first["embed_tokens"].count, first["lm_head"].count) == (1, 0)
    assert (last["lm_head"].count, last["stage.send"].count) == (1, 0)
    assert first["o_proj"].count == average["o_proj"].count == 8
    assert average["stage.send"].count == 3 / 4
    with pytest.raises(InputError, match="stage must be from 0 to pp - 1"):
        named(LLAMA, Step(batch=1), Layout(pp=4), stage=4)


def test_cross_attention_projects_its_source_once() -> None:
    mixer = Mixer(
        kind="cross",
        linears=(
            linear("q_proj", 64, 64, split="column"),
            linear("k_proj", 64, 32, split="kv", state_only=True),
            linear("o_proj", 64, 64, split="row"),
        ),
        cores=(CrossAttention(num_heads=4, num_kv_heads=2, head_dim=16, num_source_tokens=100),),
    )
    arch = model(mixer, dense(64, 128), layers=1, hidden=64, vocab=100)
    start, later = named(arch, Step(batch=2, new_tokens=5)), named(arch, Step(batch=2, context=5))
    assert start["k_proj"].shape["m"] == 200
    assert later["k_proj"].shape["m"] == 0
    assert later["attention"].flop == 2 * 2 * 4 * 32 * 100
    assert later["attention"].state_read_bytes == 2 * 100 * 2 * 2 * 16 * 2


def test_experts_without_weights_take_their_share_of_the_choices() -> None:
    ffn = moe(64, 8, 2, 32, num_zero_experts=8)
    arch = model(gqa(64, 4, 4, 16), ffn, layers=1, hidden=64, vocab=100)
    ops = named(arch, Step(batch=10, context=0))
    # Half of 10 · 2 choices: 10 rows of 2 · 32 · 64 FLOP.
    assert ops["experts.down_proj"].flop == 10 * 2 * 32 * 64


def test_arrays_of_degrees_give_arrays_of_groups() -> None:
    ops = named(LLAMA, Step(batch=1), Layout(tp=np.array([1, 2, 4])))
    message = ops["mixer.all_reduce"].message
    assert message is not None
    assert np.asarray(message.group).tolist() == [1, 2, 4]
