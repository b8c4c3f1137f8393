"""`ridgeline calibrate`."""

from __future__ import annotations

from pathlib import Path

import click

from ridgeline.cli.options import (
    catalog_option,
    engine_option,
    output_options,
    refuse_unused,
)

_RESULT_FACTS = (
    *("model", "on", "devices", "tp", "pp", "ep", "dp", "dtype", "kv_cache_dtype", "engine"),
)


@click.command(name="calibrate")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--device",
    help="Device of rows that name no chip; rows of other devices are left out.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the records for --calibration: my-calibration.yaml.",
)
@click.option("--model", "--model-path", "model", help="Of benchmark results that name none.")
@click.option("--on", "--cluster", "--gpu", "on", help="Cluster that benchmark results ran on.")
@click.option("--devices", "--gpus", "devices", type=int, help="Devices of a replica.")
@click.option("--tp", "--tensor-parallel-size", "-tp", "tp", type=int, help="Tensor parallel.")
@click.option("--pp", "--pipeline-parallel-size", "-pp", "pp", type=int, help="Pipeline stages.")
@click.option("--ep", "--expert-parallel-size", "ep", type=int, help="Expert-parallel ranks.")
@click.option("--dp", "--data-parallel-size", "-dp", "dp", type=int, help="Data parallel.")
@click.option("--dtype", "--quant", "dtype", help="Weights: bf16, fp8, nvfp4, q4_k_m ...")
@click.option("--kv-cache-dtype", help="Cache: bf16, fp8 ...")
@engine_option
@catalog_option
@output_options()
def command(
    files: tuple[Path, ...],
    device: str | None,
    out: Path | None,
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
    catalog_dir: Path | None,
    style: str,
) -> None:
    """Fit efficiency figures to your own measurements, for --calibration of the other verbs.

    FILES are tables of kernels and collectives (.csv with metric, unit, value and sizes), results
    of the benchmark tools that `explain` reads (.json, .jsonl), and device entries that `measure`
    wrote (.yaml). Every record comes with its error as shipped, as fitted, and on rows that were
    left out of the fit; one that does not help on those is refused.

    \b
    ridgeline calibrate gemm.csv attention.csv --device h100-sxm --out mine.yaml
    ridgeline calibrate c1.json c8.json c32.json c128.json --on hgx-h100-8 --tp 4 --out mine.yaml
    ridgeline estimate llama-3.3-70b --on hgx-h100-8 --calibration mine.yaml
    """  # noqa: D301 - click wants the \b character itself
    import json  # noqa: PLC0415 - nothing heavy before --help is answered

    from ridgeline.report import calibrate as report  # noqa: PLC0415
    from ridgeline.validate.calibrate import calibrate  # noqa: PLC0415

    if not any(file.suffix in {".json", ".jsonl"} for file in files):
        refuse_unused("without results of a benchmark tool (.json, .jsonl)", *_RESULT_FACTS)
    if out is not None:
        report.check_out(out, files)
    result = calibrate(
        files,
        device=device,
        facts={
            "model": model,
            "on": on,
            "devices": devices,
            "degrees": {"tp": tp, "pp": pp, "ep": ep, "dp": dp},
            "dtype": dtype,
            "kv_cache_dtype": kv_cache_dtype,
            "engine": engine,
            "catalog_dir": catalog_dir,
        },
    )
    if out is not None:
        out.write_text(report.calibration_yaml(result), encoding="utf-8")
        click.echo(f"wrote {out}", err=True)
    if style == "json":
        click.echo(json.dumps(report.calibrate_json(result), allow_nan=False))
    elif style in {"csv", "markdown"}:
        click.echo(report.calibrate_rows(result, "csv" if style == "csv" else "markdown"))
    else:
        click.echo(report.calibrate_text(result, out))
