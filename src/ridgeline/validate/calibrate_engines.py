"""Times of an engine on a user's device, from the serving results that `explain` reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ridgeline.cost.own_curves import Calibration, OwnEngine, with_engine
from ridgeline.model.layout_rules import expert_counts
from ridgeline.phase.closed_loop import closed_loop
from ridgeline.phase.deployment import Deployment
from ridgeline.readers.benchmarks import Measured
from ridgeline.study.deploy import deploy
from ridgeline.study.explain import question_of
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
class _Loops:
    """Runs of one deployment, solved together."""

    deployment: Deployment
    runs: tuple[Run, ...]
    files: tuple[str, ...]
    tool: str

    def tpot_s(self, calibration: Calibration) -> Array:
        """Return the predicted time per output token of every run [s]."""
        device = self.deployment.cluster.device.id
        engine = with_engine(self.deployment.engine, calibration, device)
        assert engine is not None  # noqa: S101  runs without an engine were refused
        loop = closed_loop(
            replace(self.deployment, engine=engine),
            concurrency=np.array([r.concurrency for r in self.runs]),
            isl=np.array([r.isl for r in self.runs]),
            osl=np.array([r.osl for r in self.runs]),
            budget=float(engine.chunk_tokens),
            scheduling=engine.scheduling,
            tokens_per_step=self.runs[0].tokens_per_step,
        )
        return loop.tpot_s


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
    refused: list[Refusal] = []
    together: dict[str, list[tuple[Result, Run]]] = defaultdict(list)
    questions: dict[str, dict[str, Any]] = {}
    for result in results:
        run = complete(result.measured)
        if run.kind == "prefill":
            refused.append(
                Refusal(what=result.file, reason="a run that only prefills has no decode step")
            )
            continue
        question = question_of(result.measured, **facts, calibration=own)
        key = f"{run.tokens_per_step} {question}"
        questions[key] = question
        together[key].append((result, run))
    groups: dict[tuple[str, str], list[_Loops]] = defaultdict(list)
    for key, pairs in together.items():
        deployment = deploy(**questions[key])
        files = tuple(r.file for r, _ in pairs)
        if deployment.engine is None:
            reason = "no engine is named: give --engine"
            refused.append(Refusal(what=", ".join(files)[:80], reason=reason))
            continue
        groups[deployment.engine.name, deployment.cluster.device.id].append(
            _Loops(
                deployment=deployment,
                runs=tuple(run for _, run in pairs),
                files=files,
                tool=pairs[0][0].measured.tool,
            )
        )
    records: list[FittedRecord] = []
    for (engine, device), loops in sorted(groups.items()):
        found = _fit(engine, device, loops)
        if isinstance(found, Refusal):
            refused.append(found)
        else:
            records.append(found)
    return records, refused


def _fit(engine: str, device: str, loops: list[_Loops]) -> FittedRecord | Refusal:
    measured = np.log([run.tpot_s for x in loops for run in x.runs])
    profile = loops[0].deployment.engine
    assert profile is not None  # noqa: S101  runs without an engine were refused
    layer = profile.layer_s
    if expert_counts(loops[0].deployment.architecture):
        generation = loops[0].deployment.cluster.device.generation
        layer += profile.expert_layer_s + profile.older_layer_s.get(generation, 0.0)
    shipped = {"layer_s": layer, "sequence_s": profile.sequence_s}
    start = {"layer_s": max(layer, 1e-6), "sequence_s": max(profile.sequence_s, 1e-7)}

    def logs(calibration: Calibration) -> Array:
        predicted = np.concatenate([x.tpot_s(calibration) for x in loops])
        return np.asarray(measured - np.log(predicted))

    def residual(figures: Figures) -> Array:
        own = OwnEngine(engine=engine, device=device, **dict(figures))
        return logs(Calibration(engines=(own,)))

    fitted = robust_fit(residual, start, BOUNDS)
    found = judged(engine, device, fitted, logs(Calibration()))
    if isinstance(found, Refusal) or fitted is None:
        return cast("Refusal", found)
    return replace(
        found,
        record=OwnEngine(engine=engine, device=device, **{**shipped, **fitted.figures}),
        shipped=shipped,
        kept=tuple(n for n in start if n not in fitted.figures),
        source=", ".join(sorted({f for x in loops for f in x.files}))[:200],
        software=f"{engine}, results of {loops[0].tool}",
    )
