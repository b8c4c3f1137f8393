"""Collectives against pencil and paper, laws, and simulated routing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeline.cost.collectives import collective_time
from ridgeline.cost.network_fits import FITS
from ridgeline.cost.network_records import CALIBRATED, LinkRecord, priors
from ridgeline.cost.routing import expected_domains
from ridgeline.cost.topology import ranks_per_tier, spans, stride, usable_bandwidth
from ridgeline.errors import InputError
from ridgeline.hardware.records import Cluster, Device, MemoryTier, NetworkTier
from ridgeline.model.layout import Layout
from ridgeline.model.work import Message, Routing

KINDS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "point_to_point")
HBM = MemoryTier(name="hbm", capacity_bytes=80e9, bandwidth_bytes_per_s=2e12)
DEVICE = Device(id="d", name="d", vendor="v", peak_flop_per_s={}, memory=HBM, generation="hopper")


def cluster(*tiers: NetworkTier) -> Cluster:
    return Cluster(
        id="c", name="c", device=DEVICE, num_devices=tiers[-1].size if tiers else 1, tiers=tiers
    )


def node(size=8, rate=200e9, **extra) -> NetworkTier:
    return NetworkTier(name="scale_up", size=size, bandwidth_bytes_per_s=rate, **extra)


def fabric(size=144, rate=50e9, **extra) -> NetworkTier:
    return NetworkTier(name="scale_out", size=size, bandwidth_bytes_per_s=rate, **extra)


def ideal(kind, size, group, where, **extra):
    message = Message(kind=kind, payload_bytes=size, group=group, axis="tp", **extra)
    return collective_time(message, where, Layout(tp=group), efficiency="ideal")


def test_ring_bounds_by_hand():
    """8 ranks, 200 GB/s, 1.6 GB.

    All-reduce: two-shot moves 2·7/8·1.6 = 2.8 GB, one way: 14 ms. In-network: (1 + 1/8)·1.6 = 1.8
    GB: 9 ms. Reduce-scatter: 1.4 GB: 7 ms. All-gather of 0.2 GB shards: 7·0.2 = 1.4 GB: 7 ms.
    All-to-all: 7/8·1.6 = 1.4 GB: 7 ms. Send: 8 ms.
    """
    box = cluster(node())
    assert ideal("all_reduce", 1.6e9, 8, box).time_s == pytest.approx(14e-3)
    assert ideal("reduce_scatter", 1.6e9, 8, box).time_s == pytest.approx(7e-3)
    assert ideal("all_gather", 0.2e9, 8, box).time_s == pytest.approx(7e-3)
    assert ideal("all_to_all", 1.6e9, 8, box).time_s == pytest.approx(7e-3)
    assert ideal("point_to_point", 1.6e9, 8, box).time_s == pytest.approx(8e-3)
    best = ideal("all_reduce", 1.6e9, 8, cluster(node(in_network_reduction=True)))
    assert best.time_s == pytest.approx(9e-3)
    assert best.algorithm == "in_network"


def test_all_reduce_over_two_nodes_by_hand():
    """16 ranks on 2 nodes, 1.6 GB: 14 ms inside; 2·1/2·1.6/8 = 0.2 GB at 50 GB/s = 4 ms outside.

    Hierarchical flows through both tiers: 14 ms; two-shot does one after the other: 18 ms. A
    ring sends 2·15/16·1.6 = 3 GB over every edge: 15 ms inside, 3/8/50 = 7.5 ms outside. Trees
    send 2·7/8·1.6 inside, chains of 8, and 1.6/8 up or down outside: 14 ms.
    """
    cost = ideal("all_reduce", 1.6e9, 16, cluster(node(), fabric()))
    assert cost.candidates_s["hierarchical"] == pytest.approx(14e-3)
    assert cost.candidates_s["two_shot"] == pytest.approx(18e-3)
    assert cost.candidates_s["ring"] == pytest.approx(15e-3)
    assert cost.candidates_s["tree"] == pytest.approx(14e-3)
    slow = ideal("all_reduce", 1.6e9, 16, cluster(node(), fabric(rate=5e9)))
    assert slow.candidates_s["ring"] == pytest.approx(75e-3)
    assert slow.candidates_s["tree"] == pytest.approx(40e-3)
    assert sum(cost.time_by_tier_s.values()) == pytest.approx(cost.time_s)


@pytest.mark.parametrize("algorithm", ["ring", "in_network"])
@pytest.mark.parametrize("faster", ["scale_up", "scale_out"])
def test_wire_time_is_the_slope_over_a_tiers_bandwidth(algorithm, faster):
    """1 % of one tier's bandwidth against a finite difference, latency and overlap included."""

    def cost(factor):
        inside = 1 + factor * (faster == "scale_up")
        outside = 1 + factor * (faster == "scale_out")
        return collective_time(
            Message(kind="all_reduce", payload_bytes=4e6, group=16, axis="tp"),
            cluster(
                node(rate=200e9 * inside, in_network_reduction=True),
                fabric(rate=50e9 * outside),
            ),
            Layout(tp=16),
            efficiency=CALIBRATED,
            algorithms=[algorithm],
        )

    slope = (cost(-1e-4).time_s - cost(1e-4).time_s) / 2e-4
    assert cost(0.0).wire_by_tier_s[faster] == pytest.approx(slope, rel=1e-4, abs=1e-12)


