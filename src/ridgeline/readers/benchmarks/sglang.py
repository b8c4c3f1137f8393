"""Lines of SGLang's `bench_serving --output-file` (python/sglang/bench_serving.py): times in ms."""

from __future__ import annotations

from ridgeline.readers.benchmarks.record import (
    Json,
    Measured,
    mean_or_median,
    positive,
    ratio,
    table,
    text,
    whole,
)

_MS = 1e-3


def is_sglang(data: Json) -> bool:
    """Whether the object is a line of bench_serving."""
    return "total_output_tokens_retokenized" in data and "output_throughput" in data


def read_sglang(data: Json) -> Measured:
    """Return one line; `server_info` names model and degrees where it was saved."""
    completed = positive(data.get("completed"))
    ttft, _ = mean_or_median(data, "ttft_ms")
    tpot, statistic = mean_or_median(data, "tpot_ms")
    e2e, _ = mean_or_median(data, "e2e_latency_ms")
    server = table(data.get("server_info"))
    degrees = {
        ours: value
        for ours, theirs in (("tp", "tp_size"), ("pp", "pp_size"), ("dp", "dp_size"))
        if (value := whole(server.get(theirs)))
    }
    backend = text(data.get("backend")) or ""
    return Measured(
        tool="SGLang bench_serving",
        model=text(server.get("model_path")),
        engine="sglang" if backend.startswith("sglang") else None,
        degrees=degrees or None,
        dtype=text(server.get("quantization")),
        # max_concurrency is the client's cap; concurrency is what it saw on average.
        concurrency=positive(data.get("max_concurrency")) or positive(data.get("concurrency")),
        request_rate_per_s=positive(data.get("request_rate")),
        isl=ratio(positive(data.get("total_input_tokens")), completed),
        osl=ratio(positive(data.get("total_output_tokens")), completed),
        ttft_s=ttft and ttft * _MS,
        tpot_s=tpot and tpot * _MS,
        e2e_latency_s=e2e and e2e * _MS,
        requests_per_s=positive(data.get("request_throughput")),
        output_tokens_per_s=positive(data.get("output_throughput")),
        total_tokens_per_s=positive(data.get("total_throughput")),
        tokens_per_step=positive(data.get("accept_length")),
        num_requests=whole(data.get("completed")),
        statistic=statistic,
    )
