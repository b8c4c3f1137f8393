"""The routes under /api/v1; what each computes stands in `questions.py`."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Annotated, Any, cast

from fastapi import APIRouter, FastAPI, HTTPException, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException as StarletteHTTPException

from ridgeline.errors import InputError
from ridgeline.readers.files import parse_config
from ridgeline.web import price_schemas as p
from ridgeline.web import schemas as s
from ridgeline.web.jobs import Job, Ledger, Pool, cancel
from ridgeline.web.limits import CACHE_BYTES, MAX_DEPTH
from ridgeline.web.questions import QUESTIONS

READ = {
    "catalog", "entry", "lecture", "prices", "prices/coverage", "prices/day", "prices/sheet",
    "validate",
}  # fmt: skip
"""Questions that are read with GET."""
_BUSY = {"Retry-After": "5"}
Word = Annotated[str, Path(max_length=200)]


class Fault(BaseModel):
    """One fault of a request."""

    loc: list[str | int]
    """Where: `body` and the field's path."""
    msg: str
    """The sentence of the command line."""
    type: str
    """`input`, `unknown_name`, `unsupported`, `infeasible`, or the schema's own word."""
    nearest: list[str] | None = None
    """Names like the unknown one."""


class Faults(BaseModel):
    """What every refused request answers."""

    detail: list[Fault]


class Answered(BaseModel, extra="allow"):
    """The document of the command's --json, and how to ask elsewhere."""

    schema_version: str | int
    cli: str
    """Command line that asks the same."""
    python: str
    """Python lines that ask the same."""


class JobState(BaseModel, extra="allow"):
    """A long question on its way."""

    schema_version: str
    id: str
    question: str
    status: str
    """`queued`, `running`, `done`, `failed` or `cancelled`."""
    done: int
    total: int
    seconds: float
    result: Answered | None
    detail: list[Fault] | None = None


_FAULTS: dict[int | str, dict[str, Any]] = {
    code: {"model": Faults, "description": words}
    for code, words in {
        400: "The Host header, or the request as HTTP, is not valid.",
        404: "No such name.",
        414: "Path and query are too long.",
        422: "A value breaks a rule, or the question has no answer.",
        429: "The queue is full; Retry-After says when to ask again.",
    }.items()
}
_FAULTS_OF_POST: dict[int | str, dict[str, Any]] = {
    **_FAULTS,
    413: {"model": Faults, "description": "The body is too large."},
    415: {"model": Faults, "description": "The body is not application/json."},
}


class State:
    """What the routes share: the pools, the jobs, and answers that were given before."""

    def __init__(self, quick: Pool, long: Pool) -> None:
        self.quick = quick
        self.long = long
        self.jobs = Ledger(long)
        self._kept: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._kept_bytes = 0

    async def ask(self, name: str, request: s.Request, *, unknown: int = 422) -> Response:
        """Return the answer of a short question; the same question is computed once."""
        body = request.model_dump_json()
        kept = self._kept.get((name, body))
        if kept is not None:
            self._kept.move_to_end((name, body))
            return _json(200, kept)
        job = self.quick.submit(name, body)
        if job is None:
            return _busy()
        status, answer = await asyncio.wrap_future(job.future)
        if status == 200:
            self._keep((name, body), answer)
        elif json.loads(answer)["detail"][0]["type"] == "unknown_name":
            status = unknown
        return _json(status, answer)

    def _keep(self, key: tuple[str, str], answer: bytes) -> None:
        self._kept[key] = answer
        self._kept_bytes += len(answer) + len(key[1])
        while self._kept_bytes > CACHE_BYTES:
            (_, body), old = self._kept.popitem(last=False)
            self._kept_bytes -= len(old) + len(body)


def _json(status: int, body: bytes, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status, headers, media_type="application/json")


def _faults(
    status: int, *faults: dict[str, Any], headers: dict[str, str] | None = None
) -> Response:
    return _json(status, json.dumps({"detail": faults}).encode(), headers)


def _busy() -> Response:
    fault = {"loc": ["request"], "msg": "The queue is full. Ask again later.", "type": "busy"}
    return _faults(429, fault, headers=_BUSY)


class _Body(Request):
    """A body read as a model's config is: bounded depth, no key twice, no NaN."""

    async def json(self) -> Any:
        try:
            found = parse_config((await self.body()).decode("utf-8"), what="The body")
            _check_depth(found)
        except UnicodeDecodeError:
            raise HTTPException(422, "The body is not UTF-8 text.") from None
        except InputError as error:
            raise HTTPException(422, str(error)) from None
        return found


def _check_depth(value: Any) -> None:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [child for item in level for child in _children(item)]
        if not level:
            return
    raise InputError(f"The body may be nested {MAX_DEPTH} deep.")


