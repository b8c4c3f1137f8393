"""Seventeen extra practice problems with answers worked out independently."""

from __future__ import annotations

from ridgeline.chalkboard import (
    budgets,
    fast_mode,
    pipelines,
    prices,
    racks,
    roofline,
    tiers,
    traffic,
)
from ridgeline.study.lecture_claims import chapter4, chapter5
from ridgeline.study.lecture_claims.facts import (
    DEEPSEEK_V3,
    GB200,
    H100,
    LLAMA_70B,
    USD_2_PER_HOUR,
    Chip,
    Model,
    R,
    ratio_inputs,
)
from ridgeline.study.lecture_claims.record import Check, check, claim

RACK = 72 * GB200.bandwidth


def chip_critical_batch(
    *,
    peak_flop_per_s: float,
    bytes_per_param: float,
    bandwidth_bytes_per_s: float,
    total_params: float,
    active_params: float,
) -> float:
    """Return the critical batch of a model on a device [seq].

        B = (F / 2)·w / W·N_t / N_a

    Args:
        peak_flop_per_s: F.
        bytes_per_param: w.
        bandwidth_bytes_per_s: W.
        total_params: N_t.
        active_params: N_a.
    """
    ratio = roofline.balance_ratio(
        peak_flop_per_s=peak_flop_per_s,
        bytes_per_param=bytes_per_param,
        bandwidth_bytes_per_s=bandwidth_bytes_per_s,
    )
    return float(
        roofline.critical_batch(
            balance_ratio=ratio, total_params=total_params, active_params=active_params
        )
    )


def _batch(label: str, stated: str, chip: Chip, number_format: str, model: Model) -> Check:
    return check(label, stated, chip_critical_batch, **ratio_inputs(chip, number_format),
                 total_params=model.total, active_params=model.active)  # fmt: skip


def _floor(label: str, stated: str, chip: Chip) -> Check:
    return check(label, stated, roofline.cost_floor, active_params=1e11,
                 peak_flop_per_s=chip.peak["fp8"], context_tokens=0.0, kv_bytes_per_token=0.0,
                 bandwidth_bytes_per_s=chip.bandwidth, usd_per_s=USD_2_PER_HOUR)  # fmt: skip


_BY_ID = {one.id: one.checks for one in (*chapter4.CLAIMS, *chapter5.CLAIMS)}

CLAIMS = (
    claim(
        "P1",
        "Critical batch of a dense 70B in FP8 on H100.",
        _batch("FP8", "295 seq", H100, "fp8", LLAMA_70B),
        _batch("BF16: the same", "295 seq", H100, "bf16", LLAMA_70B),
        chapter=1,
    ),
    claim(
        "P2",
        "R and B* of DeepSeek V3 in FP4 on GB200.",
        _batch("B*", "5658 seq", GB200, "fp4", DEEPSEEK_V3),
        check("R", "312", roofline.balance_ratio, **ratio_inputs(GB200, "fp4")),
        chapter=1,
        note="The stated 5658 multiplies R rounded to 312; unrounded R 312.5 gives 5667.",
    ),
    claim(
        "P3",
        "Latency floor of DeepSeek V3 on a GB200 rack.",
        check("FP8", "1.16 ms", roofline.weight_time, total_params=DEEPSEEK_V3.total,
              bytes_per_param=1.0, bandwidth_bytes_per_s=RACK),
        check("FP4", "0.58 ms", roofline.weight_time, total_params=DEEPSEEK_V3.total,
              bytes_per_param=0.5, bandwidth_bytes_per_s=RACK),
        chapter=1,
    ),
    claim(
        "P4",
        "Cost floor of 100B active parameters at $2/h in FP8.",
        _floor("GB200", "0.022 USD/Mtok", GB200),
        _floor("H100", "0.056 USD/Mtok", H100),
        chapter=1,
    ),
    claim(
        "P5",
        "Requests per second to fill 2000 seats at 20 ms, 1000-token answers.",
        check("Little's law", "100 1/s", traffic.request_rate,
              batch=2000.0, step_s=20e-3, answer_tokens=1000.0),
        chapter=1,
    ),
    claim(
        "P6",
        "What 6x the price for 2.5x the speed implies.",
        check("batch ratio", "15", fast_mode.batch_ratio, price_ratio=6.0, speed_ratio=2.5),
        check("cache share", "64 %", fast_mode.slow_kv_fraction,
              batch_ratio=15.0, fast_kv_share=0.12),
        check("ceiling", "2.8 x", fast_mode.speed_ceiling, batch_ratio=15.0, fast_kv_share=0.12),
        chapter=1,
    ),
    claim(
        "P7",
        "All-to-all over two racks.",
        check("ρ 8", "4 x", racks.all_to_all_slowdown, racks=2.0, bandwidth_ratio=8.0),
        check("ρ 18", "9 x", racks.all_to_all_slowdown, racks=2.0, bandwidth_ratio=18.0),
        chapter=2,
    ),
    claim(
        "P8",
        "Layers per stage with two activated experts.",
        check("ρ 8", "2", pipelines.least_layers_per_stage,
              experts_per_token=2.0, bandwidth_ratio=8.0),
        chapter=3,
    ),
    claim(
        "P9",
        "Training bubble of 8 stages and 32 micro-batches.",
        check("7/39", "17.9 %", pipelines.training_bubble, stages=8.0, micro_batches=32.0),
        chapter=3,
    ),
    claim(
        "P10",
        "Memory per device against stages, the table of C4-N3.",
        *_BY_ID["C4-N3"],
        chapter=4,
    ),
    claim(
        "P11",
        "α when every rollout is trained on and η is 0.3.",
        check("6/6/0.3", "3.33", budgets.token_ratio_at_equal_cost,
              flop_per_param_token=6.0, relative_utilisation=0.3),
        chapter=5,
    ),
    claim(
        "P12",
        "Cache implied by a price step at 128,000 tokens for 37B active.",
        check("FP8, R 300", "964 B/tok", prices.kv_bytes_from_price_step,
              active_params=DEEPSEEK_V3.active, bytes_per_param=1.0, balance_ratio=R,
              step_tokens=128_000.0),
        chapter=6,
    ),
    claim(
        "P13",
        "Cache of one 128k sequence of Llama 70B in BF16.",
        check("131,072 tokens", "42.9 GB", prices.sparse_kv_bytes_read,
              context_tokens=131_072.0, kv_bytes_per_token=327_680.0, sparsity=1.0),
        chapter=6,
    ),
    claim(
        "P14",
        "Drain of 2 TB DDR5 over 64 GB/s.",
        check("31 s", "31 s", tiers.hold_time_at_equal_cost,
              capacity_bytes=2e12, bandwidth_bytes_per_s=64e9),
        chapter=6,
    ),
    claim(
        "P15",
        "Reads until a one-hour cache pays.",
        check("1.0 / 0.9: from the 2nd", "1.11", tiers.break_even_reads,
              write_multiple=2.0, read_multiple=0.1),
        chapter=6,
    ),
    claim(
        "P16",
        "The fixed-loss optimum of C5-N12.",
        *_BY_ID["C5-N12"],
        chapter=5,
        assumes="the scaling law: two fits of the same runs differ 2.5x",
    ),
    claim(
        "P17",
        "Share of 8-of-256 experts that 64 tokens touch.",
        check("64 tokens", "86.9 %", roofline.expert_coverage,
              experts_per_token=8.0, experts=256.0, batch=64.0),
        chapter=1,
        assumes="uniform, independent routing",
    ),
)  # fmt: skip
