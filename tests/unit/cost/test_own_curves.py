"""A user's curve holds for its kind, format, device and size; everything else stays as shipped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ridgeline.catalog import Catalog
from ridgeline.catalog.clusters import named_cluster
from ridgeline.cost.efficiency import Curve, sampled
from ridgeline.cost.efficiency_records import CALIBRATED
from ridgeline.cost.engines import engine_profile
from ridgeline.cost.network_records import CALIBRATED as NETWORK
from ridgeline.cost.own_curves import (
    Calibration,
    OwnCurve,
    OwnEngine,
    OwnLink,
    with_curves,
    with_engine,
    with_links,
)
from ridgeline.model.work import Operation

H100 = Catalog().device("h100-sxm")
A100 = Catalog().device("a100-sxm-80")


def gemm(m, form: str = "bf16") -> Operation:
    return Operation(
        name="gemm", family="gemm", component="k", compute_format=form, flop=2.0 * m * 4096 * 4096,
        weight_bytes=2.0 * 4096**2, shape={"m": m, "n": 4096, "k": 4096}, storage_format=form,
    )  # fmt: skip


def attention(new_tokens) -> Operation:
    return Operation(
        name="core", family="attention", component="k", compute_format="bf16", flop=1e9,
        state_read_bytes=1e8, storage_format="bf16",
        shape={"batch": 8, "new_tokens": new_tokens, "context": 4096, "num_heads": 32,
               "head_dim": 128},
    )  # fmt: skip


def own(kind: str = "gemm", up_to: float = np.inf, launch_s: float = 1e-3) -> OwnCurve:
    return OwnCurve(
        kind=kind, form="bf16", device="h100-sxm", curve=Curve(launch_s=launch_s), up_to=up_to
    )


def test_holds_for_its_own_alone() -> None:
    mine = with_curves(CALIBRATED, Calibration(curves=(own(),)))
    assert mine.curve(gemm(64.0), H100).launch_s == 1e-3
    for operation, device in ((gemm(64.0), A100), (gemm(64.0, "fp8"), H100), (attention(1), H100)):
        assert mine.curve(operation, device) == CALIBRATED.curve(operation, device)
    assert mine.flag(gemm(64.0), H100) is None


def test_smallest_reach_wins() -> None:
    """To 16 rows 2 ms, to 64 rows 3 ms, beyond 1 ms; within one array too."""
    records = (own(), own(up_to=16, launch_s=2e-3), own(up_to=64, launch_s=3e-3))
    mine = with_curves(CALIBRATED, Calibration(curves=records))
    found = mine.curve(gemm(np.array([1.0, 16.0, 17.0, 64.0, 65.0])), H100).launch_s
    np.testing.assert_array_equal(found, [2e-3, 2e-3, 3e-3, 3e-3, 1e-3])


def test_decode_curve_leaves_prefill_alone() -> None:
    mine = with_curves(CALIBRATED, Calibration(curves=(own("attention_decode"),)))
    found = mine.curve(attention(np.array([1, 2048])), H100).launch_s
    shipped = CALIBRATED.curve(attention(np.array([1, 2048])), H100).launch_s
    assert found[0] == 1e-3
    assert found[1] == shipped[1]


def test_samples_take_the_spread_of_the_curve() -> None:
    record = replace(own(), curve=Curve(launch_s=1e-3, spread=0.1))
    mine = sampled(with_curves(CALIBRATED, Calibration(curves=(record,))), num=2000, seed=0)
    logs = np.log(np.ravel(mine.curve(gemm(64.0), H100).bandwidth_share))
    assert np.std(logs) == pytest.approx(0.1, rel=0.1)


def test_links_scale_records_of_the_library() -> None:
    """Latency three times, half the bandwidth; kernels of engines are not the library's."""
    link = OwnLink(kind="all_reduce", device="h100-sxm", latency_ratio=3, bandwidth_ratio=0.5)
    mine = with_links(NETWORK, Calibration(links=(link,)))
    cluster = named_cluster(Catalog(), "hgx-h100-8", 8)
    tier = cluster.tiers[0]
    before, after = (n.of("all_reduce", "ring", cluster, tier) for n in (NETWORK, mine))
    assert after.launch_s == pytest.approx(3 * before.launch_s)
    assert after.bandwidth_share == pytest.approx(before.bandwidth_share / 2)
    for kind, name in (("all_reduce", "one_shot"), ("all_gather", "ring")):
        assert mine.of(kind, name, cluster, tier) == NETWORK.of(kind, name, cluster, tier)


def test_engine_times_replace_all_of_a_layer() -> None:
    calibration = Calibration(
        engines=(OwnEngine(engine="vllm", device="h100-sxm", layer_s=9e-6, sequence_s=1e-6),)
    )
    shipped = engine_profile("vllm", "NVIDIA")
    mine = with_engine(shipped, calibration, "h100-sxm")
    assert mine is not None
    assert (mine.layer_s, mine.expert_layer_s, dict(mine.older_layer_s)) == (9e-6, 0, {})
    assert with_engine(shipped, calibration, "a100-sxm-80") is shipped
    assert with_engine(None, calibration, "h100-sxm") is None


def test_over_prefers_the_first() -> None:
    both = Calibration(curves=(own(),), source="a").over(
        Calibration(curves=(own(launch_s=9.0), own("elementwise")), source="b")
    )
    kinds = {(c.kind, c.curve.launch_s) for c in both.curves}
    assert kinds == {("gemm", 1e-3), ("elementwise", 1e-3)}


def test_flags_say_what_holds() -> None:
    calibration = Calibration(curves=(own(),), source="mine.yaml")
    assert "gemm from mine.yaml" in with_curves(CALIBRATED, calibration, "h100-sxm").flags[-1]
    assert "nothing in mine.yaml" in with_curves(CALIBRATED, calibration, "a100-sxm-80").flags[-1]
    assert with_curves(CALIBRATED, Calibration(), "h100-sxm") is CALIBRATED
