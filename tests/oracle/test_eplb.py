"""Never a fuller fullest rank than DeepSeek's public EPLB, on the same inputs.

Set EPLB_CHECKOUT to a checkout of https://github.com/deepseek-ai/EPLB; without it these skip.
Run as a program it prints the figures: EPLB_CHECKOUT=... python tests/oracle/test_eplb.py
"""

from __future__ import annotations

import importlib.util
import os
import time
from pathlib import Path

import numpy as np
import pytest

from ridgeline.placement.expert_records import Placement, RankTree, RoutingLog
from ridgeline.placement.experts import lower_bound, place_experts

SHAPES = [
    # experts, ranks, ranks per node, redundant, groups
    (8, 4, 4, 0, 1),
    (64, 8, 8, 8, 1),
    (128, 16, 8, 16, 1),
    (256, 32, 8, 0, 1),
    (256, 32, 8, 32, 1),
    (256, 72, 8, 32, 1),
    (256, 144, 8, 32, 1),
    (384, 96, 8, 96, 1),
    (64, 16, 8, 16, 8),
    (256, 32, 8, 32, 8),
    (256, 64, 8, 64, 8),
    (160, 32, 8, 32, 8),
]
KINDS = ["uniform", "zipf", "log-normal", "one-hot", "dirichlet", "correlated"]
LAYERS = 12
CASES = [(shape, kind) for shape in SHAPES for kind in KINDS]


def counts(kind: str, experts: int, seed: int) -> np.ndarray:
    """Return routing counts of LAYERS layers, whole numbers, from uniform to one hot expert."""
    rng = np.random.default_rng(seed)
    shape = (LAYERS, experts)
    if kind == "uniform":
        return rng.integers(0, 1000, shape).astype(float) + 1.0
    if kind == "zipf":
        weight = 1.0 / np.arange(1, experts + 1) ** rng.uniform(0.3, 1.2, (LAYERS, 1))
        weight = rng.permuted(weight, axis=1)
    elif kind == "log-normal":
        weight = rng.lognormal(0.0, 1.0, shape)
    elif kind == "one-hot":
        weight = rng.random(shape)
        weight[np.arange(LAYERS), rng.integers(0, experts, LAYERS)] = experts
    elif kind == "dirichlet":
        weight = rng.dirichlet(np.full(experts, 2.0), LAYERS)
    else:  # layers of one model: a common part and a part of their own
        weight = np.exp(0.6 * rng.normal(size=experts) + 0.6 * rng.normal(size=shape))
    weight = weight / weight.sum(axis=1, keepdims=True)
    return np.stack([rng.multinomial(200_000, p) for p in weight]).astype(float)


def compare(shape, kind):
    """Return the fullest rank of EPLB and of ours over the bound, [layers], and our seconds."""
    checkout = os.environ.get("EPLB_CHECKOUT")
    if not checkout:
        pytest.skip("EPLB_CHECKOUT is not set")
    torch = pytest.importorskip("torch")
    spec = importlib.util.spec_from_file_location("eplb", Path(checkout) / "eplb.py")
    eplb = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(eplb)
    experts, ranks, per_node, redundant, groups = shape
    load = counts(kind, experts, seed=CASES.index((shape, kind)))
    nodes = ranks // per_node if groups > 1 else 1
    table, _, copies = eplb.rebalance_experts(
        torch.tensor(load), experts + redundant, groups, nodes, ranks
    )
    theirs = Placement(physical_to_logical=table.numpy(), num_experts=experts, num_ranks=ranks)
    assert (theirs.copies == copies.numpy()).all()
    log = RoutingLog(load=load)
    tree = RankTree(num_ranks=ranks, ranks_per_node=per_node, nodes_per_rack=ranks // per_node)
    start = time.perf_counter()
    ours = place_experts(log, tree, num_redundant=redundant, num_groups=groups)
    seconds = time.perf_counter() - start
    bound = lower_bound(log, tree, num_redundant=redundant, num_groups=groups)
    peak = [p.rank_loads(load).max(axis=1) / bound for p in (theirs, ours)]
    return peak[0], peak[1], seconds


@pytest.mark.parametrize(("shape", "kind"), CASES)
def test_fullest_rank_is_never_fuller_than_eplb(shape, kind):
    theirs, ours, _ = compare(shape, kind)
    assert (ours <= theirs * (1 + 1e-9)).all()
    assert (ours >= 1 - 1e-9).all()
    assert (theirs >= 1 - 1e-9).all()


def _report():
    print("experts ranks redundant groups kind: EPLB / bound, ours / bound, worst, seconds")  # noqa: T201
    all_theirs, all_ours = [], []
    for shape, kind in CASES:
        theirs, ours, seconds = compare(shape, kind)
        all_theirs.append(theirs)
        all_ours.append(ours)
        experts, ranks, _, redundant, groups = shape
        print(  # noqa: T201
            f"{experts:4} {ranks:4} {redundant:3} {groups:2} {kind:11} {theirs.mean():.4f} "
            f"{ours.mean():.4f} {ours.max():.4f} {seconds:5.2f}"
        )
    theirs, ours = np.concatenate(all_theirs), np.concatenate(all_ours)
    worse, equal = ours > theirs * (1 + 1e-9), np.abs(ours / theirs - 1) <= 1e-9
    print(  # noqa: T201
        f"{len(CASES)} cases, {len(ours)} layers: worse {worse.sum()}, equal {equal.sum()}, better "
        f"{len(ours) - worse.sum() - equal.sum()}; mean over bound EPLB {theirs.mean():.4f}, "
        f"ours {ours.mean():.4f}; median gain {100 * np.median(theirs / ours - 1):.2f} %, "
        f"largest {100 * (theirs / ours - 1).max():.1f} %"
    )


if __name__ == "__main__":
    _report()
