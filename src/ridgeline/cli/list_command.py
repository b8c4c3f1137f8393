"""`ridgeline list`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ridgeline.cli.options import catalog_option, output_options


@click.command(name="list")
@click.argument("kind", type=click.Choice(["devices", "clusters", "models", "prices", "formats"]))
@click.argument("pattern", default="")
@catalog_option
@output_options()
def command(kind: Any, pattern: str, catalog_dir: Path | None, style: Any) -> None:
    """Names in the catalogue, with their main figures; PATTERN keeps names that contain it.

    Prices are rental prices per device and hour (API prices: `ridgeline prices list`); formats are
    what --dtype takes.

    \b
    ridgeline list devices
    ridgeline list models qwen
    """  # noqa: D301 - click wants the \b character itself
    import json  # noqa: PLC0415 - nothing heavy before --help is answered

    from ridgeline.report.catalog import listing_json, listing_text  # noqa: PLC0415
    from ridgeline.study.catalog import list_entries  # noqa: PLC0415

    listing = list_entries(kind, pattern, catalog_dir)
    if style == "json":
        click.echo(json.dumps(listing_json(listing)))
    else:
        click.echo(listing_text(listing, style))
