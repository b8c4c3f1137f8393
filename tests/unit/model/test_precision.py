from dataclasses import replace

import pytest

from ridgeline.errors import UnknownNameError
from ridgeline.model.architecture import Architecture
from ridgeline.model.precision import Precision

PLAIN = Architecture(
    name="m",
    model_type="m",
    hidden_size=256,
    vocab_size=8,
    blocks=(),
    num_input_embedding_params=2048,
)
QUANTISED = replace(
    PLAIN, weight_format="fp8_block", weight_formats=(("embedding", "bf16"),), kv_format="fp8"
)


def test_the_checkpoint_decides_without_overrides() -> None:
    p = Precision.of(QUANTISED)
    assert p.weights["expert"].id == "fp8_block"
    assert p.weights["embedding"].id == "bf16"
    assert p.kv.id == "fp8"
    assert p.compute_format_of("expert") == "fp8"
    # 8 bits and one fp32 scale per 128 x 128 block: 1 + 4/16384 bytes.
    assert p.weight_bytes_of("expert") == 1 + 4 / 16384


def test_narrow_formats_leave_embedding_head_router_and_norms_alone() -> None:
    p = Precision.of(PLAIN, dtype="fp8")
    assert {k for k, f in p.weights.items() if f.id == "fp8"} == {
        "attention",
        "ffn",
        "expert",
        "shared_expert",
    }
    assert p.weights["head"].id == "bf16"
    assert all(f.id == "fp32" for f in Precision.of(PLAIN, dtype="fp32").weights.values())


def test_an_override_replaces_the_checkpoint_and_its_cache_format() -> None:
    p = Precision.of(QUANTISED, dtype="bf16")
    assert p.weights["expert"].id == "bf16"
    assert p.kv.id == "bf16"
    assert Precision.of(QUANTISED, dtype="bf16", kv_dtype="fp8").kv.id == "fp8"
    assert Precision.of(QUANTISED, per_class={"expert": "mxfp4"}).weights["expert"].id == "mxfp4"


def test_weight_only_formats_compute_in_the_activations_format() -> None:
    p = Precision.of(PLAIN, dtype="awq", activation_dtype="fp16")
    assert p.compute_format_of("ffn") == "fp16"
    assert p.attention_compute_format == "fp16"


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"No weight class 'experts'\. Nearest: expert"):
        Precision.of(PLAIN, per_class={"experts": "fp8"})
    with pytest.raises(UnknownNameError):
        Precision.of(PLAIN, dtype="fp9")
