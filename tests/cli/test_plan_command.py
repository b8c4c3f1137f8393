"""`ridgeline plan` from the command line."""

import json

import pytest
from click.testing import CliRunner

from ridgeline.cli import _root, main

DENSE = ("llama-3.3-70b", "--on", "hgx-h100-8", "--isl", "2k", "--osl", "512")


def run(*words: str):
    return CliRunner().invoke(_root, ["plan", *words])


def stop_code(*words: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["plan", *words])
    return int(stop.value.code or 0)


def test_text_json_csv_and_markdown():
    text = run(*DENSE)
    assert text.exit_code == 0, text.output
    assert "winner:" in text.output
    assert "why: device time per output token" in text.output
    assert max(len(line) for line in text.output.split("\n")) <= 100
    document = json.loads(run(*DENSE, "--json").output)
    assert document["schema_version"]
    assert document["request"]["routing"] == "uniform"
    assert document["winner"]["layout"]["tp"] >= 1
    csv = run(*DENSE, "--csv").output.strip().split("\n")
    assert len(csv) == 1 + len(document["front"])
    assert run(*DENSE, "--markdown").output.startswith("| point | layout")


def test_a_point_of_the_front_in_every_form():
    document = json.loads(run(*DENSE, "--json").output)
    second = json.loads(run(*DENSE, "--point", "2", "--json").output)
    assert second["option"] == document["front"][1]
    text = run(*DENSE, "--point", "2").output
    assert "TPOT = steps x time" in text
    assert max(len(line) for line in text.split("\n")) <= 100
    assert run(*DENSE, "--point", "2", "--csv").output.startswith("phase,name,time_s,limit")
    assert "vllm serve" in run(*DENSE, "--point", "1", "--emit", "vllm").output
    assert stop_code(*DENSE, "--point", "0") == 2


def test_emit_plot_and_sweep(tmp_path):
    for engine in ("vllm", "sglang", "trtllm"):
        result = run(*DENSE, "--emit", engine)
        assert result.exit_code == 0, result.output
        assert "--max-concurrency" in result.output
    picture = tmp_path / "plan.png"
    assert run(*DENSE, "--plot", str(picture)).exit_code == 0
    assert picture.stat().st_size > 10_000
    result = run(*DENSE, "--sweep", "memory_bandwidth=1x,2x", "--json")
    rows = json.loads(result.output)["rows"]
    assert rows[1]["tokens_per_s_per_device"] >= rows[0]["tokens_per_s_per_device"]


def test_exit_codes(capsys, monkeypatch):
    assert stop_code(*DENSE, "--tpot-ms", "0.01") == 3
    assert "Nearest" in capsys.readouterr().err
    assert stop_code("deepseek-v3", "--on", "hgx-h100-8", "--isl", "2k", "--osl", "512") == 3
    assert stop_code(*DENSE, "--sweep", "bandwidth=2x") == 2
    assert stop_code(*DENSE, "--spec-tokens", "2") == 2

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ridgeline.study.plan.plan", interrupt)
    assert stop_code(*DENSE) == 130
