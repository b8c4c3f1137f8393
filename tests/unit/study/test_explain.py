"""Explained runs: Little's law by pencil, utilisation, distances, changes, missing facts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import benchmark_results as results
import published_results as published
from ridgeline.errors import InputError
from ridgeline.readers.benchmarks import Measured, parse_benchmarks
from ridgeline.report.explain import explain_json, explain_rows, explain_text
from ridgeline.study.explain import catalogue_name, explain
from ridgeline.study.explain_run import complete, with_figures
from ridgeline.study.resolve import open_catalog


def measured(tool: str = "vllm bench serve") -> Measured:
    return parse_benchmarks(results.texts()[tool], what="f")[-1]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "r.json"
    path.write_text(results.texts()["vllm bench serve"])
    return explain(path, on="h100-sxm", devices=1)


def test_little() -> None:
    """32 / 2.75 requests/s, 255·0.01 s each: 32·2.55/2.75 = 29.67 decode at a time."""
    assert complete(measured()).decoding == pytest.approx(32 * 2.55 / 2.75)


def test_concurrency_from_latency() -> None:
    run = complete(replace(measured(), concurrency=None))
    assert run.concurrency == pytest.approx(32)
    assert any("concurrency from Little's law" in f for f in run.flags)


def test_tpot_from_latency_and_from_throughput() -> None:
    """(2.75 - 0.2) / 255 = 10 ms; without a latency 32 / 2,978.9 = 10.74 ms."""
    no_tpot = replace(measured("SGLang bench_serving"), tpot_s=None)
    assert complete(no_tpot).tpot_s == pytest.approx(0.01)
    bare = replace(no_tpot, e2e_latency_s=None)
    assert complete(bare).tpot_s == pytest.approx(2.75 / 256)


def test_offline_totals_are_split_by_lengths() -> None:
    """tokens_per_second · 256 / 1,280 = 2,978.9 output tok/s, unless requests/s says it."""
    offline = with_figures(
        replace(measured("vllm bench throughput"), requests_per_s=None),
        isl=1024.0, osl=256.0, concurrency=32.0,
    )  # fmt: skip
    assert complete(offline).output_tokens_per_s == pytest.approx(32 / 2.75 * 256)


@pytest.mark.parametrize(
    ("change", "flag"),
    [
        ({"isl": None}, "--isl"),
        ({"osl": None, "isl": None}, "--isl and --osl"),
        ({"concurrency": None, "output_tokens_per_s": None, "requests_per_s": None,
          "total_tokens_per_s": None}, "--concurrency"),
        ({"tpot_s": None, "output_tokens_per_s": None, "requests_per_s": None,
          "total_tokens_per_s": None}, "--tpot-ms"),
    ],
)  # fmt: skip
def test_missing_facts_name_their_flags(change, flag) -> None:
    with pytest.raises(InputError, match=flag):
        complete(replace(measured(), **change))


def test_contradicting_figures_are_flagged() -> None:
    """TPOT 20 ms at the same throughput would mean 59 requests decoding of 32 in flight."""
    run = complete(replace(measured(), tpot_s=0.02))
    assert run.decoding == 32
    assert any("do not belong together" in f for f in run.flags)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_given_figures_are_checked(value: float) -> None:
    with pytest.raises(InputError, match="above zero"):
        with_figures(measured(), tpot_s=value)


def test_utilisation_by_pencil(served) -> None:
    """8.03 B parameters; decode MFU = 2·N·B / (TPOT·989.4e12) with attention on top.

    Weights without the embedding table 7.504 B: 2·7.504e9·29.67 = 4.453e11; attention of
    context 1,152: 32 layers·4·4,096·1,153·29.67 = 1.79e10. 4.63e11/(0.01·989.4e12) = 4.68 %.
    Bytes: 15.01 GB + 29.67·1,153·131,072 = 4.48 GB; 19.5/(0.01·3.35e3) = 58.2 %.
    """
    assert served.decode_mfu == pytest.approx(0.0468, rel=0.01)
    assert served.decode_mbu == pytest.approx(0.582, rel=0.01)
    assert served.mfu > served.decode_mfu


def test_distances_and_parts(served) -> None:
    assert served.ideal.tpot_s < served.predicted.tpot_s
    assert sum(x.predicted_s for x in served.limits) == pytest.approx(served.predicted.tpot_s)
    assert sum(x.scaled_s for x in served.limits) == pytest.approx(served.run.tpot_s)
    assert sum(x.share for x in served.limits) == pytest.approx(1)


def test_changes_are_ranked_predictions(served) -> None:
    gains = [c.throughput_ratio for c in served.changes]
    assert len(gains) == 3
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] > 1
    fp8 = explain(
        None, model="llama-3.1-8b", on="h100-sxm", devices=1, dtype="fp8",
        figures={"tpot_s": 0.01, "ttft_s": 0.2, "isl": 1024, "osl": 256, "concurrency": 32},
    )  # fmt: skip
    change = next((c for c in served.changes if c.flag == "--dtype fp8"), None)
    if change is not None:
        assert change.tpot_ratio == pytest.approx(fp8.predicted.tpot_s / served.predicted.tpot_s)


def test_goal_latency_ranks_by_tpot(tmp_path) -> None:
    path = tmp_path / "r.json"
    path.write_text(results.texts()["trtllm-bench"])
    found = explain(path, on="h100-sxm", goal="latency")
    ratios = [c.tpot_ratio for c in found.changes]
    assert ratios == sorted(ratios)
    assert ratios[0] < 1
    assert found.request["engine"] == "trtllm"


def test_llama_bench_prompt_and_generation(tmp_path) -> None:
    path = tmp_path / "l.json"
    path.write_text(results.texts()["llama-bench"])
    question = {"model": "llama-3.1-8b", "on": "rtx-4090", "dtype": "q4_k_m"}
    prompt = explain(path, run=1, **question)
    assert prompt.run.kind == "prefill"
    assert prompt.mfu == prompt.decode_mfu
    text = explain_text(prompt)
    assert "prompt tok/s" in text
    assert "Little" not in text
    generated = explain(path, run=2, **question)
    assert generated.run.isl == 1
    assert "runs of the file" in explain_text(generated)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"on": "h100-sxm"}, "--model"),
        ({"model": "llama-3.1-8b"}, "--on"),
        ({"model": "llama-3.1-8b", "on": "h100-sxm", "run": 3}, "--run must be from 1 to 2"),
        ({"model": "llama-3.1-8b", "on": "h100-sxm", "goal": "fame"}, "goal must be"),
    ],
)
def test_missing_arguments_name_their_flags(tmp_path, arguments, words) -> None:
    data = results.vllm_serve()
    del data["model_id"]
    rows = [{**r, "model_type": None, "model_filename": None} for r in results.llama_bench()]
    path = tmp_path / "l.json"
    path.write_text(json.dumps(rows))
    with pytest.raises(InputError, match=words):
        explain(path, **arguments)


@pytest.mark.parametrize(
    ("served", "known"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"),
        ("/models/Llama-3.3-70B-Instruct/", "llama-3.3-70b-instruct"),
        ("nvidia/DeepSeek-R1-0528-FP4", "deepseek-r1"),
        ("openai/gpt-oss-120b", "gpt-oss-120b"),
    ],
)
def test_served_names(served, known) -> None:
    assert catalogue_name(served, open_catalog()) == known


def test_unknown_model_of_the_file_asks_for_one(tmp_path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**results.vllm_serve(), "model_id": "acme/never-heard"}))
    with pytest.raises(InputError, match="Give --model"):
        explain(path, on="h100-sxm")


def test_reports(served) -> None:
    text = explain_text(served)
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "decode MBU" in text
    document = json.loads(json.dumps(explain_json(served), allow_nan=False))
    assert document["schema_version"] == "1"
    assert document["run"]["tpot_s"] == pytest.approx(0.01)
    assert explain_rows(served, "csv").splitlines()[0] == "name,predicted_s,share,scaled_s"
    assert explain_rows(served, "markdown").startswith("| where")


def test_published_runs_on_a_card_nobody_fitted(tmp_path: Path) -> None:
    """Llama-3.2-3B in vLLM on four L40S, 10 and 30 requests/s: published TPOT 13.6 and 23.6 ms.

    Neither this model nor this card is among the rows that engines were fitted to.
    """
    path = tmp_path / "vllm.json"
    path.write_text(published.VLLM_L40S)
    for run in (1, 2):
        found = explain(path, on="4xl40s", devices=4, degrees={"dp": 4}, run=run)
        assert found.predicted.tpot_s == pytest.approx(found.run.tpot_s, rel=0.25)
        assert 0.2 < found.decode_mbu < 0.9
