"""Error of engine figures on rows they were not fitted to.

python dev/held_out_engines.py DIR       print a table

DIR holds CSV files of published measurements. dev/fit_engines.py leaves out (model, chip) pairs
for the figures it finds; here follow those that come from a few rows: every figure, or pair of
figures, is chosen anew on a grid with one group left out, by the mean error of the others, and
scored on the group left out.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ridgeline.cost import engines, engines_local
from ridgeline.validate import set_up as setting
from ridgeline.validate.predict import predict
from ridgeline.validate.prediction import Prediction
from ridgeline.validate.truth_rows import TruthRow, read_directory

Setter = Callable[[Sequence[float]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One figure of an engine, or several that must be chosen together."""

    name: str
    shipped: tuple[float, ...]
    grid: tuple[tuple[float, ...], ...]
    """Candidates of each."""
    set_to: Setter
    wanted: Callable[[TruthRow], bool]
    group: Callable[[TruthRow], str]
    left_out: str
    """What a group is, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """What leaving out every group in turn gives."""

    figures: Figures
    num_rows: int
    num_groups: int
    shipped_error: float
    """Median over groups of the mean error with the shipped figures [1]."""
    held_out_error: float
    """The same with figures chosen without the group [1]."""
    chosen: tuple[tuple[float, ...], ...]
    """By group left out."""


def _profile(engine: str, vendor: str, *names: str) -> Setter:
    def set_to(values: Sequence[float]) -> None:
        old = engines.PROFILES[engine, vendor]
        changed = dict(zip(names, values, strict=True))
        engines.PROFILES[engine, vendor] = replace(old, **changed)  # type: ignore[index]

    return set_to


def _profiles(name: str) -> Setter:
    def set_to(values: Sequence[float]) -> None:
        for (engine, vendor), profile in list(engines.PROFILES.items()):
            if getattr(profile, name):
                _profile(engine, vendor, name)(values)

    return set_to


def _local(*names: str, **profiles: str) -> Setter:
    """Set constants of engines_local, then fields of llama.cpp profiles, in this order."""

    def set_to(values: Sequence[float]) -> None:
        for name, value in zip(names, values, strict=False):
            setattr(engines_local, name, value)
        for (engine, field), value in zip(profiles.items(), values[len(names) :], strict=True):
            _profile(engine.replace("_", "-"), "*", field)([value])

    return set_to


def _is(file: str, phase: str) -> Callable[[TruthRow], bool]:
    return lambda row: row.file == file and row.phase == phase and row.scorable == "Y"


def _ttft(row: TruthRow) -> bool:
    return row.metric == "median_ttft" and row.file.startswith("inferencex")


def _trtllm(row: TruthRow) -> bool:
    serving = row.metric == "median_tpot" and row.text("disagg") != "True"
    plain = row.text("spec") == "none" and row.scorable in "YP"
    return serving and plain and setting.engine_of(row.engine) == "trtllm"


def _pair(row: TruthRow) -> str:
    return f"{row.model}|{row.chip}"


CASES = (
    Figures(
        name="llama.cpp of 2024: per layer, share streamed, that of HBM",
        shipped=(0.95, 0.5, 94e-6),
        grid=((0.85, 0.9, 0.95, 1.0), (0.4, 0.5, 0.6), (50e-6, 70e-6, 94e-6, 120e-6)),
        set_to=_local("STREAM_SHARE", "HBM_STREAM_SHARE", llamacpp_2024="layer_s"),
        wanted=_is("local_llamacpp_gpus_llama3", "decode"),
        group=lambda row: row.chip,
        left_out="chip",
    ),
    Figures(
        name="llama.cpp: share of the peak in prompts",
        shipped=(0.40,),
        grid=((0.3, 0.35, 0.4, 0.45, 0.5),),
        set_to=_local("_PROMPT_SHARE"),
        wanted=_is("local_llamacpp_gpus_llama3", "prefill"),
        group=lambda row: row.chip,
        left_out="chip",
    ),
    Figures(
        name="llama.cpp: per layer, per layer with experts",
        shipped=(42e-6, 50e-6),
        grid=((0.0, 20e-6, 42e-6, 60e-6, 90e-6), (0.0, 25e-6, 50e-6, 75e-6, 100e-6)),
        set_to=_profile("llamacpp", "*", "layer_s", "expert_layer_s"),
        wanted=_is("local_llamacpp_dgx_spark", "decode"),
        group=lambda row: row.model,
        left_out="model",
    ),
    Figures(
        name="llama.cpp: share of the peak in experts' prompts",
        shipped=(0.16,),
        grid=((0.1, 0.13, 0.16, 0.2, 0.25),),
        set_to=_local("_EXPERTS"),
        wanted=_is("local_llamacpp_dgx_spark", "prefill"),
        group=lambda row: row.model,
        left_out="model",
    ),
    Figures(
        name="vLLM 0.2: launches per layer, stretch of kernels",
        shipped=(540e-6, 1.2),
        grid=((400e-6, 470e-6, 540e-6, 600e-6), (1.0, 1.1, 1.2, 1.3)),
        set_to=_profile("vllm-0.2", "*", "eager_layer_s", "busy_share"),
        wanted=_is("serving_splitwise_a100_h100", "decode"),
        group=lambda row: row.text("batch"),
        left_out="batch",
    ),
    Figures(
        name="TensorRT-LLM: launches per layer of steps with prompts",
        shipped=(0.7e-3,),
        grid=((0.0, 0.3e-3, 0.5e-3, 0.7e-3, 0.9e-3),),
        set_to=_profile("trtllm", "nvidia", "prompt_layer_s"),
        wanted=_trtllm,
        group=_pair,
        left_out="(model, chip)",
    ),
    Figures(
        name="TensorRT-LLM: host per sequence",
        shipped=(15e-6,),
        grid=((0.0, 5e-6, 10e-6, 15e-6, 20e-6, 25e-6, 30e-6),),
        set_to=_profile("trtllm", "nvidia", "hidden_sequence_s"),
        wanted=lambda row: row.file == "serving_trtllm_offline" and "Qwen3-30B" in row.model,
        group=lambda row: row.chip,
        left_out="chip",
    ),
    Figures(
        name="first token: host and connection",
        shipped=(80e-3,),
        grid=((40e-3, 60e-3, 70e-3, 80e-3, 90e-3, 100e-3, 120e-3),),
        set_to=_profiles("first_token_s"),
        wanted=_ttft,
        group=lambda row: row.chip,
        left_out="chip",
    ),
)


@contextmanager
def _as_it_was() -> Iterator[None]:
    profiles = dict(engines.PROFILES)
    constants = dict(vars(engines_local))
    try:
        yield
    finally:
        engines.PROFILES.update(profiles)  # type: ignore[attr-defined]
        vars(engines_local).update(constants)
        setting._set_up.cache_clear()  # noqa: SLF001  deployments hold engines


def _errors(
    case: Figures, values: Sequence[float], rows: Sequence[TruthRow]
) -> dict[str, list[float]]:
    """Return the errors of every group."""
    case.set_to(values)
    setting._set_up.cache_clear()  # noqa: SLF001  deployments hold engines
    answers = predict(rows)
    groups: dict[str, list[float]] = {}
    for row in rows:
        answer = answers[row.id]
        if isinstance(answer, Prediction):
            groups.setdefault(case.group(row), []).append(abs(answer.value / row.value - 1))
    return groups


def held_out(case: Figures, rows: Sequence[TruthRow]) -> HeldOut:
    """Return the errors of one case."""
    mine = [replace(r, id=f"{r.file}/{r.id}") for r in rows if case.wanted(r)]
    with _as_it_was():
        shipped = _errors(case, case.shipped, mine)
        tried = {values: _errors(case, values, mine) for values in itertools.product(*case.grid)}
    table = {v: {g: float(np.mean(e)) for g, e in groups.items()} for v, groups in tried.items()}
    errors, chosen = [], []
    for name in sorted(shipped):
        best = min(table, key=lambda v: np.mean([e for g, e in table[v].items() if g != name]))
        errors.append(table[best][name])
        chosen.append(best)
    return HeldOut(
        figures=case,
        num_rows=sum(len(e) for e in shipped.values()),
        num_groups=len(shipped),
        shipped_error=float(np.median([np.mean(e) for e in shipped.values()])),
        held_out_error=float(np.median(errors)),
        chosen=tuple(chosen),
    )


def main() -> None:
    """Print every case."""
    rows = read_directory(Path(sys.argv[1]))
    for case in CASES:
        found = held_out(case, rows)
        print(
            f"{case.name}: {found.num_rows} rows, {found.num_groups} x {case.left_out};"
            f" shipped {100 * found.shipped_error:.1f} %, held out"
            f" {100 * found.held_out_error:.1f} %; chosen {sorted(set(found.chosen))}"
        )


if __name__ == "__main__":
    main()
