"""`ridgeline cache`."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import click

from ridgeline.cli.options import output_options, parse_pairs, refuse_unused

_QUESTION = (
    *("model", "on", "context", "hold", "devices", "dtype", "kv_cache_dtype", "usd_per_hour"),
    *("only", "prices", "stall", "provider", "date", "plot", "style"),
)


@click.command(name="cache")
@click.argument("model", required=False)
@click.option("--on", "--cluster", "--gpu", "--system", "on", help="Cluster or device.")
@click.option("--context", default="32k", show_default=True, help="Tokens of the cache.")
@click.option("--hold", default="5m,1h,24h", show_default=True, help="Hold times: 30s,5m,1h,24h.")
@click.option("--devices", "--gpus", "--num-gpus", "devices", type=int, help="Of the replica.")
@click.option("--dtype", "--quant", "dtype", help="Weights: bf16, fp8 ...")
@click.option("--kv-cache-dtype", help="Cache: bf16, fp8 ...")
@click.option("--usd-per-hour", type=float, help="USD per device-hour; default: the cluster's.")
@click.option("--tier", "only", multiple=True, help="Only these tiers (repeat).")
@click.option(
    "--price", "prices", multiple=True, metavar="TIER=USD", help="Purchase price in USD per GB."
)
@click.option(
    "--stall", type=float, default=1.0, show_default=True, help="Share of a load that stalls."
)
@click.option("--provider", help="Compare with the cache writes of provider/model.")
@click.option(
    "--date", type=click.DateTime(["%Y-%m-%d"]), help="Day of that price; default: today."
)
@click.option("--measurements", is_flag=True, help="Published offload figures against predictions.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw cost against hold time to FILE.png, .svg or .pdf.",
)
@output_options()
def command(
    model: str | None,
    on: str | None,
    context: str,
    hold: str,
    devices: int | None,
    dtype: str | None,
    kv_cache_dtype: str | None,
    usd_per_hour: float | None,
    only: tuple[str, ...],
    prices: tuple[str, ...],
    stall: float,
    provider: str | None,
    date: dt.datetime | None,
    measurements: bool,
    plot: Path | None,
    style: str,
) -> None:
    """Where the cache of MODEL should wait: tier by hold time, or compute it again.

    Costs are of one write, a hold and one read of a context on the cluster's devices.

    \b
    ridgeline cache llama-3.3-70b-instruct --on hgx-h100-8 --hold 5m,1h,24h --context 32k
    ridgeline cache deepseek-v3 --on hgx-h200-8 --price host-ddr5=36 --plot tiers.png
    """  # noqa: D301 - click reads the backspace
    import json  # noqa: PLC0415 - nothing heavy before --help is answered

    from ridgeline.report import cache as report  # noqa: PLC0415
    from ridgeline.study.cache import cache  # noqa: PLC0415

    if measurements:
        refuse_unused("beside --measurements, which prints one fixed table", *_QUESTION)
        from ridgeline.study.cache_check import cache_checks, deepseek_hit_bandwidth  # noqa: PLC0415

        click.echo(report.checks_text(cache_checks(), deepseek_hit_bandwidth()))
        return
    if model is None or on is None:
        raise click.UsageError("Give a MODEL and --on CLUSTER, or --measurements.")
    if provider is None:
        refuse_unused("without --provider", "date")
    try:
        bought = {
            k: float(v)
            for k, v in parse_pairs(prices, flag="--price", form="TIER=USD_PER_GB").items()
        }
    except ValueError as error:
        raise click.BadParameter(f"--price is written TIER=USD_PER_GB: {error}.") from error
    answer = cache(
        model,
        on=on,
        context=context,
        hold=hold,
        devices=devices,
        dtype=dtype,
        kv_cache_dtype=kv_cache_dtype,
        usd_per_device_hour=usd_per_hour,
        usd_per_gb=bought,
        only=only,
        stall=stall,
        provider_price=provider,
        price_date=None if date is None else date.date(),
    )
    if plot is not None:
        report.plot_cache(answer, plot)
        click.echo(f"wrote {plot}", err=True)
    if style == "json":
        click.echo(json.dumps(report.cache_json(answer), allow_nan=False))
    elif style in {"csv", "markdown"}:
        click.echo(report.cache_rows(answer, "csv" if style == "csv" else "markdown"))
    else:
        click.echo(report.cache_text(answer))
