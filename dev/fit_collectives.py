"""Fit launch, step and bandwidth share of collectives to measurements; write the records.

    AICONFIGURATOR_DATA=.../systems/data RIDGELINE_TRUTH=.../truth \
        uv run --with pyarrow --with scipy python dev/fit_collectives.py [--write | --halves]

--halves fits every other payload size and scores the sizes left out.

AICONFIGURATOR_DATA is `aiconfigurator_core/systems/data` of the unpacked PyPI wheel
aiconfigurator-core 0.12.0 (Apache-2.0); RIDGELINE_TRUTH holds open measurements that are never
fitted. What is fitted is `collective_time` itself, on a cluster as measured.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from collective_checks import check
from collective_rows import SHARP, SYSTEMS, WIRE, cluster_of, key_of, measurements
from scipy.optimize import least_squares

from ridgeline.cost.collectives import collective_time
from ridgeline.cost.network_records import RACK, LinkRecord, NetworkEfficiency, priors
from ridgeline.model.layout import Layout
from ridgeline.model.work import Message, Routing

OUT = Path(__file__).parent.parent / "src/ridgeline/cost/network_fits.py"
TRAIN = {
    "a100_sxm": ("a100_sxm",),
    "h100_sxm": ("h100_sxm", "h200_sxm"),
    "b200_sxm": ("b200_sxm",),
    "b300_sxm": ("b300_sxm",),
    "gb200": ("gb200", "gb300"),
    "rtx_pro_6000_server": ("rtx_pro_6000_server",),
    "l40s": ("l40s",),
}
"""Fitted system, and those that its records price; the others of them are held out."""
RTX = "blackwell_rtx:pcie"
PARAMETERS = (
    "launch_s",
    "step_s",
    "bandwidth_share",
    "sharpness",
    "own_share",
    "expert_s",
    "contention",
)
START = {
    "launch_s": 6e-6,
    "step_s": 1e-6,
    "bandwidth_share": 0.7,
    "sharpness": 0.7,
    "own_share": 0.3,
    "expert_s": 1e-8,
    "contention": 0.3,
}
LOW = {
    "launch_s": 1e-7,
    "step_s": 1e-8,
    "bandwidth_share": 0.02,
    "sharpness": 0.35,
    "own_share": 1e-3,
    "expert_s": 1e-10,
    "contention": 1e-3,
}
HIGH = {
    "launch_s": 3e-4,
    "step_s": 1e-4,
    "bandwidth_share": 1.0,
    "sharpness": 6.0,
    "own_share": 1.5,
    "expert_s": 1e-6,
    "contention": 8.0,
}


@dataclass(frozen=True)
class Task:
    """One joint fit: which rows, which algorithms, and what is taken from earlier fits."""

    library: str
    kind: str
    algorithms: tuple[str, ...]
    extra: tuple[str, ...] = ()
    """Algorithms already fitted that compete in the minimum."""
    multi_node: bool = False
    phase: str = ""
    """Dispatch or combine of an expert exchange."""

    @property
    def record_kind(self) -> str:
        """First key of the records."""
        return self.phase or self.kind

    def rows(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the measurements that this task fits."""
        nodes = rows.nodes > 1 if self.multi_node else rows.nodes == 1
        mine = rows[(rows.library == self.library) & (rows.kind == self.kind) & nodes]
        if self.phase:
            # One or two experts per device and top-1 or 2: a case of its own, no real model.
            few = mine.library.ne("one_copy") & (mine.experts < 64)
            mine = mine[(mine.phase == self.phase) & ~few]
        return mine[mine.payload_bytes >= 1e3]


