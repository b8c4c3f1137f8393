"""The rack cliff against the lecture, skewed loads, and other networks."""

import json

import numpy as np
import pytest

from ridgeline.chalkboard.racks import all_to_all_slowdown
from ridgeline.errors import InputError
from ridgeline.report.racks import as_json, rack_blocks, render_racks
from ridgeline.report.racks_plot import plot_racks
from ridgeline.study.racks import Exchange, exchange_time, parse_racks, rack_cluster, racks
from ridgeline.study.resolve import resolve_cluster


@pytest.fixture(scope="module")
def result():
    return racks()


def _row(result, count, ratio):
    return next(r for r in result.cliff if r["racks"] == count and r["ratio"] == ratio)


def test_lecture_slowdowns(result):
    """C2-N3: at ratio 8, two racks 4x, three 5.33x, four 6x; half, 2/3, 3/4 cross."""
    assert _row(result, 2, 8)["slowdown_chalk"] == pytest.approx(4)
    assert _row(result, 3, 8)["slowdown_chalk"] == pytest.approx(16 / 3)
    assert _row(result, 4, 8)["slowdown_chalk"] == pytest.approx(6)
    assert [_row(result, q, 8)["crossing_share"] for q in (1, 2, 4)] == [0, 0.5, 0.75]


def test_lecture_time_on_nvlink(result):
    """C2-N8: 128 tokens, 8·7168·3 bytes, 58 layers over 900 GB/s: 1.42 ms."""
    assert _row(result, 1, 1)["time_chalk_s"] == pytest.approx(1.42e-3, rel=0.005)


@pytest.mark.parametrize("ratio", [1.0, 4.0, 8.0, 18.0])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_ideal_limit_is_the_chalkboard(result, count, ratio):
    """Without latency, t_Q/t_1 = max(1/Q, ρ·(1 − 1/Q)·E/(E − 1)).

    E/(E − 1) is the copy a device keeps, which the chalkboard counts as sent: with E → ∞ equal.
    """
    one, many = _row(result, 1, ratio), _row(result, count, ratio)
    exact = max(1 / count, ratio * (1 - 1 / count) * 72 / 71)
    inside = (72 - 1) / (72 * count) * 72 / 71
    assert many["time_ideal_s"] / one["time_ideal_s"] == pytest.approx(max(exact, inside))
    chalk = float(all_to_all_slowdown(racks=count, bandwidth_ratio=ratio))
    assert many["time_ideal_s"] / one["time_ideal_s"] == pytest.approx(chalk, rel=1 / 70)


def test_huge_racks_reach_the_chalkboard_to_rounding(result):
    unit = resolve_cluster("gb200-nvl72")
    e = result.exchange
    times = [
        exchange_time(e, rack_cluster(unit, 10**9, q, 8.0), 128, "ideal", "direct")["time_s"]
        for q in (1, 2, 3)
    ]
    assert times[1] / times[0] == pytest.approx(4.0, rel=1e-8)
    assert times[2] / times[0] == pytest.approx(16 / 3, rel=1e-8)


def test_one_copy_per_rack_crosses_less_and_detail_is_never_below_it(result):
    for row in result.cliff:
        assert row["crossing_bytes_per_device_once_per_rack"] <= row["crossing_bytes_per_device"]
        best = min(row["time_ideal_s"], row["time_ideal_once_per_rack_s"])
        assert row["time_detailed_s"] >= best


def test_deepseek_v3_over_18_nodes_of_h800():
    """88 tokens on 144 H800: chalk 17.56 ms at 50 GB/s x 17/18; one copy per node 11.6 ms."""
    found = racks(on="hgx-h800-8", num_racks=(18,), ratios=(4.0,), tokens_per_device=88)
    row = found.cliff[0]
    assert row["time_chalk_s"] == pytest.approx(17.56e-3 * 17 / 18, rel=2e-3)
    assert row["time_ideal_once_per_rack_s"] == pytest.approx(11.6e-3, rel=0.01)
    assert 17e-3 < row["time_detailed_s"] < 24e-3


def test_traffic_matrix_has_no_diagonal_and_blocks_add_up(result):
    matrix = result.traffic_bytes
    assert matrix.shape == (288, 288)
    assert np.trace(matrix) == 0
    each = 128 * 8 * 7168 / 288
    assert matrix[0, 1] == pytest.approx(each)
    assert rack_blocks(result).sum() == pytest.approx(matrix.sum())


