"""Unknown model types whose keys describe known blocks: read with a flag per guess, or refused."""

from __future__ import annotations

from collections.abc import Iterable

from ridgeline.errors import UnsupportedError
from ridgeline.model.architecture import Architecture
from ridgeline.readers.hf.families.latent import LatentSpec, read_latent
from ridgeline.readers.hf.families.standard import MoeSpec, Spec, read_standard
from ridgeline.readers.hf.keys import Keys

_NEEDED = ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size")
_UNKNOWN_BLOCKS = (
    "mamba", "ssm", "linear_", "conv_", "rwkv", "lru", "state_size", "recurrent", "altup",
    "per_layer", "hc_mult", "compress", "block_configs", "kda", "delta", "zero_expert", "sconv",
)  # fmt: skip
_QKV_BIAS = ("attention_bias", "qkv_bias", "add_qkv_bias", "use_qkv_bias", "bias", "use_bias")
_QK_NORM = ("use_qk_norm", "qk_norm", "qk_layernorm", "use_qk_layernorm")


def read_generic(k: Keys) -> Architecture:
    """Return the architecture that the keys of an unknown type suggest.

    Raises:
        UnsupportedError: keys are missing, or describe blocks that are not known here.
    """
    missing = [n for n in _NEEDED if not k.has(n)]
    if not k.has("intermediate_size", "moe_intermediate_size"):
        missing.append("intermediate_size")
    if missing:
        raise UnsupportedError(
            f"model type '{k.model_type[:60]}' is unknown, and its config lacks "
            f"{', '.join(missing)}."
        )
    odd = [n for n in k.values if any(part in n.lower() for part in _UNKNOWN_BLOCKS)]
    odd = [n for n in odd if k.values[n] not in (None, False, 0, [], "")]
    types = {str(t) for t in k.items("layer_types", "layers_block_type") or []}
    odd += sorted(t for t in types if "attention" not in t or "linear" in t or "compress" in t)
    if odd:
        raise UnsupportedError(
            f"model type '{k.model_type[:60]}' is unknown, and these keys describe blocks that "
            f"cannot be guessed: {', '.join(odd[:6])[:200]}."
        )
    k.assume(f"model type '{k.model_type[:60]}' is unknown; layers are read from its keys")
    moe = _experts(k)
    if k.has("kv_lora_rank"):
        return _read_latent(k, moe)
    bias = next((n for n in _QKV_BIAS if k.has(n)), None)
    norm = next((n for n in _QK_NORM if k.has(n)), None)
    k.assume(
        f"biases follow `{bias}`" if bias else "projections have no biases (no key says otherwise)"
    )
    k.assume(f"q/k norms per head follow `{norm}`" if norm else "no norms on queries and keys")
    k.assume("two RMS norms per layer and a gated feed-forward part")
    spec = Spec(
        q_bias=bias or False,
        o_bias="attention_bias" if bias == "attention_bias" else False,
        qk_norm="head" if norm else "none",
        qk_norm_key=norm,
        mlp_bias="mlp_bias",
        moe=moe,
        window_always=True,
        mtp=True,
    )
    return read_standard(k, spec)


def _experts(k: Keys) -> MoeSpec | None:
    experts = k.maybe("num_experts", default=0) or 0
    if experts < 2:
        return None
    size = "moe_intermediate_size" if k.has("moe_intermediate_size") else "intermediate_size"
    shared: str | None = None
    for key in ("shared_expert_intermediate_size", "shared_intermediate_size", "share_expert_dim"):
        if k.has(key):
            shared = key
    if shared is None and k.has("n_shared_experts"):
        shared = "n"
    k.assume(f"{experts} gated experts of `{size}`, shared experts from `{shared}`")
    return MoeSpec(size=size, shared=shared)


def _read_latent(k: Keys, moe: MoeSpec | None) -> Architecture:
    k.assume("latent attention as in DeepSeek V3")
    spec = LatentSpec(experts=moe is not None, indexer=k.has("index_topk"))
    return read_latent(k, spec)


def guess_type(names: tuple[str, ...], readers: Iterable[str]) -> str | None:
    """Return the model type whose class name is among `names`."""
    by_class = {key.replace("_", "").replace("-", ""): key for key in readers}
    for name in names:
        stem = name.removesuffix("ForCausalLM").removesuffix("LMHeadModel").lower()
        if stem in by_class:
            return by_class[stem]
    return None