def test_topologies_by_hand():
    """Mesh of 8: 4 members reach 3/7, a pair 1/7. Fat tree 4:1 leaves 1/4 to an all-to-all.

    Torus 4x4x4: 1 hop per dimension on average, 3 in all: 63/64 of B/3. Ring of 8: 2 hops.
    """
    mesh = node(rate=7.0, topology="mesh")
    assert usable_bandwidth(mesh, 4, "spread") == pytest.approx(3.0)
    assert usable_bandwidth(mesh, 8, "pair") == pytest.approx(1.0)
    tree = fabric(rate=8.0, topology="fat_tree", oversubscription=4.0)
    assert usable_bandwidth(tree, 144, "spread") == pytest.approx(2.0)
    assert usable_bandwidth(tree, 144, "neighbour") == pytest.approx(8.0)
    torus = node(size=64, rate=3.0, topology="torus", dimensions=(4, 4, 4))
    assert usable_bandwidth(torus, 64, "spread") == pytest.approx(63 / 64)
    assert usable_bandwidth(torus, 64, "neighbour") == pytest.approx(3.0)
    assert usable_bandwidth(torus, 4, "neighbour") == pytest.approx(1.0)
    assert usable_bandwidth(node(rate=1.0, topology="ring"), 8, "spread") == pytest.approx(7 / 16)
    with pytest.raises(InputError, match="multiply to its size"):
        usable_bandwidth(node(topology="torus", dimensions=(2, 2)), 8, "spread")


def test_torus_all_to_all_against_counted_links():
    """Route every pair of a 4x4 torus dimension by dimension, count the busiest link."""
    extent, load = 4, {}
    for source in np.ndindex(extent, extent):
        for target in np.ndindex(extent, extent):
            at = list(source)
            for axis in (0, 1):
                ahead = (target[axis] - at[axis]) % extent
                ways = [(1, ahead)] if ahead < extent / 2 else [(-1, extent - ahead)]
                if ahead == extent / 2:
                    ways = [(1, ahead), (-1, ahead)]
                for sign, distance in ways:
                    here = list(at)
                    for _ in range(distance):
                        link = (*here, axis, sign)
                        load[link] = load.get(link, 0) + 1 / len(ways)
                        here[axis] = (here[axis] + sign) % extent
                at[axis] = target[axis]
    # Each device sends 1 byte to each of 16; a link carries 1/4 of the device's 4 bytes/s.
    seconds = max(load.values()) / 1.0
    tier = node(size=16, rate=4.0, topology="torus", dimensions=(4, 4))
    assert ideal("all_to_all", 16.0, 16, cluster(tier)).time_s == pytest.approx(seconds)


def test_spans_place_the_inner_axes_first():
    """tp=4, dp=8 on nodes of 8: two dp ranks share a node; ep=32 has stride 1, eight share it."""
    pod = cluster(node(), fabric(size=64))
    where = spans(pod, Layout(tp=4, dp=8, ep=32, pp=2))
    assert [int(m) for m in where["tp"]] == [4, 4]
    assert [int(m) for m in where["dp"]] == [2, 8]
    assert [int(m) for m in where["ep"]] == [8, 32]
    assert [int(m) for m in where["pp"]] == [1, 2]
    assert stride(Layout(tp=4, dp=8, ep=8), "ep") == 4


