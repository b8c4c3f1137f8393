"""What engines add to kernels."""

import pytest

from ridgeline.cost.engines import ENGINES, PROFILES, engine_profile
from ridgeline.cost.engines_local import llama_cpp_kernels, with_half_accumulation
from ridgeline.errors import UnknownNameError
from ridgeline.study.resolve import open_catalog


def test_ideal_adds_nothing():
    assert engine_profile("ideal", "NVIDIA") is None


def test_vendor_of_its_own():
    nvidia, amd = engine_profile("vllm", "NVIDIA"), engine_profile("vllm", "AMD")
    assert nvidia is not None
    assert amd is not None
    assert nvidia.layer_s < amd.layer_s


def test_unmeasured_vendor_is_flagged():
    profile = engine_profile("vllm", "Intel")
    assert profile is not None
    assert "not measured on Intel" in profile.flags[0]


def test_unknown_engine_teaches():
    with pytest.raises(UnknownNameError, match="vllm"):
        engine_profile("vlm", "NVIDIA")


def test_every_profile_has_a_source():
    assert all(p.source for p in PROFILES.values())
    assert set(ENGINES) == {"ideal", *(engine for engine, _ in PROFILES)}


def test_half_accumulation_doubles_geforce_only():
    """RTX 3090: 71 TFLOP/s with fp32, 142 with fp16 accumulation; A100 has one rate, 312."""
    shelf = open_catalog()
    assert with_half_accumulation(shelf.device("rtx-3090")).peak_flop_per_s["fp16"] == 142e12
    assert with_half_accumulation(shelf.device("a100-sxm-80")).peak_flop_per_s["fp16"] == 312e12


def test_stacked_memory_streams_less_of_its_bandwidth():
    shelf = open_catalog()
    slow = llama_cpp_kernels(shelf.device("a100-sxm-80")).curves["gemm"].bandwidth_share
    fast = llama_cpp_kernels(shelf.device("rtx-4090")).curves["gemm"].bandwidth_share
    assert slow < 0.6 < fast
