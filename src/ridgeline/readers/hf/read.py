"""From a config object to an `Architecture`: which reader, what is refused, what is noted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from ridgeline.errors import InputError, RidgelineError, UnsupportedError
from ridgeline.model.architecture import Architecture
from ridgeline.readers.hf.assemble import check_sizes
from ridgeline.readers.hf.families import READERS
from ridgeline.readers.hf.keys import Keys
from ridgeline.readers.hf.multimodal import WRAPPERS, read_wrapper

_MAX_DEPTH = 40


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
    return replace(arch, name=name)


def _read(config: Mapping[str, Any]) -> Architecture:
    kind = config.get("model_type")
    if not isinstance(kind, str):
        raise InputError("the config has no `model_type`.")
    k = Keys(config, kind)
    wrapper = WRAPPERS.get(kind)
    reader = READERS.get(kind)
    if wrapper is not None:
        arch = read_wrapper(k, wrapper, READERS)
    elif reader is not None:
        arch = reader(k)
    else:
        raise UnsupportedError(f"model type '{kind[:60]}' is not read.")
    return replace(arch, flags=(*arch.flags, *k.flags))


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
