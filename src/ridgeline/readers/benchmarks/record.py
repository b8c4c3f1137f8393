"""What a benchmark of any tool says, in SI units and with one definition per quantity."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from ridgeline.errors import InputError

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One benchmark run; None where the file does not say."""

    tool: str
    model: str | None = None
    """As the tool names it."""
    engine: str | None = None
    """Serving engine, where the file names it."""
    device: str | None = None
    """As the tool names it."""
    num_devices: int | None = None
    degrees: Mapping[str, int] | None = None
    """tp, pp, ep, dp that the file states."""
    dtype: str | None = None
    """Weight format that the file states."""
    concurrency: float | None = None
    """Requests in flight that the client aimed at or saw."""
    request_rate_per_s: float | None = None
    """Arrivals the client aimed at; None for a closed loop or an unlimited rate."""
    isl: float | None = None
    """Mean prompt tokens of a request."""
    osl: float | None = None
    """Mean output tokens of a request, the first included."""
    ttft_s: float | None = None
    """Arrival to first output token [s]."""
    tpot_s: float | None = None
    """(last - first token time) / (output tokens - 1), per request [s]."""
    e2e_latency_s: float | None = None
    """Arrival to last token [s]."""
    requests_per_s: float | None = None
    """Completed requests over the duration."""
    output_tokens_per_s: float | None = None
    """Output tokens of all requests over the duration."""
    total_tokens_per_s: float | None = None
    """Prompt and output tokens over the duration."""
    prompt_tokens_per_s: float | None = None
    """Of a run that only prefills."""
    tokens_per_step: float | None = None
    """Mean output tokens per decode step, where drafts are verified."""
    num_requests: int | None = None
    num_failed: int | None = None
    statistic: str = "mean"
    """Which statistic the times are."""
    flags: tuple[str, ...] = ()


def number(value: Any) -> float | None:
    """Return a finite JSON number as float, and None for anything else.

    >>> number(3), number("inf"), number(True), number(float("nan"))
    (3.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def positive(value: Any, *, scale: float = 1.0) -> float | None:
    """Return a number above zero times `scale`, else None (tools write 0 for `not measured`)."""
    found = number(value)
    # Nothing that is measured is near the smallest floats, whose reciprocals are infinite.
    return found * scale if found is not None and found * scale > 1e-15 else None


def whole(value: Any) -> int | None:
    """Return a whole number of at least 0, else None."""
    found = number(value)
    return int(found) if found is not None and found >= 0 and found == int(found) else None


def text(value: Any) -> str | None:
    """Return a non-empty string of at most 200 characters, else None."""
    return value[:200] if isinstance(value, str) and value.strip() else None


def table(value: Any) -> Json:
    """Return a JSON object, empty where the value is something else."""
    return cast("Json", value) if isinstance(value, dict) else {}


def ratio(total: float | None, count: float | None) -> float | None:
    """Return total / count where both are known and count is above zero."""
    return total / count if total is not None and count else None


def mean_or_median(data: Json, stem: str, *, suffix: str = "") -> tuple[float | None, str]:
    """Return `mean_<stem>` [as written], else `median_<stem>`, and which of them it is."""
    for word in ("mean", "median"):
        found = positive(data.get(f"{word}_{stem}{suffix}"))
        if found is not None:
            return found, word
    return None, "mean"


def need(found: Measured, where: str) -> Measured:
    """Return the run unless it holds no figure at all.

    Raises:
        InputError: nothing measured in it.
    """
    figures = (
        found.tpot_s,
        found.ttft_s,
        found.e2e_latency_s,
        found.output_tokens_per_s,
        found.total_tokens_per_s,
        found.prompt_tokens_per_s,
        found.requests_per_s,
    )
    if all(x is None for x in figures):
        raise InputError(
            f"{where}: a {found.tool} result without a single positive time or throughput. Did"
            " every request fail?"
        )
    return found


def failures(count: int | None) -> tuple[str, ...]:
    """Return a flag where requests failed."""
    return (f"{count:,} requests failed and are not in the figures",) if count else ()
