"""Configs with the keys of real families and tiny shapes, for tests without files."""

from typing import Any

_BASE: dict[str, Any] = {
    "hidden_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "vocab_size": 128,
    "intermediate_size": 96,
}
_KV = {"num_key_value_heads": 2, "head_dim": 16}
_MOE = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
_MLA = {
    "q_lora_rank": 24,
    "kv_lora_rank": 16,
    "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8,
    "v_head_dim": 16,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "first_k_dense_replace": 1,
    "n_group": 1,
    "topk_group": 1,
}
_GDN = {
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
    "linear_conv_kernel_dim": 4,
}

SMALL: dict[str, dict[str, Any]] = {
    "llama": {**_BASE, "num_key_value_heads": 2},
    "mistral": {**_BASE, **_KV, "sliding_window": 8},
    "qwen2": {**_BASE, "num_key_value_heads": 2, "tie_word_embeddings": True},
    "qwen3": {**_BASE, **_KV},
    "qwen3_moe": {**_BASE, **_KV, **_MOE},
    "qwen2_moe": {**_BASE, **_MOE, "shared_expert_intermediate_size": 48},
    "mixtral": {**_BASE, "num_key_value_heads": 2, "num_local_experts": 4},
    "gpt_oss": {**_BASE, **_KV, "num_local_experts": 4, "num_experts_per_tok": 2},
    "gemma2": {**_BASE, **_KV},
    "gemma3_text": {**_BASE, **_KV, "sliding_window": 8},
    "gemma4_text": {
        **_BASE, **_KV, "hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 100,
        "num_kv_shared_layers": 1, "global_head_dim": 32,
        "layer_types": ["sliding_attention", "full_attention"] * 2,
    },
    "gemma3n_text": {
        **_BASE, **_KV, "hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 100,
        "num_kv_shared_layers": 2, "laurel_rank": 4,
        "layer_types": ["sliding_attention", "full_attention"] * 2,
    },
    "cohere": {**_BASE, "num_key_value_heads": 2},
    "cohere2": {**_BASE, "num_key_value_heads": 2},
    "olmo2": {**_BASE, "num_key_value_heads": 2},
    "phi3": {**_BASE, "num_key_value_heads": 2, "pad_token_id": 0},
    "stablelm": {**_BASE, "use_qkv_bias": True},
    "starcoder2": {**_BASE, "num_key_value_heads": 2},
    "granite": {**_BASE, "num_key_value_heads": 2},
    "gpt2": {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 128, "n_positions": 32},
    "gptj": {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 128, "rotary_dim": 8},
    "gpt_neox": _BASE,
    "gpt_bigcode": {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 128},
    "bloom": {"hidden_size": 64, "n_layer": 2, "n_head": 4, "vocab_size": 128},
    "mpt": {"d_model": 64, "n_layers": 2, "n_heads": 4, "vocab_size": 128},
    "opt": {
        "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 128,
        "ffn_dim": 96, "word_embed_proj_dim": 32, "do_layer_norm_before": False,
    },
    "falcon": {
        "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 128,
        "num_kv_heads": 2, "new_decoder_architecture": True,
    },
    "deepseek_v2": {**_BASE, **_MLA, "topk_method": "greedy"},
    "deepseek_v3": {**_BASE, **_MLA},
    "deepseek_v32": {
        **_BASE, **_MLA, "index_topk": 4, "index_head_dim": 16, "index_n_heads": 2,
    },
    "glm_moe_dsa": {
        **_BASE, **_MLA, "index_topk": 4, "index_head_dim": 16, "index_n_heads": 2,
        "indexer_types": ["full", "full", "shared", "shared"],
    },
    "glm4_moe": {**_BASE, **_KV, **_MLA, "use_qk_norm": True},
    "deepseek_v4": {
        **{k: v for k, v in _BASE.items() if k != "intermediate_size"},
        "head_dim": 32, "q_lora_rank": 16, "o_groups": 2, "o_lora_rank": 8,
        "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
        "index_n_heads": 2, "index_head_dim": 16, "index_topk": 4, "sliding_window": 8,
        "qk_rope_head_dim": 8, "num_hash_layers": 0, "num_nextn_predict_layers": 0,
        "compress_ratios": [0, 4, 128, 4],
    },
    "longcat_flash": {
        **{k: v for k, v in _BASE.items() if k not in ("num_hidden_layers", "intermediate_size")},
        **{k: v for k, v in _MLA.items() if k != "num_experts_per_tok"},
        "num_layers": 2, "ffn_hidden_size": 96, "expert_ffn_hidden_size": 32, "moe_topk": 3,
        "zero_expert_num": 4,
    },
    "qwen3_next": {**_BASE, **_KV, **_MOE, **_GDN, "shared_expert_intermediate_size": 32},
    "qwen3_5_text": {**_BASE, **_KV, **_GDN},
    "kimi_linear": {
        **_BASE, **_MLA, "num_experts": 8, "num_experts_per_token": 2, "num_shared_experts": 1,
        "layer_types": ["linear_attention", "linear_attention", "linear_attention",
                        "full_attention"],
        "linear_head_dim": 16, "linear_num_heads": 4, "linear_conv_kernel_dim": 4,
        "pad_token_id": None,
    },
    "mamba": {"hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 128, "state_size": 8},
    "mamba2": {
        "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 128, "state_size": 8,
        "num_heads": 8, "head_dim": 16, "n_groups": 2, "expand": 2,
    },
    "jamba": {
        **_BASE, "num_key_value_heads": 2, "num_experts": 4, "attn_layer_period": 2,
        "attn_layer_offset": 1, "mamba_d_state": 8, "mamba_dt_rank": 4,
    },
    "bamba": {
        **_BASE, "num_key_value_heads": 2, "mamba_n_heads": 8, "mamba_d_head": 16,
        "mamba_d_state": 8, "attn_layer_indices": [1],
    },
    "nemotron_h": {
        **{k: v for k, v in _BASE.items() if k != "num_hidden_layers"}, **_KV,
        "hybrid_override_pattern": "M*-E", "mamba_num_heads": 8, "mamba_head_dim": 16,
        "ssm_state_size": 8, "n_groups": 2, "n_routed_experts": 4, "num_experts_per_tok": 2,
        "moe_intermediate_size": 32, "moe_shared_expert_intermediate_size": 48,
    },
    "lfm2": {
        **_BASE, "num_key_value_heads": 2, "conv_L_cache": 3, "block_auto_adjust_ff_dim": False,
        "layer_types": ["conv", "conv", "full_attention", "conv"],
    },
    "minimax": {
        **_BASE, **_KV, "num_local_experts": 4, "num_experts_per_tok": 2,
        "layer_types": ["linear_attention", "full_attention"] * 2,
    },
    "llama4_text": {
        **_BASE, **_KV, "intermediate_size_mlp": 128, "num_local_experts": 4,
        "interleave_moe_layer_step": 2, "attention_chunk_size": 8,
    },
    "rwkv": {"hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 128},
    "recurrent_gemma": {
        **_BASE, "num_key_value_heads": 1, "lru_width": 64, "attention_window_size": 8,
        "head_dim": 16,
    },
}  # fmt: skip


def small(model_type: str, **changes: Any) -> dict[str, Any]:
    """Return a small config of `model_type`."""
    return {"model_type": model_type, **SMALL[model_type], **changes}
