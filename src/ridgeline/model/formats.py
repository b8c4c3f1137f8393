"""How a weight is stored: true bits with scales, exact bytes of a tensor, arithmetic format.

A tensor of [rows, cols] = [out_features, in_features] is stored as codes in whole `unit`s along
a row, plus one number per group of weights (scales, zero points, group indices).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ridgeline.errors import InputError, UnknownNameError


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """One extra number per `rows` × `cols` weights; partial groups have one of their own."""

    bits: float
    rows: int = 1
    """Rows (output features) that share it; 0: all of them."""
    cols: int = 0
    """Columns (input features) that share it; 0: all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageFormat:
    """One way to keep weights (or a cache) in memory and to multiply with them."""

    id: str
    code_bits: float
    """Bits of one stored weight; scales inside GGUF and bitsandbytes blocks are included."""
    compute_format: str
    """Arithmetic of the GEMM: key of Device.peak_flop_per_s."""
    source: str
    scales: tuple[Scale, ...] = ()
    unit: int = 1
    """Weights that are stored together: a packed byte or word, a GGUF block."""
    flat: bool = False
    """Units and groups run over the flattened tensor, not along rows (bitsandbytes)."""
    weights_only: bool = False
    """Weights are expanded to `compute_format` before the multiplication (W4A16 and the like)."""

    @property
    def bits_per_weight(self) -> float:
        """Bits of one weight of a large tensor, scales included [bit].

        Numbers shared by a whole row, column or tensor vanish and are left out.
        """
        return self.code_bits + sum(
            s.bits / (s.rows * s.cols) for s in self.scales if s.rows and s.cols
        )

    @property
    def bytes_per_weight(self) -> float:
        """Bytes of one weight of a large tensor, scales included [B]."""
        return self.bits_per_weight / 8


_OCP = "OCP Microscaling Formats (MX) v1.0, 2023: 32 elements share one E8M0 scale"
_IEEE = "IEEE 754-2019 and the bfloat16 definition: bits of one number"
_FP8 = "Micikevicius et al. 2022, arXiv:2209.05433: 8-bit codes"
_V3 = "DeepSeek-V3 report, arXiv:2412.19437, 3.3: weights in 128 x 128 blocks"
_NV = "NVIDIA Transformer Engine and ModelOpt: E2M1 codes, an E4M3 scale per 16, fp32 per tensor"
_CT = "compressed-tensors, format pack-quantized: int32 words and one 16-bit scale per group"
_GPTQ = "AutoGPTQ QuantLinear: qweight, qzeros, scales (fp16), g_idx (int32 per input feature)"
_AWQ = "AutoAWQ WQLinear_GEMM: qweight, qzeros, scales (fp16)"
_BNB = "Dettmers et al. 2023, arXiv:2305.14314, and bitsandbytes: an absmax per 64 weights"
_GGML = "ggml, ggml-common.h: size of one block struct"
_HQQ = "HQQLinear: packed codes, a 16-bit scale and zero point per group"
_MLX = "mlx.core.quantize: packed codes, a 16-bit scale and bias per group"


def _plain() -> list[StorageFormat]:
    bits = {"fp64": 64, "fp32": 32, "tf32": 32, "bf16": 16, "fp16": 16}
    compute = {"fp64": "fp64", "fp32": "fp32", "tf32": "tf32", "bf16": "bf16", "fp16": "fp16"}
    return [
        StorageFormat(id=k, code_bits=b, compute_format=compute[k], source=_IEEE)
        for k, b in bits.items()
    ]


def _eight_bit() -> list[StorageFormat]:
    def fp8(name: str, source: str, *scales: Scale, **more: Any) -> StorageFormat:
        fields: dict[str, Any] = {"compute_format": "fp8", "scales": scales, **more}
        return StorageFormat(id=name, code_bits=8, source=source, **fields)

    tensor, row = Scale(bits=32, rows=0), Scale(bits=32, rows=1)
    int8 = {"compute_format": "int8"}
    only = {"compute_format": "bf16", "weights_only": True}
    return [
        fp8("fp8", _FP8, tensor),
        fp8("fp8_static", _FP8 + "; a weight and an activation scale", tensor, tensor),
        fp8("fp8_channel", _FP8 + "; an fp32 scale per output channel", row),
        fp8("fp8_a16", _FP8 + "; activations stay in 16 bits", tensor, **only),
        fp8("fp8_block", _V3 + ", an fp32 scale each", Scale(bits=32, rows=128, cols=128)),
        fp8("fp8_block_ue8m0", _V3 + ", a one-byte scale", Scale(bits=8, rows=128, cols=128)),
        fp8("mxfp8", _OCP, Scale(bits=8, cols=32)),
        fp8("int8", "an fp32 scale per output channel, W8A8 (SmoothQuant, LLM.int8)", row, **int8),
        fp8("int8_tensor", "int8 codes and one fp32 scale per tensor", tensor, **int8),
        fp8("int8_a16", "an fp32 scale per output channel, W8A16", row, **only),
    ]


