"""Chapter 1, batch size, cost and speed: the formulas and what they must show.

Worked on DeepSeek V3 in FP8 over the 72 devices of a GB200 rack unless a label says otherwise.
"""

from __future__ import annotations

from ridgeline.chalkboard import fast_mode, roofline, traffic
from ridgeline.study.lecture_claims.facts import (
    DEEPSEEK_V3,
    GB200,
    H100,
    SPARSITY,
    USD_2_PER_HOUR,
    R,
    drain_inputs,
    ratio_inputs,
)
from ridgeline.study.lecture_claims.record import check, claim

RACK = 72.0
PEAK = RACK * GB200.peak["fp8"]
BANDWIDTH = RACK * GB200.bandwidth
KV = 35_136.0
"""Bytes per token of the latent cache in FP8: 61 layers of 576."""
COMPUTE = {"active_params": DEEPSEEK_V3.active, "peak_flop_per_s": PEAK}
WEIGHTS = {
    "total_params": DEEPSEEK_V3.total,
    "bytes_per_param": 1.0,
    "bandwidth_bytes_per_s": BANDWIDTH,
}
CACHE = {"kv_bytes_per_token": KV, "bandwidth_bytes_per_s": BANDWIDTH}
MODEL = {"total_params": DEEPSEEK_V3.total, "active_params": DEEPSEEK_V3.active}


def step(*, batch: float, context_tokens: float) -> float:
    """Return the step time of the worked example [s].

        t = max(t_c, t_w + t_k)

    Args:
        batch: B.
        context_tokens: L.
    """
    return float(
        roofline.step_time(
            compute_s=roofline.compute_time(batch=batch, **COMPUTE),
            weights_s=roofline.weight_time(**WEIGHTS),
            kv_s=roofline.kv_time(batch=batch, context_tokens=context_tokens, **CACHE),
        )
    )


def cost(*, batch: float, context_tokens: float) -> float:
    """Return the token cost of the worked example at $2 per device-hour [USD/token].

        c = t / B · p

    Args:
        batch: B.
        context_tokens: L.
    """
    step_s = step(batch=batch, context_tokens=context_tokens)
    return float(roofline.token_cost(step_s=step_s, batch=batch, usd_per_s=RACK * USD_2_PER_HOUR))


def step_growth(*, batch: float, factor: float, context_tokens: float) -> float:
    """Return how much longer a step takes when the batch grows [1].

        f = t(g·B) / t(B)

    Args:
        batch: B.
        factor: g.
        context_tokens: L.
    """
    longer = step(batch=batch * factor, context_tokens=context_tokens)
    return longer / step(batch=batch, context_tokens=context_tokens)


def cost_growth(*, batch: float, factor: float, context_tokens: float) -> float:
    """Return how the token cost changes when the batch grows [1].

        f = c(g·B) / c(B)

    Args:
        batch: B.
        factor: g.
        context_tokens: L.
    """
    return step_growth(batch=batch, factor=factor, context_tokens=context_tokens) / factor


def speed_over_asymptote(*, batch: float) -> float:
    """Return the user's speed over the fastest there is at any price [1].

        f = t_min / t(B)

    Args:
        batch: B.
    """
    return float(roofline.weight_time(**WEIGHTS)) / step(batch=batch, context_tokens=0.0)


def slope_ratio(*, context_tokens: float, balance_context_tokens: float) -> float:
    """Return the slope of the cache line over that of the compute line [1].

        f = L / L*

    Args:
        context_tokens: L.
        balance_context_tokens: L*.
    """
    mfu = roofline.mfu_at_context(
        context_tokens=context_tokens, balance_context_tokens=balance_context_tokens
    )
    return 1.0 / float(mfu)


def sparse_over_dense_reads(*, context_tokens: float) -> float:
    """Return cache reads under the square-root law over dense ones [1].

        f = sqrt(L) / L

    Args:
        context_tokens: L.
    """
    return float(roofline.sparse_context(context_tokens=context_tokens)) / context_tokens


def _floor(*, active_params: float) -> float:
    """Return the cost floor of a GB200 in FP8 at $2 per hour, without context [USD/token].

        c = 2·N_a / F·p

    Args:
        active_params: N_a.
    """
    return float(
        roofline.cost_floor(
            active_params=active_params,
            peak_flop_per_s=GB200.peak["fp8"],
            context_tokens=0.0,
            kv_bytes_per_token=KV,
            bandwidth_bytes_per_s=GB200.bandwidth,
            usd_per_s=USD_2_PER_HOUR,
        )
    )


