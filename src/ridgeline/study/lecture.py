"""Every claim of the lecture recomputed: what is stated, what comes out, and the verdict."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ridgeline.errors import UnknownNameError
from ridgeline.study.lecture_claims import (
    cards,
    chapter1_formulas,
    chapter1_numbers,
    chapter2,
    chapter3,
    chapter4,
    chapter5,
    chapter6_formulas,
    chapter6_numbers,
    chapter7,
    problems,
    slips,
)
from ridgeline.study.lecture_claims.record import Check, Claim, Verdict, overall, verdict

CHAPTERS = {
    1: "How batch size sets the cost and speed of a token",
    2: "How mixture-of-experts models lie across racks",
    3: "How pipeline parallelism moves layers across racks",
    4: "Why pipelining is not wise for decoding",
    5: "Reinforcement learning and over-training",
    6: "What API prices say about the memory of long contexts",
    7: "Neural nets and cryptography",
}
KINDS = {
    "F": "formula",
    "N": "number",
    "Q": "picture",
    "K": "flashcard",
    "P": "problem",
    "E": "slip",
}
_MODULES = (
    chapter1_formulas,
    chapter1_numbers,
    chapter2,
    chapter3,
    chapter4,
    chapter5,
    chapter6_formulas,
    chapter6_numbers,
    chapter7,
    cards,
    problems,
    slips,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One check after it was run."""

    check: Check
    computed: float
    """In the unit of the check."""
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One claim after its checks were run."""

    claim: Claim
    kind: str
    values: tuple[Value, ...]
    verdict: Verdict

    @property
    def deciding(self) -> Value | None:
        """The value that stands for the claim: the first with its verdict, else the first."""
        same = (value for value in self.values if value.verdict == self.verdict)
        return next(same, self.values[0] if self.values else None)


def all_claims() -> tuple[Claim, ...]:
    """Return every claim by chapter, formulas, numbers and pictures first; then cards and so on."""
    claims = [claim for module in _MODULES for claim in module.CLAIMS]
    return tuple(sorted(claims, key=lambda claim: _order(claim.id)))


def lecture(which: str | None = None) -> tuple[Answer, ...]:
    """Return the answers of a chapter (`1`, `C1`), a kind (`cards`) or one claim (`C1-N7`).

    Raises:
        UnknownNameError: nothing of that name.
    """
    return tuple(answer(claim) for claim in _select(all_claims(), which))


def answer(claim: Claim) -> Answer:
    """Return a claim with its checks run and judged."""
    values = tuple(_run(check) for check in claim.checks)
    return Answer(
        claim=claim,
        kind=KINDS[_letter(claim.id)],
        values=values,
        verdict=overall(claim, [value.verdict for value in values]),
    )


def _run(check: Check) -> Value:
    computed = check.computed()
    return Value(check=check, computed=computed, verdict=verdict(check.stated, computed))


def _select(claims: tuple[Claim, ...], which: str | None) -> list[Claim]:
    if which is None:
        return list(claims)
    name = which.strip().upper()
    kinds = {"CARDS": "K", "PROBLEMS": "P", "SLIPS": "E"} | {letter: letter for letter in "KPE"}
    chapter = name.removeprefix("C")
    if chapter.isdecimal() and int(chapter) in CHAPTERS:
        return [claim for claim in claims if claim.chapter == int(chapter)]
    if name in kinds:
        return [claim for claim in claims if claim.id.startswith(kinds[name])]
    found = [claim for claim in claims if claim.id == name]
    if not found:
        known = [claim.id for claim in claims] + [str(number) for number in CHAPTERS]
        raise UnknownNameError("claim", which, known, list_command="ridgeline lecture")
    return found


def _letter(name: str) -> str:
    return name[3] if name.startswith("C") else name[0]


def _order(name: str) -> tuple[int, int, int]:
    chapter = int(name[1]) if name.startswith("C") else 9
    number = re.sub(r"^(C\d-)?\w", "", name)
    return chapter, list(KINDS).index(_letter(name)), int(number)
