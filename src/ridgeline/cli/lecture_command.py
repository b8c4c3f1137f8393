"""`ridgeline lecture`."""

from __future__ import annotations

from pathlib import Path

import click

from ridgeline.cli.options import output_options


@click.command(name="lecture")
@click.argument("which", required=False, metavar="[CHAPTER|CLAIM]")
@click.option("--why", is_flag=True, help="Show the arithmetic of every value, with units.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path, file_okay=False),
    help="Draw the pictures among these claims as PNG files into DIR.",
)
@output_options()
def command(which: str | None, why: bool, plot: Path | None, style: str) -> None:
    """Recompute every claim of the lecture and say whether it holds.

    Give a chapter (1 to 7), a kind (cards, problems, slips) or one claim; default: everything.

    \b
    ridgeline lecture 1
    ridgeline lecture C1-N7
    ridgeline lecture slips --why
    """  # noqa: D301 - click wants the \b character itself
    import json  # noqa: PLC0415 - nothing heavy before --help is answered

    from ridgeline.report import lecture as report  # noqa: PLC0415
    from ridgeline.study.lecture import CHAPTERS, lecture  # noqa: PLC0415
    from ridgeline.study.lecture_claims.record import stated_value  # noqa: PLC0415
    from ridgeline.study.lecture_work import work  # noqa: PLC0415

    answers = lecture(which)
    if plot is not None:
        from ridgeline.report.lecture_plot import plot_lecture  # noqa: PLC0415
        from ridgeline.study.lecture_figures import lecture_figures  # noqa: PLC0415

        pictures = lecture_figures([answer.claim.id for answer in answers])
        for path in plot_lecture(pictures, plot):
            click.echo(f"wrote {path}", err=True)
    if style == "json":
        click.echo(json.dumps(report.lecture_json(answers, work, stated_value), allow_nan=False))
    elif style in {"csv", "markdown"}:
        click.echo(report.lecture_rows(answers, "csv" if style == "csv" else "markdown"))
    else:
        click.echo(report.lecture_text(answers, CHAPTERS, why=why, work=work))
