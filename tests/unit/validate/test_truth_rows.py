"""Rows of published measurements from CSV."""

import gzip

import pytest

from ridgeline.errors import InputError
from ridgeline.validate.chip_names import find_chip
from ridgeline.validate.truth_rows import read_directory, read_rows

HEAD = "id,area,model,chip,metric,unit,value,scorable,tp,notes\n"


def test_cells_keep_what_is_said():
    (row,) = read_rows([HEAD, "A-1,kernel,,H100 SXM,gemm_latency,us,12.5,Y,2,\n"], file="f")
    assert (row.value, row.count("tp"), row.count("pp"), row.number("notes")) == (12.5, 2, 1, None)
    assert row.group == ("f", "", "H100 SXM")


def test_missing_columns_are_named():
    with pytest.raises(InputError, match="metric, unit, value, scorable"):
        read_rows(["id,area,chip\n"], file="f")


def test_scored_value_must_be_a_number():
    with pytest.raises(InputError, match="f, line 2: value must be a number: 'fast'"):
        read_rows([HEAD, "A-1,kernel,,H100,gemm_latency,us,fast,Y,,\n"], file="f")


def test_context_rows_may_hold_text():
    (row,) = read_rows([HEAD, "A-1,kernel,,H100,note,,see paper,N,,\n"], file="f")
    assert row.value != row.value


def test_packed_and_plain_files_side_by_side(tmp_path):
    line = HEAD + "A-1,kernel,,H100,gemm_latency,us,1,Y,,\n"
    (tmp_path / "a.csv").write_text(line)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(line.encode()))
    assert [r.file for r in read_directory(tmp_path)] == ["a", "b"]


def test_folder_without_measurements(tmp_path):
    with pytest.raises(InputError, match=r"No \*\.csv"):
        read_directory(tmp_path)
    with pytest.raises(InputError, match="--truth must be a folder"):
        read_directory(tmp_path / "none")


def test_a_source_names_its_machine_where_the_row_leaves_two_open():
    """The records beside LLMServingSim's figures say Server Edition: 1,597 GB/s, not 1,792."""
    head = HEAD.replace("notes", "source")
    named = "A-1,kernel,,RTX PRO 6000 Blackwell 96GB,gemm_latency,us,9,Y,2,"
    rows = read_rows(
        [head, named + "github.com/casys-kaist/LLMServingSim@1/x.csv\n", named + "a paper\n"],
        file="f",
    )
    found = [find_chip(row.machine).device for row in rows]
    assert [d.id for d in found] == ["rtx-pro-6000-server", "rtx-pro-6000"]
    assert rows[0].group[2] == "RTX PRO 6000 Blackwell 96GB"
