"""A name that promises a narrow format is checked against the config."""

from ridgeline.readers.hf import read_config
from small_configs import SMALL

LLAMA = {"model_type": "llama", **SMALL["llama"]}


def test_name_and_config_disagree():
    """Read as bf16 with a flag; no flag where the config says how it is stored."""
    told = read_config(LLAMA, name="someone/Llama-FP8")
    assert any("says FP8" in flag for flag in told.flags)
    stored = {**LLAMA, "quantization_config": {"quant_method": "fp8"}}
    assert not any("the name says" in f for f in read_config(stored, name="x/Llama-FP8").flags)
    assert not any("the name says" in f for f in read_config(LLAMA, name="x/Llama-8B").flags)
