"""Fit what engines add to the kernels of a step, from published closed-loop runs.

python dev/fit_engines.py DIR            print the fit and the errors of groups left out

DIR holds CSV files of published measurements. Every median TPOT at fixed concurrency without
speculation is one equation,

    tpot = share · experts + other kernels + messages + prompts
           + layers · (layer[engine, vendor] + older[generation]) + B · sequence[engine, vendor]

solved with non-negative unknowns by iterated least squares on relative errors (close to the
median), every (model, chip, format) with the same weight. The share is one number for all; on
pairs left out it buys nothing, so cost/engine_fits.py has that of 1.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np

from ridgeline.cost.engines import EngineProfile
from ridgeline.phase.closed_loop import closed_loop
from ridgeline.phase.deployment import step_breakdown
from ridgeline.validate.predict_serving import settings_of
from ridgeline.validate.set_up import SetUp, engine_of, set_up
from ridgeline.validate.truth_rows import TruthRow, read_directory

Array = np.ndarray
PER_SEQUENCE = ("nvidia",)
"""Vendors with host time per sequence; elsewhere it buys nothing on pairs left out."""
OLDER = ("hopper", "cdna3")
"""Generations with small kernels of their own; the newest of each vendor is the base."""


def is_equation(row: TruthRow) -> bool:
    """Whether a row is a step time at fixed concurrency."""
    return (
        row.area == "serving_concurrency"
        and row.scorable in "YP"
        and row.metric == "median_tpot"
        and row.text("disagg") != "True"
        and row.text("spec") == "none"
    )


def equations(directory: Path) -> list[dict[str, object]]:
    """Return the known parts of every equation."""
    batches: dict[int, list[tuple[TruthRow, SetUp]]] = defaultdict(list)
    for row in read_directory(directory):
        if is_equation(row):
            found = set_up(row)
            batches[id(found)].append((row, found))
    result: list[dict[str, object]] = []
    for pairs in batches.values():
        result += _equations([r for r, _ in pairs], pairs[0][1])
    return result


def without_fitted(engine: EngineProfile) -> EngineProfile:
    """Return an engine without the figures that this fit finds."""
    return replace(engine, layer_s=0.0, sequence_s=0.0, expert_layer_s=0.0, older_layer_s={})


def _equations(rows: list[TruthRow], found: SetUp) -> list[dict[str, object]]:
    engine = found.deployment.engine
    bare = None if engine is None else without_fitted(engine)
    deployment = replace(found.deployment, engine=bare)
    c, isl, osl = (
        np.array([r.number(k) or 1.0 for r in rows])
        for k in ("concurrency", "eff_input_len", "eff_output_len")
    )
    runs = [settings_of(r, found) for r in rows]
    loop = closed_loop(
        deployment,
        concurrency=c,
        isl=isl,
        osl=osl,
        scheduling="mixed" if engine is None else engine.scheduling,
        poll_steps=np.array([x.poll_steps for x in runs]),
        gather_steps=max(x.gather_steps for x in runs),
    )
    batch = np.maximum(loop.decoding, 1.0)
    step = step_breakdown(deployment, phase="decode", batch=batch, context=isl + osl / 2)
    experts = sum(
        np.asarray(p.time_s) - np.asarray(p.launch_s)
        for p in step.parts
        if p.operation.family == "expert_gemm"
    ) * np.ones_like(c)
    device = deployment.cluster.device
    groups = float(np.max(deployment.layout.dp)) if deployment.layout else 1.0
    return [
        {
            "true": row.value / 1e3,
            "experts": experts[i],
            "rest": loop.tpot_s[i] - experts[i],
            "layers": float(deployment.architecture.num_layers),
            "sequences": batch[i] / groups,
            "engine": engine_of(row.engine),
            "vendor": device.vendor.lower(),
            "generation": device.generation,
            "model": row.model,
            "chip": row.chip,
            "format": row.text("w_dtype"),
        }
        for i, row in enumerate(rows)
    ]


def matrix(rows: list[dict[str, object]]) -> tuple[list[tuple[str, ...]], Array]:
    """Return the names of the unknowns and their relative coefficients [rows, unknowns]."""
    pairs = sorted({(str(r["engine"]), str(r["vendor"])) for r in rows})
    names = [("layer", *p) for p in pairs]
    names += [("sequence", *p) for p in pairs if p[1] in PER_SEQUENCE]
    names += [("older", g) for g in OLDER]
    columns = []
    for name in names:
        match name:
            case ("layer", engine, vendor):
                cells = [
                    r["layers"] * (r["engine"] == engine and r["vendor"] == vendor) for r in rows
                ]
            case ("sequence", engine, vendor):
                cells = [
                    r["sequences"] * (r["engine"] == engine and r["vendor"] == vendor) for r in rows
                ]
            case (_, generation):
                cells = [r["layers"] * (r["generation"] == generation) for r in rows]
        columns.append(cells)
    true = np.array([r["true"] for r in rows])
    return names, 1e-6 * np.array(columns, dtype=float).T / true[:, None]


def non_negative(a: Array, b: Array) -> Array:
    """Return the non-negative least-squares solution by coordinate descent."""
    x = np.zeros(a.shape[1])
    gram, target = a.T @ a, a.T @ b
    for _ in range(3000):
        for j in range(len(x)):
            if gram[j, j] > 0:
                x[j] = max(0.0, x[j] + (target[j] - gram[j] @ x) / gram[j, j])
    return x


def solve(a: Array, b: Array, weights: Array) -> Array:
    """Return unknowns that make relative errors small, few of them large."""
    x = non_negative(a * weights[:, None], b * weights)
    for _ in range(8):
        w = weights / np.sqrt(np.maximum(np.abs(a @ x - b), 0.02))
        x = non_negative(a * w[:, None], b * w)
    return x


def main() -> None:
    """Print the fit."""
    rows = equations(Path(sys.argv[1]))
    names, a = matrix(rows)
    true = np.array([r["true"] for r in rows], dtype=float)
    experts = np.array([r["experts"] for r in rows], dtype=float) / true
    rest = np.array([r["rest"] for r in rows], dtype=float) / true
    group = np.array([f"{r['model']}|{r['chip']}|{r['format']}" for r in rows])
    pair = np.array([f"{r['model']}|{r['chip']}" for r in rows])
    sizes = {g: np.sum(group == g) for g in set(group)}
    weights = np.array([1 / np.sqrt(sizes[g]) for g in group])
    for share in (0.7, 0.75, 0.8, 0.85, 0.9, 1.0):
        b = 1 - share * experts - rest
        x = solve(a, b, weights)
        inside = np.abs(a @ x - b)
        held = np.zeros(len(rows))
        for name in sorted(set(pair)):
            out = pair == name
            held[out] = a[out] @ solve(a[~out], b[~out], weights[~out]) - b[out]
        errors = [np.mean(np.abs(held[pair == p])) for p in sorted(set(pair))]
        print(
            f"share {share:.2f}: fitted {np.median(inside):.3f}, held out"
            f" {np.median(np.abs(held)):.3f}, by (model, chip) {np.median(errors):.3f}"
        )
        engines = np.array([f"{r['engine']}|{r['vendor']}" for r in rows])
        for name, value in zip(names, x, strict=True):
            at = engines == "|".join(name[1:])
            error = f"  held out {100 * np.median(np.abs(held[at])):.1f} %" if at.any() else ""
            print(f"   {'/'.join(name):28} {value:7.2f} us{error}")


if __name__ == "__main__":
    main()
