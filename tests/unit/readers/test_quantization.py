"""Storage formats from quantization_config, section by section as checkpoints write them."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ridgeline.errors import RidgelineError
from ridgeline.model.formats import format_named
from ridgeline.readers.quantization import storage_formats

MOE = {
    "dtype": "bfloat16",
    "num_hidden_layers": 4,
    "n_routed_experts": 8,
    "first_k_dense_replace": 1,
}
DENSE = {"torch_dtype": "float16", "num_hidden_layers": 4}


def formats(shape: dict[str, Any], **section: Any) -> dict[str, str]:
    found = storage_formats({**shape, "quantization_config": section})
    return {
        **dict.fromkeys(("attention", "ffn", "expert", "embedding", "head"), found.weight_format),
        **dict(found.weight_formats),
    }


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8_block"),
        (
            {"quant_method": "fp8", "weight_block_size": [128, 128], "scale_fmt": "ue8m0"},
            "fp8_block_ue8m0",
        ),
        ({"quant_method": "fp8", "activation_scheme": "static"}, "fp8_static"),
        ({"quant_method": "fbgemm_fp8"}, "fp8_channel"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128}, "gptq4_g128"),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1}, "gptq8_channel"),
        ({"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": True}, "awq4_g64"),
        ({"quant_method": "auto-round", "bits": 4, "group_size": 128}, "gptq4_g128"),
        (
            {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": 1},
            "bnb_nf4",
        ),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "bnb_nf4_single"),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8"),
        (
            {
                "quant_method": "hqq",
                "quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 64}},
            },
            "hqq4_g64",
        ),
        ({"quant_method": "eetq"}, "int8_a16"),
        ({"quant_method": "quanto", "weights": "int8"}, "int8_a16"),
        ({"quant_method": "fp_quant", "forward_dtype": "mxfp4"}, "mxfp4_a4"),
        ({"quant_method": "bitnet"}, "ternary"),
        ({"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}, "nvfp4"),
        ({"quant_method": "modelopt", "quantization": {"quant_algo": "FP8"}}, "fp8_static"),
        (
            {
                "quant_method": "torchao",
                "quant_type": {
                    "default": {"_type": "Int4WeightOnlyConfig", "_data": {"group_size": 64}}
                },
            },
            "int4_g64_zp",
        ),
        ({"quant_method": "exl2", "bits": 4.25}, "4.25bpw_fp16"),
        ({"quant_method": "aqlm", "in_group_size": 8, "num_codebooks": 1}, "2bpw_bf16"),
    ],
)
def test_methods(section: dict[str, Any], expected: str) -> None:
    """The feed-forward gets the format; the embedding stays in 16 bits."""
    found = formats(DENSE, **section)
    assert found["ffn"] == expected
    assert found["embedding"] == "fp16"
    assert format_named(expected).id == expected


@pytest.mark.parametrize(
    ("weights", "acts", "expected"),
    [
        ({"num_bits": 8, "type": "float", "strategy": "channel"}, {"num_bits": 8}, "fp8_channel"),
        ({"num_bits": 8, "type": "float", "strategy": "block"}, {"num_bits": 8}, "fp8_block"),
        ({"num_bits": 8, "type": "int", "strategy": "channel"}, {"num_bits": 8}, "int8"),
        ({"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32}, None, "int4_g32"),
        (
            {"num_bits": 4, "type": "int", "group_size": 128, "symmetric": False},
            None,
            "int4_g128_zp",
        ),
        ({"num_bits": 4, "type": "float", "group_size": 16}, {"num_bits": 4}, "nvfp4"),
        ({"num_bits": 4, "type": "float", "group_size": 16}, None, "nvfp4_a16"),
        ({"num_bits": 4, "type": "float", "group_size": 32}, None, "mxfp4"),
        (
            {"num_bits": 4, "type": "int", "group_size": 128},
            {"num_bits": 8, "type": "float"},
            "w4afp8",
        ),
    ],
)
def test_compressed_tensors(weights: Any, acts: Any, expected: str) -> None:
    group = {"targets": ["Linear"], "weights": weights, "input_activations": acts}
    section = {
        "quant_method": "compressed-tensors",
        "config_groups": {"group_0": group},
        "ignore": ["lm_head"],
    }
    found = formats(DENSE, **section)
    assert (found["attention"], found["ffn"], found["head"]) == (expected, expected, "fp16")


def test_two_groups_with_targets() -> None:
    """Attention in FP8 and experts in NVFP4, each by its targets."""
    fp8 = {"num_bits": 8, "type": "float", "strategy": "channel"}
    fp4 = {"num_bits": 4, "type": "float", "group_size": 16}
    groups = {
        "a": {"targets": ["re:.*self_attn.*"], "weights": fp8, "input_activations": fp8},
        "b": {"targets": ["re:.*experts.*"], "weights": fp4, "input_activations": fp4},
    }
    found = formats(MOE, quant_method="compressed-tensors", config_groups=groups)
    assert found["attention"] == "fp8_channel"
    assert found["expert"] == "nvfp4"
    assert found["ffn"] == "bf16"


def test_ignored_layers_are_counted() -> None:
    """Attention is out in 4 of 4 layers; experts in 1 of 3, which only earns a flag."""
    ignore = [f"model.layers.{i}.self_attn*" for i in range(4)] + ["model.layers.3.mlp.experts*"]
    found = storage_formats(
        {
            **MOE,
            "quantization_config": {
                "quant_method": "modelopt",
                "quant_algo": "NVFP4",
                "ignore": [*ignore, "mtp.layers.0*", "re:.*vision.*"],
            },
        }
    )
    assert found.weight_format == "nvfp4"
    assert dict(found.weight_formats)["attention"] == "bf16"
    assert any("1 of 3 expert layers" in flag for flag in found.flags)


def test_experts_in_fp4_beside_fp8() -> None:
    section = {"quant_method": "fp8", "weight_block_size": [128, 128], "scale_fmt": "ue8m0"}
    found = storage_formats({**MOE, "expert_dtype": "fp4", "quantization_config": section})
    assert found.weight_format == "mxfp4_a8"
    assert dict(found.weight_formats)["attention"] == "fp8_block_ue8m0"


def test_gpt_oss_quantises_experts_only() -> None:
    found = formats(MOE, quant_method="mxfp4", modules_to_not_convert=["lm_head"])
    assert (found["expert"], found["attention"], found["head"]) == ("mxfp4", "bf16", "bf16")


@pytest.mark.parametrize(
    "section",
    [
        {"quant_method": "no_such_method"},
        {"quant_method": "no_such_method", "bits": 3},
        {"quant_method": "modelopt", "quant_algo": "FP3"},
        {"quant_method": "fp8", "weight_block_size": [0, "x"]},
        {"quant_method": "fp8", "ignore": ["re:^(?!.*experts).*"]},
        {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": "gone"},
    ],
)
def test_what_is_not_understood_is_flagged(section: dict[str, Any]) -> None:
    found = storage_formats({**DENSE, "quantization_config": section})
    assert any(flag.startswith("assumed:") for flag in found.flags)


def test_cache_format() -> None:
    scheme = {"num_bits": 8, "type": "float", "dynamic": False}
    for section in ({"kv_cache_scheme": scheme}, {"kv_cache_quant_algo": "FP8"}):
        config = {**DENSE, "quantization_config": {"quant_algo": "FP8", **section}}
        assert storage_formats(config).kv_format == "fp8"


_KEYS = st.sampled_from(
    ["quant_method", "quant_algo", "bits", "group_size", "config_groups", "weights", "targets",
     "ignore", "num_bits", "type", "strategy", "input_activations", "quantization", "dtype",
     "weight_block_size", "kv_cache_scheme", "quantized_layers", "modules_to_not_convert",
     "global_quant_config", "layer_quant_config", "weight", "quant_config", "moe_quant_algo",
     "weight_quant_params", "nbits", "in_group_size", "num_codebooks", "quant_type", "text_config"]
)  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=6),
    max_leaves=20,
)
_METHODS = st.sampled_from(
    ["fp8", "gptq", "awq", "auto-round", "bitsandbytes", "hqq", "aqlm", "torchao", "quanto",
     "quark", "eetq", "mxfp4", "fp_quant", "fouroversix", "exl2", "spqr", "modelopt", "x", ""]
)  # fmt: skip


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(_KEYS, _JSON, max_size=8), _METHODS)
def test_any_section_reads_or_is_refused(section: dict[str, Any], method: str) -> None:
    """No traceback: a known format for every class, or a RidgelineError."""
    config = {**MOE, "quantization_config": {**section, "quant_method": method}}
    try:
        found = storage_formats(config)
    except RidgelineError:
        return
    for form in (found.weight_format, *(f for _, f in found.weight_formats)):
        assert format_named(form).bits_per_weight > 0
