"""Published measurements against predictions."""

import json
import math
import os
from pathlib import Path

import pytest

from ridgeline.report.truth import truth_json, truth_plot, truth_text
from ridgeline.validate.predict import predict
from ridgeline.validate.prediction import NotPredicted, Prediction
from ridgeline.validate.recorded import Recorded, group_key, grown, recorded
from ridgeline.validate.score import residual_bands, score
from ridgeline.validate.truth import packaged_rows, validate_truth
from ridgeline.validate.truth_rows import read_rows

HEAD = (
    "id,area,model,chip,metric,unit,value,scorable,"
    "phase,w_dtype,batch,context_len,M,N,K,tp,engine\n"
)


def rows(*lines: str):
    return read_rows([HEAD, *(x + "\n" for x in lines)], file="f")


def made(predicted: dict[str, float], published: dict[str, tuple[str, float]]):
    found = rows(*(f"{k},kernel,,{chip},x,us,{v},Y,,,,,,,,," for k, (chip, v) in published.items()))
    return found, {k: Prediction(value=v, family="x", bound="b") for k, v in predicted.items()}


def test_groups_are_averaged_before_the_median():
    """Chip a: errors 10 % and 30 % -> 20 %; b: 0; c: -50 %: median of 20, 0, 50 is 20 %."""
    found, answers = made(
        {"1": 1.1, "2": 1.3, "3": 5.0, "4": 1.0},
        {"1": ("a", 1.0), "2": ("a", 1.0), "3": ("b", 5.0), "4": ("c", 2.0)},
    )
    (one,) = score(found, answers, bands={"x": (-0.2, 0.2)}).scores
    assert (one.num_rows, one.num_groups) == (4, 3)
    assert one.median_error == pytest.approx(0.2)
    assert one.row_median_error == pytest.approx(0.2)
    assert one.bias == pytest.approx(0.0)
    # ln(1/1.1) = -0.095 and ln 1 = 0 lie inside +-0.2; ln(1/1.3) = -0.26 and ln 2 do not:
    # shares of 1/2, 1 and 0 over the three groups.
    assert one.coverage == pytest.approx(0.5)


def test_sampled_bands_count_where_there_are_any():
    """Row 1 inside, row 2 outside, row 3 without a band: a half."""
    found = rows(*(f"{i},kernel,,a,x,us,1.0,Y,,,,,,,,," for i in (1, 2, 3)))
    edges = {"1": (0.9, 1.1), "2": (1.2, 1.4), "3": (None, None)}
    answers = {
        k: Prediction(value=1.3, family="x", bound="b", p10=low, p90=high)
        for k, (low, high) in edges.items()
    }
    assert score(found, answers, bands={}).scores[0].sampled_coverage == pytest.approx(0.5)
    bare, unsampled = made({"1": 1.0}, {"1": ("a", 1.0)})
    assert score(bare, unsampled, bands={}).scores[0].sampled_coverage is None


def test_kernels_steps_and_loops_carry_their_band():
    """Every predicted packaged kernel, step and closed loop has p10 < value < p90."""
    kinds = ("gemm bf16", "decode attention", "decode step", "local prefill", "serving tpot",
             "offline max", "wide-EP decode")  # fmt: skip
    scored = [x.prediction for x in validate_truth().report.scored if x.row.metric != "itl_slope"]
    for kind in kinds:
        mine = [p for p in scored if p.family == kind]
        assert mine
        assert all(p.p10 is not None and p.p90 is not None for p in mine)
        assert all(p.p10 < p.value < p.p90 for p in mine)


def test_what_no_device_can_do_is_listed_and_not_scored():
    """2 · 4096³ FLOP take 139 µs at 989 TFLOP/s; a rated clock is passed by a tenth, not by half.
    A prompt of 8,192 tokens of Llama-2-70B on two A100 takes 1.8 s at their peak.
    """  # noqa: D205 - one sentence
    shape = "bf16,,,4096,4096,4096,,"
    found = rows(
        f"1,kernel,,H100 SXM,gemm_latency,us,130,Y,,{shape}",
        f"2,kernel,,H100 SXM,gemm_latency,us,90,Y,,{shape}",
        "3,x,Llama-2-70B,A100 SXM 80GB,prefill_latency,ms,1000,Y,prefill,fp16,16,512,,,,2,vLLM 0.2",
        "4,x,Llama-2-70B,A100 SXM 80GB,prefill_latency,ms,3000,Y,prefill,fp16,16,512,,,,2,vLLM 0.2",
    )
    answers = predict(found)
    assert isinstance(answers["1"], Prediction)
    assert isinstance(answers["4"], Prediction)
    for impossible in ("2", "3"):
        answer = answers[impossible]
        assert isinstance(answer, NotPredicted)
        assert "faster than the peak" in answer.reason


