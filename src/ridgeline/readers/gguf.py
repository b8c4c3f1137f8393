"""GGUF header: magic, key-value pairs and tensor infos, bounded in time and memory.

Only the header is read. Every length in the file is checked against a limit and against the
bytes that are left before anything is allocated. Long arrays (the tokenizer) are skipped.

Source: ggml, docs/gguf.md, versions 2 and 3.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from ridgeline.errors import InputError, printable
from ridgeline.model.formats import GGUF_TYPES, storage_bytes
from ridgeline.readers.files import is_regular_file, open_file

MAGIC = b"GGUF"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q",
            12: "d"}  # fmt: skip
_STRING, _ARRAY = 8, 9
_MAX_HEADER = 256 * 2**20
_MAX_PAIRS = 65_536
_MAX_TENSORS = 200_000
_MAX_ARRAY = 4_000_000
_KEPT_ARRAY = 4_096
_MAX_KEY = 65_535
_MAX_STRING = 16 * 2**20
_MAX_ELEMENTS = 2**50
_MAX_PARTS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorInfo:
    """One tensor of the file."""

    name: str
    shape: tuple[int, ...]
    """As in PyTorch, input features last (GGUF stores the reverse)."""
    format: str
    """Storage format, key of `model.formats`."""

    @property
    def num_elements(self) -> int:
        """Weights of the tensor."""
        return math.prod(self.shape)

    @property
    def num_bytes(self) -> int:
        """Bytes of the tensor, alignment apart [B]."""
        return int(storage_bytes(self.format, self.num_elements, self.shape))


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufHeader:
    """What the header says; arrays of more than 4,096 entries are kept as their length."""

    version: int
    values: Mapping[str, Any]
    array_lengths: Mapping[str, int]
    tensors: tuple[TensorInfo, ...]

    @property
    def num_bytes(self) -> int:
        """Bytes of all tensors, alignment apart [B]."""
        return sum(t.num_bytes for t in self.tensors)


class _Reader:
    """Little-endian values from a file, with the limits applied."""

    def __init__(self, file: BinaryIO, size: int, name: str) -> None:
        self.file, self.name = file, name
        self.end = min(size, _MAX_HEADER)
        self.size = size
        self.at = 0

    def fail(self, what: str) -> InputError:
        return InputError(f"{self.name} is not a readable GGUF file: {what} (byte {self.at:,}).")

    def need(self, count: int) -> None:
        if self.at + count > self.end:
            if self.end < self.size:
                raise self.fail("its header is larger than 256 MiB")
            raise self.fail(f"it ends inside the header, {count:,} more bytes are needed")

    def take(self, count: int) -> bytes:
        self.need(count)
        data = self.file.read(count)
        if len(data) != count:
            raise self.fail("it was cut while being read")
        self.at += count
        return data

    def skip(self, count: int) -> None:
        self.need(count)
        self.file.seek(count, 1)
        self.at += count

    def number(self, code: str) -> Any:
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))[0]

    def length(self, limit: int, what: str) -> int:
        value = int(self.number("Q"))
        if value > limit:
            raise self.fail(f"{what} must be at most {limit:,}: {value:,}")
        return value

    def text(self, limit: int, what: str) -> str:
        return self.take(self.length(limit, what)).decode("utf-8", "replace")

    def value(self, kind: int) -> tuple[Any, int | None]:
        """Return a value, and its length where it is an array."""
        if kind in _SCALARS:
            return self.number(_SCALARS[kind]), None
        if kind == _STRING:
            return self.text(_MAX_STRING, "a string"), None
        if kind != _ARRAY:
            raise self.fail(f"unknown value type {kind}")
        inner = int(self.number("I"))
        count = self.length(_MAX_ARRAY, "an array")
        if inner in _SCALARS:
            code = _SCALARS[inner]
            width = struct.calcsize("<" + code)
            if count > _KEPT_ARRAY:
                self.skip(count * width)
                return None, count
            return list(struct.unpack(f"<{count}{code}", self.take(count * width))), count
        if inner != _STRING:
            raise self.fail(f"arrays of type {inner} are not used by models")
        self.need(8 * count)
        if count <= _KEPT_ARRAY:
            return [self.text(_MAX_STRING, "a string") for _ in range(count)], count
        for _ in range(count):
            self.skip(self.length(_MAX_STRING, "a string"))
        return None, count


def _pairs(reader: _Reader, count: int) -> tuple[dict[str, Any], dict[str, int]]:
    values: dict[str, Any] = {}
    lengths: dict[str, int] = {}
    for _ in range(count):
        key = reader.text(_MAX_KEY, "a key")
        if key in values or key in lengths:
            raise reader.fail(f"key {key[:60]!r} occurs twice")
        value, length = reader.value(int(reader.number("I")))
        if length is not None:
            lengths[key] = length
        if value is not None:
            values[key] = value
    return values, lengths


def _tensor(reader: _Reader) -> TensorInfo:
    name = printable(reader.text(_MAX_KEY, "a tensor name"))
    axes = int(reader.number("I"))
    if not 1 <= axes <= 4:
        raise reader.fail(f"tensor {name[:60]!r} must have 1 to 4 axes: {axes}")
    shape = tuple(int(reader.number("Q")) for _ in range(axes))
    if not all(shape) or math.prod(shape) > _MAX_ELEMENTS:
        raise reader.fail(f"tensor {name[:60]!r} has an impossible shape {shape}")
    kind = int(reader.number("I"))
    reader.number("Q")  # offset of the data
    if kind not in GGUF_TYPES:
        raise reader.fail(f"tensor {name[:60]!r} has the unknown type {kind}")
    form, block, _ = GGUF_TYPES[kind]
    if shape[0] % block:
        raise reader.fail(f"rows of {name[:60]!r} must be whole blocks of {block}: {shape[0]}")
    return TensorInfo(name=name, shape=shape[::-1], format=form)


def _one_header(path: Path) -> GgufHeader:
    try:
        with open_file(path) as file:
            size = path.stat().st_size
            reader = _Reader(file, size, path.name[:100])
            if reader.take(4) != MAGIC:
                raise reader.fail("it does not start with 'GGUF'")
            version = int(reader.number("I"))
            if version not in {2, 3}:
                kind = "big-endian" if version % 65536 == 0 else f"version {version}"
                raise reader.fail(f"versions 2 and 3, little-endian, are supported, not {kind}")
            tensors = reader.length(_MAX_TENSORS, "the number of tensors")
            pairs = reader.length(_MAX_PAIRS, "the number of keys")
            values, lengths = _pairs(reader, pairs)
            reader.need(24 * tensors)
            infos = tuple(_tensor(reader) for _ in range(tensors))
    except OSError as error:
        raise InputError(f"{path.name[:100]} cannot be read: {error.strerror or error}.") from None
    return GgufHeader(version=version, values=values, array_lengths=lengths, tensors=infos)


def read_gguf_header(path: Path) -> GgufHeader:
    """Return the header of a GGUF file; of a split model, with the tensors of all its parts.

    Raises:
        InputError: not GGUF, cut short, an impossible length or shape, or a missing part.

    Source: ggml, docs/gguf.md.
    """
    header = _one_header(path)
    parts = header.values.get("split.count", 0)
    if not isinstance(parts, int) or not 0 <= parts <= _MAX_PARTS:
        raise InputError(f"{path.name[:100]}: `split.count` must be at most {_MAX_PARTS:,}.")
    if parts > 1:
        header = _joined(path, header, parts)
    names = [t.name for t in header.tensors]
    if len(set(names)) != len(names):
        raise InputError(f"{path.name[:100]}: a tensor name occurs twice.")
    return header


def _joined(path: Path, header: GgufHeader, parts: int) -> GgufHeader:
    match = re.fullmatch(r"(.*)-\d{5}-of-(\d{5})\.gguf", path.name)
    if match is None or int(match.group(2)) != parts:
        raise InputError(
            f"{path.name[:100]} is one of {parts} parts; keep their names NAME-00001-of-"
            f"{parts:05d}.gguf."
        )
    tensors: list[TensorInfo] = []
    values = dict(header.values)
    for part in range(1, parts + 1):
        other = path.with_name(f"{match.group(1)}-{part:05d}-of-{parts:05d}.gguf")
        if not is_regular_file(other):
            raise InputError(f"{path.name[:100]} needs its part {part} of {parts} beside it.")
        found = header if other == path else _one_header(other)
        tensors += found.tensors
        values = {**found.values, **values}
    return GgufHeader(
        version=header.version,
        values=values,
        array_lengths=header.array_lengths,
        tensors=tuple(tensors),
    )
