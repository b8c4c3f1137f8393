"""Request traces, sound and hostile."""

import gzip
from pathlib import Path

import pytest

from ridgeline.errors import InputError
from ridgeline.readers.lengths import read_lengths


def test_both_forms(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n0,10,2\n1,20,3\n")
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"input_length": 10, "output_length": 2}\n\n{"input_length": 20, "osl": 3}\n')
    assert read_lengths(table) == read_lengths(lines) == [(10, 2), (20, 3)]


@pytest.mark.parametrize(
    "line",
    [
        "3",
        "[1, 2]",
        '"isl"',
        '{"isl": Infinity, "osl": 1}',
        '{"isl": NaN, "osl": 1}',
        '{"isl": -1, "osl": 1}',
        '{"isl": 1e300, "osl": 1}',
        '{"isl": [1], "osl": 1}',
        '{"isl": 1}',
        "[" * 100_000,
        "x",
        "",
    ],
)
def test_lines_that_are_no_request(line: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line)
    with pytest.raises(InputError, match=r"a\.jsonl"):
        read_lengths(path)


def test_packed_line_that_fills_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for _ in range(20):
            stream.write(b"x" * 1_000_000)
    with pytest.raises(InputError, match="shorter than"):
        read_lengths(path)


@pytest.mark.parametrize("data", [b"", b"\x1f\x8b", b"\x1f\x8b\x08" + b"\0" * 7 + b"\xff" * 50])
def test_broken_packing(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"a\.csv\.gz"):
        read_lengths(path)


def test_names_that_no_file_can_have() -> None:
    with pytest.raises(InputError, match="No trace"):
        read_lengths(Path("a" * 300))
