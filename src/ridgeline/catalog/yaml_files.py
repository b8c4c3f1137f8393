"""Catalogue YAML, read and checked: every fault with file, field, rule and value."""

# PyYAML carries no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import ValidationError

from ridgeline.catalog.architecture_io import load_architecture
from ridgeline.catalog.figures import Entry
from ridgeline.catalog.hardware import preset_unit
from ridgeline.catalog.schema import ENTRIES
from ridgeline.catalog.store import KINDS, Catalog, Kind
from ridgeline.errors import InputError

MAX_BYTES = 500_000
MAX_FILES = 10_000
_FOLDER_OF = {"device": "devices", "cluster": "clusters", "model": "models", "rental": "rental"}
_MAX_FAULTS = 50


class _Loader(yaml.SafeLoader):
    """Safe YAML without aliases (no bombs), without repeated keys, with dates as text."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("anchors and aliases are not allowed")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if not isinstance(key, str):
                raise yaml.YAMLError(f"keys must be text: {str(key)[:60]}")
        if len(set(keys)) < len(keys):
            repeated = Counter(keys).most_common(1)[0][0]
            raise yaml.YAMLError(f"key {repeated!r} stands twice")
        return super().construct_mapping(node, deep=deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, rule) for tag, rule in rules if tag != "tag:yaml.org,2002:timestamp"]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping of a YAML file, as data only.

    Raises:
        InputError: not readable, too large, not YAML, or not a mapping.
    """
    if not path.is_file():
        raise InputError(f"{path}: must be a plain file.")
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    if len(text) > MAX_BYTES:
        raise InputError(f"{path}: at most {MAX_BYTES:,} bytes.")
    try:
        data = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader, made stricter
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        words = " ".join(str(error).split())[:300]
        raise InputError(f"{path}: not valid YAML: {words}.") from error
    if not isinstance(data, dict):
        raise InputError(f"{path}: must be a mapping of fields, as in docs of the catalogue.")
    return cast("dict[str, Any]", data)


def entry_faults(kind: Kind, data: Mapping[str, Any], file: str) -> list[str]:
    """Return one sentence per broken rule: file, field path, rule, value."""
    try:
        ENTRIES[kind].model_validate(data)
    except ValidationError as error:
        return [fault_sentence(file, fault) for fault in error.errors()[:_MAX_FAULTS]]
    stem = Path(file).stem
    if data["id"] != stem:
        return [f"{file}: id: must be the file's name `{stem}`: {data['id']!r}"]
    if data.get("architecture") is not None:
        try:
            load_architecture(data["architecture"])
        except InputError as error:
            return [f"{file}: {error}"]
    return []


def fault_sentence(file: str, fault: Any) -> str:
    """Return one fault that pydantic found: file, field path, rule, value."""
    path = ".".join(str(p) for p in fault["loc"]) or "entry"
    rule = str(fault["msg"]).removeprefix("Value error, ")
    value = str(fault["input"])
    shown = "" if fault["type"] == "missing" else f": {value[:80]!r}"
    return f"{file}: {path}: {rule}{shown}"


def _kind_of(path: Path, data: Mapping[str, Any]) -> Kind:
    kind = str(data.get("kind", ""))
    named = _FOLDER_OF.get(kind) or (path.parent.name if path.parent.name in KINDS else None)
    if named is None or (kind and kind not in _FOLDER_OF):
        raise InputError(
            f"{path}: kind: must be device, cluster, model or rental, or the file must lie in a"
            f" folder devices, clusters, models or rental: {kind[:60]!r}"
        )
    return named  # pyright: ignore[reportReturnType]


def load_user_catalog(directories: Iterable[Path]) -> Catalog:
    """Return the built-in catalogue with the entries of `directories` on top, later ones first.

    Raises:
        InputError: every fault of every file, one per line.
    """
    overlay: dict[str, dict[str, Entry]] = {kind: {} for kind in KINDS}
    origins: dict[str, str] = {}
    faults: list[str] = []
    for directory in directories:
        files = sorted([*directory.rglob("*.yaml"), *directory.rglob("*.yml")])
        if len(files) > MAX_FILES:
            raise InputError(f"{directory}: at most {MAX_FILES:,} YAML files: {len(files):,}.")
        for path in files:
            try:
                data = read_yaml(path)
                if data.get("kind") == "calibration":
                    continue  # named by --calibration, see catalog.calibration
                kind = _kind_of(path, data)
            except InputError as error:
                faults.append(str(error))
                continue
            found = entry_faults(kind, data, str(path))
            faults += found
            if not found:
                overlay[kind][data["id"]] = data
                origins[f"{kind}/{data['id']}"] = str(path)
    catalog = Catalog(overlay=overlay, origins=origins)
    if not faults:
        faults = _reference_faults(catalog)
    if faults:
        raise InputError("The catalogue has faults:\n  " + "\n  ".join(faults[:_MAX_FAULTS]))
    return catalog


def _reference_faults(catalog: Catalog) -> list[str]:
    """Return faults between entries: clusters and prices of devices that do not exist."""
    faults: list[str] = []
    for name, entry in catalog.overlay.get("clusters", {}).items():
        file = catalog.origin("clusters", name)
        device = catalog.find("devices", entry["device"])
        if device is None:
            faults.append(f"{file}: device: must be in the catalogue: {entry['device']!r}")
            continue
        try:
            preset_unit(entry, device)
        except InputError as error:
            faults.append(f"{file}: {error}")
    faults += [
        f"{catalog.origin('rental', name)}: id: must be a device of the catalogue: {name!r}"
        for name in catalog.overlay.get("rental", {})
        if catalog.find("devices", name) is None
    ]
    return faults
