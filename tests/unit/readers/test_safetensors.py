"""safetensors files written by torch and by hand: headers, directories, indexes, damage."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ridgeline.errors import InputError, RidgelineError
from ridgeline.readers import read_model
from ridgeline.readers.hub import fetch_directory
from ridgeline.readers.safetensors import (
    Checkpoint,
    StoredTensor,
    num_params,
    read_index,
    read_safetensors,
)

BITS = {"BF16": 2, "F16": 2, "F32": 4, "U8": 1, "I32": 4, "F8_E4M3": 1}
CONFIG = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
    "vocab_size": 100,
    "max_position_embeddings": 512,
    "dtype": "bfloat16",
    "tie_word_embeddings": False,
}


def header(tensors: dict[str, tuple[str, tuple[int, ...]]]) -> dict[str, Any]:
    at, entries = 0, dict[str, Any]()
    for name, (dtype, shape) in tensors.items():
        size = BITS[dtype]
        for axis in shape:
            size *= axis
        entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    return entries


def write(path: Path, tensors: dict[str, tuple[str, tuple[int, ...]]]) -> Path:
    entries = header(tensors)
    text = json.dumps({"__metadata__": {"format": "pt"}, **entries}).encode()
    end = max(e["data_offsets"][1] for e in entries.values())
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(end))
    return path


def llama(layers: int = 2) -> dict[str, tuple[str, tuple[int, ...]]]:
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (100, 64),
        "lm_head.weight": (100, 64),
        "model.norm.weight": (64,),
    }
    for i in range(layers):
        p = f"model.layers.{i}."
        shapes |= {f"{p}self_attn.{n}_proj.weight": (64, 64) for n in "qo"}
        shapes |= {f"{p}self_attn.{n}_proj.weight": (32, 64) for n in "kv"}
        shapes |= {f"{p}mlp.{n}_proj.weight": (96, 64) for n in ("gate", "up")}
        shapes |= {f"{p}mlp.down_proj.weight": (64, 96)}
        shapes |= {f"{p}{n}_layernorm.weight": (64,) for n in ("input", "post_attention")}
    return {name: ("BF16", shape) for name, shape in shapes.items()}


def model(path: Path, tensors: Any, **more: Any) -> Path:
    path.mkdir()
    (path / "config.json").write_text(json.dumps({**CONFIG, **more}))
    write(path / "model.safetensors", tensors)
    return path


def test_torch_file_is_read_exactly(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    save = pytest.importorskip("safetensors.torch").save_file
    tensors = {
        "a": torch.zeros(3, 5, dtype=torch.bfloat16),
        "b": torch.zeros(7, dtype=torch.int32),
        "c": torch.zeros(2, 2, dtype=torch.float8_e4m3fn),
    }
    save(tensors, tmp_path / "x.safetensors")
    found = read_safetensors(tmp_path / "x.safetensors")
    assert found.num_elements == 26
    assert found.num_bytes == sum(t.nbytes for t in tensors.values())
    assert found.bytes_by_dtype() == {"BF16": 30, "I32": 28, "F8_E4M3": 4}


def test_directory_agrees_with_its_config(tmp_path: Path) -> None:
    assert read_model(model(tmp_path / "m", llama())).flags == ()


def test_directory_that_disagrees_is_flagged(tmp_path: Path) -> None:
    found = read_model(model(tmp_path / "m", llama(3)))
    assert any(f.startswith("assumed: the config gives") for f in found.flags)
    assert any("formats of the config" in f for f in found.flags)


def test_tied_head_stored_twice_is_fine(tmp_path: Path) -> None:
    assert read_model(model(tmp_path / "m", llama(), tie_word_embeddings=True)).flags == ()


def test_fp8_directory(tmp_path: Path) -> None:
    """Linear weights in FP8 with one fp32 scale per 128 x 128 block: scales are no parameters."""
    tensors = llama()
    for name in [n for n in tensors if "_proj" in n]:
        tensors[name] = ("F8_E4M3", tensors[name][1])
        tensors[f"{name}_scale_inv"] = ("F32", (1, 1))
    section = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    assert read_model(model(tmp_path / "m", tensors, quantization_config=section)).flags == ()


def test_index_without_files(tmp_path: Path) -> None:
    """Bytes and layers are checked; shapes are not in an index, which is said."""
    path = tmp_path / "m"
    path.mkdir()
    (path / "config.json").write_text(json.dumps(CONFIG))
    total = sum(e["data_offsets"][1] - e["data_offsets"][0] for e in header(llama()).values())
    names = dict.fromkeys(llama(), "model-00001-of-00001.safetensors")
    index = path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": total}, "weight_map": names}))
    assert read_model(path).flags == (
        "the index has no shapes: parameters are those of the config",
    )
    assert read_model(index).num_layers == 2
    index.write_text(json.dumps({"metadata": {"total_size": 2 * total}, "weight_map": names}))
    assert any("formats of the config" in f for f in read_model(path).flags)
    (path / "config.json").unlink()
    with pytest.raises(InputError, match=r"tensor names in 1 files, 298 kB"):
        read_model(index)


def test_weights_alone_say_what_they_tell(tmp_path: Path) -> None:
    path = write(tmp_path / "x.safetensors", llama())
    with pytest.raises(InputError, match=r"21 tensors.*heads.*config\.json"):
        read_model(path)


def stored(name: str, dtype: str, *shape: int) -> StoredTensor:
    return StoredTensor(name=name, dtype=dtype, shape=shape)


@pytest.mark.parametrize(
    ("tensors", "bits", "expected"),
    [
        # GPTQ [in/8, out] words, zeros [in/128, out/8], scales, group index of [in]
        ([("p.qweight", "I32", 32, 512), ("p.qzeros", "I32", 2, 64), ("p.scales", "F16", 2, 512),
          ("p.g_idx", "I32", 256)], 4, 256 * 512),
        # AWQ [in, out/8]
        ([("p.qweight", "I32", 256, 64), ("p.qzeros", "I32", 2, 64), ("p.scales", "F16", 2, 512)],
         4, 256 * 512),
        # compressed-tensors, int32 words along the row
        ([("p.weight_packed", "I32", 512, 32), ("p.weight_scale", "BF16", 512, 2),
          ("p.weight_shape", "I64", 2)], 4, 256 * 512),
        # gpt-oss: 16 bytes of two codes per group of 32
        ([("e.down_proj_blocks", "U8", 4, 64, 8, 16), ("e.down_proj_scales", "U8", 4, 64, 8),
          ("e.down_proj_bias", "BF16", 4, 64)], None, 4 * 64 * 256 + 4 * 64),
        # NVFP4 of ModelOpt
        ([("p.weight", "U8", 512, 128), ("p.weight_scale", "F8_E4M3", 512, 16),
          ("p.weight_scale_2", "F32"), ("p.input_scale", "F32")], 4, 256 * 512),
        # bitsandbytes NF4 with nested scales
        ([("p.weight", "U8", 65536, 1), ("p.weight.absmax", "U8", 2048),
          ("p.weight.nested_absmax", "F32", 8), ("p.weight.quant_map", "F32", 16),
          ("p.weight.nested_quant_map", "F32", 256),
          ("p.weight.quant_state.bitsandbytes__nf4", "U8", 100)], None, 256 * 512),
        # MLX: uint32 words, scales and biases per group
        ([("p.weight", "U32", 512, 32), ("p.scales", "BF16", 512, 4), ("p.biases", "BF16", 512, 4)],
         4, 256 * 512),
        # FP8 with block scales
        ([("p.weight", "F8_E4M3", 512, 256), ("p.weight_scale_inv", "F32", 4, 2)], None, 256 * 512),
        ([("p.weight", "BF16", 512, 256), ("p.bias", "BF16", 512)], None, 256 * 512 + 512),
    ],
)  # fmt: skip
def test_packed_weights_are_unpacked(tensors: Any, bits: int | None, expected: int) -> None:
    found = [stored(*t) for t in tensors]
    names = {t.name for t in found}
    assert sum(num_params(t, names, bits) for t in found) == expected
    assert sum(Checkpoint(tensors=tuple(found)).params_by_part(bits).values()) == expected


def one(fields: str) -> bytes:
    text = f'{{"a":{{"dtype":"F32",{fields}}}}}'.encode()
    return struct.pack("<Q", len(text)) + text


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"", "header of 0"),
        (struct.pack("<Q", 2**63) + b"{}", "header of"),
        (struct.pack("<Q", 2) + b"[]", "JSON object"),
        (struct.pack("<Q", 4) + b"\xff\xff\xff\xff", "not UTF-8"),
        (struct.pack("<Q", 9) + b'{"a": {}}', "no usable"),
        (one('"shape":[-1],"data_offsets":[0,4]'), "no usable"),
        (one('"shape":[9],"data_offsets":[0,4]'), "must span 36"),
        (one('"shape":[9],"data_offsets":[0,36]'), "cut short"),
    ],
)  # fmt: skip
def test_hostile_files(tmp_path: Path, data: bytes, match: str) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(data)
    with pytest.raises(InputError, match=match):
        read_safetensors(path)


def test_index_must_not_leave_its_directory(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.mkdir()
    (path / "config.json").write_text(json.dumps(CONFIG))
    index = path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "../secret.safetensors"}}))
    with pytest.raises(InputError, match="beside it"):
        read_model(path)
    index.write_text(json.dumps({"weight_map": {"a": 1}}))
    with pytest.raises(InputError, match="file names"):
        read_index(index)


@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    cut=st.integers(0, 10**6),
    edits=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=4),
)
def test_damaged_files(tmp_path: Path, cut: int, edits: list[tuple[int, int]]) -> None:
    path = write(tmp_path / "x.safetensors", llama(1))
    data = bytearray(path.read_bytes())
    for at, value in edits:
        data[at % 1800] = value
    path.write_bytes(bytes(data[: cut % len(data)] if cut % 3 == 0 else data))
    try:
        read_safetensors(path)
    except RidgelineError:
        return


def test_hub_ids_are_checked_before_any_network(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("hub:", "hub:../../etc", "hub:a/b/c/d", "hub:-x/y"):
        with pytest.raises(InputError, match="ORG/NAME"):
            fetch_directory(text)
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(InputError, match=r"ridgeline\[hub\]"):
        read_model("hub:org/name")


def test_hub_reads_only_small_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A stand-in for huggingface_hub: which files are asked for, and what an outage says."""
    asked: list[str] = []

    class Hub:
        @staticmethod
        def hf_hub_download(name: str, file: str, revision: str | None = None) -> str:
            asked.append(f"{name}/{file}@{revision}")
            if name == "org/gone" or file != "config.json":
                raise OSError("no connection")
            (tmp_path / "config.json").write_text(json.dumps(CONFIG))
            return str(tmp_path / "config.json")

    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", Hub)
    assert read_model("hub:org/name@main").name == "org/name"
    assert asked == ["org/name/config.json@main", "org/name/model.safetensors.index.json@main"]
    with pytest.raises(InputError, match="cannot be fetched: no connection"):
        read_model("hub:org/gone")
