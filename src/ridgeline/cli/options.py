"""Options that several verbs share; imports click only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ridgeline.cli.report_file import UNUSED, with_report

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def refuse_unused(why: str, *names: str) -> None:
    """Stop with exit code 2 where one of the options was typed but would change nothing.

    The names stay in the context: a report that repeats the command leaves them out too.

    Args:
        why: Beside or without which option, for the sentence.
        names: Parameters of the command; `style` stands for --json, --csv and --markdown.
    """
    context = click.get_current_context()
    context.meta.setdefault(UNUSED, set()).update(names)
    typed = click.core.ParameterSource.COMMANDLINE
    for parameter in context.command.params:
        name = parameter.name or ""
        if name not in names or context.get_parameter_source(name) != typed:
            continue
        flag = parameter.opts[0]
        if name == "style":
            if context.params["style"] == "text":
                continue
            flag = f"--{context.params['style']}"
        elif isinstance(parameter, click.Argument):
            flag = parameter.human_readable_name
        raise click.UsageError(f"{flag} has no effect {why}: leave it out.")


_FORMS = {
    "json": "Print JSON: SI units, full precision.",
    "csv": "Print the rows as CSV in SI units.",
    "markdown": "Print the rows as Markdown.",
}


class _Style(click.Option):
    """One of the flags that choose the form of the answer: two of them are refused."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        super().add_to_parser(parser, ctx)
        found = parser._long_opt[self.opts[0]]  # noqa: SLF001 - click offers no other place
        process = found.process

        def once(value: Any, state: Any) -> None:
            other = state.opts.get("style")
            if other not in (None, self.flag_value):
                raise click.UsageError(
                    f"--{other} and {self.opts[0]} exclude each other: an answer has one form."
                    " Leave one of them out."
                )
            process(value, state)

        found.process = once


def output_options(*, rows: bool = True) -> Decorator:
    """Add --report, --json, and --csv and --markdown where rows come out; the value is `style`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        function = with_report(function)
        for form, what in _FORMS.items() if rows else (("json", _FORMS["json"]),):
            flag = click.option(f"--{form}", "style", cls=_Style, flag_value=form, help=what)
            function = flag(function)
        text = {"flag_value": "text", "default": "text", "hidden": True}
        return click.option("--text", "style", cls=_Style, **text)(function)

    return decorate


def catalog_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --catalog DIR."""
    return click.option(
        "--catalog",
        "catalog_dir",
        type=click.Path(path_type=Path),
        help="Folder of your own devices, clusters and models (YAML).",
    )(function)


def calibration_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --calibration FILE."""
    return click.option(
        "--calibration",
        type=click.Path(path_type=Path),
        help="Your own records over the shipped ones: the file of `ridgeline calibrate --out`.",
    )(function)


def traffic_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --routing, --spec-tokens, --acceptance and --draft-cost."""
    for option in (
        click.option(
            "--draft-cost",
            type=float,
            help="One draft over a decode step; default: the model's own MTP layer.",
        ),
        click.option(
            "--acceptance", help="Rate at which drafts are kept: 0.8, or per position 0.9,0.7."
        ),
        click.option(
            "--spec-tokens",
            "--num-speculative-tokens",
            "--nextn",
            "spec_tokens",
            type=int,
            help="Drafts per decode step (speculative decoding, MTP).",
        ),
        click.option(
            "--routing",
            default="uniform",
            show_default=True,
            help="How tokens choose experts: uniform, zipf:1.0, or balanced.",
        ),
    ):
        function = option(function)
    return function


def engine_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --engine: whose small kernels and host time a step contains."""
    return click.option(
        "--engine",
        type=click.Choice(["auto", "ideal", "vllm", "sglang", "trtllm", "llamacpp"]),
        default="auto",
        show_default=True,
        help="What an engine adds; auto: llamacpp for GGUF, CPUs and Apple, vllm on other GPUs.",
    )(function)


def memory_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --gpu-memory-utilization."""
    return click.option(
        "--gpu-memory-utilization",
        type=float,
        default=0.9,
        show_default=True,
        help="Share of device memory that the engine may fill.",
    )(function)


def parse_pairs(pairs: tuple[str, ...], *, flag: str, form: str = "CLASS=FORMAT") -> dict[str, str]:
    """Return `key=value` words as a dict, or stop with exit code 2."""
    out: dict[str, str] = {}
    for pair in pairs:
        key, sep, value = pair.partition("=")
        if not sep or not key or not value:
            raise click.BadParameter(f"{flag} is written {form}: {pair[:80]!r}.")
        if out.get(key, value) != value:
            raise click.BadParameter(f"{flag} gives {key[:80]!r} two values: keep one of them.")
        out[key] = value
    return out
