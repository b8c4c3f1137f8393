"""`ridgeline estimate` from the command line."""

import json
import math

import pytest
from click.testing import CliRunner

from ridgeline.cli import _root, main
from ridgeline.study.estimate import estimate

ROW_KEYS = {
    "batch",
    "context",
    "step_s",
    "tokens_per_s_per_user",
    "tokens_per_s_per_device",
    "usd_per_mtok",
    "mfu",
    "mbu",
    "bound_by",
    "fits",
    "parts",
}
DERIVED_KEYS = {
    "critical_batch",
    "latency_floor_s",
    "cost_floor_usd_per_mtok",
    "balance_context",
    "drain_time_s",
    "max_batch",
    "max_context",
    "flags",
}


def run(*words: str):
    """Run the command and return click's result."""
    return CliRunner().invoke(_root, ["estimate", *words])


def exit_code(capsys, *words: str) -> tuple[int, str]:
    """Run through `main`, which turns errors into sentences, and return code and stderr."""
    with pytest.raises(SystemExit) as stop:
        main(["estimate", *words])
    return int(stop.value.code or 0), capsys.readouterr().err


def test_json_has_the_contract():
    """Keys of the documented schema; parts sum to the step; one line of valid JSON."""
    result = run("llama-3.3-70b", "--on", "hgx-h100-8", "--batch", "1,64", "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    assert document["schema_version"]
    assert document["request"]["devices"] == 8
    assert set(document["derived"]) >= DERIVED_KEYS
    assert [row["batch"] for row in document["rows"]] == [1, 64]
    for row in document["rows"]:
        assert set(row) >= ROW_KEYS
        assert math.isclose(sum(p["time_s"] for p in row["parts"]), row["step_s"], rel_tol=1e-9)


def test_text_fits_the_screen_and_says_what_binds():
    """At most 100 columns, with the flags of what was assumed."""
    result = run("llama-3.3-70b", "--on", "hgx-h100-8", "--why")
    assert result.exit_code == 0, result.output
    assert max(len(line) for line in result.output.splitlines()) <= 100
    assert "weight read" in result.output
    assert "notes:" in result.output


def test_ideal_network_is_flagged():
    """Work divided evenly with free messages is never silent."""
    result = run("llama-3.3-70b", "--on", "hgx-h100-8", "--network", "ideal", "--batch", "1")
    assert "network ideal" in result.output


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("llama-3.3-70bb", "--on", "hgx-h100-8"), 2, "Nearest: llama-3.3-70b"),
        (("llama-3.3-70b", "--on", "hgx-h100-9"), 2, "hgx-h100"),
        (("llama-3.3-70b", "--on", "hgx-h100-8", "--batch", "0"), 2, "at least 1"),
        (("llama-3.3-70b", "--on", "hgx-h100-8", "--batch", "nan"), 2, "whole number"),
        (("llama-3.3-70b", "--on", "hgx-h100-8", "--batch", "99999999999"), 2, "16,777,216"),
        (("llama-3.3-70b", "--on", "hgx-h100-8", "--context", "2000M"), 2, "1,073,741,824"),
        (("llama-3.3-70b", "--on", "hgx-h100-8", "--tp", "3"), 2, "`tp` must divide"),
        (("llama-3.3-70b", "--on", "hgx-h100-8", "--tp", "-1"), 2, "at least 1"),
        (("llama-3.3-70b", "--on", "hgx-h100-8", "--ep", "8", "--tp", "8"), 2, "routed experts"),
        (("llama-3.3-70b", "--on", "hgx-h100-8", "--devices", "0"), 2, "devices"),
        (("llama-3.3-70b", "--on", "hgx-h100-8", "--usd-per-hour", "nan"), 2, "usd-per-hour"),
        (
            ("llama-3.3-70b", "--on", "hgx-h100-8", "--gpu-memory-utilization", "1.5"),
            2,
            "at most 1",
        ),
        (("llama-3.3-70b", "--on", "hgx-h100-8", "--dtype", "fp7"), 2, "fp8"),
        (("llama-3.3-70b", "--on", "hgx-h100-8", "--dtype-of", "ffm=fp8"), 2, "ffn"),
        (("llama-3.3-70b", "--on", "hgx-h100-8", "--plot", "x.xyz"), 2, ".png"),
    ],
)
def test_bad_input_is_explained(capsys, words, code, sentence):
    """Exit code 2, the rule and the remedy; no traceback."""
    got, text = exit_code(capsys, *words)
    assert got == code
    assert sentence in text
    assert "Traceback" not in text


def test_python_api_and_command_agree():
    """One question, one function: the command prints what the function returns."""
    result = estimate("llama-3.3-70b", on="hgx-h100-8", batch=64, context=4096)
    printed = json.loads(
        run("llama-3.3-70b", "--on", "hgx-h100-8", "--batch", "64", "--json").output
    )
    assert printed["rows"][0]["step_s"] == pytest.approx(float(result.rows["step_s"][0]))
    frame = result.to_frame()
    assert list(frame["batch"]) == [64]


@pytest.mark.parametrize("phase", ["decode", "prefill", "mixed"])
@pytest.mark.parametrize("fidelity", ["detailed", "chalk"])
def test_every_phase_and_fidelity_gives_finite_numbers(phase, fidelity):
    """Both fidelities answer all three phases; utilisations stay below one."""
    result = estimate(
        "gpt-oss-120b", on="hgx-h100-8", batch="8:64", context="1k", phase=phase, fidelity=fidelity
    )
    for name in ("step_s", "tokens_per_s_per_device", "usd_per_mtok"):
        assert (result.rows[name] > 0).all()
    assert (result.rows["mfu"] <= 1).all()
    assert (result.rows["mbu"] <= 1).all()


def test_plot_is_a_picture(tmp_path):
    """--plot writes a PNG with four axes."""
    target = tmp_path / "e.png"
    result = run("qwen3-8b", "--on", "h100-sxm", "--plot", str(target))
    assert result.exit_code == 0, result.output
    assert target.read_bytes().startswith(b"\x89PNG")
