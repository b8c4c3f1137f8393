"""GGUF file types against published bits per weight and file sizes."""

import pytest

from ridgeline.errors import UnknownNameError
from ridgeline.model.architecture import (
    Architecture,
    Block,
    Experts,
    FeedForward,
    Linear,
    Mixer,
    SoftmaxAttention,
)
from ridgeline.model.formats import format_named, storage_bytes
from ridgeline.model.mixes import MIXES, formats_for, gguf_mix


def llama(
    *, layers: int, hidden: int, inner: int, heads: int, kv: int, vocab: int, experts: int = 0
) -> Architecture:
    dim = hidden // heads
    shapes = {"q_proj": (hidden, heads * dim), "k_proj": (hidden, kv * dim),
              "v_proj": (hidden, kv * dim), "o_proj": (heads * dim, hidden)}  # fmt: skip
    attention = tuple(
        Linear(name=n, in_features=i, out_features=o, weight_class="attention")
        for n, (i, o) in shapes.items()
    )
    ffn = tuple(
        Linear(name=n, in_features=i, out_features=o, weight_class="expert" if experts else "ffn")
        for n, i, o in (
            ("gate_proj", hidden, inner),
            ("up_proj", hidden, inner),
            ("down_proj", inner, hidden),
        )
    )
    router = Linear(name="router", in_features=hidden, out_features=experts, weight_class="router")
    block = Block(
        count=layers,
        mixer=Mixer(
            kind="gqa",
            linears=attention,
            cores=(
                SoftmaxAttention(num_heads=heads, num_kv_heads=kv, qk_head_dim=dim, v_head_dim=dim),
            ),
        ),
        feed_forward=FeedForward(
            kind="moe" if experts else "dense_gated",
            linears=(router,) if experts else ffn,
            experts=Experts(num_experts=experts, num_experts_per_tok=2, linears=ffn)
            if experts
            else None,
        ),
        num_norm_params=2 * hidden,
    )
    return Architecture(
        name="llama",
        model_type="llama",
        hidden_size=hidden,
        vocab_size=vocab,
        blocks=(block,),
        num_input_embedding_params=vocab * hidden,
        head=Linear(name="lm_head", in_features=hidden, out_features=vocab, weight_class="head"),
        num_final_norm_params=hidden,
    )


LLAMA_2_7B = llama(layers=32, hidden=4096, inner=11008, heads=32, kv=32, vocab=32000)
LLAMA_3_8B = llama(layers=32, hidden=4096, inner=14336, heads=32, kv=8, vocab=128256)
LLAMA_3_70B = llama(layers=80, hidden=8192, inner=28672, heads=64, kv=8, vocab=128256)
MIXTRAL = llama(layers=32, hidden=4096, inner=14336, heads=32, kv=8, vocab=32000, experts=8)


def weights_bytes(arch: Architecture, name: str) -> tuple[float, int]:
    """Bytes of all weights under a GGUF file type, and their number."""
    default, exceptions = formats_for(name, arch)
    by_class = dict(exceptions)
    if default in {"fp16", "bf16"}:
        by_class["norm"] = "fp32"  # converters keep vectors in fp32
    total, count = 0.0, 0
    block = arch.blocks[0]
    experts = block.feed_forward.experts
    parts = [(x.weight_class, x.num_weights * block.count) for x in block.mixer.linears]
    parts += [(x.weight_class, x.num_weights * block.count) for x in block.feed_forward.linears]
    if experts:
        n = experts.num_experts * block.count
        parts += [(x.weight_class, x.num_weights * n) for x in experts.linears]
    parts += [("embedding", arch.num_input_embedding_params), ("head", arch.head.num_weights)]
    parts += [("norm", block.num_norm_params * block.count + arch.num_final_norm_params)]
    for weight_class, number in parts:
        total += storage_bytes(by_class.get(weight_class, default), number)
        count += number
    return total, count


