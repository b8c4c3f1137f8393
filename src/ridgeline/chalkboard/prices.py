"""Chapter 6: what list prices say about caches, utilisation and memory tiers.

Symbols: k cache bytes per token, L context, R balance ratio, m batch over critical batch,
r output price over input price, p rent of a device, T hold time.
"""

from __future__ import annotations

import numpy as np

from ridgeline.chalkboard import roofline
from ridgeline.chalkboard.roofline import Number


def token_time_at_context(
    *,
    active_params: Number,
    peak_flop_per_s: Number,
    total_params: Number,
    bytes_per_param: Number,
    batch: Number,
    context_tokens: Number,
    kv_bytes_per_token: Number,
    bandwidth_bytes_per_s: Number,
) -> Number:
    """Return the step time per token of the batch [s/token]: flat, then rising with context.

        t = max(2·N_a / F, (w·N_t / B + L·k) / W)

    Args:
        active_params: N_a.
        peak_flop_per_s: F.
        total_params: N_t.
        bytes_per_param: w.
        batch: B.
        context_tokens: L.
        kv_bytes_per_token: k.
        bandwidth_bytes_per_s: W.

    Source: lecture C6-F1.
    """
    compute = roofline.FLOP_PER_PARAM * active_params / peak_flop_per_s
    read = bytes_per_param * total_params / batch + context_tokens * kv_bytes_per_token
    return np.maximum(compute, read / bandwidth_bytes_per_s)


def tier_limit_context(
    *, price_factor: Number, tier_margin: Number, balance_context_tokens: Number
) -> Number:
    """Return the context up to which the dearer tier still covers its cost [token].

    Beyond L* the cost grows as L / L* from a floor that tier 1 prices at m times:

        L = g·m·L*

    Args:
        price_factor: g, tier-2 price over tier-1 price.
        tier_margin: m, tier-1 price over the flat cost.
        balance_context_tokens: L*.

    Source: lecture C6-F2, C6-N20.
    """
    return price_factor * tier_margin * balance_context_tokens


def kv_bytes_from_price_step(
    *,
    active_params: Number,
    bytes_per_param: Number,
    balance_ratio: Number,
    step_tokens: Number,
) -> Number:
    """Return the cache bytes per token that put the crossover at a price step [B/token].

    The batch is so large that weight reads vanish, and then it cancels:

        k = w·N_a / (R·L)

    Args:
        active_params: N_a.
        bytes_per_param: w.
        balance_ratio: R; the board writes N_a/(R·L), which holds for w = 1.
        step_tokens: L, context where the price rises.

    Source: lecture C6-F3, C6-F4.
    """
    return bytes_per_param * active_params / (balance_ratio * step_tokens)


def kv_bytes_from_intensity(
    *, active_params: Number, ridge_flop_per_byte: Number, step_tokens: Number
) -> Number:
    """Return the same in terms of FLOP per byte [B/token].

        k = 2·N_a / (I·L)

    Args:
        active_params: N_a.
        ridge_flop_per_byte: I, `roofline.ridge_intensity` at the precision used.
        step_tokens: L.

    Source: lecture C6-F4.
    """
    return roofline.FLOP_PER_PARAM * active_params / (ridge_flop_per_byte * step_tokens)


def kv_bytes_at_finite_batch(
    *,
    active_params: Number,
    bytes_per_param: Number,
    balance_ratio: Number,
    step_tokens: Number,
    batch_over_critical: Number,
) -> Number:
    """Return the cache bytes per token implied when the weight read is kept [B/token].

        k = w·N_a / (R·L)·(1 - 1 / m)

    Args:
        active_params: N_a.
        bytes_per_param: w.
        balance_ratio: R.
        step_tokens: L.
        batch_over_critical: m; at 1 the weights take all the time and nothing is left for k.

    Source: lecture C6-F5.
    """
    large = kv_bytes_from_price_step(
        active_params=active_params,
        bytes_per_param=bytes_per_param,
        balance_ratio=balance_ratio,
        step_tokens=step_tokens,
    )
    return large * (1.0 - 1.0 / batch_over_critical)


def kv_bytes_from_heads(
    *, distinct_caches: Number, head_dim: Number, kv_heads: Number, bytes_per_element: Number
) -> Number:
    """Return the cache bytes per token of an architecture, keys and values [B/token].

        k = n·2·d·h·e

    Args:
        distinct_caches: n, layers with a cache of their own.
        head_dim: d.
        kv_heads: h.
        bytes_per_element: e.

    Source: lecture C6-F6.
    """
    return distinct_caches * 2.0 * head_dim * kv_heads * bytes_per_element


def latent_kv_bytes(*, layers: Number, latent_width: Number, bytes_per_element: Number) -> Number:
    """Return the cache bytes per token of latent attention [B/token]: one vector for K and V.

        k = n·c·e

    Args:
        layers: n.
        latent_width: c, compressed rank plus rotary part.
        bytes_per_element: e.

    Source: arXiv 2405.04434.
    """
    return layers * latent_width * bytes_per_element


