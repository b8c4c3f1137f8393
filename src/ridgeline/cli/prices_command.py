"""`ridgeline prices`: lists, bills, and what prices give away."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ridgeline.cli.options import output_options, refuse_unused
from ridgeline.cli.prices_serving import breakeven_command, margin_command, modes_command
from ridgeline.errors import UnknownNameError

TIERS = ("standard", "batch", "flex", "priority", "fast", "balanced", "ultrafast")


@click.group(name="prices")
def command() -> None:
    """API list prices: what is listed, what a request costs, and what prices give away.

    Prices are dated list prices in USD per million tokens, each with its list and date.

    \b
    ridgeline prices show deepseek/deepseek-v4-pro --date 2026-11-30 --hour 8
    ridgeline prices decode google/gemini-3.1-pro-preview
    """  # noqa: D301 - click reads the backspace


def _day_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (_file_option, _hour_option, _date_option):
        function = option(function)
    return function


_file_option = click.option(
    "--file",
    "price_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Your own price list (YAML or JSON) in place of the built-in ones.",
)
_hour_option = click.option(
    "--hour", type=int, help="Hour of the day, UTC, for prices that depend on it."
)
_date_option = click.option(
    "--date", type=click.DateTime(["%Y-%m-%d"]), help="Day of the prices; default: today."
)


def _on(date: dt.datetime | None) -> dt.date:
    return date.date() if date is not None else dt.datetime.now(tz=dt.UTC).date()


def _echo_json(data: Any) -> None:
    import json  # noqa: PLC0415 - nothing heavy before --help is answered

    click.echo(json.dumps(data, allow_nan=False, default=str))


def _table_style(style: str) -> Any:
    return style if style in {"csv", "markdown"} else "text"


@command.command(name="list", short_help="Prices in force of every name that holds the words.")
@click.argument("pattern", default="")
@click.option("--tier", type=click.Choice(TIERS), default="standard", show_default=True)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=60,
    show_default=True,
    help="Most rows in a text table; 0: all.",
)
@_day_options
@output_options()
def list_command(
    pattern: str,
    tier: str,
    limit: int,
    date: dt.datetime | None,
    hour: int | None,
    price_file: Path | None,
    style: str,
) -> None:
    """Prices in force whose provider/model contains every word of PATTERN.

    Of tokens, in USD per million; the rent of devices is in `ridgeline list prices`.
    """
    from ridgeline.report import prices as report  # noqa: PLC0415
    from ridgeline.study import prices as study  # noqa: PLC0415

    rows = study.listed(pattern, on=_on(date), hour=hour, price_file=price_file, tier=tier)
    if pattern.strip() and not rows:
        known = {row.id for row in study.all_rows(price_file) if row.tier == tier}
        raise UnknownNameError("price of", pattern, known, list_command="ridgeline prices list")
    if style == "json":
        _echo_json(report.rows_json(rows, _on(date)))
        return
    shown = rows if style != "text" or not limit else rows[:limit]
    click.echo(report.rows_text(shown, _table_style(style)))
    if style == "text":
        more = f", {len(rows) - len(shown):,} not shown" if len(shown) < len(rows) else ""
        click.echo(f"\n{len(rows):,} prices in USD per million tokens on {_on(date)}{more}.")
        for line in report.date_lines(rows, _on(date)):
            click.echo(line)


@command.command(name="show", short_help="Everything listed for a model, announced and disputed.")
@click.argument("model")
@_day_options
@output_options(rows=False)
def show_command(
    model: str, date: dt.datetime | None, hour: int | None, price_file: Path | None, style: str
) -> None:
    """Everything listed for MODEL: in force, announced, and where lists disagree.

    MODEL is provider/model, or a bare name for every provider that lists it.
    """
    from ridgeline.report import prices as report  # noqa: PLC0415
    from ridgeline.study import prices as study  # noqa: PLC0415

    sheet = study.show(model, on=_on(date), hour=hour, price_file=price_file)
    if style == "json":
        _echo_json(report.sheet_json(sheet))
    else:
        click.echo(report.sheet_text(sheet))


@command.command(name="cost", short_help="What a request or a trace costs.")
@click.argument("model")
@click.option("--input", "input_tokens", help="Prompt tokens, cached ones included.")
@click.option("--output", "output_tokens", help="Generated tokens, reasoning included.")
@click.option("--cached", default="0", show_default=True, help="Prompt tokens that hit the cache.")
@click.option("--written", default="0", show_default=True, help="Prompt tokens written to it.")
@click.option("--ttl", help="Lifetime of the write: 5m, 1h ...")
@click.option("--tier", type=click.Choice(TIERS), default="standard", show_default=True)
@click.option(
    "--trace",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Price every request of an Azure CSV or Mooncake JSONL trace instead.",
)
@click.option("--cached-share", type=float, default=0.0, show_default=True, help="With --trace.")
@_day_options
@output_options()
def cost_command(
    model: str,
    input_tokens: str | None,
    output_tokens: str | None,
    cached: str,
    written: str,
    ttl: str | None,
    tier: str,
    trace: Path | None,
    cached_share: float,
    date: dt.datetime | None,
    hour: int | None,
    price_file: Path | None,
    style: str,
) -> None:
    """What a request (--input, --output, --cached) or a --trace costs under MODEL's lists.

    Long prompts are repriced as a whole. Token counts take k and M: 32k is 32,768.
    """
    from ridgeline.report import prices as report  # noqa: PLC0415
    from ridgeline.study import prices as study  # noqa: PLC0415
    from ridgeline.units import parse_tokens  # noqa: PLC0415

    common: dict[str, Any] = {
        "on": _on(date), "hour": hour, "tier": tier, "price_file": price_file,
    }  # fmt: skip
    if trace is not None:
        refuse_unused(
            "beside --trace, which states the tokens",
            *("input_tokens", "output_tokens", "cached", "written", "ttl"),
        )
        traces = study.trace_cost(model, trace, cached_share=cached_share, **common)
        if style == "json":
            _echo_json({"schema_version": "1", "traces": report.trace_rows(traces)})
        else:
            click.echo(report.traces_text(traces, _table_style(style)))
        return
    refuse_unused("without --trace", "cached_share")
    if written == "0":
        refuse_unused("without --written", "ttl")
    if input_tokens is None or output_tokens is None:
        raise click.UsageError("Give --input and --output tokens, or a --trace.")
    quotes = study.cost(
        model,
        input_tokens=parse_tokens(input_tokens, what="input"),
        output_tokens=parse_tokens(output_tokens, what="output"),
        cached_tokens=parse_tokens(cached, what="cached"),
        written_tokens=parse_tokens(written, what="written"),
        ttl=ttl,
        **common,
    )
    if style == "json":
        _echo_json({"schema_version": "1", "quotes": report.quote_rows(quotes)})
    else:
        click.echo(report.quotes_text(quotes, _table_style(style)))


@command.command(name="day")
@click.argument("name", default="deepseek-2025-02-28")
@output_options(rows=False)
def day_command(name: str, style: str) -> None:
    """A published day of a service, recomputed from its own inputs."""
    from ridgeline.report.service_day import day_json, day_text  # noqa: PLC0415
    from ridgeline.study.service_day import predicted_throughput, service_day  # noqa: PLC0415

    day = service_day(name)
    predicted = [predicted_throughput(day, x) for x in ("none", "two-batch")]
    if style == "json":
        _echo_json(day_json(day, predicted))
    else:
        click.echo(day_text(day, predicted))


@command.command(name="decode", short_help="What a price sheet gives away.")
@click.argument("model")
@click.option("--list", "list_name", help="Which list, where several state the model.")
@click.option("--fast-speed", type=float, help="Speed of a fast mode over the standard one.")
@click.option("--fast-price", type=float, help="Its price over the standard one.")
@click.option("--draws", default=100_000, show_default=True, help="Monte-Carlo draws.")
@click.option("--seed", default=0, show_default=True)
@_file_option
@_date_option
@output_options(rows=False)
def decode_command(
    model: str,
    list_name: str | None,
    fast_speed: float | None,
    fast_price: float | None,
    draws: int,
    seed: int,
    date: dt.datetime | None,
    price_file: Path | None,
    style: str,
) -> None:
    """What MODEL's price sheet gives away: figure, hypothesis, implied parameter, plausibility."""
    from ridgeline.report.price_decode import decoded_json, decoded_text  # noqa: PLC0415
    from ridgeline.study.price_coverage import known_truth  # noqa: PLC0415
    from ridgeline.study.price_decode import decode  # noqa: PLC0415

    decoded = decode(
        model,
        on=_on(date),
        price_file=price_file,
        list_name=list_name,
        fast_speed=fast_speed,
        fast_price=fast_price,
        draws=draws,
        seed=seed,
    )
    if style == "json":
        _echo_json(decoded_json(decoded, known_truth(decoded.row.id)))
    else:
        click.echo(decoded_text(decoded, known_truth(decoded.row.id)))


@command.command(name="coverage", short_help="How often the decoder's bands hold the truth.")
@click.option("--all", "every", is_flag=True, help="Show every sheet, not only the misses.")
@click.option("--draws", default=30_000, show_default=True)
@click.option("--seed", default=0, show_default=True)
@_date_option
@output_options()
def coverage_command(
    every: bool,
    draws: int,
    seed: int,
    date: dt.datetime | None,
    style: str,
) -> None:
    """How often the decoder's bands hold the truth, on models whose architecture is public."""
    from ridgeline.report import price_decode as report  # noqa: PLC0415
    from ridgeline.study.price_coverage import cases, coverage  # noqa: PLC0415

    found = cases(on=_on(date), draws=draws, seed=seed)
    if style == "json":
        from dataclasses import asdict  # noqa: PLC0415

        _echo_json(
            {
                "schema_version": "1",
                "scores": [asdict(s) for s in coverage(found)],
                "cases": [report.case_dict(c) for c in found],
            }
        )
    elif style == "text":
        click.echo(report.coverage_text(coverage(found), found, every=every))
    else:
        click.echo(report.coverage_rows(found, _table_style(style)))


for _command in (margin_command, breakeven_command, modes_command):
    command.add_command(_command)