CLAIMS = (
    claim(
        "C1-F1",
        "A step takes at least the longer of its arithmetic and its memory reads.",
        check("bound by compute", "3 ms", roofline.step_time,
              compute_s=3e-3, weights_s=1e-3, kv_s=1e-3),
        check("bound by memory", "5 ms", roofline.step_time,
              compute_s=3e-3, weights_s=1e-3, kv_s=4e-3),
        note="A lower bound: perfect overlap. Weight and cache reads share one bus, so they add.",
    ),
    claim(
        "C1-F2",
        "Arithmetic grows with batch times active parameters.",
        check("batch 4000", "0.822 ms", roofline.compute_time, batch=4000.0, **COMPUTE),
        note="The board divides by multiplies per second, F/2. Attention scores are left out.",
    ),
    claim(
        "C1-F3",
        "All weights are read once per step, and each sequence's cache once.",
        check("weights", "1.16 ms", roofline.weight_time, **WEIGHTS),
        check("caches, batch 4000 at 4096", "0.999 ms", roofline.kv_time,
              batch=4000.0, context_tokens=4096.0, **CACHE),
        note="The board counts parameters as bytes; w makes it true at any precision.",
    ),
    claim(
        "C1-F4",
        "A token costs step time over batch, times the rent.",
        check("20 ms, batch 2000, one device", "0.00556 USD/Mtok", roofline.token_cost,
              step_s=20e-3, batch=2000.0, usd_per_s=USD_2_PER_HOUR),
        note="Rent only, at the lecture's example of $2 per GPU-hour.",
    ),
    claim(
        "C1-F5",
        "No token comes faster than one read of all the weights.",
        check("72 devices", "1.16 ms", roofline.weight_time, **WEIGHTS),
        check("step at batch 1, no context", "1.16 ms", step, batch=1.0, context_tokens=0.0),
    ),
    claim(
        "C1-F6",
        "What remains of the cost at any batch: one sequence's compute or cache read.",
        check("2048 tokens: compute", "0.00822 USD/Mtok", roofline.cost_floor,
              context_tokens=2048.0, **COMPUTE, **CACHE, usd_per_s=RACK * USD_2_PER_HOUR),
        check("32,768 tokens: cache", "0.0800 USD/Mtok", roofline.cost_floor,
              context_tokens=32_768.0, **COMPUTE, **CACHE, usd_per_s=RACK * USD_2_PER_HOUR),
    ),
    claim(
        "C1-F7",
        "Compute and weight reading balance at B* = R·s, whatever the model's size.",
        check("R 300, s 8", "2400 seq", roofline.critical_batch,
              balance_ratio=R, total_params=SPARSITY, active_params=1.0),
        check("100 times larger", "2400 seq", roofline.critical_batch,
              balance_ratio=R, total_params=800e9, active_params=100e9),
        note="Cache reads are dropped; C1-F8 keeps them and moves the optimum up.",
    ),
    claim(
        "C1-F8",
        "With caches kept B* grows with context and is infinite from L* on.",
        check("L*, R 300", "3.51 ktok", roofline.balance_context,
              active_params=DEEPSEEK_V3.active, bytes_per_param=1.0,
              balance_ratio=R, kv_bytes_per_token=KV),
        check("half of L*: twice B*", "10.88e3 seq", roofline.critical_batch_at_context,
              balance_ratio=R, **MODEL, bytes_per_param=1.0,
              context_tokens=DEEPSEEK_V3.active / (2 * R * KV), kv_bytes_per_token=KV),
    ),
    claim(
        "C1-F9",
        "Trains leave once per read of the full memory, T = C/W.",
        check("H100", "23.9 ms", roofline.drain_time, **drain_inputs(H100)),
        note="An upper guide: the step follows the bytes in use, not the bytes installed.",
    ),
    claim(
        "C1-F10",
        "Just missing a train costs two intervals; the mean is one and a half.",
        check("worst at 20 ms", "40 ms", traffic.worst_latency, interval_s=20e-3),
        check("mean at 20 ms", "30 ms", traffic.mean_latency, interval_s=20e-3),
    ),
    claim(
        "C1-F11",
        "A system emits B/T tokens per second, about 64 per seat.",
        check("per seat", "64 tok/s", traffic.system_rate, batch=1.0, interval_s=1 / 64),
        check("2000 seats at 15.6 ms", "~128e3 tok/s", traffic.system_rate,
              batch=2000.0, interval_s=15.6e-3),
    ),
    claim(
        "C1-F12",
        "Sparse attention reads about the square root of the context.",
        check("1M tokens: reads left", "1e-3", sparse_over_dense_reads, context_tokens=1e6),
        assumes="the square-root law, given without a constant",
        note="Published mechanisms differ: a fixed number of tokens plus a light linear indexer.",
    ),
    claim(
        "C1-F13",
        "On the same hardware, batch ratio = price ratio × speed ratio.",
        check("6x the price, 2.5x the speed", "15", fast_mode.batch_ratio,
              price_ratio=6.0, speed_ratio=2.5),
        assumes="price follows cost",
    ),
    claim(
        "C1-Q1",
        "Latency against batch: flat at the weight read, then rising from the kink at B*.",
        check("2x batch at 1", "1", step_growth, batch=1.0, factor=2.0, context_tokens=0.0),
        check("2x batch past B*", "2", step_growth, batch=1e4, factor=2.0, context_tokens=0.0),
        check("B* on GB200", "5667 seq", roofline.critical_batch,
              balance_ratio=float(roofline.balance_ratio(**ratio_inputs(GB200, "fp8"))), **MODEL),
    ),
    claim(
        "C1-Q2",
        "Cost against batch: a hyperbola down to a floor, with the kink at the same B*.",
        check("2x batch at 1: halves", "0.5", cost_growth,
              batch=1.0, factor=2.0, context_tokens=0.0),
        check("2x batch past B*: flat", "1", cost_growth,
              batch=1e4, factor=2.0, context_tokens=0.0),
    ),
    claim(
        "C1-Q3",
        "Paying more buys speed up to 1/t_min; waiting saves down to the floor.",
        check("speed at batch 1 over asymptote", "1", speed_over_asymptote, batch=1.0),
        check("cost at 100 B*", "0.00822 USD/Mtok", cost, batch=5.4e5, context_tokens=0.0),
    ),
    claim(
        "C1-Q4",
        "At L* the compute and cache lines have the same slope: bound by both at once.",
        check("slopes at L*", "1", slope_ratio,
              context_tokens=2e5, balance_context_tokens=2e5),
        check("slopes at 2 L*", "2", slope_ratio,
              context_tokens=4e5, balance_context_tokens=2e5),
    ),
    claim(
        "C1-Q5",
        "MFU is 1 up to L*, then falls as L*/L; sparse attention falls far less.",
        check("below L*", "1", roofline.mfu_at_context,
              context_tokens=1e5, balance_context_tokens=2e5),
        check("at 4 L*", "0.25", roofline.mfu_at_context,
              context_tokens=8e5, balance_context_tokens=2e5),
    ),
    claim(
        "C1-Q6",
        "B* depends on R and sparsity only, not on scale.",
        check("R 300, s 8, small model", "2400 seq", roofline.critical_batch,
              balance_ratio=R, total_params=8e9, active_params=1e9),
        check("R 300, s 8, large model", "2400 seq", roofline.critical_batch,
              balance_ratio=R, total_params=8e12, active_params=1e12),
        check("R 300, s 32", "9600 seq", roofline.critical_batch,
              balance_ratio=R, total_params=32.0, active_params=1.0),
    ),
    claim(
        "C1-Q7",
        "Trains leave every T; the worst arrival waits T and rides T.",
        check("worst over interval", "2", traffic.worst_latency, interval_s=1.0),
        check("Rubin, 288 GB at 20 TB/s", "28.8 ms", traffic.worst_latency,
              interval_s=14.4e-3),
    ),
    claim(
        "C1-Q8",
        "Sparsity is free while users last: at B*, cost falls as 1/s and users rise as s.",
        check("users at s 8", "2400 seq", roofline.critical_batch,
              balance_ratio=R, total_params=800e9, active_params=100e9),
        check("users at s 16", "4800 seq", roofline.critical_batch,
              balance_ratio=R, total_params=800e9, active_params=50e9),
        check("cost floor at s 8", "0.0222 USD/Mtok", _floor, active_params=100e9),
        check("cost floor at s 16", "0.0111 USD/Mtok", _floor, active_params=50e9),
        assumes="total parameters fixed, so that active ones fall as 1/s",
    ),
    claim(
        "C1-Q9",
        "Quality of routed models: 64x the total is worth about 3.5x the active size.",
        check("exponent of the total", "0.3", roofline.active_equivalent_exponent,
              total_multiple=64.0, active_multiple=1.3 / 0.37),
        assumes="one 2022 figure, arXiv 2202.01169; finer experts follow newer laws",
    ),
)  # fmt: skip
