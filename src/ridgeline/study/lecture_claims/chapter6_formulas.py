"""Chapter 6, what list prices reveal about caches: the formulas and what they must show."""

from __future__ import annotations

from ridgeline.chalkboard import prices, roofline, tiers
from ridgeline.study.lecture_claims.facts import (
    DEEPSEEK_V3,
    GB200,
    H100,
    LLAMA_70B,
    USD_2_PER_HOUR,
    R,
)
from ridgeline.study.lecture_claims.record import Check, check, claim

N_A = 1e11
STEP = 2e5
"""Context at which Gemini's price rises."""
BOARD = {"active_params": N_A, "bytes_per_param": 1.0, "balance_ratio": R, "step_tokens": STEP}
DEVICE = {"active_params": N_A, "peak_flop_per_s": GB200.peak["fp8"], "mfu": 0.5}
"""100B active on a device of 5 PFLOP/s at half of it."""


def token_time_over_floor(*, context_tokens: float) -> float:
    """Return the cost at a context over the flat part [1], 1667 bytes per token, huge batch.

        f = max(1, L / L*)

    Args:
        context_tokens: L.
    """
    given = {
        "active_params": N_A,
        "peak_flop_per_s": 2 * R,
        "total_params": 8 * N_A,
        "bytes_per_param": 1.0,
        "batch": 1e15,
        "kv_bytes_per_token": float(prices.kv_bytes_from_price_step(**BOARD)),
        "bandwidth_bytes_per_s": 1.0,
    }
    long = prices.token_time_at_context(context_tokens=context_tokens, **given)
    return float(long / prices.token_time_at_context(context_tokens=0.0, **given))


def attention_share(*, slope: float, active_params: float, context_tokens: float) -> float:
    """Return the share of a token's FLOP spent on attention scores [1].

        f = a·L / (2·N_a + a·L)

    Args:
        slope: a.
        active_params: N_a.
        context_tokens: L.
    """
    whole = prices.flop_per_token(
        active_params=active_params, attention_slope=slope, context_tokens=context_tokens
    )
    return 1.0 - float(2.0 * active_params / whole)


def _pass(label: str, stated: str, tokens: float) -> Check:
    return check(label, stated, prices.pass_time_per_token, pass_tokens=tokens,
                 compute_s_per_token=1e-3, memory_s=5e-3)  # fmt: skip


def slope(layers: float, heads: float, key: float, value: float) -> float:
    """Return the attention slope of an architecture [FLOP/token per token of context]."""
    return float(
        prices.attention_flop_slope(
            global_layers=layers, query_heads=heads, key_dim=key, value_dim=value
        )
    )


LLAMA_SLOPE = slope(80.0, 64.0, 128.0, 128.0)
V3_SLOPE = slope(61.0, 128.0, 192.0, 128.0)
V3_ABSORBED_SLOPE = slope(61.0, 128.0, 576.0, 512.0)

