"""Chapter 1: how batch size sets the speed and the cost of a token.

Symbols on the board: B sequences, N_t total and N_a active parameters, w bytes per parameter,
L context, k cache bytes per token, F peak, W bandwidth, C capacity, R balance ratio.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Number = float | NDArray[np.float64]

FLOP_PER_PARAM = 2.0
"""One multiply and one add per parameter and token. The board counts multiplies, so it has F/2."""


def compute_time(*, batch: Number, active_params: Number, peak_flop_per_s: Number) -> Number:
    """Return the arithmetic time of one step [s]; attention scores are left out.

        t = 2·B·N_a / F

    Args:
        batch: B, sequences advanced by one token.
        active_params: N_a, parameters one token multiplies with.
        peak_flop_per_s: F, dense peak at the precision used, over all devices.

    Source: lecture C1-F2.
    """
    return FLOP_PER_PARAM * batch * active_params / peak_flop_per_s


def weight_time(
    *, total_params: Number, bytes_per_param: Number, bandwidth_bytes_per_s: Number
) -> Number:
    """Return the time to read every weight once [s], whatever the batch: the latency floor.

        t = w·N_t / W

    Args:
        total_params: N_t, stored parameters.
        bytes_per_param: w, 2 for BF16, 1 for FP8, 0.5 for FP4.
        bandwidth_bytes_per_s: W, memory bandwidth over all devices.

    Source: lecture C1-F3, C1-F5.
    """
    return bytes_per_param * total_params / bandwidth_bytes_per_s


def kv_time(
    *,
    batch: Number,
    context_tokens: Number,
    kv_bytes_per_token: Number,
    bandwidth_bytes_per_s: Number,
) -> Number:
    """Return the time to read every sequence's own cache [s].

        t = B·L·k / W

    Args:
        batch: B, sequences.
        context_tokens: L, tokens in each cache.
        kv_bytes_per_token: k, cache bytes per token over all layers.
        bandwidth_bytes_per_s: W, memory bandwidth over all devices.

    Source: lecture C1-F3.
    """
    return batch * context_tokens * kv_bytes_per_token / bandwidth_bytes_per_s


def step_time(*, compute_s: Number, weights_s: Number, kv_s: Number) -> Number:
    """Return the least time of a step [s]: arithmetic and reading overlap perfectly.

        t = max(t_c, t_w + t_k)

    Args:
        compute_s: t_c, arithmetic.
        weights_s: t_w, weight reads.
        kv_s: t_k, cache reads.

    Source: lecture C1-F1.
    """
    return np.maximum(compute_s, weights_s + kv_s)


def token_cost(*, step_s: Number, batch: Number, usd_per_s: Number) -> Number:
    """Return the hardware cost of one output token [USD/token].

        c = t / B · p

    Args:
        step_s: t, time of one step.
        batch: B, tokens that come out of it.
        usd_per_s: p, rent of all the devices.

    Source: lecture C1-F4.
    """
    return step_s / batch * usd_per_s


def cost_floor(
    *,
    active_params: Number,
    peak_flop_per_s: Number,
    context_tokens: Number,
    kv_bytes_per_token: Number,
    bandwidth_bytes_per_s: Number,
    usd_per_s: Number,
) -> Number:
    """Return the token cost that no batch can go below [USD/token].

    Both terms belong to one sequence, so a larger batch amortises neither:

        c = max(2·N_a / F, L·k / W) · p

    Args:
        active_params: N_a.
        peak_flop_per_s: F.
        context_tokens: L.
        kv_bytes_per_token: k.
        bandwidth_bytes_per_s: W.
        usd_per_s: p.

    Source: lecture C1-F6.
    """
    one = np.ones_like(context_tokens, dtype=float)
    compute_s = compute_time(
        batch=one, active_params=active_params, peak_flop_per_s=peak_flop_per_s
    )
    kv_s = kv_time(
        batch=one,
        context_tokens=context_tokens,
        kv_bytes_per_token=kv_bytes_per_token,
        bandwidth_bytes_per_s=bandwidth_bytes_per_s,
    )
    return np.maximum(compute_s, kv_s) * usd_per_s


def balance_ratio(
    *, peak_flop_per_s: Number, bytes_per_param: Number, bandwidth_bytes_per_s: Number
) -> Number:
    """Return R, parameters multiplied per parameter read [1].

    It keeps its value when a narrower format doubles the peak and halves the bytes:

        R = (F / 2)·w / W

    Args:
        peak_flop_per_s: F, dense peak for weights of w bytes.
        bytes_per_param: w.
        bandwidth_bytes_per_s: W.

    Source: lecture C1-F7, C1-N5; `ridge_intensity` is the other number.
    """
    return peak_flop_per_s / FLOP_PER_PARAM * bytes_per_param / bandwidth_bytes_per_s


def ridge_intensity(*, peak_flop_per_s: Number, bandwidth_bytes_per_s: Number) -> Number:
    """Return the FLOP done per byte read when both limits are met [FLOP/B].

    It doubles with every halving of the number format; it is not R:

        I = F / W

    Args:
        peak_flop_per_s: F.
        bandwidth_bytes_per_s: W.

    Source: the roofline model, doi:10.1145/1498765.1498785.
    """
    return peak_flop_per_s / bandwidth_bytes_per_s


def critical_batch(*, balance_ratio: Number, total_params: Number, active_params: Number) -> Number:
    """Return the batch at which arithmetic takes as long as reading the weights [seq].

        B = R·N_t / N_a

    Args:
        balance_ratio: R.
        total_params: N_t.
        active_params: N_a; N_t/N_a is the sparsity s.

    Source: lecture C1-F7.
    """
    return balance_ratio * total_params / active_params


def balance_context(
    *,
    active_params: Number,
    bytes_per_param: Number,
    balance_ratio: Number,
    kv_bytes_per_token: Number,
) -> Number:
    """Return the context at which reading the cache alone takes as long as arithmetic [token].

        L* = w·N_a / (R·k)

    Args:
        active_params: N_a.
        bytes_per_param: w.
        balance_ratio: R.
        kv_bytes_per_token: k.

    Source: lecture C1-F8.
    """
    return bytes_per_param * active_params / (balance_ratio * kv_bytes_per_token)


def critical_batch_at_context(
    *,
    balance_ratio: Number,
    total_params: Number,
    active_params: Number,
    bytes_per_param: Number,
    context_tokens: Number,
    kv_bytes_per_token: Number,
) -> Number:
    """Return the critical batch with cache reads kept [seq]; infinite from L* upwards.

    A cache that does not grow (k = 0) leaves the critical batch as it is.

        B = R·N_t / (N_a - R·L·k / w)

    Args:
        balance_ratio: R.
        total_params: N_t.
        active_params: N_a.
        bytes_per_param: w.
        context_tokens: L.
        kv_bytes_per_token: k.

    Source: lecture C1-F8.
    """
    base = critical_batch(
        balance_ratio=balance_ratio, total_params=total_params, active_params=active_params
    )
    cache_share = (
        balance_ratio * context_tokens * kv_bytes_per_token / (bytes_per_param * active_params)
    )
    spare = 1.0 - np.minimum(cache_share, 1.0)
    with np.errstate(divide="ignore"):
        return base / spare


def mfu_at_context(*, context_tokens: Number, balance_context_tokens: Number) -> Number:
    """Return the utilisation of a step large enough to forget the weights [1].

        MFU = min(1, L* / L)

    Args:
        context_tokens: L.
        balance_context_tokens: L*.

    Source: lecture C1-N17.
    """
    return np.minimum(1.0, balance_context_tokens / context_tokens)


def drain_time(*, capacity_bytes: Number, bandwidth_bytes_per_s: Number) -> Number:
    """Return the time to read a memory once from end to end [s]: the train interval.

        T = C / W

    Args:
        capacity_bytes: C.
        bandwidth_bytes_per_s: W.

    Source: lecture C1-F9, C6-F14.
    """
    return capacity_bytes / bandwidth_bytes_per_s


def sparse_context(*, context_tokens: Number) -> Number:
    """Return the tokens read under the lecture's law for sparse attention [token].

        L_s = sqrt(L)

    Args:
        context_tokens: L.

    Source: lecture C1-F12; no constant is given, so only the growth means something.
    """
    return np.sqrt(context_tokens)


def expert_coverage(*, experts_per_token: Number, experts: Number, batch: Number) -> Number:
    """Return the share of routed experts that a batch touches under uniform routing [1].

        f = 1 - (1 - a / n)^B

    Args:
        experts_per_token: a, experts each token is routed to.
        experts: n, routed experts.
        batch: B, tokens routed independently.

    Source: first principles.
    """
    return 1.0 - (1.0 - experts_per_token / experts) ** batch


def sparsity(*, total_params: Number, active_params: Number) -> Number:
    """Return total over active parameters [1]; flashcards call the inverse by the same name.

        s = N_t / N_a

    Args:
        total_params: N_t, or routed experts.
        active_params: N_a, or experts per token.

    Source: lecture C1-N3, C1-N6.
    """
    return total_params / active_params


def kv_reads_per_write(*, context_tokens: Number) -> Number:
    """Return cache bytes read per cache byte written in one decode step [1].

        f = B·L·k / (B·k) = L

    Args:
        context_tokens: L.

    Source: lecture C1-N20.
    """
    return 1.0 * context_tokens


def active_equivalent_exponent(*, total_multiple: Number, active_multiple: Number) -> Number:
    """Return how active-equivalent size grows with total size in a routed model [1].

        e = ln(a) / ln(n)

    Args:
        total_multiple: n, experts over one expert.
        active_multiple: a, dense size of equal quality over active size.

    Source: lecture C1-N19; arXiv 2202.01169 for the pair behind it.
    """
    return np.log(active_multiple) / np.log(total_multiple)
