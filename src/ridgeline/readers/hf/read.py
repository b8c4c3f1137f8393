"""From a config object to an `Architecture`: which reader, what is refused, what is noted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from ridgeline.errors import InputError, RidgelineError, UnsupportedError, printable
from ridgeline.model.architecture import Architecture
from ridgeline.readers.hf.assemble import check_sizes
from ridgeline.readers.hf.families import READERS
from ridgeline.readers.hf.generic import guess_type, read_generic
from ridgeline.readers.hf.keys import Keys
from ridgeline.readers.hf.multimodal import WRAPPERS, read_wrapper
from ridgeline.readers.hf.refuse import architectures, check_decoder
from ridgeline.readers.quantization import storage_formats

_MAX_DEPTH = 40
_CORE_KEYS = ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size")

_NARROW = re.compile(
    r"(?<![a-z0-9])(nvfp4|mxfp4|fp8|fp4|int8|int4|w[48]a\d+|awq|gptq)", re.IGNORECASE
)


def read_config(config: Mapping[str, Any], *, name: str) -> Architecture:
    """Return the architecture that a config.json describes.

    Args:
        config: The parsed JSON object.
        name: Hub id or file stem; kept as the architecture's name.

    Raises:
        UnsupportedError: not a decoder language model.
        InputError: keys missing, of a wrong type, or out of range.
    """
    _check_depth(config)
    try:
        arch = _read(config)
        check_sizes(arch)
    except RidgelineError as error:
        raise type(error)(f"{name[:100]}: {error}") from None
    flags = arch.flags + _name_flags(arch, name)
    return replace(
        arch,
        name=printable(name),
        model_type=printable(arch.model_type),
        flags=tuple(printable(flag) for flag in flags),
    )


def _name_flags(arch: Architecture, name: str) -> tuple[str, ...]:
    """Return a flag where the name promises a narrow format that the config does not describe.

    Some publishers keep the quantisation in a file of its own beside the config.
    """
    plain = arch.weight_format in {"bf16", "fp16", "fp32"} and not arch.weight_formats
    said = _NARROW.search(name)
    if said is None or not plain:
        return ()
    return (
        (
            f"storage: the name says {said.group(0)}, but the config has no quantization_config;"
            f" read as {arch.weight_format}, override with --dtype"
        ),
    )


def _read(config: Mapping[str, Any]) -> Architecture:
    check_decoder(config)
    kind = config.get("model_type")
    flags: list[str] = []
    if not isinstance(kind, str) or not kind:
        names = architectures(config)
        kind = guess_type(names, READERS)
        if kind is None:
            named = (
                f"none of its architectures ({', '.join(names)[:100]}) is known"
                if names
                else ("no `architectures` either")
            )
            raise UnsupportedError(f"the config has no `model_type`, and {named}.")
        flags.append(f"assumed: no model_type; read as {kind} from its architectures")
    k = Keys(config, kind, flags=flags)
    wrapper, reader = WRAPPERS.get(kind), READERS.get(kind)
    if wrapper is not None:
        arch = read_wrapper(k, wrapper, READERS)
    elif reader is not None:
        arch = reader(k)
    else:
        arch = _read_unknown(k)
    for key in _CORE_KEYS:
        if wrapper is None and not k.has(key) and key in k.defaults:
            k.assume(f"`{key}` is not in the file; the class default {k.defaults[key]} is used")
    return _with_formats(arch, config, k)


def _read_unknown(k: Keys) -> Architecture:
    inner = k.section("text_config", "language_config", "llm_config")
    if inner is None:
        return read_generic(k)
    k.assume(f"'{k.model_type[:60]}' is unknown; only its language part is counted")
    text = Keys(inner.values, inner.model_type or k.model_type, path=inner.path, flags=k.flags)
    check_decoder(inner.values)
    reader = READERS.get(text.model_type)
    return read_generic(text) if reader is None else reader(text)


def _with_formats(arch: Architecture, config: Mapping[str, Any], k: Keys) -> Architecture:
    formats = storage_formats(config)
    return replace(
        arch,
        weight_format=formats.weight_format,
        weight_formats=formats.weight_formats,
        kv_format=formats.kv_format,
        flags=tuple(dict.fromkeys((*arch.flags, *k.flags, *formats.flags))),
    )


def _check_depth(value: Any) -> None:
    """Refuse nesting deeper than any config has."""
    level: list[Any] = [value]
    for _ in range(_MAX_DEPTH):
        inner: list[Any] = []
        for x in level:
            if isinstance(x, Mapping):
                inner += cast("Mapping[str, Any]", x).values()
            elif isinstance(x, list | tuple):
                inner += cast("list[Any]", x)
        if not inner:
            return
        level = inner
    raise InputError(f"The config is nested deeper than {_MAX_DEPTH} levels.")
