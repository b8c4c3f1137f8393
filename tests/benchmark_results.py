"""Small results in each tool's exact format, with one made-up run behind all of them.

Llama-3.1-8B on one device: 32 requests in flight, 1,024 tokens in, 256 out, TTFT 200 ms,
TPOT 10 ms. Latency 0.2 + 255·0.01 = 2.75 s; 32 / 2.75 = 11.636 requests/s; 2,978.9 output tok/s.
"""

from __future__ import annotations

import json
from typing import Any

ISL, OSL, CONCURRENCY = 1024, 256, 32
TTFT_S, TPOT_S = 0.2, 0.01
LATENCY_S = TTFT_S + (OSL - 1) * TPOT_S
RATE = CONCURRENCY / LATENCY_S
NAME = "meta-llama/Llama-3.1-8B-Instruct"


def _spread(stem: str, ms: float) -> dict[str, float]:
    return {
        f"mean_{stem}": ms,
        f"median_{stem}": ms * 0.99,
        f"std_{stem}": ms * 0.1,
        f"p99_{stem}": ms * 1.3,
    }


def vllm_serve() -> dict[str, Any]:
    return {
        "date": "20260301-120000",
        "endpoint_type": "openai",
        "backend": "vllm",
        "label": None,
        "model_id": NAME,
        "tokenizer_id": NAME,
        "num_prompts": 320,
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": CONCURRENCY,
        "duration": 27.5,
        "completed": 320,
        "failed": 0,
        "total_input_tokens": 320 * ISL,
        "total_output_tokens": 320 * OSL,
        "request_throughput": RATE,
        "request_goodput": None,
        "output_throughput": RATE * OSL,
        "total_token_throughput": RATE * (ISL + OSL),
        **_spread("ttft_ms", 200.0),
        **_spread("tpot_ms", 10.0),
        **_spread("itl_ms", 10.0),
    }


def vllm_throughput() -> dict[str, Any]:
    return {
        "elapsed_time": 27.5,
        "num_requests": 320,
        "total_num_tokens": 320 * (ISL + OSL),
        "requests_per_second": RATE,
        "tokens_per_second": RATE * (ISL + OSL),
    }


def sglang() -> dict[str, Any]:
    return {
        "tag": None,
        "backend": "sglang",
        "dataset_name": "random",
        "request_rate": float("inf"),
        "max_concurrency": CONCURRENCY,
        "sharegpt_output_len": None,
        "random_input_len": ISL,
        "random_output_len": OSL,
        "random_range_ratio": 1.0,
        "server_info": {"model_path": NAME, "tp_size": 1, "quantization": None},
        "duration": 27.5,
        "completed": 320,
        "total_input_tokens": 320 * ISL,
        "total_output_tokens": 320 * OSL,
        "total_output_tokens_retokenized": 320 * OSL - 3,
        "request_throughput": RATE,
        "input_throughput": RATE * ISL,
        "output_throughput": RATE * OSL,
        "total_throughput": RATE * (ISL + OSL),
        **_spread("e2e_latency_ms", LATENCY_S * 1e3),
        **_spread("ttft_ms", 200.0),
        **_spread("tpot_ms", 10.0),
        **_spread("itl_ms", 10.0),
        "concurrency": CONCURRENCY - 0.2,
        "accept_length": None,
    }


def _distribution(mean: float) -> dict[str, Any]:
    inside = {
        "mean": mean,
        "median": mean,
        "mode": mean,
        "std_dev": 0.0,
        "min": mean,
        "max": mean,
        "count": 320,
        "percentiles": {"p001": mean, "p50": mean, "p99": mean, "p999": mean},
    }
    empty = {**inside, "mean": 0.0, "count": 0}
    return {"successful": inside, "incomplete": empty, "errored": empty, "total": inside}


def guidellm() -> dict[str, Any]:
    metrics = {
        "request_totals": {"successful": 320, "incomplete": 2, "errored": 0, "total": 322},
        "requests_per_second": _distribution(RATE),
        "request_concurrency": _distribution(CONCURRENCY),
        "request_latency": _distribution(LATENCY_S),
        "prompt_token_count": _distribution(ISL),
        "output_token_count": _distribution(OSL),
        "time_to_first_token_ms": _distribution(200.0),
        "time_per_output_token_ms": _distribution(LATENCY_S * 1e3 / OSL),
        "inter_token_latency_ms": _distribution(10.0),
        "output_tokens_per_second": _distribution(RATE * OSL),
        "tokens_per_second": _distribution(RATE * (ISL + OSL)),
    }
    return {
        "metadata": {"version": 2, "guidellm_version": "0.5.0", "python_version": "3.12"},
        "config": {"backend": {"model": NAME}},
        "benchmarks": [{"config": {}, "scheduler_state": {}, "metrics": metrics}],
    }


