"""FlashInfer's plans, by pencil on a device of 78 cores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_rows import made_row
from ridgeline.validate.flashinfer_plan import (
    grouped_query_growth,
    latent_growth,
    uses_matrix_units,
)
from ridgeline.validate.predict_kernels import kernel_batches

CORES = 78


def _growth(batch: float, context: float, heads: float, kv_heads: float) -> float:
    found = grouped_query_growth(
        np.array([batch]),
        np.array([context]),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=128,
        cores=CORES,
    )
    return float(found[0])


def test_blocks_come_in_whole_turns():
    # 64 sequences of 2 KV heads are 128 blocks: 2 turns where 1.64 are full.
    assert _growth(64, 8192, 128, 2) == pytest.approx(2 / (128 / 78))
    # 16 sequences are cut in 4 (two blocks per core for 2 KV heads: 78 // 16), again 128 blocks.
    assert _growth(16, 8192, 128, 2) == pytest.approx(2 / (128 / 78))
    # 1024 blocks: 14 turns where 13.1 are full.
    assert _growth(512, 8192, 128, 2) == pytest.approx(14 / (1024 / 78))


def test_queries_pad_to_a_tile():
    assert _growth(512, 8192, 16, 2) == pytest.approx(2 * 14 / (1024 / 78))
    assert _growth(512, 8192, 64, 2) == pytest.approx(2 * 14 / (1024 / 78))


def test_short_sequences_are_not_cut_below_a_chunk():
    # One sequence of 256 tokens: at most 2 pieces, 4 blocks on 78 cores.
    assert _growth(1, 256, 128, 2) == pytest.approx(78 / 4)


def test_latent_pieces_queue():
    batch, context = np.array([16.0, 256.0]), np.array([131072.0, 16384.0])
    found = latent_growth(batch, context, heads=128, cores=CORES)
    # 39 pairs: pieces of 54,016, 54,016 and 23,040 tokens; 9 of 48 queue behind a short one.
    assert found[0] == pytest.approx((54016 + 23040) / (16 * 131072 / 39))
    assert found[1] == pytest.approx(7 / (256 / 39))


def test_few_heads_fill_part_of_a_tile():
    found = latent_growth(np.array([78.0]), np.array([4096.0]), heads=16, cores=CORES)
    assert found[0] == pytest.approx(4)


@given(
    batch=st.integers(1, 600), context=st.integers(1, 200_000), heads=st.sampled_from([8, 16, 128])
)
def test_nothing_is_faster_than_even_work(batch, context, heads):
    shape = (np.array([float(batch)]), np.array([float(context)]))
    assert latent_growth(*shape, heads=heads, cores=CORES)[0] >= 1 - 1e-9
    assert _growth(batch, context, heads, 2) >= 1 - 1e-9


def test_which_kernels_multiply_on_matrix_units():
    assert uses_matrix_units(4, "fp8")
    assert uses_matrix_units(8, "bf16")
    assert not uses_matrix_units(4, "bf16")


@pytest.mark.parametrize(("engine", "grown"), [("FlashInfer", True), ("FlashAttention-3", False)])
def test_only_its_own_rows_are_dealt_so(engine, grown):
    cells = {"heads": "128", "kv_heads": "2", "head_dim": "128", "kv_len": "8192", "batch": "64"}
    row = made_row("mha_decode_latency", chip="H20 96GB", engine=engine, **cells)
    ((batch,), _) = kernel_batches([row])
    assert (float(np.max(batch.growth)) > 1.2) is grown
    assert batch.executed[0].flop == pytest.approx(batch.operations[0].flop * batch.growth)
