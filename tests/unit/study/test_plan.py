"""Plans: targets, ranking, reasons, and the anchors of large-scale serving."""

import numpy as np
import pytest

from ridgeline.errors import InfeasibleError, InputError
from ridgeline.model.draft import Speculation
from ridgeline.study.estimate import estimate
from ridgeline.study.plan import plan

LENGTHS = {"isl": 2048, "osl": 512}


@pytest.fixture(scope="module")
def rack():
    return plan(
        "deepseek-v3", on="gb200-nvl72", isl=4096, osl=1024, ttft_s=2.0, tpot_s=0.05,
        kv_cache_dtypes=(None, "fp8"),
    )  # fmt: skip


def test_the_whole_space_is_searched(rack):
    """72 devices, two cache formats, pools: at least the 50,000 combinations asked for."""
    assert rack.num_combinations > 50_000
    assert 0 < rack.num_fitting <= rack.num_combinations


def test_the_winner_meets_the_targets_and_nobody_beats_it(rack):
    best = rack.winner
    assert best.ttft_s <= 2.0
    assert best.tpot_s <= 0.05
    good = [o for o in (*rack.runners_up, *rack.front) if o.ttft_s <= 2.0 and o.tpot_s <= 0.05]
    assert all(o.tokens_per_s_per_device <= best.tokens_per_s_per_device * 1.0011 for o in good)


def test_runners_up_end_differently(rack):
    ends = [
        (o.tokens_per_s_per_device, o.tpot_s, o.layout) for o in (rack.winner, *rack.runners_up)
    ]
    for i, (a, x, _) in enumerate(ends):
        for b, y, _ in ends[:i]:
            assert abs(a / b - 1) >= 1e-3 or abs(x / y - 1) >= 1e-3


def test_reasons_add_up_to_what_throughput_divides_by(rack):
    for name, option in (("winner_s", rack.winner), ("runner_up_s", rack.runners_up[0])):
        total = sum(getattr(r, name) for r in rack.reasons)
        assert total == pytest.approx(1 / option.tokens_per_s_per_device)


def test_option_figures_agree_with_each_other(rack):
    for o in (rack.winner, *rack.front):
        assert o.tokens_per_s_per_user == pytest.approx(1 / o.tpot_s)
        assert o.tokens_per_s_per_device == pytest.approx(o.requests_per_s * 1024 / 72)
        used = int(o.layout.num_devices) * o.replicas
        if o.prefill_layout is not None:
            used += int(o.prefill_layout.num_devices) * o.prefill_replicas
        assert used + o.idle_devices == 72


def test_a_mixed_winner_agrees_with_estimate():
    """TPOT lies between the decode step and the mixed step at its batch, by estimate."""
    result = plan("llama-3.3-70b", on="hgx-h100-8", pools=False, **LENGTHS)
    best = result.winner
    question = {
        "batch": best.batch, "context": 2048 + 256, "tp": int(best.layout.tp),
        "pp": int(best.layout.pp), "chunk": 2048,
    }  # fmt: skip
    low, high = (
        float(estimate("llama-3.3-70b", on="hgx-h100-8", phase=p, **question).rows["step_s"][0])
        for p in ("decode", "mixed")
    )
    assert low < best.tpot_s < high


def test_objectives():
    fast = plan("llama-3.3-70b", on="hgx-h100-8", objective="latency", **LENGTHS)
    cheap = plan("llama-3.3-70b", on="hgx-h100-8", objective="cost", **LENGTHS)
    assert fast.winner.tpot_s < cheap.winner.tpot_s
    assert fast.winner.usd_per_mtok > cheap.winner.usd_per_mtok


def test_speculation_and_routing_reach_the_search():
    plain = plan("deepseek-v3", on="hgx-h200-8", objective="latency", **LENGTHS)
    drafts = plan(
        "deepseek-v3", on="hgx-h200-8", objective="latency",
        speculation=Speculation(acceptance=(0.85,)), **LENGTHS,
    )  # fmt: skip
    assert 1.2 < plain.winner.tpot_s / drafts.winner.tpot_s < 1.85
    even, skewed = (
        plan("deepseek-v3", on="gb200-nvl72", routing=r, **LENGTHS).winner
        for r in ("balanced", "zipf:0.7")
    )
    assert skewed.tokens_per_s_per_device < even.tokens_per_s_per_device


def test_fewer_stages_on_request():
    result = plan("deepseek-v3", on="hgx-h200-8x2", max_pp=1, **LENGTHS)
    assert all(int(o.layout.pp) == 1 for o in result.front)


def test_infeasible_targets_name_the_nearest_option():
    with pytest.raises(InfeasibleError, match=r"Nearest: .* batch .*TPOT"):
        plan("llama-3.3-70b", on="hgx-h100-8", tpot_s=0.0001, **LENGTHS)
    with pytest.raises(InfeasibleError, match="does not fit"):
        plan("deepseek-v3", on="hgx-h100-8", **LENGTHS)


@pytest.mark.parametrize(
    "bad",
    [
        {"isl": 0}, {"osl": -1}, {"tpot_s": float("nan")}, {"ttft_s": 0.0},
        {"objective": "speed"}, {"devices": 5000}, {"routing": "zipf"}, {"routing": "zipf:-1"},
    ],
)  # fmt: skip
def test_refuses_bad_questions(bad):
    with pytest.raises(InputError):
        plan("llama-3.3-70b", on="hgx-h100-8", **{**LENGTHS, **bad})


def test_deepseek_on_h800_near_the_published_step():
    """EP144, 88 sequences per device, 4,989 tokens: observed about 47.6 ms per token, no drafts.

    Source: DeepSeek's published day (14.8k output tokens/s per 8-device node in the mean) and
    its figure of 20 to 22 tokens/s per user. Nothing here was fitted to it.
    """
    result = estimate(
        "deepseek-v3", on="hgx-h800-8", dp=144, ep=144, redundant_experts=32, batch=144 * 88,
        context=4989,
    )  # fmt: skip
    assert float(result.rows["chalk_step_s"][0]) == pytest.approx(10.6e-3, rel=0.01)
    step = float(result.rows["step_s"][0])
    assert float(result.rows["overlap_step_s"][0]) < 47.6e-3
    assert step == pytest.approx(47.6e-3, rel=0.3)
    parts = {p.name: float(np.squeeze(p.time_s)) for p in result.breakdown.parts if p.is_network}
    assert parts["experts.dispatch"] < parts["experts.combine"]


def test_every_shown_option_has_a_band(rack):
    """p10 < figure < p90, and money moves with the time of a request."""
    for o in (rack.winner, *rack.runners_up, *rack.front):
        assert o.band is not None
        assert o.band.tpot_p10_s < o.tpot_s < o.band.tpot_p90_s
        assert o.band.ttft_p10_s < o.ttft_s < o.band.ttft_p90_s
        low, high = o.band.tokens_per_s_per_device_p10, o.band.tokens_per_s_per_device_p90
        assert low < o.tokens_per_s_per_device < high
        assert o.band.usd_per_mtok_p90 / o.usd_per_mtok == pytest.approx(
            o.tokens_per_s_per_device / low
        )


def test_an_ideal_plan_has_no_width():
    found = plan("llama-3.1-8b", on="hgx-h100-8", efficiency="ideal", **LENGTHS).winner
    assert found.band is not None
    assert found.band.tpot_p10_s == pytest.approx(found.tpot_s)
    assert found.band.tpot_p90_s == pytest.approx(found.tpot_s)