def test_skewed_load_slows_everybody():
    """One hot expert of 256 with the load of 33: on 64 devices its device gets 36 of 288."""
    hot = [33.0] + [1.0] * 255
    kwargs = {"devices_per_rack": 64, "num_racks": (1,), "ratios": (8.0,)}
    flat, skewed = racks(**kwargs), racks(load=hot, **kwargs)
    assert flat.imbalance == pytest.approx(1)
    assert skewed.imbalance == pytest.approx(36 / 288 * 64)
    ratio = skewed.cliff[0]["time_ideal_s"] / flat.cliff[0]["time_ideal_s"]
    assert ratio == pytest.approx(8)
    assert skewed.traffic_bytes[5, 0] == pytest.approx(8 * flat.traffic_bytes[5, 0])


def test_torus_loses_to_a_switch_of_the_same_links(result):
    """4x4x4: three hops on average, each device has its rate over all: 3 times; 8x8x8: 6 times.

    The torus bound has the n in the denominator that the switch lacks: 64/63 and 512/511.
    """
    time = [row["time_ideal_s"] for row in result.topologies]
    assert time[2] / time[3] == pytest.approx(3 * 64 / 63, rel=1e-6)
    assert time[4] / time[5] == pytest.approx(6 * 512 / 511, rel=1e-6)


def test_nine_boards_lose_to_one_rack(result):
    """Bound: 64 of 72 copies leave a board at 50 GB/s instead of 71 of 72 at 900: 16.2 times."""
    time = [row["time_ideal_s"] for row in result.topologies]
    assert time[1] / time[0] == pytest.approx(64 / 71 * 18, rel=1e-6)


def test_largest_model_by_hand(result):
    """NVL72: 72·186 GB less 128 · 4096 · 70,272 B on each of 72 (MLA, bf16: 576·2·61 B/token)."""
    row = next(d for d in result.domains if d["cluster"] == "gb200-nvl72")
    reserve = 72 * 128 * 4096 * 576 * 2 * 61
    assert row["kv_reserve_bytes"] == pytest.approx(reserve)
    assert row["params_fp8"] == pytest.approx(row["capacity_bytes"] - reserve)


def test_output_forms(result, tmp_path):
    text = render_racks(result, "text")
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "rack" in text
    payload = json.loads(render_racks(result, "json"))
    assert payload["schema_version"] == "1"
    assert payload == json.loads(json.dumps(as_json(result)))
    assert len(render_racks(result, "csv").splitlines()) == 17
    assert render_racks(result, "markdown").startswith("| racks |")
    plot_racks(result, tmp_path / "racks.svg")
    assert (tmp_path / "racks.svg").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"model": "llama-3.3-70b"}, "mixture of experts"),
        ({"num_racks": (0,)}, "at least 2 devices"),
        ({"ratios": (-1.0,)}, "positive"),
        ({"load": [1.0, 2.0]}, "256 experts"),
        ({"load": [0.0] * 256}, "all zero"),
        ({"on": "rtx-4090-1"}, "one device"),
    ],
)
def test_wrong_questions_are_answered_with_the_rule(wrong, words):
    with pytest.raises(InputError, match=words):
        racks(**wrong)


def test_racks_count_every_one():
    assert parse_racks("1:4") == (1, 2, 3, 4)
    assert parse_racks("2,8") == (2, 8)


def test_exchange_is_what_the_config_says(result):
    e: Exchange = result.exchange
    assert (e.hidden_size, e.moe_layers) == (7168, 58)
    assert (e.routing.top_k, e.routing.num_experts, e.routing.top_groups) == (8, 256, 4)


def test_networks_are_described_for_drawing(result):
    """NVL72 is one switch of 72 at 900 GB/s; its way out is 50 GB/s per device, 18 times less."""
    inner, outer = as_json(result)["request"]["tiers"]
    assert (inner["size"], inner["bandwidth_bytes_per_s"]) == (72, 900e9)
    assert inner["bandwidth_bytes_per_s"] / outer["bandwidth_bytes_per_s"] == 18
    torus = next(t for t in result.topologies if "torus 4x4x4" in t["network"])
    assert torus["tiers"][0]["dimensions"] == [4, 4, 4]
    assert len(racks(on="groq-576", num_racks=(1, 2)).request["tiers"]) == 1
