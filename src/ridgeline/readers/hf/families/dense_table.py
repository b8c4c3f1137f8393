"""Families of the standard pattern, one `Spec` each.

Source of every row: the module of that name in transformers 5.24.0, read for its tensors.
"""

from __future__ import annotations

from ridgeline.readers.hf.families.standard import MoeSpec, Spec

_LLAMA = Spec(mlp_bias="mlp_bias")
_OPT_LIKE = Spec(
    q_bias=True, o_bias=True, gated=False, mlp_bias=True, norm_width=2, tie=True
)

DENSE: dict[str, Spec] = {
    "llama": _LLAMA,
    "apertus": Spec(gated=False, qk_norm="head", mlp_vectors=2),
    "arcee": Spec(gated=False, mlp_bias="mlp_bias"),
    "biogpt": _OPT_LIKE,
    "cohere": Spec(norms=1, qk_norm="head_distinct", qk_norm_key="use_qk_norm"),
    "cohere2": Spec(norms=1, window_every=4),
    "cwm": _LLAMA,
    "ernie4_5": Spec(q_bias="use_bias", o_bias="use_bias", mlp_bias="use_bias"),
    "exaone4": Spec(q_bias=False, o_bias=False, qk_norm="head", window_every=4),
    "exaone": _LLAMA,
    "gemma": Spec(tie=True),
    "gemma2": Spec(norms=4, window_every=2, tie=True),
    "gemma3_text": Spec(norms=4, qk_norm="head", window_every=6, tie=True),
    "glm": Spec(o_bias=False),
    "glm4": Spec(norms=4, o_bias=False),
    "gpt_neox": Spec(
        gated=False, mlp_bias=True, norm_width=2, q_bias="attention_bias", o_bias="attention_bias"
    ),
    "gptj": Spec(q_bias=False, o_bias=False, gated=False, mlp_bias=True, norms=1, norm_width=2,
                 head_bias=True),
    "codegen": Spec(q_bias=False, o_bias=False, gated=False, mlp_bias=True, norms=1,
                    norm_width=2, head_bias=True),
    "gpt2": Spec(q_bias=True, o_bias=True, gated=False, mlp_bias=True, norm_width=2, tie=True,
                 positions=0),
    "granite": _LLAMA,
    "helium": Spec(mlp_bias="mlp_bias", o_bias=False),
    "hunyuan_v1_dense": Spec(qk_norm="head"),
    "internlm3": Spec(q_bias="qkv_bias", o_bias="bias", mlp_bias="bias"),
    "iquestcoder": _LLAMA,
    "jais2": Spec(gated=False, mlp_bias="mlp_bias", norm_width=2),
    "hyperclovax": _LLAMA,
    "ministral": Spec(q_bias=False, o_bias=False, window_always=True),
    "ministral3": Spec(q_bias=False, o_bias=False, window_always=True),
    "mistral": Spec(q_bias=False, o_bias=False, window_always=True),
    "nanochat": Spec(gated=False, norm_width=0),
    "nemotron": Spec(gated=False, mlp_bias="mlp_bias", norm_width=2),
    "olmo": Spec(norm_width=0),
    "olmo2": Spec(qk_norm="full"),
    "olmo3": Spec(qk_norm="full", window_every=4),
    "persimmon": Spec(q_bias=True, o_bias=True, gated=False, mlp_bias=True, norm_width=2,
                      qk_norm="head", qk_norm_key="qk_layernorm", qk_norm_bias=True),
    "phi": Spec(q_bias=True, o_bias=True, gated=False, mlp_bias=True, norms=1, norm_width=2,
                head_bias=True, qk_norm="head", qk_norm_key="qk_layernorm", qk_norm_bias=True),
    "phi3": Spec(q_bias=False, o_bias=False, window_always=True),
    "qwen2": Spec(q_bias=True, o_bias=False),
    "qwen3": Spec(qk_norm="head"),
    "seed_oss": Spec(o_bias="attention_out_bias", mlp_bias="mlp_bias"),
    "smollm3": _LLAMA,
    "stablelm": Spec(q_bias="use_qkv_bias", o_bias=False, norm_width=2),
    "starcoder2": Spec(q_bias="use_bias", o_bias="use_bias", mlp_bias="use_bias", gated=False,
                       norm_width=2, tie=True, window_always=True),
    "vaultgemma": Spec(window_every=2, tie=True),
    "gpt_neox_japanese": Spec(q_bias=False, o_bias=False),
}  # fmt: skip

MIXTURE: dict[str, Spec] = {
    "dots1": Spec(qk_norm="head", o_bias=False, moe=MoeSpec(shared="n"), window_every=None),
    "ernie4_5_moe": Spec(
        q_bias="use_bias", o_bias="use_bias", mlp_bias="use_bias",
        moe=MoeSpec(shared="n", score_vector=True),
    ),
    "exaone_moe": Spec(q_bias=False, o_bias=False, qk_norm="head", window_every=4,
                       moe=MoeSpec(shared="n")),
    "afmoe": Spec(norms=4, qk_norm="head", gate="element",
                  moe=MoeSpec(shared="n", score_vector=True)),
    "flex_olmo": Spec(qk_norm="full", moe=MoeSpec(size="intermediate_size")),
    "glm4_moe": Spec(o_bias=False, qk_norm="head", qk_norm_key="use_qk_norm",
                     moe=MoeSpec(shared="n"), mtp=True),
    "gpt_oss": Spec(q_bias="attention_bias", o_bias="attention_bias", sinks=True, window_every=2,
                    moe=MoeSpec(size="intermediate_size", router_bias=True, expert_bias=True)),
    "granitemoe": Spec(moe=MoeSpec(size="intermediate_size")),
    "granitemoeshared": Spec(moe=MoeSpec(size="intermediate_size",
                                         shared="shared_intermediate_size")),
    "hy_v3": Spec(qk_norm="head", mlp_bias="mlp_bias", moe=MoeSpec(shared="n")),
    "minimax_m2": Spec(q_bias=False, o_bias=False, qk_norm="full",
                       moe=MoeSpec(size="intermediate_size")),
    "mixtral": Spec(q_bias=False, o_bias=False, window_always=True,
                    moe=MoeSpec(size="intermediate_size")),
    "olmoe": Spec(qk_norm="full", moe=MoeSpec(size="intermediate_size")),
    "phimoe": Spec(norm_width=2, head_bias="lm_head_bias", window_always=True,
                   moe=MoeSpec(size="intermediate_size")),
    "qwen2_moe": Spec(q_bias="qkv_bias", o_bias=False,
                      moe=MoeSpec(shared="shared_expert_intermediate_size", shared_gate=True)),
    "qwen3_moe": Spec(qk_norm="head", moe=MoeSpec()),
    "sarvam_moe": Spec(o_bias=False, qk_norm="head", qk_norm_key="use_qk_norm",
                       moe=MoeSpec(shared="n")),
    "solar_open": Spec(o_bias=False, moe=MoeSpec(shared="n", all_layers=True)),
}  # fmt: skip
