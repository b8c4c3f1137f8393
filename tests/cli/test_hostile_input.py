"""Whatever stands on the command line or in a file: a sentence and an exit code, at once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
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


PRICES = ["prices", "cost", "openai/gpt-5"]
DECODE = ["prices", "decode", "google/gemini-3.1-pro-preview"]
MARGIN = ["prices", "modes", "deepseek-v3", "--on", "gb200-nvl72"]
EXPLAIN = [
    "explain",
    "--model",
    "llama-3.1-8b",
    "--on",
    "h100-sxm",
    "--isl",
    "1024",
    "--osl",
    "256",
]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([*PLAN, "--sweep", "peak=1x", "--point", "1"], "--point has no effect beside --sweep"),
        ([*PLAN, "--sweep", "peak=1x", "--emit", "vllm"], "--emit has no effect beside --sweep"),
        ([*PLAN, "--sweep", "peak=1x", "--plot", "a.png"], "--plot has no effect beside --sweep"),
        ([*PLAN, "--emit", "vllm", "--csv"], "--csv has no effect beside --emit"),
        ([*PLAN, "--emit", "vllm", "--json"], "--json has no effect beside --emit"),
        (["cache", "--measurements", "--json"], "--json has no effect beside --measurements"),
        ([*CACHE, "--measurements"], "has no effect beside --measurements"),
        ([*CACHE, "--date", "2026-01-01"], "--date has no effect without --provider"),
        ([*CACHE, "--price", "hbm"], "TIER=USD_PER_GB"),
        ([*CACHE, "--price", "hdd=1", "--price", "hdd=2"], "two values"),
        (["calibrate", "a.csv", "--tp", "2"], "--tp has no effect without results"),
        (["experts", "a.csv", "--ranks", "2", "--tokens", "5"], "without --hidden-size"),
        ([*PRICES, "--trace", "a.csv", "--input", "1"], "--input has no effect beside --trace"),
        ([*PRICES, "--input", "1", "--output", "1", "--ttl", "x"], "without --written"),
        ([*PRICES, "--input", "1", "--output", "1", "--cached-share", "1"], "without --trace"),
        ([*DECODE, "--hour", "5"], "No such option"),
        ([*DECODE, "--fast-speed", "2"], "needs a fast tier"),
        ([*DECODE, "--seed=-1"], "seed must be at least 0"),
        ([*DECODE, "--fast-price", "nan"], "--fast-price must be"),
        ([*DECODE, "--fast-speed", "inf", "--fast-price", "2"], "--fast-speed must be"),
        (["prices", "coverage", "--file", "a.yaml"], "No such option"),
        (["prices", "coverage", "--draws", "1000000000"], "draws must be from"),
        (["prices", "coverage", "--draws", "0"], "draws must be from"),
        (["prices", "coverage", "--seed=-1"], "seed must be at least 0"),
        (["prices", "list", "--limit=-1"], "--limit"),
        ([*MARGIN, "--utilisation", "1e-320"], "utilisation must be"),
        ([*PLAN, "--tpot-ms", "1e-320"], "tpot-ms must be a positive number"),
        ([*PLAN, "--isl", "1e400"], "isl must be at most 2^40"),
        (["racks", "--ratio", "1e-320"], "--ratio must be positive"),
        ([*EXPLAIN, "--tpot-ms", "1e-320"], "--tpot-ms must be above zero"),
        ([*EXPLAIN, "--tpot-ms", "9", "--run", "2"], "none is given"),
        ([*EXPLAIN, "--tpot-ms", "9", "--concurrency", "4", "--devices", "0"], "devices must be"),
    ],
)
def test_no_option_is_ignored_and_no_figure_extreme(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = stop(words, capsys)
    assert code == 2, said
    assert sentence in said


@pytest.mark.parametrize(
    "words",
    [
        ["explain", "pipe.json", "--on", "h100-sxm"],
        ["explain", "/dev/zero", "--on", "h100-sxm"],
        ["validate", "--truth", "truth"],
        ["calibrate", "pipe.csv", "--device", "h100-sxm"],
        [*PLAN, "--report", "pipe.html"],
        [*PLAN, "--plot", "pipe.png"],
        ["experts", "ok.json", "--ranks", "2", "--placement", "pipe.json"],
        ["calibrate", "ok.json", "--out", "pipe.yaml"],
    ],
)
def test_pipes_are_neither_read_nor_written(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("truth").mkdir()
    Path("ok.json").write_text('{"counts": [[1, 2, 3, 4]]}')
    for name in ("json", "csv", "html", "png", "yaml"):
        os.mkfifo(f"pipe.{name}")
    os.mkfifo("truth/pipe.csv")
    code, said = stop(words, capsys)
    assert code == 2
    assert "plain file" in said


def test_nothing_is_written_over_the_input_or_before_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = '{"counts": [[1, 2, 3, 4]]}'
    Path("ok.json").write_text(text)
    Path("link.json").symlink_to("ok.json")
    words = ["experts", "ok.json", "--ranks", "2", "--plot", "a.png", "--placement"]
    for name in ("ok.json", "link.json", "nowhere/a.json", "a.txt"):
        assert stop([*words, name], capsys)[0] == 2
    assert Path("ok.json").read_text() == text
    assert not Path("a.png").exists()
    assert stop([*words[:4], "--report", "r.html", "--plot", "a.bmp"], capsys)[0] == 2
    assert not Path("r.html").exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bin.csv", b"\x00\r\x9e,\xc9\n\rx"),
        ("wide.csv", b"a" * 200_000),
        ("twice.csv", b"metric,unit,value,value\ngemm,ms,1,2\n"),
        ("broken.csv.gz", b"\x1f\x8b\x08\x00junk"),
    ],
)
def test_tables_that_are_none(
    name: str, text: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(text)
    assert stop(["calibrate", str(path), "--device", "h100-sxm"], capsys)[0] == 2
    assert stop(["validate", "--truth", str(tmp_path)], capsys)[0] == 2


def test_routing_files_that_unpack_or_repeat(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = tmp_path / "big.npz"
    np.savez_compressed(packed, counts=np.zeros((12_000, 12_000), dtype=np.int8))
    twice = tmp_path / "twice.json"
    twice.write_text('{"counts": [[1, 2]], "counts": [[3, 4]]}')
    column = tmp_path / "twice.csv"
    column.write_text("layer,expert,count,count\n0,0,1,2\n")
    for path, sentence in ((packed, "at most 134,217,728"), (twice, "twice"), (column, "twice")):
        code, said = stop(["experts", str(path), "--ranks", "2"], capsys)
        assert code == 2
        assert sentence in said


def test_tokens_that_are_not_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trace.jsonl"
    for cell in ("2.5", "true", "9" * 400):
        path.write_text(f'{{"input_length": {cell}, "output_length": 3}}\n')
        code, said = stop([*PRICES, "--trace", str(path)], capsys)
        assert code == 2
        assert len(said) < 300


def test_memory_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(cli._root, "main", fail)
    code, said = stop(["list", "devices"], capsys)
    assert code == 2
    assert "more memory than" in said


@pytest.mark.parametrize("verb", ["prices list", "estimate llama-3.1-8b --on h100-sxm"])
def test_an_answer_has_one_form(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = stop([*verb.split(), "--json", "--csv"], capsys)
    assert code == 2
    assert "--json and --csv exclude each other" in said
    assert stop(["list", "devices", "--json", "--json"], capsys)[0] == 0


def test_a_pattern_that_no_price_contains(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = stop(["prices", "list", "gpt-5-nonesuch"], capsys)
    assert code == 2
    assert said.startswith("Error: No price of 'gpt-5-nonesuch'")
