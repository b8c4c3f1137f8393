"""What can go wrong, said so that the reader knows what to do next.

    RidgelineError                  exit 1
    ├── InputError  (ValueError)    exit 2   a value, file or flag breaks a rule
    │   └── UnknownNameError (LookupError)   no such device, cluster, model ...
    ├── InfeasibleError             exit 3   the question has no answer on this hardware
    └── UnsupportedError (TypeError)  exit 5   not a decoder LM, or hardware that cannot do it

Every sentence says what, the rule, the value and the remedy:

    `tp` must divide 8 attention heads: tp=6. Use 1, 2, 4 or 8.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping


def printable(text: str) -> str:
    """Return the text with control characters escaped: a name may hold terminal commands."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


class RidgelineError(Exception):
    """A message for people; the CLI prints it without a traceback."""

    exit_code = 1


class InputError(RidgelineError, ValueError):
    """A value, file or flag that breaks a stated rule."""

    exit_code = 2


class UnknownNameError(InputError, LookupError):
    """A name that is not in the catalogue; carries the nearest matches."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, list_command: str) -> None:
        names = sorted(known)
        by_lower = {n.lower(): n for n in names}
        # A family (`gemini`) is closer to its members than to short names with the same letters.
        members = [low for low in by_lower if name and name.lower() in low]
        cutoff = 0.0 if members else 0.5
        near = difflib.get_close_matches(name.lower(), members or by_lower, n=3, cutoff=cutoff)
        self.nearest = tuple(by_lower[low] for low in near)
        hint = f"Nearest: {', '.join(self.nearest)}. " if self.nearest else ""
        super().__init__(f"No {kind} '{name[:100]}'. {hint}All names: `{list_command}`.")


class InfeasibleError(RidgelineError):
    """The question has no answer: it does not fit, or a target cannot be met."""

    exit_code = 3

    def __init__(self, text: str, *, relax: Mapping[str, float] | None = None) -> None:
        self.relax = dict(relax or {})
        """Arguments, and the values of them at which there is an answer."""
        super().__init__(text)


class UnsupportedError(RidgelineError, TypeError):
    """A model that is not a decoder LM, or hardware that cannot run it."""

    exit_code = 5
