"""Elements in published checkpoints, scales and packed words included.

The hub prints them as "model size"; they pin which weight classes a quantiser left alone.
"""

from typing import Any

import pytest

from ridgeline.model.architecture import Architecture, Block, Linear
from ridgeline.model.formats import format_named
from ridgeline.readers import read_config

QWEN3_MOE = {
    "model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48,
    "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 151936,
    "intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128,
    "num_experts_per_tok": 8, "decoder_sparse_step": 1, "mlp_only_layers": [],
    "tie_word_embeddings": False, "torch_dtype": "bfloat16", "attention_bias": False,
    "max_position_embeddings": 40960,
    "quantization_config": {
        "quant_method": "fp8", "weight_block_size": [128, 128],
        "modules_to_not_convert": ["lm_head", *(f"model.layers.{i}.mlp.gate" for i in range(48))],
    },
}  # fmt: skip
GPT_OSS = {
    "model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 24,
    "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 201088,
    "intermediate_size": 2880, "num_local_experts": 32, "num_experts_per_tok": 4,
    "attention_bias": True, "tie_word_embeddings": False, "sliding_window": 128,
    "max_position_embeddings": 131072,
    "layer_types": ["sliding_attention", "full_attention"] * 12,
    "quantization_config": {
        "quant_method": "mxfp4",
        "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router",
                                   "model.embed_tokens", "lm_head"],
    },
}  # fmt: skip


def linear_elements(x: Linear, arch: Architecture) -> int:
    """Codes (two FP4 in a byte), one element per scale, and the bias."""
    form = format_named(dict(arch.weight_formats).get(x.weight_class, arch.weight_format))
    stored = x.num_weights // (2 if form.code_bits == 4 else 1)
    for s in form.scales:
        stored += -(-x.out_features // s.rows) * -(-x.in_features // s.cols)
    return stored + (x.out_features if x.bias else 0)


def block_elements(block: Block, arch: Architecture) -> int:
    total = sum(
        linear_elements(x, arch) for x in (*block.mixer.linears, *block.feed_forward.linears)
    )
    experts = block.feed_forward.experts
    if experts is not None:
        total += experts.num_experts * sum(linear_elements(x, arch) for x in experts.linears)
    vectors = block.mixer.num_vector_params + block.feed_forward.num_vector_params
    return block.count * (total + vectors + block.num_norm_params + block.num_other_params)


@pytest.mark.parametrize(
    ("config", "published"),
    [
        # https://huggingface.co/Qwen/Qwen3-30B-A3B-FP8: 30,532,122,624 weights and their scales
        (QWEN3_MOE, 30_533_947_392),
        # https://huggingface.co/openai/gpt-oss-20b: 20,914,757,184 weights, experts packed
        (GPT_OSS, 11_956_805_184),
    ],
)
def test_elements_of_published_checkpoints(config: dict[str, Any], published: int) -> None:
    arch = read_config(config, name="published")
    assert arch.head is not None
    total = sum(block_elements(b, arch) for b in arch.blocks)
    total += arch.num_input_embedding_params + arch.num_final_norm_params
    assert total + linear_elements(arch.head, arch) == published
