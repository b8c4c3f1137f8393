"""The lecture's claims as text, Markdown, CSV or JSON; computes nothing."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from ridgeline.report.table import MAX_WIDTH, Column, Style, render_table
from ridgeline.units import significant

SCHEMA_VERSION = "1"
_COLUMNS = (
    Column(key="id", label="id", align="left"),
    Column(key="claim", label="claim", align="left", wrap=True),
    Column(key="stated", label="stated"),
    Column(key="computed", label="computed"),
    Column(key="unit", label="unit", align="left"),
    Column(key="checks", label="n"),
    Column(key="verdict", label="verdict", align="left"),
)
_SHORT = {"depends on an assumption": "depends"}


def lecture_text(answers: Sequence[Any], chapters: dict[int, str], *, why: bool, work: Any) -> str:
    """Return tables by chapter, or one claim in full; `why` adds the arithmetic of every value."""
    if len(answers) == 1:
        return _full(answers[0], work)
    parts = [_legend()]
    for title, group in groupby(answers, key=lambda answer: _title(answer, chapters)):
        members = list(group)
        parts += [title, render_table(_COLUMNS, [_row(answer) for answer in members])]
        if why:
            parts += [_full(answer, work) for answer in members]
    parts.append(_tally(answers))
    return "\n\n".join(parts)


def lecture_rows(answers: Sequence[Any], style: Style) -> str:
    """Return one table of all claims as Markdown or CSV, one line per value."""
    rows = [row for answer in answers for row in _value_rows(answer)]
    columns = (
        Column(key="id", label="id", align="left"),
        Column(key="chapter", label="chapter"),
        Column(key="claim", label="claim", align="left"),
        Column(key="value", label="value", align="left"),
        Column(key="stated", label="stated"),
        Column(key="computed", label="computed"),
        Column(key="unit", label="unit", align="left"),
        Column(key="verdict", label="verdict", align="left"),
        Column(key="claim_verdict", label="verdict of the claim", align="left"),
    )
    return render_table(columns, rows, style=style)


def lecture_json(answers: Sequence[Any], work: Any, stated_value: Any) -> dict[str, Any]:
    """Return the stable JSON: the deciding value stands for a claim, `values` has them all."""
    return {
        "schema_version": SCHEMA_VERSION,
        "claims": [_claim_json(answer, work, stated_value) for answer in answers],
    }


def _claim_json(answer: Any, work: Any, stated_value: Any) -> dict[str, Any]:
    values = [value_json(value, work, stated_value) for value in answer.values]
    empty: dict[str, Any] = {
        "stated": None,
        "computed": None,
        "unit": "",
        "inputs": {},
        "formula": None,
    }
    first = value_json(answer.deciding, work, stated_value) if values else empty
    claim = answer.claim
    return {
        "id": claim.id,
        "chapter": claim.chapter,
        "kind": answer.kind,
        "claim": claim.says,
        "inputs": first["inputs"],
        "stated": first["stated"],
        "computed": first["computed"],
        "unit": first["unit"],
        "verdict": answer.verdict,
        "formula": first["formula"],
        "assumption": claim.assumption or None,
        "note": claim.note or claim.reason or None,
        "values": values,
    }


def value_json(value: Any, work: Any, stated_value: Any) -> dict[str, Any]:
    """Return one value of a claim as plain data."""
    check = value.check
    done = work(check)
    return {
        "label": check.label,
        "stated": stated_value(check.stated),
        "stated_text": f"{_stated(check.stated)} {check.unit}".strip(),
        "computed": value.computed,
        "unit": check.unit,
        "verdict": value.verdict,
        "inputs": done.given,
        "formula": done.function,
        "equation": done.equation or None,
    }


def _row(answer: Any) -> dict[str, Any]:
    verdict = _SHORT.get(answer.verdict, answer.verdict)
    row = {"id": answer.claim.id, "claim": answer.claim.says, "verdict": verdict}
    value = answer.deciding
    if value is None:
        return row | {"unit": ""}
    return row | {
        "stated": _stated(value.check.stated),
        "computed": _computed(value),
        "unit": value.check.unit,
        "checks": len(answer.values),
    }


def _value_rows(answer: Any) -> list[dict[str, Any]]:
    claim = answer.claim
    row = {
        "id": claim.id,
        "chapter": claim.chapter,
        "claim": claim.says,
        "claim_verdict": answer.verdict,
    }
    if not answer.values:
        return [row | {"verdict": answer.verdict}]
    return [
        row
        | {
            "value": value.check.label,
            "stated": _stated(value.check.stated),
            "computed": value.computed,
            "unit": value.check.unit,
            "verdict": value.verdict,
        }
        for value in answer.values
    ]


def _full(answer: Any, work: Any) -> str:
    claim = answer.claim
    lines = [f"{claim.id}  chapter {claim.chapter}, {answer.kind}: {answer.verdict}"]
    lines += _wrapped(claim.says)
    for label, text in (
        ("Depends on", claim.assumption),
        ("Note", claim.note),
        ("Not computed", claim.reason),
    ):
        lines += _wrapped(f"{label}: {text}") if text else []
    for value in answer.values:
        lines += ["", *_worked(value, work(value.check))]
    return "\n".join(lines)


def _worked(value: Any, done: Any) -> list[str]:
    check = value.check
    lines = _wrapped(check.label)
    if done.equation:
        lines += _wrapped(done.equation, indent=4)
    if done.substituted:
        lines += _wrapped(done.substituted, indent=4)
    else:
        given = ", ".join(f"{name} = {text}" for name, text in done.inputs.items())
        lines += _wrapped(f"{done.function}({given})", indent=4)
    computed = f"{_computed(value)} {check.unit}".strip()
    stated = f"{_stated(check.stated)} {check.unit}".strip()
    tail = f"[{done.function}]" if done.substituted else ""
    return [*lines, f"    = {computed}    stated {stated}: {value.verdict}    {tail}".rstrip()]


def _wrapped(text: str, indent: int = 2) -> list[str]:
    pad = " " * indent
    return textwrap.wrap(text, MAX_WIDTH, initial_indent=pad, subsequent_indent=pad + "  ")


def _stated(stated: str) -> str:
    low, dots, high = stated.partition("..")
    return f"{_plain(low)} to {_plain(high)}" if dots else _plain(stated)


def _plain(stated: str) -> str:
    """Return `2.4e3` as 2,400 and `~128e3` as ~128,000; astronomic ones stay as written."""
    lead = re.match(r"(?:order |~)?", stated)
    mark = lead.group() if lead else ""
    number = stated.removeprefix(mark)
    if "e" not in number or not 1e-6 < abs(float(number)) < 1e15:
        return stated
    return f"{mark}{float(number):,.10g}"


def _computed(value: Any) -> str:
    """Return the value with as many digits as are stated, and at least three."""
    digits = re.sub(r"e.*|^0\.0*|\D", "", value.check.stated.removeprefix("order "))
    return significant(value.computed, min(6, max(3, len(digits))))


def _title(answer: Any, chapters: dict[int, str]) -> str:
    titles = {"flashcard": "Flashcards", "problem": "Extra problems", "slip": "Slips on air"}
    chapter = answer.claim.chapter
    return titles.get(answer.kind) or f"Chapter {chapter}: {chapters[chapter]}"


def _legend() -> str:
    return (
        "n: values checked, the deciding one shown. agrees: equal within the digits stated.\n"
        "rounds: within 10 % (25 % after ~, a factor 3 for an order). depends: right under an\n"
        "assumption that `ridgeline lecture ID` names. slip on air: not what comes out.\n"
        "statement: nothing to compute."
    )


def _tally(answers: Sequence[Any]) -> str:
    verdicts = [answer.verdict for answer in answers]
    counts = [f"{name} {verdicts.count(name)}" for name in dict.fromkeys(verdicts)]
    checks = sum(len(answer.values) for answer in answers)
    text = f"{len(answers)} claims, {checks} values: {', '.join(sorted(counts))}."
    return textwrap.fill(text, MAX_WIDTH)
