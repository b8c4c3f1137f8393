"""Routing counts and routes from CSV, NumPy and JSON files; nothing in a file is executed."""

from __future__ import annotations

import csv
import json
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.placement.expert_records import Floats, Ints, RoutingLog

MAX_FILE_BYTES = 2**30
MAX_CELLS = 2**27
MAX_ROUTES = 8192
"""Tokens of routes kept for traffic, evenly spaced; counts use all of them."""
_KEYS = ("counts", "counts_by_source", "routes", "route_source", "num_experts", "logical_count")
_FORMS = (
    "a CSV with the header layer,expert,count (and source), or a bare matrix of layers × experts; "
    "a .npy of layers × experts or layers × sources × experts; or a .json or .npz with "
    f"{', '.join(_KEYS[:4])}"
)


def read_routing(path: Path, *, num_ranks: int) -> RoutingLog:
    """Return the routing log in a .csv, .npy, .npz or .json file.

    JSON and npz hold `counts` [layers, experts], `counts_by_source` [layers, sources, experts],
    or `routes` [tokens, layers, top_k] with `route_source` [tokens]; JSON may also be a bare
    matrix or SGLang's `logical_count`. Layers without tokens are left out.

    Args:
        path: The file.
        num_ranks: Ranks that tokens without a source are spread over.

    Raises:
        InputError: unreadable, ragged, empty, negative, not finite, or too large.
    """
    _check_size(path)
    readers = {".csv": _csv, ".npy": _npy, ".npz": _npz, ".json": _json}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path.name[:80]} must be {_FORMS}.")
    try:
        parts = reader(path)
        return _log(parts, num_ranks)
    except InputError as error:
        raise InputError(f"{path.name[:80]}: {error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path.name[:80]} is not UTF-8 text.") from None
    except RecursionError:
        raise InputError(f"{path.name[:80]} is nested too deeply.") from None
    except (OSError, ValueError, EOFError, csv.Error, zipfile.BadZipFile) as error:
        raise InputError(f"{path.name[:80]} cannot be read: {str(error)[:160]}.") from None


def _check_size(path: Path) -> None:
    try:
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)[:100]} cannot be read: {str(error)[:120]}.") from None
    if not path.is_file():
        raise InputError(f"{str(path)[:100]} is not a file. Routing counts are {_FORMS}.")
    if size > MAX_FILE_BYTES:
        raise InputError(f"{path.name[:80]} must be at most 1 GiB: {size / 2**30:.1f} GiB.")
    if size == 0:
        raise InputError(f"{path.name[:80]} is empty. Routing counts are {_FORMS}.")


def _npy(path: Path) -> Mapping[str, Any]:
    try:
        table = cast("NDArray[Any]", np.load(path, allow_pickle=False, mmap_mode="r"))
    except (ValueError, EOFError):
        # Their words advise to unpickle, which is never done here.
        raise InputError("cannot be read: not a .npy of plain numbers, or cut short.") from None
    _check_cells(table.size)
    if table.ndim not in (2, 3):
        raise InputError(f"a .npy must have 2 or 3 axes: shape {table.shape}. Give {_FORMS}.")
    return {"counts" if table.ndim == 2 else "counts_by_source": np.array(table)}


def _npz(path: Path) -> Mapping[str, Any]:
    with zipfile.ZipFile(path) as archive:
        # A byte unpacked may be a count of 8 bytes in memory.
        _check_cells(sum(_cells_of(archive, entry) for entry in archive.infolist()))
    with np.load(path, allow_pickle=False) as found:
        return {key: found[key] for key in found.files if key in _KEYS}


def _cells_of(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> int:
    """Return how many numbers an entry holds, by its header; the claim may not exceed the bytes."""
    if not entry.filename.endswith(".npy"):
        return entry.file_size
    with archive.open(entry) as file:
        major, _ = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0
            if major == 1
            else np.lib.format.read_array_header_2_0
        )
        shape, _, _ = read(file)
    return math.prod(shape)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InputError("a key stands twice in one object; keep one of them.")
    return found


