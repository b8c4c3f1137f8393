"""Prompt and output lengths of a request trace: Azure CSV or Mooncake JSONL, plain or gzip."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ridgeline.errors import InputError
from ridgeline.readers.files import is_regular_file

MAX_REQUESTS = 5_000_000
_MAX_LINE = 1_000_000
_INPUT = ("ContextTokens", "input_length", "num_prefill_tokens", "Request tokens", "isl")
_OUTPUT = ("GeneratedTokens", "output_length", "num_decode_tokens", "Response tokens", "osl")


def read_lengths(path: Path) -> list[tuple[int, int]]:
    """Return (input tokens, output tokens) of every request of a trace.

    Raises:
        InputError: not a trace, or a line that breaks a rule, with its number.
    """
    if not is_regular_file(path):
        raise InputError(f"No trace file {str(path)[:200]}.")
    found: list[tuple[int, int]] = []
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as raw:
            text = io.TextIOWrapper(raw, encoding="utf-8")  # type: ignore[arg-type]
            for i, record in enumerate(_records(text, path), start=1):
                if i > MAX_REQUESTS:
                    raise InputError(f"{path.name}: a trace may have at most {MAX_REQUESTS:,}.")
                where = f"{path.name}: request {i}"
                found.append((_length(record, _INPUT, where), _length(record, _OUTPUT, where)))
    except (UnicodeDecodeError, OSError, EOFError, csv.Error, zlib.error) as error:
        raise InputError(f"{path.name}: not a text trace ({error}).") from error
    if not found:
        raise InputError(f"{path.name}: no requests found.")
    return found


def _records(text: io.TextIOWrapper, path: Path) -> Any:
    if ".jsonl" in path.name:
        for i, line in enumerate(_lines(text, path), start=1):
            if line.strip():
                try:
                    yield json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise InputError(f"{path.name}: line {i} is not JSON ({error}).") from error
    else:
        yield from csv.DictReader(_lines(text, path))


def _lines(text: io.TextIOWrapper, path: Path) -> Iterator[str]:
    """Yield lines of bounded length: a packed file may unpack to one that fills the memory."""
    while line := text.readline(_MAX_LINE):
        if len(line) == _MAX_LINE:
            raise InputError(f"{path.name}: a line must be shorter than {_MAX_LINE:,} characters.")
        yield line


def _whole(value: Any) -> int:
    number = int(value)
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueError  # 2.5 tokens would be read as 2
    return number


def _length(record: Any, names: tuple[str, ...], where: str) -> int:
    fields = cast("dict[str, Any]", record) if isinstance(record, dict) else {}
    value = next((fields[n] for n in names if n in fields), None)
    try:
        number = _whole(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{where}: needs one of the columns {', '.join(names)} as a whole number:"
            f" {repr(value)[:60]}."
        ) from error
    if not 0 <= number <= 2**40:
        raise InputError(f"{where}: a length must be from 0 to 2^40 tokens: {repr(value)[:60]}.")
    return number
