"""GGUF file types such as Q4_K_M: which tensor of which layer is stored in which ggml type.

llama-quantize gives most tensors the base type and a few of them (values, down projections,
the head) a wider one, layer by layer. The rules are restated as data and applied to a model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ridgeline.errors import UnknownNameError
from ridgeline.model.architecture import Architecture, Block, Linear, WeightClass
from ridgeline.model.formats import FORMATS, format_named

Rule = tuple[Literal["all", "more", "eighth", "sixteenth", "middle", "two", "four", "gqa"], str]
"""Layers (see `_applies`) and the type they get; the first rule that applies wins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """The types of one GGUF file type by tensor; anything not named gets `base`."""

    base: str
    embedding: str = ""
    head: str = "q6_k"
    v: tuple[Rule, ...] = ()
    """attn_v."""
    qk: tuple[Rule, ...] = ()
    """attn_q and attn_k."""
    o: tuple[Rule, ...] = ()
    """attn_output."""
    qkv: tuple[Rule, ...] = ()
    """attn_qkv, where the projections are fused."""
    down: tuple[Rule, ...] = ()
    up: tuple[Rule, ...] = ()
    """ffn_gate and ffn_up."""
    eight: str = ""
    """attn_output of models with 8 experts."""


def _mixes() -> dict[str, Mix]:
    uniform = {n: Mix(base=n) for n in ("q4_0", "q4_1", "q5_0", "q5_1", "q6_k")}
    more6: tuple[Rule, ...] = (("more", "q6_k"),)
    return {
        **uniform,
        "q8_0": Mix(base="q8_0", head="q8_0"),
        "q3_k_s": Mix(base="q3_k", eight="q5_k"),
        "q5_k_s": Mix(base="q5_k"),
        "q2_k": Mix(
            base="q2_k", v=(("gqa", "q4_k"), ("all", "q3_k")), o=(("all", "q3_k"),),
            down=(("all", "q3_k"),), eight="q5_k",
        ),
        "q3_k_m": Mix(
            base="q3_k", v=(("two", "q5_k"), ("all", "q4_k")), o=(("all", "q4_k"),),
            qkv=(("all", "q4_k"),), down=(("sixteenth", "q5_k"), ("all", "q4_k")), eight="q5_k",
        ),
        "q3_k_l": Mix(
            base="q3_k", v=(("all", "q5_k"),), o=(("all", "q5_k"),), qkv=(("all", "q4_k"),),
            down=(("all", "q5_k"),),
        ),
        "q4_k_s": Mix(base="q4_k", v=(("four", "q5_k"),), down=(("eighth", "q5_k"),), eight="q5_k"),
        "q4_k_m": Mix(base="q4_k", v=more6, qkv=(("all", "q5_k"),), down=more6, eight="q5_k"),
        "q5_k_m": Mix(base="q5_k", v=more6, qkv=(("all", "q6_k"),), down=more6),
        "iq3_xs": Mix(
            base="iq3_s", v=(("gqa", "q4_k"),), qk=(("all", "iq3_xxs"),),
            up=(("middle", "iq3_xxs"),), eight="q5_k",
        ),
        "iq3_s": Mix(base="iq3_s", v=(("gqa", "q4_k"),), eight="q5_k"),
        "iq3_m": Mix(
            base="iq3_s", v=(("all", "q4_k"),), o=(("all", "q4_k"),), qkv=(("all", "q4_k"),),
            down=(("eighth", "q4_k"),), eight="q5_k",
        ),
        "iq4_xs": Mix(
            base="iq4_xs", v=(("gqa", "q5_k"),), down=(("eighth", "q5_k"),), eight="q5_k"
        ),
        "iq4_nl": Mix(
            base="iq4_nl", v=(("gqa", "q5_k"),), down=(("eighth", "q5_k"),), eight="q5_k"
        ),
    }  # fmt: skip


MIXES: dict[str, Mix] = _mixes()
"""GGUF file types by their lower-case names.

Source: llama.cpp, src/llama-quant.cpp, llama_tensor_get_type; sizes checked against the
Llama-2-7B table of tools/quantize/README.md and published files."""

_FALLBACK = {
    "q4_k": "q5_0", "q5_k": "q5_1", "q6_k": "q8_0",
    "q2_k": "iq4_nl", "q3_k": "iq4_nl", "iq3_s": "iq4_nl", "iq3_xxs": "iq4_nl", "iq4_xs": "iq4_nl",
}  # fmt: skip
"""Type used instead where a row is not a whole number of blocks."""


def _applies(rule: str, layer: int, depth: int, gqa: int) -> bool:
    """Whether a rule holds in `layer` of `depth`, as llama-quantize decides it."""
    eighth = depth // 8
    return {
        "all": True,
        "more": layer < eighth or layer >= 7 * depth // 8 or (layer - eighth) % 3 == 2,
        "eighth": layer < eighth,
        "sixteenth": layer < depth // 16,
        "middle": eighth <= layer < 7 * depth // 8,
        "two": layer < 2,
        "four": layer < 4,
        "gqa": gqa >= 4,
    }[rule]


