"""Every question of the API: its body, the one study function it calls, the answer's form.

A new question is one schema, one call and one entry of QUESTIONS; `routes.py` serves it, and
`calls.py` writes the command line and the Python lines beside the answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

from ridgeline.errors import RidgelineError
from ridgeline.report import cache as cache_report
from ridgeline.report import catalog as catalog_report
from ridgeline.report import estimate as estimate_report
from ridgeline.report import experts as experts_report
from ridgeline.report import lecture as lecture_report
from ridgeline.report import lecture_edit as lecture_edit_report
from ridgeline.report import margins as margins_report
from ridgeline.report import model_sheet, price_decode
from ridgeline.report import plan as plan_report
from ridgeline.report import plan_point as plan_point_report
from ridgeline.report import prices as prices_report
from ridgeline.report import racks as racks_report
from ridgeline.report.pipelines import render_pipelines
from ridgeline.report.service_day import day_json
from ridgeline.report.sweep import render_sweep
from ridgeline.report.truth import truth_json
from ridgeline.study import prices as price_lists
from ridgeline.study.catalog import list_entries
from ridgeline.study.launch import launch_text
from ridgeline.study.launch_pool import Engine
from ridgeline.study.lecture import CHAPTERS, lecture
from ridgeline.study.lecture_claims.record import stated_value
from ridgeline.study.lecture_edit import mark_answer, recompute
from ridgeline.study.lecture_work import work
from ridgeline.study.plan_point import plan_points
from ridgeline.study.price_coverage import coverage, known_truth
from ridgeline.study.service_day import predicted_throughput, service_day
from ridgeline.study.show_model import show_model
from ridgeline.validate.truth import validate_truth
from ridgeline.web import price_calls as money
from ridgeline.web import price_schemas as p
from ridgeline.web import schemas as s
from ridgeline.web import study_calls as c
from ridgeline.web.calls import Call, command_line
from ridgeline.web.study_calls import day_of, model_of, model_word

Document = Mapping[str, Any]
Tell = Callable[[int, int], None]


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


def _entry_document(q: s.EntryRequest, result: Any) -> Document:
    if q.kind == "models":
        return model_sheet.model_json(result)
    return catalog_report.entry_json(result)


def _entry_command(q: s.EntryRequest) -> str:
    return command_line(f"show {q.kind.removesuffix('s')}", q, q.name)


def _lecture_document(_: s.LectureRequest, result: Any) -> Document:
    return {**lecture_report.lecture_json(result, work, stated_value), "chapters": CHAPTERS}


def _plan_document(_: s.PlanRequest, result: Any) -> Document:
    """Return the plan; the winner's launch commands; every shown option taken apart with its own.

    `launch` names the next best option where an engine cannot express the winner; those of
    `points` say why not.
    """
    first, *rest = _points(result, (result.winner, *result.runners_up, *result.front))
    others, front = rest[: len(result.runners_up)], rest[len(result.runners_up) :]
    return {
        **plan_report.plan_json(result),
        "launch": _launch(result),
        "points": {"winner": first, "runners_up": others, "front": front},
    }


def _points(result: Any, options: Sequence[Any]) -> list[Document]:
    return [
        {**plan_point_report.point_json(point), "launch": _launch(result, point.option)}
        for point in plan_points(result, options)
    ]


def _launch(result: Any, option: Any = None) -> dict[str, str]:
    """Return commands by engine, or why there are none."""
    launch: dict[str, str] = {}
    for engine in get_args(Engine):
        try:
            launch[engine] = launch_text(result, engine, option)
        except RidgelineError as error:
            launch[engine] = f"# {error}"
    return launch


def _day_document(_: p.DayRequest, result: Any) -> Document:
    return day_json(result, [predicted_throughput(result, x) for x in ("none", "two-batch")])


def _coverage_document(_: p.CoverageRequest, result: Any) -> Document:
    return {
        "schema_version": "1",
        "scores": [asdict(score) for score in coverage(result)],
        "cases": [price_decode.case_dict(case) for case in result],
    }


def _percent(tell: Tell) -> Callable[[str, float], None]:
    """Return what `experts` calls with a word and a share."""

    def told(_: str, part: float) -> None:
        tell(round(100 * part), 100)

    return told


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
        call=c.entry_call,
        document=_entry_document,
        command=_entry_command,
        summary="One entry, with the source of each figure",
    ),
    "model": Question(
        schema=s.ModelRequest,
        call=lambda q: Call(function=show_model, args=(model_of(q),)),
        document=lambda _, r: model_sheet.model_json(r),
        command=lambda q: command_line("show model", q, model_word(q)),
        summary="Parameters, state and layers of a model",
    ),
    "estimate": Question(
        schema=s.EstimateRequest,
        call=c.estimate_call,
        document=lambda q, r: estimate_report.estimate_json(r, parts=q.parts),
        command=lambda q: command_line("estimate", q, model_word(q)),
        summary="Step time, speed and cost over batch and context, and what binds",
    ),
    "estimate/sweep": Question(
        schema=s.SweepRequest,
        call=c.sweep_call,
        document=lambda _, r: json.loads(render_sweep(r, "json")),
        command=lambda q: command_line("estimate", q, model_word(q)),
        summary="The same if a figure of the hardware were another",
    ),
    "pipelines": Question(
        schema=s.PipelinesRequest,
        call=c.pipelines_call,
        document=lambda _, r: json.loads(render_pipelines(r, "json")),
        command=lambda q: command_line("pipelines", q, model_word(q)),
        summary="What cutting a model into stages fixes, and what it does not",
    ),
    "racks": Question(
        schema=s.RacksRequest,
        call=c.racks_call,
        document=lambda _, r: racks_report.as_json(r),
        command=lambda q: command_line("racks", q, "--model", model_word(q)),
        summary="Traffic of experts over racks, and what other networks would do",
    ),
    "cache": Question(
        schema=s.CacheRequest,
        call=c.cache_call,
        document=lambda _, r: cache_report.cache_json(r),
        command=lambda q: command_line("cache", q, model_word(q)),
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
        schema=p.PricesRequest,
        call=lambda q: Call(
            function=price_lists.listed,
            args=(q.pattern,),
            kwargs={"on": day_of(q), "hour": q.hour, "tier": q.tier},
        ),
        document=lambda q, r: prices_report.rows_json(r, q.date),
        command=lambda q: command_line("prices list", q, q.pattern),
        summary="List prices in force",
    ),
    "prices/sheet": Question(
        schema=p.SheetRequest,
        call=lambda q: Call(
            function=price_lists.show, args=(q.model,), kwargs={"on": day_of(q), "hour": q.hour}
        ),
        document=lambda _, r: prices_report.sheet_json(r),
        command=lambda q: command_line("prices show", q, q.model),
        summary="Everything listed for one model",
    ),
    "prices/cost": Question(
        schema=p.BillRequest,
        call=money.bill_call,
        document=lambda _, r: {"schema_version": "1", "quotes": prices_report.quote_rows(r)},
        command=lambda q: command_line("prices cost", q, q.model),
        summary="What a request costs under every list",
    ),
    "prices/decode": Question(
        schema=p.DecodeRequest,
        call=money.decode_call,
        document=lambda _, r: price_decode.decoded_json(r, known_truth(r.row.id)),
        command=lambda q: command_line("prices decode", q, q.model),
        summary="What a price sheet gives away",
    ),
    "prices/margin": Question(
        schema=p.MarginRequest,
        call=money.margin_call,
        document=lambda _, r: margins_report.margins_json(r),
        command=lambda q: command_line("prices margin", q, q.price, "--serve", model_word(q)),
        summary="Cost against price by context",
    ),
    "prices/trace": Question(
        schema=p.TraceRequest,
        call=money.trace_call,
        document=lambda _, r: {"schema_version": "1", "traces": prices_report.trace_rows(r)},
        command=lambda q: command_line("prices cost", q, q.model, "--trace", "./trace.csv"),
        summary="What a trace of requests costs under every list",
    ),
    "prices/breakeven": Question(
        schema=p.BreakEvenRequest,
        call=money.break_even_call,
        document=lambda _, r: margins_report.break_even_json(r),
        command=lambda q: command_line("prices breakeven", q, model_word(q)),
        summary="Token costs rented and owned, and the volume that beats a price list",
    ),
    "prices/modes": Question(
        schema=p.ModesRequest,
        call=money.modes_call,
        document=lambda _, r: margins_report.modes_json(r),
        command=lambda q: command_line("prices modes", q, model_word(q)),
        summary="What a slow tier could save and a fast tier must cost",
    ),
    "prices/day": Question(
        schema=p.DayRequest,
        call=lambda q: Call(function=service_day, args=(q.name,)),
        document=_day_document,
        command=lambda q: command_line("prices day", q, q.name),
        summary="A published day of a service, recomputed from its own inputs",
    ),
    "prices/coverage": Question(
        schema=p.CoverageRequest,
        call=money.coverage_call,
        document=_coverage_document,
        command=lambda q: command_line("prices coverage", q),
        summary="How often the decoder's bands hold the truth",
    ),
    "validate": Question(
        schema=s.Request,
        call=lambda _: Call(function=validate_truth),
        document=lambda _, r: truth_json(r),
        command=lambda q: command_line("validate", q),
        summary="Predicted against published, on the packaged measurements",
    ),
    "plan": Question(
        schema=s.PlanRequest,
        call=c.plan_call,
        document=_plan_document,
        command=lambda q: command_line("plan", q, model_word(q)),
        summary="Which layout, batch and pools meet the targets",
        long=True,
    ),
    "experts": Question(
        schema=s.ExpertsRequest,
        call=c.experts_call,
        document=lambda _, r: experts_report.as_json(r),
        command=lambda q: command_line("experts", q, "./counts.json"),
        summary="Place and replicate experts over ranks, nodes and racks",
        long=True,
        progress=_percent,
    ),
}
"""Path below /api/v1 to question."""
