"""Chapter 5: pre-training, reinforcement learning and inference at equal cost.

Symbols: N_a active parameters, D tokens, η decode utilisation over training utilisation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgeline.chalkboard.roofline import Number

FORWARD_FLOP_PER_PARAM = 2.0
BACKWARD_FLOP_PER_PARAM = 4.0
TRAINING_FLOP_PER_PARAM = FORWARD_FLOP_PER_PARAM + BACKWARD_FLOP_PER_PARAM
"""One multiply-add forward; two backward, for the gradients of inputs and of weights."""

CHINCHILLA_TOKENS_PER_PARAM = 20.0
"""Rule of thumb from arXiv 2203.15556."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingLaw:
    """Loss of a model of N parameters after D tokens: E + A / N^a + B / D^b."""

    irreducible: float
    params_scale: float
    params_exponent: float
    tokens_scale: float
    tokens_exponent: float
    source: str


HOFFMANN_2022 = ScalingLaw(
    irreducible=1.69,
    params_scale=406.4,
    params_exponent=0.34,
    tokens_scale=410.7,
    tokens_exponent=0.28,
    source="Hoffmann et al. 2022, arXiv 2203.15556, equation 10",
)
BESIROGLU_2024 = ScalingLaw(
    irreducible=1.8172,
    params_scale=482.01,
    params_exponent=0.3478,
    tokens_scale=2085.43,
    tokens_exponent=0.3658,
    source="Besiroglu et al. 2024, arXiv 2404.10102, the refit of the same runs",
)


def training_flop(*, active_params: Number, tokens: Number) -> Number:
    """Return the work of training on tokens [FLOP].

        C = 6·N_a·D

    Args:
        active_params: N_a.
        tokens: D.

    Source: lecture C5-F2.
    """
    return TRAINING_FLOP_PER_PARAM * active_params * tokens


def equivalent_flop(
    *,
    flop_per_param_token: Number,
    active_params: Number,
    tokens: Number,
    relative_utilisation: Number,
) -> Number:
    """Return work as the training FLOP that would take equal device time [FLOP].

    Inference is 2 per parameter and token; RL is 2 (nothing trained on) to 6 (everything):

        C = q·N_a·D / η

    Args:
        flop_per_param_token: q.
        active_params: N_a.
        tokens: D.
        relative_utilisation: η, MFU of decoding over MFU of training.

    Source: lecture C5-F3, C5-F4.
    """
    return flop_per_param_token * active_params * tokens / relative_utilisation


def token_ratio_at_equal_cost(
    *, flop_per_param_token: Number, relative_utilisation: Number
) -> Number:
    """Return pre-training tokens per token of the other kind when both cost the same [1].

    α for RL, β for inference with q = 2; the parameters cancel:

        α = q / 6 / η

    Args:
        flop_per_param_token: q.
        relative_utilisation: η; it divides, because idle devices still cost.

    Source: lecture C5-F5.
    """
    return flop_per_param_token / TRAINING_FLOP_PER_PARAM / relative_utilisation


def served_tokens(*, tokens_per_s: Number, lifetime_s: Number) -> Number:
    """Return the tokens a model emits before it is replaced [token].

        D = r·T

    Args:
        tokens_per_s: r.
        lifetime_s: T.

    Source: lecture C5-F6.
    """
    return tokens_per_s * lifetime_s


def chinchilla_tokens(*, active_params: Number) -> Number:
    """Return the tokens that make training alone cheapest [token].

        D = 20·N_a

    Args:
        active_params: N_a; that active rather than total parameters count is the lecture's choice.

    Source: lecture C5-F7; arXiv 2203.15556.
    """
    return CHINCHILLA_TOKENS_PER_PARAM * active_params


def over_training(*, tokens: Number, active_params: Number) -> Number:
    """Return training tokens over the Chinchilla amount [1].

        f = D / (20·N_a)

    Args:
        tokens: D.
        active_params: N_a.

    Source: lecture C5-F7.
    """
    return tokens / chinchilla_tokens(active_params=active_params)


def derated_tokens(*, tokens: Number, ship_probability: Number) -> Number:
    """Return the expected served tokens of a model that may never ship [token].

        D = p·D_0

    Args:
        tokens: D_0, if it ships.
        ship_probability: p.

    Source: lecture C5-F8.
    """
    return ship_probability * tokens


def power_law_penalty(*, falling_exponent: Number, rising_exponent: Number) -> Number:
    """Return the extra cost of choosing equal costs instead of the least sum [1].

    For x^-p + x^q equal costs are at x = 1 with sum 2; the least sum has A / B = q / p:

        f = 2 / (x^-p + x^q) - 1 at x = (p / q)^(1 / (p + q))

    Args:
        falling_exponent: p.
        rising_exponent: q.

    Source: lecture C5-F1.
    """
    best = (falling_exponent / rising_exponent) ** (1.0 / (falling_exponent + rising_exponent))
    return 2.0 / (best**-falling_exponent + best**rising_exponent) - 1.0


