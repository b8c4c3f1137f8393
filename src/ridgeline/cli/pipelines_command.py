"""`ridgeline pipelines`."""

from __future__ import annotations

from pathlib import Path

import click

from ridgeline.cli.options import catalog_option, memory_option, output_options


@click.command(name="pipelines")
@click.argument("model")
@click.option("--on", "--cluster", "--system", "on", required=True, help="Cluster.")
@click.option("--pp", default="1:8", show_default=True, help="Stages: 1:8 or 1,2,3.")
@click.option("--batch", default=128, show_default=True, help="Sequences of one micro-batch.")
@click.option("--context", default="32k", show_default=True, help="Cached tokens per sequence.")
@click.option("--devices-per-stage", type=int, help="Default: the scale-up domain of --on.")
@click.option("--micro-batches", type=int, help="In flight; default: as many as stages.")
@click.option("--dtype", help="Weights: bf16, fp8, nvfp4 ...")
@click.option("--kv-cache-dtype", help="Cache: bf16, fp8 ...")
@memory_option
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw memory, time, stages and Gantt charts to FILE.png, .svg or .pdf.",
)
@catalog_option
@output_options()
def command(
    model: str,
    on: str,
    pp: str,
    batch: int,
    context: str,
    devices_per_stage: int | None,
    micro_batches: int | None,
    dtype: str | None,
    kv_cache_dtype: str | None,
    gpu_memory_utilization: float,
    plot: Path | None,
    catalog_dir: Path | None,
    style: str,
) -> None:
    """What cutting MODEL into pipeline stages fixes (weights), and what it does not (KV, speed).

    \b
    ridgeline pipelines deepseek-v3 --on gb200-nvl72 --pp 1:8
    ridgeline pipelines gemma-3-27b --on hgx-h100-8 --pp 1:4 --context 128k --batch 8
    """  # noqa: D301 - click keeps lines after a backspace
    from ridgeline.report.pipelines import render_pipelines  # noqa: PLC0415 - heavy before --help
    from ridgeline.study.pipelines import pipelines  # noqa: PLC0415
    from ridgeline.units import parse_sweep, parse_tokens  # noqa: PLC0415

    result = pipelines(
        model,
        on=on,
        pp=parse_sweep(pp, what="pp"),
        batch=batch,
        context=parse_tokens(context),
        devices_per_stage=devices_per_stage,
        micro_batches=micro_batches,
        dtype=dtype,
        kv_cache_dtype=kv_cache_dtype,
        memory_share=gpu_memory_utilization,
        catalog_dir=catalog_dir,
    )
    if plot is not None:
        from ridgeline.report.pipelines_plot import plot_pipelines  # noqa: PLC0415

        plot_pipelines(result, plot)
        click.echo(f"wrote {plot}", err=True)
    click.echo(render_pipelines(result, style))
