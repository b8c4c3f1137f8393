"""Chapter 1, batch size, cost and speed: the numbers."""

from __future__ import annotations

from ridgeline.chalkboard import fast_mode, roofline, traffic
from ridgeline.study.lecture_claims.facts import (
    A100,
    B200,
    DEEPSEEK_V3,
    GB200,
    GB300,
    H100,
    H200,
    H800,
    MI300X,
    MI355X,
    MONTH_S,
    RUBIN,
    SPARSITY,
    TPU_V5E,
    TPU_V5P,
    TPU_V6E,
    TPU_V7,
    R,
    drain_inputs,
    ratio_inputs,
)
from ridgeline.study.lecture_claims.record import Check, check, claim

WHOLE_MODEL = {"total_params": DEEPSEEK_V3.total, "active_params": DEEPSEEK_V3.active}
ROUTED = {"total_params": 256.0, "active_params": 8.0}


def _rubin_ratio(stated: str, petaflop: float) -> Check:
    return check(f"Rubin FP4 at {petaflop:.0f} PF", stated, roofline.balance_ratio,
                 peak_flop_per_s=petaflop * 1e15, bytes_per_param=0.5,
                 bandwidth_bytes_per_s=RUBIN.bandwidth)  # fmt: skip


def b1_penalty_with_coverage(
    *, balance_ratio: float, total_params: float, active_params: float
) -> float:
    """Return the token cost at batch 1 over the floor when only touched weights are read [1].

        f = R·N_a / N_a

    Args:
        balance_ratio: R.
        total_params: N_t, whose untouched part stays unread.
        active_params: N_a, all that one token reads.
    """
    touched = min(total_params, active_params)
    return float(
        roofline.critical_batch(
            balance_ratio=balance_ratio, total_params=touched, active_params=active_params
        )
    )


def fleet_over_critical(
    *, node_tokens_per_s: float, user_tokens_per_s: float, devices: float, balance_ratio: float
) -> float:
    """Return the batch of a measured fleet over its critical batch [1].

        f = B / B*

    Args:
        node_tokens_per_s: Output of one node of eight devices.
        user_tokens_per_s: Speed of one user.
        devices: Devices of one unit.
        balance_ratio: R.
    """
    batch = traffic.sequences_in_flight(
        tokens_per_s_per_device=node_tokens_per_s / 8,
        tokens_per_s_per_user=user_tokens_per_s,
        devices=devices,
    )
    return float(batch / roofline.critical_batch(balance_ratio=balance_ratio, **WHOLE_MODEL))


FAST = {"batch_ratio": 15.0, "fast_kv_share": 0.12}
H800_R = float(roofline.balance_ratio(**ratio_inputs(H800, "fp8")))

