"""What `--engine auto` stands for."""

import pytest

from ridgeline.study.deploy import deploy


@pytest.mark.parametrize(
    ("on", "dtype", "efficiency", "engine"),
    [
        ("h100-sxm", None, "calibrated", "vllm"),
        ("h100-sxm", None, "ideal", None),
        ("rtx-4090", "q4_k_m", "calibrated", "llamacpp"),
        ("m3-ultra", None, "calibrated", "llamacpp"),
        ("epyc-9755-2s", None, "calibrated", "llamacpp"),
        ("tpu-v5e", None, "calibrated", None),
    ],
)
def test_auto_follows_formats_and_devices(on, dtype, efficiency, engine):
    """GGUF, CPUs and Apple run llama.cpp; other GPUs vLLM; a bound and a TPU nothing."""
    question = {"on": on, "dtype": dtype, "efficiency": efficiency, "engine": "auto"}
    found = deploy("llama-3.1-8b", **question).engine
    assert (found.name if found else None) == engine
