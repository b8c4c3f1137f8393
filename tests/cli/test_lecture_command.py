"""`ridgeline lecture` at the prompt."""

import json

import pytest

from ridgeline.cli import main


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[str, str, int]:
    code = 0
    try:
        main(["lecture", *args])
    except SystemExit as stop:
        code = int(stop.code or 0)
    out = capsys.readouterr()
    return out.out, out.err, code


def test_tables_fit_and_are_grouped(capsys):
    out, _, code = run(capsys)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 100
    for title in ("Chapter 1:", "Chapter 7:", "Flashcards", "Extra problems", "Slips on air"):
        assert title in out
    assert "254 claims" in out


def test_arithmetic_fits_too(capsys):
    out, _, _ = run(capsys, "--why")
    assert max(map(len, out.splitlines())) <= 100


def test_one_claim_in_full(capsys):
    out, _, code = run(capsys, "C1-N7")
    assert code == 0
    assert "depends on an assumption" in out
    assert "B = 300·(256 param) / (32 param)" in out
    assert "2,400 seq" in out
    assert "5,441 seq" in out


def test_json_contract(capsys):
    out, _, _ = run(capsys, "--json")
    data = json.loads(out)
    assert data["schema_version"] == "1"
    assert len(data["claims"]) == 254
    for one in data["claims"]:
        assert {"id", "chapter", "stated", "computed", "unit", "verdict", "claim", "inputs",
                "note"} <= set(one)  # fmt: skip
        assert one["chapter"] in range(1, 8)
    by_id = {one["id"]: one for one in data["claims"]}
    assert by_id["C1-N7"]["computed"] == pytest.approx(2400)
    assert by_id["C1-N7"]["unit"] == "seq"
    assert by_id["C5-N4"]["verdict"] == "slip on air"
    assert by_id["C1-N9"]["computed"] is None


def test_rows(capsys):
    out, _, _ = run(capsys, "4", "--markdown")
    assert out.startswith("| id | chapter |")
    out, _, _ = run(capsys, "4", "--csv")
    assert out.startswith("id,chapter,claim")


def test_unknown_claim(capsys):
    _, err, code = run(capsys, "C9-N1")
    assert code == 2
    assert "Nearest" in err


def test_pictures(capsys, tmp_path):
    _, err, code = run(capsys, "C1-Q1", "--plot", str(tmp_path / "pictures"))
    assert code == 0
    assert [path.name for path in (tmp_path / "pictures").iterdir()] == ["c1-q1.png"]
    assert "c1-q1.png" in err
    _, err, code = run(capsys, "C1-F1", "--plot", str(tmp_path))
    assert code == 2
    assert "C1-Q1" in err
