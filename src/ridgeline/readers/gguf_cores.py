"""GGUF keys -> what happens between the projections of one layer, and what is cached."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

from ridgeline.errors import InputError
from ridgeline.model.architecture import (
    Core,
    Indexer,
    LatentAttention,
    Mixer,
    Recurrence,
    SoftmaxAttention,
)
from ridgeline.model.build import attention_kind
from ridgeline.model.build_recurrent import gated_delta_net, kda, mamba1, mamba2, short_conv
from ridgeline.readers.gguf import GgufHeader

_MAX_SIZE = 2**31
_PATTERNS = {"gemma2": 2, "gemma3": 6, "gemma3n": 5, "cohere2": 4, "gpt-oss": 2, "exaone4": 4,
             "olmo2": 4, "llama4": 4, "smallthinker": 4}  # fmt: skip
"""Every n-th layer sees everything where the file has no pattern. Source: llama.cpp,
src/llama-model.cpp, set_swa_pattern."""
_CHUNK = {"llama4": 8192}
"""Chunked attention that the file does not mention. Source: llama.cpp, src/llama-model.cpp."""


@dataclass
class Keys:
    """The `{architecture}.*` keys of a header, checked when they are asked for."""

    kind: str
    header: GgufHeader
    flags: list[str] = field(default_factory=list[str])

    def raw(self, key: str, layer: int | None = None) -> Any:
        """Return a value, or its entry for `layer` where it is a list; None if absent."""
        value = self.header.values.get(f"{self.kind}.{key}")
        if isinstance(value, list) and layer is not None:
            entries = cast("list[Any]", value)
            if layer >= len(entries):
                raise InputError(
                    f"`{self.kind}.{key}` has {len(entries)} entries, not {layer + 1}."
                )
            return entries[layer]
        return cast("Any", value)

    def maybe(self, key: str, layer: int | None = None) -> int | None:
        """Return a whole number of at least 0, or None where the key is absent."""
        value = self.raw(key, layer)
        if value is None:
            return None
        good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_SIZE
        if not good:
            raise InputError(
                f"`{self.kind}.{key}` must be a whole number from 0 to 2^31: {str(value)[:40]}."
            )
        return int(value)

    def whole(self, key: str, layer: int | None = None) -> int:
        """Return a whole number of at least 1.

        Raises:
            InputError: absent, or not such a number.
        """
        value = self.maybe(key, layer)
        if not value:
            raise InputError(f"`{self.kind}.{key}` is missing or zero.")
        return value


def mixer_cores(layer: int, mixer: Mixer, names: frozenset[str], keys: Keys) -> Mixer:
    """Return `mixer` with the cores of one layer, told from its tensors' names."""
    has = {n.split(".")[0] for n in names}
    cores: list[tuple[str, Core]] = []
    recurrence = _recurrence(layer, has, names, keys)
    if recurrence is not None:
        cores.append((recurrence.kind, recurrence))
    if "attn_kv_a_mqa" in has:
        latent = _latent(layer, mixer, keys)
        cores.append(("mla" if latent.indexer is None else "dsa", latent))
    elif {"attn_q", "attn_qkv"} & has and not (recurrence and _delta(has)):
        softmax = _softmax(layer, mixer, keys)
        cores.append((attention_kind(softmax.num_heads, softmax.num_kv_heads), softmax))
    kind = "+".join(k for k, _ in cores) or "none"
    if not cores and mixer.linears:
        raise InputError(
            f"layer {layer} has a mixer that is not known: {', '.join(sorted(has))}"[:200]
        )
    return replace(mixer, kind=kind, cores=tuple(c for _, c in cores))


def _delta(has: set[str]) -> bool:
    return bool(has & {"ssm_ba", "ssm_alpha", "ssm_beta", "ssm_conv1d_q"})


def _recurrence(layer: int, has: set[str], names: frozenset[str], keys: Keys) -> Recurrence | None:
    hidden = keys.whole("embedding_length")
    if "shortconv" in has or any(n.startswith("shortconv.") for n in names):
        mixer = short_conv(hidden, keys.whole("shortconv.l_cache", layer))
    elif "ssm_conv1d_q" in has:
        heads = keys.whole("attention.head_count", layer)
        mixer = kda(hidden, heads, keys.whole("kda.head_dim"), keys.whole("ssm.conv_kernel"))
    elif not any(n.startswith("ssm_") for n in has):
        return None
    else:
        inner, state = keys.whole("ssm.inner_size"), keys.whole("ssm.state_size")
        kernel, rank = keys.whole("ssm.conv_kernel"), keys.whole("ssm.time_step_rank")
        if _delta(has):
            groups = keys.whole("ssm.group_count")
            mixer = gated_delta_net(hidden, groups, rank, state, _part(inner, rank), kernel)
        elif "ssm_x" in has:
            mixer = mamba1(hidden, inner, state, kernel, rank)
        else:
            groups = keys.maybe("ssm.group_count") or 1
            mixer = mamba2(hidden, rank, _part(inner, rank), state, groups, kernel)
    return cast("Recurrence", mixer.cores[0])