def test_deepseek_dispatch_over_144_h800():
    """88 tokens, top 8, 7168 wide, 1 + 2 bytes, 58 layers: 17.6 ms at 50 GB/s.

    All copies counted: 88·8·7168·3·58/50e9 = 17.56 ms; 136 of 144 leave the node: 16.59 ms. One
    copy per node under 4 of 8 groups takes less.
    """
    payload = 88 * 8 * 7168 * 3
    assert payload * 58 / 50e9 == pytest.approx(17.56e-3, rel=1e-3)
    routing = Routing(top_k=8, num_experts=256, num_groups=8, top_groups=4)
    message = Message(
        kind="all_to_all", payload_bytes=payload, group=144, axis="ep", routing=routing
    )
    pod = cluster(node(), fabric())
    cost = collective_time(message, pod, Layout(dp=144, ep=144), efficiency="ideal")
    assert cost.candidates_s["direct"] * 58 == pytest.approx(17.56e-3 * 136 / 144, rel=1e-3)
    assert cost.candidates_s["hierarchical"] * 58 == pytest.approx(11.6e-3, rel=0.01)
    assert cost.algorithm == "hierarchical"


@pytest.mark.parametrize(
    ("groups", "chosen", "domains", "tolerance"),
    [(1, 1, 18, 0.01), (1, 1, 144, 0.01), (8, 4, 8, 0.01), (8, 4, 16, 0.02), (8, 4, 4, 0.03)],
)
def test_expected_domains_against_simulated_routing(groups, chosen, domains, tolerance):
    rng = np.random.default_rng(0)
    experts, top_k, tokens = 288 if groups == 1 else 256, 8, 4000
    if experts % domains:
        pytest.fail("experts must divide over the domains for the simulation to be exact")
    score = rng.random((tokens, experts))
    open_groups = np.argsort(rng.random((tokens, groups)), axis=1)[:, :chosen]
    allowed = np.zeros((tokens, groups), dtype=bool)
    np.put_along_axis(allowed, open_groups, values=True, axis=1)
    score[~np.repeat(allowed, experts // groups, axis=1)] = -1
    picks = np.argsort(-score, axis=1)[:, :top_k] // (experts // domains)
    counted = np.mean([len(set(row)) for row in picks])
    routing = Routing(top_k=top_k, num_experts=experts, num_groups=groups, top_groups=chosen)
    assert expected_domains(routing, domains) == pytest.approx(counted, rel=tolerance)


def test_arrays_broadcast_like_loops():
    pod = cluster(node(in_network_reduction=True, latency_s=1e-6), fabric(latency_s=4e-6))
    sizes, groups = np.array([[1e3], [1e6], [1e9]]), np.array([1, 2, 8, 48, 144])
    for kind in KINDS:
        message = Message(kind=kind, payload_bytes=sizes, group=groups, axis="tp")
        both = collective_time(message, pod, Layout(tp=groups), efficiency=CALIBRATED)
        for i, size in enumerate(sizes[:, 0]):
            for j, group in enumerate(groups):
                one = collective_time(
                    Message(kind=kind, payload_bytes=float(size), group=int(group), axis="tp"),
                    pod,
                    Layout(tp=int(group)),
                    efficiency=CALIBRATED,
                )
                assert both.time_s[i, j] == pytest.approx(one.time_s)
                assert both.algorithm[i, j] == one.algorithm


def test_what_does_not_fit_is_infinite_and_one_device_is_free():
    assert ideal("all_reduce", 1.0, 9, cluster(node())).time_s == np.inf
    alone = cluster()
    assert ideal("all_reduce", 1.0, 1, alone).time_s == 0.0
    assert ideal("all_reduce", 1.0, 2, alone).time_s == np.inf


def test_unknown_algorithm_is_refused():
    message = Message(kind="all_reduce", payload_bytes=1.0, group=8, axis="tp")
    with pytest.raises(InputError, match="ring, ring_ll, one_shot"):
        collective_time(
            message, cluster(node()), Layout(tp=8), efficiency="ideal", algorithms=["magic"]
        )


def test_unmeasured_hardware_is_flagged():
    odd = replace(cluster(node()), device=replace(DEVICE, generation="tpu_v7"))
    message = Message(kind="all_reduce", payload_bytes=1e6, group=8, axis="tp")
    cost = collective_time(message, odd, Layout(tp=8), efficiency=CALIBRATED)
    assert "not measured on tpu_v7" in cost.flags[0]
    assert cost.spread >= 0.5
    known = collective_time(message, cluster(node()), Layout(tp=8), efficiency=CALIBRATED)
    assert known.flags == ()


def test_pcie_pairs_contend_and_engines_leave_more_than_two_to_the_library():
    """60 GB/s · 0.5 for a pair; four lose 1 − 2/4 of contention 1: 20 GB/s, 1.5·S/20."""
    record = LinkRecord(launch_s=0.0, step_s=0.0, bandwidth_share=0.5, contention=1.0)
    assert record.share(2, 60e9) == pytest.approx(0.5)
    assert record.share(4, 60e9) == pytest.approx(0.5 / 1.5)
    capped = replace(record, most_bytes_per_s=12e9)
    assert capped.share(2, 60e9) == pytest.approx(0.2)
    host = NetworkTier(name="pcie", size=8, bandwidth_bytes_per_s=63e9, latency_s=5e-6)
    box = replace(cluster(host), device=replace(DEVICE, generation="blackwell_rtx"))
    algorithm = {}
    for group in (2, 4):
        message = Message(kind="all_reduce", payload_bytes=4096.0, group=group, axis="tp")
        cost = collective_time(message, box, Layout(tp=group), efficiency=CALIBRATED)
        algorithm[group] = cost.algorithm
    assert algorithm == {2: "one_shot", 4: "ring_ll"}


def test_rack_of_blackwell_takes_kernels_measured_on_as_many_ranks():
    """Low-latency dispatch was measured on 4 ranks, one copy per rank on 64: 26 µs and more."""
    rack = node(size=72, rate=900e9, latency_s=2e-6)
    pod = replace(cluster(rack), device=replace(DEVICE, generation="blackwell"))
    ranks = np.array([4, 8, 64, 72])
    message = Message(
        kind="all_to_all",
        payload_bytes=32 * 8 * 7168.0,
        group=ranks,
        axis="ep",
        routing=Routing(top_k=8, num_experts=256),
    )
    cost = collective_time(message, pod, Layout(dp=ranks, ep=ranks), efficiency=CALIBRATED)
    assert list(cost.algorithm) == ["direct", "one_copy", "one_copy", "one_copy"]
    assert cost.time_s[0] == pytest.approx(19.2e-6, rel=0.05)
    assert cost.time_s[2] == pytest.approx(31e-6, rel=0.15)
    ultra = replace(pod, device=replace(DEVICE, generation="blackwell_ultra"))
    same = collective_time(message, ultra, Layout(dp=ranks, ep=ranks), efficiency=CALIBRATED)
    assert np.array_equal(same.time_s, cost.time_s)


def test_library_takes_over_beyond_one_host_of_a_rack():
    """NCCL was fitted on 2 and 4 ranks of GB200; SGLang on GB300 takes 27.8 µs on 8, 48.5 on 16."""
    rack = node(size=72, rate=900e9, latency_s=2e-6)
    pod = replace(cluster(rack), device=replace(DEVICE, generation="blackwell_ultra"))
    for ranks, measured in ((8, 27.8e-6), (16, 48.5e-6)):
        message = Message(kind="all_reduce", payload_bytes=1024.0, group=ranks, axis="tp")
        cost = collective_time(message, pod, Layout(tp=ranks), efficiency=CALIBRATED)
        assert cost.algorithm == "ring_ll"
        assert cost.time_s == pytest.approx(measured, rel=0.1)
        assert "measured up to" in cost.flags[0]


def test_priors_are_medians_and_kernel_rates_do_not_grow_with_the_link():
    """Places of 300 and 900 GB/s: shares 0.6 and 0.2 are 180 GB/s for a kernel, 0.4 of a link."""

    def record(share):
        return LinkRecord(launch_s=2e-6 / share, step_s=1e-6, bandwidth_share=share)

    found = priors({
        ("all_reduce", name, place): record(share)
        for name in ("ring", "one_shot")
        for place, share in (("ampere:scale_up", 0.6), ("blackwell:scale_up", 0.2))
    })  # fmt: skip
    ring, kernel = (found["all_reduce", n, "*:scale_up"] for n in ("ring", "one_shot"))
    assert ring.share(8, 1e12) == pytest.approx(0.4)
    assert kernel.share(8, 1e12) == pytest.approx(0.18)
    assert ring.launch_s == pytest.approx((2e-6 / 0.6 + 2e-6 / 0.2) / 2)
    assert ring.ranks == 0
    assert ring.spread == 0.5


def test_fits_are_physical():
    for fit in FITS:
        assert 0 < fit.bandwidth_share <= 1
        assert fit.launch_us > 0
        assert fit.step_us >= 0


def test_small_all_reduce_on_eight_h100():
    """Engines take 3.2 to 4.8 us for 1 to 4 KB, NCCL 16: the fitted rows come back out."""
    box = cluster(node(rate=450e9, latency_s=2e-6, in_network_reduction=True))
    message = Message(kind="all_reduce", payload_bytes=2048.0, group=8, axis="tp")
    cost = collective_time(message, box, Layout(tp=8), efficiency=CALIBRATED)
    assert 3.2e-6 < cost.time_s < 4.8e-6
    assert cost.algorithm == "one_shot"
    assert cost.candidates_s["ring_ll"] == pytest.approx(15.7e-6, rel=0.1)


shapes = st.sampled_from([{}, {"topology": "mesh"}, {"in_network_reduction": True}])
efficiencies = st.sampled_from(["ideal", CALIBRATED])


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    size=st.floats(1, 1e11),
    group=st.integers(1, 144),
    shape=shapes,
    efficiency=efficiencies,
    faster=st.sampled_from(["inner", "outer"]),
)
def test_laws(kind, size, group, shape, efficiency, faster):
    """Degree 1 is free; a doubled link never slows; best ≤ every candidate; never below bytes/B."""
    inner, outer = node(latency_s=1e-6, **shape), fabric(latency_s=5e-6)
    pod = cluster(inner, outer)
    routing = Routing(top_k=8, num_experts=256) if kind == "all_to_all" else None
    message = Message(kind=kind, payload_bytes=size, group=group, axis="tp", routing=routing)

    def run(where):
        return collective_time(message, where, Layout(tp=group), efficiency=efficiency)

    cost = run(pod)
    if group == 1:
        assert cost.time_s == 0
        return
    assert all(cost.time_s <= t for t in cost.candidates_s.values())
    assert sum(cost.time_by_tier_s.values()) == pytest.approx(cost.time_s)
    for tier in pod.tiers:
        bound = cost.bytes_by_tier[tier.name] / tier.bandwidth_bytes_per_s
        assert cost.time_s >= bound * (1 - 1e-9)
    quick = {"inner": inner, "outer": outer}[faster]
    quick = replace(quick, bandwidth_bytes_per_s=2 * quick.bandwidth_bytes_per_s)
    better = cluster(quick, outer) if faster == "inner" else cluster(inner, quick)
    assert run(better).time_s <= cost.time_s * (1 + 1e-9)
    if efficiency != "ideal":
        perfect = collective_time(message, pod, Layout(tp=group), efficiency="ideal")
        assert perfect.time_s <= cost.time_s


@given(
    racks=st.integers(1, 12),
    top_k=st.integers(1, 8),
    direct=st.booleans(),
)
def test_more_racks_never_reduce_cross_rack_bytes(racks, top_k, direct):
    def crossing(count):
        pod = cluster(node(size=72), fabric(size=72 * count)) if count > 1 else cluster(node(72))
        message = Message(
            kind="all_to_all",
            payload_bytes=1e6 * top_k,
            group=72 * count,
            axis="ep",
            routing=Routing(top_k=top_k, num_experts=72 * 720720 // 72),
        )
        name = "direct" if direct else "hierarchical"
        cost = collective_time(
            message,
            pod,
            Layout(dp=72 * count, ep=72 * count),
            efficiency="ideal",
            algorithms=[name],
        )
        return cost.bytes_by_tier.get("scale_out", 0.0)

    assert crossing(racks + 1) >= crossing(racks) * (1 - 1e-9)


def test_ranks_per_tier_leaves_a_group_that_does_not_fit_short():
    assert int(ranks_per_tier(cluster(node()), 16, 1)[-1]) == 8


def test_exchange_between_dp_groups_crosses_nodes():
    """tp=8, dp=4, ep=32 on nodes of 8: the 4 ranks of one tp index sit on 4 nodes."""
    pod = cluster(node(), fabric(size=32))
    routing = Routing(top_k=1.0, num_experts=8)
    message = Message(kind="all_to_all", payload_bytes=1e6, group=4, axis="ep", routing=routing)
    cost = collective_time(message, pod, Layout(tp=8, dp=4, ep=32), efficiency="ideal")
    assert cost.bytes_by_tier["scale_up"] == 0
    assert cost.bytes_by_tier["scale_out"] == pytest.approx(0.75e6)


def test_fractional_copies_interpolate():
    assert expected_domains(Routing(top_k=0.5, num_experts=64), 8) == pytest.approx(0.5)
    low, mid, high = (expected_domains(Routing(top_k=k, num_experts=64), 8) for k in (2, 2.5, 3))
    assert low < mid < high
