"""The command line: a lazy group, so that `--help` imports nothing heavy."""

from __future__ import annotations

import importlib
import io
import os
import sys

import click

from ridgeline.errors import UnknownNameError, printable

VERBS: dict[str, str] = {
    "cache": "Which memory tier should hold a KV cache for how long, or recompute it.",
    "calibrate": "Your own measurements as records that the other commands predict with.",
    "estimate": "Step time, speed and cost of a model on a cluster, and what binds.",
    "explain": "Why a benchmark result is as fast as it is, and what would help.",
    "experts": "Place and replicate experts over ranks, nodes and racks.",
    "pipelines": "What cutting a model into stages fixes, and what it does not.",
    "explore": "All of it in a browser, and over HTTP.",
    "plan": "Which layout, batch and pools meet the targets on N devices, and why.",
    "lecture": "Every claim of the lecture recomputed, with a verdict.",
    "list": "Names in the catalogue: devices, clusters, models, prices.",
    "measure": "What this machine sustains, and a small model predicted and run on it.",
    "prices": "API list prices, what they give away, and what your own tokens cost.",
    "racks": "Traffic of experts over racks, and what other networks would do.",
    "show": "One catalogue entry or model file, with the source of each figure.",
    "validate": "Predicted against known: model files, later measurements.",
}
"""Verb to one-line help; the command lives in `cli/<verb>_command.py` as `command`."""


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in VERBS:
            raise UnknownNameError("command", cmd_name, VERBS, list_command="ridgeline --help")
        module = importlib.import_module(f"ridgeline.cli.{cmd_name}_command")
        return module.command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ridgeline")
def _root() -> None:
    """What a token costs, and why: speed, size and cost of LLM serving from first principles."""


def _unforeseen(error: Exception) -> str:
    """Return a sentence for what no rule foresaw: the file's fault, or a defect of ridgeline."""
    words = " ".join(str(error).split())[:300]
    if isinstance(error, MemoryError):
        return (
            "Error: this takes more memory than the machine gives"
            f"{f' ({words})' if words else ''}. Ask for fewer points or draws, or a smaller file."
        )
    if isinstance(error, OSError):
        where = f"{str(error.filename)[:200]!r}" if error.filename else "the output"
        return f"Error: {where} cannot be read or written: {error.strerror or words}."
    return (
        f"Error: a defect in ridgeline, not an answer: {type(error).__name__}: {words}. Please"
        " report the command; RIDGELINE_TRACEBACK=1 shows where it happened."
    )


def main(argv: list[str] | None = None) -> None:
    """Run the command line; exit 0 ok, 1 check failed, 2 bad input, 3 infeasible, 5 unsupported."""
    for stream in (sys.stdout, sys.stderr):
        # Tables hold · and µ; a terminal without them shows \\u escapes instead of failing.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        _root.main(args=argv, prog_name="ridgeline", standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        code = getattr(error, "exit_code", None)
        if code is not None:
            click.echo(printable(f"Error: {error}"), err=True)
            sys.exit(code)
        if os.environ.get("RIDGELINE_TRACEBACK"):
            raise
        click.echo(printable(_unforeseen(error)), err=True)
        sys.exit(2 if isinstance(error, OSError | MemoryError) else 1)
