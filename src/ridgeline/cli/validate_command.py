"""`ridgeline validate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ridgeline.cli.options import calibration_option, output_options


@click.command(name="validate")
@click.option(
    "--truth",
    type=click.Path(path_type=Path),
    help="Folder of CSV files of published measurements; the packaged ones when not given.",
)
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    help="Instead: folder of config.json files with an INDEX.csv of known parameter counts.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    help="Draw predicted against published to this .png, .svg or .pdf file.",
)
@calibration_option
@output_options()
def command(
    truth: Path | None,
    corpus: Path | None,
    plot: Path | None,
    calibration: Path | None,
    style: Any,
) -> None:
    """Score predictions against published measurements, or parameter counts against known ones.

    Exits 1 when a group of measurements is predicted worse than on record, or a parameter count
    is silently wrong.
    """
    if corpus is not None:
        if truth is not None or plot is not None or calibration is not None:
            raise click.UsageError("--corpus goes without --truth, --plot and --calibration.")
        _corpus(corpus, style)
        return
    import json  # noqa: PLC0415

    from ridgeline.report.truth import truth_json, truth_plot, truth_text  # noqa: PLC0415
    from ridgeline.validate.truth import validate_truth  # noqa: PLC0415

    result = validate_truth(truth, calibration=calibration)
    if plot is not None:
        truth_plot(result, plot)
    if style == "json":
        click.echo(json.dumps(truth_json(result), indent=2))
    else:
        click.echo(truth_text(result, style))
    if result.worse:
        sys.exit(1)


def _corpus(corpus: Path, style: Any) -> None:
    """Score parameter counts.

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
