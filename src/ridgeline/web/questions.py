"""Every question of the API: its body, the one study function it calls, and the answer's form.

A new question is one entry of QUESTIONS and one schema; `routes.py` serves it, and `calls.py` writes
the command line and the Python lines beside the answer.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ridgeline.errors import InputError, UnknownNameError
from ridgeline.readers import read_config
from ridgeline.report import cache as cache_report
from ridgeline.report import catalog as catalog_report
from ridgeline.report import estimate as estimate_report
from ridgeline.report import experts as experts_report
from ridgeline.report import lecture as lecture_report
from ridgeline.report import lecture_edit as lecture_edit_report
from ridgeline.report import margins as margins_report
from ridgeline.report import model_sheet, price_decode
from ridgeline.report import plan as plan_report
from ridgeline.report import prices as prices_report
from ridgeline.report import racks as racks_report
from ridgeline.report.sweep import render_sweep
from ridgeline.study import prices as price_lists
from ridgeline.study.cache import cache
from ridgeline.study.catalog import list_entries, show_entry
from ridgeline.study.deploy import speculation_of
from ridgeline.study.estimate import estimate
from ridgeline.study.experts import experts
from ridgeline.study.lecture import CHAPTERS, lecture
from ridgeline.study.lecture_claims.record import stated_value
from ridgeline.study.lecture_edit import mark_answer, recompute
from ridgeline.study.lecture_work import work
from ridgeline.study.margins import margins
from ridgeline.study.plan import plan
from ridgeline.study.price_coverage import known_truth
from ridgeline.study.price_decode import decode
from ridgeline.study.racks import racks
from ridgeline.study.resolve import open_catalog
from ridgeline.study.show_model import show_model
from ridgeline.study.sweep import sweep_estimate
from ridgeline.units import parse_sweep, parse_tokens
from ridgeline.web import schemas as s
from ridgeline.web.calls import Call, Given, command_line
from ridgeline.web.limits import MAX_RACK_DEVICES, MAX_ROWS, MAX_ROWS_WITH_PARTS

Document = Mapping[str, Any]
Tell = Callable[[int, int], None]
_ESTIMATE = (
    "on phase chunk devices tp pp ep dp cp redundant_experts network overlap dtype kv_cache_dtype"
    " dtypes usd_per_device_hour fidelity efficiency routing memory_share"
).split()
_SERVING = "devices tp pp ep dp dtype kv_cache_dtype usd_per_device_hour".split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a route asks: exactly one call of a study function."""

    schema: type[s.Request]
    call: Callable[[Any], Call]
    document: Callable[[Any, Any], Document]
    """From the request and the result."""
    command: Callable[[Any], str]
    summary: str
    long: bool = False
    """Runs as a job, with progress and cancel; its function takes `progress`."""
    progress: Callable[[Tell], Callable[..., None]] = lambda tell: tell
    """From (done, total) to what the function calls."""


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


def _model(q: s.Served) -> Any:
    if q.config is None:
        return catalogue_name(q.model or "")
    return Given(
        value=read_config(q.config, name=q.name),
        text=f'read_config(json.load(open("config.json")), name={q.name!r})',
        imports=("import json", "from ridgeline.readers import read_config"),
    )


def _model_word(q: s.Served) -> str:
    return q.model or "./config.json"


def _drafts(q: s.Traffic) -> dict[str, Any]:
    drafts = speculation_of(q.spec_tokens, q.acceptance, q.draft_cost)
    if drafts is None:
        return {}
    text = f"speculation_of({q.spec_tokens}, {q.acceptance!r}, {q.draft_cost})"
    imports = ("from ridgeline.study.deploy import speculation_of",)
    return {"speculation": Given(value=drafts, text=text, imports=imports)}


def _date(q: Any, name: str = "date") -> Any:
    value = getattr(q, name)
    if value is None:
        return None
    text = f"date({value.year}, {value.month}, {value.day})"
    return Given(value=value, text=text, imports=("from datetime import date",))


def _some(q: s.Request, names: list[str]) -> dict[str, Any]:
    return {name: getattr(q, name) for name in names}


def _tokens(value: int | str, what: str) -> int:
    return parse_tokens(str(value), what=what)


def _estimate_kwargs(q: s.EstimateRequest, limit: int) -> dict[str, Any]:
    points = 1
    for what in ("batch", "context"):
        value = getattr(q, what)
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        points *= len(parse_sweep(text, what=what))
    if points > limit:
        raise InputError(
            f"batch × context may have at most {limit:,} points over HTTP: {points:,}. Use fewer,"
            f" or parts: false for up to {MAX_ROWS:,}."
        )
    return {"batch": q.batch, "context": q.context, **_some(q, _ESTIMATE), **_drafts(q)}


def _estimate(q: s.EstimateRequest) -> Call:
    limit = MAX_ROWS_WITH_PARTS if q.parts else MAX_ROWS
    return Call(function=estimate, args=(_model(q),), kwargs=_estimate_kwargs(q, limit))


