"""Pipelines of real models: what stages fix and what they do not."""

import json

import pytest

from ridgeline.errors import InputError
from ridgeline.report.pipelines import render_pipelines
from ridgeline.study.pipelines import pipelines


@pytest.fixture(scope="module")
def llama():
    """80 equal layers: P = 1, 2, 4, 8 divide them."""
    return pipelines("llama-3.3-70b", on="hgx-h100-8", pp=(1, 2, 4, 8), batch=64, context=8192)


def test_weights_fall_and_the_cache_does_not(llama):
    """C4-Q1: layers exactly as 1/P (ends stay); KV flat when B = P·b, 1/P when B stays (C4-Q2)."""
    first, *rest = llama.rows
    for row in rest:
        p = row["stages"]
        assert row["kv_bytes_per_device"] == pytest.approx(first["kv_bytes_per_device"])
        assert row["kv_bytes_per_device_batch_fixed"] == pytest.approx(
            first["kv_bytes_per_device"] / p
        )
        assert 1 / p <= row["weight_bytes_per_device"] / first["weight_bytes_per_device"] < 1.2 / p


def test_stages_add_no_speed(llama):
    """The time per token does not fall with P, hops included."""
    tpot = [row["tpot_s"] for row in llama.rows]
    assert all(t >= tpot[0] * 0.98 for t in tpot)
    assert llama.rows[0]["hop_s"] == 0


def test_more_micro_batches_than_stages_only_wait(llama):
    assert [m for m, _ in llama.loops] == [4, 8, 12]
    shown = json.loads(render_pipelines(llama, "json"))["loops"]
    assert shown[0]["idle_share"] > 0.49
    assert shown[2]["token_period_s"] == pytest.approx(1.5 * shown[1]["token_period_s"], rel=0.05)


def test_stage_imbalance_of_real_patterns():
    """DeepSeek's dense first layers and gemma's windows make stages unequal; llama's do not."""

    def unevenness(model: str) -> float:
        result = pipelines(model, on="hgx-h200-8", pp=(4,), batch=16, context=65536)
        return result.rows[0]["stage_imbalance"]

    assert unevenness("llama-3.3-70b") < unevenness("gemma-3-27b")
    assert unevenness("deepseek-v3") > 1.03
    layers = pipelines("gemma-3-27b", on="hgx-h100-8", pp=(8,), batch=8).stages
    assert "gqa of 1,024" in layers[0]["layers"]


def test_verdicts():
    small = pipelines("llama-3.1-8b", on="hgx-h100-8", pp=(1, 2), batch=16, context=4096)
    assert small.verdict.startswith("Do not pipeline")
    large = pipelines("deepseek-v3", on="hgx-h100-8", pp=(1, 2, 4), batch=8, context=4096)
    assert large.verdict.startswith("Use ")
    full = pipelines("deepseek-v3", on="hgx-h100-8", pp=(1, 2), batch=512, context=131072)
    assert full.verdict.startswith("No number of stages fits")
    flat = pipelines("deepseek-v3", on="hgx-h100-8", pp=(1,), batch=8, context=4096)
    assert flat.verdict.startswith("P = 1 does not fit: weights of 85.1 GB")
    assert flat.verdict.endswith("use 2 stages or more.")


def test_text_fits_the_page(llama):
    for line in render_pipelines(llama, "text").split("\n"):
        assert len(line) <= 100
    assert render_pipelines(llama, "csv").count("\n") == 4
    assert render_pipelines(llama, "markdown").startswith("| P")


@pytest.mark.parametrize(
    "bad", [{"pp": (0,)}, {"pp": (65,)}, {"pp": (1, 40)}, {"batch": 0}, {"micro_batches": 0}]
)
def test_refusals(bad):
    with pytest.raises(InputError):
        pipelines("llama-3.1-8b", on="hgx-h100-8", **bad)
