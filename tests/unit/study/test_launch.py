"""Launch commands: every flag exists in the engine, and says what the plan says."""

import json
import re
from pathlib import Path

import pytest

from ridgeline.errors import InfeasibleError, InputError
from ridgeline.model.draft import Speculation
from ridgeline.model.layout import Layout
from ridgeline.study.launch import expressible, launch_text
from ridgeline.study.launch_pool import RELEASES
from ridgeline.study.plan import plan

FLAGS = json.loads((Path(__file__).parents[2] / "golden" / "engine_flags.json").read_text())
ENGINES = ("vllm", "sglang", "trtllm")
MTP = Speculation(acceptance=(0.8, 0.7))
QUESTIONS = {
    "moe, rack": ("deepseek-v3", {"on": "gb200-nvl72"}),
    "moe, nodes, tight": ("deepseek-v3", {"on": "hgx-h200-8x9", "tpot_s": 0.025, "ttft_s": 1.0}),
    "moe, one node": ("deepseek-v3", {"on": "hgx-h200-8"}),
    "moe, drafts": ("deepseek-v3", {"on": "hgx-h200-8x4", "speculation": MTP}),
    "moe, latency": ("deepseek-v3", {"on": "gb200-nvl72", "objective": "latency"}),
    "moe, grouped query": ("qwen3-235b-a22b", {"on": "hgx-h100-8x2"}),
    "dense": ("llama-3.3-70b", {"on": "hgx-h100-8"}),
    "dense, latency": ("llama-3.3-70b", {"on": "hgx-h100-8", "objective": "latency"}),
    "dense, one device": ("llama-3.1-8b", {"on": "hgx-h100-8", "devices": 1}),
    "dense, bf16 cache": ("llama-3.3-70b", {"on": "hgx-h100-8", "kv_cache_dtypes": ("bf16",)}),
}


@pytest.fixture(scope="module", params=list(QUESTIONS))
def result(request):
    model, question = QUESTIONS[request.param]
    question = {"kv_cache_dtypes": (None, "fp8"), **question}
    return plan(model, isl=4096, osl=1024, **question)


def commands(text: str) -> dict[str, list[str]]:
    """Return the flags of server and of benchmark commands."""
    lines = [x for x in text.split("\n") if not x.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    found: dict[str, list[str]] = {"serve": [], "benchmark": []}
    for line in joined.split("\n"):
        command = re.sub(r"^srun .*? trtllm-llmapi-launch ", "", line)
        if re.match(r"vllm serve|python -m sglang\.launch_server|trtllm-serve", command):
            found["serve"] += re.findall(r"(?<!\S)--[\w-]+", command)
        elif re.match(r"vllm bench serve|python -m \S*(benchmark|bench)\S*serving", command):
            found["benchmark"] += re.findall(r"(?<!\S)--[\w-]+", command)
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_every_flag_exists(result, engine):
    text = launch_text(result, engine)
    found = commands(text)
    assert found["serve"]
    assert found["benchmark"]
    for kind, flags in found.items():
        assert set(flags) <= set(FLAGS[engine][kind])
    if engine == "trtllm":
        keys = re.findall(r"^\s*([a-z_]+):", text, flags=re.MULTILINE)
        assert keys
        assert set(keys) <= set(FLAGS["trtllm"]["config"])


@pytest.mark.parametrize("engine", ENGINES)
def test_releases_are_those_of_the_frozen_lists(engine):
    assert FLAGS[engine]["release"] == RELEASES[engine]


def value(text: str, flag: str) -> int:
    return int(re.search(rf"{flag}[ :]+(\d+)", text).group(1))


def test_degrees_and_limits_say_what_the_plan_says():
    """Mixed attention groups: each engine counts devices and requests in its own way."""
    result = plan("deepseek-v3", on="hgx-h200-8", isl=4096, osl=1024, pools=False)
    layout, batch = result.winner.layout, result.winner.batch
    tp, dp = int(layout.tp), int(layout.dp)
    assert dp > 1
    text = launch_text(result, "vllm")
    assert (value(text, "--tensor-parallel-size"), value(text, "--data-parallel-size")) == (tp, dp)
    assert value(text, "--max-num-seqs") == -(-batch // dp)
    assert value(text, "--max-model-len") == 5120
    assert "--enable-expert-parallel" in text
    text = launch_text(result, "sglang")
    assert (value(text, "--tp-size"), value(text, "--attn-dp-size")) == (tp * dp, dp)
    assert value(text, "--max-running-requests") == batch
    assert value(text, "--chunked-prefill-size") == 2048 * dp
    text = launch_text(result, "trtllm")
    assert value(text, "tensor_parallel_size") == value(text, "moe_expert_parallel_size")
    assert value(text, "max_batch_size") <= batch
    assert value(text, "--max-concurrency") * 5 == value(text, "--num-prompts")


def test_pools_start_both_roles():
    result = plan("deepseek-v3", on="hgx-h200-8x9", isl=4096, osl=1024, ttft_s=1.0, tpot_s=0.025)
    assert result.winner.kind == "pools"
    text = launch_text(result, "sglang")
    assert "--disaggregation-mode prefill" in text
    assert "--disaggregation-mode decode" in text
    text = launch_text(result, "vllm")
    assert text.count("NixlConnector") >= 2
    assert "# every other host" in text
    assert "cache_transceiver_config" in launch_text(result, "trtllm")


def test_drafts_reach_every_engine():
    result = plan("deepseek-v3", on="hgx-h200-8", isl=1024, osl=256, pools=False, speculation=MTP)
    assert '"num_speculative_tokens": 2' in launch_text(result, "vllm")
    assert value(launch_text(result, "sglang"), "--speculative-num-draft-tokens") == 3
    assert value(launch_text(result, "trtllm"), "num_nextn_predict_layers") == 2


def test_expressible_layouts():
    """(tp 2, dp 4): one attention scheme only in TensorRT-LLM; ep in between not in vLLM."""
    wide = Layout(tp=2, dp=4, ep=8)
    between = Layout(tp=8, ep=4)
    assert [bool(expressible(wide, e, has_experts=True)) for e in ENGINES] == [False, False, True]
    assert [bool(expressible(between, e, has_experts=True)) for e in ENGINES] == [
        True,
        False,
        False,
    ]
    assert all(expressible(Layout(cp=2), e, has_experts=False) for e in ENGINES)
    assert all(expressible(Layout(dp=2), e, has_experts=False) for e in ENGINES)
    assert not any(expressible(Layout(tp=8, pp=2), e, has_experts=False) for e in ENGINES)


def test_the_next_best_option_is_named():
    """A winner of tp·dp attention: TensorRT-LLM gets another layout, and the loss is said."""
    result = plan(
        "deepseek-v3",
        on="hgx-h200-8x9",
        isl=4096,
        osl=1024,
        tpot_s=0.025,
        ttft_s=1.0,
        kv_cache_dtypes=(None, "fp8"),
    )
    layouts = [x for x in (result.winner.layout, result.winner.prefill_layout) if x is not None]
    assert any(expressible(x, "trtllm", has_experts=True) for x in layouts)
    text = launch_text(result, "trtllm")
    assert "the winner is not expressible" in text
    assert "fewer tokens/s per device" in text


def test_refusals():
    result = plan("llama-3.3-70b", on="hgx-h100-8", isl=1024, osl=128, kv_cache_dtypes=("nvfp4",))
    with pytest.raises(InputError, match="engine must be"):
        launch_text(result, "tgi")
    with pytest.raises(InfeasibleError, match="no option"):
        launch_text(result, "vllm")