TASKS = (
    Task("nccl", "all_gather", ("ring", "ring_ll")),
    Task("nccl", "reduce_scatter", ("ring", "ring_ll")),
    Task("nccl", "all_to_all", ("pairwise", "pairwise_ll")),
    Task("nccl", "all_reduce", ("ring", "ring_ll", "in_network")),
    Task("engine", "all_reduce", ("one_shot", "two_shot"), ("ring", "ring_ll", "in_network")),
    *(
        Task(library, "all_to_all", (algorithm,), multi_node=far, phase=phase)
        for far in (False, True)
        for library, algorithm in (
            ("deepep_ll", "direct"),
            ("deepep_normal", "hierarchical"),
            ("one_copy", "one_copy"),
        )
        for phase in ("dispatch", "combine")
    ),
)


def predict(rows: pd.DataFrame, system: str, task: Task, records: dict) -> np.ndarray:
    """Return predicted seconds of rows of one system."""
    names = {a for k, a, t in records if k == task.record_kind}
    if SYSTEMS[system][0] not in SHARP:
        names.discard("in_network")
    wanted = [a for a in (*task.algorithms, *task.extra) if a in names]
    group = rows.group.to_numpy()
    routing = None
    if task.phase:
        routing = Routing(
            top_k=rows.top_k.to_numpy(),
            num_experts=rows.experts.to_numpy(),
            returning=task.phase == "combine",
        )
    message = Message(
        kind=task.kind,
        payload_bytes=rows.payload_bytes.to_numpy(),
        group=group,
        axis="tp",
        routing=routing,
    )
    efficiency = NetworkEfficiency(
        name="fit",
        records=records,
        default=LinkRecord(launch_s=0, step_s=0, bandwidth_share=1),
        source="",
    )
    cost = collective_time(
        message,
        cluster_of(system, multi_node=task.multi_node),
        Layout(tp=group),
        efficiency=efficiency,
        algorithms=wanted,
    )
    return np.asarray(cost.time_s)


def unpack(vector: np.ndarray, task: Task, key: str, base: dict) -> dict:
    """Return records with the vector's parameters put in."""
    records = dict(base)
    shared = dict(zip(PARAMETERS, np.exp(vector[: len(PARAMETERS)]), strict=True))
    tier = key.split(":")[1].removesuffix(RACK)
    rest = list(np.exp(vector[len(PARAMETERS) :]))
    for i, algorithm in enumerate(task.algorithms):
        own = dict(shared)
        if i:
            # The second algorithm has its own start and its own share of the link.
            own["launch_s"], own["bandwidth_share"] = rest[2 * i - 2], rest[2 * i - 1]
        if algorithm in ("in_network", "one_shot", "hierarchical", "one_copy"):
            own["own_share"] = 0.0
        if not task.phase or algorithm == "one_copy":
            own["expert_s"] = 0.0
        if tier != "pcie":
            own["contention"] = 0.0
        elif key.startswith("ada"):
            # One pair does not show it; the other host with PCIe does.
            own["contention"] = base[task.record_kind, algorithm, RTX].contention
        records[(task.record_kind, algorithm, key)] = LinkRecord(wire_latency_s=WIRE[tier], **own)
    return records


def fit(rows: pd.DataFrame, system: str, task: Task, base: dict) -> dict:
    """Return `base` with the task's algorithms fitted to rows of one system."""
    generation = SYSTEMS[system][0]
    key = key_of(system, multi_node=task.multi_node)
    task = replace(
        task,
        algorithms=tuple(a for a in task.algorithms if a != "in_network" or generation in SHARP),
    )
    names = [*PARAMETERS, *(["launch_s", "bandwidth_share"] * (len(task.algorithms) - 1))]
    low = np.log([LOW[n] for n in names])
    high = np.log([HIGH[n] for n in names])
    measured = np.log(rows.time_s.to_numpy())
    # Every size decade and group weighs the same.
    decade = np.floor(np.log10(rows.payload_bytes)).clip(3, 9)
    weight = 1 / np.sqrt(rows.groupby([decade, rows.group]).time_s.transform("size").to_numpy())

    def loss(vector: np.ndarray) -> np.ndarray:
        predicted = predict(rows, system, task, unpack(vector, task, key, base))
        return weight * (np.log(predicted) - measured)

    best = None
    for launch in (0.5, 2.0, 8.0):
        for sharp in (0.6, 1.0, 2.0):
            start = np.log([START[n] for n in names])
            start[0] += np.log(launch)
            start[3] = np.log(sharp)
            for i in range(len(PARAMETERS), len(names), 2):
                start[i] = start[0] + np.log(2.0 if i == len(PARAMETERS) else 4.0)
            if "ring_ll" in task.algorithms or "pairwise_ll" in task.algorithms:
                start[len(PARAMETERS)] = start[0] - np.log(1.5)
                start[len(PARAMETERS) + 1] = np.log(0.3)
            found = least_squares(
                loss, start, bounds=(low, high), loss="soft_l1", f_scale=0.05, max_nfev=80
            )
            if best is None or found.cost < best.cost:
                best = found
    return _named(unpack(best.x, task, key, base), task, key)


