"""Counts against pencil and paper."""

import pytest

from ridgeline.model.architecture import Architecture, Block
from ridgeline.model.build import dense, gqa, linear, mla, moe
from ridgeline.model.build_recurrent import gated_delta_net, kda, lightning, mamba1, mamba2
from ridgeline.model.params import block_params, count_parameters, feed_forward_params, mixer_params


def test_gqa_by_hand() -> None:
    """Q and o: 2·64·64; k and v: 2·64·32; norms on q and k: 2·16; sinks: 4."""
    mixer = gqa(64, 4, 2, 16, qk_norm="head", sinks=True)
    assert mixer_params(mixer) == 2 * 64 * 64 + 2 * 64 * 32 + 32 + 4
    assert mixer.kind == "gqa"
    assert [x.split for x in mixer.linears] == ["column", "kv", "kv", "row"]


def test_shared_kv_has_no_projections() -> None:
    """A layer that reads an earlier cache has q and o alone, and one norm."""
    mixer = gqa(64, 4, 2, 16, qk_norm="head", stores_kv=False, shares_kv_weights=True)
    assert mixer_params(mixer) == 2 * 64 * 64 + 16


def test_mla_of_deepseek_v3() -> None:
    """187,107,328: arXiv:2412.19437 shapes, 7168·1536 + 1536·24576 + 7168·576 + 512·32768 + ..."""
    mixer = mla(
        7168, 128, q_lora_rank=1536, kv_lora_rank=512, qk_nope_head_dim=128,
        qk_rope_head_dim=64, v_head_dim=128,
    )  # fmt: skip
    by_hand = 7168 * 1536 + 1536 * 24576 + 7168 * 576 + 512 * 32768 + 16384 * 7168 + 1536 + 512
    assert mixer_params(mixer) == by_hand == 187_107_328


def test_moe_by_hand() -> None:
    """8 experts of 3·64·32, router 64·8, shared 3·64·48 with its gate of 64."""
    feed = moe(64, 8, 2, 32, shared_size=48, shared_gate=True)
    assert feed_forward_params(feed) == 8 * 3 * 64 * 32 + 64 * 8 + 3 * 64 * 48 + 64


def test_latent_width_routing() -> None:
    """Experts in width 16: down and up projections of 64·16 each, experts 2·16·32."""
    feed = moe(64, 4, 1, 32, gated=False, latent_size=16)
    assert feed_forward_params(feed) == 4 * 2 * 16 * 32 + 64 * 4 + 2 * 64 * 16


@pytest.mark.parametrize(
    ("mixer", "state"),
    [
        (mamba1(64, 128, 16, 4, 4), 128 * 16),
        (mamba2(64, 8, 16, 16, 2, 4), 128 * 16),
        (gated_delta_net(64, 2, 4, 16, 32, 4), 4 * 16 * 32),
        (kda(64, 4, 16, 4), 4 * 16 * 16),
        (lightning(64, 4, 16), 4 * 16 * 16),
    ],
    ids=["mamba1", "mamba2", "gdn", "kda", "lightning"],
)
def test_recurrent_state(mixer, state: int) -> None:
    """Heads x key width x value width, or channels x states."""
    assert mixer.cores[0].state_elements == state


def arch(*, tie: bool) -> Architecture:
    feed = moe(64, 8, 2, 32)
    blocks = (
        Block(count=1, mixer=gqa(64, 4, 2, 16), feed_forward=dense(64, 96), num_norm_params=128),
        Block(count=3, mixer=gqa(64, 4, 2, 16), feed_forward=feed, num_norm_params=128),
    )
    return Architecture(
        name="x", model_type="x", hidden_size=64, vocab_size=100, blocks=blocks,
        num_input_embedding_params=6400, head=linear("lm_head", 64, 100, "head"),
        tie_word_embeddings=tie, num_final_norm_params=64, num_multimodal_params=1000,
    )  # fmt: skip


def test_totals_and_active() -> None:
    """A token skips 6 of 8 experts in 3 layers; multimodal weights are not active for text."""
    counts = count_parameters(arch(tie=False))
    layers = block_params(arch(tie=False).blocks[0]) + 3 * block_params(arch(tie=False).blocks[1])
    assert counts.num_params == layers + 2 * 6400 + 64 + 1000
    assert counts.num_routed_params == 3 * 8 * 3 * 64 * 32
    assert counts.num_active_params == counts.num_text_params - 3 * 6 * 3 * 64 * 32
    assert counts.num_active_params_excluding_input_embedding == counts.num_active_params - 6400
    assert sum(counts.num_params_by_component.values()) == counts.num_params


def test_a_tied_table_is_counted_once_and_stays_active() -> None:
    """It still serves as head when the input embedding is left out."""
    counts = count_parameters(arch(tie=True))
    assert counts.num_params == count_parameters(arch(tie=False)).num_params - 6400
    assert counts.num_active_params_excluding_input_embedding == counts.num_active_params