def _four_bit() -> list[StorageFormat]:
    def fp4(name: str, compute: str, source: str, *scales: Scale, bits: int = 4) -> StorageFormat:
        return StorageFormat(
            id=name,
            code_bits=bits,
            compute_format=compute,
            source=source,
            scales=scales,
            unit=2 if bits == 4 else 4,
            weights_only=compute == "bf16",
        )

    mx, micro = Scale(bits=8, cols=32), Scale(bits=8, cols=16)
    tensor = Scale(bits=32, rows=0)
    absmax = (Scale(bits=8, rows=1, cols=64), Scale(bits=32, rows=1, cols=64 * 256))
    bnb: dict[str, Any] = {
        "code_bits": 4, "compute_format": "bf16", "unit": 2, "flat": True, "weights_only": True,
    }  # fmt: skip
    single = (Scale(bits=32, rows=1, cols=64),)
    return [
        fp4("mxfp4", "bf16", _OCP + "; 16-bit activations", mx),
        fp4("mxfp4_a8", "fp8", _OCP + "; FP8 activations", mx),
        fp4("mxfp4_a4", "fp4", _OCP + "; FP4 activations", mx),
        fp4("mxfp6", "fp6", _OCP, mx, bits=6),
        fp4("nvfp4", "fp4", _NV + "; weight and activation scale", micro, tensor, tensor),
        fp4("nvfp4_a16", "bf16", _NV + "; 16-bit activations", micro, tensor),
        StorageFormat(id="bnb_nf4", source=_BNB + ", itself in 8 bits", scales=absmax, **bnb),
        StorageFormat(id="bnb_nf4_single", source=_BNB + " in fp32", scales=single, **bnb),
        StorageFormat(
            id="ternary",
            code_bits=2,
            compute_format="int8",
            source="BitNet b1.58, arXiv:2402.17764: four codes per byte, a scale per tensor",
            scales=(Scale(bits=16, rows=0),),
            unit=4,
        ),
    ]


def _grouped() -> list[StorageFormat]:
    """Integer codes of 2 to 8 bits with a 16-bit scale per group: W4A16 and its relatives."""

    def grouped(name: str, bits: int, compute: str, source: str, *scales: Scale) -> StorageFormat:
        return StorageFormat(
            id=name,
            code_bits=bits,
            compute_format=compute,
            source=source,
            scales=scales,
            weights_only=compute == "bf16",
        )

    formats: list[StorageFormat] = []
    for bits in (2, 3, 4, 5, 6, 8):
        for group in (0, 16, 32, 64, 128, 256):
            tail = f"{bits}_g{group}" if group else f"{bits}_channel"
            scale, zero = Scale(bits=16, cols=group), Scale(bits=bits, cols=group)
            index = Scale(bits=32, rows=0, cols=1)
            formats += [
                grouped(f"int{tail}", bits, "bf16", _CT, scale),
                grouped(f"int{tail}_zp", bits, "bf16", _CT + ", a zero point", scale, zero),
                grouped(f"gptq{tail}", bits, "bf16", _GPTQ, scale, zero, index),
                grouped(f"awq{tail}", bits, "bf16", _AWQ, scale, zero),
                grouped(f"hqq{tail}", bits, "bf16", _HQQ, scale, scale),
                grouped(f"mlx{tail}", bits, "fp16", _MLX, scale, scale),
            ]
    group = Scale(bits=16, cols=128)
    qserve = (Scale(bits=8, cols=128), Scale(bits=8, cols=128), Scale(bits=16))
    return [
        *formats,
        grouped("w4afp8", 4, "fp8", _CT + "; FP8 activations", group),
        grouped("w4a8", 4, "int8", "QServe, arXiv:2405.04532: two levels of scales", *qserve),
    ]