CLAIMS = (
    claim(
        "C1-N1",
        "A fast mode was sold at 6x the price for 2.5x the speed.",
        check("batch ratio it implies", "15", fast_mode.batch_ratio,
              price_ratio=6.0, speed_ratio=2.5),
        note="A price sheet, not derived; C1-N18 takes it apart.",
    ),
    claim(
        "C1-N2",
        "Without batching a token can cost about a thousand times more.",
        check("s 8", "order 1000", roofline.critical_batch,
              balance_ratio=R, total_params=SPARSITY, active_params=1.0),
        check("671B / 37B", "5441", roofline.critical_batch, balance_ratio=R, **WHOLE_MODEL),
        check("only touched experts read", "300", b1_penalty_with_coverage,
              balance_ratio=R, **WHOLE_MODEL),
        assumes="that even one token reads every expert; if it reads only its own, the answer is R",
    ),
    claim(
        "C1-N3",
        "DeepSeek V3 has 37B active of 700B parameters.",
        check("s from 700B as spoken", "18.9", roofline.sparsity,
              total_params=700e9, active_params=37e9),
        check("s from 671B as published", "18.1", roofline.sparsity, **WHOLE_MODEL),
        note="Published: 671B, arXiv 2412.19437.",
    ),
    claim(
        "C1-N4",
        "R is about 300 from A100 to H100 to B100.",
        check("H100 BF16 as spoken", "300", roofline.balance_ratio, **ratio_inputs(H100, "bf16")),
        check("A100 BF16", "153", roofline.balance_ratio, **ratio_inputs(A100, "bf16")),
        check("H100 BF16", "295", roofline.balance_ratio, **ratio_inputs(H100, "bf16")),
        check("H100 FP8", "295", roofline.balance_ratio, **ratio_inputs(H100, "fp8")),
        check("H200 BF16", "206", roofline.balance_ratio, **ratio_inputs(H200, "bf16")),
        check("B200 BF16", "281", roofline.balance_ratio, **ratio_inputs(B200, "bf16")),
        check("GB200 FP8", "312", roofline.balance_ratio, **ratio_inputs(GB200, "fp8")),
        check("GB300 FP8", "312", roofline.balance_ratio, **ratio_inputs(GB300, "fp8")),
        check("GB300 FP4", "469", roofline.balance_ratio, **ratio_inputs(GB300, "fp4")),
        _rubin_ratio("284", 25.0),
        _rubin_ratio("398", 35.0),
        _rubin_ratio("568", 50.0),
        check("MI300X BF16", "247", roofline.balance_ratio, **ratio_inputs(MI300X, "bf16")),
        check("MI355X FP8", "312", roofline.balance_ratio, **ratio_inputs(MI355X, "fp8")),
        check("TPU v5e", "241", roofline.balance_ratio, **ratio_inputs(TPU_V5E, "bf16")),
        check("TPU v5p", "166", roofline.balance_ratio, **ratio_inputs(TPU_V5P, "bf16")),
        check("TPU v6e", "560", roofline.balance_ratio, **ratio_inputs(TPU_V6E, "bf16")),
        check("TPU v7 FP8", "313", roofline.balance_ratio, **ratio_inputs(TPU_V7, "fp8")),
        assumes="the device: 153 to 568 over those listed",
        note="FLOP per byte is another number: 295 in BF16 but 591 in FP8 on H100.",
    ),
    claim(
        "C1-N5",
        "Half a byte per FP4 weight makes the ratio dimensionless.",
        check("GB200 FP4", "312", roofline.balance_ratio, **ratio_inputs(GB200, "fp4")),
        check("GB200 FP4, FLOP per byte", "1250 FLOP/B", roofline.ridge_intensity,
              peak_flop_per_s=GB200.peak["fp4"], bandwidth_bytes_per_s=GB200.bandwidth),
    ),
    claim(
        "C1-N6",
        "The sparsity is 8: 32 of 256 experts.",
        check("32 of 256", "8", roofline.sparsity, total_params=256.0, active_params=32.0),
        check("8 of 256, as published", "32", roofline.sparsity, **ROUTED),
        check("whole model", "18.1", roofline.sparsity, **WHOLE_MODEL),
        assumes="the model: DeepSeek V3 routes 8 of 256, plus one shared expert",
    ),
    claim(
        "C1-N7",
        "The least efficient batch is two to three thousand sequences.",
        check("R 300, s 8", "2400 seq", roofline.critical_batch,
              balance_ratio=R, total_params=256.0, active_params=32.0),
        check("R 300, whole DeepSeek V3", "5441 seq", roofline.critical_batch,
              balance_ratio=R, **WHOLE_MODEL),
        check("R 300, its routed experts", "9600 seq", roofline.critical_batch,
              balance_ratio=R, **ROUTED),
        assumes="sparsity 8; the model it is taken from has 18 as a whole, 32 in its experts",
    ),
    claim(
        "C1-N8",
        "In practice batches are two to three times B*.",
        check("DeepSeek's fleet over its B*", "2..3", fleet_over_critical,
              node_tokens_per_s=14_800.0, user_tokens_per_s=21.0, devices=144.0,
              balance_ratio=H800_R),
        check("sequences per 144 devices", "12.7e3 seq", traffic.sequences_in_flight,
              tokens_per_s_per_device=14_800 / 8, tokens_per_s_per_user=21.0, devices=144.0),
        check("its B*", "5357 seq", roofline.critical_batch, balance_ratio=H800_R, **WHOLE_MODEL),
        note="DeepSeek's published day: 14.8k tok/s per H800 node, 20-22 tok/s per user.",
    ),
    claim(
        "C1-N9",
        "B counts about 2000 different sequences, not one long one.",
        reason="a definition",
    ),
    claim(
        "C1-N10",
        "A train leaves about every 20 ms.",
        check("H100 as spoken", "~20 ms", roofline.drain_time, **drain_inputs(H100)),
        check("A100", "39 ms", roofline.drain_time, **drain_inputs(A100)),
        check("H100", "23.9 ms", roofline.drain_time, **drain_inputs(H100)),
        check("H200", "29.4 ms", roofline.drain_time, **drain_inputs(H200)),
        check("B200", "24.0 ms", roofline.drain_time, **drain_inputs(B200)),
        check("GB300", "36 ms", roofline.drain_time, **drain_inputs(GB300)),
        check("MI300X", "36 ms", roofline.drain_time, **drain_inputs(MI300X)),
        check("MI355X", "36 ms", roofline.drain_time, **drain_inputs(MI355X)),
        check("Rubin at 22 TB/s", "13.1 ms", roofline.drain_time, **drain_inputs(RUBIN)),
        check("TPU v5e", "19.5 ms", roofline.drain_time, **drain_inputs(TPU_V5E)),
        check("TPU v5p", "34 ms", roofline.drain_time, **drain_inputs(TPU_V5P)),
        check("TPU v6e", "19.5 ms", roofline.drain_time, **drain_inputs(TPU_V6E)),
        check("TPU v7", "26 ms", roofline.drain_time, **drain_inputs(TPU_V7)),
        assumes="the device: 13 to 39 ms over those listed",
    ),
    claim(
        "C1-N11",
        "Rubin's 288 GB at 20 TB/s take about 15 ms.",
        check("spoken", "15 ms", roofline.drain_time,
              capacity_bytes=288e9, bandwidth_bytes_per_s=20e12),
        check("exact", "14.4 ms", roofline.drain_time,
              capacity_bytes=288e9, bandwidth_bytes_per_s=20e12),
    ),
    claim(
        "C1-N12",
        "The worst wait is 40 ms.",
        check("2 × 20 ms", "40 ms", traffic.worst_latency, interval_s=20e-3),
    ),
    claim(
        "C1-N13",
        "Waiting 30 ms would read the memory twice, to no purpose.",
        check("sweeps of 288 GB at 20 TB/s", "2.08", traffic.memory_sweeps,
              interval_s=30e-3, capacity_bytes=288e9, bandwidth_bytes_per_s=20e12),
    ),
    claim(
        "C1-N14",
        "2000 seats at 64 trains per second make 128k tokens per second.",
        check("15.6 ms", "128e3 tok/s", traffic.system_rate, batch=2000.0, interval_s=1 / 64),
        check("20 ms", "100e3 tok/s", traffic.system_rate, batch=2000.0, interval_s=20e-3),
    ),
    claim(
        "C1-N15",
        "One system serves about a thousandth of Gemini's traffic.",
        check("1000 systems", "128 Mtok/s", traffic.system_rate,
              batch=2000.0 * 1000, interval_s=1 / 64),
        check("480T a month", "185 Mtok/s", traffic.system_rate,
              batch=480e12, interval_s=MONTH_S),
        check("980T a month", "378 Mtok/s", traffic.system_rate,
              batch=980e12, interval_s=MONTH_S),
        check("1.3Q a month", "502 Mtok/s", traffic.system_rate,
              batch=1.3e15, interval_s=MONTH_S),
        check("3.2Q a month", "1.23e3 Mtok/s", traffic.system_rate,
              batch=3.2e15, interval_s=MONTH_S),
        assumes="the month: public totals rose from 480T to 3.2Q tokens",
        note="Monthly totals from Google's public statements, 30-day months.",
    ),
    claim(
        "C1-N16",
        "64 experts on 370M active parameters match a dense 1.3B.",
        check("dense over active, as spoken", "4", roofline.sparsity,
              total_params=1.3e9, active_params=0.37e9),
        check("dense over active", "3.5", roofline.sparsity,
              total_params=1.3e9, active_params=0.37e9),
        assumes="the quality curves of arXiv 2202.01169",
        note="Spoken as 64x for 4x.",
    ),
    claim(
        "C1-N17",
        "Doubling the context beyond the optimum halves MFU.",
        check("100k to 200k", "50 %", roofline.mfu_at_context,
              context_tokens=2e5, balance_context_tokens=1e5),
    ),
    claim(
        "C1-N18",
        "6x for 2.5x means a baseline heavy with cache reads.",
        check("batch ratio", "15", fast_mode.batch_ratio, price_ratio=6.0, speed_ratio=2.5),
        check("cache over weights, fast", "0.12", fast_mode.fast_kv_share,
              batch_ratio=15.0, speed_ratio=2.5),
        check("cache share of baseline step", "64 %", fast_mode.slow_kv_fraction, **FAST),
        check("largest speed-up ever", "2.8 x", fast_mode.speed_ceiling, **FAST),
        check("most a slow mode saves", "36 %", fast_mode.slow_saving, **FAST),
        assumes="price follows cost, same hardware, no speculative decoding",
        note="Without cache reads no roofline gives 6x for 2.5x: above B* speed rises for free.",
    ),
    claim(
        "C1-N19",
        "Halving the active parameters costs 8x the total.",
        check("exponent from 64x for 4x", "0.33", roofline.active_equivalent_exponent,
              total_multiple=64.0, active_multiple=4.0),
        check("exponent from 8x for 2x", "0.33", roofline.active_equivalent_exponent,
              total_multiple=8.0, active_multiple=2.0),
        assumes="the spoken pair 64x for 4x",
    ),
    claim(
        "C1-N20",
        "Device memory traffic is almost all reads.",
        check("cache reads per write at 100k", "1e5", roofline.kv_reads_per_write,
              context_tokens=1e5),
        note="A step writes one token's cache per sequence and reads L of them, and the weights.",
    ),
)  # fmt: skip
