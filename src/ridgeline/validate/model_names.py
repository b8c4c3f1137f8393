"""Free text such as `DeepSeek-R1-0528 (671B-A37B)` becomes an architecture and its formats."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from ridgeline.catalog import Catalog
from ridgeline.errors import UnknownNameError
from ridgeline.model.architecture import Architecture
from ridgeline.model.formats import format_named
from ridgeline.readers import read_config
from ridgeline.study.resolve import resolve_model

PUBLISHED_CONFIGS: dict[str, dict[str, Any]] = {
    # Scao et al. 2022, BLOOM, arXiv:2211.05100, table 3.
    "bloom-176b": {
        "model_type": "bloom", "architectures": ["BloomForCausalLM"], "hidden_size": 14336,
        "n_layer": 70, "n_head": 112, "vocab_size": 250880,
    },
    # Brown et al. 2020, GPT-3, arXiv:2005.14165, table 2.1; 13B with the width of its releases.
    "gpt-13b": {
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 5120,
        "n_layer": 40, "n_head": 40, "vocab_size": 50257, "n_positions": 2048,
    },
    "gpt-3-175b": {
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 12288,
        "n_layer": 96, "n_head": 96, "vocab_size": 50257, "n_positions": 2048,
    },
    # Touvron et al. 2023, Llama 2, arXiv:2307.09288; config of meta-llama/Llama-2-13b-hf.
    "llama-2-13b": {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 5120,
        "num_hidden_layers": 40, "num_attention_heads": 40, "num_key_value_heads": 40,
        "intermediate_size": 13824, "vocab_size": 32000, "tie_word_embeddings": False,
    },
    # Touvron et al. 2023, LLaMA, arXiv:2302.13971, table 2.
    "llama-7b": {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
        "intermediate_size": 11008, "vocab_size": 32000, "tie_word_embeddings": False,
    },
    "llama-13b": {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 5120,
        "num_hidden_layers": 40, "num_attention_heads": 40, "num_key_value_heads": 40,
        "intermediate_size": 13824, "vocab_size": 32000, "tie_word_embeddings": False,
    },
    "llama-65b": {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 8192,
        "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 64,
        "intermediate_size": 22016, "vocab_size": 32000, "tie_word_embeddings": False,
    },
    # Zhang et al. 2022, OPT, arXiv:2205.01068, table 1.
    "opt-13b": {
        "model_type": "opt", "architectures": ["OPTForCausalLM"], "hidden_size": 5120,
        "num_hidden_layers": 40, "num_attention_heads": 40, "ffn_dim": 20480,
        "vocab_size": 50272, "max_position_embeddings": 2048, "word_embed_proj_dim": 5120,
    },
    "opt-66b": {
        "model_type": "opt", "architectures": ["OPTForCausalLM"], "hidden_size": 9216,
        "num_hidden_layers": 64, "num_attention_heads": 72, "ffn_dim": 36864,
        "vocab_size": 50272, "max_position_embeddings": 2048, "word_embed_proj_dim": 9216,
    },
    # Bai et al. 2023, Qwen, arXiv:2309.16609, table 1; its feed-forward halves its config's width.
    "qwen-7b": {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
        "intermediate_size": 11008, "vocab_size": 151936, "tie_word_embeddings": False,
    },
    "qwen-72b": {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 8192,
        "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 64,
        "intermediate_size": 24576, "vocab_size": 152064, "tie_word_embeddings": False,
    },
}  # fmt: skip
"""Models that people measured and the catalogue lacks, by name."""

_NOISE_TEXT = """
instruct chat base hf it fp8 fp4 nvfp4 mxfp4 bf16 fp16 awq gptq preview thinking model gguf q4 q8
q5 q6 q4_0 q8_0 q4_k_m f16 int4 int8 meta openai nvidia 0528 2507 the hermes static pertensor dense
moe dev
"""
_NOISE = frozenset(_NOISE_TEXT.split())


@functools.cache
def find_model(text: str) -> str:
    """Return the catalogue's name of the model that free text names.

    Versions (3.1, v3, r1, m2.5) and sizes (70b) must agree; the shortest name that says
    everything wins. A size that only the text states is ignored when one model is left.

    Raises:
        UnknownNameError: nothing in the catalogue matches.
    """
    names = [*Catalog().entries("models"), *PUBLISHED_CONFIGS]
    wanted = _words(text)
    best: tuple[float, str] | None = None
    for name in names:
        score = _score(wanted, _words(name))
        if score is not None:
            rank = (score - len(name) / 1000 + (0.5 if _plain(name) else 0.0), name)
            best = rank if best is None or rank > best else best
    if best is None:
        raise UnknownNameError("model", text, names, list_command="ridgeline list models")
    return best[1]


@functools.cache
def architecture_named(name: str) -> Architecture:
    """Return the architecture of a name that `find_model` returned."""
    if name in PUBLISHED_CONFIGS:
        return read_config(PUBLISHED_CONFIGS[name], name=name)
    return resolve_model(name)


def _words(text: str) -> frozenset[str]:
    low = re.sub(r"^[a-z\-]+/", "", text.lower().split(",")[0])
    low = re.sub(r"\bi?q\d(_\w+)?\b", " ", low).replace("_", "-")
    low = re.sub(r"\+(?=\W|$)", " plus", low)
    words: set[str] = set()
    for word in set(re.split(r"[^a-z0-9.]+", low)) - _NOISE:
        # qwen3.5 is qwen 3.5; v3, r1, m2.5 and k2 stay whole.
        parts = re.fullmatch(r"([a-z]{3,})(\d[\d.]*)", word)
        words |= set(parts.groups()) if parts else {word}
    return frozenset(
        w for w in words - {""} if not re.fullmatch(r"\d+(\.\d+)?(gib|gb)|\d{4}|q\d.*|\d+e", w)
    )


def _plain(name: str) -> bool:
    """Whether a name is that of the unquantised checkpoint."""
    return not re.search(r"fp8|fp4|awq|gptq|int4", name)


_SIZE = re.compile(r"(?:a?\d+(?:\.\d+)?(?:b|m)|\d+x\d+b)")
_VERSION = re.compile(r"[vrmk]?\d+(?:\.\d+)*")
_VARIANT_TEXT = """
mini nano micro tiny small medium large lite flash air plus max ultra super coder code math vl omni
next scout maverick distill linear pro vision text
"""
_VARIANTS = frozenset(_VARIANT_TEXT.split())
"""Words that make another model."""


def _score(wanted: frozenset[str], own: frozenset[str]) -> float | None:
    """Return how well a name fits; None where a word contradicts."""
    if not {w for w in own if w.isalpha()} & wanted - _VARIANTS:
        return None
    # A coder or text variant has the architecture of its base of the same size.
    differ = (own ^ wanted) & _VARIANTS
    if differ and ((own - wanted) & _VARIANTS or not differ <= {"coder", "code"}):
        return None
    size, own_size = _kind(wanted, _SIZE), _kind(own, _SIZE)
    if size and own_size and not own_size <= size and not size <= own_size:
        return None
    version, own_version = _kind(wanted, _VERSION), _kind(own, _VERSION)
    if version and not version & own_version:
        return None
    # Releases of one architecture (v0.1, v0.3) need not be named.
    if not version and any(not w.startswith("v0") for w in own_version):
        return None
    return 2.0 * len(own & wanted) - 1.0 * len(own - wanted) - 0.5 * len(wanted - own)


def _kind(words: frozenset[str], pattern: re.Pattern[str]) -> frozenset[str]:
    return frozenset(w for w in words if pattern.fullmatch(w))


@dataclass(frozen=True, slots=True, kw_only=True)
class Formats:
    """What the weights and the cache of a run were kept in."""

    dtype: str | None
    """None: the checkpoint's own formats."""
    kv_dtype: str | None
    per_class: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()