def test_rows_that_name_an_engine_are_scored_with_its_kernels():
    """The decode kernel of vLLM on a 4090 launches later than the mean of the engines'."""
    head = "id,area,chip,metric,unit,value,scorable,engine,heads,kv_heads,head_dim,batch,kv_len\n"
    line = "kernel,RTX 4090,attention_decode_latency,us,100,Y,{},32,8,128,8,256\n"
    lines = [head, "1," + line.format("vLLM 0.19"), "2," + line.format("home-made")]
    answers = predict(read_rows(lines, file="f"))
    own, mean = answers["1"], answers["2"]
    assert isinstance(own, Prediction)
    assert isinstance(mean, Prediction)
    assert own.value > 1.1 * mean.value


def test_an_unstated_layout_of_a_latent_cache_is_the_faster_of_two():
    """DeepSeek-R1 on 8 B200: tp 8 keeps the latent cache eight times; attention data parallel
    once, so more requests fit. A stated tp is taken as it is.
    """  # noqa: D205 - one sentence
    head = "id,area,model,chip,metric,unit,value,scorable,tp,n_chips,input_len,output_len,w_dtype\n"
    what = "serving_offline_mlperf,DeepSeek-R1,B200,output_throughput_total,tok/s,1,P"
    line = what + ",{},8,800,4000,nvfp4\n"
    lines = [head, "1," + line.format(""), "2," + line.format(8)]
    answers = predict(read_rows(lines, file="f"))
    free, stated = answers["1"], answers["2"]
    assert isinstance(free, Prediction)
    assert isinstance(stated, Prediction)
    assert free.value > 1.5 * stated.value


def test_what_is_not_predicted_is_listed_and_never_an_error_of_zero():
    found = rows(
        "1,training_step,GPT,H100,mfu,%,40,Y,,,,,,,,,",
        "2,moon,GPT,H100,phase,deg,40,Y,,,,,,,,,",
        "3,kernel,,H100 SXM,gemm_latency,us,40,Y,,bf16,,,512,512,512,,",
    )
    answers = predict(found)
    assert isinstance(answers["1"], NotPredicted)
    report = score(found, answers, bands={})
    assert len(report.scored) == 1
    assert {why for _, why in report.not_predicted} == {
        "area `moon`, phase ``: unknown, not predicted yet",
        "training: not predicted yet",
    }


def test_figures_that_give_no_positive_time_are_listed():
    found = rows("1,kernel,,H100 SXM,gemm_latency,us,40,Y,,bf16,,,-512,512,512,,")
    answer = predict(found)["1"]
    assert isinstance(answer, NotPredicted)
    assert "out of range" in answer.reason


def test_a_decode_step_follows_its_weights():
    """70.6e9 weights of 2 B over 4 x 3.35 TB/s are 10.5 ms; no engine beats that."""
    found = rows(
        "1,inference_phase,Llama-3.3-70B,H100 SXM 80GB,decode_step_time,ms,17.9,Y,"
        "decode,bf16,1,600,,,,4,vLLM 0.8"
    )
    answer = predict(found)["1"]
    assert isinstance(answer, Prediction)
    assert 10.5 < answer.value < 25
    assert answer.bound == "weight read"


def test_a_group_that_grew_is_found():
    found, answers = made({"1": 1.5}, {"1": ("a", 1.0)})
    report = score(found, answers, bands={})
    key = group_key(report.by_source[0], ["1"])
    assert grown(report, Recorded(bands={}, errors={key: 0.5})) == ()
    (worse,) = grown(report, Recorded(bands={}, errors={key: 0.3}))
    assert worse.recorded == 0.3
    assert grown(report, Recorded(bands={}, errors={"x|f|Y|1|0": 0.3})) == ()


def test_bands_weigh_groups_alike():
    """Group a has 98 rows at ratio 1, group b two at 2: the band is (0, ln 2), widened for two
    groups by 1 + 1.5/2 around its middle.
    """  # noqa: D205 - one sentence
    published = {str(i): ("a", 1.0) for i in range(98)} | {"98": ("b", 2.0), "99": ("b", 2.0)}
    found, answers = made(dict.fromkeys(published, 1.0), published)
    low, high = residual_bands(score(found, answers, bands={}).scored)["x"]
    middle = math.log(2) / 2
    assert (low, high) == pytest.approx((middle * (1 - 1.75), middle * (1 + 1.75)), rel=1e-6)


def test_packaged_rows_are_predicted_as_on_record(tmp_path: Path):
    assert 200 <= len(packaged_rows()) <= 600
    assert all(r.text("source") for r in packaged_rows())
    result = validate_truth()
    assert result.worse == ()
    assert recorded().bands
    text = truth_text(result)
    assert "No group is worse" in text
    assert all(len(line) <= 100 for line in text.splitlines())
    assert json.loads(json.dumps(truth_json(result)))["schema_version"] == 1
    truth_plot(result, tmp_path / "p.png")
    assert (tmp_path / "p.png").stat().st_size > 10_000


@pytest.mark.skipif("RIDGELINE_TRUTH" not in os.environ, reason="set RIDGELINE_TRUTH to a folder")
def test_open_rows_are_predicted_as_on_record():
    assert validate_truth(Path(os.environ["RIDGELINE_TRUTH"])).worse == ()
