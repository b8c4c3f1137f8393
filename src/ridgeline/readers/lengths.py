"""Prompt and output lengths of a request trace: Azure CSV or Mooncake JSONL, plain or gzip."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

from ridgeline.errors import InputError

MAX_REQUESTS = 5_000_000
_INPUT = ("ContextTokens", "input_length", "num_prefill_tokens", "Request tokens", "isl")
_OUTPUT = ("GeneratedTokens", "output_length", "num_decode_tokens", "Response tokens", "osl")


def read_lengths(path: Path) -> list[tuple[int, int]]:
    """Return (input tokens, output tokens) of every request of a trace.

    Raises:
        InputError: not a trace, or a line that breaks a rule, with its number.
    """
    if not path.is_file():
        raise InputError(f"No trace file {path}.")
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
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError, csv.Error) as error:
        raise InputError(f"{path.name}: not a text trace ({error}).") from error
    if not found:
        raise InputError(f"{path.name}: no requests found.")
    return found


def _records(text: io.TextIOWrapper, path: Path) -> Any:
    if ".jsonl" in path.name:
        for i, line in enumerate(text, start=1):
            if line.strip():
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise InputError(f"{path.name}: line {i} is not JSON ({error}).") from error
    else:
        yield from csv.DictReader(text)


def _length(record: Any, names: tuple[str, ...], where: str) -> int:
    value = next((record[n] for n in names if n in record), None) if record else None
    try:
        number = int(value)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{where}: needs one of the columns {', '.join(names)} as a whole number: {value!r}."
        ) from error
    if not 0 <= number <= 2**40:
        raise InputError(f"{where}: a length must be from 0 to 2^40 tokens: {number}.")
    return number
