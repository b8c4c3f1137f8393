"""`ridgeline estimate`."""

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
    parse_pairs,
    traffic_options,
)


@click.command(name="estimate")
@click.argument("model")
@click.option(
    "--on",
    "--cluster",
    "--gpu",
    "--system",
    "on",
    required=True,
    help="Cluster or device: hgx-h100-8, gb200-nvl72, rtx-4090 ... (`ridgeline list clusters`).",
)
@click.option("--batch", default="1:1024", show_default=True, help="Sequences: 1:4096 or 1,8,64.")
@click.option("--context", default="4096", show_default=True, help="Cached tokens: 4096, 1k:128k.")
@click.option(
    "--phase",
    type=click.Choice(["decode", "prefill", "mixed"]),
    default="decode",
    show_default=True,
    help="One new token each, whole prompts, or decode plus a chunk of a prompt.",
)
@click.option(
    "--chunk",
    default=2048,
    show_default=True,
    help="Prompt tokens of a mixed step per attention group.",
)
@click.option(
    "--devices",
    "--gpus",
    "--num-gpus",
    "--total-gpus",
    "devices",
    type=int,
    help="Devices that hold the model; default: tp·pp·dp·cp, else all of the cluster's.",
)
@click.option("--tp", "--tensor-parallel-size", "-tp", "tp", type=int, help="Tensor parallel.")
@click.option("--pp", "--pipeline-parallel-size", "-pp", "pp", type=int, help="Pipeline stages.")
@click.option("--ep", "--expert-parallel-size", "ep", type=int, help="Expert-parallel ranks.")
@click.option(
    "--dp", "--data-parallel-size", "-dp", "dp", type=int, help="Attention data parallel."
)
@click.option("--cp", "--context-parallel-size", "cp", type=int, help="Context parallel.")
@click.option("--redundant-experts", type=int, default=0, help="Extra copies of routed experts.")
@click.option(
    "--network",
    type=click.Choice(["calibrated", "typical", "ideal"]),
    default="calibrated",
    show_default=True,
    help="Fitted link rates, a prior, or free messages with work divided evenly.",
)
@click.option(
    "--overlap",
    type=click.Choice(["none", "two-batch", "full"]),
    default="none",
    show_default=True,
    help="Which bound on hiding messages behind work fills the step.",
)
@click.option("--dtype", "--quant", "dtype", help="Weights: bf16, fp8, nvfp4, int4 ...")
@click.option("--kv-cache-dtype", help="Cache: bf16, fp8 ...")
@click.option(
    "--dtype-of",
    multiple=True,
    metavar="CLASS=FORMAT",
    help="Weights of one class: attention, ffn, expert, shared_expert, router, embedding, head.",
)
@click.option("--usd-per-hour", type=float, help="USD per device-hour; default: the cluster's.")
@click.option(
    "--fidelity",
    type=click.Choice(["detailed", "chalk"]),
    default="detailed",
    show_default=True,
    help="Operation by operation, or the lecture's closed form, in the main columns.",
)
@click.option(
    "--efficiency",
    type=click.Choice(["calibrated", "typical", "ideal"]),
    default="calibrated",
    show_default=True,
    help="Fitted kernels, plain shares of the datasheet, or the pure roofline.",
)
@engine_option
@calibration_option
@memory_option
@traffic_options
@click.option(
    "--sweep",
    metavar="FIGURE=VALUES",
    help="What if a figure of the hardware were another: memory_bandwidth=0.5x,1x,2x.",
)
@click.option("--why", is_flag=True, help="Show the parts of the step and what would help.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw latency, cost, frontier and MFU to FILE.png, .svg or .pdf.",
)
@catalog_option
@output_options()
def command(
    model: str,
    on: str,
    batch: str,
    context: str,
    phase: Any,
    chunk: int,
    devices: int | None,
    tp: int | None,
    pp: int | None,
    ep: int | None,
    dp: int | None,
    cp: int | None,
    redundant_experts: int,
    network: str,
    overlap: Any,
    dtype: str | None,
    kv_cache_dtype: str | None,
    dtype_of: tuple[str, ...],
    usd_per_hour: float | None,
    fidelity: Any,
    efficiency: str,
    engine: str,
    calibration: Path | None,
    gpu_memory_utilization: float,
    routing: str,
    spec_tokens: int | None,
    acceptance: str | None,
    draft_cost: float | None,
    sweep: str | None,
    why: bool,
    plot: Path | None,
    catalog_dir: Path | None,
    style: str,
) -> None:
    """Step time, speed and cost of MODEL on a cluster over batch and context, and what binds.

    MODEL is a catalogue name (`ridgeline list models`), or the path of a config.json, a model
    directory, a GGUF or a safetensors file. Token counts take k and M: 32k is 32,768.

    \b
    ridgeline estimate llama-3.3-70b --on hgx-h100-8 --batch 1:256 --context 4k
    ridgeline estimate deepseek-v3 --on gb200-nvl72 --batch 4096 --why
    """  # noqa: D301 - click wants the \b character itself
    import json  # noqa: PLC0415 - nothing heavy before --help is answered

    from ridgeline.report import estimate as report  # noqa: PLC0415
    from ridgeline.study.deploy import speculation_of  # noqa: PLC0415
    from ridgeline.study.estimate import estimate  # noqa: PLC0415

    question: dict[str, Any] = {
        "on": on,
        "phase": phase,
        "chunk": chunk,
        "devices": devices,
        "tp": tp,
        "pp": pp,
        "ep": ep,
        "dp": dp,
        "cp": cp,
        "redundant_experts": redundant_experts,
        "network": network,
        "overlap": overlap,
        "dtype": dtype,
        "kv_cache_dtype": kv_cache_dtype,
        "dtypes": parse_pairs(dtype_of, flag="--dtype-of"),
        "usd_per_device_hour": usd_per_hour,
        "fidelity": fidelity,
        "efficiency": efficiency,
        "routing": routing,
        "speculation": speculation_of(spec_tokens, acceptance, draft_cost),
        "engine": engine,
        "calibration": calibration,
        "memory_share": gpu_memory_utilization,
        "catalog_dir": catalog_dir,
    }
    if sweep is not None:
        from ridgeline.report.sweep import render_sweep  # noqa: PLC0415
        from ridgeline.study.sweep import sweep_estimate  # noqa: PLC0415

        rows = sweep_estimate(sweep, model, batch=batch, context=context, **question)
        click.echo(render_sweep(rows, style))
        return
    result = estimate(model, batch=batch, context=context, **question)
    if plot is not None:
        from ridgeline.report.estimate_plot import plot_estimate  # noqa: PLC0415
        from ridgeline.study.estimate import context_sweep  # noqa: PLC0415

        plot_estimate(result, context_sweep(model, batch=batch, **question), plot)
        click.echo(f"wrote {plot}", err=True)
    if style == "json":
        click.echo(json.dumps(report.estimate_json(result), allow_nan=False))
    elif style in {"csv", "markdown"}:
        click.echo(report.estimate_rows(result, "csv" if style == "csv" else "markdown"))
    else:
        click.echo(report.estimate_text(result, why=why))
