"""Names become records: catalogue first, then files."""

from __future__ import annotations

import re
from pathlib import Path

from ridgeline.catalog import Catalog, user_directory
from ridgeline.catalog.clusters import named_cluster
from ridgeline.errors import InputError, UnknownNameError
from ridgeline.hardware import Cluster
from ridgeline.model.architecture import Architecture
from ridgeline.readers import read_config, read_model

_HUB_ID = re.compile(r"^[\w.\-]{1,96}/[\w.\-]{1,96}$")
_FILE_ENDINGS = (".json", ".gguf", ".safetensors")


def open_catalog(directory: Path | None = None) -> Catalog:
    """Return the built-in catalogue under the user's folder and then `directory`, where they exist.

    Raises:
        InputError: `directory` does not exist, or an entry breaks a rule.
    """
    if directory is not None and not directory.is_dir():
        raise InputError(f"--catalog must be a folder of YAML files: {str(directory)[:200]!r}.")
    folders = [user_directory()] if user_directory().is_dir() else []
    folders += [] if directory is None else [directory]
    if not folders:
        return Catalog()
    # Checking YAML costs 0.2 s of imports that the built-in catalogue does not need.
    from ridgeline.catalog.yaml_files import load_user_catalog  # noqa: PLC0415

    return load_user_catalog(folders)


def resolve_model(text: str | Architecture, catalog: Catalog | None = None) -> Architecture:
    """Return the architecture of a catalogue name, a file, or a directory with a config.json.

    An architecture is returned as it is.

    Raises:
        UnknownNameError: neither in the catalogue nor a path.
        InputError: a file that does not describe a model.
        UnsupportedError: not a decoder language model.
    """
    if isinstance(text, Architecture):
        return text
    shelf = open_catalog() if catalog is None else catalog
    entry = shelf.find("models", text)
    if entry is not None:
        name = entry.get("hub") or entry["id"]
        if entry.get("config") is not None:
            return read_config(entry["config"], name=name)
        return shelf.architecture(entry["id"])
    if _is_path(text):
        return read_model(text)
    if _HUB_ID.match(text):
        raise _unknown_hub_id(text, shelf)
    raise UnknownNameError(
        "model", text, shelf.names("models"), list_command="ridgeline list models"
    )


def _is_path(text: str) -> bool:
    if not text.strip() or "\0" in text or len(text) > 4096:
        return False
    looks_like = text.startswith((".", "/", "~", "{", "hub:")) or text.lower().endswith(
        _FILE_ENDINGS
    )
    return looks_like or _exists(text)


def _exists(text: str) -> bool:
    try:
        return Path(text).exists()
    except OSError:  # a name too long for any file
        return False


def _unknown_hub_id(text: str, catalog: Catalog) -> InputError:
    error = UnknownNameError(
        "model", text, catalog.names("models"), list_command="ridgeline list models"
    )
    hint = f" Or read it from the hub: `hub:{text}`."
    error.args = (f"{error}{hint}",)
    return error


def resolve_cluster(
    text: str, devices: int | None = None, catalog: Catalog | None = None
) -> Cluster:
    """Return the cluster that `text` names, with `devices` devices if given.

    `hgx-h100-8`, `h100-sxm`, `hgx-h100-8x18`, `8xh100-sxm`, `tpu-v5p-4x4x8`.

    Raises:
        UnknownNameError: no such preset or device.
        InputError: a number of devices that cannot be built.
    """
    return named_cluster(open_catalog() if catalog is None else catalog, text, devices)