def _named(records: dict, task: Task, key: str) -> dict:
    """Return records with the protocol that sends flags beside data as the one of less bandwidth.

    Only launch and bandwidth tell the two apart, so that a fit may find them the other way round.
    """
    if len(task.algorithms) < 2 or not task.algorithms[1].endswith("_ll"):
        return records
    plain, flagged = ((task.record_kind, a, key) for a in task.algorithms[:2])
    if records[plain].bandwidth_share < records[flagged].bandwidth_share:
        records[plain], records[flagged] = records[flagged], records[plain]
    return records


def errors(rows: pd.DataFrame, system: str, task: Task, records: dict) -> pd.DataFrame:
    """Return rows with the relative error of the prediction."""
    predicted = predict(rows, system, task, records)
    decade = np.floor(np.log10(rows.payload_bytes)).astype(int).clip(3, 9)
    return rows.assign(error=predicted / rows.time_s - 1, decade=decade, task=_name(task))


def _name(task: Task) -> str:
    return f"{task.library} {task.record_kind}{' multi-node' if task.multi_node else ''}"


def main() -> None:
    """Fit every generation, print errors per task, system and size decade, write the records."""
    rows = measurements(Path(os.environ["AICONFIGURATOR_DATA"]))
    records: dict = {}
    scored = []
    halves = "--halves" in sys.argv
    for train, priced in TRAIN.items():
        for task in TASKS:
            mine = task.rows(rows)
            if not (mine.system == train).any():
                continue
            chosen = mine[mine.system == train]
            if halves:
                even = chosen.groupby("group").payload_bytes.rank("dense") % 2 == 0
                records = fit(chosen[even], train, task, records)
                part = errors(chosen[~even], train, task, records)
                scored.append(part.assign(role="other sizes"))
                continue
            records = fit(chosen, train, task, records)
            for system in priced:
                if (mine.system == system).any():
                    held = "fitted" if system == train else "held out"
                    part = errors(mine[mine.system == system], system, task, records)
                    scored.append(part.assign(role=held))
            print(train, _name(task), flush=True)
    table = pd.concat(scored)
    report(table)
    if halves:
        return
    print("\nPriors: each system from the medians of the other places")
    report(pd.concat(unseen(rows, records)))
    check(Path(os.environ["RIDGELINE_TRUTH"]), records)
    if "--write" in sys.argv:
        write(records, table)


def unseen(rows: pd.DataFrame, records: dict) -> list[pd.DataFrame]:
    """Return errors of the prior that each system would get if nobody had measured it."""
    found = []
    for system in (*TRAIN, "b60"):
        if system == "gb200":
            continue
        place = key_of(system, multi_node=False)
        others = {k: r for k, r in records.items() if k[2] != place}
        for task in TASKS:
            mine = task.rows(rows)
            mine = mine[mine.system == system]
            if len(mine) and not task.multi_node:
                part = errors(mine, system, task, priors(others))
                found.append(part.assign(role="unseen"))
    return found


