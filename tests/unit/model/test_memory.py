from dataclasses import replace

import numpy as np
import pytest

from ridgeline.model.architecture import Architecture, Block
from ridgeline.model.build import dense, gqa, linear, moe
from ridgeline.model.layout import Layout
from ridgeline.model.memory import (
    activation_workspace_bytes,
    state_bytes_per_device,
    weight_bytes_per_device,
)
from ridgeline.model.precision import Precision

H, V = 64, 1000
ATTENTION = 64 * (64 + 2 * 32) + 64 * 64  # q, k, v and o of 4 heads, 2 KV heads of 16
DENSE = 3 * 64 * 128
NORMS = 2 * 64
ARCH = Architecture(
    name="m",
    model_type="m",
    hidden_size=H,
    vocab_size=V,
    blocks=(
        Block(count=5, mixer=gqa(H, 4, 2, 16), feed_forward=dense(H, 128), num_norm_params=NORMS),
    ),
    num_input_embedding_params=V * H,
    head=linear("lm_head", H, V, "head", split="column"),
    num_final_norm_params=H,
)
P = Precision.of(ARCH)


def test_one_device_holds_every_parameter() -> None:
    layer = ATTENTION + DENSE + NORMS
    assert weight_bytes_per_device(ARCH, P) == 2 * (5 * layer + 2 * V * H + H)


def test_a_tied_head_is_held_once_unless_the_ends_are_apart() -> None:
    tied = replace(ARCH, tie_word_embeddings=True)
    saved = weight_bytes_per_device(ARCH, P) - weight_bytes_per_device(tied, P)
    assert saved == 2 * V * H
    split = Layout(pp=5)
    assert weight_bytes_per_device(tied, P, split) == weight_bytes_per_device(ARCH, P, split)


def test_the_fullest_stage_has_a_whole_number_of_layers() -> None:
    # 5 layers on 2 stages: 3 of them, and the larger of embedding and head with the final norm.
    layer = ATTENTION + DENSE + NORMS
    held = weight_bytes_per_device(ARCH, P, Layout(pp=2))
    assert held == pytest.approx(2 * (3 * layer + V * H + H))


def test_the_heaviest_stage_counts_not_the_mean_one() -> None:
    # One layer of eight times the width, then four: stages of 2 and 3 layers.
    wide = replace(ARCH.blocks[0], count=1, feed_forward=dense(H, 1024))
    arch = replace(ARCH, blocks=(wide, replace(ARCH.blocks[0], count=4)))
    first = 2 * ATTENTION + 9 * DENSE + 2 * NORMS + V * H
    assert weight_bytes_per_device(arch, P, Layout(pp=2)) == 2 * first
    layer = ATTENTION + DENSE + NORMS
    whole = 5 * layer + 7 * DENSE + 2 * V * H + H
    both = weight_bytes_per_device(arch, P, Layout(pp=np.array([1, 2])))
    assert np.asarray(both).tolist() == [2 * whole, 2 * first]


def test_the_stage_with_the_full_attention_holds_the_most_cache() -> None:
    # Four layers look back 10 tokens, the last one 100; 128 B per token and layer.
    near = gqa(H, 4, 2, 16, window=10)
    blocks = (replace(ARCH.blocks[0], count=4, mixer=near), replace(ARCH.blocks[0], count=1))
    arch = replace(ARCH, blocks=blocks)
    window = state_bytes_per_device(replace(arch, blocks=blocks[:1]), 100, 1, P) / 4
    held = state_bytes_per_device(arch, 100, 1, P, Layout(pp=2))
    assert held == 2 * window + 12_800
    assert held > (4 * window + 12_800) * 3 / 5


def test_tensor_parallel_cuts_matrices_and_keeps_norms() -> None:
    # tp = 4 over 2 KV heads: k and v are halved, everything else is quartered.
    kv = 64 * 2 * 32
    layer = (ATTENTION - kv + DENSE) / 4 + kv / 2 + NORMS
    held = weight_bytes_per_device(ARCH, P, Layout(tp=4))
    assert held == pytest.approx(2 * (5 * layer + 2 * V * H / 4 + H))


def test_experts_are_spread_and_cut() -> None:
    block = replace(ARCH.blocks[0], feed_forward=moe(H, 8, 2, 32))
    arch = replace(ARCH, blocks=(block,))
    one = weight_bytes_per_device(arch, P)
    experts = 2 * 5 * 8 * 3 * 64 * 32
    assert one - weight_bytes_per_device(arch, P, Layout(dp=4, ep=4)) == experts * 3 / 4
    # Without expert parallelism each expert is cut over the same four devices.
    assert one - weight_bytes_per_device(arch, P, Layout(dp=4)) == experts * 3 / 4
    extra = Layout(dp=4, ep=4, num_redundant_experts=4)
    assert one - weight_bytes_per_device(arch, P, extra) == experts * (1 - 12 / 8 / 4)


def test_reused_weights_are_held_once() -> None:
    reused = replace(ARCH.blocks[0], count=3, shares_weights=True)
    arch = replace(ARCH, blocks=(*ARCH.blocks, reused))
    assert weight_bytes_per_device(arch, P) == weight_bytes_per_device(ARCH, P)


def test_state_of_the_fullest_device() -> None:
    # 2 · 2 heads · 16 · 2 B · 5 layers = 640 B per token; 7 sequences on 2 groups: 4.
    assert state_bytes_per_device(ARCH, 100, 7, P) == 7 * 64_000
    assert state_bytes_per_device(ARCH, 100, 7, P, Layout(dp=2)) == 4 * 64_000
    assert state_bytes_per_device(ARCH, 100, 7, P, Layout(tp=8)) == 7 * 32_000
    assert state_bytes_per_device(ARCH, 100, 1, P, Layout(pp=2)) == pytest.approx(64_000 * 3 / 5)


def test_workspace_follows_the_widest_layer() -> None:
    # Feed-forward: 2 · 128 produced and 128 consumed; 2 B · 10 tokens · (2 · 64 + 384), and
    # fp32 logits of 3 tokens.
    held = activation_workspace_bytes(ARCH, 10, P, logit_tokens=3)
    assert held == 2 * 10 * (128 + 384) + 4 * 3 * V