def _metric(unit: str, avg: float) -> dict[str, Any]:
    return {"unit": unit, "avg": avg, "p50": avg, "p99": avg, "min": avg, "max": avg, "std": 0.0}


def aiperf() -> dict[str, Any]:
    return {
        "schema_version": "1.4",
        "aiperf_version": "0.10.0",
        "benchmark_id": "f00",
        "request_throughput": {"unit": "requests/sec", "avg": RATE},
        "request_latency": _metric("ms", LATENCY_S * 1e3),
        "request_count": {"unit": "requests", "avg": 320.0},
        "time_to_first_token": _metric("ms", 200.0),
        "inter_token_latency": _metric("ms", 10.0),
        "output_token_throughput": {"unit": "tokens/sec", "avg": RATE * OSL},
        "output_sequence_length": _metric("tokens", OSL),
        "input_sequence_length": _metric("tokens", ISL),
        "input_config": {
            "endpoint": {"model_names": [NAME]},
            "loadgen": {"concurrency": CONCURRENCY},
        },
    }


def trtllm() -> dict[str, Any]:
    return {
        "engine": {"model": NAME, "version": "1.2.0", "backend": "Pytorch", "quantization": None},
        "machine": {"name": "NVIDIA H100 80GB HBM3", "memory.total": 79.1, "clocks.mem": 2.6},
        "world_info": {"tp_size": 1, "pp_size": 1, "ep_size": -1, "world_size": 1},
        "request_info": {
            "num_requests": 320,
            "avg_num_concurrent_requests": CONCURRENCY,
            "avg_input_length": ISL,
            "avg_output_length": OSL,
        },
        "performance": {
            "total_latency_ms": 27500.0,
            "avg_request_latency_ms": LATENCY_S * 1e3,
            "request_throughput_req_s": RATE,
            "system_output_throughput_tok_s": RATE * OSL,
            "system_total_throughput_tok_s": RATE * (ISL + OSL),
        },
        "streaming_metrics": {"avg_ttft_ms": 200.0, "avg_tpot_ms": 10.0},
    }


def llama_bench() -> list[dict[str, Any]]:
    common = {
        "build_commit": "eadc418",
        "cpu_info": "13th Gen Intel(R) Core(TM) i7-13650HX",
        "gpu_info": "NVIDIA GeForce RTX 4090",
        "model_filename": "llama-3.1-8b-q4_k_m.gguf",
        "model_type": "llama 8B Q4_K - Medium",
        "n_gpu_layers": 99,
        "n_depth": 0,
        "stddev_ts": 1.0,
    }
    return [
        {**common, "n_prompt": 512, "n_gen": 0, "avg_ts": 5120.0},
        {**common, "n_prompt": 0, "n_gen": 128, "avg_ts": 100.0},
    ]


def inferencex() -> dict[str, Any]:
    return {
        "hw": "h100",
        "tp": 1,
        "ep": 1,
        "dp_attention": "false",
        "conc": CONCURRENCY,
        "model": NAME,
        "framework": "vllm",
        "precision": "fp8",
        "isl": ISL,
        "osl": OSL,
        "tput_per_gpu": RATE * (ISL + OSL),
        "output_tput_per_gpu": RATE * OSL,
        "median_ttft": 0.2,
        "median_tpot": 0.01,
        "median_intvty": 100.0,
    }


def genai_bench() -> dict[str, Any]:
    def spread(mean: float) -> dict[str, float]:
        return {"min": mean, "max": mean, "mean": mean, "stddev": 0.0, "p50": mean, "p99": mean}

    stats = {"ttft": TTFT_S, "tpot": TPOT_S, "e2e_latency": LATENCY_S}
    lengths = {"num_input_tokens": ISL, "num_output_tokens": OSL}
    return {
        "aggregated_metrics": {
            "scenario": f"D({ISL},{OSL})",
            "num_concurrency": CONCURRENCY,
            "iteration_type": "num_concurrency",
            "mean_output_throughput_tokens_per_s": RATE * OSL,
            "mean_total_tokens_throughput_tokens_per_s": RATE * (ISL + OSL),
            "requests_per_second": RATE,
            "num_error_requests": 0,
            "num_completed_requests": 320,
            "stats": {name: spread(value) for name, value in {**stats, **lengths}.items()},
        },
        "individual_request_metrics": [],
        "_time_unit": "s",
    }


def texts() -> dict[str, str]:
    """Return one file per tool."""
    return {
        "vllm bench serve": json.dumps(vllm_serve()),
        "vllm bench throughput": json.dumps(vllm_throughput()),
        "SGLang bench_serving": json.dumps(sglang()) + "\n",
        "guidellm": json.dumps(guidellm()),
        "aiperf": json.dumps(aiperf()),
        "trtllm-bench": json.dumps(trtllm()),
        "genai-bench": json.dumps(genai_bench()),
        "llama-bench": json.dumps(llama_bench(), indent=2),
        "InferenceX": json.dumps(inferencex()),
    }