def _group(block: Block) -> int:
    """Query heads per KV head of a block; 1 where it has none."""
    for core in block.mixer.cores:
        kv = getattr(core, "num_kv_heads", 0)
        if kv:
            return max(1, int(core.num_heads) // kv)
    return 1


def tensor_type(mix: Mix, linear: Linear, block: Block, layer: int, depth: int) -> str:
    """Return the ggml type of one matrix of one layer under `mix`.

    Source: llama.cpp, src/llama-quant.cpp, llama_tensor_get_type.
    """
    if linear.weight_class == "router":
        return "fp32"
    experts = block.feed_forward.experts
    eight = experts is not None and experts.num_experts == 8
    name, gqa, kind = linear.name, _group(block), mix.base
    rules = ()
    if linear.weight_class == "attention":
        fused = "qkv" in name
        rules = {"v_proj": mix.v, "q_proj": mix.qk, "k_proj": mix.qk, "o_proj": mix.o}.get(name, ())
        rules = mix.qkv if fused else rules
    elif "down" in name:
        rules = mix.down
    elif "gate" in name or "up" in name:
        rules = mix.up
    kind = next((to for rule, to in rules if _applies(rule, layer, depth, gqa)), kind)
    if name == "v_proj" and depth == 80 and gqa > 1 and kind in {"q3_k", "q4_k"}:
        kind = "q5_k"  # the 70B rule: eight heads share attn_v, so it is small
    if eight and name in {"v_proj", "k_proj"}:
        kind = "q8_0"
    if eight and name == "o_proj":
        kind = mix.eight or mix.base
    return whole_blocks(kind, linear.in_features)


def whole_blocks(kind: str, in_features: int) -> str:
    """Return `kind`, or the type llama-quantize falls back to for rows of partial blocks."""
    if in_features % FORMATS[kind].unit:
        kind = _FALLBACK.get(kind, kind)
    return kind if in_features % FORMATS[kind].unit == 0 else "fp16"


def _matrices(arch: Architecture, mix: Mix) -> Iterator[tuple[WeightClass, str, int]]:
    depth, layer = arch.num_layers, 0
    for block in arch.blocks:
        experts = block.feed_forward.experts
        routed = experts.linears if experts else ()
        for _ in range(block.count):
            for x in (*block.mixer.linears, *block.feed_forward.linears):
                yield x.weight_class, tensor_type(mix, x, block, layer, depth), x.num_weights
            for x in routed:
                number = experts.num_experts if experts else 0
                kind = tensor_type(mix, x, block, layer, depth)
                yield x.weight_class, kind, x.num_weights * number
            layer += 1
    head = whole_blocks(mix.head, arch.hidden_size)
    table = whole_blocks(mix.embedding or mix.base, arch.hidden_size)
    embedding = head if arch.tie_word_embeddings else table
    yield "embedding", embedding, arch.num_input_embedding_params
    if arch.head is not None:
        yield "head", head, arch.head.num_weights


def gguf_mix(name: str, arch: Architecture) -> tuple[str, tuple[tuple[WeightClass, str], ...]]:
    """Return the default format and the formats by weight class of a GGUF file type.

    A class stored in several types gets their average over its weights, `4.8512bpw`, so that
    its bytes are exact. Norms and other vectors are fp32 in GGUF files.

    Raises:
        UnknownNameError: not a GGUF file type.

    Source: llama.cpp, src/llama-quant.cpp.
    """
    key = name.lower()
    if key not in MIXES:
        raise UnknownNameError("GGUF file type", name, MIXES, list_command="ridgeline list formats")
    mix = MIXES[key]
    totals: dict[WeightClass, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for weight_class, kind, weights in _matrices(arch, mix):
        totals[weight_class][kind] += weights
    totals["norm"]["fp32"] += 1
    formats: dict[WeightClass, str] = {c: average_format(by_kind) for c, by_kind in totals.items()}
    return mix.base, tuple((c, f) for c, f in formats.items() if f != mix.base)


def formats_for(name: str, arch: Architecture) -> tuple[str, tuple[tuple[WeightClass, str], ...]]:
    """Return the default format and exceptions by class for a format or GGUF file type `name`.

    Raises:
        UnknownNameError: neither; carries the nearest names.

    Source: first principles.
    """
    key = name.strip().lower().replace("-", "_")
    return gguf_mix(key, arch) if key in MIXES else (format_named(key).id, ())


def average_format(weights_by_format: dict[str, int]) -> str:
    """Return the one format, or the average `x.xbpw` of weights stored in several.

    >>> average_format({"q4_k": 1000, "q6_k": 1000})
    '5.53125bpw'
    """
    kinds = {k: n for k, n in weights_by_format.items() if n}
    if len(kinds) <= 1:
        return next(iter(kinds or weights_by_format), "fp16")
    bits = sum(format_named(k).bits_per_weight * n for k, n in kinds.items())
    return f"{round(bits / sum(kinds.values()), 12):.12g}bpw"
