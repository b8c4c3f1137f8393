"""Predicted against published: errors, bias, band coverage, worst rows, by area and source."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ridgeline.validate.prediction import Answer, NotPredicted, Prediction
from ridgeline.validate.truth_rows import TruthRow

LOW, HIGH = 10.0, 90.0
"""Percentiles of a band."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One row with its prediction."""

    row: TruthRow
    prediction: Prediction

    @property
    def error(self) -> float:
        """(predicted - published) / published [1]."""
        return (self.prediction.value - self.row.value) / self.row.value

    @property
    def log_ratio(self) -> float:
        """ln(published / predicted)."""
        return math.log(self.row.value / self.prediction.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One family of rows, all together or of one source."""

    family: str
    file: str
    """Empty: every source."""
    scorable: str
    num_rows: int
    num_groups: int
    """Different (file, model, chip)."""
    median_error: float
    """Median over groups of the group's mean absolute error [1]."""
    row_median_error: float
    """Median over rows [1]."""
    p90_error: float
    """90th percentile over rows [1]."""
    bias: float
    """Median over groups of the mean signed error [1]."""
    coverage: float
    """Share of rows inside their 10-90 % band, averaged over groups [1]."""
    sampled_coverage: float | None
    """The same of the bands that `estimate` and `plan` print, from sampled figures; None where
    the quantity is not sampled."""
    bounds: Mapping[str, int]
    """Rows by binding limit."""
    worst: tuple[Scored, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything `validate` prints."""

    scores: tuple[Score, ...]
    by_source: tuple[Score, ...]
    not_predicted: Mapping[tuple[str, str], int]
    """(file, reason) to rows."""
    scored: tuple[Scored, ...]


def score(
    rows: Sequence[TruthRow],
    answers: Mapping[str, Answer],
    *,
    bands: Mapping[str, tuple[float, float]],
    held_out: frozenset[tuple[str, str]] = frozenset(),
    scorable: str = "YP",
) -> Report:
    """Return the report of rows and their answers.

    Args:
        rows: Published rows.
        answers: By row id.
        bands: Recorded 10th and 90th percentile of ln(published / predicted) by family.
        held_out: (file, id) of the rows that the bands were made from: each gets the band of the
            other (file, model, chip) groups of its family instead.
        scorable: Classes to score.
    """
    scored: list[Scored] = []
    left: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if row.scorable not in scorable:
            continue
        answer = answers[row.id]
        if isinstance(answer, NotPredicted):
            left[row.file, answer.reason] += 1
        elif not (math.isfinite(answer.value) and answer.value > 0 and row.value > 0):
            left[row.file, "the prediction or the row is not a positive number"] += 1
        else:
            scored.append(Scored(row=row, prediction=answer))
    inside = _inside(scored, bands, held_out)
    families: dict[tuple[str, str], list[int]] = defaultdict(list)
    sources: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for i, item in enumerate(scored):
        families[item.prediction.family, item.row.scorable].append(i)
        sources[item.prediction.family, item.row.file, item.row.scorable].append(i)
    return Report(
        scores=tuple(
            _score(f, "", s, [scored[i] for i in at], [inside[i] for i in at])
            for (f, s), at in sorted(families.items())
        ),
        by_source=tuple(
            _score(f, file, s, [scored[i] for i in at], [inside[i] for i in at])
            for (f, file, s), at in sorted(sources.items())
        ),
        not_predicted=dict(sorted(left.items())),
        scored=tuple(scored),
    )


def residual_bands(scored: Sequence[Scored]) -> dict[str, tuple[float, float]]:
    """Return the 10th and 90th percentile of ln(published / predicted) by family."""
    by_family: dict[str, list[Scored]] = defaultdict(list)
    for item in scored:
        by_family[item.prediction.family].append(item)
    return {family: _band(items) for family, items in sorted(by_family.items())}


def _band(items: Sequence[Scored]) -> tuple[float, float]:
    """Every group counts the same, however many rows it has."""
    groups = _by_group(items)
    ratios = np.array([x.log_ratio for g in groups for x in g])
    weights = np.array([1.0 / len(g) for g in groups for _ in g])
    order = np.argsort(ratios)
    share = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    low, high = np.interp([LOW / 100, HIGH / 100], share, ratios[order])
    # Few groups know little of the next one: a wider band, and never narrower than the noise
    # between two runs.
    middle, half = (low + high) / 2, max((high - low) / 2, _NOISE)
    half = half * (1.0 + _FEW / len(groups))
    return float(middle - half), float(middle + half)


def _by_group(items: Sequence[Scored]) -> list[list[Scored]]:
    groups: dict[tuple[str, str, str], list[Scored]] = defaultdict(list)
    for item in items:
        groups[item.row.group].append(item)
    return list(groups.values())


_FEW = 1.5
_NOISE = 0.05
"""Half-width of ln(published / predicted) between submitters of one configuration."""
_UNKNOWN_BAND = (math.log(0.5), math.log(2.0))
"""For a family without a band on record."""


def _inside(
    scored: Sequence[Scored],
    bands: Mapping[str, tuple[float, float]],
    held_out: frozenset[tuple[str, str]],
) -> list[bool]:
    """Return whether each row lies in its band."""
    known = [x for x in scored if (x.row.file, x.row.id) in held_out]
    by_family: dict[str, list[Scored]] = defaultdict(list)
    for item in known:
        by_family[item.prediction.family].append(item)
    left_out: dict[tuple[str, tuple[str, str, str]], tuple[float, float]] = {}
    for family, items in by_family.items():
        for group in {x.row.group for x in items}:
            rest = [x for x in items if x.row.group != group]
            left_out[family, group] = _band(rest) if rest else _UNKNOWN_BAND
    result: list[bool] = []
    for item in scored:
        family = item.prediction.family
        if (item.row.file, item.row.id) in held_out:
            low, high = left_out[family, item.row.group]
        else:
            low, high = bands.get(family, _UNKNOWN_BAND)
        result.append(low <= item.log_ratio <= high)
    return result


def _coverage(items: list[Scored], inside: list[bool]) -> float:
    groups: dict[tuple[str, str, str], list[bool]] = defaultdict(list)
    for item, hit in zip(items, inside, strict=True):
        groups[item.row.group].append(hit)
    return float(np.mean([np.mean(hits) for hits in groups.values()]))


def _sampled_coverage(items: list[Scored]) -> float | None:
    inside: list[bool] = []
    known: list[Scored] = []
    for item in items:
        low, high = item.prediction.p10, item.prediction.p90
        if low is not None and high is not None:
            known.append(item)
            inside.append(low <= item.row.value <= high)
    return _coverage(known, inside) if known else None


def _score(family: str, file: str, scorable: str, items: list[Scored], inside: list[bool]) -> Score:
    groups = _by_group(items)
    errors = np.abs([x.error for x in items])
    means = [float(np.mean(np.abs([x.error for x in g]))) for g in groups]
    signed = [float(np.mean([x.error for x in g])) for g in groups]
    worst = sorted(items, key=lambda x: -abs(x.log_ratio))[:3]
    return Score(
        family=family,
        file=file,
        scorable=scorable,
        num_rows=len(items),
        num_groups=len(groups),
        median_error=float(np.median(means)),
        row_median_error=float(np.median(errors)),
        p90_error=float(np.percentile(errors, HIGH)),
        bias=float(np.median(signed)),
        coverage=_coverage(items, inside),
        sampled_coverage=_sampled_coverage(items),
        bounds=dict(Counter(x.prediction.bound for x in items).most_common()),
        worst=tuple(worst),
    )
