"""Chapter 2, mixture-of-experts layers across racks."""

from __future__ import annotations

import numpy as np

from ridgeline.chalkboard import racks, roofline
from ridgeline.study.lecture_claims.facts import DEEPSEEK_V3, GB200, GB300, H100, H800, RUBIN
from ridgeline.study.lecture_claims.record import check, claim

DISPATCH = {
    "experts_per_token": 8.0,
    "hidden_size": 7168.0,
    "dispatch_bytes": 1.0,
    "combine_bytes": 2.0,
}
"""DeepSeek V3: FP8 on the way out, BF16 on the way back, arXiv 2412.19437."""
ALL_LAYERS = float(racks.all_to_all_bytes_per_token(**DISPATCH, moe_layers=58.0))


def routed_over_dense(*, experts_per_token: int, experts: int, seed: int) -> float:
    """Return the difference between one routed layer and the sum over its chosen experts [1].

    A loop over tokens and experts, against the batched layer, both in NumPy:

        f = max|y - (x + Σ g_i·MLP_i(x))| / max|y|

    Args:
        experts_per_token: Experts chosen per token.
        experts: Experts there are.
        seed: Of weights and input.
    """
    rng = np.random.default_rng(seed)
    hidden, router = rng.standard_normal((4, 8)), rng.standard_normal((8, experts))
    up, down = rng.standard_normal((experts, 8, 16)), rng.standard_normal((experts, 16, 8))
    out = racks.moe_layer(
        hidden=hidden, router=router, up=up, down=down, experts_per_token=experts_per_token
    )
    off: list[float] = []
    for x, y in zip(hidden, out, strict=True):
        scores = x @ router
        best = sorted(range(experts), key=lambda i: -float(scores[i]))[:experts_per_token]
        gates = np.exp([scores[i] for i in best])
        routed = sum(
            g / gates.sum() * (np.maximum(x @ up[i], 0) @ down[i])
            for g, i in zip(gates, best, strict=True)
        )
        off.append(float(np.abs(y - x - routed).max()))
    return round(max(off) / float(np.abs(out).max()), 9)


def crossing_bytes_share(*, devices: int, racks_used: int) -> float:
    """Return the share of dispatch bytes that leave their rack [1], from the traffic matrix.

    Args:
        devices: E, over all racks; a token's copy for its own device counts as staying.
        racks_used: Q.
    """
    matrix = racks.traffic_matrix(
        devices=devices, tokens_per_device=128.0, experts_per_token=8.0, token_bytes=7168.0
    )
    rack = np.arange(devices) // (devices // racks_used)
    everything = 128.0 * 8.0 * 7168.0 * devices
    return float(matrix[rack[:, None] != rack[None, :]].sum() / everything)


