"""Which predictor answers which area; what none answers is listed with the reason."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence

from ridgeline.validate.predict_collectives import predict_collectives
from ridgeline.validate.predict_kernels import predict_kernels
from ridgeline.validate.predict_layer import predict_layer
from ridgeline.validate.predict_offline import predict_offline
from ridgeline.validate.predict_serving import predict_serving
from ridgeline.validate.predict_steps import predict_steps
from ridgeline.validate.predict_wide_ep import predict_capacity, predict_wide_ep
from ridgeline.validate.prediction import Answer, NotPredicted, Predictor
from ridgeline.validate.truth_rows import TruthRow

_COLLECTIVE = re.compile(
    r"all_?reduce|all_gather|reduce_scatter|all_to_all|send_recv|busbw|^(dispatch|combine)_"
)
_LATER = {
    "train": "training: not predicted yet",
    "pipeline": "pipeline schedules: not predicted yet",
    "serving_trace": "needs the replay of a trace: not predicted yet",
    "spec_decode": "acceptance of drafts is an input, not a prediction",
    "cost_chain": "arithmetic of a published day, checked by `ridgeline prices`",
}


def predict(rows: Sequence[TruthRow]) -> dict[str, Answer]:
    """Return a prediction or a reason for every row, by id within its file."""
    batches: dict[Predictor, list[TruthRow]] = defaultdict(list)
    answers: dict[str, Answer] = {}
    for row in rows:
        predictor = predictor_of(row)
        if isinstance(predictor, NotPredicted):
            answers[row.id] = predictor
        else:
            batches[predictor].append(row)
    for predictor, batch in batches.items():
        answers.update({k: _sensible(a) for k, a in _safely(predictor, batch).items()})
    return answers


def _sensible(answer: Answer) -> Answer:
    """Return an answer, or the reason where a row's figures give no positive number."""
    if isinstance(answer, NotPredicted) or 0 < answer.value < math.inf:
        return answer
    return NotPredicted(reason=f"the row's figures give {answer.value:g}: one is out of range")


def _safely(predictor: Predictor, rows: Sequence[TruthRow]) -> dict[str, Answer]:
    """Return a predictor's answers; rows of unforeseen shape are named instead of stopping all."""
    try:
        return predictor(rows)
    except Exception as error:  # noqa: BLE001 - rows come from files that nobody has seen
        if len(rows) == 1:
            name = type(error).__name__
            return {rows[0].id: NotPredicted(reason=f"row could not be set up: {name}: {error}")}
    half = len(rows) // 2
    return {**_safely(predictor, rows[:half]), **_safely(predictor, rows[half:])}


_BY_AREA: tuple[tuple[str, Predictor], ...] = (
    (r"(kernel|collective)s?", predict_kernels),
    (r".*offline.*", predict_offline),
    (r".*wide_ep.*", predict_wide_ep),
    (r"serving.*", predict_serving),
)
_BY_PHASE: dict[str, Predictor] = {
    "capacity": predict_capacity,
    "serving": predict_serving,
    "decode": predict_steps,
    "prefill": predict_steps,
}


def predictor_of(row: TruthRow) -> Predictor | NotPredicted:
    """Return the predictor of a row, or why it has none."""
    area = row.area.lower()
    for word, reason in _LATER.items():
        if area.startswith(word):
            return NotPredicted(reason=reason)
    if re.match(r"op_latency:|layer_latency", row.metric):
        return predict_layer
    for pattern, predictor in _BY_AREA:
        if re.fullmatch(pattern, area):
            collective = predictor is predict_kernels and _COLLECTIVE.search(row.metric)
            return predict_collectives if collective else predictor
    found = _BY_PHASE.get(row.phase)
    if found is not None:
        return found
    return NotPredicted(
        reason=f"area `{row.area}`, phase `{row.phase}`: unknown, not predicted yet"
    )