_PLAIN_WORDS = {"bf16": "bf16", "bfloat16": "bf16", "fp16": "fp16", "f16": "fp16", "half": "fp16",
                "float16": "fp16", "fp32": "fp32", "f32": "fp32"}  # fmt: skip
_CLASS_OF_BITS = (("fp4", 6.0), ("fp8", 12.0), ("bf16", 99.0))


def _width(bits: float) -> str:
    return next(word for word, most in _CLASS_OF_BITS if bits < most)


@functools.cache
def formats_of(model: str, w_dtype: str, kv_dtype: str) -> tuple[str, Formats]:
    """Return the checkpoint to take and its formats, from a model and words for its dtype.

    A published checkpoint in the asked format (`...-nvfp4`, `...-fp8`) decides by tensor class
    where the catalogue has one; a model published in that format is left as it is; else the
    word's format is put on projections and experts, as quantised checkpoints are published.

    Raises:
        UnknownNameError: no such format.
    """
    word = re.split(r"[ ,(/]", w_dtype.strip().lower())[0] if w_dtype else ""
    kv = _kv_word(kv_dtype)
    asked = {"nvfp4": "fp4", "mxfp4": "fp4", "mxfp8": "fp8"}.get(word, word)
    if asked not in ("fp4", "fp8"):
        return model, Formats(dtype=_PLAIN_WORDS.get(word, word) or None, kv_dtype=kv)
    for name in (model, f"{_stem(model)}-{'nvfp4' if asked == 'fp4' else 'fp8'}"):
        if name in Catalog().entries("models"):
            own = format_named(architecture_named(name).weight_format)
            if _width(own.bits_per_weight) == asked:
                return name, Formats(dtype=None, kv_dtype=kv)
    flag = f"formats: {word} on projections and experts, no published checkpoint in the catalogue"
    routed = any(b.feed_forward.experts for b in architecture_named(model).blocks)
    if asked == "fp4":
        # Published nvfp4 mixtures keep attention in 16 bits.
        attention = (("attention", "bf16"),) if routed else ()
        return model, Formats(dtype="nvfp4", kv_dtype=kv, per_class=attention, flags=(flag,))
    return model, Formats(dtype="fp8_block" if routed else "fp8", kv_dtype=kv, flags=(flag,))


def _stem(model: str) -> str:
    return re.sub(r"-(nvfp4|fp8|fp4|bf16)$", "", model)


def _kv_word(text: str) -> str | None:
    low = text.strip().lower()
    return None if not low else _PLAIN_WORDS.get(low, low)
