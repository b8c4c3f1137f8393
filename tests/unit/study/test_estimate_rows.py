"""What an estimate says when nothing fits."""

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
