"""Bytes of a written file of each format's real layout equal `storage_bytes`.

Layouts as the quantisers store them: AutoGPTQ, AutoAWQ, compressed-tensors, ModelOpt, gpt-oss,
DeepSeek, bitsandbytes, HQQ, MLX. Weight of [out, in] = [512, 1024] unless the layout says more.
"""

from pathlib import Path

import pytest

from ridgeline.model.formats import storage_bytes
from ridgeline.readers.safetensors import read_safetensors

torch = pytest.importorskip("torch")
save_file = pytest.importorskip("safetensors.torch").save_file

OUT, IN = 512, 1024
I32, I64, U8, F16, BF16, F32 = (
    torch.int32, torch.int64, torch.uint8, torch.float16, torch.bfloat16, torch.float32,
)  # fmt: skip
FP8, UE8M0 = torch.float8_e4m3fn, torch.float8_e8m0fnu

LAYOUTS = {
    # format: tensors, and bytes that are not part of the format (whole-tensor metadata)
    "fp32": ({"w": ((OUT, IN), F32)}, 0),
    "bf16": ({"w": ((OUT, IN), BF16)}, 0),
    "fp8": ({"w": ((OUT, IN), FP8), "weight_scale": ((), F32)}, 0),
    "fp8_static": (
        {"w": ((OUT, IN), FP8), "weight_scale": ((), F32), "input_scale": ((), F32)},
        0,
    ),
    "fp8_channel": ({"w": ((OUT, IN), FP8), "weight_scale": ((OUT, 1), F32)}, 0),
    "fp8_block": ({"w": ((OUT, IN), FP8), "weight_scale_inv": ((4, 8), F32)}, 0),
    "fp8_block_ue8m0": ({"w": ((OUT, IN), FP8), "scale": ((4, 8), UE8M0)}, 0),
    "mxfp8": ({"w": ((OUT, IN), FP8), "weight_scale": ((OUT, IN // 32), U8)}, 0),
    "mxfp4": ({"blocks": ((OUT, IN // 32, 16), U8), "scales": ((OUT, IN // 32), U8)}, 0),
    "mxfp4_a8": ({"w": ((OUT, IN // 2), torch.int8), "scale": ((OUT, IN // 32), UE8M0)}, 0),
    "nvfp4": (
        {
            "w": ((OUT, IN // 2), U8),
            "weight_scale": ((OUT, IN // 16), FP8),
            "weight_scale_2": ((), F32),
            "input_scale": ((), F32),
        },
        0,
    ),
    "int8": ({"w": ((OUT, IN), torch.int8), "weight_scale": ((OUT, 1), F32)}, 0),
    "int4_g128": (
        {
            "weight_packed": ((OUT, IN // 8), I32),
            "weight_scale": ((OUT, IN // 128), BF16),
            "weight_shape": ((2,), I64),
        },
        16,
    ),
    "int4_g128_zp": (
        {
            "weight_packed": ((OUT, IN // 8), I32),
            "weight_scale": ((OUT, IN // 128), BF16),
            "weight_zero_point": ((OUT // 8, IN // 128), I32),
            "weight_shape": ((2,), I64),
        },
        16,
    ),
    "gptq4_g128": (
        {
            "qweight": ((IN // 8, OUT), I32),
            "qzeros": ((IN // 128, OUT // 8), I32),
            "scales": ((IN // 128, OUT), F16),
            "g_idx": ((IN,), I32),
        },
        0,
    ),
    "gptq3_g128": (
        {
            "qweight": ((IN // 32 * 3, OUT), I32),
            "qzeros": ((IN // 128, OUT // 32 * 3), I32),
            "scales": ((IN // 128, OUT), F16),
            "g_idx": ((IN,), I32),
        },
        0,
    ),
    "awq4_g64": (
        {
            "qweight": ((IN, OUT // 8), I32),
            "qzeros": ((IN // 64, OUT // 8), I32),
            "scales": ((IN // 64, OUT), F16),
        },
        0,
    ),
    "bnb_nf4_single": (
        {"w": ((OUT * IN // 2, 1), U8), "absmax": ((OUT * IN // 64,), F32), "map": ((16,), F32)},
        64,
    ),
    "bnb_nf4": (
        {
            "w": ((OUT * IN // 2, 1), U8),
            "absmax": ((OUT * IN // 64,), U8),
            "nested_absmax": ((OUT * IN // 64 // 256,), F32),
            "map": ((16,), F32),
            "nested_map": ((256,), F32),
        },
        64 + 1024,
    ),
    "hqq4_g64": (
        {
            "W_q": ((32, OUT * IN // 64), U8),
            "scale": ((1, OUT * IN // 64), F16),
            "zero": ((1, OUT * IN // 64), F16),
        },
        0,
    ),
    "mlx4_g64": (
        {
            "weight": ((OUT, IN // 8), torch.uint32),
            "scales": ((OUT, IN // 64), BF16),
            "biases": ((OUT, IN // 64), BF16),
        },
        0,
    ),
    "ternary": ({"w": ((OUT // 4, IN), U8), "weight_scale": ((1,), BF16)}, 0),
}


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_written_file_has_the_bytes_of_the_format(tmp_path: Path, name: str) -> None:
    layout, metadata = LAYOUTS[name]
    tensors = {k: torch.zeros(shape, dtype=dtype) for k, (shape, dtype) in layout.items()}
    path = tmp_path / "w.safetensors"
    save_file(tensors, path)
    header = int.from_bytes(path.read_bytes()[:8], "little")
    data = path.stat().st_size - 8 - header
    assert read_safetensors(path).num_bytes == data
    assert storage_bytes(name, OUT * IN, (OUT, IN)) + metadata == data


def test_odd_shapes_of_block_scales(tmp_path: Path) -> None:
    """DeepSeek's kv_a_proj [576, 7168]: 4.5 rows of blocks make 5 rows of scales."""
    tensors = {
        "w": torch.zeros((576, 7168), dtype=FP8),
        "s": torch.zeros((5, 56), dtype=F32),
    }
    path = tmp_path / "w.safetensors"
    save_file(tensors, path)
    expected = read_safetensors(path).num_bytes
    assert storage_bytes("fp8_block", 576 * 7168, (576, 7168)) == expected
