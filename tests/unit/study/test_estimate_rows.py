"""What an estimate says when nothing fits."""

import numpy as np
import pytest

from ridgeline.study.estimate import estimate


def test_too_big_names_what_is_lacking():
    """70.55e9 bf16 weights are 141.1 GB; 0.9 of 80 GiB (85.9 GB) is usable: two devices hold it."""
    (words,) = [f for f in estimate("llama-3.3-70b", on="h100-sxm").flags if "not fit" in f]
    assert words.startswith("does not fit: batch 1 at 4,097 tokens needs 144 GB per device")
    assert "(largest part: weights); at least 2 such devices hold it" in words


@pytest.mark.parametrize(("layout", "fits"), [({"devices": 1}, False), ({"tp": 2}, True)])
def test_silent_once_a_row_fits(layout, fits):
    result = estimate("llama-3.3-70b", on="hgx-h100-8", batch="1,4096", **layout)
    assert bool(result.rows["fits"].any()) is fits
    assert any("does not fit" in f for f in result.flags) is not fits


def test_upper_edge_of_the_boards_lines_is_its_step():
    rows = estimate(
        "llama-3.1-70b", on="hgx-h100-8", tp=8, batch=[1, 64, 4096], context=[1024, 65536]
    ).rows
    reads = rows["chalk_weight_s"] + rows["chalk_state_s"]
    assert rows["chalk_step_s"] == pytest.approx(np.maximum(rows["chalk_compute_s"], reads))
    # 70.6e9 weights of 2 bytes over 8 x 3.35 TB/s
    assert rows["chalk_weight_s"] == pytest.approx(70.6e9 * 2 / (8 * 3.35e12), rel=0.002)
