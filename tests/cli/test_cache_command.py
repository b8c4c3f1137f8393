"""`ridgeline cache` at the prompt."""

import json

import pytest

from ridgeline.cli import main


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[str, str, int]:
    code = 0
    try:
        main(["cache", *args])
    except SystemExit as stop:
        code = int(stop.code or 0)
    out = capsys.readouterr()
    return out.out, out.err, code


def test_json_and_csv(capsys):
    out, _, code = run(capsys, "llama-3.1-8b", "--on", "hgx-h100-8", "--hold", "10m", "--json")
    assert code == 0
    assert json.loads(out)["holds"][0]["hold_s"] == 600
    out, _, _ = run(capsys, "llama-3.1-8b", "--on", "hgx-h100-8", "--csv")
    assert out.startswith("tier,")


def test_measurements_and_errors(capsys):
    out, _, code = run(capsys, "--measurements")
    assert code == 0
    assert "Median absolute error" in out
    _, err, code = run(capsys, "llama-3.1-8b", "--on", "hgx-h100-8", "--price", "host-ddr5=cheap")
    assert code == 2
    assert "--price" in err
    _, _, code = run(capsys)
    assert code == 2