def sparse_kv_bytes_read(
    *, context_tokens: Number, kv_bytes_per_token: Number, sparsity: Number
) -> Number:
    """Return the cache bytes a token reads when attention skips most of them [B/token].

        b = L·k / f

    Args:
        context_tokens: L.
        kv_bytes_per_token: k.
        sparsity: f, tokens kept over tokens read.

    Source: lecture C6-F7.
    """
    return context_tokens * kv_bytes_per_token / sparsity


def pass_time_per_token(
    *, pass_tokens: Number, compute_s_per_token: Number, memory_s: Number
) -> Number:
    """Return the time per token of a pass over several tokens of each sequence [s/token].

    Arithmetic grows with the pass, reading does not; decode is n = 1, prefill a large n:

        t = max(t_c, t_m / n)

    Args:
        pass_tokens: n.
        compute_s_per_token: t_c, arithmetic of one token.
        memory_s: t_m, reading of one pass.

    Source: lecture C6-F8.
    """
    return np.maximum(compute_s_per_token, memory_s / pass_tokens)


def output_input_ratio(*, memory_s: Number, compute_s_per_token: Number) -> Number:
    """Return output price over input price when each follows its own limit [1].

    It is also the pass length at which reading stops to bind:

        r = t_m / t_c

    Args:
        memory_s: t_m, reading of one decode pass.
        compute_s_per_token: t_c, arithmetic of one token.

    Source: lecture C6-F9.
    """
    return memory_s / compute_s_per_token


def decode_over_prefill_mfu(*, output_input_ratio: Number) -> Number:
    """Return decode utilisation over prefill utilisation [1].

        f = 1 / r

    Args:
        output_input_ratio: r.

    Source: lecture C6-F10.
    """
    return 1.0 / output_input_ratio


def attention_flop_slope(
    *, global_layers: Number, query_heads: Number, key_dim: Number, value_dim: Number
) -> Number:
    """Return the attention FLOP per token and token of context [FLOP/token].

    A multiply-add per element of each key, and again of each value:

        a = 2·n·q·(d_k + d_v)

    Args:
        global_layers: n, layers that see the whole context.
        query_heads: q.
        key_dim: d_k.
        value_dim: d_v.

    Source: lecture C6-F16, where d_k = d_v gives 4·n·q·d.
    """
    return roofline.FLOP_PER_PARAM * global_layers * query_heads * (key_dim + value_dim)


def flop_per_token(
    *, active_params: Number, attention_slope: Number, context_tokens: Number
) -> Number:
    """Return the FLOP of one token with attention kept [FLOP/token].

        C = 2·N_a + a·L

    Args:
        active_params: N_a.
        attention_slope: a.
        context_tokens: L.

    Source: lecture C6-F16.
    """
    return roofline.FLOP_PER_PARAM * active_params + attention_slope * context_tokens


def attention_crossover(*, active_params: Number, attention_slope: Number) -> Number:
    """Return the context at which attention costs as much as the weights [token].

        L = 2·N_a / a

    Args:
        active_params: N_a.
        attention_slope: a.

    Source: lecture C6-N18.
    """
    return roofline.FLOP_PER_PARAM * active_params / attention_slope


def input_over_output_rate(*, input_tokens_per_s: Number, output_tokens_per_s: Number) -> Number:
    """Return input over output throughput of a fleet [1].

        r = i / o

    Args:
        input_tokens_per_s: i.
        output_tokens_per_s: o.

    Source: lecture C6-N8.
    """
    return input_tokens_per_s / output_tokens_per_s


def batch_from_price_ratio(*, critical_batch: Number, output_input_ratio: Number) -> Number:
    """Return the decode batch implied when weight reads alone make output dear [seq].

        B = B* / r

    Args:
        critical_batch: B*.
        output_input_ratio: r.

    Source: lecture C6-N7.
    """
    return critical_batch / output_input_ratio


def context_from_price_ratio(
    *, balance_context_tokens: Number, output_input_ratio: Number
) -> Number:
    """Return the context implied when cache reads alone make output dear [token].

        L = r·L*

    Args:
        balance_context_tokens: L*.
        output_input_ratio: r.

    Source: lecture C6-N7.
    """
    return balance_context_tokens * output_input_ratio


def price_rise(*, price: Number, base_price: Number) -> Number:
    """Return the share by which one price exceeds another [1].

        f = p / p_0 - 1

    Args:
        price: p.
        base_price: p_0, same unit.

    Source: lecture C6-N1.
    """
    return price / base_price - 1.0


def price_multiple(*, price: Number, base_price: Number) -> Number:
    """Return one price in multiples of another [1].

        f = p / p_0

    Args:
        price: p.
        base_price: p_0, same unit.

    Source: lecture C6-N9.
    """
    return price / base_price
