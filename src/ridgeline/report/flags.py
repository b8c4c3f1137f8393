"""Flags as a short list under a result."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from ridgeline.report.table import MAX_WIDTH


def wrapped(text: str) -> list[str]:
    """Return one paragraph as lines of at most 100 columns, continued with an indent."""
    return textwrap.wrap(text, MAX_WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def flag_lines(flags: Iterable[str]) -> list[str]:
    """Return `notes:` and one wrapped line per flag, or nothing."""
    unique = list(dict.fromkeys(flags))
    if not unique:
        return []
    lines = ["notes:"]
    for flag in unique:
        lines += textwrap.wrap(flag, MAX_WIDTH, initial_indent="- ", subsequent_indent="  ")
    return lines