def _json(path: Path) -> Mapping[str, Any]:
    found: Any = json.loads(path.read_text("utf-8"), object_pairs_hook=_unique)
    if isinstance(found, list):
        return {"counts": cast("list[Any]", found)}
    if not isinstance(found, dict):
        raise InputError(f"must hold a matrix or an object. Give {_FORMS}.")
    known = cast("dict[str, Any]", found)
    return {key: value for key, value in known.items() if key in _KEYS}


def _check_cells(cells: int) -> None:
    if cells > MAX_CELLS:
        raise InputError(f"must hold at most {MAX_CELLS:,} numbers: {cells:,}.")


def _csv(path: Path) -> Mapping[str, Any]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        first = next((row for row in rows if row), None)
        if first is None:
            raise InputError(f"has no rows. Routing counts are {_FORMS}.")
        names = [cell.strip().lower() for cell in first]
        if not any(c.isalpha() and c not in "naife" for name in names for c in name):
            return {"counts": _matrix([first, *(row for row in rows if row)])}
        names = ["source" if name == "source_rank" else name for name in names]
        if not {"layer", "expert", "count"} <= set(names):
            raise InputError(f"header must name layer, expert and count: {', '.join(first)[:80]}.")
        twice = next((n for n in names if n and names.count(n) > 1), None)
        if twice is not None:
            raise InputError(f"the column {twice[:60]!r} stands twice; keep one of them.")
        columns = [names.index(n) for n in ("layer", "expert", "count", "source") if n in names]
        return _long([_cells(row, columns, n) for n, row in enumerate(rows, 2) if row])


def _cells(row: list[str], columns: list[int], line: int) -> list[float]:
    try:
        return [float(row[i]) for i in columns]
    except (ValueError, IndexError):
        raise InputError(f"line {line} must hold numbers: {','.join(row)[:60]!r}.") from None


def _matrix(rows: list[list[str]]) -> Floats:
    width = len(rows[0])
    for line, row in enumerate(rows, 1):
        if len(row) != width:
            raise InputError(f"row {line} must have {width} columns like row 1: {len(row)}.")
    return np.array([_cells(row, list(range(width)), n) for n, row in enumerate(rows, 1)])


def _long(rows: list[list[float]]) -> Mapping[str, Any]:
    if not rows:
        raise InputError("has a header but no rows.")
    table = np.array(rows)
    keys = np.delete(table, 2, axis=1)
    # Not <: NaN compares false and must be refused too.
    if not ((keys >= 0) & (keys < 2**20) & (keys == np.floor(keys))).all():
        raise InputError("layer, expert and source must be whole numbers from 0 to 2^20.")
    index = keys.astype(np.int64)
    layers, layer = np.unique(index[:, 0], return_inverse=True)
    shape = (len(layers), *(int(n) + 1 for n in index[:, 1:].max(axis=0)))
    _check_cells(int(np.prod(np.array(shape, dtype=np.float64))))
    where = np.ravel_multi_index((layer, *index[:, 1:].T), shape)
    if len(np.unique(where)) != len(where):
        raise InputError("names the same layer and expert (and source) twice.")
    counts = np.zeros(int(np.prod(shape)))
    counts[where] = table[:, 2]
    counts = counts.reshape(shape)
    flags: list[str] = []
    if len(where) < counts.size:
        flags.append(f"{counts.size - len(where):,} cells the file does not name are read as 0")
    key = "counts" if counts.ndim == 2 else "counts_by_source"
    # The file's columns are layer, expert, source; the log's axes are layer, source, expert.
    data = counts if counts.ndim == 2 else counts.transpose(0, 2, 1)
    return {key: data, "layers": tuple(layers.tolist()), "flags": flags}


