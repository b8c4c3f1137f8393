"""Other people's files."""

from __future__ import annotations

from pathlib import Path

from ridgeline.errors import InputError
from ridgeline.model.architecture import Architecture
from ridgeline.readers.files import parse_config, read_config_file
from ridgeline.readers.hf import read_config

__all__ = ["read_config", "read_model"]


def read_model(source: str | Path, *, name: str | None = None) -> Architecture:
    """Return the architecture in a config.json file, a directory with one, or JSON text.

    Args:
        source: A path, or text that starts with `{`.
        name: Name of the model; the file or directory name unless given.

    Raises:
        InputError: no such file, or not a model.
        UnsupportedError: not a decoder language model.
    """
    if isinstance(source, str) and source.lstrip().startswith("{"):
        return read_config(parse_config(source, what="the text"), name=name or "config")
    path = Path(source)
    if path.is_dir():
        config = path / "config.json"
        if not config.is_file():
            raise InputError(f"{path.name}/ holds no config.json.")
        return read_config_file(config, name=name)
    if not path.is_file():
        raise InputError(f"No such file: {str(source)[:100]}.")
    return read_config_file(path, name=name)
