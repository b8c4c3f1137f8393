"""Flags as a short list under a result."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from ridgeline.report.table import MAX_WIDTH


def flag_lines(flags: Iterable[str]) -> list[str]:
    """Return `notes:` and one wrapped line per flag, or nothing."""
    unique = list(dict.fromkeys(flags))
    if not unique:
        return []
    lines = ["notes:"]
    for flag in unique:
        lines += textwrap.wrap(flag, MAX_WIDTH, initial_indent="- ", subsequent_indent="  ")
    return lines
