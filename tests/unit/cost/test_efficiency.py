"""Curves: what each figure costs, which curve an operation gets, samples."""

from dataclasses import replace

import numpy as np
import pytest

from ridgeline.catalog import Catalog
from ridgeline.cost.efficiency import (
    IDEAL,
    TYPICAL,
    Curve,
    Efficiency,
    powered_share,
    sampled,
)
from ridgeline.cost.efficiency_records import CALIBRATED
from ridgeline.cost.kernel_forms import kernel_form
from ridgeline.cost.roofline import executed_flop, operation_time
from ridgeline.hardware import Device, MemoryTier
from ridgeline.model.work import Operation

DEVICE = Device(
    id="toy",
    name="toy",
    vendor="none",
    peak_flop_per_s={"bf16": 100e12, "fp8": 200e12},
    memory=MemoryTier(name="hbm", capacity_bytes=1e9, bandwidth_bytes_per_s=1e12),
    generation="hopper",
)


def operation(family="gemm", **shape) -> Operation:
    """Return 100 MFLOP (1 µs) over 0.5 MB of weights and 1 MB of state (1.5 µs)."""
    return Operation(
        name=family,
        family=family,
        component="ffn",
        compute_format="bf16",
        flop=100e6,
        weight_bytes=0.5e6,
        state_read_bytes=1e6,
        shape=shape,
    )


@pytest.mark.parametrize(
    ("curve", "family", "shape", "micros"),
    [
        # max(1, 1.5) + 0.5 · min(1, 1.5)
        (Curve(unhidden=0.5), "gemm", {}, 2.0),
        # 128·256/128² = 2 tiles, 4 wasted: 1 · (1 + 4/2) = 3
        (Curve(tail_tiles=4), "gemm", {"m": 128, "n": 256, "k": 1}, 3.0),
        # 2 sequences · 64 queries · 4 heads / 128 = 4 tiles, 8 wasted
        (Curve(tail_tiles=8), "attention", {"batch": 2, "new_tokens": 64, "num_heads": 4}, 3.0),
        # 96 cached before 64 new: 1 + 2·96/64 = 4 pieces per tile, 16 in all, 48 wasted
        (
            Curve(tail_tiles=48),
            "attention",
            {"batch": 2, "new_tokens": 64, "num_heads": 4, "context": 96},
            4.0,
        ),
        # 16 tokens per expert become max(64, 16 + 32) = 64: four times the FLOP
        (Curve(row_tile=64), "expert_gemm", {"m": 16, "tokens_per_expert": 16}, 4.0),
        # 64 become 64 + 32: 1.5 times
        (Curve(row_tile=64), "expert_gemm", {"m": 64, "tokens_per_expert": 64}, 1.5),
        # two passes of 3 bytes over 250 × 1000 inputs: 1.5 MB more
        (Curve(quantize_passes=2), "gemm", {"m": 250, "k": 1000}, 3.0),
        # inputs that come narrow need no pass
        (Curve(quantize_passes=2), "gemm", {"m": 250, "k": 1000, "wide_inputs": 0.0}, 1.5),
        # 50 tokens beyond 100: half the state again
        (Curve(page_tokens=50), "attention", {"context": 100}, 2.0),
        # exponentials cost as much as 128 more elements of a head of 64
        (Curve(softmax_width=128), "attention", {"head_dim": 64}, 3.0),
        # a stream of 1.5 µs with a ramp of 3: 1.5 + 3 · 1.5 / 4.5
        (Curve(ramp_s=3e-6), "attention", {}, 2.5),
    ],
)
def test_each_figure_of_a_curve(curve, family, shape, micros):
    """Every case starts at compute 1 µs, memory 1.5 µs."""
    time = operation_time(operation(family, **shape), DEVICE, curve).time_s
    assert time == pytest.approx(micros * 1e-6)


