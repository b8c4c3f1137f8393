"""Free text becomes catalogue entries by rules."""

import pytest

from ridgeline.errors import UnknownNameError
from ridgeline.model.params import count_parameters
from ridgeline.validate.chip_names import find_chip
from ridgeline.validate.model_names import architecture_named, find_model, formats_of
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
        ("Intel Xeon 6980P", "xeon-6980p-2s"),
        ("NVIDIA H20-3e 141GB (4.8 TB/s)", "h20-3e"),
        ("M1 (68 GB/s)", "m1"),
        ("M4 Pro 64GB", "m4-pro"),
        ("3080 10GB (760 GB/s)", "rtx-3080"),
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


@pytest.mark.parametrize("text", ["M1 Ultra Pro", "RTX 3090 Ti", "RTX 4090 Laptop", "M9"])
def test_a_relative_is_not_taken_for_the_chip(text):
    """Words like Ti or Laptop, and Pro, Max or Ultra of Apple, name another chip."""
    with pytest.raises(UnknownNameError):
        find_chip(text)
    assert not find_chip(f"{text} (777 GB/s)").in_catalog


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
        ("Llama 7B Q4_0", "llama-7b"),
        ("Llama-2-7B Q4_0 (3.56 GiB)", "llama-2-7b-hf"),
        ("GPT 13B (FasterTransformer)", "gpt-13b"),
        ("Qwen/Qwen-72B", "qwen-72b"),
    ],
)
def test_models(text, model):
    assert find_model(text) == model


@pytest.mark.parametrize(
    "text", ["phi-4", "Qwen-14B", "Command R+", "GPT 1.7B", "schedule identity"]
)
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


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("gpt-13b", 12.9), ("llama-7b", 6.74), ("llama-13b", 13.0), ("llama-65b", 65.3),
        ("opt-13b", 12.9), ("opt-66b", 65.7), ("qwen-7b", 7.72), ("qwen-72b", 72.3),
        ("bloom-176b", 176.2), ("gpt-3-175b", 174.6), ("llama-2-13b", 13.0),
    ],
)  # fmt: skip
def test_published_shapes_have_the_published_size(name, billions):
    """Parameters as the papers of the models state them."""
    count = count_parameters(architecture_named(name)).num_params
    assert count / 1e9 == pytest.approx(billions, rel=0.01)
