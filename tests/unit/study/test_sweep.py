"""Sweeps over hardware figures: laws, units, and plans at every value."""

import json

import pytest

from ridgeline.errors import InfeasibleError, InputError
from ridgeline.report.sweep import render_sweep
from ridgeline.study.estimate import estimate
from ridgeline.study.resolve import resolve_cluster
from ridgeline.study.sweep import parse_figure, sweep_estimate, sweep_plan


def test_values_are_factors_or_quantities():
    cluster = resolve_cluster("hgx-h100-8")
    today = cluster.device.memory.bandwidth_bytes_per_s
    assert parse_figure("memory-bandwidth=0.5x,4 TB/s", cluster)[1] == (0.5 * today, 4e12)
    for text in ("memory_bandwidth", "bandwidth=2x", "peak=4 TB/s", "peak=-1x,"):
        with pytest.raises(InputError):
            sweep_estimate(text, "llama-3.3-70b", on="hgx-h100-8", batch=1)


def test_estimate_at_factor_one_is_the_estimate_and_more_never_slows():
    question = {"batch": "1,64", "context": 4096, "tp": 8}
    plain = estimate("llama-3.3-70b", on="hgx-h100-8", **question).rows["step_s"]
    for figure in ("memory_bandwidth", "peak", "scale_up_bandwidth"):
        rows = sweep_estimate(
            f"{figure}=0.5x,1x,2x", "llama-3.3-70b", on="hgx-h100-8", **question
        ).rows
        steps = [row["step_s"] for row in rows]
        assert steps[2:4] == pytest.approx(plain.tolist())
        assert steps[0] >= steps[2] >= steps[4]
        assert steps[1] >= steps[3] >= steps[5]


def test_plan_at_every_capacity_and_none_where_nothing_fits():
    sweep = sweep_plan(
        "capacity=0.1x,1x", "llama-3.3-70b", on="hgx-h100-8", isl=1024, osl=128, pools=False
    )
    assert [row["winner"] is None for row in sweep.rows] == [True, False]
    assert any("does not fit" in flag for flag in sweep.flags)
    document = json.loads(render_sweep(sweep, "json"))
    assert document["rows"][1]["tokens_per_s_per_device"] > 0
    assert "none meets" in render_sweep(sweep, "text")
    with pytest.raises(InfeasibleError):
        sweep_plan("capacity=0.1x", "llama-3.3-70b", on="hgx-h100-8", isl=1024, osl=128)