def _part(whole: int, parts: int) -> int:
    if whole % parts:
        raise InputError(f"ssm.inner_size={whole} must be a multiple of the {parts} heads.")
    return whole // parts


def _indexer(keys: Keys, mixer: Mixer) -> Indexer | None:
    heads = keys.maybe("attention.indexer.head_count")
    if not heads or not any(x.name.startswith("indexer") for x in mixer.linears):
        return None
    dim = keys.whole("attention.indexer.key_length")
    top_k = keys.whole("attention.indexer.top_k")
    return Indexer(num_heads=heads, head_dim=dim, top_k=top_k, key_dim=dim)


def _latent(layer: int, mixer: Mixer, keys: Keys) -> LatentAttention:
    """Return MLA; newer files give the per-head sizes as `*_length_mla`."""
    heads = keys.whole("attention.head_count", layer)
    rank, rope = keys.whole("attention.kv_lora_rank"), keys.whole("rope.dimension_count")
    key = keys.maybe("attention.key_length_mla") or keys.whole("attention.key_length")
    value = keys.maybe("attention.value_length_mla") or keys.whole("attention.value_length")
    sizes = {x.name: x.out_features for x in mixer.linears}
    expected = {"kv_a_proj_with_mqa": rank + rope, "kv_b_proj": heads * (key - rope + value)}
    for name, size in expected.items():
        if size <= 0 or sizes.get(name, size) != size:
            raise InputError(f"layer {layer}: {name} has {sizes.get(name)} rows, keys say {size}.")
    return LatentAttention(
        num_heads=heads,
        kv_lora_rank=rank,
        qk_nope_head_dim=key - rope,
        qk_rope_head_dim=rope,
        v_head_dim=value,
        indexer=_indexer(keys, mixer),
    )


def _softmax(layer: int, mixer: Mixer, keys: Keys) -> SoftmaxAttention:
    """Return GQA, MHA or MQA with its window, checked against the projections."""
    heads = keys.whole("attention.head_count", layer)
    kv_heads = keys.maybe("attention.head_count_kv", layer) or heads
    window, chunked = _window(layer, keys)
    default = keys.whole("embedding_length") // heads
    tail = "_swa" if window is not None and keys.raw("attention.key_length_swa") else ""
    key = keys.maybe(f"attention.key_length{tail}", layer) or default
    value = keys.maybe(f"attention.value_length{tail}", layer) or default
    sizes = {x.name: x.out_features for x in mixer.linears}
    if "k_proj" in sizes and sizes["k_proj"] != kv_heads * key:
        raise InputError(
            f"layer {layer}: attn_k has {sizes['k_proj']} rows, the keys say {kv_heads} heads of "
            f"{key}."
        )
    if "v_proj" in sizes and sizes["v_proj"] != kv_heads * value:
        raise InputError(
            f"layer {layer}: attn_v has {sizes['v_proj']} rows, not {kv_heads}·{value}."
        )
    if "qkv_proj" in sizes and sizes["qkv_proj"] != (heads + kv_heads) * key + kv_heads * value:
        raise InputError(f"layer {layer}: attn_qkv does not fit {heads} and {kv_heads} heads.")
    shared = keys.maybe("attention.shared_kv_layers") or 0
    return SoftmaxAttention(
        num_heads=heads,
        num_kv_heads=kv_heads,
        qk_head_dim=key,
        v_head_dim=value,
        window=window,
        window_kind="chunked" if chunked else "sliding",
        stores_kv=layer < keys.whole("block_count") - shared,
        indexer=_indexer(keys, mixer),
    )


def _window(layer: int, keys: Keys) -> tuple[int | None, bool]:
    """Return the tokens that a layer sees (None: all) and whether the window is chunked."""
    size = keys.maybe("attention.sliding_window", layer) or _CHUNK.get(keys.kind)
    if not size:
        return None, False
    pattern = keys.raw("attention.sliding_window_pattern", layer)
    if isinstance(pattern, bool):
        return (size if pattern else None), False
    every = pattern if isinstance(pattern, int) else _PATTERNS.get(keys.kind)
    if every is None:
        if keys.kind == "phi3":  # llama.cpp runs phi3 with full attention
            return None, False
        keys.flags.append(f"assumed: every layer sees {size} tokens; the file has no pattern")
        return size, False
    windowed = every == 0 or layer % every < every - 1
    return (size if windowed else None), keys.kind in _CHUNK
