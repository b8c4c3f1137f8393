"""`ridgeline plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ridgeline.cli.options import (
    calibration_option,
    catalog_option,
    engine_option,
    memory_option,
    output_options,
    refuse_unused,
    traffic_options,
)


@click.command(name="plan")
@click.argument("model")
@click.option("--on", "--cluster", "--system", "on", required=True, help="Cluster.")
@click.option("--devices", "--gpus", "--total-gpus", "devices", type=int, help="N; default: all.")
@click.option("--isl", "--input-len", "isl", required=True, help="Prompt tokens: 4096, 32k.")
@click.option("--osl", "--output-len", "osl", required=True, help="Output tokens.")
@click.option("--ttft-ms", "--ttft", type=float, help="Largest time to first token [ms].")
@click.option("--tpot-ms", "--tpot", type=float, help="Largest time per output token [ms].")
@click.option(
    "--objective",
    type=click.Choice(["cost", "throughput", "latency"]),
    default="throughput",
    show_default=True,
    help="What is best: USD per token, tokens/s per device, or time per token.",
)
@click.option("--dtype", default="auto", show_default=True, help="Weights to try: auto,fp8,nvfp4.")
@click.option("--kv-cache-dtype", default="auto,fp8", show_default=True, help="Caches to try.")
@click.option("--no-pools", is_flag=True, help="Do not try separate prefill and decode pools.")
@click.option("--chunk", default=2048, show_default=True, help="Prompt tokens on one decode step.")
@click.option("--usd-per-hour", type=float, help="USD per device-hour; default: the cluster's.")
@memory_option
@engine_option
@calibration_option
@click.option("--max-pp", default=16, show_default=True, help="Most pipeline stages.")
@traffic_options
@click.option(
    "--sweep",
    metavar="FIGURE=VALUES",
    help="What if a figure of the hardware were another: scale_up_size=8,72,576.",
)
@click.option(
    "--emit",
    type=click.Choice(["vllm", "sglang", "trtllm"]),
    help="Print the launch command of the winner and the matching benchmark command.",
)
@click.option(
    "--point", type=int, help="Take that point of the front apart, or --emit it, not the winner."
)
@click.option(
    "--plot", type=click.Path(path_type=Path, dir_okay=False), help="Draw the front to FILE."
)
@catalog_option
@output_options()
def command(
    model: str,
    on: str,
    devices: int | None,
    isl: str,
    osl: str,
    ttft_ms: float | None,
    tpot_ms: float | None,
    objective: Any,
    dtype: str,
    kv_cache_dtype: str,
    no_pools: bool,
    chunk: int,
    usd_per_hour: float | None,
    engine: str,
    calibration: Path | None,
    gpu_memory_utilization: float,
    max_pp: int,
    routing: str,
    spec_tokens: int | None,
    acceptance: str | None,
    draft_cost: float | None,
    sweep: str | None,
    emit: Any,
    point: int | None,
    plot: Path | None,
    catalog_dir: Path | None,
    style: str,
) -> None:
    """Which layout, batch and pools serve MODEL within the targets, and why.

    Exit code 3 when nothing fits or meets the targets; the nearest option is named.

    \b
    ridgeline plan deepseek-v3 --on gb200-nvl72 --isl 4k --osl 1k --tpot-ms 50
    ridgeline plan llama-3.3-70b --on hgx-h100-8 --isl 2k --osl 512 --emit vllm --point 3
    """  # noqa: D301 - click wants the \b character itself
    from ridgeline.cli.progress import progress_bar  # noqa: PLC0415 - nothing heavy before --help
    from ridgeline.study.deploy import speculation_of  # noqa: PLC0415
    from ridgeline.study.plan import plan  # noqa: PLC0415
    from ridgeline.units import parse_tokens  # noqa: PLC0415

    if emit is not None:
        refuse_unused("beside --emit, which prints commands", "style")
    question: dict[str, Any] = {
        "on": on,
        "devices": devices,
        "isl": parse_tokens(isl, what="isl"),
        "osl": parse_tokens(osl, what="osl"),
        "ttft_s": None if ttft_ms is None else ttft_ms / 1e3,
        "tpot_s": None if tpot_ms is None else tpot_ms / 1e3,
        "objective": objective,
        "dtypes": _formats(dtype),
        "kv_cache_dtypes": _formats(kv_cache_dtype),
        "pools": not no_pools,
        "chunk": chunk,
        "usd_per_device_hour": usd_per_hour,
        "engine": engine,
        "calibration": calibration,
        "memory_share": gpu_memory_utilization,
        "max_pp": max_pp,
        "routing": routing,
        "speculation": speculation_of(spec_tokens, acceptance, draft_cost),
        "catalog_dir": catalog_dir,
    }
    if sweep is not None:
        refuse_unused("beside --sweep, which plans once per value", "point", "emit", "plot")
        from ridgeline.report.sweep import render_sweep  # noqa: PLC0415
        from ridgeline.study.sweep import sweep_plan  # noqa: PLC0415

        with progress_bar("values") as progress:
            rows = sweep_plan(sweep, model, progress=progress, **question)
        click.echo(render_sweep(rows, style))
        return
    with progress_bar("parts of the search") as progress:
        result = plan(model, progress=progress, **question)
    if plot is not None:
        from ridgeline.report.plan_plot import plot_plan  # noqa: PLC0415

        plot_plan(result, plot)
        click.echo(f"wrote {plot}", err=True)
    click.echo(_shown(result, style, emit, point))


def _shown(result: Any, style: str, emit: Any, point: int | None) -> str:
    """Return the plan or one point of its front, in the style asked for."""
    import json  # noqa: PLC0415

    from ridgeline.report import plan as report  # noqa: PLC0415
    from ridgeline.report import plan_point as point_report  # noqa: PLC0415
    from ridgeline.study.launch import launch_text  # noqa: PLC0415
    from ridgeline.study.plan_point import front_option, plan_point  # noqa: PLC0415

    option = None if point is None else front_option(result, point)
    if emit is not None:
        return launch_text(result, emit, option)
    if option is not None:
        return point_report.render_point(plan_point(result, option), style)
    if style == "json":
        return json.dumps(report.plan_json(result), allow_nan=False)
    if style in {"csv", "markdown"}:
        return report.plan_rows(result, "csv" if style == "csv" else "markdown")
    return report.plan_text(result)


def _formats(text: str) -> tuple[str | None, ...]:
    """Return the formats of a comma list; `auto` is the checkpoint's own."""
    words = [w.strip() for w in text.split(",") if w.strip()]
    if not words:
        raise click.BadParameter("give at least one format, or auto.")
    return tuple(dict.fromkeys(None if w == "auto" else w for w in words))
