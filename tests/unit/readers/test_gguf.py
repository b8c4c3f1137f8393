"""GGUF files written by the `gguf` package, read back and compared with config.json readings."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ridgeline.errors import InputError, RidgelineError, UnsupportedError
from ridgeline.model.architecture import LatentAttention, Recurrence, SoftmaxAttention
from ridgeline.model.formats import GGUF_TYPES, format_named, storage_bytes
from ridgeline.model.params import count_parameters
from ridgeline.readers.gguf import read_gguf_header
from ridgeline.readers.gguf_model import read_gguf
from ridgeline.readers.hf import read_config

gguf = pytest.importorskip("gguf")

Tensors = dict[str, tuple[int, ...]]


def write(path: Path, arch: str, keys: dict[str, Any], tensors: Tensors, **types: str) -> Path:
    """Write zeros of each shape; `types` gives the ggml type of a tensor's short name."""
    writer = gguf.GGUFWriter(path, arch)
    for key, value in keys.items():
        name = key if key.startswith("general.") else f"{arch}.{key}"
        if isinstance(value, list):
            writer.add_array(name, value)
        elif isinstance(value, bool):
            writer.add_bool(name, value)
        elif isinstance(value, str):
            writer.add_string(name, value)
        else:
            writer.add_uint32(name, value)
    writer.add_array("tokenizer.ggml.tokens", [f"token {i}" for i in range(5000)])
    for name, shape in tensors.items():
        short = name.rsplit(".weight", 1)[0].split(".")[-1]
        kind = types.get(short, "F16" if len(shape) > 1 else "F32")
        if kind in {"F16", "F32"}:
            writer.add_tensor(name, np.zeros(shape, "f2" if kind == "F16" else "f4"))
        else:
            quant = getattr(gguf.GGMLQuantizationType, kind)
            data = gguf.quants.quantize(np.zeros(shape, "f4"), quant)
            writer.add_tensor(name, data, raw_dtype=quant)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def keys(**more: Any) -> dict[str, Any]:
    return {
        "block_count": 2,
        "embedding_length": 64,
        "context_length": 512,
        "attention.head_count": 4,
        "attention.head_count_kv": 2,
        "feed_forward_length": 96,
        **more,
    }


def frame(hidden: int = 64, vocab: int = 100, *, tied: bool = False) -> Tensors:
    head = {} if tied else {"output.weight": (vocab, hidden)}
    return {"token_embd.weight": (vocab, hidden), "output_norm.weight": (hidden,), **head}


def layer(i: int, *, kv: int = 2, dim: int = 16, inner: int = 96, ffn: bool = True) -> Tensors:
    h, b = 64, f"blk.{i}."
    tensors = {
        b + "attn_norm.weight": (h,),
        b + "attn_q.weight": (4 * dim, h),
        b + "attn_k.weight": (kv * dim, h),
        b + "attn_v.weight": (kv * dim, h),
        b + "attn_output.weight": (h, 4 * dim),
        b + "ffn_norm.weight": (h,),
    }
    if ffn:
        tensors |= {
            b + "ffn_gate.weight": (inner, h),
            b + "ffn_up.weight": (inner, h),
            b + "ffn_down.weight": (h, inner),
        }
    return tensors


def moe(i: int, experts: int = 4, inner: int = 32) -> Tensors:
    b = f"blk.{i}.ffn_"
    return {
        b + "gate_inp.weight": (experts, 64),
        b + "gate_exps.weight": (experts, inner, 64),
        b + "up_exps.weight": (experts, inner, 64),
        b + "down_exps.weight": (experts, 64, inner),
    }


CONFIG = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
    "vocab_size": 100,
    "max_position_embeddings": 512,
    "dtype": "float16",
    "tie_word_embeddings": False,
}


