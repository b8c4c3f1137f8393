"""guidellm's benchmarks.json, version 2 and its predecessor.

Every metric is split by status {successful, incomplete, errored, total} into distributions.
`time_per_output_token_ms` there is latency / output tokens, TTFT included; `inter_token_latency_ms`
is what everyone else calls TPOT. `request_latency` is in seconds.
"""

from __future__ import annotations

from typing import Any, cast

from ridgeline.readers.benchmarks.record import (
    Json,
    Measured,
    failures,
    number,
    positive,
    table,
    text,
    whole,
)

_MS = 1e-3


def is_guidellm(data: Json) -> bool:
    """Whether the object is a guidellm report."""
    runs = data.get("benchmarks")
    if not isinstance(runs, list) or not runs:
        return False
    metrics = table(table(cast("list[Any]", runs)[0]).get("metrics"))
    return "guidellm_version" in table(data.get("metadata")) or "request_concurrency" in metrics


def read_guidellm(data: Json) -> tuple[Measured, ...]:
    """Return one run per benchmark of the report."""
    return tuple(_run(table(x), data) for x in cast("list[Any]", data["benchmarks"]))


def _run(run: Json, report: Json) -> Measured:
    metrics = table(run.get("metrics"))

    def mean(name: str, scale: float = 1.0) -> float | None:
        return positive(table(table(metrics.get(name)).get("successful")).get("mean"), scale=scale)

    totals = table(metrics.get("request_totals"))
    failed = (whole(totals.get("errored")) or 0) + (whole(totals.get("incomplete")) or 0)
    if not totals:
        latency = table(metrics.get("request_latency"))
        failed = int(number(table(latency.get("errored")).get("count")) or 0)
    return Measured(
        tool="guidellm",
        model=_model(run, report),
        concurrency=mean("request_concurrency"),
        isl=mean("prompt_token_count"),
        osl=mean("output_token_count"),
        ttft_s=mean("time_to_first_token_ms", _MS),
        tpot_s=mean("inter_token_latency_ms", _MS),
        e2e_latency_s=mean("request_latency"),
        requests_per_s=mean("requests_per_second"),
        output_tokens_per_s=mean("output_tokens_per_second"),
        total_tokens_per_s=mean("tokens_per_second"),
        num_requests=whole(totals.get("successful")),
        num_failed=failed or None,
        flags=(
            "TPOT is guidellm's inter_token_latency_ms; its time_per_output_token_ms includes TTFT",
            *failures(failed),
        ),
    )


def _model(run: Json, report: Json) -> str | None:
    """Return the model from wherever this version keeps it."""
    places = (
        report.get("args"),
        report.get("config"),
        table(report.get("config")).get("backend"),
        run.get("config"),
        table(run.get("config")).get("backend"),
        run.get("args"),
        run.get("worker"),
    )
    for place in places:
        for key in ("model", "backend_model"):
            found = text(table(place).get(key))
            if found:
                return found
    return None