CLAIMS = (
    claim(
        "C6-F1",
        "Cost per token is flat in context until cache reads overtake compute.",
        check("100k over 0", "1", token_time_over_floor, context_tokens=1e5),
        check("400k over 0", "2", token_time_over_floor, context_tokens=4e5),
        assumes="a batch so large that weights cost nothing",
    ),
    claim(
        "C6-F2",
        "A two-step price must stay above cost; the step sits near the crossover.",
        check("1.5x covers up to", "300 ktok", prices.tier_limit_context,
              price_factor=1.5, tier_margin=1.0, balance_context_tokens=STEP),
        assumes="that prices follow cost",
    ),
    claim(
        "C6-F3",
        "Equal compute and cache reads give k = N_a/(R·L); the batch cancels.",
        check("R 300, 100B, 200k", "1667 B/tok", prices.kv_bytes_from_price_step, **BOARD),
        assumes="weights of one byte and a very large batch",
    ),
    claim(
        "C6-F4",
        "With units k = w·N_a/(R·L) = 2·N_a/(I·L).",
        check("H100 BF16, by FLOP per byte", "3387 B/tok", prices.kv_bytes_from_intensity,
              active_params=N_A, step_tokens=STEP, ridge_flop_per_byte=float(
                  roofline.ridge_intensity(peak_flop_per_s=H100.peak["bf16"],
                                           bandwidth_bytes_per_s=H100.bandwidth))),
        check("H100 BF16, by R and w", "3387 B/tok", prices.kv_bytes_from_price_step,
              active_params=N_A, bytes_per_param=2.0, step_tokens=STEP, balance_ratio=float(
                  roofline.balance_ratio(peak_flop_per_s=H100.peak["bf16"], bytes_per_param=2.0,
                                         bandwidth_bytes_per_s=H100.bandwidth))),
    ),
    claim(
        "C6-F5",
        "At m times B* the weight read leaves only 1 - 1/m of the cache.",
        check("m 2", "833 B/tok", prices.kv_bytes_at_finite_batch,
              **BOARD, batch_over_critical=2.0),
        check("m 1: nothing", "0 B/tok", prices.kv_bytes_at_finite_batch,
              **BOARD, batch_over_critical=1.0),
        assumes="the batch; at B* itself nothing is left",
    ),
    claim(
        "C6-F6",
        "Architectures give k = caches × 2 × head width × KV heads × bytes.",
        check("1 × 2 × 128 × 8 × 1", "2048 B/tok", prices.kv_bytes_from_heads,
              distinct_caches=1.0, head_dim=128.0, kv_heads=8.0, bytes_per_element=1.0),
        check("DeepSeek V3, latent, FP8", "35136 B/tok", prices.latent_kv_bytes,
              layers=61.0, latent_width=576.0, bytes_per_element=1.0),
    ),
    claim(
        "C6-F7",
        "Sparse attention divides the reads.",
        check("128k tokens of 2048 B, 64 to one", "4.19 MB/tok", prices.sparse_kv_bytes_read,
              context_tokens=131_072.0, kv_bytes_per_token=2048.0, sparsity=64.0),
        assumes="the sparsity factor",
    ),
    claim(
        "C6-F8",
        "Prefill and decode are passes of many or one token; reads are shared by the pass.",
        _pass("pass of 1: memory", "5 ms", 1.0),
        _pass("pass of 5: both", "1 ms", 5.0),
        _pass("pass of 512: compute", "1 ms", 512.0),
        note="A prefill's own scores stay on chip.",
    ),
    claim(
        "C6-F9",
        "Output over input price is decode reading over compute, also the crossing pass length.",
        check("5 ms over 1 ms", "5", prices.output_input_ratio,
              memory_s=5e-3, compute_s_per_token=1e-3),
        assumes="decode bound by memory, prefill by compute",
    ),
    claim(
        "C6-F10",
        "Decode utilisation over that of prefill is one over the price ratio.",
        check("ratio 5", "20 %", prices.decode_over_prefill_mfu, output_input_ratio=5.0),
        assumes="decode bound by memory, prefill by compute",
    ),
    claim(
        "C6-F11",
        "Computing a cache again costs 2·N_a/F of device time per token.",
        check("100B, 5 PF, half of it, $2/h", "0.044 USD/Mtok", tiers.rebuild_cost,
              **DEVICE, usd_per_s=USD_2_PER_HOUR),
        note="The term quadratic in context is dropped.",
    ),
    claim(
        "C6-F12",
        "Keeping a cache in device memory costs its share of the device.",
        check("2 kB of 192 GB for an hour at $2", "0.0208 USD/Mtok", tiers.hold_cost,
              kv_bytes_per_token=2000.0, capacity_bytes=192e9,
              usd_per_s=USD_2_PER_HOUR, hold_s=3600.0),
    ),
    claim(
        "C6-F13",
        "In a slower tier, retrieving costs k/W and holding k/C of its rent.",
        check("retrieve 2 kB at 64 GB/s, $2/h", "1.74e-5 USD/Mtok", tiers.retrieve_cost,
              kv_bytes_per_token=2000.0, bandwidth_bytes_per_s=64e9,
              usd_per_s=USD_2_PER_HOUR),
        check("hold as long as C/W: the same", "1.74e-5 USD/Mtok", tiers.hold_cost,
              kv_bytes_per_token=2000.0, capacity_bytes=2e12,
              usd_per_s=USD_2_PER_HOUR, hold_s=31.25),
    ),
    claim(
        "C6-F14",
        "A tier suits hold times near its drain time.",
        check("2 TB at 64 GB/s", "31.25 s", tiers.hold_time_at_equal_cost,
              capacity_bytes=2e12, bandwidth_bytes_per_s=64e9),
    ),
    claim(
        "C6-F15",
        "Device memory against recomputing breaks even after (2·N_a/F)(C/k); the rent cancels.",
        check("100B, 2048 B", "7500 s", tiers.rebuild_break_even,
              **DEVICE, capacity_bytes=192e9, kv_bytes_per_token=2048.0),
    ),
    claim(
        "C6-F16",
        "A token costs 2·N_a plus attention linear in context.",
        check("Llama 70B at 53k tokens", "280 GFLOP/tok", prices.flop_per_token,
              active_params=LLAMA_70B.active, attention_slope=LLAMA_SLOPE,
              context_tokens=53_406.0),
        check("its slope", "2.62e6 FLOP/tok", prices.attention_flop_slope,
              global_layers=80.0, query_heads=64.0, key_dim=128.0, value_dim=128.0),
    ),
    claim(
        "C6-F17",
        "A prompt cache pays after (w - 1)/0.9 reads.",
        check("written at 1.25x", "0.278", tiers.break_even_reads,
              write_multiple=1.25, read_multiple=0.1),
    ),
    claim(
        "C6-Q1",
        "Cost against context under a two-step price: tier 2 goes under water somewhere.",
        check("cost at 300k over flat", "1.5", token_time_over_floor, context_tokens=3e5),
        check("tier 2 at 1.5x covers up to", "300 ktok", prices.tier_limit_context,
              price_factor=1.5, tier_margin=1.0, balance_context_tokens=STEP),
        assumes="no margin in tier 1",
    ),
    claim(
        "C6-Q2",
        "From price step to bytes, and to the architectures that have them.",
        check("implied", "1667 B/tok", prices.kv_bytes_from_price_step, **BOARD),
        check("1 cache, 6.5 heads of 128, one byte", "1664 B/tok", prices.kv_bytes_from_heads,
              distinct_caches=1.0, head_dim=128.0, kv_heads=6.5, bytes_per_element=1.0),
        assumes="R, N_a, w and batch",
    ),
    claim(
        "C6-Q3",
        "Cost per token against pass length: falling reads, flat compute, crossing at 5.",
        _pass("pass of 1", "5 ms", 1.0),
        _pass("pass of 2", "2.5 ms", 2.0),
        _pass("pass of 10", "1 ms", 10.0),
    ),
    claim(
        "C6-Q4",
        "The cheapest tier changes at drain times; recomputing is the horizontal line.",
        check("HBM against recompute, DeepSeek V3", "162 s", tiers.rebuild_break_even,
              active_params=DEEPSEEK_V3.active, peak_flop_per_s=GB200.peak["fp8"], mfu=0.5,
              capacity_bytes=192e9, kv_bytes_per_token=35_136.0),
        check("DDR behind a link", "31.25 s", tiers.hold_time_at_equal_cost,
              capacity_bytes=2e12, bandwidth_bytes_per_s=64e9),
    ),
    claim(
        "C6-Q5",
        "Each list price implies a parameter.",
        check("step at 200k: k", "1667 B/tok", prices.kv_bytes_from_price_step, **BOARD),
        check("out/in 5: decode MFU", "20 %", prices.decode_over_prefill_mfu,
              output_input_ratio=5.0),
        check("write 1.25x: reads to pay", "0.278", tiers.break_even_reads,
              write_multiple=1.25, read_multiple=0.1),
        assumes="that prices follow cost",
    ),
    claim(
        "C6-Q6",
        "Attention's share of FLOP rises with context, by architecture.",
        check("Llama 70B at 53k", "50 %", attention_share,
              slope=LLAMA_SLOPE, active_params=70e9, context_tokens=53_406.0),
        check("DeepSeek V3 at 15k", "50 %", attention_share,
              slope=V3_SLOPE, active_params=37e9, context_tokens=14_800.0),
    ),
    claim(
        "C6-Q7",
        "Cache bytes read per token against context: dense, grouped, latent, sparse.",
        check("64 heads, 80 layers, at 128k", "344 GB/tok", prices.sparse_kv_bytes_read,
              context_tokens=131_072.0, kv_bytes_per_token=2_621_440.0, sparsity=1.0),
        check("8 heads", "42.9 GB/tok", prices.sparse_kv_bytes_read,
              context_tokens=131_072.0, kv_bytes_per_token=327_680.0, sparsity=1.0),
        check("latent FP8", "4.61 GB/tok", prices.sparse_kv_bytes_read,
              context_tokens=131_072.0, kv_bytes_per_token=35_136.0, sparsity=1.0),
        check("latent, 2048 tokens read", "0.0720 GB/tok", prices.sparse_kv_bytes_read,
              context_tokens=131_072.0, kv_bytes_per_token=35_136.0, sparsity=64.0),
    ),
)  # fmt: skip