def test_llama_equals_its_config(tmp_path: Path) -> None:
    """Two layers, GQA 4:2: the same parameters, cores and layers as the config.json."""
    tensors = {**frame(), **layer(0), **layer(1), "rope_freqs.weight": (8,)}
    found = read_gguf(write(tmp_path / "small.gguf", "llama", keys(), tensors))
    expected = read_config({**CONFIG, "model_type": "llama"}, name="small")
    assert count_parameters(found) == count_parameters(expected)
    assert [b.mixer.cores for b in found.blocks] == [b.mixer.cores for b in expected.blocks]
    assert (found.num_layers, found.vocab_size, found.max_position_embeddings) == (2, 100, 512)
    assert (found.weight_format, dict(found.weight_formats)["norm"]) == ("fp16", "fp32")
    assert found.flags == ()


def test_qwen2_biases_and_tied_head(tmp_path: Path) -> None:
    biases: Tensors = {}
    for i in range(2):
        biases |= {f"blk.{i}.attn_{n}.bias": (64 if n == "q" else 32,) for n in "qkv"}
    tensors = {**frame(tied=True), **layer(0), **layer(1), **biases}
    found = read_gguf(write(tmp_path / "q.gguf", "qwen2", keys(), tensors))
    config = {**CONFIG, "model_type": "qwen2", "tie_word_embeddings": True}
    assert found.tie_word_embeddings
    assert count_parameters(found) == count_parameters(read_config(config, name="q"))


def test_qwen3_moe(tmp_path: Path) -> None:
    tensors = frame()
    for i in range(2):
        norms = {f"blk.{i}.attn_{n}_norm.weight": (16,) for n in "qk"}
        tensors |= {**layer(i, ffn=False), **moe(i), **norms}
    values = keys(expert_count=4, expert_used_count=2)
    values |= {"attention.key_length": 16, "attention.value_length": 16}
    found = read_gguf(write(tmp_path / "m.gguf", "qwen3moe", values, tensors))
    config = {
        **CONFIG,
        "model_type": "qwen3_moe",
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 32,
        "head_dim": 16,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
    }
    assert count_parameters(found) == count_parameters(read_config(config, name="m"))
    experts = found.blocks[0].feed_forward.experts
    assert experts is not None
    assert (experts.num_experts, experts.num_experts_per_tok) == (4, 2)


def test_experts_stored_one_by_one(tmp_path: Path) -> None:
    """Mixtral files of 2023 have one tensor per expert."""
    tensors = {**frame(), **layer(0, ffn=False), **layer(1, ffn=False)}
    for i in range(2):
        tensors[f"blk.{i}.ffn_gate_inp.weight"] = (2, 64)
        for e in range(2):
            tensors |= {
                f"blk.{i}.ffn_gate.{e}.weight": (32, 64),
                f"blk.{i}.ffn_up.{e}.weight": (32, 64),
                f"blk.{i}.ffn_down.{e}.weight": (64, 32),
            }
    values = keys(expert_count=2, expert_used_count=1)
    found = read_gguf(write(tmp_path / "old.gguf", "llama", values, tensors))
    assert count_parameters(found).num_routed_params == 2 * 2 * 3 * 32 * 64


