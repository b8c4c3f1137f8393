"""The catalogue: built-in entries, overlaid by the user's own, found by any of their names."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from ridgeline.catalog.architecture_io import load_architecture
from ridgeline.catalog.figures import Entry
from ridgeline.catalog.hardware import device_record
from ridgeline.catalog.rental import default_price
from ridgeline.errors import InputError, UnknownNameError
from ridgeline.hardware import Device
from ridgeline.model.architecture import Architecture

Kind = Literal["devices", "clusters", "models", "rental"]
KINDS: tuple[Kind, ...] = ("devices", "clusters", "models", "rental")
DATA = Path(__file__).parent / "data"
_WORDS = {"devices": "device", "clusters": "cluster", "models": "model", "rental": "price"}
LIST_COMMANDS: dict[str, str] = {
    k: f"ridgeline list {'prices' if k == 'rental' else k}" for k in KINDS
}


def user_directory() -> Path:
    """Return the user's own catalogue folder, whether or not it exists."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "ridgeline" / "catalog"


@functools.cache
def _builtin(kind: str) -> dict[str, Entry]:
    """Return the built-in entries of a kind by id (JSON written by dev/build_catalog.py)."""
    return json.loads((DATA / f"{kind}.json").read_bytes())


def builtin_sources() -> Mapping[str, Entry]:
    """Return what the built-in source keys stand for: title and address."""
    return _builtin("sources")


@dataclass(frozen=True, slots=True)
class Catalog:
    """Entries by kind and id; `overlay` holds the user's, which win over the built-in ones."""

    overlay: Mapping[str, Mapping[str, Entry]] = field(default_factory=dict[str, Any])
    origins: Mapping[str, str] = field(default_factory=dict[str, str])
    """File of each user entry, by `kind/id`."""
    _names: dict[str, dict[str, str]] = field(default_factory=dict[str, Any])

    def entries(self, kind: Kind) -> dict[str, Entry]:
        """Return all entries of a kind by id, sorted."""
        merged = {**_builtin(kind), **self.overlay.get(kind, {})}
        return dict(sorted(merged.items()))

    def names(self, kind: Kind) -> Mapping[str, str]:
        """Return every name (id, hub id, alias) in lower case, with the id it stands for."""
        if kind not in self._names:
            found: dict[str, str] = {}
            for shelf in (_builtin(kind), self.overlay.get(kind, {})):
                for name, entry in shelf.items():
                    found.update(dict.fromkeys((x.lower() for x in _other_names(entry)), name))
            ids = [*_builtin(kind), *self.overlay.get(kind, {})]
            self._names[kind] = {**found, **{name.lower(): name for name in ids}}
        return self._names[kind]

    def find(self, kind: Kind, name: str) -> Entry | None:
        """Return the entry of any of its names, upper or lower case; None where there is none."""
        key = self.names(kind).get(name.strip().lower())
        if key is None:
            return None
        return self.overlay.get(kind, {}).get(key) or _builtin(kind)[key]

    def entry(self, kind: Kind, name: str) -> Entry:
        """Return the entry of any of its names.

        Raises:
            UnknownNameError: with the nearest matches.
        """
        entry = self.find(kind, name)
        if entry is None:
            raise UnknownNameError(
                _WORDS[kind], name, self.names(kind), list_command=LIST_COMMANDS[kind]
            )
        return entry

    def origin(self, kind: Kind, name: str) -> str:
        """Return the file of a user entry, or `built in`."""
        return self.origins.get(f"{kind}/{name}", "built in")

    def device(self, name: str) -> Device:
        """Return the device of that name."""
        return device_record(self.entry("devices", name))

    def architecture(self, name: str) -> Architecture:
        """Return the architecture of the model of that name."""
        entry = self.entry("models", name)
        if "architecture" not in entry:
            raise InputError(f"Model {entry['id']} is given by a config, not an architecture.")
        return load_architecture(entry["architecture"], where=f"model {entry['id']}")

    def price(self, device_id: str) -> tuple[float | None, str]:
        """Return the default rental price of a device [USD/h] and where it comes from."""
        return default_price(self.find("rental", device_id))


def _other_names(entry: Entry) -> Iterator[str]:
    yield from cast("list[str]", entry.get("aliases", []))
    hub = entry.get("hub")
    if hub:
        yield hub
        yield hub.rsplit("/", 1)[-1]