GGUF_TYPES: dict[int, tuple[str, int, int]] = {
    0: ("fp32", 1, 4), 1: ("fp16", 1, 2), 2: ("q4_0", 32, 18), 3: ("q4_1", 32, 20),
    6: ("q5_0", 32, 22), 7: ("q5_1", 32, 24), 8: ("q8_0", 32, 34), 9: ("q8_1", 32, 36),
    10: ("q2_k", 256, 84), 11: ("q3_k", 256, 110), 12: ("q4_k", 256, 144),
    13: ("q5_k", 256, 176), 14: ("q6_k", 256, 210), 15: ("q8_k", 256, 292),
    16: ("iq2_xxs", 256, 66), 17: ("iq2_xs", 256, 74), 18: ("iq3_xxs", 256, 98),
    19: ("iq1_s", 256, 50), 20: ("iq4_nl", 32, 18), 21: ("iq3_s", 256, 110),
    22: ("iq2_s", 256, 82), 23: ("iq4_xs", 256, 136), 24: ("i8", 1, 1), 25: ("i16", 1, 2),
    26: ("i32", 1, 4), 27: ("i64", 1, 8), 28: ("fp64", 1, 8), 29: ("iq1_m", 256, 56),
    30: ("bf16", 1, 2), 34: ("tq1_0", 256, 54), 35: ("tq2_0", 256, 66),
    39: ("gguf_mxfp4", 32, 17), 40: ("gguf_nvfp4", 64, 36), 41: ("q1_0", 128, 18),
}  # fmt: skip
"""ggml type number -> (format, weights per block, bytes per block). Source: ggml.h, ggml-common.h.

q8_1 and q8_k hold activations and are not found in files. Withdrawn: 4, 5, 31-33, 36-38."""


def _gguf() -> list[StorageFormat]:
    # llama.cpp multiplies 16-bit or re-quantised 8-bit activations with expanded weights; the
    # 16-bit rate is the one it is measured to approach in prefill.
    return [
        StorageFormat(
            id=name,
            code_bits=8 * size / block,
            compute_format="fp16",
            source=_GGML,
            unit=block,
            weights_only=True,
        )
        for name, block, size in GGUF_TYPES.values()
        if name not in {"fp32", "fp16", "bf16", "fp64"}
    ]


def _mixes() -> list[StorageFormat]:
    bits = {"q3_k_s": 3.50, "q3_k_m": 3.91, "q3_k_l": 4.27, "q4_k_s": 4.58, "q4_k_m": 4.84,
            "q5_k_s": 5.52, "q5_k_m": 5.68, "iq3_xs": 3.3, "iq3_m": 3.66}  # fmt: skip
    return [
        StorageFormat(
            id=name,
            code_bits=value,
            compute_format="fp16",
            source="llama.cpp, tools/quantize: average of Llama-2-7B; `model.mixes` is exact",
            weights_only=True,
        )
        for name, value in bits.items()
    ]


FORMATS: dict[str, StorageFormat] = {
    f.id: f for f in (*_plain(), *_eight_bit(), *_four_bit(), *_grouped(), *_gguf(), *_mixes())
}
"""Every storage format by id."""

ALIASES: dict[str, str] = {
    "auto": "bf16", "bfloat16": "bf16", "torch.bfloat16": "bf16",
    "half": "fp16", "float16": "fp16", "torch.float16": "fp16", "f16": "fp16",
    "float": "fp32", "float32": "fp32", "torch.float32": "fp32", "f32": "fp32",
    "double": "fp64", "float64": "fp64", "torch.float64": "fp64", "f64": "fp64",
    "fp8_e4m3": "fp8", "fp8_e5m2": "fp8", "e4m3": "fp8", "e5m2": "fp8",
    "float8_e4m3fn": "fp8", "float8_e5m2": "fp8", "float8": "fp8",
    "fp8_e4m3fn": "fp8", "f8_e4m3": "fp8", "f8_e5m2": "fp8", "fp8_inc": "fp8", "w8a8_fp8": "fp8",
    "torch.float8_e4m3fn": "fp8", "fp8_per_tensor": "fp8", "fp8_per_channel": "fp8_channel",
    "fp8_block_wise": "fp8_block", "fp8_blockwise": "fp8_block", "fp8_128x128": "fp8_block",
    "w8a8": "int8", "w8a16": "int8_a16", "w8a8_int8": "int8", "i8_tensor": "int8_tensor",
    "torch.int8": "int8", "bnb_int8": "int8", "llm_int8": "int8",
    "fp4": "nvfp4", "mxfp4_w4a16": "mxfp4", "mxfp4_moe": "mxfp4", "w4a16_mxfp4": "mxfp4",
    "w4a4": "nvfp4", "modelopt_fp4": "nvfp4",
    "int4": "int4_g128", "w4a16": "int4_g128", "w4": "int4_g128",
    "int3": "int3_g128", "int2": "int2_g128",
    "gptq": "gptq4_g128", "gptq_marlin": "gptq4_g128", "awq": "awq4_g128",
    "awq_marlin": "awq4_g128", "hqq": "hqq4_g64", "nf4": "bnb_nf4", "bnb": "bnb_nf4",
    "bitsandbytes": "bnb_nf4", "bitnet": "ternary", "mxfp4_gguf": "gguf_mxfp4",
}  # fmt: skip
"""Other names of the same formats, as engines and checkpoints write them."""