@pytest.mark.parametrize(
    ("family", "compute", "storage", "form"),
    [
        ("gemm", "bf16", "bf16", "bf16"),
        ("gemm", "fp8", "fp8_channel", "fp8"),
        ("gemm", "fp8", "fp8_block", "fp8_block"),
        ("expert_gemm", "bf16", "mxfp4", "w4a16"),
        ("expert_gemm", "fp8", "mxfp4_a8", "w4a8"),
        ("gemm", "fp4", "nvfp4", "w4a16"),  # no fp4 units on this device
        ("gemm", "bf16", "fp8_a16", "w8a16"),
        ("attention", "bf16", "fp8", "bf16/fp8"),
        ("attention", "fp8", "fp8", "fp8"),
        ("latent_attention", "bf16", "bf16", "bf16"),
        ("elementwise", "bf16", "", "bf16"),
    ],
)
def test_form_of_an_operation(family, compute, storage, form):
    """The format key of the records."""
    op = Operation(
        name="x", family=family, component="x", compute_format=compute, storage_format=storage
    )
    assert kernel_form(op, DEVICE) == form


def test_attention_takes_its_phase_at_every_point():
    """An array of new tokens gives each point what it gets alone."""
    many = np.array([1.0, 16.0, 17.0, 4096.0])

    def time(q):
        op = operation("attention", new_tokens=q, context=100.0, batch=1, num_heads=8, head_dim=128)
        return operation_time(op, DEVICE, CALIBRATED.curve(op, DEVICE)).time_s

    assert time(many) == pytest.approx([time(float(q)) for q in many])
    assert not np.isclose(time(16.0), time(17.0), rtol=1e-3)


def test_power_moves_the_share_of_peak():
    """Half the FLOP per joule: 2^0.6 = 1.516 faster; eight times it: half as fast; capped."""
    share = lambda p: powered_share(0.6, fitted_flop_per_joule=1.0, flop_per_joule=p)  # noqa: E731
    assert [share(0.5), share(8.0), share(0.01)] == pytest.approx([0.909, 0.3, 0.95], abs=1e-3)
    assert powered_share(1.0, fitted_flop_per_joule=2.0, flop_per_joule=1.0) == 1.0


def test_unmeasured_is_flagged_and_measured_is_not():
    """Hopper has bf16 GEMMs; a generation nobody measured gets the prior and a wider band."""
    op = operation("gemm", m=1, n=1, k=1)
    assert CALIBRATED.flag(op, DEVICE) is None
    strange = Device(
        id="strange",
        name="strange",
        vendor="none",
        peak_flop_per_s=DEVICE.peak_flop_per_s,
        memory=DEVICE.memory,
        generation="abacus",
    )
    assert "gemm bf16 not measured on abacus" in str(CALIBRATED.flag(op, strange))
    assert CALIBRATED.curve(op, strange).spread > CALIBRATED.curve(op, DEVICE).spread
    assert IDEAL.flag(op, strange) is None


def test_an_engine_has_its_own_kernels_where_fitted_apart():
    """The engine's record wins; another engine's does not."""
    own, pooled = Curve(launch_s=1.0), Curve(launch_s=2.0)
    records = {("gemm", "bf16@vllm", "hopper"): own, ("gemm", "bf16", "hopper"): pooled}
    for engine, expected in (("vllm", own), ("sglang", pooled), ("", pooled)):
        efficiency = Efficiency(
            name="x",
            curves={},
            default=Curve(),
            records=records,
            engine=engine,
            source="test",
        )
        assert efficiency.curve(operation(), DEVICE) == expected


@pytest.mark.parametrize(("width", "launch_s"), [(64, 1.0), (128, 2.0), (256, 2.0)])
def test_a_widened_cache_has_kernels_by_width_of_heads(width, launch_s):
    """A width without a record of its own takes the plain one."""
    narrow = replace(operation("attention", new_tokens=1, head_dim=width), storage_format="fp8")
    records = {
        ("attention_decode", "bf16/fp8:64", "hopper"): Curve(launch_s=1.0),
        ("attention_decode", "bf16/fp8", "hopper"): Curve(launch_s=2.0),
    }
    efficiency = Efficiency(name="x", curves={}, default=Curve(), records=records, source="test")
    assert efficiency.curve(narrow, DEVICE).launch_s == launch_s


