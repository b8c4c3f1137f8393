"""The host's 27 flashcards; most repeat a claim, and then repeat its checks."""

from __future__ import annotations

from ridgeline.chalkboard import budgets, pipelines, prices, roofline
from ridgeline.study.lecture_claims import (
    chapter1_formulas,
    chapter1_numbers,
    chapter2,
    chapter4,
    chapter5,
    chapter6_formulas,
    chapter6_numbers,
    chapter7,
)
from ridgeline.study.lecture_claims.facts import H100, RUBIN, R, drain_inputs, ratio_inputs
from ridgeline.study.lecture_claims.record import Check, Claim, check, claim

_KNOWN = {
    one.id: one
    for chapter in (
        chapter1_formulas, chapter1_numbers, chapter2, chapter4, chapter5,
        chapter6_formulas, chapter6_numbers, chapter7,
    )
    for one in chapter.CLAIMS
}  # fmt: skip


def _as(name: str) -> tuple[Check, ...]:
    return _KNOWN[name].checks


def _card(name: str, says: str, like: str, *, assumes: str = "", note: str = "") -> Claim:
    where = f"Worked as {like}."
    return claim(name, says, *_as(like), chapter=_KNOWN[like].chapter, assumes=assumes,
                 note=f"{where} {note}".strip())  # fmt: skip


CLAIMS = (
    _card("K1", "Forward-pass time is the longer of compute and memory.", "C1-F1"),
    _card("K2", "Compute time without attention is B·N_a over FLOP/s.", "C1-F2",
          note="On the card FLOPs are multiplies; with F it is 2·B·N_a/F."),
    _card("K3", "Memory time is weights plus caches over bandwidth.", "C1-F3"),
    claim(
        "K4",
        "Modern chips do about 300 FLOP per byte.",
        check("H100 BF16, as on the card", "300 FLOP/B", roofline.ridge_intensity,
              peak_flop_per_s=H100.peak["bf16"], bandwidth_bytes_per_s=H100.bandwidth),
        check("H100 FP8", "591 FLOP/B", roofline.ridge_intensity,
              peak_flop_per_s=H100.peak["fp8"], bandwidth_bytes_per_s=H100.bandwidth),
        check("R, H100 BF16", "295", roofline.balance_ratio, **ratio_inputs(H100, "bf16")),
        check("R, H100 FP8", "295", roofline.balance_ratio, **ratio_inputs(H100, "fp8")),
        chapter=1,
        assumes="BF16, where two FLOP per multiply and two bytes per weight cancel",
    ),
    claim(
        "K5",
        "The least efficient batch is 300 / (1/8) = 2400.",
        check("256 over 32", "2400 seq", roofline.critical_batch,
              balance_ratio=R, total_params=256.0, active_params=32.0),
        chapter=1,
        note="The card's text calls sparsity active over total and yet multiplies by it.",
    ),
    claim(
        "K6",
        "20 ms is about the time to read 288 GB.",
        check("at 20 TB/s", "14.4 ms", roofline.drain_time,
              capacity_bytes=RUBIN.capacity, bandwidth_bytes_per_s=20e12),
        check("H100", "~20 ms", roofline.drain_time, **drain_inputs(H100)),
        chapter=1,
        note="The card on slower trains says compute idles; the lecture says bytes are re-read.",
    ),
    _card("K7", "The 6 in 6ND is two forward and four backward.", "C5-N1"),
    claim(
        "K8",
        "Total compute: 6·N·D_pre + (2..6)·N·D_RL/η + 2·N·D_inf/η.",
        check("pre-training, 100B on 200T", "1.2e26 FLOP", budgets.training_flop,
              active_params=1e11, tokens=2e14),
        check("RL, q 3, 133T", "1.2e26 FLOP", budgets.equivalent_flop, flop_per_param_token=3.0,
              active_params=1e11, tokens=4e14 / 3, relative_utilisation=1 / 3),
        check("inference, 200T", "1.2e26 FLOP", budgets.equivalent_flop, flop_per_param_token=2.0,
              active_params=1e11, tokens=2e14, relative_utilisation=1 / 3),
        chapter=5,
        note="The inefficiency multiplies the cost, which is dividing by the utilisation.",
    ),
    _card("K9", "Equal costs: D_pre = 1.5 D_RL = D_inf.", "C5-N3",
          assumes="η = 1/3 and 3 FLOP per RL parameter and token"),
    _card("K10", "50M tokens/s for 60 days: 2.59e14, quoted as 200T.", "C5-N6"),
    claim(
        "K11",
        "100B on 200T is over-trained 100x.",
        check("200T over 2T", "100 x", budgets.over_training, tokens=2e14, active_params=1e11),
        chapter=5,
    ),
    _card("K12", "A price step at 200k implies 1667 bytes per token.", "C6-F3",
          assumes="R 300, 100B active, one byte per weight, a large batch"),
    _card("K13", "Output at 3-5x input means decode at a fifth of prefill's MFU.", "C6-N7",
          assumes="prices follow hardware cost"),
    _card("K14", "Cache hits ten times cheaper: loading beats recomputing.", "C6-N9"),
    _card("K15", "Sketch latency against batch.", "C1-Q1"),
    _card("K16", "Sketch cost against context with its price step.", "C6-Q1",
          assumes="no margin in tier 1"),
    _card("K17", "The latency floor is reading all the weights, total not active.", "C1-F5"),
    _card("K18", "A batch amortises neither compute nor cache reads.", "C1-F6"),
    _card("K19", "One rack bounds an MoE layer: all-to-all on the slow network.", "C2-N3"),
    claim(
        "K20",
        "Training idles at both ends of the pipeline.",
        check("P 4, M 4", "42.9 %", pipelines.training_bubble, stages=4.0, micro_batches=4.0),
        chapter=3,
    ),
    claim(
        "K21",
        "Batches cannot overlap: gradients must be in before the update.",
        check("idle share the barrier leaves, P 4, M 4", "42.9 %", pipelines.training_bubble,
              stages=4.0, micro_batches=4.0),
        check("without the barrier, M endless", "0..0.1 %", pipelines.training_bubble,
              stages=4.0, micro_batches=1e6),
        chapter=3,
    ),
    _card("K22", "Stages do not divide the cache: P micro-batches are in flight.", "C4-F4"),
    claim(
        "K23",
        "Pipelining is unwise: constraints on architecture, imbalance, slower research.",
        chapter=4,
        reason="a judgement",
    ),
    _card("K24", "Equal costs come from a falling plus a rising cost.", "C5-F1",
          assumes="the exponents"),
    claim(
        "K25",
        "Beyond 200k memory binds, so it is dearer.",
        check("cost at 400k over flat", "2", chapter6_formulas.token_time_over_floor,
              context_tokens=4e5),
        check("implied cache", "1667 B/tok", prices.kv_bytes_from_price_step,
              **chapter6_formulas.BOARD),
        chapter=6,
        assumes="that the price step is the crossover",
    ),
    _card("K26", "Ciphers and nets mix every input into every output.", "C7-F6"),
    _card("K27", "The same shape with opposite aims: scramble or extract.", "C7-Q3"),
)  # fmt: skip
