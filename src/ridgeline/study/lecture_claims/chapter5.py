"""Chapter 5, budgets of pre-training, reinforcement learning and inference."""

from __future__ import annotations

from ridgeline.chalkboard import budgets
from ridgeline.chalkboard.budgets import BESIROGLU_2024, HOFFMANN_2022, ScalingLaw
from ridgeline.study.lecture_claims.facts import DAY_S
from ridgeline.study.lecture_claims.record import Check, check, claim

ETA = 1.0 / 3.0
"""Decode utilisation over training utilisation, as on the board."""
FAMILY = {"tokens_per_s": 50e6, "lifetime_s": 60 * DAY_S}
"""One model of the family for two months."""
SERVED = float(budgets.served_tokens(**FAMILY))
N_A = 1e11


def _ratio(label: str, stated: str, flop_per_param_token: float, eta: float) -> Check:
    return check(label, stated, budgets.token_ratio_at_equal_cost,
                 flop_per_param_token=flop_per_param_token,
                 relative_utilisation=eta)  # fmt: skip


def _over(label: str, stated: str, tokens: float) -> Check:
    return check(label, stated, budgets.over_training, tokens=tokens, active_params=N_A)


def tokens_at_equal_cost(
    *,
    inference_tokens: float,
    flop_per_param_token: float,
    relative_utilisation: float,
    cost_share: float,
) -> float:
    """Return training tokens that cost a share of the inference tokens' cost [token].

        D = D_inf·(q / 6 / η)·g

    Args:
        inference_tokens: D_inf.
        flop_per_param_token: q.
        relative_utilisation: η.
        cost_share: g, cost of these tokens over cost of inference.
    """
    ratio = budgets.token_ratio_at_equal_cost(
        flop_per_param_token=flop_per_param_token, relative_utilisation=relative_utilisation
    )
    return float(inference_tokens * ratio * cost_share)


def rl_tokens(*, pre_tokens: float, flop_per_param_token: float) -> float:
    """Return RL tokens that cost as much as pre-training [token].

        D_RL = D_pre / α

    Args:
        pre_tokens: D_pre.
        flop_per_param_token: q of RL.
    """
    alpha = budgets.token_ratio_at_equal_cost(
        flop_per_param_token=flop_per_param_token, relative_utilisation=ETA
    )
    return float(pre_tokens / alpha)


def multiplied(*, flop_per_param_token: float, relative_utilisation: float) -> float:
    """Return the equal-cost ratio with the utilisation on the wrong side [1]: the slip on air.

        α = q / 6·η

    Args:
        flop_per_param_token: q.
        relative_utilisation: η.
    """
    return float(
        budgets.token_ratio_at_equal_cost(
            flop_per_param_token=flop_per_param_token, relative_utilisation=1 / relative_utilisation
        )
    )


def optimal_tokens(*, law: ScalingLaw, inference_tokens: float) -> float:
    """Return training tokens for which 100B parameters are the cheapest size [token].

    Args:
        law: The scaling law.
        inference_tokens: D_inf.
    """
    return float(
        budgets.tokens_at_optimum(
            params=N_A, inference_tokens=inference_tokens, relative_utilisation=ETA, law=law
        )
    )


def optimal_over_training(*, law: ScalingLaw, inference_tokens: float) -> float:
    """Return the over-training of that optimum [1].

    Args:
        law: The scaling law.
        inference_tokens: D_inf.
    """
    tokens = optimal_tokens(law=law, inference_tokens=inference_tokens)
    return float(budgets.over_training(tokens=tokens, active_params=N_A))


def inference_over_training(*, law: ScalingLaw, inference_tokens: float) -> float:
    """Return inference compute over training compute at that optimum [1].

    Args:
        law: The scaling law.
        inference_tokens: D_inf.
    """
    tokens = optimal_tokens(law=law, inference_tokens=inference_tokens)
    inference = budgets.equivalent_flop(
        flop_per_param_token=2.0, active_params=N_A, tokens=inference_tokens,
        relative_utilisation=ETA,
    )  # fmt: skip
    return float(inference / budgets.training_flop(active_params=N_A, tokens=tokens))