@pytest.mark.parametrize(
    ("name", "published"),
    [("q3_k_s", 3.50), ("q3_k_m", 3.91), ("q3_k_l", 4.27), ("q4_k_s", 4.58), ("q4_k_m", 4.84),
     ("q5_k_s", 5.52), ("q5_k_m", 5.68), ("q6_k", 6.56)],
)  # fmt: skip
def test_bits_per_weight_of_llama_2_7b(name: str, published: float) -> None:
    """Source: llama.cpp, tools/quantize/README.md, table Llama 2 7B (two decimals)."""
    total, count = weights_bytes(LLAMA_2_7B, name)
    assert 8 * total / count == pytest.approx(published, abs=0.006)


@pytest.mark.parametrize(
    ("arch", "name", "published_gb"),
    [
        (LLAMA_3_8B, "q4_k_m", 4.92), (LLAMA_3_8B, "fp16", 16.07), (LLAMA_3_8B, "q8_0", 8.54),
        (LLAMA_3_8B, "q6_k", 6.60), (LLAMA_3_8B, "q5_k_m", 5.73), (LLAMA_3_8B, "q5_k_s", 5.60),
        (LLAMA_3_8B, "q4_k_s", 4.69), (LLAMA_3_8B, "q3_k_l", 4.32), (LLAMA_3_8B, "q3_k_m", 4.02),
        (LLAMA_3_8B, "q3_k_s", 3.66), (LLAMA_3_8B, "q2_k", 3.18), (LLAMA_3_8B, "iq3_m", 3.78),
        (LLAMA_3_8B, "q4_0", 4.66),
        (LLAMA_3_70B, "q4_k_m", 42.52), (LLAMA_3_70B, "fp16", 141.1),
    ],
)  # fmt: skip
def test_published_file_sizes(arch: Architecture, name: str, published_gb: float) -> None:
    """Source: model cards of public GGUF repositories (GB); header and tokenizer add 8 MB."""
    total, _ = weights_bytes(arch, name)
    places = 5e6 if published_gb < 100 else 5e7
    assert published_gb * 1e9 - places - 9e6 <= total <= published_gb * 1e9 + places


def test_eight_experts() -> None:
    """q: 32 heads of q4_k, k and v: 8 each of q8_0, o: 32 of q5_k; mean over 80 heads."""
    attention = dict(gguf_mix("q4_k_m", MIXTRAL)[1])["attention"]
    assert format_named(attention).bits_per_weight == pytest.approx(
        (32 * 4.5 + 16 * 8.5 + 32 * 5.5) / 80
    )
    assert dict(gguf_mix("q4_k_m", MIXTRAL)[1])["router"] == "fp32"


def test_value_layers_of_q4_k_m() -> None:
    """32 layers: 0-3, 28-31 and 6, 9 ... 27 are wide: 16 of 32, so v averages (4.5+6.5625)/2."""
    attention = dict(gguf_mix("Q4_K_M", LLAMA_2_7B)[1])["attention"]
    assert format_named(attention).bits_per_weight == pytest.approx(4.5 + 2.0625 / 8, rel=1e-9)


def test_partial_blocks_fall_back() -> None:
    """Rows of 896 are 28 blocks of 32 but 3.5 of 256: q4_k becomes q5_0, q6_k becomes q8_0."""
    arch = llama(layers=2, hidden=896, inner=4864, heads=14, kv=2, vocab=1000)
    assert dict(gguf_mix("q4_k_m", arch)[1])["embedding"] == "q5_0"
    assert dict(gguf_mix("q4_k_m", arch)[1])["head"] == "q8_0"


def test_plain_formats_and_unknown_names() -> None:
    assert formats_for("w4a16", LLAMA_2_7B) == ("int4_g128", ())
    with pytest.raises(UnknownNameError, match="q4_k_m"):
        formats_for("q4_k_mm", LLAMA_2_7B)
    with pytest.raises(UnknownNameError):
        gguf_mix("bf16", LLAMA_2_7B)
    assert all(format_named(name) for name in MIXES if name != "iq3_xs")
