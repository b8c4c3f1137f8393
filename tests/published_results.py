"""Published result files, cut down to the figures and fields that readers look at.

No names of people or machines; figures as published.
"""

VLLM_L40S = """
{"date": "20250530-203806", "backend": "vllm", "model_id": "meta-llama/Llama-3.2-3B-Instruct",
"tokenizer_id": "meta-llama/Llama-3.2-3B-Instruct", "num_prompts": 300, "gpu": "4xNVIDIA_L40S",
"decode_replicas": "4", "request_rate": 10.0, "burstiness": 1.0, "max_concurrency": null,
"duration": 36.034275877, "completed": 300, "total_input_tokens": 299700,
"total_output_tokens": 81050, "request_throughput": 8.325406649602808, "request_goodput:": null,
"output_throughput": 2249.247363167692, "total_token_throughput": 10566.328606120898,
"mean_ttft_ms": 54.577085783294024, "median_ttft_ms": 52.999333499883505,
"mean_tpot_ms": 13.577995860227945, "median_tpot_ms": 13.512526767533997,
"mean_itl_ms": 13.505887271504633, "p99_itl_ms": 34.210415409961556}
{"date": "20250530-203916", "backend": "vllm", "model_id": "meta-llama/Llama-3.2-3B-Instruct",
"num_prompts": 900, "gpu": "4xNVIDIA_L40S", "decode_replicas": "4", "request_rate": 30.0,
"burstiness": 1.0, "max_concurrency": null, "duration": 40.57259980900017, "completed": 900,
"total_input_tokens": 899100, "total_output_tokens": 239959,
"request_throughput": 22.182458216551215, "output_throughput": 5914.311656872681,
"total_token_throughput": 28074.587415207345, "mean_ttft_ms": 73.22729984779572,
"median_ttft_ms": 74.51430299988715, "mean_tpot_ms": 23.586269942687313,
"median_tpot_ms": 24.64663913131863, "mean_itl_ms": 23.466772128068868}
"""
"""vLLM's benchmark_serving.py, four replicas of one L40S each.
https://github.com/nerdalert/vllm-bench-automation/blob/main/README.md, May 2025."""

LLAMA_BENCH_4080 = """ggml_cuda_init: found 1 CUDA devices
[
  {"build_commit": "8cf427ff", "build_number": 5163, "gpu_info": "NVIDIA GeForce RTX 4080",
   "backends": "CUDA", "model_filename": "models/Qwen2.5-7B-Instruct-Q4_K_M.gguf",
   "model_type": "qwen2 7B Q4_K - Medium", "model_size": 4677120000,
   "model_n_params": 7615616512, "n_batch": 2048, "n_ubatch": 512, "type_k": "f16",
   "type_v": "f16", "n_gpu_layers": -1, "flash_attn": -1, "n_prompt": 512, "n_gen": 0,
   "n_depth": 0, "avg_ns": 72135640, "avg_ts": 7100.002165, "stddev_ts": 140.341520},
  {"build_commit": "8cf427ff", "build_number": 5163, "gpu_info": "NVIDIA GeForce RTX 4080",
   "backends": "CUDA", "model_filename": "models/Qwen2.5-7B-Instruct-Q4_K_M.gguf",
   "model_type": "qwen2 7B Q4_K - Medium", "model_size": 4677120000,
   "model_n_params": 7615616512, "n_batch": 2048, "n_ubatch": 512, "type_k": "f16",
   "type_v": "f16", "n_gpu_layers": -1, "flash_attn": -1, "n_prompt": 0, "n_gen": 128,
   "n_depth": 0, "avg_ns": 1076767880, "avg_ts": 118.881588, "stddev_ts": 1.041811}
]
"""
"""https://github.com/ggml-org/llama.cpp/blob/master/tools/llama-bench/README.md, April 2025; the
first line is what the CUDA backend prints."""

GENAI_BENCH = """
{"aggregated_metrics": {
  "scenario": "D(100,100)", "num_concurrency": 1, "batch_size": 1,
  "iteration_type": "num_concurrency", "run_duration": 10.592834999999468,
  "mean_output_throughput_tokens_per_s": 94.40343401932063,
  "mean_input_throughput_tokens_per_s": 100.06764006047986,
  "mean_total_tokens_throughput_tokens_per_s": 194.4710740798005,
  "requests_per_second": 0.9440343401932063, "error_codes_frequency": {}, "error_rate": 0,
  "num_error_requests": 0, "num_completed_requests": 10, "num_requests": 10,
  "total_arrivals": 10, "arrival_requests_per_second": 0.9440354132782274,
  "stats": {
    "ttft": {"min": 0.2202, "mean": 0.256500058299207, "p50": 0.2378, "p99": 0.3469},
    "tpot": {"min": 0.00585, "mean": 0.00808820635454939, "p50": 0.00817, "p99": 0.01054},
    "e2e_latency": {"min": 0.8391, "mean": 1.0572324873995966, "p50": 1.0773, "p99": 1.2637},
    "output_latency": {"mean": 0.8007324291003897},
    "num_input_tokens": {"min": 106, "mean": 106.0, "max": 106},
    "num_output_tokens": {"min": 100, "mean": 100.0, "max": 100}}},
 "individual_request_metrics": [], "_time_unit": "s"}
"""
"""https://github.com/sgl-project/genai-bench,
regression_main_branch/D100_100_text-to-text_num_concurrency_1_time_120s.json, 2025."""

AIPERF_PRINTED = """some info line
[12:00:01] another info line
{
  "schema_version": "1.3", "aiperf_version": "0.10.0",
  "request_throughput": {"unit": "requests/sec", "avg": 0.8233},
  "request_latency": {"unit": "ms", "avg": 2413.5, "p50": 2431.75, "p99": 2439.45, "count": 10},
  "request_count": {"unit": "requests", "avg": 10.0},
  "time_to_first_token": {"unit": "ms", "avg": 195.84, "p50": 175.05, "p99": 253.45},
  "inter_token_latency": {"unit": "ms", "avg": 35.2, "p50": 34.73, "p99": 35.96},
  "output_token_throughput": {"unit": "tokens/sec", "avg": 52.69},
  "output_sequence_length": {"unit": "tokens", "avg": 64.0},
  "input_sequence_length": {"unit": "tokens", "avg": 256.0},
  "was_cancelled": false, "error_summary": []
}
"""
"""A run of aiperf 0.10 of June 2026 that a public test suite keeps as its fixture, with lines of a
log before it; found by a search of public code, which names no address."""
