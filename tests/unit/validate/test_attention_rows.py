"""Attention cores of published rows, by pencil."""

import pytest

from ridgeline.validate.predict_kernels import kernel_batches
from ridgeline.validate.truth_rows import TruthRow


def _row(metric: str, head_dim: str, **cells: str) -> TruthRow:
    return TruthRow(
        file="f",
        id="1",
        area="kernel",
        model="",
        chip="H800 SXM",
        engine="FlashAttention-3",
        phase="",
        metric=metric,
        unit="us",
        value=1e6,
        scorable="Y",
        cells={"heads": "128", "head_dim": head_dim, "compute_dtype": "bf16", **cells},
    )


def test_prompts_of_mla_are_expanded():
    """128 heads of 128 + 64 query and 128 value columns, each pair of a causal triangle once."""
    ((batch,), _) = kernel_batches([_row("mla_prefill_latency", "128+64", seq_len="4096")])
    pairs = 4096 * 4097 / 2
    assert batch.family == "mla prefill"
    assert batch.flop == pytest.approx(2 * 128 * (128 + 64 + 128) * pairs, rel=1e-3)


def test_decode_of_mla_is_absorbed():
    """Every head multiplies latents of 512 + 64, and sums latents of 512."""
    rows = [_row("mla_decode_latency", "512+64", kv_len="8192", batch="64")]
    ((batch,), _) = kernel_batches(rows)
    assert batch.family == "mla decode"
    assert batch.flop == pytest.approx(2 * 128 * (2 * 512 + 64) * 8192 * 64, rel=1e-3)
