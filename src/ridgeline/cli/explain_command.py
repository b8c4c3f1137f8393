"""`ridgeline explain`."""

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
)


@click.command(name="explain")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--model", "--model-path", "model", help="Catalogue name or config.json path.")
@click.option(
    "--on",
    "--cluster",
    "--gpu",
    "--system",
    "on",
    help="Cluster or device it ran on: hgx-h100-8, h200-sxm ... (`ridgeline list clusters`).",
)
@click.option("--devices", "--gpus", "--num-gpus", "devices", type=int, help="Devices used.")
@click.option("--tp", "--tensor-parallel-size", "-tp", "tp", type=int, help="Tensor parallel.")
@click.option("--pp", "--pipeline-parallel-size", "-pp", "pp", type=int, help="Pipeline stages.")
@click.option("--ep", "--expert-parallel-size", "ep", type=int, help="Expert-parallel ranks.")
@click.option("--dp", "--data-parallel-size", "-dp", "dp", type=int, help="Data parallel.")
@click.option("--dtype", "--quant", "dtype", help="Weights: bf16, fp8, nvfp4, q4_k_m ...")
@click.option("--kv-cache-dtype", help="Cache: bf16, fp8 ...")
@engine_option
@click.option("--run", type=int, help="Which run of the file, from 1; the last one by default.")
@click.option("--tpot-ms", type=float, help="Time per output token, first token apart [ms].")
@click.option("--ttft-ms", type=float, help="Arrival to first token [ms].")
@click.option("--concurrency", "--max-concurrency", "concurrency", type=float, help="In flight.")
@click.option("--isl", "--input-len", "isl", type=float, help="Mean prompt tokens.")
@click.option("--osl", "--output-len", "osl", type=float, help="Mean output tokens.")
@click.option("--output-tok-s", type=float, help="Output tokens per second of all requests.")
@click.option(
    "--goal",
    type=click.Choice(["throughput", "latency"]),
    default="throughput",
    show_default=True,
    help="What the changes are ranked by.",
)
@memory_option
@calibration_option
@catalog_option
@output_options()
def command(
    file: Path | None,
    model: str | None,
    on: str | None,
    devices: int | None,
    tp: int | None,
    pp: int | None,
    ep: int | None,
    dp: int | None,
    dtype: str | None,
    kv_cache_dtype: str | None,
    engine: str,
    run: int | None,
    tpot_ms: float | None,
    ttft_ms: float | None,
    concurrency: float | None,
    isl: float | None,
    osl: float | None,
    output_tok_s: float | None,
    goal: Any,
    gpu_memory_utilization: float,
    calibration: Path | None,
    catalog_dir: Path | None,
    style: str,
) -> None:
    """Why a benchmark is as fast as it is: shares of the peaks, where time goes, what would help.

    FILE is the JSON of vllm bench serve or throughput, SGLang bench_serving, guidellm, aiperf,
    genai-perf, genai-bench, trtllm-bench, llama-bench or InferenceX. Figures given by hand win
    over it, and need no file.

    \b
    ridgeline explain results.json --on hgx-h100-8 --tp 4
    ridgeline explain --model llama-3.1-8b --on h100-sxm --tpot-ms 9 --concurrency 32 \\
        --isl 1024 --osl 256
    """  # noqa: D301 - click wants the \b character itself
    import json  # noqa: PLC0415 - nothing heavy before --help is answered

    from ridgeline.report import explain as report  # noqa: PLC0415
    from ridgeline.study.explain import explain  # noqa: PLC0415

    result = explain(
        file,
        model=model,
        on=on,
        devices=devices,
        degrees={"tp": tp, "pp": pp, "ep": ep, "dp": dp},
        dtype=dtype,
        kv_cache_dtype=kv_cache_dtype,
        engine=engine,
        run=run,
        figures={
            "tpot_s": None if tpot_ms is None else tpot_ms * 1e-3,
            "ttft_s": None if ttft_ms is None else ttft_ms * 1e-3,
            "concurrency": concurrency,
            "isl": isl,
            "osl": osl,
            "output_tokens_per_s": output_tok_s,
        },
        goal=goal,
        memory_share=gpu_memory_utilization,
        calibration=calibration,
        catalog_dir=catalog_dir,
    )
    if style == "json":
        click.echo(json.dumps(report.explain_json(result), allow_nan=False))
    elif style in {"csv", "markdown"}:
        click.echo(report.explain_rows(result, "csv" if style == "csv" else "markdown"))
    else:
        click.echo(report.explain_text(result))
