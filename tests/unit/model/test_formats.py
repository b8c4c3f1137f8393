"""Storage formats: bits by hand, names, broadcasting, and refusal of nonsense."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeline.errors import InputError, UnknownNameError
from ridgeline.model.formats import ALIASES, FORMATS, format_named, storage_bytes


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("fp32", 32), ("bf16", 16), ("fp8", 8),
        ("fp8_block", 8 + 32 / 128**2), ("fp8_block_ue8m0", 8 + 8 / 128**2),
        ("mxfp8", 8.25), ("mxfp4", 4.25), ("nvfp4", 4.5),  # 4 + 8/32, 4 + 8/16
        ("int4_g128", 4.125), ("int4_g32", 4.5),  # 4 + 16/128, 4 + 16/32
        ("awq4_g128", 4.15625), ("gptq4_g128", 4.15625),  # 4 + (16 + 4)/128
        ("bnb_nf4_single", 4.5), ("bnb_nf4", 4 + 8 / 64 + 32 / (64 * 256)),
        ("hqq4_g64", 4.5), ("q4_k", 4.5), ("q6_k", 6.5625), ("q8_0", 8.5), ("iq4_xs", 4.25),
    ],
)  # fmt: skip
def test_bits_per_weight(name: str, bits: float) -> None:
    """Code bits plus the scales of one group over its weights."""
    assert FORMATS[name].bits_per_weight == pytest.approx(bits, rel=1e-12)
    assert FORMATS[name].bytes_per_weight == pytest.approx(bits / 8, rel=1e-12)


def test_partial_blocks_are_padded() -> None:
    """[130, 200] in FP8 blocks: 26,000 codes and 2·2 fp32 scales; mxfp4 [3, 33]: 17 + 2 a row."""
    assert storage_bytes("fp8_block", 26_000, (130, 200)) == 26_000 + 4 * 4
    assert storage_bytes("mxfp4", 99, (3, 33)) == 3 * (17 + 2)
    assert storage_bytes("q4_k", 300, (1, 300)) == 2 * 144


def test_leading_axes_are_tensors() -> None:
    """Each of 8 experts has its own scale per tensor."""
    assert storage_bytes("fp8", 8 * 64 * 32, (8, 64, 32)) == 8 * (64 * 32 + 4)


def test_shapes_broadcast() -> None:
    rows = np.array([128, 129, 256])
    found = storage_bytes("fp8_block", rows * 128, (rows, 128))
    assert found.tolist() == [storage_bytes("fp8_block", int(r) * 128, (int(r), 128)) for r in rows]
    assert storage_bytes("mxfp4", np.array([64.0, 128.0])).tolist() == [34.0, 68.0]


def test_aliases_lead_to_formats() -> None:
    for alias, target in ALIASES.items():
        assert format_named(alias) is FORMATS[target]
        assert format_named(alias.upper().replace("_", "-")) is FORMATS[target]


def test_compute_formats_are_known() -> None:
    """Keys of Device.peak_flop_per_s; weight-only formats compute in 16 bits."""
    known = {"fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4", "int8", "int4"}
    assert {f.compute_format for f in FORMATS.values()} <= known
    assert all(f.compute_format in {"bf16", "fp16"} for f in FORMATS.values() if f.weights_only)
    assert all(f.source for f in FORMATS.values())


def test_averages() -> None:
    assert format_named("4.85bpw").bits_per_weight == 4.85
    assert format_named("4.25bpw_fp8").compute_format == "fp8"
    for name in ("0bpw", "99bpw", "0.0bpw"):
        with pytest.raises(InputError, match="above 0"):
            format_named(name)


def test_unknown_names_give_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"nvfp4") as error:
        format_named("nvpf4")
    assert "nvfp4" in error.value.nearest
    with pytest.raises(UnknownNameError):
        format_named("")


@given(st.text(max_size=20))
def test_any_name_is_a_format_or_refused(name: str) -> None:
    try:
        assert format_named(name).bits_per_weight > 0
    except InputError:
        return


def test_shape_must_hold_the_weights() -> None:
    with pytest.raises(InputError, match="must hold"):
        storage_bytes("bf16", 10, (3, 3))
    with pytest.raises(InputError, match="at least one axis"):
        storage_bytes("bf16", 10, ())


@given(
    name=st.sampled_from(sorted(FORMATS)),
    rows=st.integers(1, 400),
    cols=st.integers(1, 400),
)
def test_padding_never_saves_bytes(name: str, rows: int, cols: int) -> None:
    """The exact bytes are at least those of the weights without scales, and grow with rows."""
    form = FORMATS[name]
    exact = storage_bytes(form, rows * cols, (rows, cols))
    assert exact >= rows * cols * form.bits_per_weight / 8 - 1e-9
    assert storage_bytes(form, (rows + 1) * cols, (rows + 1, cols)) >= exact
