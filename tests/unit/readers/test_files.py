"""Loading JSON as data."""

from pathlib import Path

import pytest

from ridgeline.errors import InputError
from ridgeline.readers.files import MAX_CONFIG_BYTES, load_config, parse_config


def test_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with path.open("wb") as stream:
        stream.truncate(MAX_CONFIG_BYTES + 1)
    with pytest.raises(InputError, match="20 MiB"):
        load_config(path)


def test_infinity_is_kept_for_the_keys_that_use_it() -> None:
    """Published Nemotron-H files say `time_step_limit: [0, Infinity]`."""
    found = parse_config('{"time_step_limit": [0.0, Infinity]}', what="x")
    assert found["time_step_limit"][1] == float("inf")


@pytest.mark.parametrize("text", ["[1]", "3", '"llama"', "null", "", "{", '{"a": NaN}'])
def test_what_is_not_a_config(text: str) -> None:
    with pytest.raises(InputError, match="x"):
        parse_config(text, what="x")


def test_bytes_that_are_not_text(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(InputError, match="UTF-8"):
        load_config(path)


def test_a_late_duplicate_among_many_keys_is_found_at_once() -> None:
    """Counting every key against every other would take half an hour here."""
    keys = ",".join(f'"k{i}":1' for i in range(300_000))
    with pytest.raises(InputError, match="'k299999' occurs twice"):
        parse_config("{" + keys + ',"k299999":2}', what="x")