def test_samples_are_seeded_and_straddle_the_central_curve():
    """Same seed, same samples; shape [num, 1, 1]; the median launch is the fitted one."""
    draws = sampled(TYPICAL, num=401, seed=7, ndim=2)
    op = operation()
    curve = draws.curve(op, DEVICE)
    assert np.shape(curve.launch_s) == (401, 1, 1)
    again = sampled(TYPICAL, num=401, seed=7, ndim=2).curve(op, DEVICE)
    assert np.array_equal(curve.compute_share, again.compute_share)
    centre = TYPICAL.curve(op, DEVICE)
    assert float(np.median(curve.launch_s)) == pytest.approx(centre.launch_s, rel=0.05)
    logs = np.log(np.asarray(curve.bandwidth_share) / centre.bandwidth_share)
    assert float(np.std(logs)) == pytest.approx(centre.spread, rel=0.1)
    assert np.ptp(np.asarray(sampled(IDEAL, num=5, seed=1).curve(op, DEVICE).launch_s)) == 0.0


def test_check_bits_take_their_share_of_bandwidth():
    """L40S keeps check bits among its data, and its share was fitted with them; a 4090 does not:
    16/15 of the share. A toy chip that nobody fitted, with check bits, gets 15/16.
    """  # noqa: D205 - one sentence
    catalog = Catalog()
    decode = operation("attention", new_tokens=1, head_dim=128)
    with_bits = CALIBRATED.curve(decode, catalog.device("l40s")).bandwidth_share
    without = CALIBRATED.curve(decode, catalog.device("rtx-4090")).bandwidth_share
    assert without == pytest.approx(with_bits * 16 / 15)
    checked = replace(DEVICE, generation="", memory=replace(DEVICE.memory, inline_ecc=True))
    share = TYPICAL.curves["gemm"].bandwidth_share
    assert TYPICAL.curve(operation(), checked).bandwidth_share == pytest.approx(share * 15 / 16)


def test_grouped_queries_of_hopper_decode_with_warp_wide_instructions():
    """H20 has power for 0.95 of its peak, but decode kernels never reach more than 0.629 of it."""
    h20 = Catalog().device("h20-sxm")
    decode = CALIBRATED.curve(operation("attention", new_tokens=1, head_dim=128), h20)
    prefill = CALIBRATED.curve(operation("attention", new_tokens=512, head_dim=128), h20)
    assert decode.compute_share == 0.629
    assert prefill.compute_share > 0.9


@pytest.mark.parametrize(
    ("new", "context", "wasted"),
    [
        # 2 sequences · 2 blocks of 64 queries · 4 heads = 16 blocks on 10 cores: 2 rounds for 1.6;
        # half of the cost is felt where as much lies before a block as half of the new tokens.
        (128, 64, 1 + (2 / 1.6 - 1) / 2),
        (128, 0, 1.0),
        # 3 blocks per head, the third half full: 24 blocks, 3 rounds for 2.4
        (160, 1000, 1 + (3 / 2.4 - 1) * 1000 / 1080),
    ],
)
def test_blocks_come_in_whole_rounds(new, context, wasted):
    shape = {"batch": 2, "new_tokens": new, "num_heads": 4, "context": context}
    took = executed_flop(operation("attention", **shape), Curve(block_rows=64, cores=10))
    assert took == pytest.approx(100e6 * wasted)


def test_prompts_of_flash_attention_2_run_in_rounds_and_sglangs_do_not():
    device = Catalog().device("rtx-pro-6000")
    prompt = operation("attention", new_tokens=512, head_dim=128)
    assert CALIBRATED.curve(prompt, device).cores == 188
    assert CALIBRATED.curve(prompt, device).block_rows == 64
    assert replace(CALIBRATED, engine="sglang").curve(prompt, device).block_rows == 0
    assert CALIBRATED.curve(prompt, Catalog().device("h100-sxm")).block_rows == 0


def test_a_grouped_gemm_on_its_own_pads_each_group_to_a_matrix_tile():
    shape = {"m": 64, "n": 128, "k": 128, "tokens_per_expert": 4}
    for device, rows in (("h100-sxm", 64), ("b200-sxm", 128), ("a100-sxm-80", 16)):
        curve = CALIBRATED.curve(operation("gemm", **shape), Catalog().device(device))
        assert curve.row_tile == rows
    many = operation("gemm", m=130, n=128, k=128, tokens_per_expert=65)
    assert CALIBRATED.curve(many, Catalog().device("h100-sxm")).row_tile == 128
    plain = operation("gemm", m=64, n=128, k=128)
    assert CALIBRATED.curve(plain, Catalog().device("h100-sxm")).row_tile == 0
