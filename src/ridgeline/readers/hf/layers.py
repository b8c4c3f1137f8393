"""What each layer is, from the many ways in which configs say it: windows, sparsity, ties."""

from __future__ import annotations

from typing import Any, Literal

from ridgeline.errors import InputError
from ridgeline.readers.hf.keys import Keys

Window = tuple[int | None, Literal["sliding", "chunked"]]
FULL: Window = (None, "sliding")


def windows(
    k: Keys, num_layers: int, *, every: int | None = None, always: bool = False
) -> list[Window]:
    """Return the window of each layer.

    Args:
        k: The text config.
        num_layers: Layers.
        every: Without `layer_types`, each `every`-th layer is full and the others slide.
        always: Without `layer_types`, all layers slide when `sliding_window` is set.
    """
    types = k.per_layer("layer_types", num_layers)
    size = k.maybe("sliding_window", "attention_window", "window_size")
    size = size or None
    if types is not None:
        chunk = k.maybe("attention_chunk_size", "chunk_size")
        return [_window_of(str(t), size, chunk) for t in types]
    if size is None or not k.flag("use_sliding_window", default=True):
        return [FULL] * num_layers
    pattern = k.raw("sliding_window_pattern", "_sliding_window_pattern", default=every)
    sliding: Window = (size, "sliding")
    if isinstance(pattern, str) and pattern:
        return [sliding if pattern[i % len(pattern)] == "L" else FULL for i in range(num_layers)]
    if isinstance(pattern, int) and not isinstance(pattern, bool) and pattern > 0:
        return [sliding if (i + 1) % pattern else FULL for i in range(num_layers)]
    first = k.maybe("max_window_layers")
    if first is not None:
        return [sliding if i >= first else FULL for i in range(num_layers)]
    return [sliding if always else FULL] * num_layers


def _window_of(kind: str, size: int | None, chunk: int | None) -> Window:
    if "chunk" in kind:
        return (chunk, "chunked")
    if "sliding" in kind or "local" in kind:
        return (size, "sliding")
    return FULL


def sparse_layers(k: Keys, num_layers: int) -> list[bool]:
    """Return which layers are mixtures of experts."""
    named = k.per_layer("mlp_layer_types", num_layers)
    if named is not None:
        return [str(x) != "dense" for x in named]
    frequency = k.raw("moe_layer_freq", "moe_layer_frequency", default=1)
    if isinstance(frequency, list | tuple):
        listed: list[Any] = k.per_layer("moe_layer_freq", num_layers) or []
        return [bool(x) for x in listed]
    step = k.check(frequency or 1, "moe_layer_freq", minimum=1)
    dense = k.maybe("first_k_dense_replace", "num_dense_layers", default=0) or 0
    stride = k.maybe("decoder_sparse_step", default=1)
    only_dense = set(k.whole_items("mlp_only_layers") or ())
    return [
        i >= dense
        and i % step == 0
        and bool(stride)
        and (i + 1) % (stride or 1) == 0
        and i not in only_dense
        for i in range(num_layers)
    ]


def kinds(k: Keys, num_layers: int, default: list[str], *also: str) -> list[str]:
    """Return `layer_types` (or another spelling), else `default`.

    Raises:
        InputError: an entry that is not text.
    """
    found = k.per_layer("layer_types", num_layers, *also)
    if found is None:
        return default
    for x in found:
        if not isinstance(x, str):
            raise InputError(f"Config key `{k.path}layer_types` must hold names: {repr(x)[:40]}.")
    return [str(x) for x in found]


def tied(k: Keys, default: bool = False) -> bool:
    """Return whether the head is the input embedding."""
    return k.flag("tie_word_embeddings", default=default)
