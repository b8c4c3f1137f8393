"""Chapter 1: what a faster, dearer mode says about the batch behind it.

Two parameters explain a price and a speed ratio on the same hardware: how many times larger the
slow batch is, and how long the fast batch reads its cache in units of the weight reading.
"""

from __future__ import annotations

from ridgeline.chalkboard.roofline import Number


def batch_ratio(*, price_ratio: Number, speed_ratio: Number) -> Number:
    """Return the slow batch over the fast one [1] when price follows cost.

    Cost is time over batch, and time is one over speed:

        b = p·v

    Args:
        price_ratio: p, fast price over slow price.
        speed_ratio: v, fast speed over slow speed.

    Source: lecture C1-F13.
    """
    return price_ratio * speed_ratio


def fast_kv_share(*, batch_ratio: Number, speed_ratio: Number) -> Number:
    """Return the cache time of the fast batch in units of the weight time [1].

    Solve v = (1 + b·y) / (1 + y), both modes bound by memory:

        y = (v - 1) / (b - v)

    Args:
        batch_ratio: b, slow batch over fast batch, above v.
        speed_ratio: v, fast speed over slow speed.

    Source: lecture C1-N18.
    """
    return (speed_ratio - 1.0) / (batch_ratio - speed_ratio)


def slow_kv_fraction(*, batch_ratio: Number, fast_kv_share: Number) -> Number:
    """Return the share of the slow step spent reading cache [1].

        f = b·y / (1 + b·y)

    Args:
        batch_ratio: b.
        fast_kv_share: y.

    Source: lecture C1-N18.
    """
    return batch_ratio * fast_kv_share / (1.0 + batch_ratio * fast_kv_share)


def speed_ceiling(*, batch_ratio: Number, fast_kv_share: Number) -> Number:
    """Return the largest speed-up over the slow mode at any price [1]: only weights are read.

        v = 1 + b·y

    Args:
        batch_ratio: b.
        fast_kv_share: y.

    Source: lecture C1-N18.
    """
    return 1.0 + batch_ratio * fast_kv_share


def slow_saving(*, batch_ratio: Number, fast_kv_share: Number) -> Number:
    """Return the most that a still slower mode can save [1]: the weight share of the slow step.

        f = 1 / (1 + b·y)

    Args:
        batch_ratio: b.
        fast_kv_share: y.

    Source: lecture C1-N18.
    """
    return 1.0 / (1.0 + batch_ratio * fast_kv_share)
