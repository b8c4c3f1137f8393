"""From the body of a request to the one call of a study function that answers it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, cast

from ridgeline.errors import InputError, UnknownNameError
from ridgeline.readers import read_config
from ridgeline.study.cache import cache
from ridgeline.study.catalog import show_entry
from ridgeline.study.deploy import speculation_of
from ridgeline.study.estimate import estimate
from ridgeline.study.experts import experts
from ridgeline.study.pipelines import pipelines
from ridgeline.study.plan import plan
from ridgeline.study.racks import racks
from ridgeline.study.resolve import open_catalog
from ridgeline.study.show_model import show_model
from ridgeline.study.sweep import sweep_estimate
from ridgeline.units import parse_sweep, parse_tokens
from ridgeline.web import schemas as s
from ridgeline.web.calls import Call, Given
from ridgeline.web.limits import MAX_ROWS, MAX_ROWS_WITH_PARTS


def catalogue_name(text: str) -> str:
    """Return a model's name if the catalogue has it; files of this machine are not served.

    Raises:
        UnknownNameError: no such entry.
    """
    shelf = open_catalog()
    if shelf.find("models", text) is None:
        known = shelf.names("models")
        raise UnknownNameError("model", text, known, list_command="ridgeline list models")
    return text


def model_of(q: s.Served) -> Any:
    """Return the catalogue name of a model, or the architecture that its own config describes."""
    if q.config is None:
        return catalogue_name(q.model or "")
    return Given(
        value=read_config(q.config, name=q.name),
        text=f'read_config(json.loads(Path("config.json").read_text()), name={q.name!r})',
        imports=(
            "import json",
            "from pathlib import Path",
            "from ridgeline.readers import read_config",
        ),
    )


def model_word(q: s.Served) -> str:
    """Return what a command line says for the model."""
    return q.model or "./config.json"


def day_of(q: Any, name: str = "date") -> Given | None:
    """Return the day that a field states."""
    value = getattr(q, name)
    if value is None:
        return None
    text = f"date({value.year}, {value.month}, {value.day})"
    return Given(value=value, text=text, imports=("from datetime import date",))


def _drafts(q: s.Traffic) -> dict[str, Any]:
    drafts = speculation_of(q.spec_tokens, q.acceptance, q.draft_cost)
    if drafts is None:
        return {}
    text = f"speculation_of({q.spec_tokens}, {q.acceptance!r}, {q.draft_cost})"
    imports = ("from ridgeline.study.deploy import speculation_of",)
    return {"speculation": Given(value=drafts, text=text, imports=imports)}


def fields(q: s.Request, names: str) -> dict[str, Any]:
    """Return fields by name."""
    return {name: getattr(q, name) for name in names.split()}


def tokens(q: s.Request, names: str) -> dict[str, int]:
    """Return token counts by name."""
    return {name: parse_tokens(str(v), what=name) for name, v in fields(q, names).items()}


def _estimate_kwargs(q: s.EstimateRequest, limit: int) -> dict[str, Any]:
    points = 1
    for what, value in fields(q, "batch context").items():
        several = cast("list[int]", value) if isinstance(value, list) else [value]
        text = ",".join(map(str, several))
        points *= len(parse_sweep(text, what=what))
    if points > limit:
        raise InputError(
            f"batch × context may have at most {limit:,} points over HTTP: {points:,}. Use fewer,"
            f" or parts: false for up to {MAX_ROWS:,}."
        )
    names = (
        "batch context on phase chunk devices tp pp ep dp cp redundant_experts network overlap"
        " dtype kv_cache_dtype dtypes usd_per_device_hour fidelity efficiency engine routing"
        " memory_share"
    )
    return {**fields(q, names), **_drafts(q)}


def estimate_call(q: s.EstimateRequest) -> Call:
    """Return the call of `estimate`."""
    limit = MAX_ROWS_WITH_PARTS if q.parts else MAX_ROWS
    return Call(function=estimate, args=(model_of(q),), kwargs=_estimate_kwargs(q, limit))


def sweep_call(q: s.SweepRequest) -> Call:
    """Return the call of `sweep_estimate`."""
    values = q.sweep.count(",") + 1
    kwargs = _estimate_kwargs(q, MAX_ROWS // values)
    return Call(
        function=sweep_estimate, args=(q.sweep, model_of(q)), kwargs=kwargs, defaults_of=estimate
    )


def plan_call(q: s.PlanRequest) -> Call:
    """Return the call of `plan`."""
    formats = {
        key: tuple(None if word == "auto" else word for word in words)
        for key, words in fields(q, "dtypes kv_cache_dtypes").items()
    }
    names = (
        "on devices ttft_s tpot_s objective pools chunk usd_per_device_hour memory_share max_pp"
        " engine routing"
    )
    kwargs = {**tokens(q, "isl osl"), **fields(q, names), **formats, **_drafts(q)}
    return Call(function=plan, args=(model_of(q),), kwargs=kwargs)


def pipelines_call(q: s.PipelinesRequest) -> Call:
    """Return the call of `pipelines`."""
    names = "on pp batch devices_per_stage micro_batches dtype kv_cache_dtype memory_share"
    kwargs = {**fields(q, names), **tokens(q, "context")}
    return Call(function=pipelines, args=(model_of(q),), kwargs=kwargs)


def racks_call(q: s.RacksRequest) -> Call:
    """Return the call of `racks`."""
    names = (
        "on devices_per_rack num_racks ratios tokens_per_device dispatch_bytes combine_bytes load"
    )
    kwargs = {**fields(q, names), **tokens(q, "context")}
    return Call(function=racks, args=(model_of(q),), kwargs=kwargs)


def cache_call(q: s.CacheRequest) -> Call:
    """Return the call of `cache`."""
    names = (
        "on hold devices dtype kv_cache_dtype usd_per_device_hour usd_per_gb only stall"
        " provider_price"
    )
    more = {"context": str(q.context), "price_date": day_of(q, "price_date")}
    return Call(function=cache, args=(model_of(q),), kwargs={**fields(q, names), **more})


def _experts_of(counts: list[list[float]], **kwargs: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts.json"
        path.write_text(json.dumps({"counts": counts}), encoding="utf-8")
        return experts(path, **kwargs)


def experts_call(q: s.ExpertsRequest) -> Call:
    """Return the call of `experts`; the counts stand for a routing file."""
    names = " ".join(n for n in type(q).model_fields if n != "counts")
    imports = ("from pathlib import Path",)
    routing = Given(value=q.counts, text='Path("counts.json")', imports=imports)
    return Call(function=experts, runs=_experts_of, args=(routing,), kwargs=fields(q, names))


def entry_call(q: s.EntryRequest) -> Call:
    """Return the call of `show_model` or `show_entry`."""
    if q.kind == "models":
        return Call(function=show_model, args=(catalogue_name(q.name),))
    return Call(function=show_entry, args=(q.kind.removesuffix("s"), q.name))