def size_found_again(*, law: ScalingLaw, inference_tokens: float) -> float:
    """Return the cheapest size at the optimum's loss, searched over the whole cost curve [param].

    Args:
        law: The scaling law.
        inference_tokens: D_inf.
    """
    tokens = optimal_tokens(law=law, inference_tokens=inference_tokens)
    target = budgets.loss(params=N_A, tokens=tokens, law=law)
    return float(
        budgets.cheapest_params(
            target_loss=target, inference_tokens=inference_tokens, relative_utilisation=ETA, law=law
        )
    )


def _law(label: str, law: ScalingLaw, tokens: str, over: str, ratio: str) -> tuple[Check, ...]:
    given = {"law": law, "inference_tokens": SERVED}
    return (
        check(f"{label}: over-training", over, optimal_over_training, **given),
        check(f"{label}: tokens", tokens, optimal_tokens, **given),
        check(f"{label}: inference over training", ratio, inference_over_training, **given),
    )


CLAIMS = (
    claim(
        "C5-F1",
        "A falling and a rising cost sum to least near where they are equal.",
        check("penalty for 1/x + x", "0 %", budgets.power_law_penalty,
              falling_exponent=1.0, rising_exponent=1.0),
        check("penalty for 1/x + x²", "5.8 %", budgets.power_law_penalty,
              falling_exponent=1.0, rising_exponent=2.0),
        check("A/B at the least sum, (1, 2)", "2", budgets.cost_ratio_at_least_sum,
              falling_exponent=1.0, rising_exponent=2.0),
        assumes="the exponents: exact for equal ones, A/B = q/p in general",
    ),
    claim(
        "C5-F2",
        "Pre-training costs six FLOP per active parameter and token.",
        check("100B, 200T tokens", "1.2e26 FLOP", budgets.training_flop,
              active_params=N_A, tokens=2e14),
    ),
    claim(
        "C5-F3",
        "RL costs two to six FLOP per parameter and token, divided by decode utilisation.",
        check("100B, 1T tokens, q 2", "6e23 FLOP", budgets.equivalent_flop,
              flop_per_param_token=2.0, active_params=N_A, tokens=1e12, relative_utilisation=ETA),
        check("q 6", "1.8e24 FLOP", budgets.equivalent_flop,
              flop_per_param_token=6.0, active_params=N_A, tokens=1e12, relative_utilisation=ETA),
        assumes="the share of rollouts trained on",
    ),
    claim(
        "C5-F4",
        "Inference costs two FLOP per parameter and token, over decode utilisation.",
        check("100B, 2.59e14 tokens, useful work", "5.2e25 FLOP", budgets.equivalent_flop,
              flop_per_param_token=2.0, active_params=N_A, tokens=SERVED, relative_utilisation=1.0),
        check("in training-equivalents", "1.56e26 FLOP", budgets.equivalent_flop,
              flop_per_param_token=2.0, active_params=N_A, tokens=SERVED, relative_utilisation=ETA),
    ),
    claim(
        "C5-F5",
        "At equal cost D_pre = α·D_RL = β·D_inf, and the parameters cancel.",
        _ratio("α, q 3, η 1/3", "1.5", 3.0, ETA),
        _ratio("β, η 1/3", "1.0", 2.0, ETA),
    ),
    claim(
        "C5-F6",
        "Served tokens are rate times lifetime.",
        check("50M tok/s, 60 days", "259 Ttok", budgets.served_tokens, **FAMILY),
    ),
    claim(
        "C5-F7",
        "Over-training is tokens over twenty per active parameter.",
        _over("200T on 100B", "100", 2e14),
        assumes="the Chinchilla rule on active parameters",
    ),
    claim(
        "C5-F8",
        "Expected traffic is derated by the chance that the model ships.",
        check("half of 259T", "130 Ttok", budgets.derated_tokens,
              tokens=SERVED, ship_probability=0.5),
    ),
    claim(
        "C5-F9",
        "The explicit optimum: least training plus inference cost at a fixed loss.",
        check("size found again by search", "100 Gparam", size_found_again,
              law=HOFFMANN_2022, inference_tokens=SERVED),
        check("loss of Chinchilla, 70B on 1.4T", "1.94", budgets.loss,
              params=70e9, tokens=1.4e12, law=HOFFMANN_2022),
    ),
    claim(
        "C5-N1",
        "Six is two forward and four backward.",
        check("FLOP per parameter and token", "6", budgets.training_flop,
              active_params=1.0, tokens=1.0),
    ),
    claim(
        "C5-N2",
        "Decoding runs at about 30 % of the training utilisation.",
        _ratio("β", "1.11", 2.0, 0.3),
        _ratio("α, q 2", "1.11", 2.0, 0.3),
        _ratio("α, q 4", "2.22", 4.0, 0.3),
        _ratio("α, q 6", "3.33", 6.0, 0.3),
        assumes="η = 0.3, which is not derived",
    ),
    claim(
        "C5-N3",
        "On the board α is 1.5 and β is 1.",
        _ratio("α", "1.5", 3.0, ETA),
        _ratio("β", "1.0", 2.0, ETA),
        check("D_RL for D_pre of 3", "2", rl_tokens, pre_tokens=3.0, flop_per_param_token=3.0),
    ),
    claim(
        "C5-N4",
        "First written with the utilisation multiplied: 1/10 and 2/10.",
        _ratio("β as first said", "0.1", 2.0, 0.3),
        _ratio("α as first said, q 4", "0.2", 4.0, 0.3),
        check("multiplied: β", "0.1", multiplied,
              flop_per_param_token=2.0, relative_utilisation=0.3),
        check("multiplied: α", "0.2", multiplied,
              flop_per_param_token=4.0, relative_utilisation=0.3),
        note="Idle devices cost money, so a low utilisation must divide; corrected on air.",
    ),
    claim(
        "C5-N5",
        "500M tokens per second for two months are 2.6e15.",
        check("60 days", "2.6e3 Ttok", budgets.served_tokens,
              tokens_per_s=500e6, lifetime_s=60 * DAY_S),
    ),
    claim(
        "C5-N6",
        "One model of the family serves about 200T.",
        check("50M tok/s, 60 days, as spoken", "2e2 Ttok", budgets.served_tokens, **FAMILY),
        check("unrounded", "259 Ttok", budgets.served_tokens, **FAMILY),
    ),
    claim(
        "C5-N7",
        "A rumoured corpus of 150T tokens is of the same order.",
        check("tokens at equal cost", "order 150 Ttok", tokens_at_equal_cost,
              inference_tokens=SERVED, flop_per_param_token=2.0, relative_utilisation=ETA,
              cost_share=1.0),
        note="The 150T are hearsay.",
    ),
    claim(
        "C5-N8",
        "100B active parameters want 2T tokens by the Chinchilla rule.",
        check("20 per parameter", "2 Ttok", budgets.chinchilla_tokens, active_params=N_A),
    ),
    claim(
        "C5-N9",
        "Models are over-trained about 100x.",
        _over("200T", "100", 2e14),
        _over("259T, unrounded", "130", SERVED),
        _over("150T, rumoured", "75", 1.5e14),
        _over("25/25/50 split", "65", SERVED / 2),
        assumes="traffic, lifetime and split: 65 to 130",
    ),
    claim(
        "C5-N10",
        "Thirds or 25/25/50 barely matters.",
        check("thirds", "259 Ttok", tokens_at_equal_cost, inference_tokens=SERVED,
              flop_per_param_token=2.0, relative_utilisation=ETA, cost_share=1.0),
        check("25/25/50", "130 Ttok", tokens_at_equal_cost, inference_tokens=SERVED,
              flop_per_param_token=2.0, relative_utilisation=ETA, cost_share=0.5),
        assumes="that a factor 2 is barely",
    ),
    claim(
        "C5-N11",
        "The training compute this implies.",
        check("training, 200T", "1.2e26 FLOP", budgets.training_flop,
              active_params=N_A, tokens=2e14),
        check("inference, useful", "5.2e25 FLOP", budgets.equivalent_flop,
              flop_per_param_token=2.0, active_params=N_A, tokens=SERVED, relative_utilisation=1.0),
        check("inference, training-equivalents", "1.56e26 FLOP", budgets.equivalent_flop,
              flop_per_param_token=2.0, active_params=N_A, tokens=SERVED, relative_utilisation=ETA),
    ),
    claim(
        "C5-N12",
        "The explicit optimum over-trains 40-100x; equal cost holds within a factor 3.",
        *_law("Hoffmann 2022", HOFFMANN_2022, "209 Ttok", "104", "1.24"),
        *_law("Besiroglu 2024", BESIROGLU_2024, "85 Ttok", "42", "3.1"),
        assumes="the scaling law: two fits of the same runs differ 2.5x",
    ),
    claim(
        "C5-N13",
        "RL sees fewer tokens than pre-training.",
        check("of 259T, q 3", "173 Ttok", rl_tokens, pre_tokens=SERVED, flop_per_param_token=3.0),
    ),
    claim(
        "C5-Q1",
        "How wrong equal costs are depends on the exponents.",
        check("(1, 1)", "0 %", budgets.power_law_penalty,
              falling_exponent=1.0, rising_exponent=1.0),
        check("(1, 2)", "5.8 %", budgets.power_law_penalty,
              falling_exponent=1.0, rising_exponent=2.0),
        check("(0.5, 3)", "33 %", budgets.power_law_penalty,
              falling_exponent=0.5, rising_exponent=3.0),
    ),
    claim(
        "C5-Q2",
        "Three costs side by side for chosen token counts.",
        check("pre-training, 259T", "1.56e26 FLOP", budgets.training_flop,
              active_params=N_A, tokens=SERVED),
        check("RL, 173T, q 3", "1.56e26 FLOP", budgets.equivalent_flop, flop_per_param_token=3.0,
              active_params=N_A, tokens=1.728e14, relative_utilisation=ETA),
        check("inference, 259T", "1.56e26 FLOP", budgets.equivalent_flop, flop_per_param_token=2.0,
              active_params=N_A, tokens=SERVED, relative_utilisation=ETA),
    ),
    claim(
        "C5-Q3",
        "Over-training rises in proportion to traffic and lifetime.",
        _over("60 days at 50M tok/s", "130", SERVED),
        _over("180 days", "389", 3 * SERVED),
    ),
    claim(
        "C5-Q4",
        "The 100x is a band, not a point.",
        _over("half the traffic", "65", SERVED / 2),
        _over("twice the traffic", "259", 2 * SERVED),
        assumes="the inputs; a factor 2 in any moves it by 2",
    ),
    claim(
        "C5-Q5",
        "The explicit optimum against the heuristic, per scaling law.",
        *_law("Hoffmann 2022", HOFFMANN_2022, "209 Ttok", "104", "1.24"),
        *_law("Besiroglu 2024", BESIROGLU_2024, "85 Ttok", "42", "3.1"),
        assumes="the scaling law",
    ),
    claim(
        "C5-Q6",
        "A model emits about as many tokens as it read.",
        _ratio("D_pre over D_inf", "1", 2.0, ETA),
        assumes="η = 1/3 and equal cost",
    ),
)  # fmt: skip