def cost_ratio_at_least_sum(*, falling_exponent: Number, rising_exponent: Number) -> Number:
    """Return falling over rising cost where their sum is least [1].

        A / B = q / p

    Args:
        falling_exponent: p.
        rising_exponent: q.

    Source: lecture C5-F1.
    """
    return rising_exponent / falling_exponent


def loss(*, params: Number, tokens: Number, law: ScalingLaw) -> Number:
    """Return the loss that the law predicts [nat/token].

        l = E + A / N^a + B / D^b

    Args:
        params: N.
        tokens: D.
        law: Its five constants.

    Source: lecture C5-F9.
    """
    return (
        law.irreducible
        + law.params_scale / params**law.params_exponent
        + law.tokens_scale / tokens**law.tokens_exponent
    )


def tokens_for_loss(*, params: Number, target_loss: Number, law: ScalingLaw) -> Number:
    """Return the tokens that bring a model to a loss [token]; infinite where it never gets there.

        D = (B / (l - E - A / N^a))^(1 / b)

    Args:
        params: N.
        target_loss: l.
        law: Its five constants.

    Source: inverse of `loss`.
    """
    left = target_loss - law.irreducible - law.params_scale / params**law.params_exponent
    with np.errstate(divide="ignore"):
        inverse = law.tokens_scale / np.maximum(left, 0.0)
    return inverse ** (1.0 / law.tokens_exponent)


def lifetime_flop(
    *,
    params: Number,
    target_loss: Number,
    inference_tokens: Number,
    relative_utilisation: Number,
    law: ScalingLaw,
) -> Number:
    """Return training plus inference for a model that must reach a loss [FLOP].

        C = 6·N·D(N, l) + 2·N·D_inf / η

    Args:
        params: N.
        target_loss: l.
        inference_tokens: D_inf.
        relative_utilisation: η.
        law: The scaling law behind D(N, l).

    Source: lecture C5-F9.
    """
    tokens = tokens_for_loss(params=params, target_loss=target_loss, law=law)
    return training_flop(active_params=params, tokens=tokens) + equivalent_flop(
        flop_per_param_token=FORWARD_FLOP_PER_PARAM,
        active_params=params,
        tokens=inference_tokens,
        relative_utilisation=relative_utilisation,
    )


def cheapest_params(
    *,
    target_loss: Number,
    inference_tokens: Number,
    relative_utilisation: Number,
    law: ScalingLaw,
) -> Number:
    """Return the model size with the least lifetime cost at a loss [param], to 1e-7.

    The cost has one valley in log N above the size that never reaches the loss; golden sections:

        N = argmin C(N)

    Args:
        target_loss: l, above the irreducible loss.
        inference_tokens: D_inf.
        relative_utilisation: η.
        law: The scaling law.

    Source: lecture C5-F9.
    """
    reach = (law.params_scale / (target_loss - law.irreducible)) ** (1.0 / law.params_exponent)
    low, high = np.log(reach), np.log(reach) + 60.0
    golden = (np.sqrt(5.0) - 1.0) / 2.0

    def cost(log_params: Number) -> Number:
        # The last token counts before the limit are astronomically large; they only lose.
        with np.errstate(over="ignore"):
            return lifetime_flop(
                params=np.exp(log_params),
                target_loss=target_loss,
                inference_tokens=inference_tokens,
                relative_utilisation=relative_utilisation,
                law=law,
            )

    for _ in range(80):
        left, right = high - golden * (high - low), low + golden * (high - low)
        rising = cost(left) < cost(right)
        low, high = np.where(rising, low, left), np.where(rising, right, high)
    return np.exp((low + high) / 2.0)


def tokens_at_optimum(
    *, params: Number, inference_tokens: Number, relative_utilisation: Number, law: ScalingLaw
) -> Number:
    """Return the training tokens for which a given size is the cheapest one [token], to 1e-12.

    The slope of the lifetime cost vanishes; bisected in log D:

        D·(a·A·N^-a / (b·B·D^-b) - 1) = D_inf / (3·η)

    Args:
        params: N.
        inference_tokens: D_inf.
        relative_utilisation: η.
        law: The scaling law.

    Source: derivative of `lifetime_flop`, lecture C5-N12.
    """
    shape = np.broadcast(params, inference_tokens, relative_utilisation).shape
    low, high = np.zeros(shape), np.full(shape, 100.0)
    size = law.params_exponent * law.params_scale / params**law.params_exponent
    goal = inference_tokens / (TRAINING_FLOP_PER_PARAM / 2.0 * relative_utilisation)
    for _ in range(80):
        middle = (low + high) / 2.0
        tokens = np.exp(middle)
        data = law.tokens_exponent * law.tokens_scale / tokens**law.tokens_exponent
        short = tokens * (size / data - 1.0) < goal
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.exp((low + high) / 2.0)
