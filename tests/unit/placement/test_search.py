"""Layouts, batches and pools against brute force over scalars."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeline.model.layout_rules import layout_faults
from ridgeline.model.precision import Precision
from ridgeline.phase.deployment import Deployment
from ridgeline.phase.serving import (
    Load,
    decode_pool,
    kv_transfer_s,
    mixed_serving,
    prefill_pool,
)
from ridgeline.placement.pareto import pareto_front
from ridgeline.placement.search import PER_GROUP, joined, search, split
from ridgeline.placement.space import enumerate_layouts
from ridgeline.readers import read_config
from ridgeline.study.deploy import deploy
from ridgeline.study.plan import plan
from small_configs import SMALL

LOAD = Load(isl=512, osl=128, chunk=256)
DEVICES = 6
PROMPTS = (1, 2, 4)


def small(kind: str) -> Deployment:
    """Return a toy model on an 8-device box, with real links and efficiencies."""
    arch = read_config({"model_type": kind, **SMALL[kind]}, name=kind)
    return deploy(arch, on="hgx-h100-8", devices=1)


@given(
    *(st.integers(1, 9) for _ in range(2)),
    *(st.floats(0.01, 100.0) for _ in range(2)),
    st.integers(2, 60),
)
@settings(max_examples=500)
def test_the_split_of_pools_is_the_best_there_is(size_p, size_d, rate_p, rate_d, count):
    x, y, rate = split(
        np.array([rate_p]), np.array([size_p]), np.array([rate_d]), np.array([size_d]), count
    )
    best = max(
        (
            min(i * rate_p, j * rate_d)
            for i in range(1, count + 1)
            for j in range(1, count + 1)
            if i * size_p + j * size_d <= count
        ),
        default=0.0,
    )
    assert float(rate[0]) == pytest.approx(best)
    if best:
        assert min(x[0] * rate_p, y[0] * rate_d) == pytest.approx(best)
        assert x[0] * size_p + y[0] * size_d <= count


@pytest.mark.parametrize("kind", ["qwen3", "qwen3_moe", "mixtral"])
def test_every_layout_keeps_the_rules_and_is_there_once(kind):
    arch = small(kind).architecture
    space = enumerate_layouts(arch, num_devices=8, scale_up=8)
    layouts = [space.one(i) for i in range(len(space))]
    assert not any(layout_faults(arch, x) for x in layouts)
    assert len(set(layouts)) == len(layouts)
    assert max(int(x.num_devices) for x in layouts) <= 8


def test_a_larger_cluster_has_the_layouts_of_a_smaller_one():
    arch = small("qwen3_moe").architecture
    smaller = enumerate_layouts(arch, num_devices=24, scale_up=8)
    larger = enumerate_layouts(arch, num_devices=48, scale_up=8)
    assert {smaller.one(i) for i in range(len(smaller))} <= {
        larger.one(i) for i in range(len(larger))
    }


def brute_force(base: Deployment) -> list[tuple[float, float]]:
    """Return (tokens/s per user, requests/s) of every option, one scalar evaluation at a time."""
    space = enumerate_layouts(base.architecture, num_devices=DEVICES, scale_up=8)
    layouts = [space.one(i) for i in range(len(space))]
    found: list[tuple[float, float]] = []
    decodes, prefills = [], []
    for layout in layouts:
        d = replace(base, layout=layout, num_devices=int(layout.num_devices))
        for per_group in PER_GROUP:
            batch = float(per_group * layout.dp * layout.pp)
            served = mixed_serving(d, LOAD, batch)
            if served.fits:
                copies = DEVICES // int(layout.num_devices)
                found.append((1 / float(served.tpot_s), float(served.requests_per_s) * copies))
            served = decode_pool(d, LOAD, batch)
            if served.fits:
                decodes.append((int(layout.num_devices), served))
        for prompts in PROMPTS:
            served = prefill_pool(d, LOAD, float(prompts * layout.dp))
            if served.fits:
                prefills.append((int(layout.num_devices), served))
    for size_d, decode in decodes:
        for size_p, prefill in prefills:
            rate = max(
                (
                    min(
                        x * float(prefill.requests_per_s),
                        (DEVICES - x * size_p) // size_d * float(decode.requests_per_s),
                    )
                    for x in range(1, (DEVICES - size_d) // size_p + 1)
                ),
                default=0.0,
            )
            if rate:
                found.append((1 / float(decode.tpot_s), rate))
    return found


@pytest.mark.parametrize("kind", ["qwen3", "mixtral"])
def test_the_front_is_the_front_of_brute_force(kind):
    """Same points, none lost, none beaten: arrays and pruning against loops over scalars."""
    base = small(kind)
    found = np.array(brute_force(base))
    front = pareto_front(found[:, 0], found[:, 1])
    space = enumerate_layouts(base.architecture, num_devices=DEVICES, scale_up=8)
    parts = [
        part
        for _, part, _ in search(base, space, LOAD, num_devices=DEVICES, precision=0, pools=True)
    ]
    mine = joined(parts)
    kept = pareto_front(1 / mine.tpot_s, mine.requests_per_s)
    assert 1 / mine.tpot_s[kept] == pytest.approx(found[front, 0])
    assert mine.requests_per_s[kept] == pytest.approx(found[front, 1])
    # And of first token against throughput nothing better was pruned away.
    assert mine.requests_per_s.max() == pytest.approx(found[:, 1].max())


def test_transfer_is_the_cache_over_the_links_of_the_smaller_side():
    base = deploy("llama-3.3-70b", on="hgx-h100-8x2")
    one, eight = (kv_transfer_s(base, LOAD, n, 8) for n in (1, 8))
    latency = base.cluster.tiers[-1].latency_s
    assert (one - latency) == pytest.approx(8 * (eight - latency))
    assert Precision.of(base.architecture).kv.id == "bf16"


@pytest.mark.parametrize("pools", [False, True])
def test_more_devices_never_lower_the_best_total_throughput(pools):
    best = [
        plan(
            "deepseek-v2-lite", on="hgx-h100-8", devices=n, isl=1024, osl=256, pools=pools
        ).winner.requests_per_s
        for n in range(1, 9)
    ]
    assert all(b >= a * (1 - 2e-3) for a, b in itertools.pairwise(best))