_EFFECTIVE = re.compile(r"^(\d{1,2}(?:\.\d{1,12})?)bpw(?:_([a-z0-9]+))?$")


def format_named(name: str) -> StorageFormat:
    """Return the storage format `name`, an id, an alias, or an average such as `4.85bpw`.

    An average (EXL2, a GGUF mix over one tensor class) computes in fp16 unless a suffix says
    otherwise (`4.25bpw_bf16`).

    Raises:
        UnknownNameError: no such format; carries the nearest names.
        InputError: an average of zero or more than 64 bits.

    >>> format_named("fp8_e4m3").id, format_named("q4_k").bits_per_weight
    ('fp8', 4.5)
    """
    key = name.strip().lower().replace("-", "_")
    key = ALIASES.get(key, key)
    if key in FORMATS:
        return FORMATS[key]
    average = _EFFECTIVE.match(key)
    if average is None:
        known = [k for k in (*FORMATS, *ALIASES) if "_channel" not in k or key.endswith("channel")]
        raise UnknownNameError("storage format", name, known, list_command="ridgeline list formats")
    bits = float(average.group(1))
    if not 0 < bits <= 64:
        raise InputError(f"Bits per weight must be above 0 and at most 64: {name!r}.")
    return StorageFormat(
        id=key,
        code_bits=bits,
        compute_format=average.group(2) or "fp16",
        source="an average over tensors of several formats, as stated by the file or the user",
        weights_only=True,
    )


def _ceil(count: Any, group: int) -> Any:
    """Return the number of groups that cover `count`; a group of 0 covers everything."""
    return -(-count // group) if group else 1


def storage_bytes(
    format_id: str | StorageFormat, num_elements: Any, shape: tuple[Any, ...] | None = None
) -> Any:
    """Return the bytes of a stored tensor, scales and padding included [B].

        rows · (⌈cols/unit⌉ · unit · code_bits + Σ ⌈rows/r⌉ · ⌈cols/c⌉ · bits) / 8

    Without a shape the tensor is taken as large: num_elements · bits_per_weight / 8. With one
    the result is exact, rounded up to whole bytes per tensor.

    Args:
        format_id: A format or the name of one.
        num_elements: Weights; float or array. Must be the product of `shape` if one is given.
        shape: [..., rows, cols] with input features last; leading axes are separate tensors,
            a single axis is one row. Entries may be arrays.

    Raises:
        UnknownNameError: no such format.
        InputError: no axes, or a product that is not `num_elements`.

    Source: first principles; the layout of each format is in its `source`.

    >>> storage_bytes("mxfp4", 2 * 64, (2, 64)), storage_bytes("q4_k", 1024)
    (68, 576.0)
    """
    form = format_named(format_id) if isinstance(format_id, str) else format_id
    if shape is None:
        return num_elements * (form.bits_per_weight / 8)
    if not shape:
        raise InputError("shape must have at least one axis: ().")
    cols, rows = shape[-1], shape[-2] if len(shape) > 1 else 1
    tensors = 1
    for axis in shape[:-2]:
        tensors = tensors * axis
    product = tensors * rows * cols
    if not _all(product == num_elements):
        raise InputError(f"shape must hold num_elements={num_elements} weights: {shape}.")
    if form.flat:
        rows, cols = 1, rows * cols
    bits = rows * _ceil(cols, form.unit) * form.unit * form.code_bits
    for s in form.scales:
        bits = bits + _ceil(rows, s.rows) * _ceil(cols, s.cols) * s.bits
    return tensors * _whole(-(-bits // 8))


def _all(truth: Any) -> bool:
    return bool(truth.all()) if hasattr(truth, "all") else bool(truth)


def _whole(value: Any) -> Any:
    return value.astype("int64") if hasattr(value, "astype") else int(value)
