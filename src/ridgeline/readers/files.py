"""JSON files of models, loaded as data: bounded in size and depth, without duplicates or NaN."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from ridgeline.errors import InputError
from ridgeline.model.architecture import Architecture
from ridgeline.readers.hf import read_config

MAX_CONFIG_BYTES = 20 * 2**20


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise InputError(f"Key '{twice[:60]}' occurs twice in one JSON object.")
    return found


def _constant(text: str) -> float:
    # Published configs write Infinity for "no limit"; it is refused wherever a number is used.
    if text == "NaN":
        raise InputError("NaN is not a JSON number.")
    return float(text.replace("Infinity", "inf"))


def parse_config(text: str, *, what: str) -> Mapping[str, Any]:
    """Return the JSON object in `text`.

    Raises:
        InputError: not JSON, not an object, too large or too deep, a duplicate key, or NaN.
    """
    if len(text) > MAX_CONFIG_BYTES:
        raise InputError(f"{what} is larger than 20 MiB; a config.json is a few kB.")
    try:
        found: Any = json.loads(text, object_pairs_hook=_unique, parse_constant=_constant)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
    except RecursionError:
        raise InputError(f"{what} is nested too deeply to be a config.") from None
    except ValueError as error:
        raise InputError(f"{what} is not valid JSON: {str(error)[:120]}.") from None
    if not isinstance(found, dict):
        raise InputError(f"{what} must hold a JSON object, not {type(found).__name__}.")
    return cast("dict[str, Any]", found)


def is_regular_file(path: Path) -> bool:
    """Return whether there is a plain file at `path`; names too long to exist name none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def open_file(path: Path) -> BinaryIO:
    """Return a plain file, opened; pipes and devices are refused, for reading them may never end.

    Raises:
        InputError: no plain file, or it cannot be read.
    """
    if not is_regular_file(path):
        raise InputError(f"{path.name[:100]!r} is not a plain file that can be read.")
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path.name[:100]} cannot be read: {error.strerror or error}.") from None


def load_config(path: Path) -> Mapping[str, Any]:
    """Return the JSON object in the file at `path`.

    Raises:
        InputError: unreadable, or not a config (see `parse_config`).
    """
    try:
        with open_file(path) as file:
            data = file.read(MAX_CONFIG_BYTES + 1)
        if len(data) > MAX_CONFIG_BYTES:
            raise InputError(f"{path.name} is larger than 20 MiB; a config.json is a few kB.")
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path.name} is not UTF-8 text.") from None
    except OSError as error:
        raise InputError(f"{path.name[:100]} cannot be read: {error.strerror or error}.") from None
    return parse_config(text, what=path.name)


def read_config_file(path: Path, *, name: str | None = None) -> Architecture:
    """Return the architecture of a config.json file.

    Raises:
        InputError: unreadable or incomplete.
        UnsupportedError: not a decoder language model.
    """
    stem = path.parent.name if path.name == "config.json" and path.parent.name else path.stem
    return read_config(load_config(path), name=name or stem)
