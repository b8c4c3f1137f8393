"""Fit the efficiency of kernels to measurements; report errors; write the records.

    AICONFIGURATOR_DATA=.../systems/data \
        uv run --with pyarrow --with pandas --with scipy python dev/fit_kernels.py [--write]

AICONFIGURATOR_DATA is `aiconfigurator_core/systems/data` of the unpacked PyPI wheel
aiconfigurator-core 0.12.0 (Apache-2.0). What is fitted is `operation_time` itself, on operations
built as a model's would be; `ridgeline validate` scores the records on rows that are not fitted.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from kernel_rows import Group, groups
from scipy.optimize import least_squares

from ridgeline.cost.efficiency import Curve
from ridgeline.cost.roofline import operation_bytes, operation_time
from ridgeline.model.work import Operation

OUT = Path(__file__).parent.parent / "src/ridgeline/cost/efficiency_fits.py"

_COMMON = ("launch_s", "compute_share", "bandwidth_share", "unhidden", "tail_tiles")
PARAMETERS = {
    "gemm": _COMMON,
    "attention_prefill": (*_COMMON, "softmax_width"),
    "latent_attention_prefill": _COMMON,
    "attention_decode": ("launch_s", "bandwidth_share", "page_tokens", "ramp_s"),
    "latent_attention_decode": (
        "launch_s",
        "compute_share",
        "bandwidth_share",
        "unhidden",
        "page_tokens",
    ),
    "expert_gemm": (*_COMMON, "row_tile"),
    "elementwise": ("launch_s", "bandwidth_share"),
    "recurrence_decode": ("launch_s", "bandwidth_share"),
}
QUANTIZED = ("fp8", "fp8_block", "fp4", "w4a8")
"""Forms whose activations are 16 bits before the kernel: a pass over them is fitted too."""
ORDER = tuple(f for f in Curve.__dataclass_fields__ if f not in ("spread", "block_rows", "cores"))
START = {
    "launch_s": 8e-6,
    "compute_share": 0.65,
    "bandwidth_share": 0.75,
    "unhidden": 0.3,
    "tail_tiles": 20.0,
    "row_tile": 64.0,
    "quantize_passes": 1.0,
    "page_tokens": 30.0,
    "softmax_width": 40.0,
    "ramp_s": 5e-6,
}
LOW = {
    "launch_s": 3e-7,
    "ramp_s": 1e-8,
    "compute_share": 0.02,
    "bandwidth_share": 0.02,
    "row_tile": 1.0,
}
HIGH = {
    "launch_s": 3e-4,
    "compute_share": 1.0,
    "bandwidth_share": 0.93,  # refresh and row misses leave no DRAM more than that
    "unhidden": 1.0,
    "tail_tiles": 1000.0,
    "row_tile": 256.0,
    "quantize_passes": 8.0,
    "page_tokens": 2000.0,
    "softmax_width": 300.0,
    "ramp_s": 3e-5,  # the time of a block or two
}
MOST_P90 = 0.8
"""An engine whose own fit still fails worse than this shares the pooled one."""
BIG_CACHE = ("ada", "blackwell_rtx")
"""Replays find weights in a last-level cache that takes 100 µs to stream: a share of the bytes
of rows that fit in it is fitted as resident, and not kept: a model's weights come from memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One fitted curve and how well it does."""

    kind: str
    form: str
    generation: str
    curve: Curve
    resident: float
    rows: int
    median: float
    p90: float
    bias: float
    spread: float
    held_out: float
    """Median error on the systems of the generation that a fit without them never saw; nan."""


def seconds(group: Group, curve: Curve, resident: float) -> np.ndarray:
    """Return predicted seconds of the rows of a group."""
    total = np.zeros(len(group.seconds))
    for operation in group.operations:
        fit = (
            ELEMENTWISE
            if operation.family == "elementwise" and group.kind != "elementwise"
            else curve
        )
        total = total + operation_time(_warm(operation, group, resident), group.device, fit).time_s
    return total


def _warm(operation: Operation, group: Group, resident: float) -> Operation:
    if not resident:
        return operation
    cached = np.less(operation_bytes(operation), 0.8 * (group.device.cache_bytes or 0.0))
    left = 1.0 - resident * cached
    return replace(
        operation,
        weight_bytes=operation.weight_bytes * left,
        state_read_bytes=operation.state_read_bytes * left,
        activation_bytes=operation.activation_bytes * left,
    )


ELEMENTWISE = Curve(launch_s=2e-6, bandwidth_share=0.75)


def fit(members: list[Group], base: Curve) -> tuple[Curve, float]:
    """Return the curve that fits the groups, and the resident share."""
    kind, form = members[0].kind, members[0].form
    names = list(PARAMETERS[kind])
    if form in QUANTIZED and "gemm" in kind:
        names.append("quantize_passes")
    warm = members[0].device.generation in BIG_CACHE
    low = np.log([LOW.get(n, 1e-3) for n in names] + [1e-3] * warm)
    high = np.log([HIGH[n] for n in names] + [1.0] * warm)
    start = np.log([START[n] for n in names] + [0.5] * warm)
    measured = [np.log(g.seconds) for g in members]

    def unpack(vector: np.ndarray) -> tuple[Curve, float]:
        values = dict(zip(names, np.exp(vector[: len(names)]).tolist(), strict=True))
        return replace(base, **values), float(np.exp(vector[-1])) if warm else 0.0

    def loss(vector: np.ndarray) -> np.ndarray:
        curve, resident = unpack(vector)
        # Every engine counts alike however many rows it has.
        return np.concatenate(
            [
                (np.log(seconds(g, curve, resident)) - m) * np.sqrt(1000 / len(m))
                for g, m in zip(members, measured, strict=True)
            ]
        )

    best = None
    for tile in (16.0, 128.0) if "row_tile" in names else (0.0,):
        if tile:
            start[names.index("row_tile")] = np.log(tile)
        found = least_squares(
            loss, start, bounds=(low, high), loss="soft_l1", f_scale=0.1, max_nfev=50
        )
        if best is None or found.cost < best.cost:
            best = found
    return unpack(best.x)


