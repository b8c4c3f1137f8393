"""Results of genai-bench: one file per scenario and concurrency, with `aggregated_metrics`.

Times are in the unit that `_time_unit` names, seconds in files without it. Its `tpot` is
(e2e latency - TTFT) / (output tokens - 1), per request; `num_concurrency` holds the rate where
`iteration_type` is one of arrivals. The model is named in `experiment_metadata.json` beside the
results, not in them.
"""

from __future__ import annotations

from ridgeline.readers.benchmarks.record import (
    Json,
    Measured,
    failures,
    positive,
    table,
    text,
    whole,
)

_UNITS = {"s": 1.0, "ms": 1e-3}


def is_genai_bench(data: Json) -> bool:
    """Whether the object is a run of genai-bench, with or without its single requests."""
    run = table(data.get("aggregated_metrics")) or data
    return "num_concurrency" in run and "ttft" in table(run.get("stats"))


def read_genai_bench(data: Json) -> Measured:
    """Return one run."""
    run = table(data.get("aggregated_metrics")) or data
    stats = table(run.get("stats"))
    unit = _UNITS.get(text(data.get("_time_unit")) or "s", 1.0)

    def mean(name: str, scale: float = 1.0) -> float | None:
        return positive(table(stats.get(name)).get("mean"), scale=scale)

    load = positive(run.get("num_concurrency"))
    closed = (text(run.get("iteration_type")) or "num_concurrency") == "num_concurrency"
    failed = whole(run.get("num_error_requests"))
    return Measured(
        tool="genai-bench",
        concurrency=load if closed else None,
        request_rate_per_s=None if closed else load,
        isl=mean("num_input_tokens"),
        osl=mean("num_output_tokens"),
        ttft_s=mean("ttft", unit),
        tpot_s=mean("tpot", unit),
        e2e_latency_s=mean("e2e_latency", unit),
        requests_per_s=positive(run.get("requests_per_second")),
        output_tokens_per_s=positive(run.get("mean_output_throughput_tokens_per_s")),
        total_tokens_per_s=positive(run.get("mean_total_tokens_throughput_tokens_per_s")),
        num_requests=whole(run.get("num_completed_requests")),
        num_failed=failed,
        flags=failures(failed),
    )
