"""What is read, flagged and refused."""

import json
from pathlib import Path

import pytest

from ridgeline.errors import InputError, UnsupportedError
from ridgeline.model.architecture import CompressedAttention, LatentAttention, SoftmaxAttention
from ridgeline.model.params import count_parameters
from ridgeline.readers import read_config, read_model
from small_configs import small

LLAMA_8B = {
    "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
    "vocab_size": 128256, "torch_dtype": "bfloat16",
}  # fmt: skip
UNKNOWN = {**LLAMA_8B, "model_type": "never_seen"}


def test_llama_3_8b() -> None:
    """8,030,261,248: the model card's 8.03 B."""
    arch = read_config(LLAMA_8B, name="meta-llama/Llama-3.1-8B")
    assert count_parameters(arch).num_params == 8_030_261_248
    assert arch.flags == ()
    assert arch.num_layers == 32


def test_deepseek_v3() -> None:
    """671,026,404,352 without the MTP layer, 37.6 B active with embeddings; card: 671B, 37B."""
    config = {
        "model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61,
        "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 18432,
        "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1,
        "num_experts_per_tok": 8, "first_k_dense_replace": 3, "q_lora_rank": 1536,
        "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "n_group": 8, "topk_group": 4, "vocab_size": 129280, "num_nextn_predict_layers": 1,
    }  # fmt: skip
    arch = read_config(config, name="deepseek-ai/DeepSeek-V3")
    counts = count_parameters(arch)
    assert counts.num_params == 671_026_404_352
    assert counts.num_active_params == pytest.approx(37.55e9, rel=1e-3)
    assert counts.num_mtp_params == pytest.approx(11.6e9, rel=0.01)
    assert isinstance(arch.blocks[0].mixer.cores[0], LatentAttention)
    assert arch.blocks[1].feed_forward.experts is not None
    assert arch.blocks[1].feed_forward.experts.num_groups == 8


def test_openelm_270m() -> None:
    """271,527,168: the model card's parameter count."""
    config = {
        "model_type": "openelm", "model_dim": 1280, "head_dim": 64, "vocab_size": 32000,
        "num_transformer_layers": 16, "ffn_dim_divisor": 256,
        "num_query_heads": [12] * 5 + [16] * 7 + [20] * 4,
        "num_kv_heads": [3] * 5 + [4] * 7 + [5] * 4,
        "ffn_multipliers": [0.5, 0.73, 0.97, 1.2, 1.43, 1.67, 1.9, 2.13, 2.37, 2.6, 2.83, 3.07,
                            3.3, 3.53, 3.77, 4.0],
    }  # fmt: skip
    counts = count_parameters(read_config(config, name="apple/OpenELM-270M"))
    assert counts.num_params == 271_527_168


def test_windows_follow_the_pattern() -> None:
    """Gemma 3: five windows, then one full layer."""
    arch = read_config(small("gemma3_text", num_hidden_layers=12), name="x")
    spans = [
        core.window
        for block in arch.blocks
        for core in block.mixer.cores * block.count
        if isinstance(core, SoftmaxAttention)
    ]
    assert spans == ([8] * 5 + [None]) * 2


def test_compressed_layers() -> None:
    """DeepSeek V4: window only, then ratio 4 with an indexer, then 128 without."""
    arch = read_config(small("deepseek_v4"), name="x")
    cores = [b.mixer.cores[0] for b in arch.blocks]
    assert [c.ratio for c in cores if isinstance(c, CompressedAttention)] == [0, 4, 128, 4]


def test_shared_choice_has_no_indexer_weights() -> None:
    """GLM-5.2: layers that reuse a choice score nothing and cache no index keys."""
    arch = read_config(small("glm_moe_dsa", first_k_dense_replace=0), name="x")
    full, shared = arch.blocks[0].mixer, arch.blocks[1].mixer
    assert any(x.name.startswith("indexer") for x in full.linears)
    assert not any(x.name.startswith("indexer") for x in shared.linears)
    core = shared.cores[0]
    assert isinstance(core, LatentAttention)
    assert core.indexer is not None
    assert not core.indexer.scores


