"""Every tool's format gives the one run that is behind all fixtures; bad input is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import benchmark_results as results
import published_results as published
from ridgeline.errors import InputError
from ridgeline.readers.benchmarks import Measured, parse_benchmarks, read_benchmarks

FULL = ("vllm bench serve", "SGLang bench_serving", "guidellm", "aiperf", "trtllm-bench")


def only(text: str) -> Measured:
    found = parse_benchmarks(text, what="file")
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("tool", sorted(results.texts()))
def test_recognised_by_content(tool: str) -> None:
    assert {x.tool for x in parse_benchmarks(results.texts()[tool], what="f")} == {tool}


@pytest.mark.parametrize("tool", FULL)
def test_same_run_in_si(tool: str) -> None:
    """10 ms is 0.01 s in whatever unit the tool writes it."""
    run = only(results.texts()[tool])
    assert run.model == results.NAME
    assert (run.isl, run.osl, run.concurrency) == (1024, 256, 32)
    assert run.tpot_s == pytest.approx(0.01)
    assert run.ttft_s == pytest.approx(0.2)
    assert run.requests_per_s == pytest.approx(32 / 2.75)
    assert run.output_tokens_per_s == pytest.approx(32 / 2.75 * 256)
    assert run.request_rate_per_s is None


def test_guidellm_tpot_is_not_its_time_per_output_token() -> None:
    """Its time_per_output_token_ms is 2,750 / 256 = 10.74 ms: TTFT is in it."""
    run = only(results.texts()["guidellm"])
    assert run.tpot_s == pytest.approx(0.01)
    assert run.e2e_latency_s == pytest.approx(2.75)
    assert run.num_failed == 2
    assert any("includes TTFT" in flag for flag in run.flags)


def test_appended_vllm_results_are_all_read() -> None:
    """`--append-result` writes objects one after another."""
    first, second = results.vllm_serve(), {**results.vllm_serve(), "max_concurrency": 64}
    text = json.dumps(first) + "\n" + json.dumps(second) + "\n"
    assert [r.concurrency for r in parse_benchmarks(text, what="f")] == [32, 64]


def test_detailed_vllm_result_gives_the_latency() -> None:
    """TTFT 0.2 s and gaps of 0.1 s and 0.3 s: 0.6 s; another request 0.4 s: mean 0.5 s."""
    detail = {"ttfts": [0.2, 0.4], "itls": [[0.1, 0.3], []], "errors": ["", "timeout"]}
    run = only(json.dumps({**results.vllm_serve(), "failed": None, **detail}))
    assert run.e2e_latency_s == pytest.approx(0.5)
    assert "1 requests failed and are not in the figures" in run.flags


def test_published_result_without_tpot() -> None:
    """A published smoke run of Qwen3-8B whose metrics were ttft, itl and e2el: 16 tokens each."""
    run = only(
        """{"backend": "openai-chat", "burstiness": 1.0, "completed": 4, "date":
        "20260523-114606", "duration": 0.756329, "endpoint_type": "openai-chat", "failed": 0,
        "label": null, "max_concurrency": 1, "max_concurrent_requests": 4,
        "max_output_tokens_per_s": 68.0, "mean_e2el_ms": 189.006543, "mean_itl_ms": 10.577683,
        "mean_ttft_ms": 19.754267, "median_e2el_ms": 189.322754, "median_itl_ms": 11.261725,
        "median_ttft_ms": 20.076505, "model_id": "Qwen/Qwen3-8B", "num_prompts": 4,
        "output_throughput": 84.619278, "request_goodput": null, "request_rate": "inf",
        "request_throughput": 5.288705, "rtfx": 0.0, "total_input_tokens": 288,
        "total_output_tokens": 64, "total_token_throughput": 465.406027}"""
    )
    assert (run.isl, run.osl, run.concurrency, run.tpot_s) == (72, 16, 1, None)
    assert run.e2e_latency_s == pytest.approx(0.189006543)
    # Little's law holds in it: 5.289 requests/s of 0.189 s are one in flight.
    assert run.requests_per_s * run.e2e_latency_s == pytest.approx(1, rel=0.01)


def test_published_results() -> None:
    """What each published file says, from its own text, against a pencil."""
    first, second = parse_benchmarks(published.VLLM_L40S, what="f")
    assert (first.request_rate_per_s, second.request_rate_per_s) == (10.0, 30.0)
    assert first.isl == 299_700 / 300
    assert first.osl == pytest.approx(81_050 / 300)
    assert first.tpot_s == pytest.approx(0.013577996)
    prompt, generated = parse_benchmarks(published.LLAMA_BENCH_4080, what="f")
    assert prompt.prompt_tokens_per_s == pytest.approx(7100.002)
    assert generated.tpot_s == pytest.approx(1 / 118.881588)
    assert generated.device == "NVIDIA GeForce RTX 4080"


def test_published_genai_bench_result() -> None:
    """Seconds; 0.800732 s of 99 gaps are 8.0882 ms; latency 0.2565 + 0.8007 s."""
    run = only(published.GENAI_BENCH)
    assert (run.tool, run.concurrency, run.isl, run.osl) == ("genai-bench", 1, 106, 100)
    assert run.tpot_s == pytest.approx(0.8007324 / 99, rel=1e-5)
    assert run.ttft_s + 99 * run.tpot_s == pytest.approx(run.e2e_latency_s, rel=1e-6)
    assert run.output_tokens_per_s == pytest.approx(100 * run.requests_per_s)
    assert run.num_failed == 0


def test_genai_bench_units_and_arrivals() -> None:
    """In milliseconds the same run; with arrivals the number is a rate."""
    data = json.loads(published.GENAI_BENCH)
    for name in ("ttft", "tpot", "e2e_latency"):
        data["aggregated_metrics"]["stats"][name]["mean"] *= 1e3
    data["_time_unit"] = "ms"
    data["aggregated_metrics"]["iteration_type"] = "qps"
    run, same = only(json.dumps(data)), only(published.GENAI_BENCH)
    assert run.tpot_s == pytest.approx(same.tpot_s)
    assert (run.concurrency, run.request_rate_per_s) == (None, 1)


def test_published_aiperf_output_behind_a_log() -> None:
    """Lines of a log stand before the JSON that the tool printed; 0.8233/s of 2.41 s are 1.99."""
    run = only(published.AIPERF_PRINTED)
    assert (run.isl, run.osl) == (256, 64)
    assert run.tpot_s == pytest.approx(0.0352)
    assert run.requests_per_s * run.e2e_latency_s == pytest.approx(1.987, rel=1e-3)


def test_log_alone_is_no_result() -> None:
    with pytest.raises(InputError, match="not JSON"):
        parse_benchmarks("[INFO] starting\n[INFO] done\n", what="f")


def test_vllm_throughput_counts_prompt_tokens() -> None:
    run = only(results.texts()["vllm bench throughput"])
    assert run.total_tokens_per_s == pytest.approx(32 / 2.75 * 1280)
    assert run.output_tokens_per_s is None


def test_inferencex_rates_are_per_gpu_and_times_in_seconds() -> None:
    run = only(json.dumps({**results.inferencex(), "tp": 8, "dp_attention": True, "ep": 8}))
    assert run.tpot_s == 0.01
    assert run.output_tokens_per_s == pytest.approx(8 * 32 / 2.75 * 256)
    assert run.degrees == {"dp": 8, "ep": 8}
    assert run.statistic == "median"


def test_llama_bench_rows() -> None:
    """5,120 tok/s of a 512-token prompt; 100 tok/s of one sequence is 10 ms per token."""
    prompt, generated = parse_benchmarks(results.texts()["llama-bench"], what="f")
    assert (prompt.prompt_tokens_per_s, prompt.isl, prompt.tpot_s) == (5120, 512, None)
    assert (generated.tpot_s, generated.osl, generated.concurrency) == (0.01, 128, 1)
    assert generated.device == "NVIDIA GeForce RTX 4090"


def test_aiperf_unset_fields_and_units() -> None:
    data = results.aiperf()
    del data["time_to_first_token"]
    data["inter_token_latency"] = {"unit": "us", "avg": 10_000.0}
    run = only(json.dumps(data))
    assert run.ttft_s is None
    assert run.tpot_s == pytest.approx(0.01)
    del data["schema_version"], data["aiperf_version"]
    assert only(json.dumps(data)).tool == "genai-perf"


def test_trtllm_without_streaming_has_no_tpot() -> None:
    data = results.trtllm()
    del data["streaming_metrics"]
    run = only(json.dumps(data))
    assert run.tpot_s is None
    assert run.e2e_latency_s == pytest.approx(2.75)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON object"),
        ("[1, 2]", "holds a int"),
        ("not json", "not JSON at character 0"),
        ('{"model_id": "x"', "not JSON"),
        ('{"zebra": 1, "apple": 2}', "Its keys: zebra, apple"),
        ("[" * 100_000, "nested too deeply"),
        ('{"model_id": "x", "request_throughput": 0, "completed": 0}', "single positive"),
    ],
)
def test_bad_input_says_what_is_wrong(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_benchmarks(text, what="file")


def test_missing_and_binary_files(tmp_path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_benchmarks(tmp_path / "none.json")
    path = tmp_path / "b.json"
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(InputError, match="UTF-8"):
        read_benchmarks(path)


_JUNK = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=5), x, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(
    tool=st.sampled_from(sorted(results.texts())),
    junk=_JUNK,
    pick=st.integers(0, 60),
    cut=st.booleans(),
)
def test_fuzz_ends_in_a_run_or_an_input_error(tool, junk, pick, cut) -> None:
    """One field of a real result becomes anything, or the text is cut: never another exception."""
    data = json.loads(results.texts()[tool])
    target = data[0] if isinstance(data, list) else data
    keys = sorted(target)
    target[keys[pick % len(keys)]] = junk
    text = json.dumps(data)
    if cut:
        text = text[: len(text) * pick // 60]
    try:
        runs = parse_benchmarks(text, what="f")
    except InputError:
        return
    for run in runs:
        assert run.tpot_s is None or 0 < run.tpot_s < float("inf")
