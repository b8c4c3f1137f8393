"""Families whose classes are remote code, counted from their published modeling files.

No independent program builds them here, so each carries an `assumed` flag. Sources: the
modeling_*.py of the repository that each docstring names, read as text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ridgeline.errors import UnsupportedError
from ridgeline.model.architecture import Architecture, Block
from ridgeline.model.build import dense, ffn_linears, gqa, linear, moe
from ridgeline.readers.hf.assemble import assemble
from ridgeline.readers.hf.families.linear import read_minimax
from ridgeline.readers.hf.families.mixtures import enumerated_layers
from ridgeline.readers.hf.families.standard import MoeSpec, Spec, head_dim_of, read_standard
from ridgeline.readers.hf.keys import MAX_LAYERS, Keys
from ridgeline.readers.hf.layers import tied
from ridgeline.readers.hf.vision import clip


def _remote(read: Callable[[Keys], Architecture]) -> Callable[[Keys], Architecture]:
    def with_flag(k: Keys) -> Architecture:
        k.assume(f"{k.model_type} is remote code; counted from its published modeling file")
        return read(k)

    return with_flag


def _spec(spec: Spec) -> Callable[[Keys], Architecture]:
    return _remote(lambda k: read_standard(k, spec))


def _arctic(k: Keys) -> Architecture:
    """Return Snowflake Arctic: a dense residual part of inner width hidden_size beside 128 experts.

    Source: Snowflake/snowflake-arctic-instruct.
    """
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    mixer = gqa(hidden, heads, k.count("num_key_value_heads", default=heads), hidden // heads)
    size, step = k.count("intermediate_size"), k.count("moe_layer_frequency", default=2)
    residual = k.flag("use_residual", default=True)
    extra = ffn_linears(hidden, hidden) if residual else ()
    mixed = moe(hidden, k.count("num_local_experts"), k.count("num_experts_per_tok"), size,
                extra_linears=extra)  # fmt: skip
    layers = [
        Block(count=1, mixer=mixer,
              feed_forward=mixed if (i + 1) % step == 0 else dense(hidden, size),
              num_norm_params=(3 if residual and (i + 1) % step == 0 else 2) * hidden)
        for i in range(n)
    ]  # fmt: skip
    return assemble(k, layers, hidden_size=hidden, tie=tied(k))


def _chatglm(k: Keys) -> Architecture:
    """Return ChatGLM 2 and 3, GLM-4: grouped keys, gated feed-forward part.

    Source: THUDM/chatglm3-6b.
    """
    if not k.has("multi_query_attention", "multi_query_group_num", "kv_channels"):
        raise UnsupportedError("the first ChatGLM (2-D positions) is not read.")
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    kv = k.count("multi_query_group_num") if k.flag("multi_query_attention") else heads
    bias = k.flag("add_bias_linear")
    mixer = gqa(hidden, heads, kv, k.count("kv_channels", default=hidden // heads),
                q_bias=bias or k.flag("add_qkv_bias"), o_bias=bias)  # fmt: skip
    feed = dense(hidden, k.count("ffn_hidden_size"), bias=bias)
    width = hidden if k.flag("rmsnorm", default=True) else 2 * hidden
    block = Block(count=n, mixer=mixer, feed_forward=feed, num_norm_params=2 * width)
    return assemble(
        k, [block], hidden_size=hidden, vocab_size=k.count("padded_vocab_size", "vocab_size"),
        tie=tied(k), num_final_norm_params=width if k.flag("post_layer_norm", default=True) else 0,
    )  # fmt: skip


def _qwen(k: Keys) -> Architecture:
    """Return the first Qwen: fused qkv with bias, each feed-forward half as wide as stated.

    Source: Qwen/Qwen-7B.
    """
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    dim = k.count("kv_channels", default=hidden // heads)
    bias = not k.flag("no_bias", default=True)
    mixer = gqa(hidden, heads, heads, dim, q_bias=True, o_bias=bias)
    feed = dense(hidden, k.count("intermediate_size") // 2, bias=bias)
    block = Block(count=n, mixer=mixer, feed_forward=feed, num_norm_params=2 * hidden)
    return assemble(k, [block], hidden_size=hidden, tie=tied(k))


def _minicpm(k: Keys) -> Architecture:
    """Return MiniCPM; its first checkpoints tie the head.

    Source: openbmb/MiniCPM-2B-sft-fp32.
    """
    arch = read_standard(k, Spec(tie=True))
    if not arch.tie_word_embeddings:
        k.assume("the head is separate as the file says; the 1B and 2B checkpoints tie it")
    return arch


def _grok(k: Keys) -> Architecture:
    """Return Grok 1 and 2: four norms, experts, in Grok 2 a dense part beside them.

    Source: xai-org/grok-1, xai-org/grok-2.
    """
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    mixer = gqa(hidden, heads, k.count("num_key_value_heads", default=heads),
                head_dim_of(k, hidden, heads))  # fmt: skip
    size = k.count("intermediate_size")
    inner = k.maybe("moe_intermediate_size", minimum=1) or size
    extra = ffn_linears(hidden, size) if k.flag("residual_moe") else ()
    feed = moe(hidden, k.count("num_experts"), k.count("num_experts_per_tok"), inner,
               extra_linears=extra)  # fmt: skip
    block = Block(count=n, mixer=mixer, feed_forward=feed, num_norm_params=4 * hidden)
    return assemble(k, [block], hidden_size=hidden, tie=tied(k))


def _git(k: Keys) -> Architecture:
    """Return Grok 2, whose model type is that of an image captioner."""
    names = k.items("architectures") or []
    if not any("Grok" in str(x) for x in names):
        raise UnsupportedError("GIT captions images; it is not a decoder language model.")
    return _grok(k)


def _step3(k: Keys) -> Architecture:
    """Return Step-3: queries through a shared low rank, one key and value head (MFA).

    Source: stepfun-ai/step3 and arXiv:2507.19427.
    """
    hidden, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    dim, rank = head_dim_of(k, hidden, heads), k.count("share_q_dim")
    base = gqa(hidden, heads, k.count("num_attention_groups", default=1), dim)
    linears = (
        linear("q_proj", hidden, rank),
        linear("wq", rank, heads * dim, split="column"),
        *(x for x in base.linears if x.name != "q_proj"),
    )
    mixer = replace(base, kind="mfa", linears=linears, num_vector_params=rank)
    sparse = enumerated_layers(k, k.raw("moe_layers_enum", default=list(range(4, n - 1))), n)
    mixed = moe(hidden, k.count("moe_num_experts"), k.count("moe_top_k"),
                k.count("moe_intermediate_size"),
                shared_size=k.count("share_expert_dim"))  # fmt: skip
    plain = dense(hidden, k.count("intermediate_size"))
    layers = [
        Block(count=1, mixer=mixer, feed_forward=mixed if s else plain,
              num_norm_params=2 * hidden)
        for s in sparse
    ]  # fmt: skip
    return assemble(k, layers, hidden_size=hidden, tie=tied(k))


def _openelm(k: Keys) -> Architecture:
    """Return OpenELM: heads and feed-forward widths grow with depth.

    Widths are ffn_multiplier · model_dim rounded to ffn_dim_divisor, never down by over 10 %.

    Source: apple/OpenELM-270M.
    """
    hidden, n = k.count("model_dim"), k.count("num_transformer_layers")
    dim, step = k.count("head_dim"), k.count("ffn_dim_divisor", default=256)
    heads, kv = k.per_layer("num_query_heads", n), k.per_layer("num_kv_heads", n)
    widths = k.per_layer("ffn_multipliers", n)
    if n > MAX_LAYERS or heads is None or kv is None or widths is None:
        raise UnsupportedError(
            "OpenELM configs need num_query_heads, num_kv_heads and ffn_multipliers per layer."
        )
    norm = "head" if k.flag("normalize_qk_projections", default=True) else "none"
    layers: list[Block] = []
    for i in range(n):
        exact = Keys({"ffn_multipliers": widths[i]}, "").number("ffn_multipliers") * hidden
        size = max(step, int(exact + step / 2) // step * step)
        size += step if size < 0.9 * exact else 0
        mixer = gqa(hidden, k.check(heads[i], "num_query_heads", minimum=1),
                    k.check(kv[i], "num_kv_heads", minimum=1), dim, qk_norm=norm)  # fmt: skip
        feed = dense(hidden, size, gated=k.flag("ffn_with_glu", default=True))
        layers.append(Block(count=1, mixer=mixer, feed_forward=feed, num_norm_params=2 * hidden))
    return assemble(k, layers, hidden_size=hidden,
                    tie=k.flag("share_input_output_layers", default=True))  # fmt: skip


def _phi3_vision(k: Keys) -> Architecture:
    """Return Phi-3-Vision: Phi-3 with CLIP ViT-L/14 at 336 pixels and a two-layer projector.

    Source: microsoft/Phi-3.5-vision-instruct.
    """
    arch = read_standard(k, Spec(q_bias=False, o_bias=False, window_always=True))
    tower = clip(
        Keys(
            {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24,
             "image_size": 336, "patch_size": 14},
            "clip_vision_model",
        )
    )  # fmt: skip
    joined, hidden = 4 * 1024, arch.hidden_size
    projector = joined * hidden + hidden + hidden * hidden + hidden + 2 * joined
    return replace(arch, num_multimodal_params=tower + projector)


REMOTE: dict[str, Callable[[Keys], Architecture]] = {
    "arctic": _remote(_arctic),
    "baichuan": _spec(Spec(q_bias=False, o_bias=False)),
    "bailing_moe": _spec(
        Spec(q_bias="use_qkv_bias", o_bias="use_bias", moe=MoeSpec(shared="n"))
    ),
    "bailing_moe_v2": _spec(
        Spec(q_bias="use_qkv_bias", o_bias="use_bias", qk_norm="head", qk_norm_key="use_qk_norm",
             moe=MoeSpec(shared="n"), mtp=True)
    ),
    "chatglm": _remote(_chatglm),
    "deepseek": _spec(Spec(moe=MoeSpec(shared="n"))),
    "git": _remote(_git),
    "grok-1": _remote(_grok),
    "internlm": _spec(Spec(q_bias="bias", o_bias="bias")),
    "internlm2": _spec(Spec(q_bias="bias", o_bias="bias")),
    "mimo": _spec(Spec(q_bias="attention_bias", o_bias=False, mtp=True)),
    "minicpm": _remote(_minicpm),
    "minimax_m1": _remote(read_minimax),
    "openelm": _remote(_openelm),
    "orion": _spec(Spec(norm_width=2)),
    "phi-msft": _spec(
        Spec(q_bias=True, o_bias=True, gated=False, mlp_bias=True, norms=1, norm_width=2,
             head_bias=True)
    ),
    "phi3_v": _remote(_phi3_vision),
    "qwen": _remote(_qwen),
    "step3_text": _remote(_step3),
    "xverse": _spec(Spec(q_bias=False, o_bias=False)),
    "yi": _spec(Spec(q_bias=False, o_bias=False)),
}  # fmt: skip
