"""Chapter 6, what list prices reveal about caches: the numbers."""

from __future__ import annotations

from ridgeline.chalkboard import prices, roofline, tiers
from ridgeline.study.lecture_claims.chapter6_formulas import (
    BOARD,
    DEVICE,
    LLAMA_SLOPE,
    N_A,
    STEP,
    V3_ABSORBED_SLOPE,
    V3_SLOPE,
    slope,
)
from ridgeline.study.lecture_claims.facts import (
    DEEPSEEK_V3,
    GB200,
    H100,
    LLAMA_70B,
    USD_2_PER_HOUR,
    Chip,
    R,
    drain_inputs,
)
from ridgeline.study.lecture_claims.record import Check, check, claim

HOUR_S = 3600.0
ANTHROPIC = "Claude Opus list: $5, write $6.25 (5 min) or $10 (1 h), hit $0.50 per Mtok"
GEMINI = "Gemini 3.1 Pro list: $2/$12 up to 200k, $4/$18 above"


def _step(label: str, stated: str, width: float) -> Check:
    given = BOARD | {"bytes_per_param": width}
    return check(label, stated, prices.kv_bytes_from_price_step, **given)


def _intensity(label: str, stated: str, chip: Chip, number_format: str) -> Check:
    intensity = roofline.ridge_intensity(
        peak_flop_per_s=chip.peak[number_format], bandwidth_bytes_per_s=chip.bandwidth
    )
    return check(label, stated, prices.kv_bytes_from_intensity, active_params=N_A,
                 ridge_flop_per_byte=float(intensity), step_tokens=STEP)  # fmt: skip


def _finite(stated: str, batch_over_critical: float) -> Check:
    return check(f"m {batch_over_critical:g}", stated, prices.kv_bytes_at_finite_batch,
                 **BOARD, batch_over_critical=batch_over_critical)  # fmt: skip


def _hold(label: str, stated: str, kv_bytes_per_token: float) -> Check:
    return check(label, stated, tiers.hold_cost, kv_bytes_per_token=kv_bytes_per_token,
                 capacity_bytes=192e9, usd_per_s=USD_2_PER_HOUR, hold_s=HOUR_S)  # fmt: skip


def _drain(label: str, stated: str, capacity: float, bandwidth: float) -> Check:
    return check(label, stated, tiers.hold_time_at_equal_cost, capacity_bytes=capacity,
                 bandwidth_bytes_per_s=bandwidth)  # fmt: skip


def _cross(label: str, stated: str, active: float, attention_slope: float) -> Check:
    return check(label, stated, prices.attention_crossover, active_params=active,
                 attention_slope=attention_slope)  # fmt: skip


def fresh_over_output(
    *, input_tokens_per_s: float, output_tokens_per_s: float, hit_share: float
) -> float:
    """Return computed input over output [1]: cache hits are read, not computed.

        r = i·(1 - h) / o

    Args:
        input_tokens_per_s: i.
        output_tokens_per_s: o.
        hit_share: h.
    """
    return float(
        prices.input_over_output_rate(
            input_tokens_per_s=input_tokens_per_s * (1.0 - hit_share),
            output_tokens_per_s=output_tokens_per_s,
        )
    )


def list_over_rebuild(*, list_usd_per_token: float) -> float:
    """Return a list price over the hardware cost of the same token [1].

        f = p / c

    Args:
        list_usd_per_token: p.
    """
    cost = tiers.rebuild_cost(**DEVICE, usd_per_s=USD_2_PER_HOUR)
    return float(prices.price_multiple(price=list_usd_per_token, base_price=float(cost)))


def sparse_gain(*, context_tokens: float) -> float:
    """Return how many times fewer tokens the square-root law reads [1].

        f = L / sqrt(L)

    Args:
        context_tokens: L.
    """
    return context_tokens / float(roofline.sparse_context(context_tokens=context_tokens))


def hold_price_ratio(*, short_premium: float, short_s: float, long_premium: float) -> float:
    """Return the holding price of the short tier over that of a one-hour tier [1].

        f = (p_s / T_s) / (p_l / 1 h)

    Args:
        short_premium: p_s, write price above base.
        short_s: T_s.
        long_premium: p_l.
    """
    short = tiers.implied_hold_price(
        write_usd_per_token=short_premium, base_usd_per_token=0.0, lifetime_s=short_s
    )
    long = tiers.implied_hold_price(
        write_usd_per_token=long_premium, base_usd_per_token=0.0, lifetime_s=HOUR_S
    )
    return float(short / long)