def residuals(members: list[Group], curve: Curve, resident: float) -> np.ndarray:
    """Return ln(measured / predicted) of all rows."""
    return np.concatenate([np.log(g.seconds / seconds(g, curve, resident)) for g in members])


def record(key: tuple[str, str, str], members: list[Group], base: Curve) -> Record:
    """Fit one key on all its systems, and once more without each system to see the error."""
    kind, form, generation = key
    curve, resident = fit(members, base)
    logs = residuals(members, curve, resident)
    errors = np.abs(np.expm1(-logs))
    held = []
    systems = sorted({g.system for g in members})
    for system in systems if len(systems) > 1 else ():
        rest = [g for g in members if g.system != system]
        there = [g for g in members if g.system == system]
        held.append(np.median(np.abs(np.expm1(-residuals(there, *fit(rest, base))))))
    low, high = np.quantile(logs, [0.1, 0.9])
    return Record(
        kind=kind,
        form=form,
        generation=generation,
        curve=curve,
        resident=resident,
        rows=len(logs),
        median=float(np.median(errors)),
        p90=float(np.quantile(errors, 0.9)),
        bias=float(np.median(np.expm1(-logs))),
        spread=float(high - low) / 2.563,
        held_out=float(np.mean(held)) if held else float("nan"),
    )


def main() -> None:
    """Fit every kind, form and generation, print errors, check on open rows, write records."""
    found = groups(Path(os.environ["AICONFIGURATOR_DATA"]))
    by_key: dict[tuple[str, str, str], list[Group]] = {}
    for group in found:
        by_key.setdefault((group.kind, group.form, group.device.generation), []).append(group)
    records: list[Record] = []
    scores = []
    done: dict[tuple[str, str, str], Curve] = {}
    order = list(PARAMETERS)
    for key in sorted(by_key, key=lambda k: (order.index(k[0]), k[1:])):
        members = by_key[key]
        best = record(key, members, _base(key, done))
        done[key] = best.curve
        records.append(best)
        for engine in sorted({g.engine for g in members}):
            mine = [g for g in members if g.engine == engine]
            pooled = _median(mine, best)
            own = pooled
            if len({g.engine for g in members}) > 1:
                special = record((key[0], f"{key[1]}@{engine}", key[2]), mine, _base(key, done))
                own = special.median
                if pooled > 1.25 * own and pooled > own + 0.03 and special.p90 < MOST_P90:
                    records.append(special)
                    print(_line(special), flush=True)
            scores += [(*key, g.system, engine, _median([g], best), own) for g in mine]
        print(_line(best), flush=True)
    report(scores)
    if "--write" in sys.argv:
        write(records)


def _base(key: tuple[str, str, str], done: dict[tuple[str, str, str], Curve]) -> Curve:
    """Return what is not fitted: decode computes as prefill does (mixed steps need it)."""
    kind, form, generation = key
    if kind != "attention_decode":
        return Curve()
    for name in (form.split(":")[0], "bf16"):
        known = done.get(("attention_prefill", name, generation))
        if known is not None:
            return Curve(compute_share=known.compute_share, softmax_width=known.softmax_width)
    return Curve(compute_share=0.5)


def _median(members: list[Group], best: Record) -> float:
    return float(np.median(np.abs(np.expm1(-residuals(members, best.curve, best.resident)))))


def report(scores: list[tuple[str, str, str, str, str, float, float]]) -> None:
    """Print the median error [%] per kind, form and system: pooled, and by engine."""
    columns = ["kind", "form", "generation", "system", "engine", "pooled", "own"]
    table = pd.DataFrame(scores, columns=columns)
    keys = [table.kind, table.form, table.system]
    by_engine = (100 * table.pooled).groupby([*keys, table.engine]).mean().unstack()  # noqa: PD010
    print(by_engine.round(1).to_string())
    print((100 * table.pooled).groupby(table.kind).median().round(1).to_string())


_FIGURES = " ".join(["{:.3g}"] * 10)


def _line(r: Record) -> str:
    values = [getattr(r.curve, n) for n in ORDER]
    values[0], values[-1] = values[0] * 1e6, values[-1] * 1e6
    errors = [100 * x for x in (r.median, r.p90, r.bias, r.spread, r.held_out)]
    return (
        f"{r.kind:24} {r.form:16} {r.generation:15} "
        + _FIGURES.format(*values)
        + f" {r.rows:6d} "
        + " ".join(f"{x:4.0f}" if i else f"{x:4.1f}" for i, x in enumerate(errors))
    )


def write(records: list[Record]) -> None:
    """Write the records as a Python table between the marks of the records file."""
    text = OUT.read_text()
    head, rest = text.split('_TABLE = """\n', 1)
    tail = rest.split('"""\n', 1)[1]
    lines = "\n".join(" ".join(_line(r).split()) for r in records)
    OUT.write_text(f'{head}_TABLE = """\n{lines}\n"""\n{tail}')


if __name__ == "__main__":
    main()