def test_multimodal_part_is_counted_apart() -> None:
    """LLaVA 1.5: CLIP ViT-L/14 at 336 pixels 303,507,456 and a projector of 20,979,712."""
    config = {
        "model_type": "llava",
        "text_config": {**LLAMA_8B},
        "vision_config": {
            "model_type": "clip_vision_model", "hidden_size": 1024, "intermediate_size": 4096,
            "num_hidden_layers": 24, "num_attention_heads": 16, "image_size": 336,
            "patch_size": 14,
        },
    }  # fmt: skip
    counts = count_parameters(read_config(config, name="llava"))
    assert counts.num_text_params == 8_030_261_248
    assert counts.num_multimodal_params == 303_507_456 + 1024 * 4096 + 4096 + 4096**2 + 4096


def test_the_head_stays_separate_where_classes_disagree() -> None:
    """Mistral 3's wrapper ties by default, its language part does not: separate, with a flag."""
    config = {"model_type": "mistral3", "text_config": small("mistral"), "vision_config": None}
    arch = read_config(config, name="x")
    assert not arch.tie_word_embeddings
    assert any(f.startswith("assumed: the head is separate") for f in arch.flags)


def test_unknown_type_with_known_keys_is_flagged() -> None:
    """Every guess is said."""
    arch = read_config(UNKNOWN, name="x")
    assert count_parameters(arch).num_params == 8_030_261_248
    assert sum(f.startswith("assumed") for f in arch.flags) >= 3


def test_missing_core_key_is_flagged() -> None:
    """A class default in place of a shape is said."""
    arch = read_config({"model_type": "llama"}, name="x")
    assert any("`hidden_size` is not in the file" in f for f in arch.flags)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"model_type": "bert", "architectures": ["BertModel"]}, "encoder"),
        ({"model_type": "t5", "is_encoder_decoder": True}, "encoder-decoder"),
        ({"architectures": ["UMT5ForConditionalGeneration"]}, "encoder-decoder"),
        ({"model_type": "switch_transformers"}, "encoder-decoder"),
        ({"model_type": "whisper"}, "speech"),
        ({"model_type": "clip"}, "vision"),
        ({"d_model": 2560, "n_layer": 64}, "no `model_type`"),
        ({"model_type": "never_seen", "hidden_size": 64}, "lacks"),
        ({**UNKNOWN, "mamba_d_state": 16}, "mamba_d_state"),
        ({**LLAMA_8B, "architectures": ["LlamaForSequenceClassification"]}, "does not decode"),
    ],
    ids=str,
)
def test_refused_with_the_reason(config: dict[str, object], reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        read_config(config, name="x")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hidden_size", -1), ("hidden_size", 0), ("hidden_size", "4096"), ("hidden_size", 10**12),
        ("hidden_size", True), ("num_hidden_layers", 10_001), ("num_hidden_layers", 2.5),
        ("vocab_size", float("inf")), ("num_key_value_heads", [8]),
        ("tie_word_embeddings", "yes"), ("intermediate_size", 2**31),
    ],
)  # fmt: skip
def test_values_out_of_range(key: str, value: object) -> None:
    with pytest.raises(InputError, match=r"must be|would have"):
        read_config({**LLAMA_8B, key: value}, name="x")


def test_remote_code_is_data_only(tmp_path: Path) -> None:
    """auto_map names Python files; nothing beside config.json is opened."""
    (tmp_path / "configuration_evil.py").write_text("raise SystemExit")
    config = {**UNKNOWN, "auto_map": {"AutoConfig": "configuration_evil.EvilConfig"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert read_model(tmp_path).name == tmp_path.name


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_model(tmp_path / "nothing.json")
    with pytest.raises(InputError, match="config"):
        read_model(tmp_path)
