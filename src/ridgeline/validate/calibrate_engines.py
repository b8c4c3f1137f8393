"""Times of an engine on a user's device, from the serving results that `explain` reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ridgeline.cost.own_curves import Calibration, OwnEngine, with_engine
from ridgeline.phase.deployment import Deployment
from ridgeline.readers.benchmarks import Measured
from ridgeline.study.deploy import deploy
from ridgeline.study.explain import question_of
from ridgeline.study.explain_changes import answer
from ridgeline.study.explain_run import Run, complete
from ridgeline.validate.fitted_record import FittedRecord, Refusal, judged
from ridgeline.validate.robust_fit import Array, Figures, robust_fit

BOUNDS = {"layer_s": (1e-8, 2e-3), "sequence_s": (1e-9, 1e-3)}
"""From nothing to the slowest eager engine, half a millisecond of host time per layer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One run of a benchmark tool, and the file it came from."""

    file: str
    measured: Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class _Equation:
    result: Result
    run: Run
    deployment: Deployment

    def tpot_s(self, calibration: Calibration) -> float:
        device = self.deployment.cluster.device.id
        engine = with_engine(self.deployment.engine, calibration, device)
        return answer(replace(self.deployment, engine=engine), self.run).tpot_s


def calibrate_engines(
    results: Sequence[Result], facts: Mapping[str, Any], own: Calibration
) -> tuple[list[FittedRecord], list[Refusal]]:
    """Return one record per engine and device, and what could not be fitted.

    Every time per output token is one equation; kernels and messages are priced as shipped, or by
    the records just fitted.

    Args:
        results: Runs with a time per output token.
        facts: Arguments of `question_of` that the files do not state: model, on, tp ...
        own: Kernels and links of the same user.

    Raises:
        InputError: a fact is missing that no file states.
    """
    groups: dict[tuple[str, str], list[_Equation]] = defaultdict(list)
    refused: list[Refusal] = []
    for result in results:
        run = complete(result.measured)
        if run.kind == "prefill":
            refused.append(
                Refusal(what=result.file, reason="a run that only prefills has no decode step")
            )
            continue
        deployment = deploy(**question_of(result.measured, **facts, calibration=own))
        if deployment.engine is None:
            refused.append(Refusal(what=result.file, reason="no engine is named: give --engine"))
            continue
        key = (deployment.engine.name, deployment.cluster.device.id)
        groups[key].append(_Equation(result=result, run=run, deployment=deployment))
    records: list[FittedRecord] = []
    for (engine, device), equations in sorted(groups.items()):
        found = _fit(engine, device, equations)
        if isinstance(found, Refusal):
            refused.append(found)
        else:
            records.append(found)
    return records, refused


def _fit(engine: str, device: str, equations: list[_Equation]) -> FittedRecord | Refusal:
    measured = np.log([e.run.tpot_s for e in equations])
    profile = equations[0].deployment.engine
    assert profile is not None  # noqa: S101  runs without an engine were refused
    generation = equations[0].deployment.cluster.device.generation
    layer = profile.layer_s + profile.expert_layer_s + profile.older_layer_s.get(generation, 0.0)
    shipped = {"layer_s": layer, "sequence_s": profile.sequence_s}
    start = {"layer_s": max(layer, 1e-6), "sequence_s": max(profile.sequence_s, 1e-7)}

    def residual(figures: Figures) -> Array:
        own = OwnEngine(engine=engine, device=device, **dict(figures))
        calibration = Calibration(engines=(own,))
        return np.asarray(measured - np.log([e.tpot_s(calibration) for e in equations]))

    before = np.asarray(measured - np.log([e.tpot_s(Calibration()) for e in equations]))
    fitted = robust_fit(residual, start, BOUNDS)
    found = judged(engine, device, fitted, before)
    if isinstance(found, Refusal) or fitted is None:
        return cast("Refusal", found)
    return replace(
        found,
        record=OwnEngine(engine=engine, device=device, **{**shipped, **fitted.figures}),
        shipped=shipped,
        kept=tuple(n for n in start if n not in fitted.figures),
        source=", ".join(sorted({e.result.file for e in equations}))[:200],
        software=f"{engine}, results of {equations[0].result.measured.tool}",
    )
