"""Pictures of chapters 5 to 7: budgets, prices, reversible networks."""

from __future__ import annotations

import numpy as np

from ridgeline.chalkboard import budgets, prices, reversible, roofline, tiers
from ridgeline.study.lecture_claims.chapter6_formulas import (
    BOARD,
    LLAMA_SLOPE,
    V3_SLOPE,
    token_time_over_floor,
)
from ridgeline.study.lecture_claims.facts import GB200, USD_2_PER_HOUR
from ridgeline.study.lecture_claims.picture import Line, Picture


def price_pictures() -> tuple[Picture, ...]:
    """Return the pictures of chapters 5 to 7."""
    return (
        _equal_cost(),
        _context_price(),
        _pass_length(),
        _tier_choice(),
        _attention_share(),
        _activations(),
        _growth(),
    )


def _equal_cost() -> Picture:
    size = budgets.HOFFMANN_2022
    optimum = budgets.tokens_at_optimum(
        params=1e11, inference_tokens=2.592e14, relative_utilisation=1 / 3, law=size
    )
    target = budgets.loss(params=1e11, tokens=optimum, law=size)
    params = np.geomspace(3e10, 1e12, 300)
    needed = budgets.tokens_for_loss(params=params, target_loss=target, law=size)
    training = np.asarray(budgets.training_flop(active_params=params, tokens=needed))
    inference = np.asarray(
        budgets.equivalent_flop(
            flop_per_param_token=2.0,
            active_params=params,
            tokens=2.592e14,
            relative_utilisation=1 / 3,
        )
    )
    fits = needed < 1e17
    return Picture(
        id="C5-Q1",
        title="Falling plus rising cost: size of a model with a given loss, 259T tokens served",
        x="parameters",
        y="compute [training-equivalent FLOP]",
        lines=(
            Line(label="training", x=params[fits], y=training[fits]),
            Line(label="inference", x=params[fits], y=inference[fits]),
            Line(label="sum", x=params[fits], y=(training + inference)[fits], strong=True),
        ),
        marks=(("least sum", 1e11),),
        logs="xy",
    )


def _context_price() -> Picture:
    context = np.linspace(1e3, 1e6, 400)
    cost = np.array([token_time_over_floor(context_tokens=float(c)) for c in context])
    price = np.where(context > BOARD["step_tokens"], 1.5, 1.0)
    return Picture(
        id="C6-Q1",
        title="Cost against context at 1667 B per token, under a two-step price",
        x="context [tokens]",
        y="cost, price over the flat cost [1]",
        lines=(
            Line(label="cost", x=context, y=cost, strong=True),
            Line(label="price without margin, 1.5x above 200k", x=context, y=price),
            Line(label="price with tier-1 margin 3.33", x=context, y=price * 10 / 3),
        ),
        marks=(("L*", 2e5), ("tier 2 under water", 3e5)),
    )


def _pass_length() -> Picture:
    length = np.geomspace(1.0, 1000.0, 200)
    given = {"compute_s_per_token": 1.0, "memory_s": 5.0}
    return Picture(
        id="C6-Q3",
        title="Time per token against the tokens of one pass: decode 1, prefill many",
        x="tokens per pass and sequence",
        y="time per token over compute [1]",
        lines=(
            Line(
                label="max(compute, reads / pass length)",
                x=length,
                y=np.asarray(prices.pass_time_per_token(pass_tokens=length, **given)),
                strong=True,
            ),
        ),
        marks=(("price ratio 5", 5.0),),
        logs="xy",
    )


def _tier_choice() -> Picture:
    hold = np.geomspace(1.0, 1e5, 300)
    k, rent = 35_136.0, USD_2_PER_HOUR
    rebuild = tiers.rebuild_cost(
        active_params=1e11, peak_flop_per_s=GB200.peak["fp8"], mfu=0.5, usd_per_s=rent
    )
    lines = [Line(label="compute again", x=hold, y=rebuild * 1e6 * np.ones_like(hold))]
    # Rents of one unit are assumed; the title says which.
    for label, capacity, bandwidth, unit_rent in (
        ("device memory, 192 GB", 192e9, np.inf, rent),
        ("DDR5, 2 TB at 64 GB/s", 2e12, 64e9, 0.4 / 3600),
        ("NVMe, 4 TB at 14 GB/s", 4e12, 14e9, 0.03 / 3600),
    ):
        fetch = tiers.retrieve_cost(
            kv_bytes_per_token=k, bandwidth_bytes_per_s=bandwidth, usd_per_s=rent
        )
        keep = tiers.hold_cost(
            kv_bytes_per_token=k, capacity_bytes=capacity, usd_per_s=unit_rent, hold_s=hold
        )
        lines.append(Line(label=label, x=hold, y=np.asarray(fetch + keep) * 1e6))
    return Picture(
        id="C6-Q4",
        title="Cost to have a cache of 35 kB per token back after a while\n"
        "100B active, $2 per device-hour, tier rents assumed ($0.4/h DDR, $0.03/h NVMe)",
        x="hold time [s]",
        y="cost [USD per 1e6 tokens]",
        lines=tuple(lines),
        logs="xy",
    )


def _attention_share() -> Picture:
    context = np.geomspace(1e3, 1e7, 300)
    one_layer = prices.attention_flop_slope(
        global_layers=1.0, query_heads=64.0, key_dim=128.0, value_dim=128.0
    )
    lines = tuple(
        Line(
            label=label,
            x=context,
            y=np.asarray(
                1.0
                - roofline.FLOP_PER_PARAM
                * active
                / prices.flop_per_token(
                    active_params=active, attention_slope=slope, context_tokens=context
                )
            ),
        )
        for label, active, slope in (
            ("Llama 70B", 70e9, LLAMA_SLOPE),
            ("DeepSeek V3", 37e9, V3_SLOPE),
            ("100B active, one global layer", 1e11, one_layer),
        )
    )
    return Picture(
        id="C6-Q6",
        title="Share of a token's FLOP spent on attention",
        x="context [tokens]",
        y="share of FLOP [1]",
        lines=lines,
        logs="x",
    )


def _activations() -> Picture:
    layers = np.arange(1.0, 129.0)
    one = reversible.activation_bytes(
        tensors=1.0, tokens=8192.0, hidden_size=12_288.0, bytes_per_element=2.0
    )
    return Picture(
        id="C7-Q2",
        title="Residual tensors kept for the way back, BF16, 8192 tokens × 12,288",
        x="layers",
        y="activation memory [GB]",
        lines=tuple(
            Line(label=label, x=layers, y=np.asarray(count * one / 1e9))
            for label, count in (
                ("ordinary", reversible.stored_activations(layers=layers)),
                ("checkpoints, +33 % compute", reversible.checkpointed_activations(layers=layers)),
                ("reversible, +33 % compute", reversible.reversible_activations(layers=layers)),
            )
        ),
        logs="y",
    )


def _growth() -> Picture:
    depth = np.arange(1.0, 31.0)
    return Picture(
        id="C7-Q3",
        title="A perturbation of 1e-6 after each random layer, 256 wide, seed 0",
        x="layers",
        y="relative size over the input's [1]",
        lines=tuple(
            Line(
                label=label,
                x=depth,
                y=reversible.perturbation_growth(layers=30, width=256, residual=residual, seed=0),
            )
            for label, residual in (("plain chain, gain 2", False), ("residual and norm", True))
        ),
        logs="y",
    )
