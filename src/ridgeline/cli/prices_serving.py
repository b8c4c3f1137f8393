"""The `prices` commands that compare a price with the cost of serving."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ridgeline.cli.options import output_options, parse_pairs, refuse_unused

_KEYS = ("devices", "tp", "pp", "ep", "dp", "dtype", "kv_cache_dtype", "usd_per_device_hour")


def _serving_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--usd-per-hour", "usd_per_device_hour", type=float, help="Rent per device."),
        click.option("--kv-cache-dtype", help="Cache: bf16, fp8 ..."),
        click.option("--dtype", "--quant", "dtype", help="Weights: bf16, fp8, nvfp4 ..."),
        click.option("--dp", type=int, help="Attention data parallelism."),
        click.option("--ep", type=int, help="Expert parallelism."),
        click.option("--pp", type=int, help="Pipeline stages."),
        click.option("--tp", type=int, help="Tensor parallelism."),
        click.option("--devices", "--gpus", "--num-gpus", "devices", type=int),
        click.option(
            "--speed", type=float, default=20.0, show_default=True, help="Tok/s of every user."
        ),
        click.option("--on", "--cluster", "--gpu", "on", required=True, help="Cluster or device."),
    ):
        function = option(function)
    return function


def _load_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option(
            "--file",
            "price_file",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Your own price list.",
        ),
        click.option("--date", type=click.DateTime(["%Y-%m-%d"]), help="Day of the prices."),
        click.option("--replicas", default=1, show_default=True, help="Copies that share --rate."),
        click.option("--rate", type=float, help="Load in requests/s instead (Little's law)."),
        click.option("--utilisation", type=float, help="Share of capacity sold, 0 to 1."),
    ):
        function = option(function)
    return function


def _split(values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arguments of the question and of `estimate`."""
    question = {k: values.pop(k) for k in _KEYS}
    date = values.pop("date", None)
    today = dt.datetime.now(tz=dt.UTC).date()
    if values.get("rate") is None:
        refuse_unused("without --rate", "replicas")
    values["date"] = today if date is None else date.date()
    return values, {k: v for k, v in question.items() if v is not None}


def _echo_json(data: Any) -> None:
    import json  # noqa: PLC0415 - nothing heavy before --help is answered

    click.echo(json.dumps(data, allow_nan=False))


@click.command(name="margin", short_help="Cost against a price from 1k to 1M context.")
@click.argument("price")
@click.option("--serve", "model", required=True, help="Model that is really served.")
@_serving_options
@_load_options
@click.option("--osl", "output_tokens", default=500, show_default=True, help="Output tokens.")
@click.option("--target", "target_margin", type=float, default=0.5, show_default=True)
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="FILE.png, .svg.")
@output_options()
def margin_command(price: str, plot: Path | None, style: str, **values: Any) -> None:
    """Cost against PRICE (provider/model) at 1k to 1M context, and where it goes under water."""
    from ridgeline.report import margins as report  # noqa: PLC0415
    from ridgeline.study.margins import margins  # noqa: PLC0415

    rest, question = _split(values)
    result = margins(price, question=question, **rest)
    if plot is not None:
        report.plot_margins(result, plot)
        click.echo(f"wrote {plot}", err=True)
    if style == "json":
        _echo_json(report.margins_json(result))
    elif style in {"csv", "markdown"}:
        click.echo(report.margins_rows(result, "csv" if style == "csv" else "markdown"))
    else:
        click.echo(report.margins_text(result))


@click.command(name="breakeven", short_help="A token rented and owned; volumes that beat a price.")
@click.argument("model")
@_serving_options
@_load_options
@click.option("--isl", default="4k", show_default=True, help="Prompt tokens.")
@click.option("--osl", default="500", show_default=True, help="Output tokens.")
@click.option("--cached-share", type=float, default=0.0, show_default=True)
@click.option("--against", "price", help="Price to beat: provider/model.")
@click.option("--capex", "capex_usd", type=float, help="Purchase, USD per device.")
@click.option("--own", multiple=True, metavar="FIGURE=VALUE", help="Ownership figure, repeat.")
@output_options(rows=False)
def breakeven_command(own: tuple[str, ...], style: str, **values: Any) -> None:
    """Cost of MODEL's tokens, rented and owned; the volume that beats a price.

    State the load with --utilisation or --rate; --against adds the volume per day from which
    renting and owning beat that price.

    \b
    ridgeline prices breakeven llama-3.3-70b --on hgx-h100-8 --utilisation 0.4 \\
      --against groq/llama-3.3-70b-versatile
    """  # noqa: D301 - click reads the backspace
    from ridgeline.report import margins as report  # noqa: PLC0415
    from ridgeline.study.break_even import break_even  # noqa: PLC0415

    try:
        figures = {
            k: float(v) for k, v in parse_pairs(own, flag="--own", form="FIGURE=VALUE").items()
        }
    except ValueError as error:
        raise click.BadParameter(f"--own is written FIGURE=VALUE: {error}.") from error
    if values["price"] is None:
        refuse_unused("without --against", "price_file", "date")
    rest, question = _split(values)
    result = break_even(question=question, own=figures, **rest)
    if style == "json":
        _echo_json(report.break_even_json(result))
    else:
        click.echo(report.break_even_text(result))


@click.command(name="modes", short_help="What a slow tier could save and a fast one must cost.")
@click.argument("model")
@_serving_options
@click.option("--context", default="8k", show_default=True)
@click.option("--fast", "fast_ratio", type=float, default=2.5, show_default=True)
@click.option("--utilisation", type=float, required=True, help="Share of capacity sold, 0 to 1.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="FILE.png, .svg.")
@output_options(rows=False)
def modes_command(plot: Path | None, style: str, **values: Any) -> None:
    """What a slow tier of MODEL could save, and what a fast tier must cost."""
    from ridgeline.report import margins as report  # noqa: PLC0415
    from ridgeline.study.margins import speed_modes  # noqa: PLC0415

    rest, question = _split(values)
    rest.pop("date")
    result = speed_modes(question=question, **rest)
    if plot is not None:
        report.plot_modes(result, plot)
        click.echo(f"wrote {plot}", err=True)
    if style == "json":
        _echo_json(report.modes_json(result))
    else:
        click.echo(report.modes_text(result))
