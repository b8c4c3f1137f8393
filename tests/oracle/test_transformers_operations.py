"""FLOP and state of real architectures: ours against torch and transformers, exactly.

Each model is built small by transformers and run on the CPU with eager attention. torch counts
every matrix product it executes; the cache object holds every byte it keeps.

Eager attention multiplies the full rectangle of queries and visible keys, and masks. We count
the allowed pairs only. So torch's count is (FLOP per pair) · rectangle, ours is (FLOP per
pair) · allowed pairs of a mask written out here, and both must hold exactly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers", minversion="5.0")

from ridgeline.model.architecture import (  # noqa: E402
    Architecture,
    CompressedAttention,
    Core,
    LatentAttention,
    Recurrence,
    SoftmaxAttention,
)
from ridgeline.model.operations import operations  # noqa: E402
from ridgeline.model.precision import Precision  # noqa: E402
from ridgeline.model.state import state_bytes  # noqa: E402
from ridgeline.model.work import Step  # noqa: E402
from ridgeline.readers.hf.read import read_config  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

HIDDEN, LAYERS, VOCAB = 64, 4, 96
_BASE = {
    "hidden_size": HIDDEN,
    "intermediate_size": 112,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": VOCAB,
    "max_position_embeddings": 512,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_MOE = {
    "num_experts": 8,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 48,
}
_MLA = {
    "num_key_value_heads": 4,
    "q_lora_rank": 24,
    "kv_lora_rank": 32,
    "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8,
    "v_head_dim": 16,
    "head_dim": 8,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 48,
    "first_k_dense_replace": 1,
    "n_group": 2,
    "topk_group": 2,
}
_WINDOW = {"sliding_window": 7}

CONFIGS: dict[str, dict[str, Any]] = {
    "llama": {"head_dim": 16},
    "qwen2": {},
    "qwen3": {"head_dim": 24},
    "qwen3_moe": {**_MOE, "head_dim": 16, "decoder_sparse_step": 1, "norm_topk_prob": True},
    "qwen2_moe": {**_MOE, "shared_expert_intermediate_size": 80, "decoder_sparse_step": 1},
    "mixtral": {**_MOE, "sliding_window": None},
    "mistral": {**_WINDOW, "head_dim": 16},
    "ministral": {**_WINDOW, "head_dim": 16},
    "gemma": {"head_dim": 16},
    "gemma2": {**_WINDOW, "head_dim": 16, "query_pre_attn_scalar": 16},
    "gemma3_text": {**_WINDOW, "head_dim": 16, "sliding_window_pattern": 2},
    "gpt_oss": {**_MOE, **_WINDOW, "head_dim": 16},
    "deepseek_v2": {**_MLA, "topk_method": "greedy"},
    "deepseek_v3": _MLA,
    "glm4": {"head_dim": 16},
    "glm4_moe": {**_MLA, "head_dim": 16, "num_key_value_heads": 2},
    "cohere": {},
    "cohere2": {**_WINDOW, "head_dim": 16, "sliding_window_pattern": 2},
    "phi3": {},
    "phi": {},
    "olmo2": {},
    "olmo3": _WINDOW,
    "olmoe": _MOE,
    "phimoe": _MOE,
    "minimax_m3_vl_text": _MOE,
    "gemma4_text": {**_WINDOW, "head_dim": 16, "hidden_size_per_layer_input": 0},
    "minicpm3": _MLA,
    "falcon": {"new_decoder_architecture": False, "multi_query": True, "alibi": False},
    "gpt_neox": {"num_key_value_heads": 4},
    "gpt2": {
        "num_key_value_heads": 4, "n_embd": HIDDEN, "n_layer": LAYERS, "n_head": 4,
        "n_inner": 112, "n_positions": 512,
    },
    "starcoder2": _WINDOW,
    "granite": {},
    "granitemoe": _MOE,
    "minimax_m2": {**_MOE, "head_dim": 16, "rotary_dim": 8},
    "smollm3": {},
    "exaone4": {**_WINDOW, "sliding_window_pattern": 2},
    "seed_oss": {"head_dim": 16},
    "ernie4_5": {"head_dim": 16},
    "stablelm": {},
    "nemotron": {},
    "arcee": {},
    "dots1": {**_MLA, "num_key_value_heads": 2, "head_dim": 16, **_WINDOW},
    "hunyuan_v1_dense": {"head_dim": 16},
    "opt": {"word_embed_proj_dim": HIDDEN, "ffn_dim": 112},
    "bloom": {"n_layer": LAYERS, "n_head": 4},
    "qwen3_next": {
        **_MOE, "head_dim": 16, "shared_expert_intermediate_size": 48, "linear_num_key_heads": 2,
        "linear_num_value_heads": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 16,
        "decoder_sparse_step": 1,
    },
    "lfm2": {"conv_L_cache": 3, "full_attn_idxs": [1, 3], "block_multiple_of": 16},
    "mamba2": {
        "num_heads": 8, "head_dim": 16, "state_size": 16, "n_groups": 2, "expand": 2,
        "chunk_size": 16,
    },
    "mamba": {"state_size": 16, "expand": 2, "time_step_rank": 8},
    "jamba": {
        **_MOE, "attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 2,
        "expert_layer_offset": 1, "mamba_d_state": 16, "use_mamba_kernels": False,
    },
    "nemotron_h": {
        "hybrid_override_pattern": "M-*-", "layers_block_type": None, "mamba_num_heads": 8,
        "mamba_head_dim": 16, "ssm_state_size": 16, "n_groups": 2, "head_dim": 16,
        "chunk_size": 16, "use_mamba_kernels": False,
    },
    "bamba": {
        "attn_layer_indices": [1, 3], "mamba_n_heads": 8, "mamba_d_head": 16, "mamba_d_state": 16,
        "mamba_n_groups": 1, "mamba_expand": 2, "mamba_chunk_size": 16,
    },
    "granitemoehybrid": {
        **_MOE, "shared_intermediate_size": 80, "layer_types": ["mamba", "attention"] * 2,
        "mamba_n_heads": 8, "mamba_d_head": 16, "mamba_d_state": 16, "mamba_n_groups": 1,
        "mamba_expand": 2, "mamba_chunk_size": 16,
    },
    "falcon_h1": {
        "mamba_n_heads": 8, "mamba_d_head": 16, "mamba_d_state": 16, "mamba_n_groups": 1,
        "mamba_d_ssm": 128, "mamba_chunk_size": 16, "head_dim": 16,
    },
    "deepseek_v32": {**_MLA, "index_n_heads": 2, "index_head_dim": 16, "index_topk": 64},
    "glm_moe_dsa": {**_MLA, "index_n_heads": 2, "index_head_dim": 16, "index_topk": 64},
    "longcat_flash": {
        **_MLA, "num_layers": 2, "ffn_hidden_size": 112, "expert_ffn_hidden_size": 48,
        "moe_topk": 2, "zero_expert_num": 4,
    },
    "kimi_linear": {
        **_MLA,
        "linear_attn_config": {
            "full_attn_layers": [2, 4], "kda_layers": [1, 3], "head_dim": 16, "num_heads": 4,
            "short_conv_kernel_size": 4,
        },
    },
    "llama4_text": {
        **_MOE, "attention_chunk_size": 8, "head_dim": 16, "intermediate_size_mlp": 112,
        "interleave_moe_layer_step": 2, "no_rope_layers": [1, 1, 1, 0],
    },
    "gemma3n_text": {
        **_WINDOW, "head_dim": 16, "num_kv_shared_layers": 2, "vocab_size_per_layer_input": 32,
        "hidden_size_per_layer_input": 16, "laurel_rank": 8, "intermediate_size": [112] * 4,
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "activation_sparsity_pattern": [0.0] * 4, "altup_num_inputs": 2,
    },
    "deepseek_v4": {
        "moe_intermediate_size": 48, "head_dim": 32, "q_lora_rank": 24, "num_key_value_heads": 1,
        "num_experts_per_tok": 2, "n_routed_experts": 8, "o_groups": 2, "o_lora_rank": 16,
        "index_n_heads": 2, "index_head_dim": 16, "index_topk": 64, "sliding_window": 7,
        "hc_mult": 2, "qk_rope_head_dim": 8, "partial_rotary_factor": 0.25,
        "compress_rates": {"compressed_sparse_attention": 4, "heavily_compressed_attention": 8},
        "layer_types": ["heavily_compressed_attention", "compressed_sparse_attention"] * 2,
    },
    "minimax": {**_MOE, "head_dim": 16, "block_size": 8},
}  # fmt: skip
"""What each model type needs beyond the common sizes."""


BATCH, PROMPT = 2, 20
_OWN_CACHE = {"mamba", "mamba2", "minimax"}
"""Models whose forward makes a cache of its own."""
_NO_GEMM = {
    "longcat_flash": "how many choices fall on zero experts is random; we take the mean",
    "gemma3n_text": "AltUp runs its 4-wide router twice and mixes streams by vectors: 0.4 % more",
}


class Real:
    """A running model, and what it has counted and kept."""

    def __init__(self, model_type: str) -> None:
        torch.manual_seed(0)
        torch.set_num_threads(1)
        config = transformers.AutoConfig.for_model(model_type, **{**_BASE, **CONFIGS[model_type]})
        config._experts_implementation = "eager"
        self.model = transformers.AutoModelForCausalLM.from_config(
            config, dtype=torch.float32, attn_implementation="eager"
        ).eval()
        self.arch = read_config(config.to_dict(), name=model_type)
        self.precision = Precision.of(self.arch, dtype="fp32", activation_dtype="fp32")
        own = model_type in _OWN_CACHE
        self.cache = None if own else transformers.DynamicCache(config=config)

    def run(self, new_tokens: int) -> dict[str, float]:
        """Run a step of new tokens after the cached ones; return FLOP by module and kind."""
        from torch.utils.flop_counter import FlopCounterMode  # noqa: PLC0415

        tokens = torch.randint(3, VOCAB, (BATCH, new_tokens))
        with torch.no_grad(), FlopCounterMode(display=False) as counter:
            out = self.model(tokens, past_key_values=self.cache, use_cache=True)
        self.cache = getattr(out, "past_key_values", None) or getattr(out, "cache_params", None)
        counts = counter.get_flop_counts()
        by_kind = {str(k): float(v) for k, v in counts["Global"].items()}
        root = type(self.model).__name__
        bmm = (torch.ops.aten.bmm, torch.ops.aten.baddbmm)
        batched = {k: float(sum(v.get(x, 0) for x in bmm)) for k, v in counts.items()}
        attention = grouped = dense = recurrence = 0.0
        inside = ""
        for path, module in self.model.named_modules():
            flop = batched.get(f"{root}.{path}", 0.0)
            if "GroupedLinear" in type(module).__name__:
                grouped += flop
            elif type(module).__name__ == "Llama4TextExperts":
                # The reference runs every expert on every token and weighs most by zero.
                dense += flop * _MOE["num_experts_per_tok"] / _MOE["num_experts"]
            elif "GatedDelta" in type(module).__name__ and "Norm" not in type(module).__name__:
                recurrence += flop
            elif path.lower().rpartition(".")[2].startswith("rotary"):
                flop = flop if inside and path.startswith(inside) else 0.0
                attention -= flop
                continue
            elif re.search(
                r"((?<!Lightning)(?<!Delta)Attention|MLA)$", type(module).__name__
            ) and not (inside and path.startswith(inside)):
                attention += flop
                inside = path + "."
        return {
            # Block-diagonal projections run as bmm inside attention modules.
            "gemm": by_kind.get("aten.mm", 0) + by_kind.get("aten.addmm", 0) + grouped + dense,
            "attention": attention - grouped,
            "recurrence": recurrence,
        }

    def state_bytes(self) -> int:
        """Return the bytes of all distinct tensors that the cache keeps."""
        seen: dict[tuple[int, int], int] = {}

        def visit(value: Any, depth: int = 0) -> None:
            if isinstance(value, torch.Tensor):
                if value.is_floating_point():
                    seen[value.data_ptr(), value.numel()] = value.numel() * value.element_size()
            elif isinstance(value, Mapping):
                visit(list(value.values()), depth + 1)
            elif isinstance(value, list | tuple):
                for x in value:
                    visit(x, depth + 1)
            elif hasattr(value, "__dict__") and depth < 8:
                visit(vars(value), depth + 1)

        visit(self.cache)
        return sum(seen.values())


def _positions(new_tokens: int, context: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(context, context + new_tokens)[:, None], np.arange(context + new_tokens)[None]


def allowed_pairs(core: Core, new_tokens: int, context: int) -> int:
    """Return the entries of the attention mask, written out."""
    query, key = _positions(new_tokens, context)
    mask = key <= query
    window = getattr(core, "window", None)
    if window is not None:
        chunked = isinstance(core, SoftmaxAttention) and core.window_kind == "chunked"
        mask &= key // window == query // window if chunked else key > query - window
    total = int(mask.sum())
    if isinstance(core, CompressedAttention) and core.ratio:
        total += int(((query + 1) // core.ratio).sum())
    return total


def rectangle(core: Core, new_tokens: int, context: int) -> int:
    """Return the query-key products that eager attention executes."""
    window = getattr(core, "window", None)
    keys = new_tokens + (context if window is None else min(context, window - 1))
    if isinstance(core, CompressedAttention) and core.ratio:
        keys += (context + new_tokens) // core.ratio
    return new_tokens * keys


def _indexer(core: Core, new_tokens: int, context: int) -> tuple[int, int]:
    """Return (allowed, executed) FLOP of the indexer of one sequence."""
    indexer = getattr(core, "indexer", None)
    if indexer is None or not indexer.scores:
        return 0, 0
    query, _ = _positions(new_tokens, context)
    ratio = core.ratio if isinstance(core, CompressedAttention) else 1
    # Scores of all heads, then their weighted sum, which V4's code does without a product.
    unit = 2 * indexer.num_heads * (indexer.head_dim + 1)
    executed = unit - (2 * indexer.num_heads if isinstance(core, CompressedAttention) else 0)
    every = new_tokens * ((context + new_tokens) // ratio)
    return unit * int(((query + 1) // ratio).sum()), executed * every


def attention_flop(arch: Architecture, new_tokens: int, context: int) -> tuple[float, float]:
    """Return the FLOP of all attention layers: (of allowed pairs, as eager executes them)."""
    ours = real = 0
    for block in arch.blocks:
        for core in block.mixer.cores:
            match core:
                case SoftmaxAttention():
                    unit = 2 * core.num_heads * (core.qk_head_dim + core.v_head_dim)
                case CompressedAttention():
                    unit = 4 * core.num_heads * core.head_dim
                case LatentAttention():
                    head = core.qk_nope_head_dim + core.qk_rope_head_dim + core.v_head_dim
                    unit = 2 * core.num_heads * head
                case _:
                    continue
            mine = unit
            if isinstance(core, LatentAttention) and context:
                # Decode absorbs kv_b: latent-wide scores and outputs.
                mine = 2 * core.num_heads * (2 * core.kv_lora_rank + core.qk_rope_head_dim)
            allowed, executed = _indexer(core, new_tokens, context)
            ours += block.count * (mine * allowed_pairs(core, new_tokens, context) + allowed)
            real += block.count * (unit * rectangle(core, new_tokens, context) + executed)
    return BATCH * ours, BATCH * real


def absorbed_gemm_flop(arch: Architecture, context: int) -> float:
    """Return what decode saves by absorbing: kv_b_proj over the cached tokens."""
    total = 0
    for block in arch.blocks:
        if any(isinstance(c, LatentAttention) for c in block.mixer.cores):
            weights = sum(x.num_weights for x in block.mixer.linears if x.state_only)
            total += block.count * 2 * weights * context
    return BATCH * total


def our_flop(real: Real, new_tokens: int, context: int) -> dict[str, float]:
    step = Step(batch=BATCH, new_tokens=new_tokens, context=context, logit_tokens=new_tokens)
    total = {"gemm": 0.0, "attention": 0.0, "recurrence": 0.0}
    for op in operations(real.arch, step, real.precision):
        kind = {"expert_gemm": "gemm", "gemm": "gemm", "recurrence": "recurrence"}
        total[kind.get(op.family, "attention")] += float(op.count * op.flop)
    return total


@pytest.mark.parametrize("model_type", CONFIGS)
def test_flop_and_state_equal_the_running_model(model_type: str) -> None:
    """A prompt, then two decode steps: every product counted, every cached byte found."""
    real = Real(model_type)
    context = 0
    for new_tokens in (PROMPT, 1, 1):
        counted, ours = real.run(new_tokens), our_flop(real, new_tokens, context)
        allowed, executed = attention_flop(real.arch, new_tokens, context)
        assert counted["attention"] == executed
        assert ours["attention"] == allowed
        if model_type not in _NO_GEMM:
            assert ours["gemm"] == counted["gemm"] - absorbed_gemm_flop(real.arch, context)
        context += new_tokens
        assert BATCH * state_bytes(real.arch, context, real.precision) == real.state_bytes()


def test_chunked_delta_rule_equals_torch() -> None:
    """qwen3_next, two whole chunks: torch counts our products, less three that it does not see.

    Not counted by torch: the decay (element-wise, one FLOP per state element and token), the
    products with the inverse of the chunk's triangular system (it calls a solver instead:
    2·C·(key + value width) per token and head), and the convolution, which is counted apart.
    """
    real = Real("qwen3_next")
    new_tokens = 128
    counted = real.run(new_tokens)
    unseen = 0.0
    for block in real.arch.blocks:
        for core in block.mixer.cores:
            if isinstance(core, Recurrence):
                key_width = core.state_elements // core.num_heads // core.head_dim
                solved = 2 * core.chunk_size * (key_width + core.head_dim) * core.num_heads
                per_token = core.state_elements + core.conv_flop_per_token + solved
                unseen += block.count * per_token
    ours = our_flop(real, new_tokens, 0)["recurrence"]
    assert counted["recurrence"] == ours - BATCH * new_tokens * unseen > 0
