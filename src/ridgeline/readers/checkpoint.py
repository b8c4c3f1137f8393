"""A model directory: the architecture of its config.json, checked against its weight files."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from ridgeline.errors import InputError
from ridgeline.model.architecture import Architecture
from ridgeline.model.memory import weight_bytes_per_device
from ridgeline.model.params import count_parameters
from ridgeline.model.precision import Precision
from ridgeline.readers.files import is_regular_file, load_config
from ridgeline.readers.hf import read_config
from ridgeline.readers.modules import layer_of, part_of
from ridgeline.readers.safetensors import (
    Checkpoint,
    Index,
    directory_files,
    joined,
    read_index,
    read_safetensors,
)
from ridgeline.units import human

_TOLERANCE = 0.01
"""Bytes of the formats against bytes of the file: scales of odd shapes, buffers, metadata."""


def read_directory(directory: Path, *, name: str | None = None) -> Architecture:
    """Return the architecture of a model directory; flags say where its files disagree.

    With all weight files present, parameters and bytes are compared with their headers; with an
    index only, bytes and the number of layers.

    Raises:
        InputError: no config.json, or files that cannot be read.
        UnsupportedError: not a decoder language model.
    """
    path = directory / "config.json"
    if not is_regular_file(path):
        raise InputError(f"{directory.name}/ holds no config.json.")
    config = load_config(path)
    arch = read_config(config, name=name or directory.resolve().name)
    index, files = directory_files(directory)
    complete = bool(files) and (index is None or len(files) == len(index.files()))
    if complete:
        flags = _against_files(arch, joined(files), _packed_bits(config))
    elif index is not None:
        flags = _against_index(arch, index)
    else:
        flags = ()
    return replace(arch, flags=(*arch.flags, *flags))


def _packed_bits(config: Any) -> int | None:
    """Return the bits of packed weights, as the quantization section names them."""
    text = re.findall(r"'(?:bits|num_bits|w_bit)': (\d)\b", str(config.get("quantization_config")))
    return min((int(b) for b in text if b != "0"), default=None)


def _against_files(arch: Architecture, files: Checkpoint, bits: int | None) -> tuple[str, ...]:
    count = count_parameters(arch)
    parts = files.params_by_part(bits)
    stored = sum(parts.values())
    heads = parts.get("head", 0) if arch.tie_word_embeddings else 0
    mine = count.num_params + count.num_mtp_params
    accepted = {mine, mine + heads, count.num_params, count.num_params + heads}
    flags: list[str] = []
    if stored not in accepted:
        flags.append(f"assumed: the config gives {mine:,} parameters, its files hold {stored:,}")
    return (*flags, *_bytes_flag(arch, files.num_bytes, len(parts.keys() & {"mtp"}) > 0))


def _against_index(arch: Architecture, index: Index) -> tuple[str, ...]:
    names = index.files_by_tensor
    layers = {layer_of(n) for n in names if part_of(n) not in {"multimodal", "mtp"}} - {None}
    mtp = any(part_of(n) == "mtp" for n in names)
    found = 1 + max((cast("int", n) for n in layers), default=-1)
    flags = ["the index has no shapes: parameters are those of the config"]
    expected = {arch.num_layers, arch.num_layers + sum(b.count for b in arch.mtp_blocks)}
    if found not in expected:
        flags.append(f"assumed: the config has {arch.num_layers} layers, the index names {found}")
    if index.total_bytes is not None:
        flags += _bytes_flag(arch, index.total_bytes, mtp)
    return tuple(flags)


def _bytes_flag(arch: Architecture, stored: int, mtp: bool) -> tuple[str, ...]:
    """Return a flag where the formats of the config do not give the bytes of the file."""
    predicted = float(weight_bytes_per_device(arch, Precision.of(arch)))
    count = count_parameters(arch)
    extra = predicted * count.num_mtp_params / max(1, count.num_params) if mtp else 0.0
    head = arch.head.num_weights * 2 if arch.tie_word_embeddings and arch.head else 0
    low, high = predicted * (1 - _TOLERANCE), (predicted + extra + head) * (1 + _TOLERANCE)
    if low <= stored <= high:
        return ()
    return (
        f"formats of the config give {human(predicted, 'B')}, its files hold {human(stored, 'B')}",
    )


def refuse_weights_alone(path: Path) -> InputError:
    """Return the error for weights without a config.json: what they tell and what they do not.

    Raises:
        InputError: the file cannot be read.
    """
    if path.name.endswith(".index.json"):
        index = read_index(path)
        size = human(index.total_bytes, "B") if index.total_bytes else "unknown size"
        told = f"{len(index.files_by_tensor):,} tensor names in {len(index.files())} files, {size}"
    else:
        found = read_safetensors(path)
        kinds = ", ".join(f"{human(b, 'B')} {d}" for d, b in found.bytes_by_dtype().items())
        told = f"{len(found.tensors):,} tensors, {found.num_elements:,} elements, {kinds}"
    return InputError(
        f"{path.name[:100]} tells {told}; heads, windows and experts per token are only in "
        "config.json. Put it beside the weights and name the directory."
    )
