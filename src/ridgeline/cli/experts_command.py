"""`ridgeline experts`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import click

from ridgeline.cli.options import output_options, refuse_unused

_QUIET_S = 2.0


@contextmanager
def _progress() -> Generator[Callable[[str, float], None]]:
    """Yield a callback that draws a line on a terminal's stderr once 2 s have passed."""
    start, shown = time.monotonic(), False

    def tell(what: str, part: float) -> None:
        nonlocal shown
        if sys.stderr.isatty() and time.monotonic() - start > _QUIET_S:
            shown = True
            sys.stderr.write(f"\r{what} {100.0 * part:3.0f} %  ")
            sys.stderr.flush()

    try:
        yield tell
    finally:
        if shown:
            sys.stderr.write("\r" + " " * 40 + "\r")
            sys.stderr.flush()


@click.command(name="experts")
@click.argument("routing", type=click.Path(path_type=Path))
@click.option("--ranks", "--ep", type=int, required=True, help="Expert-parallel ranks.")
@click.option("--ranks-per-node", type=int, help="Ranks in a node; default: all in one.")
@click.option("--nodes-per-rack", type=int, help="Nodes in a rack; default: all in one.")
@click.option(
    "--redundant",
    "--num-redundant-experts",
    "redundant",
    type=int,
    default=0,
    show_default=True,
    help="Copies beyond one per expert, in all.",
)
@click.option(
    "--groups",
    type=int,
    default=1,
    show_default=True,
    help="Groups of experts that stay on one node (node-limited routing: 8 for DeepSeek-V3).",
)
@click.option("--hidden-size", type=int, help="Width of an activation: traffic in bytes.")
@click.option("--dispatch-format", default="fp8", show_default=True, help="Of activations sent.")
@click.option("--combine-format", default="bf16", show_default=True, help="Of results returned.")
@click.option("--tokens", type=float, help="Tokens the counts cover: traffic in bytes per token.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--kicks", type=int, default=60, show_default=True, help="Disturbances the search tries."
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw rank × layer load before and after to FILE.png, .svg or .pdf.",
)
@click.option(
    "--placement",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the placement to FILE.json for SGLang's --init-expert-location.",
)
@output_options()
def command(
    routing: Path,
    ranks: int,
    ranks_per_node: int | None,
    nodes_per_rack: int | None,
    redundant: int,
    groups: int,
    hidden_size: int | None,
    dispatch_format: str,
    combine_format: str,
    tokens: float | None,
    seed: int,
    kicks: int,
    plot: Path | None,
    placement: Path | None,
    style: str,
) -> None:
    """Place and replicate experts so that the fullest rank is light and traffic stays near.

    ROUTING is what routers chose: a CSV with the header layer,expert,count (and source, the rank
    that sent the tokens) or a bare matrix of layers × experts; a .npy of layers × experts or
    layers × sources × experts; or a .json or .npz with counts, counts_by_source, or routes
    (tokens × layers × top-k expert numbers) and route_source.

    Before is the engines' initial placement: slot p holds expert p mod experts.
    """
    from ridgeline.report import experts as report  # noqa: PLC0415 - heavy
    from ridgeline.study.experts import experts  # noqa: PLC0415 - heavy

    if hidden_size is None:
        refuse_unused("without --hidden-size", "dispatch_format", "combine_format", "tokens")
    if placement is not None:
        report.check_placement(placement, routing)
    with _progress() as tell:
        result = experts(
            routing,
            ranks=ranks,
            ranks_per_node=ranks_per_node,
            nodes_per_rack=nodes_per_rack,
            num_redundant=redundant,
            num_groups=groups,
            hidden_size=hidden_size,
            dispatch_format=dispatch_format,
            combine_format=combine_format,
            tokens=tokens,
            seed=seed,
            kicks=kicks,
            progress=tell,
        )
    if plot is not None:
        report.plot_experts(result, plot)
    if placement is not None:
        report.write_placement(result, placement)
    click.echo(report.render_experts(result, style))