@pytest.mark.parametrize("split", [True, False])
def test_deepseek2_latent_attention(tmp_path: Path, split: bool) -> None:
    """Rank 32, rope 8, nope 16, value 16: kv_b is 4·(16+16)·32, in one tensor or in two."""
    tensors = frame()
    for i in range(2):
        b = f"blk.{i}."
        tensors |= {
            b + "attn_norm.weight": (64,),
            b + "attn_q_a.weight": (48, 64),
            b + "attn_q_a_norm.weight": (48,),
            b + "attn_q_b.weight": (4 * 24, 48),
            b + "attn_kv_a_mqa.weight": (40, 64),
            b + "attn_kv_a_norm.weight": (32,),
            b + "attn_output.weight": (64, 64),
            b + "ffn_norm.weight": (64,),
        }
        if split:
            tensors |= {b + "attn_k_b.weight": (4, 32, 16), b + "attn_v_b.weight": (4, 16, 32)}
        else:
            tensors[b + "attn_kv_b.weight"] = (128, 32)
    tensors |= {k: v for k, v in layer(0).items() if "ffn_" in k and "norm" not in k}
    shared = {
        "blk.1.ffn_gate_shexp.weight": (32, 64),
        "blk.1.ffn_up_shexp.weight": (32, 64),
        "blk.1.ffn_down_shexp.weight": (64, 32),
        "blk.1.exp_probs_b.bias": (4,),
    }
    tensors |= moe(1) | shared
    values = keys(expert_count=4, expert_used_count=2, leading_dense_block_count=1)
    sizes = {"key_length": 24, "value_length": 16}
    if split:
        sizes = {"key_length": 40, "value_length": 32, "key_length_mla": 24, "value_length_mla": 16}
    values |= {"attention.kv_lora_rank": 32, "attention.q_lora_rank": 48}
    values |= {f"attention.{k}": v for k, v in sizes.items()} | {"rope.dimension_count": 8}
    found = read_gguf(write(tmp_path / "ds.gguf", "deepseek2", values, tensors))
    config = {
        **CONFIG,
        "model_type": "deepseek_v3",
        "num_key_value_heads": 4,
        "q_lora_rank": 48,
        "kv_lora_rank": 32,
        "qk_nope_head_dim": 16,
        "qk_rope_head_dim": 8,
        "v_head_dim": 16,
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "n_shared_experts": 1,
        "moe_intermediate_size": 32,
        "first_k_dense_replace": 1,
        "num_nextn_predict_layers": 0,
        "n_group": 1,
        "topk_group": 1,
    }
    expected = read_config(config, name="ds")
    # the router's correction bias is a buffer in transformers and a tensor in the file
    assert count_parameters(found).num_params - 4 == count_parameters(expected).num_params
    assert [b.mixer.cores for b in found.blocks] == [b.mixer.cores for b in expected.blocks]
    assert isinstance(found.blocks[0].mixer.cores[0], LatentAttention)


def test_per_layer_heads_and_windows(tmp_path: Path) -> None:
    """head_count_kv as an array; a boolean window pattern: layer 0 windowed, layer 1 full."""
    tensors = {**frame(), **layer(0, kv=2), **layer(1, kv=1)}
    values = keys() | {
        "attention.head_count_kv": [2, 1],
        "attention.sliding_window": 128,
        "attention.sliding_window_pattern": [True, False],
    }
    found = read_gguf(write(tmp_path / "p.gguf", "gemma4", values, tensors))
    cores = [b.mixer.cores[0] for b in found.blocks]
    assert all(isinstance(c, SoftmaxAttention) for c in cores)
    assert [(c.num_kv_heads, c.window) for c in cores] == [(2, 128), (1, None)]


def test_window_pattern_of_the_architecture(tmp_path: Path) -> None:
    """gpt-oss: every second layer sees all; its file only gives the window."""
    tensors = {**frame(), **layer(0), **layer(1)}
    tensors |= {f"blk.{i}.attn_sinks.weight": (4,) for i in range(2)}
    values = keys() | {"attention.sliding_window": 128}
    found = read_gguf(write(tmp_path / "g.gguf", "gpt-oss", values, tensors))
    assert [b.mixer.cores[0].window for b in found.blocks] == [128, None]
    assert found.blocks[0].mixer.num_vector_params == 4


def test_fused_projections(tmp_path: Path) -> None:
    """phi3: attn_qkv and a doubled ffn_up."""
    tensors = frame()
    for i in range(2):
        tensors |= {
            f"blk.{i}.attn_norm.weight": (64,),
            f"blk.{i}.attn_qkv.weight": (64 + 32 + 32, 64),
            f"blk.{i}.attn_output.weight": (64, 64),
            f"blk.{i}.ffn_norm.weight": (64,),
            f"blk.{i}.ffn_up.weight": (192, 64),
            f"blk.{i}.ffn_down.weight": (64, 96),
        }
    found = read_gguf(write(tmp_path / "phi.gguf", "phi3", keys(), tensors))
    config = {**CONFIG, "model_type": "phi3", "pad_token_id": 0}
    assert count_parameters(found) == count_parameters(read_config(config, name="phi"))
    assert found.blocks[0].feed_forward.kind == "dense_gated"


