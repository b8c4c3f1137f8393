"""An `Architecture` as plain data and back: how models are kept in the catalogue.

Fields keep their names and defaults are left out. Members of a union carry their record's name
under `type`. Equal layers are written once, in `layer_kinds`; `layers` lists `[kind, count]` runs.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ridgeline.errors import InputError
from ridgeline.model import architecture as records
from ridgeline.model.architecture import Architecture, Block

_MAX_COUNT = 10**15
"""No count of a real model comes near; larger ones are typing errors or attacks."""


def dump_architecture(architecture: Architecture) -> dict[str, Any]:
    """Return the plain form of `architecture`: dicts, lists, text, numbers."""
    plain = _dump(architecture)
    blocks = architecture.blocks
    kinds = list(dict.fromkeys(dataclasses.replace(b, count=1) for b in blocks))
    plain["layer_kinds"] = [{k: v for k, v in _dump(b).items() if k != "count"} for b in kinds]
    plain["layers"] = [[kinds.index(dataclasses.replace(b, count=1)), b.count] for b in blocks]
    del plain["blocks"]
    return plain


def load_architecture(plain: Mapping[str, Any], *, where: str = "architecture") -> Architecture:
    """Return the architecture that `dump_architecture` wrote.

    Raises:
        InputError: a field that is missing, unknown or of the wrong type, with its path.
    """
    data = dict(plain)
    kinds = _sequence(data.pop("layer_kinds", None), f"{where}.layer_kinds")
    runs = _sequence(data.pop("layers", None), f"{where}.layers")
    blocks: list[dict[str, Any]] = []
    for i, run in enumerate(runs):
        path = f"{where}.layers[{i}]"
        pair = _sequence(run, path)
        good = len(pair) == 2 and all(type(x) is int for x in pair)
        if not good or not 0 <= pair[0] < len(kinds) or pair[1] < 1:
            raise InputError(
                f"{path} must be [kind, count] with kind in 0..{len(kinds) - 1} and count of at"
                f" least 1: {str(run)[:60]}."
            )
        kind = kinds[pair[0]]
        if not isinstance(kind, Mapping):
            raise InputError(f"{where}.layer_kinds[{pair[0]}] must be a mapping.")
        blocks.append({**cast("Mapping[str, Any]", kind), "count": pair[1]})
    data["blocks"] = blocks
    return cast("Architecture", _load(Architecture, data, where))


def _dump(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        plain: dict[str, Any] = {}
        for field in dataclasses.fields(value):
            item = getattr(value, field.name)
            if field.default is not dataclasses.MISSING and item == field.default:
                continue
            plain[field.name] = _dump(item)
        if type(value) in _tagged():
            plain = {"type": type(value).__name__, **plain}
        return plain
    if isinstance(value, tuple):
        return [_dump(item) for item in cast("tuple[Any, ...]", value)]
    return value


def _sequence(value: Any, where: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise InputError(f"{where} must be a list: {str(value)[:60]}.")
    return cast("list[Any]", value)


@functools.cache
def _tagged() -> frozenset[type]:
    return frozenset(typing.get_args(records.Core))


@functools.cache
def _hints(record: type) -> dict[str, Any]:
    return typing.get_type_hints(record)


def _load(hint: Any, value: Any, where: str) -> Any:
    """Return `value` as an instance of the annotation `hint`."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint):
        return _load_record(cast("type", hint), value, where)
    if origin in (types.UnionType, typing.Union):
        return _load_union(args, value, where)
    if origin is tuple:
        items = _sequence(value, where)
        if len(args) == 2 and args[1] is Ellipsis:
            return tuple(_load(args[0], x, f"{where}[{i}]") for i, x in enumerate(items))
        if len(items) != len(args):
            raise InputError(f"{where} must have {len(args)} items: {len(items)}.")
        return tuple(
            _load(arg, x, f"{where}[{i}]")
            for i, (arg, x) in enumerate(zip(args, items, strict=True))
        )
    if origin is typing.Literal:
        if value not in args:
            raise InputError(f"{where} must be one of {', '.join(args)}: {str(value)[:60]}.")
        return value
    return _load_scalar(hint, value, where)


def _load_scalar(hint: Any, value: Any, where: str) -> Any:
    if hint is float and type(value) is int:
        value = float(value)
    if type(value) is not hint:
        name = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}[hint]
        raise InputError(f"{where} must be {name}: {str(value)[:60]!r}.")
    if hint in (int, float) and not 0 <= value <= _MAX_COUNT:
        raise InputError(f"{where} must be between 0 and 1e15: {str(value)[:60]}.")
    return value


def _load_union(args: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and type(None) in args:
        return None
    members = [a for a in args if a is not type(None)]
    if len(members) == 1:
        return _load(members[0], value, where)
    names = {m.__name__: m for m in members}
    items = cast("Mapping[str, Any]", value if isinstance(value, Mapping) else {})
    tag = items.get("type")
    if not isinstance(tag, str) or tag not in names:
        raise InputError(f"{where}.type must be one of {', '.join(names)}: {str(tag)[:60]!r}.")
    return _load_record(names[tag], {k: v for k, v in items.items() if k != "type"}, where)


def _load_record(record: type, value: Any, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise InputError(f"{where} must be a mapping: {str(value)[:60]!r}.")
    hints = _hints(record)
    items = cast("Mapping[str, Any]", value)
    unknown = [k for k in items if k not in hints]
    if unknown:
        known = ", ".join(hints)
        raise InputError(f"{where} has no field {str(unknown[0])[:60]!r}. Fields: {known}.")
    required = [f.name for f in dataclasses.fields(record) if f.default is dataclasses.MISSING]
    missing = [name for name in required if name not in items]
    if missing:
        raise InputError(f"{where} must have the field `{missing[0]}`.")
    loaded = {k: _load(hints[k], v, f"{where}.{k}") for k, v in items.items()}
    if record is Block and loaded["count"] < 1:
        raise InputError(f"{where}.count must be at least 1.")
    return record(**loaded)
