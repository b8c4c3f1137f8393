"""Query-key pairs, counted exactly: q new tokens over c cached ones.

A query at position p (counted from 1) sees some number of entries f(p); the new tokens sit at
positions c + 1 ... c + q, so every count is S(c + q) − S(c) with S(n) = f(1) + ... + f(n).
Hence prefill in chunks costs what prefill at once costs, for every kind of mask.
"""

from __future__ import annotations

import numpy as np

from ridgeline.model.work import Number


def causal_pairs(new_tokens: Number, context: Number) -> Number:
    """Return the pairs of causal attention: q·c + q(q + 1)/2 [pair].

    >>> causal_pairs(3, 10)
    36.0
    """
    return new_tokens * (context + (new_tokens + 1) / 2)


def _capped(n: Number, cap: int) -> Number:
    """Return Σ min(p, cap) over p = 1 ... n."""
    low = np.minimum(n, cap)
    return low * ((low + 1) / 2) + (n - low) * float(cap)


def window_pairs(new_tokens: Number, context: Number, window: int) -> Number:
    """Return the pairs when a query sees the last `window` tokens, itself included [pair].

    f(p) = min(p, w). The same count holds for top-k sparse attention with k = w.

    >>> float(window_pairs(3, 10, 4))
    12.0
    """
    return _capped(context + new_tokens, window) - _capped(context, window)


def chunk_pairs(new_tokens: Number, context: Number, window: int) -> Number:
    """Return the pairs when attention restarts at every multiple of `window` [pair].

    f(p) = (p − 1) mod w + 1.

    >>> float(chunk_pairs(3, 3, 4))
    7.0
    """

    def total(n: Number) -> Number:
        whole = np.floor_divide(n, window)
        rest = n - whole * window
        return whole * (window * (window + 1) / 2) + rest * ((rest + 1) / 2)

    return total(context + new_tokens) - total(context)


def compressed_pairs(
    new_tokens: Number, context: Number, ratio: int, top_k: int | None = None
) -> Number:
    """Return the pairs with entries that each stand for `ratio` whole past tokens [pair].

    f(p) = min(⌊p / r⌋, k); without top_k every entry is seen.

    >>> float(compressed_pairs(4, 4, 4)), float(compressed_pairs(8, 0, 2, 2))
    (5.0, 12.0)
    """

    def floors(n: Number) -> Number:
        whole = np.floor_divide(n, ratio)
        rest = n - whole * ratio
        return whole * ((whole - 1) * (ratio / 2) + rest + 1)

    def total(n: Number) -> Number:
        if top_k is None:
            return floors(n)
        # Below position k·r every floor is under the cap.
        low = np.minimum(n, top_k * ratio - 1)
        return floors(low) + (n - low) * float(top_k)

    return total(context + new_tokens) - total(context)
