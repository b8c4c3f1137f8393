"""What a deployment says about itself."""

import pytest

from ridgeline.study.deploy import copies_flags, deploy


@pytest.mark.parametrize(
    ("model", "degrees", "words"),
    [
        ("deepseek-v3", {"tp": 8, "ep": 8}, "the latent cache is kept 8 times"),
        ("llama-3.1-8b", {"tp": 16}, "(--tp 8 --dp 2) keeps it once"),
        ("llama-3.1-8b", {"tp": 8}, ""),
        ("deepseek-v3", {"dp": 8, "ep": 8}, ""),
    ],
)
def test_cache_that_is_kept_more_than_once_is_said(model, degrees, words):
    """Llama 3.1 8B has 8 KV heads; a latent is one head, which tp cannot split."""
    size = degrees.get("tp", 1) * degrees.get("dp", 1)
    flags = copies_flags(deploy(model, on="hgx-h100-8", devices=size, degrees=degrees))
    assert bool(flags) == bool(words)
    assert words in "".join(flags)
