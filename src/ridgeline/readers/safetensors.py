"""safetensors headers and indexes: exact elements and bytes, packed weights unpacked.

A file starts with the length of its header (8 bytes, little-endian) and a JSON object of
`{name: {dtype, shape, data_offsets}}`. Only headers are read. An index
(`model.safetensors.index.json`) has names, files and a total size, but no shapes.

Source: huggingface/safetensors, README, Format.
"""

from __future__ import annotations

import math
import struct
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ridgeline.errors import InputError
from ridgeline.readers.files import (
    is_regular_file,
    load_config,
    open_file,
    parse_config,
)
from ridgeline.readers.modules import Part, part_of

_MAX_HEADER = 20 * 2**20
_MAX_TENSORS = 1_000_000
_MAX_FILES = 4_000
_BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "I16": 16, "U16": 16,
    "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "I64": 64, "U64": 64, "F64": 64,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "C64": 64,
}  # fmt: skip
INDEX = "model.safetensors.index.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTensor:
    """One tensor as it lies in a file."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def num_elements(self) -> int:
        """Stored elements: packed words count once."""
        return math.prod(self.shape)

    @property
    def num_bytes(self) -> int:
        """Bytes in the file [B]."""
        return self.num_elements * _BITS[self.dtype] // 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The tensors of a model's files."""

    tensors: tuple[StoredTensor, ...]

    @property
    def num_elements(self) -> int:
        """Stored elements, which packed formats make fewer or more than parameters."""
        return sum(t.num_elements for t in self.tensors)

    @property
    def num_bytes(self) -> int:
        """Bytes of all tensors [B]."""
        return sum(t.num_bytes for t in self.tensors)

    def bytes_by_dtype(self) -> dict[str, int]:
        """Return the bytes of each dtype [B]."""
        total: dict[str, int] = defaultdict(int)
        for t in self.tensors:
            total[t.dtype] += t.num_bytes
        return dict(total)

    def params_by_part(self, bits: int | None = None) -> dict[Part, int]:
        """Return the parameters of each part of the model, packed weights unpacked.

        Args:
            bits: Bits per packed weight, from quantization_config; 4 unless known.
        """
        names = {t.name for t in self.tensors}
        total: dict[Part, int] = defaultdict(int)
        for t in self.tensors:
            total[part_of(t.name)] += num_params(t, names, bits)
        return dict(total)


_NOT_PARAMETERS = (
    ".weight_scale_inv", ".weight_scale", ".weight_scale_2", ".input_scale", ".weight_global_scale",
    ".input_global_scale", ".weight_shape", ".weight_zero_point", ".weight_g_idx", ".qzeros",
    ".scales", ".g_idx", "_scales", ".absmax", ".nested_absmax", ".quant_map", ".nested_quant_map",
    ".k_scale", ".v_scale", ".q_scale", "_scale_inv", ".zeros", ".SCB", ".weight_format",
    ".inv_freq", ".e_score_correction_bias", ".activation_scale", ".w1_scale", ".w2_scale",
)  # fmt: skip
"""Endings of names that hold scales, zero points, indices and buffers."""
_PACKED = (".qweight", ".weight_packed", ".W_q", "_packed")


def num_params(tensor: StoredTensor, names: set[str], bits: int | None = None) -> int:
    """Return the parameters in one tensor: none in scales, several in a packed word.

    Args:
        tensor: The tensor.
        names: Names of all tensors; scales beside a tensor tell that it is packed.
        bits: Bits per packed weight; 4 unless known.

    Source: the layouts of GPTQ, AWQ, compressed-tensors, ModelOpt, MXFP4, bitsandbytes, MLX.
    """
    if not _holds_parameters(tensor.name, names):
        return 0
    return tensor.num_elements * _weights_per_element(tensor, names, bits or 4)


def _holds_parameters(name: str, names: set[str]) -> bool:
    """Whether a tensor is neither scales, zero points, indices nor buffers."""
    if name.endswith(_NOT_PARAMETERS) or ".quant_state." in name:
        return False
    stem, _, last = name.rpartition(".")
    beside = {"biases": {f"{stem}.scales"}, "scale": {f"{stem}.weight", f"{stem}.W_q"}}
    beside["zero"] = beside["scale"]
    return not beside.get(last, set()) & names


