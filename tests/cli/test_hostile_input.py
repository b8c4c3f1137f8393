"""Whatever stands on the command line or in a file: a sentence and an exit code, at once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ridgeline import cli

CONFIG = '{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, \
"num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100}'


def stop(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Return the exit code and what the error stream says."""
    try:
        cli.main(words)
    except SystemExit as end:
        return int(end.code or 0), capsys.readouterr().err
    return 0, capsys.readouterr().err


@pytest.mark.parametrize("name", ["a" * 300 + ".json", "a" * 300, "/" + "b/" * 3000, "\udcff.json"])
def test_names_that_no_file_can_have(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = stop(["show", "model", name], capsys)
    assert code == 2
    assert said.startswith("Error: No ")


@pytest.mark.parametrize("inner", ["config.json", "model.safetensors", "m.gguf", "devices/x.yaml"])
def test_pipes_in_folders_are_not_waited_for(
    inner: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Opening a pipe that nobody writes to never returns."""
    if inner.endswith("safetensors"):
        (tmp_path / "config.json").write_text(CONFIG)
    (tmp_path / inner).parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / inner)
    words = ["show", "model", str(tmp_path)]
    if inner.endswith("yaml"):
        words = ["list", "devices", "--catalog", str(tmp_path)]
    code, said = stop(words, capsys)
    assert code == 2
    assert "plain file" in said or "config.json" in said


def test_pipe_named_by_an_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "INDEX.csv").write_text("file,meta_params\npipe.json,1\n")
    os.mkfifo(tmp_path / "pipe.json")
    cli.main(["validate", "--corpus", str(tmp_path), "--json"])
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["status"] == "refused_wrong"
    assert "plain file" in row["error"]


def test_index_of_names_that_no_file_can_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.json").write_text(CONFIG)
    index = '{"weight_map": {"model.layers.0.x": "' + "a" * 300 + '"}}'
    (tmp_path / "model.safetensors.index.json").write_text(index)
    assert stop(["show", "model", str(tmp_path)], capsys)[0] == 0


def test_a_defect_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr(cli._root, "main", fail)
    code, said = stop(["list", "devices"], capsys)
    assert code == 1
    assert said.count("\n") == 1
    assert "RIDGELINE_TRACEBACK" in said
    monkeypatch.setenv("RIDGELINE_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        cli.main(["list", "devices"])


def run(words: list[str], **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run in a process of its own; another encoding needs one."""
    return subprocess.run(  # noqa: S603
        [sys.executable, "-c", "from ridgeline.cli import main; main()", *words],
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )


def test_a_terminal_without_the_signs(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(CONFIG.replace("llama", "\\ud800"))
    for words in (
        ["show", "model", "llama-3.1-8b"],
        ["lecture", "1"],
        ["show", "model", str(path)],
    ):
        done = run(words, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
        assert done.returncode in (0, 5), done.stderr
        assert b"Traceback" not in done.stderr


PLAN = ["plan", "llama-3.1-8b", "--on", "hgx-h100-8", "--isl", "1k", "--osl", "1k"]
CACHE = ["cache", "llama-3.3-70b", "--on", "hgx-h100-8"]
ESTIMATE = ["estimate", "llama-3.1-8b", "--on", "hgx-h100-8", "--batch", "1"]
NOT_A_PRICE = ("-1", "nan", "inf", "-inf", "1e308", "1e400")


@pytest.mark.parametrize(
    ("words", "flag", "values"),
    [
        (PLAN, "usd-per-hour", NOT_A_PRICE),
        (ESTIMATE, "usd-per-hour", NOT_A_PRICE),
        (CACHE, "usd-per-hour", (*NOT_A_PRICE, "0", "1e-320")),
        (PLAN, "gpu-memory-utilization", ("0", "-1", "nan", "inf", "1.01")),
        (ESTIMATE, "gpu-memory-utilization", ("0", "-1", "nan", "inf", "1.01")),
        (["racks"], "dispatch-bytes", ("0", "-1", "nan", "inf", "1e308")),
        (["racks"], "combine-bytes", ("0", "-1", "nan", "inf", "1e308")),
    ],
)
def test_numbers_out_of_range(
    words: list[str], flag: str, values: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    for value in values:
        code, said = stop([*words, f"--{flag}={value}", "--json"], capsys)
        assert code == 2, (value, said)
        assert flag in said


def test_unknown_verb_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = stop(["estimat"], capsys)
    assert code == 2
    assert "Nearest: estimate" in said


def test_terminal_commands_in_names_are_escaped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file from anywhere may carry an escape sequence where a name should be."""
    path = tmp_path / "x\033[31m.json"
    path.write_text(CONFIG.replace("llama", "\\u001b[31mred\\u0007"))
    for words in (["show", "model", str(path)], [*ESTIMATE[:1], str(path), *ESTIMATE[2:]]):
        cli.main(words)
        shown = capsys.readouterr().out
        assert "\\x1b[31mred\\x07" in shown
        assert "\033" not in shown
        assert "\a" not in shown
    _, said = stop(["show", "model", "\033[31m"], capsys)
    assert "\033" not in said