def test_mamba(tmp_path: Path) -> None:
    tensors = frame(tied=True)
    for i in range(2):
        b = f"blk.{i}."
        tensors |= {
            b + "attn_norm.weight": (64,),
            b + "ssm_in.weight": (256, 64),
            b + "ssm_conv1d.weight": (128, 4),
            b + "ssm_conv1d.bias": (128,),
            b + "ssm_x.weight": (4 + 32, 128),
            b + "ssm_dt.weight": (128, 4),
            b + "ssm_dt.bias": (128,),
            b + "ssm_a": (128, 16),
            b + "ssm_d": (128,),
            b + "ssm_out.weight": (64, 128),
        }
    values = {"block_count": 2, "embedding_length": 64, "ssm.conv_kernel": 4}
    values |= {"ssm.inner_size": 128, "ssm.state_size": 16, "ssm.time_step_rank": 4}
    found = read_gguf(write(tmp_path / "mamba.gguf", "mamba", values, tensors))
    config = {
        "model_type": "mamba",
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "vocab_size": 100,
        "state_size": 16,
        "conv_kernel": 4,
        "expand": 2,
        "intermediate_size": 128,
        "time_step_rank": 4,
        "use_conv_bias": True,
        "use_bias": False,
        "tie_word_embeddings": True,
    }
    expected = read_config(config, name="mamba")
    assert count_parameters(found).num_params == count_parameters(expected).num_params
    assert isinstance(found.blocks[0].mixer.cores[0], Recurrence)
    assert found.blocks[0].mixer.cores == expected.blocks[0].mixer.cores


def test_mixed_types_keep_the_bytes(tmp_path: Path) -> None:
    """Down projections in q8_0, the rest of the layers in q4_0: class averages are exact."""
    tensors = {**frame(), **layer(0), **layer(1)}
    types = dict.fromkeys(
        ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up"), "Q4_0"
    )
    path = write(tmp_path / "x.gguf", "llama", keys(), tensors, **types, ffn_down="Q8_0")
    found, header = read_gguf(path), read_gguf_header(path)
    by_class = {**dict.fromkeys(("attention", "ffn", "norm"), found.weight_format)}
    by_class |= dict(found.weight_formats)
    assert by_class["attention"] == "q4_0"
    ffn = 2 * 3 * 64 * 96
    mean = format_named(by_class["ffn"]).bits_per_weight
    assert mean * ffn == pytest.approx(ffn / 3 * (4.5 + 4.5 + 8.5))
    data = sum(t.num_bytes for t in header.tensors)
    # data starts after the header and every tensor is padded to 32 bytes
    assert path.stat().st_size - data < 200_000
    reader = gguf.GGUFReader(path)
    assert data == sum(int(t.n_bytes) for t in reader.tensors)
    assert {t.name: int(t.n_elements) for t in reader.tensors} == {
        t.name: t.num_elements for t in header.tensors
    }


def test_every_type_has_the_size_of_ggml() -> None:
    """Block sizes of the gguf package; q8_1 holds activations and differs by version."""
    for kind, (block, size) in gguf.constants.GGML_QUANT_SIZES.items():
        if kind.name != "Q8_1":
            assert GGUF_TYPES[kind.value][1:] == (block, size)


@pytest.mark.parametrize("name", ["Q4_0", "Q5_1", "Q8_0", "BF16", "TQ1_0", "TQ2_0", "MXFP4"])
def test_real_quantised_arrays(name: str) -> None:
    """Bytes of an array that the gguf package quantised."""
    kind = getattr(gguf.GGMLQuantizationType, name)
    data = gguf.quants.quantize(np.ones((3, 512), "f4"), kind)
    assert storage_bytes(GGUF_TYPES[kind.value][0], 3 * 512, (3, 512)) == data.nbytes


