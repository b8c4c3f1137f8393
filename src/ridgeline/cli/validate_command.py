"""`ridgeline validate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ridgeline.cli.options import output_options


@click.command(name="validate")
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder of config.json files with an INDEX.csv of known parameter counts.",
)
@output_options()
def command(corpus: Path, style: Any) -> None:
    """Score parameter counts of config files against known ones; exit 1 if one is silently wrong.

    INDEX.csv needs the columns file, meta_params, oracle_corrected, meta_nontext_params,
    expected_behaviour and published_total_B.
    """
    import json  # noqa: PLC0415

    from ridgeline.report.corpus import corpus_json, corpus_text  # noqa: PLC0415
    from ridgeline.validate.corpus import validate_corpus  # noqa: PLC0415

    report = validate_corpus(corpus)
    if style == "json":
        click.echo(json.dumps(corpus_json(report), indent=2))
    else:
        click.echo(corpus_text(report, style))
    if report.count("silently_wrong"):
        sys.exit(1)
