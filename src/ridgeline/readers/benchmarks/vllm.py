"""Results of `vllm bench serve --save-result` and `vllm bench throughput --output-json`.

Field names as vLLM 0.9 to 0.20 write them (vllm/benchmarks/serve.py and throughput.py): times in
ms, throughputs per second over the whole run, TPOT without the first token.
"""

from __future__ import annotations

from typing import Any, cast

from ridgeline.readers.benchmarks.record import (
    Json,
    Measured,
    failures,
    mean_or_median,
    positive,
    ratio,
    text,
    whole,
)

_MS = 1e-3


def is_serve(data: Json) -> bool:
    """Whether the object is a result of `vllm bench serve`."""
    return "model_id" in data and "request_throughput" in data


def read_serve(data: Json) -> Measured:
    """Return a result of `vllm bench serve`, with or without `--save-detailed`."""
    completed = positive(data.get("completed"))
    ttft, _ = mean_or_median(data, "ttft_ms")
    tpot, statistic = mean_or_median(data, "tpot_ms")
    e2e, _ = mean_or_median(data, "e2el_ms")
    flags = list(failures(whole(data.get("failed")) or _errors(data)))
    accepted = positive(data.get("spec_decode_acceptance_length"))
    if accepted:
        flags.append("speculative decoding: ITL counts steps, TPOT counts tokens; TPOT is used")
    return Measured(
        tool="vllm bench serve",
        model=text(data.get("model_id")),
        engine="vllm" if (text(data.get("backend")) or "vllm") == "vllm" else None,
        concurrency=positive(data.get("max_concurrency")),
        request_rate_per_s=positive(data.get("request_rate")),
        isl=ratio(positive(data.get("total_input_tokens")), completed),
        osl=ratio(positive(data.get("total_output_tokens")), completed),
        ttft_s=ttft and ttft * _MS,
        tpot_s=tpot and tpot * _MS,
        e2e_latency_s=e2e * _MS if e2e else _from_details(data),
        requests_per_s=positive(data.get("request_throughput")),
        output_tokens_per_s=positive(data.get("output_throughput")),
        total_tokens_per_s=positive(data.get("total_token_throughput")),
        tokens_per_step=accepted,
        num_requests=whole(data.get("completed")),
        num_failed=whole(data.get("failed")),
        statistic=statistic,
        flags=tuple(flags),
    )


def _errors(data: Json) -> int:
    found = data.get("errors")
    return sum(bool(e) for e in cast("list[Any]", found)) if isinstance(found, list) else 0


def _from_details(data: Json) -> float | None:
    """Return the mean of TTFT plus all gaps of every completed request [s]."""
    first, gaps = data.get("ttfts"), data.get("itls")
    if not isinstance(first, list) or not isinstance(gaps, list):
        return None
    totals: list[float] = []
    for start, rest in zip(cast("list[Any]", first), cast("list[Any]", gaps), strict=False):
        begin = positive(start)
        if begin is not None and isinstance(rest, list):
            totals.append(begin + sum(positive(x) or 0.0 for x in cast("list[Any]", rest)))
    return sum(totals) / len(totals) if totals else None


def is_throughput(data: Json) -> bool:
    """Whether the object is a result of `vllm bench throughput`."""
    return {"elapsed_time", "num_requests", "tokens_per_second"} <= data.keys()


def read_throughput(data: Json) -> Measured:
    """Return a result of `vllm bench throughput`: offline, all requests at once, totals only."""
    return Measured(
        tool="vllm bench throughput",
        engine="vllm",
        requests_per_s=positive(data.get("requests_per_second")),
        total_tokens_per_s=positive(data.get("tokens_per_second")),
        num_requests=whole(data.get("num_requests")),
        flags=(
            "tokens_per_second counts prompt and output tokens; the file does not split them",
            "offline: all requests are queued at once, so there is no TTFT and no TPOT",
        ),
    )
