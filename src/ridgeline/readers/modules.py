"""Which part of a model a module or tensor name means: `model.layers.3.mlp.gate` is a router.

Names and patterns (globs, regular expressions) are read as text, in one pass and without ever
running a pattern from a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast

from ridgeline.model.architecture import WeightClass

Part = WeightClass | Literal["multimodal", "mtp", "other"]
"""A weight class, or a part of the file that is not in the counted model."""

_RULES: dict[Part, list[str]] = {
    "multimodal": [r"vision|visual|image|audio|multi_?modal|mm_projector|^mm\.|^v\.|embed_vi",
                   r"patch_embed|connector"],
    "mtp": [r"\bmtp|nextn|\beh_proj|\benorm\b|\bhnorm\b|shared_head"],
    "norm": [r"norm|\bln_|layer_scale|\bln\d|sinks?$|rope_freqs|inv_freq"],
    "router": [r"correction_bias|exp_probs|shared_expert_gate|gate_inp|router",
               r"(^|\.)gate(\.weight|\.bias)?$|\.wg\b"],
    "shared_expert": [r"shared_expert|shared_mlp|_shexp|_chexp"],
    "expert": [r"\bexperts?\b|_exps\b|experts?_|switch_mlp"],
    "head": [r"lm_head|(^|\.)head\b|embed_out|^output\.(weight|bias)|(^|\.)output$"],
    "embedding": [r"embed|\bwte\b|\bwpe\b|position_emb|token_types"],
    "attention": [r"attn|attention|mixer|mamba|\bssm|conv|recurrent|temporal|indexer|compressor",
                  r"time_mix|\b[qkvo]_proj|qkv|linear_attn|\bin_proj|out_proj|(^|\.)w[qkvo]\b"],
    "ffn": [r"mlp|feed_?forward|\bffn|fc1|fc2|fc_in|fc_out|gate_proj|up_proj|down_proj|gate_up",
            r"channel_mix|4h|(^|\.)w[123]\b"],
}  # fmt: skip
_COMPILED: tuple[tuple[Part, re.Pattern[str]], ...] = tuple(
    (part, re.compile("|".join(words))) for part, words in _RULES.items()
)
_LAYER = re.compile(r"(?:^|\.|\b)(?:layers?|blk|h|blocks?)\.(\d+)(?!\d)")
_TAIL = re.compile(
    r"\b(q|k|v|o|kv|q_a|q_b|kv_a|kv_b|up|down|in|out)_proj|indexers?|compressor|conv"
)
_WHOLE_LAYER = re.compile(r"(?:[^.]*\.)*(?:layers?|blk|h|blocks?)\.\d+")
_WHOLE_MLP = re.compile(r"(?:^|\.)(?:mlp|ffn|feed_forward|block_sparse_moe|moe)$")
_FFN_PARTS: tuple[WeightClass, ...] = ("ffn", "expert", "shared_expert")
LINEAR_CLASSES: tuple[WeightClass, ...] = ("attention", "ffn", "expert", "shared_expert", "head")
"""Classes that quantisers call `Linear`; routers are kept in 16 bits by all that we know."""


def part_of(name: str) -> Part:
    """Return the part of the model that a module or tensor name belongs to.

    >>> part_of("model.layers.3.mlp.experts.7.down_proj.weight"), part_of("blk.0.attn_q.weight")
    ('expert', 'attention')
    """
    text = name.lower()[:400]
    for part, rule in _COMPILED:
        if rule.search(text):
            return part
    return "other"


def layer_of(name: str) -> int | None:
    """Return the layer number in a module or tensor name, if there is one."""
    match = _LAYER.search(name.lower()[:400])
    return int(match.group(1)[:9]) if match else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What one pattern of an ignore or target list selects."""

    classes: tuple[WeightClass, ...] = ()
    layer: int | None = None
    """The only layer; None for all of them."""
    partial: bool = False
    """Only some matrices of the class; with no class: a pattern that is not understood."""


def selection(pattern: str) -> Selection:
    """Return what a pattern of an ignore or target list selects, by weight class.

    Globs, regular expressions and plain names are compared as text: wildcards are dropped.

    >>> selection("re:.*self_attn.*").classes, selection("model.layers.0*")
    (('attention',), Selection(classes=('attention', 'ffn', 'expert', 'shared_expert'), layer=0, \
partial=False))
    """
    if "(?" in pattern:
        return Selection(partial=True)
    text = pattern[:400].removeprefix("re:").replace("\\.", ".").lower()
    text = re.sub(r"\.?\*|[\^$\\?]", ".", text)
    text = re.sub(r"\.+", ".", text).strip(".")
    if text in {"linear", "torch.nn.linear", "nn.linear"}:
        return Selection(classes=LINEAR_CLASSES)
    layer, part = layer_of(text), part_of(text)
    if part not in {"multimodal", "mtp"} and _WHOLE_LAYER.fullmatch(text):
        return Selection(classes=("attention", *_FFN_PARTS), layer=layer)
    if _WHOLE_MLP.search(text):
        return Selection(classes=_FFN_PARTS, layer=layer)
    if part in {"multimodal", "mtp", "other"}:
        return Selection(layer=layer)
    tail = text.rsplit("attn", 1)[-1] if part == "attention" else text
    partial = bool(_TAIL.search(tail)) and "(" not in tail and "[" not in tail
    return Selection(classes=(cast("WeightClass", part),), layer=layer, partial=partial)