LLAMA_KV, V3_KV = 327_680.0, 35_136.0
BREAK_EVEN = DEVICE | {"capacity_bytes": 192e9}

CLAIMS = (
    claim(
        "C6-N1",
        "Gemini is 50 % dearer above 200k tokens.",
        check("input, as spoken", "50 %", prices.price_rise, price=4.0, base_price=2.0),
        check("output", "50 %", prices.price_rise, price=18.0, base_price=12.0),
        check("input", "100 %", prices.price_rise, price=4.0, base_price=2.0),
        check("out/in below", "6.0", prices.price_multiple, price=12.0, base_price=2.0),
        check("out/in above", "4.5", prices.price_multiple, price=18.0, base_price=4.0),
        note=f"{GEMINI}. Only output is 50 % dearer; input doubles.",
    ),
    claim(
        "C6-N2",
        "The price step implies 1.7 kB of cache per token.",
        _step("R 300, 100B, FP8", "1.7e3 B/tok", 1.0),
        _step("FP8", "1667 B/tok", 1.0),
        _step("FP4", "833 B/tok", 0.5),
        _step("BF16", "3333 B/tok", 2.0),
        _intensity("H100 BF16", "3387 B/tok", H100, "bf16"),
        _intensity("H100 FP8", "1693 B/tok", H100, "fp8"),
        _intensity("GB200 FP8", "1600 B/tok", GB200, "fp8"),
        _intensity("GB200 FP4", "800 B/tok", GB200, "fp4"),
        assumes="100B active parameters, weights of one byte, a very large batch",
    ),
    claim(
        "C6-N3",
        "At a finite batch the implied cache is smaller.",
        _finite("556 B/tok", 1.5),
        _finite("833 B/tok", 2.0),
        _finite("1111 B/tok", 3.0),
        _finite("1333 B/tok", 5.0),
        _finite("1500 B/tok", 10.0),
    ),
    claim(
        "C6-N4",
        "It is near 1 × 2 × 128 × 8 at one byte.",
        check("one shared cache", "2048 B/tok", prices.kv_bytes_from_heads,
              distinct_caches=1.0, head_dim=128.0, kv_heads=8.0, bytes_per_element=1.0),
        check("its crossover", "163 ktok", roofline.balance_context, active_params=N_A,
              bytes_per_param=1.0, balance_ratio=R, kv_bytes_per_token=2048.0),
        assumes="one cache shared by all layers",
    ),
    claim(
        "C6-N5",
        "KV heads range from 1 to 8 with head width 128.",
        check("1 head", "256 B/tok", prices.kv_bytes_from_heads,
              distinct_caches=1.0, head_dim=128.0, kv_heads=1.0, bytes_per_element=1.0),
        check("8 heads", "2048 B/tok", prices.kv_bytes_from_heads,
              distinct_caches=1.0, head_dim=128.0, kv_heads=8.0, bytes_per_element=1.0),
    ),
    claim(
        "C6-N6",
        "Open models hold far more per token.",
        check("Llama 3 8B BF16", "131 kB/tok", prices.kv_bytes_from_heads,
              distinct_caches=32.0, head_dim=128.0, kv_heads=8.0, bytes_per_element=2.0),
        check("Llama 3 70B BF16", "328 kB/tok", prices.kv_bytes_from_heads,
              distinct_caches=80.0, head_dim=128.0, kv_heads=8.0, bytes_per_element=2.0),
        check("DeepSeek V3 BF16", "70.3 kB/tok", prices.latent_kv_bytes,
              layers=61.0, latent_width=576.0, bytes_per_element=2.0),
        check("DeepSeek V3 FP8", "35.1 kB/tok", prices.latent_kv_bytes,
              layers=61.0, latent_width=576.0, bytes_per_element=1.0),
        check("crossover, DeepSeek V3 FP8", "3.5 ktok", roofline.balance_context, balance_ratio=R,
              active_params=DEEPSEEK_V3.active, bytes_per_param=1.0, kv_bytes_per_token=V3_KV),
        check("crossover, Llama 70B BF16", "1.4 ktok", roofline.balance_context, balance_ratio=R,
              active_params=LLAMA_70B.active, bytes_per_param=2.0, kv_bytes_per_token=LLAMA_KV),
        note="1.7 kB needs caches shared over layers, sliding windows or sparse attention.",
    ),
    claim(
        "C6-N7",
        "Output costs 3-5x input, so decode runs at a fifth of prefill's utilisation.",
        check("decode MFU", "20 %", prices.decode_over_prefill_mfu, output_input_ratio=5.0),
        check("Claude Opus list, out/in", "3..5", prices.price_multiple,
              price=25.0, base_price=5.0),
        check("batch, if weights explain it", "480 seq", prices.batch_from_price_ratio,
              critical_batch=2400.0, output_input_ratio=5.0),
        check("context, if caches do", "1e6 tok", prices.context_from_price_ratio,
              balance_context_tokens=STEP, output_input_ratio=5.0),
        assumes="that the ratio is hardware, not margin or demand",
    ),
    claim(
        "C6-N8",
        "DeepSeek's node takes in 73.7k tokens/s and puts out 14.8k.",
        check("input over output", "4.98", prices.input_over_output_rate,
              input_tokens_per_s=73.7e3, output_tokens_per_s=14.8e3),
        check("without cache hits", "2.2", fresh_over_output,
              input_tokens_per_s=73.7e3, output_tokens_per_s=14.8e3, hit_share=0.56),
        note="DeepSeek open-source week, day 6: 56 % of the input were cache hits.",
    ),
    claim(
        "C6-N9",
        "A cache hit is about ten times cheaper.",
        check("$5 over $0.50", "10", prices.price_multiple, price=5.0, base_price=0.5),
        note=ANTHROPIC,
    ),
    claim(
        "C6-N10",
        "A five-minute write costs $6.25 on a base of $5.",
        check("5 minutes", "1.25", prices.price_multiple, price=6.25, base_price=5.0),
        check("1 hour", "2.0", prices.price_multiple, price=10.0, base_price=5.0),
        note=ANTHROPIC,
    ),
    claim(
        "C6-N11",
        "Caching pays from the first read (5 min) or the second (1 h).",
        check("5 minutes", "0.28", tiers.break_even_reads, write_multiple=1.25, read_multiple=0.1),
        check("1 hour", "1.11", tiers.break_even_reads, write_multiple=2.0, read_multiple=0.1),
    ),
    claim(
        "C6-N12",
        "The long tier holds three times cheaper per hour.",
        check("5 minutes", "15 USD/Mtok/h", tiers.implied_hold_price,
              write_usd_per_token=6.25e-6, base_usd_per_token=5e-6, lifetime_s=300.0),
        check("1 hour", "5 USD/Mtok/h", tiers.implied_hold_price,
              write_usd_per_token=10e-6, base_usd_per_token=5e-6, lifetime_s=HOUR_S),
        check("ratio", "3 x", hold_price_ratio,
              short_premium=1.25e-6, short_s=300.0, long_premium=5e-6),
        note="Gemini lists $4.50 per Mtok-hour for storage.",
    ),
    claim(
        "C6-N13",
        "What holding in device memory costs at $2/h and 192 GB.",
        _hold("2 kB, an hour", "0.021 USD/Mtok", 2048.0),
        _hold("35 kB", "0.37 USD/Mtok", V3_KV),
        _hold("70 kB", "0.73 USD/Mtok", 2 * V3_KV),
        _hold("328 kB", "3.41 USD/Mtok", LLAMA_KV),
    ),
    claim(
        "C6-N14",
        "How long device memory beats recomputing (5 PF, half of it).",
        check("100B, 2 kB", "7500 s", tiers.rebuild_break_even,
              **BREAK_EVEN, kv_bytes_per_token=2048.0),
        check("100B, 35 kB", "437 s", tiers.rebuild_break_even,
              **BREAK_EVEN, kv_bytes_per_token=V3_KV),
        check("100B, 328 kB", "47 s", tiers.rebuild_break_even,
              **BREAK_EVEN, kv_bytes_per_token=LLAMA_KV),
        check("DeepSeek V3", "162 s", tiers.rebuild_break_even,
              **(BREAK_EVEN | {"active_params": DEEPSEEK_V3.active}), kv_bytes_per_token=V3_KV),
    ),
    claim(
        "C6-N15",
        "Recomputing costs $0.044 a million; the list price is a hundred times that.",
        check("100B, 5 PF, half, $2/h", "0.044 USD/Mtok", tiers.rebuild_cost,
              **DEVICE, usd_per_s=USD_2_PER_HOUR),
        check("$5 list over it", "order 100", list_over_rebuild, list_usd_per_token=5e-6),
        note="So ratios of list prices carry information, their level does not.",
    ),
    claim(
        "C6-N16",
        "Drain times: HBM 20 ms, DDR 1-10 s, flash a minute, disk an hour.",
        check("HBM, H100", "14..39 ms", roofline.drain_time, **drain_inputs(H100)),
        _drain("Grace LPDDR, 480 GB at 512 GB/s", "0.94 s", 480e9, 512e9),
        _drain("2 TB DDR5 at 400 GB/s", "5 s", 2e12, 400e9),
        _drain("2 TB DDR5 through PCIe 5 x16", "31 s", 2e12, 64e9),
        _drain("NVMe Gen5, 4 TB at 14 GB/s", "4.8 min", 4e12, 14e9),
        _drain("NVMe Gen4, 4 TB at 7 GB/s", "9.5 min", 4e12, 7e9),
        _drain("QLC flash, 30.72 TB at 7 GB/s", "1.2 h", 30.72e12, 7e9),
        _drain("disk, 20 TB at 250 MB/s", "22 h", 20e12, 250e6),
        assumes="the part: flash takes 5 min to 1.2 h, a disk today 22 h",
        note="Nominal figures of such parts; sold ones vary.",
    ),
    claim(
        "C6-N17",
        "So the 5-minute and 1-hour tiers are flash and spinning disk.",
        _drain("fast NVMe for 5 min", "5 min", 4e12, 14e9),
        _drain("large QLC flash for 1 h", "1.2 h", 30.72e12, 7e9),
        _drain("a disk for 1 h, as inferred", "1 h", 20e12, 250e6),
        note="A disk of today is about 20 times too slow; large flash fits the hour.",
    ),
    claim(
        "C6-N18",
        "Attention FLOP matter only at millions of tokens.",
        _cross("100B, 1 global layer of 64 heads", "6.1e6 tok", N_A, slope(1, 64, 128, 128)),
        _cross("10 global layers", "610e3 tok", N_A, slope(10, 64, 128, 128)),
        _cross("80 global layers", "76e3 tok", N_A, slope(80, 64, 128, 128)),
        _cross("Llama 70B", "53e3 tok", LLAMA_70B.active, LLAMA_SLOPE),
        _cross("DeepSeek V3", "15e3 tok", DEEPSEEK_V3.active, V3_SLOPE),
        _cross("DeepSeek V3, absorbed", "4.4e3 tok", DEEPSEEK_V3.active, V3_ABSORBED_SLOPE),
        assumes="few global layers; full attention in every layer gives 4k to 76k",
    ),
    claim(
        "C6-N19",
        "Contexts stand near 1M; a month of work needs about 100M.",
        check("square-root law at 1e8: reads fewer by", "1e4", sparse_gain, context_tokens=1e8),
        assumes="the square-root law",
    ),
    claim(
        "C6-N20",
        "Tier 2 at 1.5x covers cost up to 1.5·m·L*.",
        check("m 1", "300 ktok", prices.tier_limit_context,
              price_factor=1.5, tier_margin=1.0, balance_context_tokens=STEP),
        check("m 3.33", "1.00 Mtok", prices.tier_limit_context,
              price_factor=1.5, tier_margin=10 / 3, balance_context_tokens=STEP),
    ),
    claim(
        "C6-N21",
        "A cache of 10 % of a device takes 10 % of its drain time to fetch.",
        check("10 % of 2 TB at 64 GB/s", "3.125 s", tiers.retrieval_over_hold,
              occupancy=0.1, drain_s=31.25),
    ),
)  # fmt: skip