def _children(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return list(cast("dict[str, Any]", item).values())
    return cast("list[Any]", item) if isinstance(item, list) else []


class _BodyRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(_Body(request.scope, request.receive))

        return handle


def api(state: State) -> APIRouter:
    """Return the routes under /api/v1."""
    router = APIRouter(prefix="/api/v1", route_class=_BodyRoute)
    for name, question in QUESTIONS.items():
        if name not in READ:
            router.add_api_route(
                f"/{name}",
                _submit(state, name) if question.long else _post(state, name),
                methods=["POST"],
                status_code=202 if question.long else 200,
                response_model=JobState if question.long else Answered,
                responses=_FAULTS_OF_POST,
                summary=question.summary,
                operation_id=name.replace("/", "_"),
            )
    _add_reads(router, state)
    _add_prices(router, state)
    _add_jobs(router, state)
    return router


def _post(state: State, name: str) -> Callable[..., Any]:
    async def endpoint(body: Any) -> Response:
        return await state.ask(name, body)

    endpoint.__annotations__["body"] = QUESTIONS[name].schema
    return endpoint


def _submit(state: State, name: str) -> Callable[..., Any]:
    async def endpoint(body: Any) -> Response:
        job = state.jobs.submit(name, body.model_dump_json())
        if job is None:
            return _busy()
        return _json(202, job.to_json(), {"Location": f"/api/v1/jobs/{job.id}"})

    endpoint.__annotations__["body"] = QUESTIONS[name].schema
    return endpoint


def _reader(router: APIRouter) -> Callable[[str, str], Any]:
    """Return the decorator of a GET route of a question."""

    def read(path: str, name: str) -> Any:
        return router.get(
            path, response_model=Answered, responses=_FAULTS, summary=QUESTIONS[name].summary
        )

    return read


def _add_reads(router: APIRouter, state: State) -> None:
    read = _reader(router)

    @read("/catalog/{kind}", "catalog")
    async def catalog(kind: Word, search: Annotated[str, Query(max_length=200)] = "") -> Response:
        return await state.ask("catalog", _valid(s.ListRequest, kind=kind, search=search))

    @read("/catalog/{kind}/{name:path}", "entry")
    async def entry(kind: Word, name: Word) -> Response:
        return await state.ask("entry", _valid(s.EntryRequest, kind=kind, name=name), unknown=404)

    @read("/lecture", "lecture")
    async def whole_lecture() -> Response:
        return await state.ask("lecture", s.LectureRequest())

    @read("/lecture/{which}", "lecture")
    async def part_of_lecture(which: Word) -> Response:
        return await state.ask("lecture", s.LectureRequest(which=which), unknown=404)

    @read("/validate", "validate")
    async def validate() -> Response:
        return await state.ask("validate", s.Request())

    del catalog, entry, whole_lecture, part_of_lecture, validate


def _add_prices(router: APIRouter, state: State) -> None:
    read = _reader(router)

    @read("/prices", "prices")
    async def prices(query: Annotated[p.PricesRequest, Query()]) -> Response:
        return await state.ask("prices", query)

    @read("/prices/sheet", "prices/sheet")
    async def sheet(query: Annotated[p.SheetRequest, Query()]) -> Response:
        return await state.ask("prices/sheet", query, unknown=404)

    @read("/prices/day", "prices/day")
    async def day(query: Annotated[p.DayRequest, Query()]) -> Response:
        return await state.ask("prices/day", query, unknown=404)

    @read("/prices/coverage", "prices/coverage")
    async def coverage(query: Annotated[p.CoverageRequest, Query()]) -> Response:
        return await state.ask("prices/coverage", query)

    del prices, sheet, day, coverage


def _valid(schema: type[s.Request], **values: str) -> s.Request:
    """Return a request whose `kind` stands in the path: another kind is not found."""
    kinds = {str(k) for k in schema.model_json_schema()["properties"]["kind"]["enum"]}
    if values["kind"] not in kinds:
        raise HTTPException(404, f"kind must be one of {', '.join(sorted(kinds))}.")
    return schema.model_validate(values)


def _add_jobs(router: APIRouter, state: State) -> None:
    def found(name: str) -> Job:
        job = state.jobs.find(name)
        if job is None:
            raise HTTPException(404, "No such job; results are kept for 10 minutes.")
        return job

    @router.get("/jobs/{name}", response_model=JobState, responses=_FAULTS)
    async def job(name: Word) -> Response:
        return _json(200, found(name).to_json())

    @router.delete("/jobs/{name}", response_model=JobState, responses=_FAULTS)
    async def stop_job(name: Word) -> Response:
        cancel(found(name))
        return _json(200, found(name).to_json())

    del job, stop_job


def application(state: State) -> FastAPI:
    """Return the application with its error form; the page is mounted by `server.py`."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        state.quick.start()
        yield
        state.quick.close()
        state.long.close()

    app = FastAPI(
        title="ridgeline",
        version="1",
        description="What a token costs, and why.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # both load scripts from a CDN
        redoc_url=None,
        lifespan=lifespan,
    )
    app.include_router(api(state))

    @app.exception_handler(RequestValidationError)
    async def bad_request(_: Request, error: Exception) -> Response:
        faults = cast("RequestValidationError", error).errors()
        plain = [
            {
                "loc": [_printable(x) for x in f["loc"]],
                "msg": f["msg"].removeprefix("Value error, "),
                "type": f["type"],
            }
            for f in faults[:20]
        ]
        return _faults(422, *plain)

    @app.exception_handler(StarletteHTTPException)
    async def http_error(_: Request, error: Exception) -> Response:
        known = cast("StarletteHTTPException", error)
        fault = {"loc": ["request"], "msg": str(known.detail), "type": "http"}
        return _faults(known.status_code, fault, headers=dict(known.headers or {}))

    del bad_request, http_error
    return app


def _printable(part: str | int) -> str | int:
    """Return a part of a path; a key of the sender's may be anything, and lone surrogates too."""
    return part if isinstance(part, int) else part[:100].encode("utf-8", "replace").decode("utf-8")
