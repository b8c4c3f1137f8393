"""aiperf's `profile_export_aiperf.json` and genai-perf's `profile_export_genai_perf.json`.

A metric is {unit, avg, p50 ...} and is left out where it was not measured. Their
`inter_token_latency` is (latency - TTFT) / (output tokens - 1): TPOT.
"""

from __future__ import annotations

from typing import Any, cast

from ridgeline.readers.benchmarks.record import (
    Json,
    Measured,
    failures,
    positive,
    table,
    text,
    whole,
)

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0}


def is_aiperf(data: Json) -> bool:
    """Whether the object is an export of aiperf or genai-perf."""
    return "avg" in table(data.get("request_latency")) or (
        "input_config" in data and "avg" in table(data.get("request_throughput"))
    )


def read_aiperf(data: Json) -> Measured:
    """Return the averages of an export."""

    def rate(name: str) -> float | None:
        return positive(table(data.get(name)).get("avg"))

    def seconds(name: str) -> float | None:
        metric = table(data.get(name))
        unit = metric.get("unit", "ms")
        return positive(metric.get("avg"), scale=_SECONDS.get(str(unit), 1e-3))

    config = table(data.get("input_config"))
    failed = whole(table(data.get("error_request_count")).get("avg"))
    old = "schema_version" not in data and "aiperf_version" not in data
    return Measured(
        tool="genai-perf" if old else "aiperf",
        model=_model(config),
        concurrency=_deep(config, "concurrency"),
        request_rate_per_s=_deep(config, "request_rate"),
        isl=rate("input_sequence_length"),
        osl=rate("output_sequence_length"),
        ttft_s=seconds("time_to_first_token"),
        tpot_s=seconds("inter_token_latency"),
        e2e_latency_s=seconds("request_latency"),
        requests_per_s=rate("request_throughput"),
        output_tokens_per_s=rate("output_token_throughput"),
        total_tokens_per_s=rate("total_token_throughput"),
        num_requests=whole(table(data.get("request_count")).get("avg")),
        num_failed=failed,
        flags=failures(failed),
    )


def _model(config: Json) -> str | None:
    for place in (config, table(config.get("endpoint"))):
        for key in ("model_names", "models", "model"):
            found = place.get(key)
            if isinstance(found, list) and found:
                found = cast("list[Any]", found)[0]
            if name := text(found):
                return name
    return None


def _deep(config: Json, key: str) -> float | None:
    """Return a positive number stored under `key` at the top, or in one of the sections."""
    for place in (config, *(table(v) for v in config.values())):
        found = place.get(key)
        if isinstance(found, list) and len(cast("list[Any]", found)) == 1:
            found = cast("list[Any]", found)[0]
        if value := positive(found):
            return value
    return None
