"""Options of a plan taken apart: the parts add up to the plan's own figures."""

from dataclasses import replace

import numpy as np
import pytest

from ridgeline.errors import InfeasibleError, InputError
from ridgeline.report.plan_point import point_json, render_point
from ridgeline.study.launch import launch_text
from ridgeline.study.plan import plan
from ridgeline.study.plan_point import front_option, plan_point


@pytest.fixture(scope="module", params=["pools", "mixed", "stages"])
def result(request):
    question = {
        "pools": ("deepseek-v3", {"on": "hgx-h200-8x4", "kv_cache_dtypes": ("bf16", "fp8")}),
        "mixed": ("llama-3.3-70b", {"on": "hgx-h100-8", "kv_cache_dtypes": (None, "fp8")}),
        "stages": ("llama-3.3-70b", {"on": "l40s-8", "pools": False}),
    }
    model, more = question[request.param]
    return plan(model, isl=4096, osl=1024, **more)


def every(result):
    return [plan_point(result, o) for o in (result.winner, *result.runners_up, *result.front)]


def test_steps_per_token_give_the_time_per_token(result):
    for point in every(result):
        total = sum(s.step_s * s.per_token for s in point.steps)
        assert total == pytest.approx(point.option.tpot_s, rel=1e-9)


def test_parts_and_limits_sum_to_the_step(result):
    for point in every(result):
        for step in point.steps:
            assert sum(p.time_s for p in step.parts) == pytest.approx(step.step_s, rel=1e-9)
            assert sum(step.limits_s.values()) == pytest.approx(step.step_s, rel=1e-9)
            assert {p.limit for p in step.parts} <= set(step.limits_s)


def test_device_time_is_what_throughput_divides_by(result):
    for point in every(result):
        total = sum(point.device_s_per_token.values())
        assert total == pytest.approx(1 / point.option.tokens_per_s_per_device)
    shown = {r.limit: r.winner_s for r in result.reasons}
    winner = plan_point(result, result.winner).device_s_per_token
    assert {k: v for k, v in winner.items() if v} == pytest.approx(
        {k: v for k, v in shown.items() if v}
    )


def test_first_token_of_pools_is_prefill_transfer_and_one_step(result):
    for point in every(result):
        if point.option.kind == "pools":
            decode, prefill = point.steps
            assert (decode.phase, prefill.phase) == ("decode", "prefill")
            first = prefill.step_s + point.transfer_s + point.option.tpot_s
            assert first == pytest.approx(point.option.ttft_s, rel=1e-9)
        else:
            assert point.transfer_s is None


def test_memory_fits_as_the_search_said(result):
    for point in every(result):
        share = result.deployment.memory_share
        assert sum(point.memory_bytes.values()) <= share * point.capacity_bytes


def test_the_cache_takes_the_bytes_of_its_own_format():
    """The same option in bf16 holds a cache of twice the bytes of fp8, whoever won."""
    both = plan(
        "llama-3.3-70b", on="hgx-h100-8", isl=4096, osl=1024, kv_cache_dtypes=("bf16", "fp8")
    )
    wide, narrow = (
        plan_point(both, replace(both.winner, kv=kv)).memory_bytes["kv cache"]
        for kv in ("bf16", "fp8")
    )
    assert wide == pytest.approx(2 * narrow)


def test_points_count_from_one(result):
    assert front_option(result, 1) is result.front[0]
    last = len(result.front)
    assert front_option(result, last) is result.front[-1]
    for wrong in (0, last + 1, -1):
        with pytest.raises(InputError, match=f"from 1 to {last}"):
            front_option(result, wrong)


def test_every_point_can_be_emitted_or_says_why_not(result):
    for option in result.front:
        for engine in ("vllm", "sglang", "trtllm"):
            try:
                text = launch_text(result, engine, option)
            except InfeasibleError as error:
                assert "cannot express this option" in str(error)  # noqa: PT017 - either is right
            else:
                assert f"{1e3 * option.tpot_s:.3g}"[:3] in text
                assert "next best option instead" not in text


def test_documents(result):
    point = plan_point(result, result.front[0])
    assert "memory per device" in render_point(point, "text")
    assert render_point(point, "markdown").count("|") > 20
    rows = render_point(point, "csv").strip().split("\n")
    assert len(rows) == 1 + sum(len(s.parts) for s in point.steps)
    assert set(point_json(point)["memory_bytes"]) >= {"weights", "kv cache"}
    assert np.isfinite(point_json(point)["capacity_bytes"])
