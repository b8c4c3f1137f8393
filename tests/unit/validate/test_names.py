"""Free text becomes catalogue entries by rules."""

import pytest

from ridgeline.errors import UnknownNameError
from ridgeline.validate.chip_names import find_chip
from ridgeline.validate.model_names import find_model, formats_of
from ridgeline.validate.set_up import engine_of


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ("H100 SXM 80GB NVLink", "h100-sxm"),
        ("NVIDIA A100-SXM4-40GB", "a100-sxm-40"),
        ("A100 PCIe 80GB (1935 GB/s)", "a100-pcie-80"),
        ("GB200 NVL72 (per GPU 186GB)", "gb200"),
        ("H800 SXM, NVLink ~160 GB/s, CX7 400 Gb/s", "h800-sxm"),
        ("RTX PRO 6000 Blackwell WS 1792 GB/s at 500 W", "rtx-pro-6000"),
        ("TPU v4 (275 TF bf16, 32 GiB 1.2 TB/s)", "tpu-v4"),
        ("Apple M2 Ultra 192GB (800 GB/s)", "m2-ultra"),
        ("AMD Instinct MI300X", "mi300x"),
        ("4090 24GB (1008 GB/s)", "rtx-4090"),
    ],
)
def test_chips(text, device):
    assert find_chip(text).device.id == device


def test_unknown_chip_with_a_bandwidth_is_scaled_from_a_sibling():
    """448/936 of an RTX 3090's 71 TFLOP/s."""
    chip = find_chip("3070 8GB (448 GB/s)")
    assert not chip.in_catalog
    assert chip.device.memory.bandwidth_bytes_per_s == 448e9
    assert chip.device.memory.capacity_bytes == 8e9
    assert chip.device.peak_flop_per_s["bf16"] == pytest.approx(71e12 * 448 / 936)
    assert "rtx-3090" in chip.flags[0]


def test_unknown_chip_without_a_bandwidth_is_refused():
    with pytest.raises(UnknownNameError, match="No device 'Foo 9'"):
        find_chip("Foo 9")


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("DeepSeek-R1-0528 (671B-A37B)", "deepseek-r1"),
        ("DeepSeek-V3/R1 671B-A37B", "deepseek-v3"),
        ("meta-llama/Llama-2-7b-hf", "llama-2-7b-hf"),
        ("LLAMA3.1_405B", "meta-llama-3.1-405b"),
        ("gpt-oss-20b MXFP4", "gpt-oss-20b"),
        ("Qwen3-Coder-30B-A3B Q8_0", "qwen3-30b-a3b"),
        ("MiniMax-M2.5", "minimax-m2.5-nvfp4"),
        ("BLOOM-176B", "bloom-176b"),
        ("Mixtral-8x7B", "mixtral-8x7b-v0.1"),
    ],
)
def test_models(text, model):
    assert find_model(text) == model


@pytest.mark.parametrize("text", ["phi-4", "Qwen-72B", "GPT 1.7B", "schedule identity"])
def test_another_version_or_size_is_not_taken(text):
    with pytest.raises(UnknownNameError):
        find_model(text)


def test_formats():
    assert formats_of("gpt-oss-120b", "fp4", "")[1].dtype is None
    assert formats_of("qwen3-30b-a3b", "fp8", "")[0] == "qwen3-30b-a3b-fp8"
    name, formats = formats_of("deepseek-r1", "nvfp4", "fp8")
    assert (name, formats.dtype, formats.kv_dtype) == ("deepseek-r1", "nvfp4", "fp8")
    assert dict(formats.per_class) == {"attention": "bf16"}
    assert formats_of("meta-llama-3-8b", "F16", "")[1].dtype == "fp16"


def test_engines():
    assert engine_of("vLLM 0.2.x era (Splitwise, ISCA 2024)") == "vllm-0.2"
    assert engine_of("vLLM 0.19.1 FA3") == "vllm"
    assert engine_of("dynamo-trt nvcr.io/x:0.8.1") == "trtllm"
    assert engine_of("llama.cpp (May 2024), CUDA or Metal") == "llamacpp-2024"
    assert engine_of("something else") == "ideal"
