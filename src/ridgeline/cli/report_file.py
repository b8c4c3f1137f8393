"""`--report FILE` of every verb: its answer, what was asked, and where the figures come from."""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import io
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from ridgeline.errors import InputError, UnknownNameError

UNUSED = "ridgeline.unused"
"""Key of the context under which stand the options that change nothing in this question."""


def with_report(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a verb that prints text also write it as a page, when `report_file` is given."""

    @functools.wraps(function)
    def command(*args: Any, report_file: Path | None = None, **options: Any) -> Any:
        _check_plot(options.get("plot"))
        if report_file is None:
            return function(*args, **options)
        _check(report_file, options["style"])
        own_plot = options.get("plot") is not None
        from ridgeline.report.table import collected_tables, placed  # noqa: PLC0415 - only now

        options |= {"why": True} if "why" in options else {}
        printed = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            charts = Path(folder)
            if options.get("plot", charts) is None:
                options["plot"] = charts if _draws_many() else charts / "chart.svg"
                stack.enter_context(contextlib.redirect_stderr(_WithoutWrote()))
            with collected_tables() as tables, contextlib.redirect_stdout(printed):
                stop = _stop_of(function, args, options, again=not own_plot)
            text = printed.getvalue()
            page = _page(text, tables, sorted(charts.iterdir()), options)
        report_file.write_text(page, encoding="utf-8")
        click.echo(placed(text, tables), nl=False)
        click.echo(f"wrote {report_file}", err=True)
        if stop is not None:
            raise stop
        return None

    return click.option(
        "--report",
        "report_file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Write the answer, its charts and sources to one self-contained FILE.html.",
    )(command)


class _WithoutWrote(io.TextIOBase):
    """Standard error without the names of the charts that only go into the page."""

    def __init__(self) -> None:
        self.stream = sys.stderr

    def write(self, text: str) -> int:
        return len(text) if text.startswith("wrote ") else self.stream.write(text)

    def flush(self) -> None:
        self.stream.flush()

    def isatty(self) -> bool:
        return self.stream.isatty()


def _check_plot(path: Path | None) -> None:
    """Refuse a --plot that cannot be written before any work is done."""
    if path is not None and not _draws_many():
        from ridgeline.report.figure import check_path  # noqa: PLC0415 - only now

        check_path(path)


def _check(path: Path, style: str) -> None:
    if style != "text":
        raise InputError(f"--report is written beside text: ask for --{style} in a second run.")
    from ridgeline.report.output import check_output  # noqa: PLC0415 - only now

    check_output(path, flag="--report", suffixes=(".html", ".htm"))


def _stop_of(
    function: Callable[..., Any], args: Sequence[Any], options: Any, *, again: bool
) -> Any:
    """Return the exit that a verb ends with (a check that failed), None where it just returns."""
    try:
        try:
            function(*args, **options)
        except InputError:
            # A claim of the lecture may have no picture; anything else fails again.
            if not again or "plot" not in options:
                raise
            function(*args, **{**options, "plot": None})
    except (SystemExit, click.exceptions.Exit) as stop:
        return stop
    return None


def _draws_many() -> bool:
    """Tell whether --plot of this verb takes a folder."""
    options = click.get_current_context().command.params
    kinds = [p.type for p in options if p.name == "plot"]
    return isinstance(kinds[0], click.Path) and not kinds[0].file_okay


def _page(text: str, tables: Any, charts: Sequence[Path], options: Any) -> str:
    from ridgeline.report.html import Page, page_html  # noqa: PLC0415

    context = click.get_current_context()
    words = context.command_path.split()[1:]
    return page_html(
        Page(
            title=_title(words, context),
            question=(context.command.help or "").split("\n\n")[0].replace("\n", " "),
            command=shlex.join(["ridgeline", *words, *_typed(context)]),
            text=text,
            tables=tables,
            asked=_asked(context),
            sources=list(_sheets(options)),
            charts=charts,
            made=_made(),
        )
    )


def _title(words: Sequence[str], context: click.Context) -> str:
    named = [
        str(context.params[p.name])
        for p in context.command.params
        if isinstance(p, click.Argument) and context.params.get(p.name or "")
    ]
    where = context.params.get("on")
    return " ".join(["ridgeline", *words, *named, *(["on", str(where)] if where else [])])


def _given(context: click.Context) -> Iterator[tuple[click.Parameter, Any, bool]]:
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in {"style", "report_file", "plot", "help"} or name not in context.params:
            continue
        source = context.get_parameter_source(name)
        given = source != click.core.ParameterSource.DEFAULT
        value = context.params[name]
        unused = name in context.meta.get(UNUSED, ())
        if isinstance(parameter.type, click.DateTime) and value is None and not unused:
            value, given = dt.datetime.now(tz=dt.UTC), True  # prices of today, tomorrow too
        yield parameter, value, given


def _typed(context: click.Context) -> Iterator[str]:
    """Yield the words that ask the same again."""
    for parameter, value, given in _given(context):
        if not given:
            continue
        for each in _each(value):
            word = _word(each)
            if isinstance(parameter, click.Argument):
                yield word
            elif isinstance(parameter, click.Option) and parameter.is_flag:
                yield parameter.opts[0]
            else:
                yield from (parameter.opts[0], word)


def _each(value: Any) -> Iterator[Any]:
    """Yield the values of an option that may be repeated."""
    yield from value if isinstance(value, tuple) else (value,)


def _word(value: Any) -> str:
    if value is None or value is False:
        return "-"
    return value.date().isoformat() if isinstance(value, dt.datetime) else str(value)


def _asked(context: click.Context) -> Any:
    from ridgeline.report.table import Collected, Column  # noqa: PLC0415

    columns = [
        Column(key="what", label="option", align="left"),
        Column(key="value", label="value", align="left"),
        Column(key="given", label="", align="left"),
        Column(key="about", label="meaning", align="left"),
    ]
    rows = [
        {
            "what": parameter.opts[0],
            "value": ", ".join(map(_word, _each(value))) or "-",
            "given": "given" if given else "default",
            "about": getattr(parameter, "help", None) or "",
        }
        for parameter, value, given in _given(context)
    ]
    return Collected(columns=columns, rows=rows)


def _sheets(options: Any) -> Iterator[tuple[str, Any]]:
    """Yield the figures of the cluster or device asked about, each with its source."""
    if not isinstance(options.get("on"), str):
        return
    from ridgeline.report.catalog import figures_table  # noqa: PLC0415
    from ridgeline.study.catalog import device_of, show_entry  # noqa: PLC0415

    folder, name = options.get("catalog_dir"), options["on"]
    with contextlib.suppress(UnknownNameError):
        sheet = show_entry("cluster", name, folder)
        yield f"{sheet.id}: {sheet.name}", figures_table(sheet)
    sheet = show_entry("device", device_of(name, folder), folder)
    yield f"{sheet.id}: {sheet.name}", figures_table(sheet)


def _made() -> str:
    from importlib.metadata import version  # noqa: PLC0415

    day = dt.datetime.now(tz=dt.UTC).date()
    python = ".".join(map(str, sys.version_info[:3]))
    return f"ridgeline {version('ridgeline')}, Python {python}, NumPy {version('numpy')}, {day}."
