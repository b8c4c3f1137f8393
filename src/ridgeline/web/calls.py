"""One call of a study function: run, as lines of Python, and as a command line."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from ridgeline.web.schemas import Request

_MAX_TEXT = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """An argument that is not a literal, and how a reader makes it."""

    value: Any
    text: str
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A study function with its arguments."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    runs: Callable[..., Any] | None = None
    """What to run in its place, where the arguments of a request are not a file yet."""
    defaults_of: Callable[..., Any] | None = None
    """Whose defaults hold for what the function passes on."""

    def run(self, **more: Any) -> Any:
        """Return what the function returns."""
        args = [_value(a) for a in self.args]
        function = self.runs or self.function
        return function(*args, **{k: _value(v) for k, v in self.kwargs.items()}, **more)

    def python(self) -> str:
        """Return lines that make the same call; arguments at their default are left out."""
        shown = [*self.args]
        named = {k: v for k, v in self.kwargs.items() if not self._is_default(k, v)}
        words = [*map(_text, shown), *(f"{k}={_text(v)}" for k, v in named.items())]
        imports = [f"from {self.function.__module__} import {self.function.__name__}"]
        for given in (*shown, *named.values()):
            imports += given.imports if isinstance(given, Given) else ()
        call = f"result = {self.function.__name__}({', '.join(words)})"
        return "\n".join([*sorted(dict.fromkeys(imports)), "", call])

    def _is_default(self, name: str, value: Any) -> bool:
        known = inspect.signature(self.defaults_of or self.function).parameters
        default = known[name].default if name in known else inspect.Parameter.empty
        if isinstance(value, Given) or default is inspect.Parameter.empty:
            return False
        return value == default or (not value and default is None)


def _value(argument: Any) -> Any:
    return argument.value if isinstance(argument, Given) else argument


def _text(argument: Any) -> str:
    text = argument.text if isinstance(argument, Given) else repr(argument)
    return text if len(text) <= _MAX_TEXT else "..."


def command_line(verb: str, request: Request, *words: str | None) -> str:
    """Return the command that asks the same: a verb, its arguments, and flags off their default."""
    found = ["ridgeline", *verb.split(), *(w for w in words if w)]
    for name, info in type(request).model_fields.items():
        extra = cast("Mapping[str, Any]", info.json_schema_extra or {})
        value = getattr(request, name)
        default = info.get_default()  # a day is always said: the default moves on
        if "x-flag" in extra and value not in (default, None):
            found += _flag_words(extra["x-flag"], value, extra)
    return shlex.join(found)


def _flag_words(flag: str, value: Any, extra: Mapping[str, Any]) -> list[str]:
    if isinstance(value, bool):
        return [flag]
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value)
        return [w for k, v in pairs.items() for w in (flag, f"{k}={_word(v)}")]
    if isinstance(value, list | tuple):
        items = [_word(v) for v in cast("Sequence[Any]", value)]
        return (
            [w for i in items for w in (flag, i)] if extra["x-repeat"] else [flag, ",".join(items)]
        )
    scale = extra.get("x-scale")
    return [flag, _word(value * scale if isinstance(scale, float) else value)]


def _word(value: Any) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)