def _sweep(q: s.SweepRequest) -> Call:
    values = q.sweep.count(",") + 1
    kwargs = _estimate_kwargs(q, MAX_ROWS // values)
    return Call(
        function=sweep_estimate, args=(q.sweep, _model(q)), kwargs=kwargs, defaults_of=estimate
    )


def _plan(q: s.PlanRequest) -> Call:
    formats = {
        key: tuple(None if w == "auto" else w for w in getattr(q, key))
        for key in ("dtypes", "kv_cache_dtypes")
    }
    same = "on devices ttft_s tpot_s objective pools chunk usd_per_device_hour memory_share max_pp"
    return Call(
        function=plan,
        args=(_model(q),),
        kwargs={
            "isl": _tokens(q.isl, "isl"),
            "osl": _tokens(q.osl, "osl"),
            **_some(q, [*same.split(), "routing"]),
            **formats,
            **_drafts(q),
        },
    )


def _racks(q: s.RacksRequest) -> Call:
    # The racks of `on` may be large: two of the largest domains there are.
    if (q.devices_per_rack or 1) * max(q.num_racks) > MAX_RACK_DEVICES:
        raise InputError(
            f"num_racks × devices_per_rack may be at most {MAX_RACK_DEVICES:,} over HTTP."
        )
    names = "on devices_per_rack num_racks ratios tokens_per_device dispatch_bytes combine_bytes"
    return Call(
        function=racks,
        args=(catalogue_name(q.model),),
        kwargs={
            **_some(q, [*names.split(), "load"]),
            "context": _tokens(q.context, "context"),
        },
    )


def _cache(q: s.CacheRequest) -> Call:
    names = "on hold devices dtype kv_cache_dtype usd_per_device_hour usd_per_gb only stall"
    return Call(
        function=cache,
        args=(catalogue_name(q.model),),
        kwargs={
            "context": str(q.context),
            **_some(q, [*names.split(), "provider_price"]),
            "price_date": _date(q, "price_date"),
        },
    )


def _experts_of(counts: list[list[float]], **kwargs: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts.json"
        path.write_text(json.dumps({"counts": counts}), encoding="utf-8")
        return experts(path, **kwargs)


def _experts(q: s.ExpertsRequest) -> Call:
    names = [n for n in type(q).model_fields if n != "counts"]
    routing = Given(
        value=q.counts, text='Path("counts.json")', imports=("from pathlib import Path",)
    )
    return Call(
        function=experts, runs=_experts_of, args=(routing,), kwargs=_some(q, names)
    )  # fmt: skip


def _entry(q: s.EntryRequest) -> Call:
    if q.kind == "models":
        return Call(function=show_model, args=(catalogue_name(q.name),))
    return Call(function=show_entry, args=(q.kind.removesuffix("s"), q.name))


def _bill(q: s.BillRequest) -> Call:
    counts = [f"{kind}_tokens" for kind in ("input", "output", "cached", "written")]
    tokens = {name: _tokens(getattr(q, name), name) for name in counts}
    rest = {"on": _date(q), **_some(q, ["hour", "ttl", "tier"])}
    return Call(function=price_lists.cost, args=(q.model,), kwargs={**tokens, **rest})


def _decode(q: s.DecodeRequest) -> Call:
    names = ["list_name", "fast_speed", "fast_price", "draws", "seed"]
    return Call(function=decode, args=(q.model,), kwargs={"on": _date(q), **_some(q, names)})


def _margin(q: s.MarginRequest) -> Call:
    names = ["on", "speed", "utilisation", "rate", "replicas", "output_tokens", "target_margin"]
    question = {k: v for k, v in _some(q, _SERVING).items() if v is not None}
    return Call(
        function=margins,
        args=(q.price,),
        kwargs={
            "model": catalogue_name(q.model),
            **_some(q, names),
            "date": _date(q),
            "question": question,
        },
    )


def _entry_document(q: s.EntryRequest, result: Any) -> Document:
    if q.kind == "models":
        return model_sheet.model_json(result)
    return catalog_report.entry_json(result)


def _entry_command(q: s.EntryRequest) -> str:
    return command_line(f"show {q.kind.removesuffix('s')}", q, q.name)


def _lecture_document(_: s.LectureRequest, result: Any) -> Document:
    return {**lecture_report.lecture_json(result, work, stated_value), "chapters": CHAPTERS}


QUESTIONS: dict[str, Question] = {
    "catalog": Question(
        schema=s.ListRequest,
        call=lambda q: Call(function=list_entries, args=(q.kind, q.search)),
        document=lambda _, r: catalog_report.listing_json(r),
        command=lambda q: command_line("list", q, q.kind, q.search),
        summary="Names of one kind, with their main figures",
    ),
    "entry": Question(
        schema=s.EntryRequest,
        call=_entry,
        document=_entry_document,
        command=_entry_command,
        summary="One entry, with the source of each figure",
    ),
    "model": Question(
        schema=s.ModelRequest,
        call=lambda q: Call(function=show_model, args=(_model(q),)),
        document=lambda _, r: model_sheet.model_json(r),
        command=lambda q: command_line("show model", q, _model_word(q)),
        summary="Parameters, state and layers of a model",
    ),
    "estimate": Question(
        schema=s.EstimateRequest,
        call=_estimate,
        document=lambda q, r: estimate_report.estimate_json(r, parts=q.parts),
        command=lambda q: command_line("estimate", q, _model_word(q)),
        summary="Step time, speed and cost over batch and context, and what binds",
    ),
    "estimate/sweep": Question(
        schema=s.SweepRequest,
        call=_sweep,
        document=lambda _, r: json.loads(render_sweep(r, "json")),
        command=lambda q: command_line("estimate", q, _model_word(q)),
        summary="The same if a figure of the hardware were another",
    ),
    "racks": Question(
        schema=s.RacksRequest,
        call=_racks,
        document=lambda _, r: racks_report.as_json(r),
        command=lambda q: command_line("racks", q),
        summary="Traffic of experts over racks, and what other networks would do",
    ),
    "cache": Question(
        schema=s.CacheRequest,
        call=_cache,
        document=lambda _, r: cache_report.cache_json(r),
        command=lambda q: command_line("cache", q, q.model),
        summary="Which tier should hold a cache for how long, or recompute it",
    ),
    "lecture": Question(
        schema=s.LectureRequest,
        call=lambda q: Call(function=lecture, args=() if q.which is None else (q.which,)),
        document=_lecture_document,
        command=lambda q: command_line("lecture", q, q.which),
        summary="Claims of the lecture recomputed, with a verdict",
    ),
    "chalk": Question(
        schema=s.ChalkRequest,
        call=lambda q: Call(
            function=recompute, args=(q.claim,), kwargs={"index": q.value, "inputs": q.inputs}
        ),
        document=lambda _, r: lecture_edit_report.recomputed_json(r, work, stated_value),
        command=lambda q: command_line("lecture", q, q.claim, "--why"),
        summary="A value of a claim at other inputs",
    ),
    "quiz/check": Question(
        schema=s.QuizRequest,
        call=lambda q: Call(function=mark_answer, args=(q.claim, q.value, q.answer)),
        document=lambda _, r: lecture_edit_report.marked_json(r, work, stated_value),
        command=lambda q: command_line("lecture", q, q.claim, "--why"),
        summary="An answer with its unit, marked",
    ),
    "prices": Question(
        schema=s.PricesRequest,
        call=lambda q: Call(
            function=price_lists.listed,
            args=(q.pattern,),
            kwargs={"on": _date(q), "hour": q.hour, "tier": q.tier},
        ),
        document=lambda _, r: prices_report.rows_json(r),
        command=lambda q: command_line("prices list", q, q.pattern),
        summary="List prices in force",
    ),
    "prices/sheet": Question(
        schema=s.SheetRequest,
        call=lambda q: Call(
            function=price_lists.show, args=(q.model,), kwargs={"on": _date(q), "hour": q.hour}
        ),
        document=lambda _, r: prices_report.sheet_json(r),
        command=lambda q: command_line("prices show", q, q.model),
        summary="Everything listed for one model",
    ),
    "prices/cost": Question(
        schema=s.BillRequest,
        call=_bill,
        document=lambda _, r: {"schema_version": "1", "quotes": prices_report.quote_rows(r)},
        command=lambda q: command_line("prices cost", q, q.model),
        summary="What a request costs under every list",
    ),
    "prices/decode": Question(
        schema=s.DecodeRequest,
        call=_decode,
        document=lambda _, r: price_decode.decoded_json(r, known_truth(r.row.id)),
        command=lambda q: command_line("prices decode", q, q.model),
        summary="What a price sheet gives away",
    ),
    "prices/margin": Question(
        schema=s.MarginRequest,
        call=_margin,
        document=lambda _, r: margins_report.margins_json(r),
        command=lambda q: command_line("prices margin", q, q.price),
        summary="Cost against price by context",
    ),
    "plan": Question(
        schema=s.PlanRequest,
        call=_plan,
        document=lambda _, r: plan_report.plan_json(r),
        command=lambda q: command_line("plan", q, _model_word(q)),
        summary="Which layout, batch and pools meet the targets",
        long=True,
    ),
    "experts": Question(
        schema=s.ExpertsRequest,
        call=_experts,
        document=lambda _, r: experts_report.as_json(r),
        command=lambda q: command_line("experts", q, "./counts.json"),
        summary="Place and replicate experts over ranks, nodes and racks",
        long=True,
        progress=lambda tell: lambda _, part: tell(round(100 * part), 100),
    ),
}
"""Path below /api/v1 to question."""
