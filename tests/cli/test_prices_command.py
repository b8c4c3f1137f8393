"""`ridgeline prices` at the prompt."""

import json

import pytest

from ridgeline.cli import main


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[str, str, int]:
    code = 0
    try:
        main(["prices", *args])
    except SystemExit as stop:
        code = int(stop.code or 0)
    out = capsys.readouterr()
    return out.out, out.err, code


def test_list_and_show(capsys):
    out, _, code = run(capsys, "list", "claude opus", "--date", "2026-11-30")
    assert code == 0
    assert "anthropic/claude" in out
    assert max(map(len, out.splitlines())) <= 100
    out, _, _ = run(capsys, "show", "deepseek/deepseek-v4-pro", "--date", "2026-11-30", "--json")
    data = json.loads(out)
    assert data["schema_version"] == "1"
    assert data["disagreements"]


def test_cost_and_day(capsys):
    out, _, _ = run(
        capsys, "cost", "anthropic/claude-opus-4-6", "--input", "1000000", "--output", "0",
        "--date", "2026-11-30", "--csv",
    )  # fmt: skip
    assert out.startswith("id,list")
    out, _, code = run(capsys, "day", "deepseek-2025-02-28")
    assert code == 0
    assert "87,072" in out


def test_errors_exit_two(capsys):
    _, err, code = run(capsys, "show", "no-such-model-anywhere")
    assert code == 2
    assert "No price of" in err
    _, _, code = run(capsys, "cost", "openai/gpt-6.1-sol")
    assert code == 2
