"""What each question answers, in this process: good, bad, and the same as the command line."""

import inspect
import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from ridgeline.cli import _root
from ridgeline.web.answers import answer
from ridgeline.web.questions import QUESTIONS
from web_bodies import BAD, GOOD, LLAMA, SMALL

_NOT_ON_THE_COMMAND_LINE = {"chalk", "quiz/check"}
"""Their command shows the claim they start from."""
NOT_ASKED = {
    "calibration",  # files of the server
    "catalog_dir",
    "price_file",
    "directory",
    "progress",  # the job's
    "speculation",  # made of three fields, when there are drafts
    "question",  # what estimate takes
    "efficiency",  # of a plan: calibrated
}


TRACE = "ContextTokens,GeneratedTokens\n" + "".join(
    f"{prompt},{output}\n" for prompt, output in GOOD["prices/trace"]["lengths"]
)


def _quiet(*_: int) -> None:
    """Progress that nobody watches."""


def ask(name: str, body: dict) -> tuple[int, dict]:
    status, found = answer(name, json.dumps(body), _quiet)
    return status, json.loads(found)


def test_every_question_has_examples() -> None:
    assert set(GOOD) == set(BAD) == set(QUESTIONS)


@pytest.mark.parametrize("name", GOOD)
def test_answer_is_the_document_of_the_command(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The printed command, run with --json, gives the same document."""
    status, found = ask(name, GOOD[name])
    assert status == 200, found
    words = shlex.split(found.pop("cli"))[1:]
    found.pop("python")
    for more in ("launch", "points", "chapters"):  # what the page shows beside the document
        found.pop(more, None)
    if name in _NOT_ON_THE_COMMAND_LINE:
        words.append("--why")
    monkeypatch.chdir(tmp_path)
    Path("config.json").write_text(json.dumps(SMALL))
    Path("counts.json").write_text(json.dumps({"counts": GOOD["experts"]["counts"]}))
    Path("trace.csv").write_text(TRACE)
    run = CliRunner().invoke(_root, [*words, "--json"])
    assert run.exit_code in {0, 1}, run.output  # validate exits 1 when a group is on record better
    if name not in _NOT_ON_THE_COMMAND_LINE:
        printed = json.loads(run.stdout)
        if name == "model":  # the command names a model after its folder
            printed["name"] = "small"
        assert printed == found


@pytest.mark.parametrize("name", GOOD)
def test_every_argument_can_be_asked(name: str) -> None:
    """A new argument of a study function needs a field here, or a reason in NOT_ASKED."""
    call = QUESTIONS[name].call(QUESTIONS[name].schema.model_validate(GOOD[name]))
    known = set(inspect.signature(call.function).parameters)
    positional = list(inspect.signature(call.function).parameters)[: len(call.args)]
    assert known - set(call.kwargs) - set(positional) <= NOT_ASKED


@pytest.mark.parametrize("name", GOOD)
def test_python_lines_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.json").write_text(json.dumps(SMALL))
    Path("counts.json").write_text(json.dumps({"counts": GOOD["experts"]["counts"]}))
    Path("trace.csv").write_text(TRACE)
    space: dict = {}
    exec(ask(name, GOOD[name])[1]["python"], space)  # noqa: S102 - that they run is the point
    assert space["result"] is not None


@pytest.mark.parametrize("name", BAD)
def test_bad_value_is_blamed_on_its_field(name: str) -> None:
    body, field = BAD[name]
    try:
        QUESTIONS[name].schema.model_validate(body)
    except ValidationError as error:
        assert error.errors()[0]["loc"][0] == field  # noqa: PT017 - either door may refuse
        return
    status, found = ask(name, body)
    assert status == 422
    assert found["detail"][0]["loc"] == ["body", field]
    assert "defect" not in found["detail"][0]["msg"]


def test_the_sentence_is_that_of_the_command_line() -> None:
    body = {**LLAMA, "tp": 7}
    _, found = ask("estimate", body)
    run = CliRunner().invoke(_root, ["estimate", body["model"], "--on", body["on"], "--tp", "7"])
    assert found["detail"][0]["msg"] == str(run.exception)


def test_unknown_name_comes_with_the_nearest() -> None:
    status, found = ask("estimate", {**LLAMA, "model": "lama-3.3-70b"})
    assert status == 422
    assert found["detail"][0]["type"] == "unknown_name"
    assert "llama-3.3-70b" in found["detail"][0]["nearest"]


def test_every_point_of_a_plan_is_taken_apart_like_on_the_command_line() -> None:
    """Point k of the answer is `--point k --json`, its commands are `--point k --emit`."""
    found = ask("plan", GOOD["plan"])[1]
    words = shlex.split(found["cli"])[1:]
    points = found["points"]
    assert [p["option"] for p in points["front"]] == found["front"]
    assert [p["option"] for p in points["runners_up"]] == found["runners_up"]
    assert points["winner"]["option"] == found["winner"]
    last = len(points["front"])
    point = points["front"][last - 1]
    for engine, text in point.pop("launch").items():
        run = CliRunner().invoke(_root, [*words, "--point", str(last), "--emit", engine])
        assert (run.stdout or f"# {run.exception}").strip() == text.strip()
    run = CliRunner().invoke(_root, [*words, "--point", str(last), "--json"])
    assert json.loads(run.stdout) == point


def test_infeasible_and_unsupported_are_told_apart() -> None:
    plan = {**LLAMA, "isl": "2k", "osl": 512, "tpot_s": 1e-5}
    assert ask("plan", plan)[1]["detail"][0]["type"] == "infeasible"
    config = {"config": {"model_type": "bert"}, "on": "h100-sxm"}
    assert ask("estimate", config)[1]["detail"][0]["type"] == "unsupported"


def test_an_infeasible_plan_says_what_to_relax() -> None:
    """With the values that `relax` names the same question has an answer."""
    for body in (
        {**LLAMA, "isl": "2k", "osl": 512, "tpot_s": 1e-4, "ttft_s": 1e-3},
        {"model": "deepseek-v3", "on": "hgx-h100-8", "isl": "2k", "osl": 512},
    ):
        status, found = ask("plan", body)
        assert status == 422
        assert ask("plan", {**body, **found["detail"][0]["relax"]})[0] == 200


@pytest.mark.parametrize(
    "text", ["./config.json", "/etc/passwd", "hub:meta-llama/x", "{}", "~/a.gguf"]
)
def test_files_of_the_server_are_not_models(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.json").write_text(json.dumps(SMALL))
    for name in ("estimate", "cache", "pipelines", "model"):
        body = {"model": text} | ({} if name == "model" else {"on": "h100-sxm"})
        status, found = ask(name, body)
        assert (status, found["detail"][0]["type"]) == (422, "unknown_name")
    assert ask("entry", {"kind": "models", "name": text})[0] == 422


def test_rows_are_bounded() -> None:
    many = {**LLAMA, "batch": "1:2001:1"}
    assert "2,000 points over HTTP: 2,001" in ask("estimate", many)[1]["detail"][0]["msg"]
    status, found = ask("estimate", {**many, "parts": False})
    assert status == 200
    assert len(found["rows"]) == 2001
    assert "parts" not in found["rows"][0]


def test_a_defect_is_said_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise KeyError("colour")

    monkeypatch.setattr("ridgeline.web.answers._answer", lambda *_: broken(0))
    status, found = ask("lecture", {})
    assert status == 500
    assert found["detail"][0]["msg"] == "A defect in ridgeline, not an answer: KeyError: 'colour'"
