"""The sheet of a model: pattern, parameters, state and FLOP per token."""

import json
from pathlib import Path

import pytest

from ridgeline.catalog import Catalog
from ridgeline.errors import UnknownNameError
from ridgeline.report.model_sheet import model_json, model_text
from ridgeline.study.resolve import resolve_model
from ridgeline.study.show_model import layer_pattern, show_model

CONTRACT = (
    "schema_version",
    "num_params",
    "num_active_params",
    "num_active_params_excluding_input_embedding",
    "num_params_by_component",
    "kv_bytes_per_token",
    "state_bytes",
    "flags",
)


def test_llama_70b_by_hand():
    """80 layers, 8 KV heads of 128, bf16.

    KV per token 80·2·8·128·2 B = 327,680 B; FLOP of one token over c cached tokens: 2 per
    weight but the input embedding, 2·(70,553,706,496 - 128,256·8,192 - norms 161·8,192), and
    4·64·128·80 per attended token, its own included.
    """
    sheet = show_model("llama-3.3-70b")
    assert sheet.kv_bytes_per_token == 327_680
    assert [x.state_bytes for x in sheet.at_lengths] == [
        327_680 * x.tokens for x in sheet.at_lengths
    ]
    gemm = 2 * (70_553_706_496 - 128_256 * 8_192 - 161 * 8_192)
    attention = 4 * 64 * 128 * 80 * (1024 + 1)
    assert sheet.at_lengths[0].flop_per_token == pytest.approx(gemm + attention, rel=1e-12)


def test_mla_state_of_deepseek_v3():
    """61 layers of 512 + 64 elements in bf16: 70,272 B per token."""
    sheet = show_model("deepseek-v3")
    assert sheet.kv_bytes_per_token == 61 * 576 * 2
    assert sheet.pattern == "3A 58B"
    assert "131,072" not in " ".join(sheet.flags)


def test_json_keeps_the_contract():
    data = json.loads(json.dumps(model_json(show_model("gpt-oss-120b")), allow_nan=False))
    assert set(CONTRACT) <= set(data)
    assert sum(data["num_params_by_component"].values()) == data["num_params"]
    assert data["num_active_params_excluding_input_embedding"] == pytest.approx(5.13e9, rel=0.001)
    assert [x["tokens"] for x in data["state_bytes"]] == [1024, 32768, 131072, 1048576]


def test_patterns_fold():
    """Repeated groups are written once; gpt-oss alternates, Qwen3-Next is three to one."""
    assert layer_pattern(resolve_model("gpt-oss-120b")) == "18 x (A B)"
    assert layer_pattern(resolve_model("qwen3-next")) == "12 x (3A B)"
    assert layer_pattern(resolve_model("gpt2")) == "12A"


@pytest.mark.parametrize("name", sorted(Catalog().entries("models")))
def test_every_model_has_a_sheet(name):
    sheet = show_model(name)
    total = sum(layer.num_layers for layer in sheet.layers)
    assert total == sheet.architecture.num_layers
    states = [x.state_bytes for x in sheet.at_lengths]
    assert states == sorted(states)
    assert all(x.flop_per_token > 0 for x in sheet.at_lengths)
    assert max(len(line) for line in model_text(sheet).splitlines()) <= 100


def test_a_file_is_read_and_a_catalogue_name_wins(tmp_path, monkeypatch):
    config = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128}
    config |= {"num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    assert resolve_model(str(path)).num_layers == 2
    assert resolve_model(str(tmp_path)).num_layers == 2
    monkeypatch.chdir(tmp_path)
    Path("gpt2").mkdir()
    assert resolve_model("gpt2").num_layers == 12


def test_unknown_models_are_explained():
    with pytest.raises(UnknownNameError, match="Nearest: deepseek-v3"):
        resolve_model("deepseek-v33")
    with pytest.raises(UnknownNameError, match=r"hub:acme/foo"):
        resolve_model("acme/foo")
    for text in ("", "\0", "x" * 10_000):
        with pytest.raises(UnknownNameError):
            resolve_model(text)


def test_names_do_not_care_about_case():
    assert resolve_model("LLAMA-3.3-70B").name == "meta-llama/Llama-3.3-70B-Instruct"
    assert (
        resolve_model("meta-llama/llama-3.3-70b-instruct").name == resolve_model("llama-70b").name
    )
