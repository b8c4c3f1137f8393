"""Twelve slips on air and corrections, each recomputed where it has a number."""

from __future__ import annotations

from ridgeline.chalkboard import budgets, memory, pipelines, prices, racks, roofline
from ridgeline.study.lecture_claims.chapter5 import FAMILY
from ridgeline.study.lecture_claims.chapter6_formulas import BOARD
from ridgeline.study.lecture_claims.facts import DEEPSEEK_V3
from ridgeline.study.lecture_claims.record import check, claim


def kv_with_context_on_top(
    *, active_params: float, bytes_per_param: float, balance_ratio: float, step_tokens: float
) -> float:
    """Return the cache per token with the context in the numerator [B/token]: the slip on air.

        k = w·N_a·L / R

    Args:
        active_params: N_a.
        bytes_per_param: w.
        balance_ratio: R.
        step_tokens: L.
    """
    return float(
        prices.kv_bytes_from_price_step(
            active_params=active_params,
            bytes_per_param=bytes_per_param,
            balance_ratio=balance_ratio,
            step_tokens=1.0 / step_tokens,
        )
    )


DISPATCH = {
    "experts_per_token": 8.0,
    "hidden_size": 7168.0,
    "dispatch_bytes": 1.0,
    "combine_bytes": 0.0,
    "moe_layers": 1.0,
}
"""One layer, FP8, the way out only; arXiv 2412.19437."""

CLAIMS = (
    claim(
        "E1",
        "DeepSeek V3 said to route 32 of 256 experts.",
        check("experts per activated one", "8", roofline.sparsity,
              total_params=256.0, active_params=8.0),
        chapter=1,
        note="It routes 8 of 256 and one shared expert: 32, the 1 in 32 said elsewhere.",
    ),
    claim(
        "E2",
        "DeepSeek V3 said to have 700B parameters.",
        check("sparsity from 700B against 671B", "18.9", roofline.sparsity,
              total_params=DEEPSEEK_V3.total, active_params=DEEPSEEK_V3.active),
        chapter=1,
        note="Published total: 671B.",
    ),
    claim(
        "E3",
        "Utilisation first multiplied, then divided.",
        check("β as first said", "0.1", budgets.token_ratio_at_equal_cost,
              flop_per_param_token=2.0, relative_utilisation=0.3),
        chapter=5,
    ),
    claim(
        "E4",
        "Solving for the cache, the context first stood in the numerator.",
        check("that form, against 1667", "1667 B/tok", kv_with_context_on_top, **BOARD),
        check("corrected", "1667 B/tok", prices.kv_bytes_from_price_step, **BOARD),
        chapter=6,
    ),
    claim(
        "E5",
        "2.59e14 rounded to 2e14.",
        check("served tokens", "2e2 Ttok", budgets.served_tokens, **FAMILY),
        chapter=5,
        note="Rounded down, to match the rumoured 150T better.",
    ),
    claim(
        "E6",
        "The micro-batch size said to equal the stages; it is their number.",
        check("micro-batches for 4 stages", "4", memory.least_micro_batches, stages=4.0),
        check("sequences with 4 of 2000", "8000 seq", pipelines.global_batch,
              micro_batches=4.0, micro_batch=2000.0),
        chapter=4,
        note="A slip of wording; the size stays about 2000.",
    ),
    claim(
        "E7",
        "Traffic said to grow with all devices; only activated ones receive.",
        check("dispatch of DeepSeek V3, if to all 64", "459 kB/tok",
              racks.all_to_all_bytes_per_token, **DISPATCH),
        check("to its 8", "57.3 kB/tok", racks.all_to_all_bytes_per_token, **DISPATCH),
        chapter=3,
        note="Corrected on air.",
    ),
    claim(
        "E8",
        "Output over input first guessed at 1.5x, then 3-5x.",
        check("Claude Opus list, as guessed", "1.5", prices.price_multiple,
              price=25.0, base_price=5.0),
        check("Claude Opus list", "3..5", prices.price_multiple, price=25.0, base_price=5.0),
        chapter=6,
    ),
    claim(
        "E9",
        "The columns of holding and retrieving were swapped, then fixed.",
        chapter=6,
        reason="a slip of layout; retrieving from device memory is zero by definition",
    ),
    claim(
        "E10",
        "Rubin's domain said to be five hundred and something.",
        check("domain over Hopper's 8: 500/8 against 72/8", "62.5", racks.growth,
              after=72.0, before=8.0),
        chapter=2,
        note="576 is a later rack counted in dies; the announced rack has 72 packages, 144 dies.",
    ),
    claim(
        "E11",
        "Long context said to be 50 % dearer; that is output only.",
        check("input", "50 %", prices.price_rise, price=4.0, base_price=2.0),
        check("output", "50 %", prices.price_rise, price=18.0, base_price=12.0),
        chapter=6,
    ),
    claim(
        "E12",
        "The year of reversible residual networks is 2017.",
        chapter=7,
        reason="a date; arXiv 1707.04585",
    ),
)  # fmt: skip