def _array(value: Any, what: str, *ndim: int) -> NDArray[Any]:
    try:
        found = np.asarray(value)
    except ValueError:
        raise InputError(f"{what} must be rectangular: its rows differ in length.") from None
    if found.dtype.kind not in "iuf":
        raise InputError(f"{what} must hold numbers only (not {found.dtype}).")
    if found.ndim not in ndim or 0 in found.shape:
        axes = " or ".join(str(n) for n in ndim)
        raise InputError(f"{what} must have {axes} axes, none empty: shape {found.shape}.")
    return found


def _log(parts: Mapping[str, Any], num_ranks: int) -> RoutingLog:
    flags = list[str](parts.get("flags", []))
    by_source = routes = source = None
    if "routes" in parts:
        routes = _array(parts["routes"], "routes", 3)
        load = _route_counts(routes, parts.get("num_experts"))
        source = _sources(parts.get("route_source"), len(routes), num_ranks, flags)
        if len(routes) > MAX_ROUTES:
            keep = np.linspace(0, len(routes) - 1, MAX_ROUTES).astype(np.int64)
            flags.append(f"traffic from {MAX_ROUTES:,} of {len(routes):,} tokens, evenly spaced")
            routes, source = routes[keep], source[keep]
        routes = routes.astype(np.int64)
    elif "counts_by_source" in parts:
        by_source = _array(parts["counts_by_source"], "counts_by_source", 3).astype(np.float64)
        load = by_source.sum(axis=1)
        if not (by_source >= 0).all():
            raise InputError("counts_by_source must be finite and at least 0.")
    elif "counts" in parts:
        load = _array(parts["counts"], "counts", 2).astype(np.float64)
    elif "logical_count" in parts:
        load = _array(parts["logical_count"], "logical_count", 2, 3).astype(np.float64)
        load = load.sum(axis=0) if load.ndim == 3 else load
    else:
        raise InputError(f"names none of {', '.join(_KEYS[:4])}. Give {_FORMS}.")
    names = tuple[int, ...](parts.get("layers", range(len(load))))
    heard = ~(load.sum(axis=1) == 0)
    if not heard.all() and heard.any():
        quiet = [str(n) for n, h in zip(names, heard, strict=True) if not h]
        flags.append(f"layers without tokens left out: {', '.join(quiet[:8])}")
    if heard.any():
        load = load[heard]
        names = tuple(n for n, h in zip(names, heard, strict=True) if h)
        by_source = by_source if by_source is None else by_source[heard]
    return RoutingLog(
        load=load,
        by_source=by_source,
        routes=routes,
        route_source=source,
        layers=names,
        flags=tuple(flags),
    )


def _route_counts(routes: NDArray[Any], num_experts: Any) -> Floats:
    if routes.dtype.kind not in "iu" or int(routes.min()) < 0:
        raise InputError("routes must be expert numbers, whole and at least 0.")
    experts = int(routes.max()) + 1
    if num_experts is not None:
        experts = int(_array(num_experts, "num_experts", 0))
    if int(routes.max()) >= experts:
        raise InputError(f"routes must be below {experts} experts: {int(routes.max())}.")
    _check_cells(experts * routes.shape[1])
    ordered = np.sort(routes, axis=2)
    if (ordered[:, :, 1:] == ordered[:, :, :-1]).any():
        raise InputError("routes must name different experts for a token: one is named twice.")
    count = [
        np.bincount(routes[:, n].reshape(-1), minlength=experts) for n in range(routes.shape[1])
    ]
    return np.stack(count).astype(np.float64)


def _sources(value: Any, num_tokens: int, num_ranks: int, flags: list[str]) -> Ints:
    if value is None:
        flags.append("sources of tokens not given: tokens in order over ranks in equal runs")
        return np.arange(num_tokens, dtype=np.int64) * num_ranks // num_tokens
    source = _array(value, "route_source", 1)
    if source.dtype.kind not in "iu" or len(source) != num_tokens or int(source.min()) < 0:
        raise InputError(
            f"route_source must be one rank (at least 0) for each of {num_tokens:,} tokens."
        )
    return source.astype(np.int64)
