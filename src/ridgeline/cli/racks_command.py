"""`ridgeline racks`."""

from __future__ import annotations

from pathlib import Path

import click

from ridgeline.cli.options import catalog_option, output_options


@click.command(name="racks")
@click.option("--model", default="deepseek-v3", show_default=True, help="A mixture of experts.")
@click.option(
    "--on",
    "--cluster",
    "on",
    default="gb200-nvl72",
    show_default=True,
    help="Cluster whose scale-up domain is the rack.",
)
@click.option("--devices-per-rack", type=int, help="Default: the scale-up domain of --on.")
@click.option("--racks", "racks_", default="1,2,3,4", show_default=True, help="1:4 or 1,2,3,4.")
@click.option(
    "--ratio",
    default="1,4,8,18",
    show_default=True,
    help="Scale-up over scale-out bandwidth per device.",
)
@click.option(
    "--tokens-per-device",
    "--batch-per-device",
    "tokens_per_device",
    type=int,
    default=128,
    show_default=True,
    help="Tokens each device sends through every layer.",
)
@click.option(
    "--context", default="4096", show_default=True, help="Cached tokens per sequence, for C2-Q4."
)
@click.option("--dispatch-bytes", type=float, default=1.0, show_default=True, help="Per element.")
@click.option("--combine-bytes", type=float, default=2.0, show_default=True, help="Per element.")
@click.option(
    "--load",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Routing counts per expert (.csv, .npy, .npz, .json); layers are summed.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw traffic, rack cliff, largest models and topologies to FILE.png, .svg or .pdf.",
)
@catalog_option
@output_options()
def command(
    model: str,
    on: str,
    devices_per_rack: int | None,
    racks_: str,
    ratio: str,
    tokens_per_device: int,
    context: str,
    dispatch_bytes: float,
    combine_bytes: float,
    load: Path | None,
    plot: Path | None,
    catalog_dir: Path | None,
    style: str,
) -> None:
    """What spreading one mixture-of-experts layer over racks costs, and what other networks would.

    \b
    ridgeline racks
    ridgeline racks --on hgx-h800-8 --racks 18 --ratio 4 --tokens-per-device 88
    """  # noqa: D301 - click keeps lines after a backspace
    from ridgeline.report import racks as report  # noqa: PLC0415 - nothing heavy before --help
    from ridgeline.study.racks import parse_racks, parse_ratios, racks, read_load  # noqa: PLC0415
    from ridgeline.units import parse_tokens  # noqa: PLC0415

    result = racks(
        model,
        on=on,
        devices_per_rack=devices_per_rack,
        num_racks=parse_racks(racks_),
        ratios=parse_ratios(ratio),
        tokens_per_device=tokens_per_device,
        context=parse_tokens(context),
        dispatch_bytes=dispatch_bytes,
        combine_bytes=combine_bytes,
        load=None if load is None else read_load(load),
        catalog_dir=catalog_dir,
    )
    if plot is not None:
        from ridgeline.report.racks_plot import plot_racks  # noqa: PLC0415

        plot_racks(result, plot)
        click.echo(f"wrote {plot}", err=True)
    click.echo(report.render_racks(result, style))
