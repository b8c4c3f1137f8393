"""One storage format per quantisation scheme, from the keys that each quantiser writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from ridgeline.errors import InputError
from ridgeline.model.architecture import WeightClass
from ridgeline.model.formats import FORMATS, format_named
from ridgeline.readers.modules import selection

Settings = Mapping[str, Any]
Group = tuple[tuple[WeightClass, ...], str]
"""Weight classes (none: the method's default) and their format."""


def groups(settings: Settings, method: str, base: str, flags: list[str]) -> list[Group]:
    """Return the formats of a quantization_config, by the classes that they target."""
    config_groups = settings.get("config_groups")
    listed_experts = settings.get("moe_quant_algo")
    if isinstance(config_groups, Mapping) and config_groups and not listed_experts:
        entries = cast("Settings", config_groups).values()
        found = [_config_group(cast("Settings", e), flags) for e in entries if _is(e)]
        if found:
            return sorted(found, key=lambda group: -len(group[0]))
    try:
        form = _single(settings, method, base, flags)
    except InputError as error:
        flags.append(f"assumed: {method or 'quantisation'} not understood ({error})"[:160])
        form = base
    result: list[Group] = [((), form)]
    if method == "quark":
        result += _quark_layers(settings, flags)
    if isinstance(listed_experts, str):
        result.append((("expert",), _algo(listed_experts, settings, flags)))
    return result


def _single(settings: Settings, method: str, base: str, flags: list[str]) -> str:
    if is_mlx(settings):
        return _mlx(settings)
    if method in {"", "modelopt", "modelopt_fp4", "modelopt_mixed"} and "quant_algo" in settings:
        return modelopt(settings, flags, base)
    reader = _METHODS.get(method.replace("_", "-").split(":")[0])
    if reader is not None:
        return reader(settings, base, flags)
    bits = settings.get("bits", settings.get("num_bits"))
    if isinstance(bits, int | float) and not isinstance(bits, bool) and 0 < bits <= 16:
        form = _average(float(bits) + 16 / 128, "bf16")
        flags.append(f"assumed: unknown quant_method {method!r}, {bits} bits and a scale per 128")
        return form
    flags.append(f"assumed: unknown quant_method {method!r}, weights taken as {base}")
    return base


def is_mlx(settings: Settings) -> bool:
    """Whether the section is what mlx-lm writes: bits and group size, and no method."""
    keys = {"bits", "group_size"}
    return "quant_method" not in settings and "quant_algo" not in settings and keys <= set(settings)


def _is(value: Any) -> bool:
    return isinstance(value, Mapping)


def _count(value: Any, default: int = 0) -> int:
    """Return a small whole number; anything else is `default`."""
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 65536
    return value if good else default


def _average(bits: float, compute: str) -> str:
    return f"{round(bits, 9):.9g}bpw_{compute}"


def _grouped(family: str, bits: int, group: int) -> str:
    """Return `family`'s format of that many bits and that group size (-1 and 0: a channel)."""
    name = f"{family}{bits}_g{group}" if group > 0 else f"{family}{bits}_channel"
    if name in FORMATS:
        return name
    zeros = {"gptq": bits, "awq": bits, "hqq": 16, "mlx": 16}.get(family.rstrip("_"), 0)
    if not 1 <= bits <= 16:
        raise InputError(f"bits must be 1 to 16: {bits}.")
    return _average(bits + (16 + zeros) / group if group > 0 else bits, "bf16")


def _fp8(s: Settings, base: str, flags: list[str]) -> str:
    del base, flags
    block = s.get("weight_block_size")
    if isinstance(block, list) and block:
        sizes = [_count(x) for x in cast("list[Any]", block)]
        if sizes == [128, 128]:
            return "fp8_block_ue8m0" if s.get("scale_fmt") == "ue8m0" else "fp8_block"
        if sizes == [1, 32]:
            return "mxfp8"
        if len(sizes) != 2 or not all(sizes):
            raise InputError(f"weight_block_size must be two sizes: {str(sizes)[:40]}.")
        return _average(8 + 32 / (sizes[0] * sizes[1]), "fp8")
    return "fp8_static" if s.get("activation_scheme") == "static" else "fp8"


def _gptq(s: Settings, base: str, flags: list[str]) -> str:
    del base
    if s.get("dynamic"):
        flags.append("assumed: per-module `dynamic` rules of GPTQ are not followed")
    return _grouped("gptq", _count(s.get("bits"), 4), _group(s, 128))


def _awq(s: Settings, base: str, flags: list[str]) -> str:
    del base, flags
    bits = _count(s.get("bits", s.get("w_bit")), 4)
    return _grouped("awq" if s.get("zero_point", True) else "int", bits, _group(s, 128))


def _group(s: Settings, default: int) -> int:
    value = s.get("group_size", s.get("q_group_size"))
    return 0 if value == -1 else _count(value, default)


def _auto_round(s: Settings, base: str, flags: list[str]) -> str:
    if s.get("extra_config"):
        flags.append("assumed: per-module `extra_config` of AutoRound is not followed")
    kind = str(s.get("data_type", "int")).lower()
    if "nv_fp" in kind or "nvfp" in kind:
        return "nvfp4" if _count(s.get("act_bits"), 16) <= 8 else "nvfp4_a16"
    if "mx_fp" in kind or "mxfp" in kind:
        act = _count(s.get("act_bits"), 16)
        return (
            "mxfp8"
            if _count(s.get("bits"), 4) == 8
            else {4: "mxfp4_a4", 8: "mxfp4_a8"}.get(act, "mxfp4")
        )
    packing = str(s.get("packing_format", ""))
    return _awq(s, base, flags) if "awq" in packing else _gptq({**s, "dynamic": None}, base, flags)


def _bitsandbytes(s: Settings, base: str, flags: list[str]) -> str:
    del flags
    if s.get("load_in_4bit") or s.get("_load_in_4bit"):
        return "bnb_nf4" if s.get("bnb_4bit_use_double_quant") else "bnb_nf4_single"
    return "int8" if s.get("load_in_8bit") or s.get("_load_in_8bit") else base


def _hqq(s: Settings, base: str, flags: list[str]) -> str:
    del base
    entry = s
    for key in ("quant_config", "weight_quant_params"):
        inner = entry.get(key)
        entry = cast("Settings", inner) if isinstance(inner, Mapping) else entry
    if "nbits" not in entry:
        flags.append("assumed: HQQ names no bits for all layers, 4 bits in groups of 64")
    return _grouped("hqq", _count(entry.get("nbits"), 4), _group(entry, 64))


def _mlx(s: Settings) -> str:
    mode = str(s.get("mode", "affine")).lower()
    if mode in {"mxfp4", "mxfp8", "nvfp4"}:
        return {"mxfp4": "mxfp4", "mxfp8": "mxfp8", "nvfp4": "nvfp4_a16"}[mode]
    return _grouped("mlx", _count(s.get("bits"), 4), _group(s, 64))


def _bitnet(s: Settings, base: str, flags: list[str]) -> str:
    if s.get("quantization_mode") == "online":
        flags.append(f"BitNet master weights: stored in {base}, made ternary while loading")
        return base
    return "ternary"


def _aqlm(s: Settings, base: str, flags: list[str]) -> str:
    del base, flags
    group = _count(s.get("in_group_size"), 8) * _count(s.get("out_group_size"), 1)
    bits = _count(s.get("num_codebooks"), 1) * _count(s.get("nbits_per_codebook"), 16)
    if not group or not bits:
        raise InputError("in_group_size, out_group_size and the codebooks must be positive.")
    return _average(bits / group, "bf16")


def _torchao(s: Settings, base: str, flags: list[str]) -> str:
    kind: Any = s.get("quant_type")
    text = re.sub(r"[^a-z0-9]", "", str(kind).lower()[:2000])
    group = re.search(r"groupsize(\d{1,5})", text)
    if "int4weightonly" in text:
        return _grouped("int", 4, int(group.group(1)) if group else 128) + (
            "_zp" if f"int4_g{group.group(1) if group else 128}_zp" in FORMATS else ""
        )
    for word, form in (
        ("int8dynamicactivationint4", "4.5bpw_int8"), ("int8dynamicactivationint8", "int8"),
        ("int8weightonly", "int8_a16"), ("float8weightonly", "fp8_a16"),
        ("float8dynamicactivationint4", "w4afp8"), ("float8", "fp8_channel"), ("nvfp4", "nvfp4"),
        ("mxfp4", "mxfp4_a4"), ("mxfp8", "mxfp8"),
    ):  # fmt: skip
        if word in text:
            return form
    flags.append(f"assumed: torchao type {text[:40]!r} is unknown, weights taken as {base}")
    return base


def _fixed(form: str) -> Callable[[Settings, str, list[str]], str]:
    def read(s: Settings, base: str, flags: list[str]) -> str:
        del s, base, flags
        return form

    return read


def _quanto(s: Settings, base: str, flags: list[str]) -> str:
    del base, flags
    known = {
        "int8": "int8_a16",
        "float8": "fp8_a16",
        "int4": "int4_g128_zp",
        "int2": "int2_g128_zp",
    }
    name = str(s.get("weights", "int8")).removeprefix("q")
    if name not in known:
        raise InputError(f"weights must be one of {', '.join(known)}: {name[:40]!r}.")
    return known[name]


def _bits(compute: str, default: int, extra: float) -> Callable[[Settings, str, list[str]], str]:
    def read(s: Settings, base: str, flags: list[str]) -> str:
        del base, flags
        value = s.get("bits", s.get("nbits", s.get("num_bits", default)))
        number = float(value) if isinstance(value, int | float) else float(default)
        if not 0 < number <= 16:
            raise InputError(f"bits must be above 0 and at most 16: {number}.")
        return _average(number + extra, compute)

    return read


def _named(*keys: str) -> Callable[[Settings, str, list[str]], str]:
    def read(s: Settings, base: str, flags: list[str]) -> str:
        del base, flags
        name = next((str(s[k]) for k in keys if s.get(k)), "nvfp4")
        return {"mxfp4": "mxfp4_a4"}.get(name, format_named(name).id)

    return read


def modelopt(s: Settings, flags: list[str], base: str = "bf16") -> str:
    """Return the format of a ModelOpt entry (`quant_algo`, `group_size`)."""
    return _algo(str(s.get("quant_algo")), s, flags, base)


def _algo(name: str, s: Settings, flags: list[str], base: str = "bf16") -> str:
    group = _group(s, 128)
    known = {
        "FP8": "fp8_static", "FP8_PER_CHANNEL_PER_TOKEN": "fp8_channel", "FP8_PB_WO": "fp8_block",
        "FP8_PB_REAL": "fp8_block", "FP8_2D_BLOCKWISE_WEIGHT_ONLY": "fp8_block", "MXFP8": "mxfp8",
        "FP8_BLOCK_SCALES": "fp8_block", "NVFP4": "nvfp4", "NVFP4_AWQ": "nvfp4",
        "W4A16_NVFP4": "nvfp4_a16", "NVFP4_W4A16": "nvfp4_a16", "NVFP4_SVDQUANT": "nvfp4",
        "W4A8_NVFP4_FP8": "nvfp4", "INT8_SQ": "int8", "W8A8_SQ_PER_CHANNEL": "int8",
        "INT8": "int8", "W8A16": "int8_a16", "W4A8_AWQ": "w4afp8", "MXFP4": "mxfp4_a4",
        "W4A8_MXFP4_FP8": "mxfp4_a8", "W4A16_MXFP4": "mxfp4", "NONE": base,
    }  # fmt: skip
    upper = name.upper()
    if upper in {"W4A16_AWQ", "W4A16", "INT4_AWQ"}:
        return _grouped("int", 4, group)
    if upper == "MIXED_PRECISION":
        return base
    if upper not in known:
        flags.append(f"assumed: quant_algo {name[:40]!r} is unknown, weights taken as {base}")
    return known.get(upper, base)


def _config_group(entry: Settings, flags: list[str]) -> Group:
    """Return one group of compressed-tensors or ModelOpt: its targets and its format."""
    classes: dict[WeightClass, None] = {}
    targets: Any = entry.get("targets")
    for pattern in cast("list[Any]", targets) if isinstance(targets, list) else []:
        classes.update(dict.fromkeys(selection(str(pattern)).classes))
    weights, acts = entry.get("weights"), entry.get("input_activations")
    if not isinstance(weights, Mapping):
        flags.append("assumed: a config group without weights is left unquantised")
        return tuple(classes), "bf16"
    w = cast("Settings", weights)
    a = cast("Settings", acts) if isinstance(acts, Mapping) else None
    return tuple(classes), _compressed(w, a, flags)


def _compressed(w: Settings, a: Settings | None, flags: list[str]) -> str:
    """Return the format of weights `w` with activations `a` (None: 16 bits)."""
    bits, group = _count(w.get("num_bits"), 8), _group(w, 0)
    strategy = str(w.get("strategy") or ("group" if group else "tensor"))
    act_bits = _count(a.get("num_bits"), 16) if a else 16
    act_float = bool(a) and str((a or {}).get("type", "float")) == "float"
    if str(w.get("type", "int")) == "float":
        dynamic = bool((a or {}).get("dynamic", True))
        return _float(bits, group, strategy, act_bits, dynamic=dynamic)
    if bits == 8 and a:
        return "int8_tensor" if strategy == "tensor" else "int8"
    if act_bits == 8:
        if bits == 4 and act_float and group == 128:
            return "w4afp8"
        return _average(bits + (16 / group if group else 0), "fp8" if act_float else "int8")
    if a:
        flags.append(f"assumed: {act_bits}-bit activations of integer weights are taken as 16 bits")
    form = _grouped("int", bits, group)
    return form if w.get("symmetric", True) or f"{form}_zp" not in FORMATS else f"{form}_zp"


def _float(bits: int, group: int, strategy: str, act_bits: int, *, dynamic: bool) -> str:
    """Return the format of floating-point codes of 4 or 8 bits."""
    if bits == 4 and group == 32:
        return {4: "mxfp4_a4", 8: "mxfp4_a8"}.get(act_bits, "mxfp4")
    if bits == 4:
        return "nvfp4" if act_bits < 16 else "nvfp4_a16"
    if group == 32:
        return "mxfp8"
    if act_bits == 16:
        return "fp8_a16"
    named = {"block": "fp8_block", "channel": "fp8_channel"}
    return named.get(strategy, "fp8" if dynamic else "fp8_static")


def _quark_entry(entry: Settings, flags: list[str]) -> str:
    weight, act = entry.get("weight"), entry.get("input_tensors")
    if isinstance(weight, list):
        weight = cast("list[Any]", weight)[0] if weight else None
    if not isinstance(weight, Mapping):
        raise InputError("a Quark scheme must have a `weight` section.")
    w = cast("Settings", weight)
    kind, group = str(w.get("dtype")).lower(), _group(w, 0)
    scheme = str(w.get("qscheme", ""))
    bits = 8 if "8" in kind else 4
    strategy = "channel" if "channel" in scheme else "group" if group else "tensor"
    entry_w = {"num_bits": bits, "type": "float" if "fp" in kind else "int", "strategy": strategy,
               "group_size": group or None, "symmetric": w.get("symmetric", True)}  # fmt: skip
    a: Settings | None = None
    if isinstance(act, Mapping):
        t = str(cast("Settings", act).get("dtype")).lower()
        a = {"num_bits": 4 if "4" in t.replace("e4m3", "") else 8,
             "type": "float" if "fp" in t else "int",
             "dynamic": cast("Settings", act).get("is_dynamic", True)}  # fmt: skip
    return _compressed(entry_w, a, flags)


def _quark(s: Settings, base: str, flags: list[str]) -> str:
    entry = s.get("global_quant_config")
    if not isinstance(entry, Mapping):
        return base
    return _quark_entry(cast("Settings", entry), flags)


def _quark_layers(s: Settings, flags: list[str]) -> list[Group]:
    layers = s.get("layer_quant_config")
    if not isinstance(layers, Mapping):
        return []
    result: list[Group] = []
    for pattern, entry in cast("Settings", layers).items():
        classes = selection(str(pattern)).classes
        if classes and isinstance(entry, Mapping):
            try:
                result.append((classes, _quark_entry(cast("Settings", entry), flags)))
            except InputError:
                flags.append(f"assumed: Quark scheme of {str(pattern)[:60]!r} is not understood")
    return result


_METHODS: dict[str, Callable[[Settings, str, list[str]], str]] = {
    "fp8": _fp8, "gptq": _gptq, "gptq-marlin": _gptq, "awq": _awq, "auto-round": _auto_round,
    "intel/auto-round": _auto_round, "bitsandbytes": _bitsandbytes, "hqq": _hqq,
    "bitnet": _bitnet, "aqlm": _aqlm, "torchao": _torchao, "quanto": _quanto, "quark": _quark,
    "eetq": _fixed("int8_a16"), "fbgemm-fp8": _fixed("fp8_channel"), "mxfp4": _fixed("mxfp4"),
    "mxfp8": _fixed("mxfp8"), "nvfp4": _fixed("nvfp4"), "w8a8-int8": _fixed("int8"),
    "w8a8-fp8": _fixed("fp8_channel"), "w4afp8": _fixed("w4afp8"),
    "fp-quant": _named("forward_dtype"), "fouroversix": _named("weight_dtype", "dtype"),
    "higgs": _bits("bf16", 4, 16 / 256), "sinq": _bits("bf16", 4, 0.5),
    "metal": _bits("fp16", 4, 0.5),
    "exl2": _bits("fp16", 4, 0.0), "exl3": _bits("fp16", 4, 0.0), "spqr": _bits("bf16", 3, 0.9),
}  # fmt: skip
