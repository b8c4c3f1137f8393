"""Chapter 6: where an idle cache should wait, or whether to compute it again.

Symbols: k cache bytes per token, C and W capacity and bandwidth of a tier, p rent, T hold time.
"""

from __future__ import annotations

from ridgeline.chalkboard import roofline
from ridgeline.chalkboard.roofline import Number


def rebuild_cost(
    *, active_params: Number, peak_flop_per_s: Number, mfu: Number, usd_per_s: Number
) -> Number:
    """Return the cost to compute one token's cache again [USD/token]; the square term is dropped.

        c = 2·N_a / (F·u)·p

    Args:
        active_params: N_a.
        peak_flop_per_s: F.
        mfu: u, utilisation of prefill.
        usd_per_s: p, rent of the device.

    Source: lecture C6-F11.
    """
    return roofline.FLOP_PER_PARAM * active_params / (peak_flop_per_s * mfu) * usd_per_s


def retrieve_cost(
    *, kv_bytes_per_token: Number, bandwidth_bytes_per_s: Number, usd_per_s: Number
) -> Number:
    """Return the cost to bring one token's cache into device memory [USD/token].

        c = k / W·p

    Args:
        kv_bytes_per_token: k.
        bandwidth_bytes_per_s: W of the tier; device memory itself costs nothing to retrieve.
        usd_per_s: p, rent of what is busy meanwhile.

    Source: lecture C6-F13.
    """
    return kv_bytes_per_token / bandwidth_bytes_per_s * usd_per_s


def hold_cost(
    *, kv_bytes_per_token: Number, capacity_bytes: Number, usd_per_s: Number, hold_s: Number
) -> Number:
    """Return the cost to keep one token's cache for a while [USD/token].

        c = k / C·p·T

    Args:
        kv_bytes_per_token: k.
        capacity_bytes: C of the tier.
        usd_per_s: p, rent of the tier.
        hold_s: T.

    Source: lecture C6-F12, C6-F13.
    """
    return kv_bytes_per_token / capacity_bytes * usd_per_s * hold_s


def hold_time_at_equal_cost(*, capacity_bytes: Number, bandwidth_bytes_per_s: Number) -> Number:
    """Return the hold time at which holding costs what retrieving costs [s]: the drain time.

        T = C / W

    Args:
        capacity_bytes: C.
        bandwidth_bytes_per_s: W.

    Source: lecture C6-F14.
    """
    return roofline.drain_time(
        capacity_bytes=capacity_bytes, bandwidth_bytes_per_s=bandwidth_bytes_per_s
    )


def rebuild_break_even(
    *,
    active_params: Number,
    peak_flop_per_s: Number,
    mfu: Number,
    capacity_bytes: Number,
    kv_bytes_per_token: Number,
) -> Number:
    """Return the hold time after which computing again is cheaper than device memory [s].

    The rent of the device cancels:

        T = 2·N_a / (F·u)·C / k

    Args:
        active_params: N_a.
        peak_flop_per_s: F.
        mfu: u.
        capacity_bytes: C of the device.
        kv_bytes_per_token: k.

    Source: lecture C6-F15.
    """
    compute_s = roofline.FLOP_PER_PARAM * active_params / (peak_flop_per_s * mfu)
    return compute_s * capacity_bytes / kv_bytes_per_token


def retrieval_over_hold(*, occupancy: Number, drain_s: Number) -> Number:
    """Return the time to read a cache that fills a share of its device [s].

        t = f·T

    Args:
        occupancy: f, share of the capacity.
        drain_s: T, drain time of the device, which is also its fitting hold time.

    Source: lecture C6-N21.
    """
    return occupancy * drain_s


def break_even_reads(*, write_multiple: Number, read_multiple: Number) -> Number:
    """Return the later reads after which a prompt cache has paid for itself [1].

    Solve w + f·n = 1 + n, where 1 is the plain input price:

        n = (w - 1) / (1 - f)

    Args:
        write_multiple: w, price of writing over plain input.
        read_multiple: f, price of a hit over plain input, below 1.

    Source: lecture C6-F17.
    """
    return (write_multiple - 1.0) / (1.0 - read_multiple)


def implied_hold_price(
    *, write_usd_per_token: Number, base_usd_per_token: Number, lifetime_s: Number
) -> Number:
    """Return the price of keeping a token's cache that the write premium implies [USD/(token·s)].

        h = (p_w - p_0) / T

    Args:
        write_usd_per_token: p_w.
        base_usd_per_token: p_0.
        lifetime_s: T, how long the cache is kept.

    Source: lecture C6-N12.
    """
    return (write_usd_per_token - base_usd_per_token) / lifetime_s
