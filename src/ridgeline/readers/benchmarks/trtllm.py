"""`trtllm-bench throughput|latency --report_json`: sections engine, world_info, performance.

Times in ms. `streaming_metrics` exists only for streamed runs; without it there is no TPOT.
"""

from __future__ import annotations

from ridgeline.readers.benchmarks.record import Json, Measured, positive, table, text, whole

_MS = 1e-3
_PLAIN = {"NONE", "NO_QUANT"}


def is_trtllm(data: Json) -> bool:
    """Whether the object is a report of trtllm-bench."""
    return {"engine", "world_info", "performance"} <= data.keys()


def read_trtllm(data: Json) -> Measured:
    """Return a report of trtllm-bench."""
    engine, world = table(data.get("engine")), table(data.get("world_info"))
    requests, speed = table(data.get("request_info")), table(data.get("performance"))
    streamed = table(data.get("streaming_metrics"))
    degrees = {
        ours: value
        for ours, theirs in (("tp", "tp_size"), ("pp", "pp_size"), ("ep", "ep_size"))
        if (value := whole(world.get(theirs))) and (ours != "ep" or value > 1)
    }
    quantization = text(engine.get("quantization"))
    return Measured(
        tool="trtllm-bench",
        model=text(engine.get("model")),
        engine="trtllm",
        device=text(table(data.get("machine")).get("name")),
        num_devices=whole(world.get("world_size")),
        degrees=degrees or None,
        dtype=None if quantization is None or quantization.upper() in _PLAIN else quantization,
        concurrency=positive(requests.get("avg_num_concurrent_requests")),
        isl=positive(requests.get("avg_input_length")),
        osl=positive(requests.get("avg_output_length")),
        ttft_s=positive(streamed.get("avg_ttft_ms"), scale=_MS),
        tpot_s=positive(streamed.get("avg_tpot_ms"), scale=_MS),
        e2e_latency_s=positive(speed.get("avg_request_latency_ms"), scale=_MS),
        requests_per_s=positive(speed.get("request_throughput_req_s")),
        output_tokens_per_s=positive(speed.get("system_output_throughput_tok_s")),
        total_tokens_per_s=positive(speed.get("system_total_throughput_tok_s")),
        num_requests=whole(requests.get("num_requests")),
        flags=() if streamed else ("not streamed: the report has no TTFT and no TPOT",),
    )
