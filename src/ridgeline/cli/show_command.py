"""`ridgeline show`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ridgeline.cli.options import catalog_option, output_options


@click.command(name="show")
@click.argument("kind", type=click.Choice(["device", "cluster", "model", "price"]))
@click.argument("name")
@catalog_option
@output_options(rows=False)
def command(kind: Any, name: str, catalog_dir: Path | None, style: str) -> None:
    """One entry, with the source of each figure.

    NAME of a model is a catalogue name, or the path of a config.json, a model directory, a GGUF
    or a safetensors file.

    \b
    ridgeline show device h100-sxm
    ridgeline show cluster hgx-h100-8x18
    ridgeline show model deepseek-v3
    ridgeline show model ./my-model/config.json --json
    """  # noqa: D301 - click wants the \b character itself
    import json  # noqa: PLC0415 - nothing heavy before --help is answered

    if kind == "model":
        from ridgeline.report.model_sheet import model_json, model_text  # noqa: PLC0415
        from ridgeline.study.show_model import show_model  # noqa: PLC0415

        model = show_model(name, catalog_dir)
        click.echo(json.dumps(model_json(model)) if style == "json" else model_text(model))
        return
    from ridgeline.report.catalog import entry_json, entry_text  # noqa: PLC0415
    from ridgeline.study.catalog import show_entry  # noqa: PLC0415

    sheet = show_entry(kind, name, catalog_dir)
    click.echo(json.dumps(entry_json(sheet)) if style == "json" else entry_text(sheet))