CLAIMS = (
    claim(
        "C2-F1",
        "A layer adds the gated outputs of the few chosen experts to its input.",
        check("batched layer minus a plain loop", "0", routed_over_dense,
              experts_per_token=2, experts=8, seed=0),
        check("experts per chosen one, 8 of 256", "32", roofline.sparsity,
              total_params=256.0, active_params=8.0),
    ),
    claim(
        "C2-F2",
        "Whole experts sit on devices: n/E on each.",
        check("256 on 64", "4", racks.experts_per_device, experts=256.0, devices=64.0),
    ),
    claim(
        "C2-F3",
        "Every device sends to every other, once out and once back.",
        check("pairs among 72", "5112", racks.all_to_all_messages, devices=72.0),
    ),
    claim(
        "C2-F4",
        "With Q racks, 1 - 1/Q of the tokens leave their rack.",
        check("two racks", "0.5", racks.crossing_share, racks=2.0),
        check("from the traffic matrix", "0.5", crossing_bytes_share, devices=128, racks_used=2),
        assumes="uniform routing",
    ),
    claim(
        "C2-F5",
        "Spreading a layer over Q racks slows its all-to-all by max(1/Q, ρ(1 - 1/Q)).",
        check("one rack", "1", racks.all_to_all_slowdown, racks=1.0, bandwidth_ratio=8.0),
        check("two racks, ρ 8", "4", racks.all_to_all_slowdown, racks=2.0, bandwidth_ratio=8.0),
        check("two racks, ρ 1: faster", "0.5", racks.all_to_all_slowdown,
              racks=2.0, bandwidth_ratio=1.0),
    ),
    claim(
        "C2-F6",
        "A token moves top-k × width × (dispatch + combine bytes) per layer.",
        check("DeepSeek V3, one layer", "172 kB/tok", racks.all_to_all_bytes_per_token,
              **DISPATCH, moe_layers=1.0),
        check("its 58 layers", "9.98 MB/tok", racks.all_to_all_bytes_per_token,
              **DISPATCH, moe_layers=58.0),
    ),
    claim(
        "C2-F7",
        "Two hops inside a rack: device, switch, device.",
        check("one switch layer", "2", racks.switch_hops, switch_layers=1.0),
    ),
    claim(
        "C2-F8",
        "Active parameters are bounded by compute, total ones by the scale-up domain.",
        check("72 × 192 GB in FP8, half for caches", "6.91 Tparam", racks.largest_model,
              capacity_bytes=72 * GB200.capacity, kv_bytes=36 * GB200.capacity,
              bytes_per_param=1.0),
        check("8 × 80 GB in FP8, half for caches", "0.32 Tparam", racks.largest_model,
              capacity_bytes=8 * H100.capacity, kv_bytes=4 * H100.capacity,
              bytes_per_param=1.0),
    ),
    claim(
        "C2-N1",
        "256 experts on 64 of the 72 devices: four each.",
        check("on 64", "4", racks.experts_per_device, experts=256.0, devices=64.0),
        check("on 72: not whole", "3.56", racks.experts_per_device, experts=256.0, devices=72.0),
    ),
    claim(
        "C2-N2",
        "Scale-out is about 8x slower than scale-up.",
        check("GB300 with 800G, as spoken", "~8", racks.bandwidth_ratio,
              scale_up_bytes_per_s=GB300.scale_up, scale_out_bytes_per_s=GB300.scale_out),
        check("H100", "9", racks.bandwidth_ratio,
              scale_up_bytes_per_s=H100.scale_up, scale_out_bytes_per_s=H100.scale_out),
        check("H800", "4", racks.bandwidth_ratio,
              scale_up_bytes_per_s=H800.scale_up, scale_out_bytes_per_s=H800.scale_out),
        check("GB200 with 400G", "18", racks.bandwidth_ratio,
              scale_up_bytes_per_s=GB200.scale_up, scale_out_bytes_per_s=GB200.scale_out),
        check("Rubin", "9", racks.bandwidth_ratio,
              scale_up_bytes_per_s=RUBIN.scale_up, scale_out_bytes_per_s=RUBIN.scale_out),
        assumes="the device and its network card: 4 to 18",
    ),
    claim(
        "C2-N3",
        "Over two racks half the tokens cross, up to the full 8x slowdown.",
        check("crossing", "50 %", racks.crossing_share, racks=2.0),
        check("two racks", "4 x", racks.all_to_all_slowdown, racks=2.0, bandwidth_ratio=8.0),
        check("three", "5.33 x", racks.all_to_all_slowdown, racks=3.0, bandwidth_ratio=8.0),
        check("four", "6 x", racks.all_to_all_slowdown, racks=4.0, bandwidth_ratio=8.0),
        check("endless racks", "8 x", racks.all_to_all_slowdown, racks=1e9, bandwidth_ratio=8.0),
    ),
    claim(
        "C2-N4",
        "Scale-up domains: Hopper 8, Blackwell 72, Rubin five hundred and something.",
        check("Blackwell over Hopper", "9", racks.growth, after=72.0, before=8.0),
        assumes="counting Rubin Ultra in dies; the announced Rubin rack has 72 packages",
        note="Domain sizes are product facts; only their ratio is computed.",
    ),
    claim(
        "C2-N5",
        "A rack holds about 64 accelerators, a data centre thousands.",
        reason="product facts; nothing to derive",
    ),
    claim(
        "C2-N6",
        "8 Hoppers hold 640 GB, a Blackwell rack 10 to 20 TB: enough for 5T parameters.",
        check("8 × 80 GB", "640 GB", racks.domain_capacity,
              devices=8.0, capacity_bytes=H100.capacity),
        check("72 × 192 GB", "13.8 TB", racks.domain_capacity,
              devices=72.0, capacity_bytes=GB200.capacity),
        check("72 × 288 GB", "20.7 TB", racks.domain_capacity,
              devices=72.0, capacity_bytes=GB300.capacity),
        check("most FP8 parameters in 13.8 TB less 5 TB of cache", "8.82 Tparam",
              racks.largest_model, capacity_bytes=72 * GB200.capacity, kv_bytes=5e12,
              bytes_per_param=1.0),
    ),
    claim(
        "C2-N7",
        "The 2023 GPT-4 was rumoured above a trillion; larger models are recent.",
        reason="hearsay and history",
    ),
    claim(
        "C2-N8",
        "All-to-all of 128 tokens per device, DeepSeek V3 shapes.",
        check("900 GB/s", "1.42 ms", racks.all_to_all_time, tokens_per_device=128.0,
              bytes_per_token=ALL_LAYERS, link_bytes_per_s=900e9),
        check("100 GB/s", "12.8 ms", racks.all_to_all_time, tokens_per_device=128.0,
              bytes_per_token=ALL_LAYERS, link_bytes_per_s=100e9),
        check("50 GB/s", "25.5 ms", racks.all_to_all_time, tokens_per_device=128.0,
              bytes_per_token=ALL_LAYERS, link_bytes_per_s=50e9),
        check("FP8 compute beside it, GB200", "1.9 ms", roofline.compute_time, batch=128.0,
              active_params=DEEPSEEK_V3.active, peak_flop_per_s=GB200.peak["fp8"]),
        note="Every copy counted; sending one copy per node would lower the scale-out figures.",
    ),
    claim(
        "C2-Q1",
        "Dispatch is uniform all-to-all; with two racks the off-diagonal blocks go the slow way.",
        check("bytes in those blocks", "50 %", crossing_bytes_share, devices=128, racks_used=2),
        check("four racks", "75 %", crossing_bytes_share, devices=128, racks_used=4),
    ),
    claim(
        "C2-Q2",
        "The rack cliff vanishes when both networks are equally fast.",
        check("four racks, ρ 1", "0.75 x", racks.all_to_all_slowdown,
              racks=4.0, bandwidth_ratio=1.0),
        check("four racks, ρ 4", "3 x", racks.all_to_all_slowdown,
              racks=4.0, bandwidth_ratio=4.0),
        check("four racks, ρ 18", "13.5 x", racks.all_to_all_slowdown,
              racks=4.0, bandwidth_ratio=18.0),
    ),
    claim(
        "C2-Q3",
        "Cables, weight, power and cooling limit how many devices share switches.",
        check("pairs among 72", "5112", racks.all_to_all_messages, devices=72.0),
        check("pairs among 144", "20592", racks.all_to_all_messages, devices=144.0),
        note="Only the number of communicating pairs is computed, 4x for twice the devices.",
    ),
    claim(
        "C2-Q4",
        "The largest model grows with the scale-up size.",
        check("8 × H100, FP8, half for caches", "0.32 Tparam", racks.largest_model,
              capacity_bytes=640e9, kv_bytes=320e9, bytes_per_param=1.0),
        check("72 × GB300, FP8, half for caches", "10.4 Tparam", racks.largest_model,
              capacity_bytes=72 * GB300.capacity, kv_bytes=36 * GB300.capacity,
              bytes_per_param=1.0),
    ),
    claim(
        "C2-Q5",
        "The most loaded device sets the pace.",
        check("all-to-all at 1.5x the mean load", "2.13 ms", racks.all_to_all_time,
              tokens_per_device=1.5 * 128.0, bytes_per_token=ALL_LAYERS, link_bytes_per_s=900e9),
        assumes="the load; the lecture takes it as even",
    ),
)  # fmt: skip
