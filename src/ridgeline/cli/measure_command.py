"""`ridgeline measure`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ridgeline.cli.options import output_options
from ridgeline.cli.progress import progress_bar

_THREADS = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


@click.command(name="measure")
@click.option("--quick", is_flag=True, help="Fewer repeats, batches and contexts.")
@click.option(
    "--library",
    type=click.Choice(["numpy", "torch"]),
    default="numpy",
    show_default=True,
    help="Whose kernels; torch needs the `torch` extra.",
)
@click.option(
    "--device",
    type=click.Choice(["cpu", "cuda", "mps"]),
    default="cpu",
    show_default=True,
    help="The processor, or with torch a GPU.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1, max=4096),
    help="Threads of matrix products; default: the cores that are idle by the load average.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the machine as a device entry for --catalog: my-machine.yaml.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw step time against batch to FILE.png, .svg or .pdf.",
)
@output_options()
def command(
    quick: bool,
    library: str,
    device: str,
    threads: int | None,
    out: Path | None,
    plot: Path | None,
    style: str,
) -> None:
    """Measure this machine, predict a small transformer on it, run it, and compare.

    Micro-benchmarks give the memory bandwidth, the rate of matrix products and a curve per kind
    of kernel. From them alone the decode steps of a real transformer with random weights are
    predicted, then measured.

    \b
    ridgeline measure --quick
    ridgeline measure --out my-machine.yaml --plot measured.png
    ridgeline estimate llama-3.2-1b --on my-machine --catalog .
    """  # noqa: D301 - click wants the \b character itself
    import json  # noqa: PLC0415 - nothing heavy before --help is answered

    _limit_threads(threads)

    from ridgeline.report import measure as report  # noqa: PLC0415
    from ridgeline.report.figure import check_path  # noqa: PLC0415
    from ridgeline.study.measure import measure  # noqa: PLC0415

    if plot is not None:
        check_path(plot)
    if out is not None:
        report.check_out(out)
    with progress_bar("measuring") as draw:
        result = measure(library=library, device=device, quick=quick, progress=draw)
    if out is not None:
        out.write_text(report.device_yaml(result, out), encoding="utf-8")
        click.echo(f"wrote {out}", err=True)
    if plot is not None:
        from ridgeline.report.measure_plot import plot_measure  # noqa: PLC0415

        plot_measure(result, plot)
        click.echo(f"wrote {plot}", err=True)
    if style == "json":
        click.echo(json.dumps(report.measure_json(result), allow_nan=False))
    elif style in {"csv", "markdown"}:
        click.echo(report.measure_rows(result, "csv" if style == "csv" else "markdown"))
    else:
        click.echo(report.measure_text(result))


def _limit_threads(threads: int | None) -> None:
    """Set the libraries' variables, which they read once: when NumPy is loaded.

    A product waits for its slowest thread, so that one busy core delays all of them many times.
    """
    if "numpy" in sys.modules:
        if threads is not None:
            raise click.UsageError("--threads needs a process that has not loaded NumPy yet.")
        return
    if threads is None and not any(name in os.environ for name in _THREADS):
        busy = round(os.getloadavg()[0]) if hasattr(os, "getloadavg") else 0
        threads = max(1, (os.cpu_count() or 1) - busy)
    if threads is not None:
        os.environ.update(dict.fromkeys(_THREADS, str(threads)))
