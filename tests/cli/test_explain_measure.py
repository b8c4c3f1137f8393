"""The two verbs at the prompt: exit codes, sentences, JSON."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

import benchmark_results as results
from ridgeline.cli import main
from ridgeline.cli.explain_command import command as explain
from ridgeline.cli.measure_command import command as measure


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  our own command
        [sys.executable, "-m", "ridgeline", *words], capture_output=True, text=True, check=False
    )


def test_explain_file_as_json(tmp_path) -> None:
    path = tmp_path / "anything.txt"
    path.write_text(results.texts()["guidellm"])
    done = CliRunner().invoke(explain, [str(path), "--on", "h100-sxm", "--tp", "1", "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["measured"]["tool"] == "guidellm"
    assert document["measured_over_predicted"] > 0
    assert len(document["changes"]) == 3


def test_explain_by_hand() -> None:
    words = "--model llama-3.1-8b --on h100-sxm --tp 1 --tpot-ms 9 --concurrency 32"
    done = CliRunner().invoke(explain, [*words.split(), "--isl", "1024", "--osl", "256"])
    assert done.exit_code == 0, done.output
    assert "what would help" in done.output


def test_explain_unknown_file_exits_2(tmp_path, capsys) -> None:
    path = tmp_path / "r.json"
    path.write_text('{"a": 1}')
    with pytest.raises(SystemExit) as stop:
        main(["explain", str(path), "--on", "h100-sxm"])
    assert stop.value.code == 2
    assert "of no known tool" in capsys.readouterr().err


def test_measure_refuses_before_it_measures(tmp_path) -> None:
    done = run("measure", "--out", str(tmp_path / "Bad Name.yaml"))
    assert done.returncode == 2
    assert "--out must be named" in done.stderr
    done = run("measure", "--plot", str(tmp_path / "x.bmp"))
    assert done.returncode == 2
    assert run("measure", "--device", "cuda").returncode == 2


def test_threads_need_a_fresh_process() -> None:
    done = CliRunner().invoke(measure, ["--threads", "2"])
    assert done.exit_code == 2
    assert "NumPy" in done.output
