"""From the body of a question about prices to the one call of a study function that answers it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from ridgeline.study import prices as price_lists
from ridgeline.study.break_even import break_even
from ridgeline.study.margins import margins, speed_modes
from ridgeline.study.price_coverage import cases
from ridgeline.study.price_decode import decode
from ridgeline.web import price_schemas as p
from ridgeline.web.calls import Call, Given
from ridgeline.web.study_calls import day_of, fields, model_of, tokens


def bill_call(q: p.BillRequest) -> Call:
    """Return the call of `prices.cost`."""
    counts = tokens(q, "input_tokens output_tokens cached_tokens written_tokens")
    rest = {"on": day_of(q), **fields(q, "hour ttl tier")}
    return Call(function=price_lists.cost, args=(q.model,), kwargs={**counts, **rest})


def decode_call(q: p.DecodeRequest) -> Call:
    """Return the call of `decode`."""
    names = "list_name fast_speed fast_price draws seed"
    return Call(function=decode, args=(q.model,), kwargs={"on": day_of(q), **fields(q, names)})


def _trace_of(model: str, lengths: list[tuple[int, int]], **kwargs: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.csv"
        rows = "".join(f"{prompt},{output}\n" for prompt, output in lengths)
        path.write_text(f"ContextTokens,GeneratedTokens\n{rows}", encoding="utf-8")
        return price_lists.trace_cost(model, path, **kwargs)


def trace_call(q: p.TraceRequest) -> Call:
    """Return the call of `prices.trace_cost`; the lengths stand for a trace file."""
    imports = ("from pathlib import Path",)
    trace = Given(value=q.lengths, text='Path("trace.csv")', imports=imports)
    kwargs = {"on": day_of(q), **fields(q, "hour cached_share tier")}
    return Call(
        function=price_lists.trace_cost, runs=_trace_of, args=(q.model, trace), kwargs=kwargs
    )


def coverage_call(q: p.CoverageRequest) -> Call:
    """Return the call of `cases`."""
    return Call(function=cases, kwargs={"on": day_of(q), **fields(q, "draws seed")})


def _question(q: p.Operated) -> dict[str, Any]:
    """Return what of a request `estimate` takes."""
    serving = fields(q, "devices tp pp ep dp dtype kv_cache_dtype usd_per_device_hour")
    return {k: v for k, v in serving.items() if v is not None}


def margin_call(q: p.MarginRequest) -> Call:
    """Return the call of `margins`."""
    names = "on speed utilisation rate replicas output_tokens target_margin"
    kwargs = {
        "model": model_of(q), **fields(q, names), "date": day_of(q), "question": _question(q),
    }  # fmt: skip
    return Call(function=margins, args=(q.price,), kwargs=kwargs)


def break_even_call(q: p.BreakEvenRequest) -> Call:
    """Return the call of `break_even`."""
    names = "on speed utilisation rate replicas cached_share price capex_usd own"
    kwargs = {
        **fields(q, names),
        "isl": str(q.isl),
        "osl": str(q.osl),
        "date": day_of(q),
        "question": _question(q),
    }
    return Call(function=break_even, args=(model_of(q),), kwargs=kwargs)


def modes_call(q: p.ModesRequest) -> Call:
    """Return the call of `speed_modes`."""
    names = "on speed utilisation fast_ratio"
    kwargs = {**fields(q, names), "context": str(q.context), "question": _question(q)}
    return Call(function=speed_modes, args=(model_of(q),), kwargs=kwargs)