def _weights_per_element(tensor: StoredTensor, names: set[str], per: int) -> int:
    """Return the weights of `per` bits that one stored element holds: 1 unless it is packed."""
    name, width = tensor.name, _BITS[tensor.dtype]
    stem = name.removesuffix(".weight")
    if name.endswith("_blocks") and tensor.dtype == "U8":
        return 2
    if name.endswith(_PACKED) or (tensor.dtype == "U32" and f"{stem}.scales" in names):
        return max(1, width // per)
    beside = {f"{stem}.weight_scale", f"{name}.absmax", f"{stem}.scale", f"{stem}.weight_scale_inv"}
    return 2 if tensor.dtype in {"U8", "I8"} and per == 4 and beside & names else 1


def read_safetensors(path: Path) -> Checkpoint:
    """Return the tensors of one .safetensors file; only its header is read.

    Raises:
        InputError: no safetensors file, cut short, or a header that contradicts itself.
    """
    what = path.name[:100]
    try:
        with open_file(path) as file:
            size = path.stat().st_size
            head = file.read(8)
            length = struct.unpack("<Q", head)[0] if len(head) == 8 else 0
            if not 2 <= length <= size - 8:
                raise InputError(f"{what} is not a safetensors file: header of {length:,} bytes.")
            if length > _MAX_HEADER:
                raise InputError(f"{what}: its header is larger than 20 MiB.")
            text = file.read(length).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{what} is not a safetensors file: header is not UTF-8.") from None
    except OSError as error:
        raise InputError(f"{what} cannot be read: {error.strerror or error}.") from None
    header = parse_config(text, what=what)
    tensors = [_tensor(n, e, what) for n, e in header.items() if n != "__metadata__"]
    if len(tensors) > _MAX_TENSORS:
        raise InputError(f"{what} must hold at most {_MAX_TENSORS:,} tensors: {len(tensors):,}.")
    total = sum(t.num_bytes for t in tensors)
    if total > size - 8 - length:
        raise InputError(f"{what} is cut short: tensors need {total:,} bytes of {size:,}.")
    return Checkpoint(tensors=tuple(tensors))


def _tensor(name: str, entry: Any, what: str) -> StoredTensor:
    fields: Mapping[str, Any] = cast("Any", entry) if isinstance(entry, Mapping) else {}
    dtype, shape, offsets = (fields.get(k) for k in ("dtype", "shape", "data_offsets"))
    lists = isinstance(shape, list) and isinstance(offsets, list)
    numbers: list[Any] = [*cast("list[Any]", shape), *cast("list[Any]", offsets)] if lists else [-1]
    whole = all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**50 for n in numbers)
    if not isinstance(dtype, str) or dtype not in _BITS or not whole or len(numbers) > 18:
        raise InputError(f"{what}: tensor {name[:80]!r} has no usable dtype, shape and offsets.")
    start, end = numbers[-2], numbers[-1]
    tensor = StoredTensor(name=name, dtype=dtype, shape=tuple(numbers[:-2]))
    if len(cast("list[Any]", offsets)) != 2 or end - start != tensor.num_bytes:
        raise InputError(
            f"{what}: {name[:80]!r} of {dtype} {tensor.shape} must span {tensor.num_bytes:,} "
            f"bytes: {end - start:,}."
        )
    return tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """What model.safetensors.index.json says: names, files and a total, but no shapes."""

    files_by_tensor: Mapping[str, str]
    total_bytes: int | None

    def files(self) -> tuple[str, ...]:
        """Return the names of the files, in order."""
        return tuple(sorted(set(self.files_by_tensor.values())))


def read_index(path: Path) -> Index:
    """Return the names, files and total size of an index.

    Raises:
        InputError: not an index.
    """
    data = load_config(path)
    names: Any = data.get("weight_map")
    if not isinstance(names, dict) or not names:
        raise InputError(f"{path.name[:100]} has no `weight_map`; it is not a safetensors index.")
    mapping = cast("dict[str, Any]", names)
    if not all(isinstance(v, str) for v in mapping.values()):
        raise InputError(f"{path.name[:100]}: `weight_map` must map tensor names to file names.")
    metadata: Any = data.get("metadata")
    total = cast("Mapping[str, Any]", metadata).get("total_size") if _is(metadata) else None
    good = isinstance(total, int) and not isinstance(total, bool) and 0 < total < 2**60
    return Index(
        files_by_tensor=cast("dict[str, str]", mapping), total_bytes=total if good else None
    )


def _is(value: Any) -> bool:
    return isinstance(value, Mapping)


def directory_files(directory: Path) -> tuple[Index | None, tuple[Path, ...]]:
    """Return the index of a model directory, if any, and the weight files that are there.

    Raises:
        InputError: an index that cannot be read or that points outside the directory.
    """
    index_path = directory / INDEX
    if is_regular_file(index_path):
        index = read_index(index_path)
        outside = [n for n in index.files() if Path(n).name != n]
        if outside or len(index.files()) > _MAX_FILES:
            raise InputError(
                f"{INDEX} must name files beside it: {(outside or ['too many'])[0]!r}."
            )
        present = tuple(directory / n for n in index.files() if is_regular_file(directory / n))
        return index, present
    return None, tuple(sorted(directory.glob("*.safetensors"))[:_MAX_FILES])


def joined(files: Iterable[Path]) -> Checkpoint:
    """Return the tensors of several files as one checkpoint.

    Raises:
        InputError: a file that cannot be read, or a tensor that occurs twice.
    """
    tensors = [t for path in files for t in read_safetensors(path).tensors]
    if len({t.name for t in tensors}) != len(tensors):
        raise InputError("A tensor occurs in two safetensors files of the directory.")
    return Checkpoint(tensors=tuple(tensors))
