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


def test_decode_margin_and_modes(capsys):
    common = ("--date", "2026-11-30")
    out, _, code = run(capsys, "decode", "fireworks/kimi-k2p6", "--draws", "5000", *common)
    assert code == 0
    assert "Public architecture kimi-k2-instruct" in out
    out, _, _ = run(capsys, "decode", "fireworks/kimi-k2p6", "--draws", "5000", *common, "--json")
    assert json.loads(out)["truth"]["model"] == "kimi-k2-instruct"
    serve = ("--serve", "llama-3.1-8b", "--on", "h100-sxm", "--devices", "1")
    price = "deepinfra/meta-llama/Meta-Llama-3.1-8B-Instruct"
    out, _, code = run(capsys, "margin", price, *serve, "--utilisation", "0.5", *common, "--json")
    assert code == 0
    assert json.loads(out)["utilisation"] == 0.5
    _, err, code = run(capsys, "margin", price, *serve, *common)
    assert code == 2
    assert "State the load" in err
    out, _, code = run(
        capsys, "breakeven", "llama-3.1-8b", "--on", "h100-sxm", "--rate", "2", "--own", "pue=1.1"
    )
    assert code == 0
    assert "PUE 1.1" in out
    out, _, code = run(capsys, "modes", "llama-3.1-8b", "--on", "h100-sxm", "--utilisation", "0.6")
    assert code == 0
    assert "A slow tier can save" in out


def test_errors_exit_two(capsys):
    _, err, code = run(capsys, "show", "no-such-model-anywhere")
    assert code == 2
    assert "No price of" in err
    _, _, code = run(capsys, "cost", "openai/gpt-6.1-sol")
    assert code == 2
