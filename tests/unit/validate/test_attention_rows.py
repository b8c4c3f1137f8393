"""Attention cores of published rows, by pencil."""

import pytest

from made_rows import made_row
from ridgeline.validate.predict_kernels import kernel_batches

CELLS = {"heads": "128", "compute_dtype": "bf16"}


def test_prompts_of_mla_are_expanded():
    """128 heads of 128 + 64 query and 128 value columns, each pair of a causal triangle once."""
    ((batch,), _) = kernel_batches(
        [made_row("mla_prefill_latency", head_dim="128+64", seq_len="4096", **CELLS)]
    )
    pairs = 4096 * 4097 / 2
    assert batch.family == "mla prefill"
    assert batch.flop == pytest.approx(2 * 128 * (128 + 64 + 128) * pairs, rel=1e-3)


def test_decode_of_mla_is_absorbed():
    """Every head multiplies latents of 512 + 64, and sums latents of 512."""
    rows = [made_row("mla_decode_latency", head_dim="512+64", kv_len="8192", batch="64", **CELLS)]
    ((batch,), _) = kernel_batches(rows)
    assert batch.family == "mla decode"
    assert batch.flop == pytest.approx(2 * 128 * (2 * 512 + 64) * 8192 * 64, rel=1e-3)
