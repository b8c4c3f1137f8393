"""Files that a command writes: refused before any work is done, and never over what was read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ridgeline.errors import InputError


def check_output(
    path: Path, *, flag: str, suffixes: Sequence[str], inputs: Sequence[Path] = ()
) -> None:
    """Refuse a file that cannot be written, or that the same command reads.

    Args:
        path: To be written; a plain file that is there is replaced.
        flag: Option that names it.
        suffixes: Endings it may have.
        inputs: Files that the command reads.

    Raises:
        InputError: another ending, no such folder, not a plain file, or one of the inputs.
    """
    if path.suffix not in suffixes:
        raise InputError(f"{flag} must end in {', '.join(suffixes)}: {path.name[:100]!r}.")
    if not path.parent.is_dir():
        raise InputError(
            f"{flag}: the folder {str(path.parent)[:200]!r} does not exist. Make it first."
        )
    try:
        there = path.exists()
        if there and not path.is_file():
            raise InputError(f"{flag} must be a plain file: {path.name[:100]!r} is not.")
        same = there and any(source.exists() and path.samefile(source) for source in inputs)
    except OSError as error:
        raise InputError(f"{flag}: {path.name[:100]!r}: {error.strerror or error}.") from None
    if same:
        raise InputError(
            f"{flag} would overwrite {path.name[:100]!r}, which this command reads: name another."
        )