def test_split_files(tmp_path: Path) -> None:
    """Two parts, each with a layer; the first carries the keys."""
    one, two = (tmp_path / f"m-0000{i}-of-00002.gguf" for i in (1, 2))
    for path, tensors in ((one, {**frame(), **layer(0)}), (two, layer(1))):
        writer = gguf.GGUFWriter(path, "llama")
        writer.add_uint16("split.count", 2)
        for key, value in keys().items() if path == one else ():
            writer.add_uint32(f"llama.{key}", value)
        for name, shape in tensors.items():
            writer.add_tensor(name, np.zeros(shape, "f2"))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    assert read_gguf(one).num_layers == 2
    two.unlink()
    with pytest.raises(InputError, match="part 2 of 2"):
        read_gguf(one)


@pytest.mark.parametrize(
    ("arch", "values", "tensors", "error", "match"),
    [
        ("bert", keys(), frame(), UnsupportedError, "not a decoder"),
        ("llama", {**keys(), "general.type": "adapter"}, frame(), UnsupportedError, "adapter"),
        ("llama", keys(), {**frame(), **layer(0)}, InputError, "block_count=2"),
        ("llama", keys(block_count=2**31), {**frame(), **layer(0)}, InputError, "block_count"),
        ("llama", keys(), {**frame(32), **layer(0), **layer(1)}, InputError, "embedding_length"),
        ("llama", keys(), {**frame(), **layer(0, kv=1), **layer(1)}, InputError, "attn_k has 16"),
        ("llama", keys(), {**frame(), **layer(0, ffn=False), **moe(0), **layer(1)}, InputError,
         "expert_count"),
    ],
)  # fmt: skip
def test_contradictions_are_refused(
    tmp_path: Path, arch: str, values: Any, tensors: Tensors, error: Any, match: str
) -> None:
    with pytest.raises(error, match=match):
        read_gguf(write(tmp_path / "bad.gguf", arch, values, tensors))


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"", "ends inside"),
        (b"GGML" + bytes(40), "start with"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "big-endian"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**63, 0), "number of tensors"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**40), "number of keys"),
        (b"GGUF" + struct.pack("<IQQ", 3, 199_999, 0), "ends inside"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**50), "a key must be"),
        (b"GGUF" + struct.pack("<IQQQ1sIIQ", 3, 0, 1, 1, b"k", 9, 8, 3_000_000), "ends inside"),
        (b"GGUF" + struct.pack("<IQQQ1sIIQ", 3, 0, 1, 1, b"k", 9, 9, 1), "arrays of type 9"),
        (b"GGUF" + struct.pack("<IQQQ1sI", 3, 0, 1, 1, b"k", 99), "value type 99"),
        (
            b"GGUF" + struct.pack("<IQQQ1sI4QIQ", 3, 1, 0, 1, b"t", 4, *(2**62,) * 4, 0, 0),
            "impossible shape",
        ),
        (b"GGUF" + struct.pack("<IQQQ1sIQIQ", 3, 1, 0, 1, b"t", 1, 8, 77, 0), "unknown type 77"),
        (b"GGUF" + struct.pack("<IQQQ1sIQIQ", 3, 1, 0, 1, b"t", 1, 8, 12, 0), "whole blocks"),
    ],
)
def test_hostile_headers(tmp_path: Path, data: bytes, match: str) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(data)
    with pytest.raises(InputError, match=match):
        read_gguf(path)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("gguf") / "good.gguf"
    tensors = {**frame(), **layer(0, ffn=False), **moe(0), **layer(1)}
    write(path, "llama", keys(expert_count=4, expert_used_count=2), tensors)
    data = path.read_bytes()
    return data[: data.index(b"blk.1.ffn_down.weight") + 64]


@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    cut=st.integers(0, 10**6),
    edits=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=4),
)
def test_damaged_files(good: bytes, tmp_path: Path, cut: int, edits: list[tuple[int, int]]) -> None:
    """Truncated and mutated headers read as something or are refused, never with a traceback."""
    data = bytearray(good)
    for at, value in edits:
        # the tokens are long and dull; aim at what is around them
        data[at % 600 if at % 2 else -1 - at % 1500] = value
    path = tmp_path / "damaged.gguf"
    path.write_bytes(bytes(data[: cut % len(data)] if cut % 3 == 0 else data))
    try:
        read_gguf(path)
    except RidgelineError:
        return
