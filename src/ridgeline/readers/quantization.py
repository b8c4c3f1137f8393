"""quantization_config -> storage formats by weight class.

Every quantiser names its bits in its own way; each method here returns one storage format, and
the ignore and target lists say which weight classes get it. What is not understood is flagged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, cast, get_args

from ridgeline.errors import InputError
from ridgeline.model.architecture import WeightClass
from ridgeline.model.formats import format_named
from ridgeline.readers import schemes
from ridgeline.readers.modules import LINEAR_CLASSES, Selection, selection

Settings = Mapping[str, Any]
_CLASSES: tuple[WeightClass, ...] = get_args(WeightClass)
_BODY: tuple[WeightClass, ...] = ("attention", "ffn", "expert", "shared_expert")
_IGNORE_KEYS = (
    "ignore", "modules_to_not_convert", "exclude_modules", "exclude", "llm_int8_skip_modules",
    "ignored_layers", "linear_weights_not_to_quantize",
)  # fmt: skip
_MAX_LAYERS = 100_000


class Formats(NamedTuple):
    """Storage formats of a checkpoint; fields of Architecture."""

    weight_format: str
    weight_formats: tuple[tuple[WeightClass, str], ...]
    kv_format: str | None
    flags: tuple[str, ...]


def storage_formats(config: Mapping[str, Any]) -> Formats:
    """Return the storage formats that a config.json prescribes, by weight class.

    Weights follow quantization_config, its ignore lists and `expert_dtype`; what it leaves out
    follows `dtype` (`torch_dtype`). Embeddings, routers and norms are taken as never quantised
    unless a method says so. A class that is ignored in most of its layers counts as ignored.

    Raises:
        InputError: a section that is not a mapping.

    Source: the config classes of transformers, compressed-tensors and ModelOpt.

    >>> storage_formats({"dtype": "bfloat16", "quantization_config": {"quant_method": "fp8"}})[:2]
    ('fp8', (('embedding', 'bf16'), ('head', 'bf16'), ('norm', 'bf16')))
    """
    text = _section(config, "text_config") or {}
    flags: list[str] = []
    base = _base_format(config, text, flags)
    settings = _section(config, "quantization_config") or _section(text, "quantization_config")
    if settings is None:
        settings = _section(config, "quantization") or _section(config, "compression_config")
    if settings is None:
        return Formats(base, (), None, tuple(flags))
    settings = {**settings, **(_section(settings, "quantization") or {})}
    shape = {**config, **text}
    by_class = _by_class(settings, shape, base, flags)
    expert = config.get("expert_dtype", text.get("expert_dtype"))
    if expert == "fp4" and by_class["expert"].startswith("fp8"):
        by_class["expert"] = "mxfp4_a8"
    return _collect(by_class, _cache_format(settings, flags), shape, flags)


def _section(config: Mapping[str, Any], key: str) -> Settings | None:
    value = config.get(key)
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InputError(f"`{key}` must be a mapping: {str(value)[:60]!r}.")
    return cast("Settings", value)


def _base_format(config: Settings, text: Settings, flags: list[str]) -> str:
    """Return the format of what is not quantised."""
    for source in (config, text):
        for key in ("dtype", "torch_dtype"):
            value = source.get(key)
            if isinstance(value, str) and value != "auto":
                try:
                    return format_named(value).id
                except InputError:
                    flags.append(f"assumed: unknown {key} {value[:40]!r}, weights taken as bf16")
                    return "bf16"
    flags.append("no dtype in the config: unquantised weights taken as bf16")
    return "bf16"


def _collect(
    by_class: dict[WeightClass, str], kv: str | None, shape: Settings, flags: list[str]
) -> Formats:
    """Return the formats as a default (of experts, else of the feed-forward) and exceptions."""
    has_experts = bool(_expert_count(shape))
    sparse = {"expert", "shared_expert", "router"}
    present: list[WeightClass] = [c for c in _CLASSES if has_experts or c not in sparse]
    default = by_class["expert" if has_experts else "ffn"]
    exceptions: list[tuple[WeightClass, str]] = [
        (c, by_class[c]) for c in present if by_class[c] != default
    ]
    return Formats(default, tuple(exceptions), kv, tuple(dict.fromkeys(flags)))


def _by_class(
    settings: Settings, shape: Settings, base: str, flags: list[str]
) -> dict[WeightClass, str]:
    """Return the format of every weight class."""
    by_class: dict[WeightClass, str] = dict.fromkeys(_CLASSES, base)
    method = str(settings.get("quant_method") or "").lower()[:40]
    groups = schemes.groups(settings, method, base, flags)
    layers = _class_layers(shape)
    for classes, form in groups:
        for c in classes or _default_classes(settings, method):
            by_class[c] = form
    listed = settings.get("quantized_layers")
    if isinstance(listed, Mapping):
        _apply_listed(cast("Settings", listed), by_class, flags)
    elif listed is not None:
        flags.append("assumed: the list of quantised layers is not in the file")
    if not settings.get("moe_quant_algo"):  # there the list only says what stays in FP8
        _apply_ignored(_ignored(settings, flags), by_class, base, layers, flags)
    return by_class


def _default_classes(settings: Settings, method: str) -> tuple[WeightClass, ...]:
    """Return the classes that a method quantises when it names none."""
    if method == "mxfp4":
        return ("expert",)
    if schemes.is_mlx(settings):
        return (*LINEAR_CLASSES, "embedding")
    lists = ("compressed-tensors", "modelopt", "quark")
    explicit = method in lists or "quant_algo" in settings or "config_groups" in settings
    if settings.get("lm_head") is True or explicit:
        return LINEAR_CLASSES
    return _BODY


def _apply_listed(layers: Settings, by_class: dict[WeightClass, str], flags: list[str]) -> None:
    """Apply a per-module list (ModelOpt mixed precision): the commonest format of a class wins."""
    votes: dict[WeightClass, Counter[str]] = {c: Counter() for c in _CLASSES}
    for name, entry in layers.items():
        if isinstance(entry, Mapping):
            form = schemes.modelopt(cast("Settings", entry), flags)
            for c in selection(str(name)).classes:
                votes[c][form] += 1
    for c, count in votes.items():
        if count:
            by_class[c] = count.most_common(1)[0][0]
            if len(count) > 1:
                flags.append(f"assumed: {c} weights are {by_class[c]}; the file mixes {len(count)}")


def _ignored(settings: Settings, flags: list[str]) -> list[str]:
    patterns: list[str] = []
    for key in _IGNORE_KEYS:
        value = settings.get(key)
        if isinstance(value, list):
            patterns += [p for p in cast("list[Any]", value) if isinstance(p, str)]
        elif isinstance(value, str):
            flags.append(f"assumed: `{key}` is not a list; nothing is taken as ignored")
    return patterns


def _apply_ignored(
    patterns: Iterable[str],
    by_class: dict[WeightClass, str],
    base: str,
    layers: dict[WeightClass, Callable[[int], bool]],
    flags: list[str],
) -> None:
    """Give the unquantised format to classes that an ignore list takes out."""
    everywhere: set[WeightClass] = set()
    some: dict[WeightClass, set[int]] = {c: set() for c in _CLASSES}
    partial: set[WeightClass] = set()
    for pattern in patterns:
        chosen: Selection = selection(pattern)
        if chosen.partial and not chosen.classes:
            flags.append(f"assumed: ignore pattern {pattern[:60]!r} is not understood")
        elif chosen.partial:
            partial.update(chosen.classes)
        elif chosen.layer is None:
            everywhere.update(chosen.classes)
        else:
            for c in chosen.classes:
                some[c].update({chosen.layer} if layers[c](chosen.layer) else ())
    depth = _depth(layers)
    quantised: list[WeightClass] = [c for c in _CLASSES if by_class[c] != base]
    for c in quantised:
        total = sum(map(layers[c], range(depth)))
        if c in everywhere or (total and 2 * len(some[c]) > total):
            by_class[c] = base
        elif some[c]:
            flags.append(f"{len(some[c])} of {total} {c} layers are kept in {base}; not counted so")
        elif c in partial:
            flags.append(f"some {c} matrices are kept in {base}; not counted so")


def _depth(layers: dict[WeightClass, Callable[[int], bool]]) -> int:
    """Return the number of layers: every layer has norms."""
    low, high = 0, _MAX_LAYERS
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if layers["norm"](middle) else (low, middle)
    return low


def _whole(value: Any, default: int = 0) -> int:
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_LAYERS
    return value if good else default


def _expert_count(shape: Settings) -> int:
    keys = ("n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts")
    return max((_whole(shape.get(k)) for k in keys), default=0)


def _class_layers(shape: Settings) -> dict[WeightClass, Callable[[int], bool]]:
    """Return, per class, which layers have it (as far as ignore lists need to know)."""
    depth = _whole(shape.get("num_hidden_layers"))
    first = _whole(shape.get("first_k_dense_replace"))
    step = max(1, _whole(shape.get("decoder_sparse_step"), 1))
    frequency = shape.get("moe_layer_freq")
    pattern = cast("list[Any]", frequency) if isinstance(frequency, list) else None
    experts = _expert_count(shape) > 0

    def sparse(layer: int) -> bool:
        listed = pattern is None or (layer < len(pattern) and bool(pattern[layer]))
        return experts and first <= layer < depth and (layer + 1) % step == 0 and listed

    every: dict[WeightClass, Callable[[int], bool]] = dict.fromkeys(_CLASSES, depth.__gt__)
    for c in ("expert", "shared_expert", "router"):
        every[c] = sparse
    every["ffn"] = lambda layer: layer < depth and not sparse(layer)
    return every


def _cache_format(settings: Settings, flags: list[str]) -> str | None:
    """Return the cache format that a checkpoint prescribes, if any."""
    scheme: Any = settings.get("kv_cache_scheme") or settings.get("kv_cache_quant_algo")
    scheme = scheme or settings.get("kv_cache_quant_config")
    if not scheme:
        return None
    if isinstance(scheme, Mapping):
        entry = cast("Settings", scheme)
        kind = ("fp" if str(entry.get("type", "float")) == "float" else "int") + str(
            entry.get("num_bits", 8)
        )
    else:
        kind = str(scheme).lower()
    known = {"fp8": "fp8", "int8": "int8", "nvfp4": "nvfp4", "fp4": "nvfp4", "int4": "int4_g128"}
    if kind not in known:
        flags.append(f"assumed: cache scheme {kind[:40]!r} is unknown, cache taken as fp8")
    return known.get(kind, "fp8")