def report(table: pd.DataFrame) -> None:
    """Print the median absolute error [%] per task, system and decade of payload bytes."""
    keys = [table.task, table.role, table.system, table.decade]
    size = (100 * table.error.abs()).groupby(keys).median().unstack()  # noqa: PD010
    whole = (100 * table.error.abs()).groupby([table.task, table.role, table.system]).median()
    print(size.assign(all=whole).round(1).to_string(na_rep="-"))


def write(records: dict, table: pd.DataFrame) -> None:
    """Write the records as a Python table."""
    lines = [HEADER]
    for (kind, algorithm, place), r in records.items():
        far = " multi-node" if place.endswith("scale_out") else ""
        train = next(s for s in TRAIN if key_of(s, multi_node=bool(far)) == place)
        mine = table[(table.system == train) & (table.task == f"{_library(algorithm)} {kind}{far}")]
        # Half of the 10-90 % width of measured over fitted.
        ratio = 1 / (1 + mine.error)
        spread = float(ratio.quantile(0.9) - ratio.quantile(0.1)) / 2
        lines.append(
            f"{f'{kind} {algorithm} {place}':47} {mine.group.max():2}"
            f" {r.launch_s * 1e6:5.3g} {r.step_s * 1e6:5.2f} {r.wire_latency_s * 1e6:1.0f}"
            f" {r.bandwidth_share:5.3f} {r.contention:4.2f} {r.sharpness:4.2f} {r.own_share:4.2f}"
            f" {r.expert_s * 1e6:5.3f}"
            f" {100 * mine.error.abs().median():4.1f} {100 * spread:2.0f}"
        )
    OUT.write_text("\n".join([*lines, FOOTER]))


def _library(algorithm: str) -> str:
    if algorithm in ("one_shot", "two_shot"):
        return "engine"
    names = {"direct": "deepep_ll", "hierarchical": "deepep_normal", "one_copy": "one_copy"}
    return names.get(algorithm, "nccl")


HEADER = '''"""Fitted figures of collectives; written by dev/fit_collectives.py, never by hand.

Measurements: NVIDIA aiconfigurator-core 0.12.0 (PyPI, Apache-2.0), read on 2026-12-01: NCCL 2.23
to 2.29, custom all-reduce of vLLM, SGLang and TensorRT-LLM under CUDA graphs (their median),
DeepEP as of SGLang 0.5.6 and 0.5.12, TensorRT-LLM 1.2 between the ranks of one NVLink domain.
"""

from __future__ import annotations

from typing import NamedTuple


class Fit(NamedTuple):
    """One fitted algorithm on one tier of one generation."""

    kind: str
    algorithm: str
    place: str
    """Generation and tier."""
    ranks: int
    """Largest group measured."""
    launch_us: float
    step_us: float
    wire_us: float
    """Catalogue latency of the measured tier."""
    bandwidth_share: float
    contention: float
    sharpness: float
    own_share: float
    expert_us: float
    error_percent: float
    """Median absolute error on the fitted system."""
    spread_percent: float
    """Half-width of the 10-90 % band of measured over fitted."""


SYSTEMS = {
    "ampere:scale_up": "A100 SXM",
    "hopper:scale_up": "H100 SXM",
    "hopper:scale_out": "H100 SXM, 2 to 8 nodes",
    "blackwell:scale_up": "B200 SXM",
    "blackwell_ultra:scale_up": "B300 SXM",
    "blackwell:scale_up@rack": "GB200",
    "ada:pcie": "L40S (one pair)",
    "blackwell_rtx:pcie": "RTX PRO 6000 Server",
}
"""Place to the system measured and fitted; H200 and GB300 were held out."""

# Columns are the fields of Fit, in order.
_TABLE = """'''
FOOTER = '''"""


def _fit(line: str) -> Fit:
    kind, algorithm, place, ranks, *figures = line.split()
    return Fit(kind, algorithm, place, int(ranks), *(float(figure) for figure in figures))


FITS: tuple[Fit, ...] = tuple(_fit(line) for line in _TABLE.splitlines() if line)
"""All fits."""
'''

if __name__ == "__main__":
    main()
