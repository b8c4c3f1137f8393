"""Other people's files."""

from __future__ import annotations

from pathlib import Path

from ridgeline.errors import InputError
from ridgeline.model.architecture import Architecture
from ridgeline.readers.checkpoint import read_directory, refuse_weights_alone
from ridgeline.readers.files import is_regular_file, open_file, parse_config, read_config_file
from ridgeline.readers.gguf import MAGIC
from ridgeline.readers.gguf_model import read_gguf
from ridgeline.readers.hf import read_config
from ridgeline.readers.hub import PREFIX, fetch_directory

__all__ = ["read_config", "read_model"]


def read_model(source: str | Path, *, name: str | None = None) -> Architecture:
    """Return the architecture in a file, a model directory, JSON text, or on the hub.

    Args:
        source: A path of a config.json, a .gguf file or a directory with a config.json; text that
            starts with `{`; or `hub:ORG/NAME`, the only form that uses the network.
        name: Name of the model; the file or directory name unless given.

    Raises:
        InputError: no such file, or not a model.
        UnsupportedError: not a decoder language model.
    """
    if isinstance(source, str) and source.lstrip().startswith("{"):
        return read_config(parse_config(source, what="the text"), name=name or "config")
    if isinstance(source, str) and source.startswith(PREFIX):
        hub_name = source.removeprefix(PREFIX).partition("@")[0]
        return read_directory(fetch_directory(source), name=name or hub_name)
    path = Path(source)
    if not is_regular_file(path):
        if not _is_folder(path):
            raise InputError(f"No such file: {str(source)[:100]!r}.")
        return _read_folder(path, name)
    if _starts_with_magic(path):
        return read_gguf(path, name=name)
    if path.name.endswith((".safetensors", ".index.json")):
        if is_regular_file(path.parent / "config.json"):
            return read_directory(path.parent, name=name)
        raise refuse_weights_alone(path)
    return read_config_file(path, name=name)


def _read_folder(path: Path, name: str | None) -> Architecture:
    """Return the model of a directory: its config.json, else its only GGUF model."""
    if not is_regular_file(path / "config.json"):
        files = sorted(path.glob("*.gguf"))
        first = [f for f in files if "-of-" not in f.name or "-00001-of-" in f.name]
        if len(first) == 1:
            return read_gguf(first[0], name=name)
        if first:
            raise InputError(f"{path.name}/ holds {len(first)} GGUF models; name one of them.")
    return read_directory(path, name=name)


def _starts_with_magic(path: Path) -> bool:
    try:
        with open_file(path) as file:
            return file.read(4) == MAGIC
    except OSError as error:
        raise InputError(f"{path.name[:100]} cannot be read: {error.strerror or error}.") from None


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False
