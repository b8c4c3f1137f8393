from dataclasses import replace

import numpy as np
import pytest

from ridgeline.model.architecture import (
    CompressedAttention,
    Core,
    CrossAttention,
    Indexer,
    LatentAttention,
    Recurrence,
    SoftmaxAttention,
)
from ridgeline.model.formats import format_named
from ridgeline.model.layout import Layout
from ridgeline.model.precision import Precision
from ridgeline.model.state import core_read_bytes, core_state_bytes, index_read_bytes

BF16 = format_named("bf16")
P = Precision(weights={}, kv=BF16, activation=BF16, attention_compute_format="bf16")
GQA = SoftmaxAttention(num_heads=32, num_kv_heads=8, qk_head_dim=128, v_head_dim=128)
MLA = LatentAttention(
    num_heads=128, kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128
)


def kept(core: Core, tokens: int, **degrees: int) -> float:
    return float(core_state_bytes(core, tokens, P, Layout(**degrees)))


def test_full_cache_is_keys_and_values_of_every_token() -> None:
    # 8 heads x (128 + 128) x 2 B = 4,096 B per token.
    assert kept(GQA, 1000) == 4_096_000


def test_latent_cache_is_one_vector_per_token() -> None:
    # (512 + 64) x 2 B = 1,152 B per token, whatever tp is; DeepSeek-V3: 61 layers, 70 KB.
    assert kept(MLA, 10) == kept(MLA, 10, tp=8) == 11_520


@pytest.mark.parametrize(("tp", "share"), [(1, 1), (4, 1 / 4), (8, 1 / 8), (16, 1 / 8)])
def test_kv_heads_split_and_then_replicate(tp: int, share: float) -> None:
    assert kept(GQA, 100, tp=tp) == 409_600 * share


def test_windows_keep_one_token_less_than_they_see() -> None:
    window = replace(GQA, window=128)
    assert kept(window, 100) == 100 * 4096
    assert kept(window, 5000) == 127 * 4096
    assert core_read_bytes(window, 5000, P) == 127 * 4096
    # A chunk of 128 that started at token 4,992: 8 tokens are still visible.
    assert core_read_bytes(replace(window, window_kind="chunked"), 5000, P) == 8 * 4096


def test_layers_that_share_a_cache_store_nothing_but_read_it() -> None:
    shared = replace(GQA, stores_kv=False)
    assert kept(shared, 100) == 0
    assert core_read_bytes(shared, 100, P) == 409_600


def test_one_tensor_for_keys_and_values_is_kept_once() -> None:
    assert kept(replace(GQA, stores_v=False), 10) == 20_480


def test_sparse_attention_reads_the_chosen_tokens_and_every_index_key() -> None:
    dsa = replace(MLA, indexer=Indexer(num_heads=64, head_dim=128, top_k=2048, key_dim=128))
    assert kept(dsa, 10_000) == 10_000 * (1152 + 256)
    assert core_read_bytes(dsa, 10_000, P) == 2048 * 1152
    assert core_read_bytes(dsa, 1000, P) == 1000 * 1152
    assert index_read_bytes(dsa, 10_000, P) == 2_560_000


def test_compressed_cache_counts_window_entries_and_what_waits() -> None:
    # 15 window tokens + ⌊42/8⌋ = 5 entries, of 64 x 2 B; 42 - 40 = 2 tokens wait as entry and
    # gate: 2 x 2 x 64 x 2 B = 512 B.
    hca = CompressedAttention(num_heads=8, head_dim=64, window=16, ratio=8)
    assert kept(hca, 42) == (15 + 5) * 128 + 512
    assert core_read_bytes(hca, 42, P) == 20 * 128


def test_recurrent_state_is_constant_and_splits_by_head() -> None:
    core = Recurrence(kind="mamba2", num_heads=8, state_elements=1000, conv_elements=100)
    # fp32 state, 16-bit convolution: 4,000 + 200 B.
    assert kept(core, 1) == kept(core, 10**6) == 4200
    assert kept(core, 1, tp=4) == 1050
    assert kept(core, 1, tp=16) == 4200 / 8


def test_cross_attention_keeps_its_source() -> None:
    core = CrossAttention(num_heads=8, num_kv_heads=2, head_dim=64, num_source_tokens=1000)
    assert kept(core, 1) == kept(core, 9999) == 1000 * 2 * 2 * 64 * 2


def test_lengths_may_be_arrays() -> None:
    tokens = np.array([0, 1, 200])
    value = core_state_bytes(replace(GQA, window=128), tokens, P)
    assert value.tolist() == [0, 4096, 127 * 4096]
