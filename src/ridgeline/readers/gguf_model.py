"""A GGUF header as an architecture: every matrix from its tensor, every core from the keys.

Parameters and bytes are those of the file by construction; shapes that the keys claim are
checked against the tensors.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from ridgeline.errors import InputError, UnsupportedError, printable
from ridgeline.model.architecture import (
    Architecture,
    Block,
    Experts,
    FeedForward,
    Linear,
    Mixer,
    Split,
    WeightClass,
    run_length,
)
from ridgeline.model.mixes import average_format
from ridgeline.model.params import count_parameters
from ridgeline.readers.gguf import GgufHeader, TensorInfo, read_gguf_header
from ridgeline.readers.gguf_cores import Keys, mixer_cores
from ridgeline.readers.modules import part_of

_NOT_DECODERS = {
    "bert", "nomic-bert", "nomic-bert-moe", "neo-bert", "modern-bert", "jina-bert-v2",
    "jina-bert-v3", "eurobert", "t5", "t5encoder", "clip", "wavtokenizer-dec", "gemma-embedding",
    "whisper", "llama-embed",
}  # fmt: skip
_UNMODELLED = {"rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7", "dream", "llada", "llada-moe"}
_NAMES: dict[str, tuple[str, Split]] = {
    "attn_q": ("q_proj", "column"), "attn_k": ("k_proj", "kv"), "attn_v": ("v_proj", "kv"),
    "attn_qkv": ("qkv_proj", "column"), "attn_output": ("o_proj", "row"),
    "attn_gate": ("g_proj", "column"), "attn_q_a": ("q_a_proj", "replicated"),
    "attn_q_b": ("q_b_proj", "column"), "attn_kv_a_mqa": ("kv_a_proj_with_mqa", "replicated"),
    "attn_kv_b": ("kv_b_proj", "column"), "ssm_in": ("in_proj", "column"),
    "ssm_x": ("x_proj", "row"), "ssm_dt": ("dt_proj", "column"), "ssm_out": ("out_proj", "row"),
    "shortconv.in_proj": ("in_proj", "column"), "shortconv.out_proj": ("out_proj", "row"),
    "ffn_gate": ("gate_proj", "column"), "ffn_up": ("up_proj", "column"),
    "ffn_down": ("down_proj", "row"), "ffn_gate_up": ("gate_up_proj", "column"),
    "ffn_gate_inp": ("router", "replicated"),
    "ffn_gate_inp_shexp": ("shared_expert_gate", "replicated"),
}  # fmt: skip
_VECTORS = re.compile(r"conv|ssm_[ad]$|ssm_dt_norm|sinks|exp_probs|lerp|altup|scale|_coef")
_OF_MIXER = re.compile(r"^(attn_(q|k|q_a|kv_a|sub)_norm|attn_sinks|ssm_|indexer\.|shortconv)")
_HALVES = {"norm": "norm", "attention": "mixer", "router": "dense", "ffn": "dense",
           "expert": "dense", "shared_expert": "dense"}  # fmt: skip
_BUFFERS = re.compile(r"^rope_|rope_freqs|attn_rot_embd|\.(input_)?scale$")


@dataclass
class _Tally:
    """Weights by class and format, for the exact average of each class."""

    formats: dict[WeightClass, dict[str, int]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(int))
    )

    def add(self, weight_class: WeightClass, tensor: TensorInfo) -> int:
        self.formats[weight_class][tensor.format] += tensor.num_elements
        return tensor.num_elements


def read_gguf(path: Path, *, name: str | None = None) -> Architecture:
    """Return the architecture in a GGUF file, with its exact parameters and bytes per class.

    Raises:
        InputError: not GGUF, or keys and tensors that contradict each other.
        UnsupportedError: not a decoder language model.
    """
    return gguf_architecture(read_gguf_header(path), name=printable(name or path.stem))


def gguf_architecture(header: GgufHeader, *, name: str) -> Architecture:
    """Return the architecture that a GGUF header describes (see `read_gguf`).

    Raises:
        InputError: keys missing, or keys and tensors that contradict each other.
        UnsupportedError: not a decoder language model.
    """
    kind = header.values.get("general.architecture")
    file_type = header.values.get("general.type", "model")
    if not isinstance(kind, str) or not kind or not kind.isprintable():
        raise InputError(f"{name[:100]}: the GGUF file has no `general.architecture`.")
    if kind in _NOT_DECODERS or file_type != "model":
        what = kind if file_type == "model" else f"{file_type} ({kind})"
        raise UnsupportedError(f"{name[:100]}: {what[:60]} is not a decoder language model.")
    if kind in _UNMODELLED:
        raise UnsupportedError(
            f"{name[:100]}: GGUF files of {kind} are not supported; read its config.json instead."
        )
    if not header.tensors:
        raise InputError(f"{name[:100]}: the GGUF file holds no tensors.")
    try:
        return _build(Keys(kind, header), header, name)
    except InputError as error:
        raise InputError(f"{name[:100]}: {error}") from None


def _build(keys: Keys, header: GgufHeader, name: str) -> Architecture:
    layers: dict[int, dict[str, TensorInfo]] = defaultdict(dict)
    outside: dict[str, TensorInfo] = {}
    for tensor in header.tensors:
        match = re.match(r"blk\.(\d{1,6})\.(.+)$", tensor.name)
        if match:
            layers[int(match.group(1))][match.group(2)] = tensor
        elif not _BUFFERS.search(tensor.name):
            outside[tensor.name] = tensor
    depth = keys.whole("block_count")
    if len(layers) != depth or max(layers) != depth - 1:
        raise InputError(f"block_count={depth} does not fit the {len(layers)} layers of tensors.")
    tally = _Tally()
    main, extra, extra_params = list[Block](), list[Block](), 0
    for layer in range(depth):
        tensors = layers[layer]
        predicts = [n for n in tensors if n.startswith("nextn.")]
        extra_params += sum(tensors.pop(n).num_elements for n in predicts)
        (extra if predicts else main).append(_block(layer, tensors, keys, tally))
    arch = _frame(keys, outside, tally, name)
    arch = replace(
        arch,
        blocks=run_length(main),
        mtp_blocks=run_length(extra),
        num_mtp_other_params=extra_params,
        flags=tuple(dict.fromkeys(keys.flags)),
    )
    return _checked(_with_formats(arch, tally), header)


def _frame(keys: Keys, outside: dict[str, TensorInfo], tally: _Tally, name: str) -> Architecture:
    """Return the model without its blocks: embeddings, head, final norm."""
    table = outside.pop("token_embd.weight", None)
    if table is None or len(table.shape) != 2:
        raise InputError("the file has no token embedding (`token_embd.weight`).")
    vocab, hidden = table.shape
    if hidden != keys.whole("embedding_length"):
        raise InputError(f"embedding_length does not fit token_embd.weight {table.shape}.")
    tally.add("embedding", table)
    output, bias = outside.pop("output.weight", None), outside.pop("output.bias", None)
    if output is not None:
        if output.shape[-1] != hidden or len(output.shape) != 2:
            raise InputError(f"output.weight must have {hidden} columns: {output.shape}.")
        tally.add("head", output)
    final = other = modal = 0
    linears = list[Linear]()
    for full, tensor in outside.items():
        part = part_of(full)
        if part == "multimodal" or full.startswith(("v.", "mm.", "a.")):
            modal += tensor.num_elements
        elif part == "embedding" or full.startswith("per_layer_token_embd"):
            other += tally.add("embedding", tensor)
        elif len(tensor.shape) == 2:
            linears.append(_linear(full.removesuffix(".weight"), tensor, "ffn", bias=False))
            tally.add("ffn", tensor)
        else:
            final += tally.add("norm", tensor)
    return Architecture(
        name=name,
        model_type=keys.kind,
        hidden_size=hidden,
        vocab_size=vocab,
        blocks=(),
        num_input_embedding_params=table.num_elements,
        num_other_embedding_params=other,
        head=Linear(
            name="lm_head",
            in_features=hidden,
            out_features=vocab if output is None else output.shape[0],
            weight_class="head",
            split="column",
            bias=bias is not None,
        ),
        tie_word_embeddings=output is None,
        num_final_norm_params=final,
        linears=tuple(linears),
        num_multimodal_params=modal,
        max_position_embeddings=keys.maybe("context_length"),
    )


def _linear(short: str, tensor: TensorInfo, weight_class: WeightClass, *, bias: bool) -> Linear:
    name, split = _NAMES.get(short, (short.replace("indexer.", "indexer_"), "replicated"))
    return Linear(
        name=name,
        in_features=tensor.shape[-1],
        out_features=tensor.shape[-2],
        weight_class=weight_class,
        split=split,
        bias=bias,
        state_only=short == "attn_kv_b",
    )


def _latent_pair(tensors: dict[str, TensorInfo], tally: _Tally) -> list[Linear]:
    """Return kv_b of latent attention, stored as one key and one value part per head."""
    k, v = tensors.pop("attn_k_b.weight", None), tensors.pop("attn_v_b.weight", None)
    if k is None or v is None or len(k.shape) != 3 or len(v.shape) != 3:
        raise InputError("attn_k_b and attn_v_b must come together, [heads, rows, cols] each.")
    heads, rank, nope = k.shape
    if v.shape[0] != heads or v.shape[2] != rank:
        raise InputError(f"attn_v_b {v.shape} does not fit attn_k_b {k.shape}.")
    tally.add("attention", k)
    tally.add("attention", v)
    return [
        Linear(
            name="kv_b_proj",
            in_features=rank,
            out_features=heads * (nope + v.shape[1]),
            weight_class="attention",
            split="column",
            state_only=True,
        )
    ]


def _stacked(tensors: dict[str, TensorInfo]) -> dict[str, TensorInfo]:
    """Return the tensors with one per expert (`ffn_up.3.weight`, files of 2023) as one stack."""
    result: dict[str, TensorInfo] = {}
    experts: dict[str, list[TensorInfo]] = defaultdict(list)
    for short, tensor in tensors.items():
        match = re.fullmatch(r"ffn_(gate|up|down)\.\d+\.weight", short)
        if match:
            experts[f"ffn_{match.group(1)}_exps.weight"].append(tensor)
        else:
            result[short] = tensor
    for short, parts in experts.items():
        if len({(t.shape, t.format) for t in parts}) != 1 or short in result:
            raise InputError(f"the experts of {short} must have one shape and format.")
        result[short] = replace(parts[0], name=short, shape=(len(parts), *parts[0].shape))
    return result


@dataclass
class _Parts:
    """One layer while its tensors are sorted."""

    mixer: list[Linear] = field(default_factory=list[Linear])
    dense: list[Linear] = field(default_factory=list[Linear])
    routed: list[tuple[int, Linear]] = field(default_factory=list[tuple[int, Linear]])
    vectors: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """Elements that are not matrices, by half of the layer: norm, mixer, dense, other."""


def _block(layer: int, tensors: dict[str, TensorInfo], keys: Keys, tally: _Tally) -> Block:
    """Return one layer from its tensors."""
    parts = _Parts()
    tensors = _stacked(tensors)
    names = frozenset(tensors)
    if "attn_k_b.weight" in tensors and "attn_kv_b.weight" not in tensors:
        parts.mixer += _latent_pair(tensors, tally)
    for short, tensor in tensors.items():
        base = re.sub(r"\.(weight|bias)$", "", short)
        attached = short.endswith(".bias") and f"{base}.weight" in tensors
        twice = base in {"attn_k_b", "attn_v_b"}  # the same weights as attn_kv_b
        if not (_BUFFERS.search(short) or attached or twice):
            bias = tensors.get(f"{base}.bias") if short.endswith(".weight") else None
            _sort(base, tensor, bias, parts, tally)
    if parts.vectors["other"]:
        keys.flags.append("assumed: some tensors of the layers are counted but not computed with")
    mixer = Mixer(kind="none", linears=tuple(parts.mixer), num_vector_params=parts.vectors["mixer"])
    return Block(
        count=1,
        mixer=mixer_cores(layer, mixer, names, keys),
        feed_forward=_feed_forward(layer, parts, keys),
        num_norm_params=parts.vectors["norm"],
        num_other_params=parts.vectors["other"],
    )


def _sort(
    base: str, tensor: TensorInfo, bias: TensorInfo | None, parts: _Parts, tally: _Tally
) -> None:
    """Put one tensor and its bias where it belongs in the layer."""
    part = part_of(base)
    if bias is not None:
        rows = tensor.num_elements // (tensor.shape[-1] if len(tensor.shape) > 1 else 1)
        if bias.num_elements != rows:
            raise InputError(f"{base}.bias must have {rows} elements: {bias.num_elements}.")
        tally.add("norm", bias)
    matrix = len(tensor.shape) == 2 and not _VECTORS.search(base)
    if part == "expert" and len(tensor.shape) == 3:
        tally.add("expert", tensor)
        linear = _linear(base.replace("_exps", ""), tensor, "expert", bias=bias is not None)
        parts.routed.append((tensor.shape[0], linear))
    elif matrix and part in {"attention", "ffn", "shared_expert", "router"}:
        weight_class = cast("WeightClass", part)
        tally.add(weight_class, tensor)
        linear = _linear(base.removesuffix("_shexp") if part == "shared_expert" else base,
                         tensor, weight_class, bias=bias is not None)  # fmt: skip
        if part == "shared_expert":
            linear = replace(linear, name=f"shared_expert.{linear.name}")
        (parts.mixer if part == "attention" else parts.dense).append(linear)
    else:
        half = "mixer" if _OF_MIXER.match(base) else _HALVES.get(part, "other")
        parts.vectors[half] += tally.add("norm", tensor)
        parts.vectors[half] += bias.num_elements if bias is not None else 0


def _feed_forward(layer: int, parts: _Parts, keys: Keys) -> FeedForward:
    """Return the feed-forward part: dense, experts, or nothing."""
    dense, routed, vectors = parts.dense, parts.routed, parts.vectors["dense"]
    names = {x.name for x in dense}
    if not dense and not routed:
        return FeedForward(kind="none", num_vector_params=vectors)
    if not routed:
        gated = bool(names & {"gate_proj", "gate_up_proj"})
        down = next((x for x in dense if x.name == "down_proj"), dense[-1])
        up = next((x for x in dense if x.name == "up_proj"), None)
        if not gated and up is not None and up.out_features == 2 * down.in_features:
            dense = [replace(x, name="gate_up_proj") if x is up else x for x in dense]
            gated = True
        return FeedForward(
            kind="dense_gated" if gated else "dense",
            linears=tuple(dense),
            num_vector_params=vectors,
            intermediate_size=down.in_features,
        )
    number = keys.whole("expert_count")
    if any(count != number for count, _ in routed):
        raise InputError(f"expert_count={number} does not fit the tensors of layer {layer}.")
    used = keys.whole("expert_used_count")
    if not 1 <= used <= number:
        raise InputError(f"expert_used_count must be 1 to {number}: {used}.")
    down = next((x for _, x in routed if x.name == "down_proj"), routed[-1][1])
    return FeedForward(
        kind="moe",
        linears=tuple(dense),
        num_vector_params=vectors,
        intermediate_size=down.in_features,
        experts=Experts(
            num_experts=number,
            num_experts_per_tok=used,
            linears=tuple(x for _, x in routed),
            num_groups=keys.maybe("expert_group_count") or 1,
            num_groups_per_tok=keys.maybe("expert_group_used_count") or 1,
        ),
    )


def _with_formats(arch: Architecture, tally: _Tally) -> Architecture:
    """Return `arch` with the average format of each class."""
    formats: dict[WeightClass, str] = {c: average_format(n) for c, n in tally.formats.items()}
    bulk = max(tally.formats, key=lambda c: sum(tally.formats[c].values()))
    default = formats[bulk]
    if arch.tie_word_embeddings:
        formats["head"] = formats["embedding"]
    exceptions = tuple((c, f) for c, f in formats.items() if f != default)
    return replace(arch, weight_format=default, weight_formats=exceptions)


def _checked(arch: Architecture, header: GgufHeader) -> Architecture:
    """Return `arch`, flagged if its parameters are not those of the file."""
    count = count_parameters(arch)
    mine = count.num_params + count.num_mtp_params
    stored = sum(
        t.num_elements
        for t in header.tensors
        if not _BUFFERS.search(re.sub(r"^blk\.\d+\.", "", t.name))
    )
    if mine == stored:
        return arch
    flag = f"assumed: {mine:,} parameters are counted, the file holds {stored:,}"
    return replace(arch, flags=(*arch.flags, flag))
