"""How unequal expert-parallel ranks are: the fullest rank over the mean, by chance and by taste.

T  tokens in the layer's step      k  experts per token      n  experts      R  ranks
q  probability that a token picks an expert, Σ q = k
By chance alone (all q equal) few tokens load ranks unequally; by taste (Zipf popularity) some
ranks stay fuller however many tokens there are.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.model.architecture import Experts
from ridgeline.model.layout import Layout
from ridgeline.model.operations_moe import Imbalance
from ridgeline.model.work import Number

Floats = NDArray[np.float64]

_DISCRETE = 64.0
"""Mean load of the fullest rank up to which loads are counted one by one."""
_STEPS = 160
_DEALS = 2048
_DEALS_WITH_CHANCE = 32
_TABLE = np.unique(np.concatenate([np.arange(0.0, 4.0, 0.125), np.arange(4.0, 25.0, 0.5)]))
"""log2 of the tokens at which factors are tabulated; 2^24 and more count as the last."""
_Z = np.linspace(-9.0, 9.0, 4501)
_PHI = np.array([0.5 * math.erfc(-z / math.sqrt(2.0)) for z in _Z.tolist()])


def load_imbalance(
    *,
    tokens: Number,
    num_experts: int,
    top_k: int,
    ranks: int,
    zipf_exponent: float = 0.0,
) -> Floats:
    """Return the expected load of the fullest rank over the mean rank [1].

    Every rank holds n/R experts, one copy each. Popularity falls as rank^-exponent over experts
    that are dealt to ranks at random (fixed deals). Loads of ranks are taken as independent
    with the mean T Σq and variance T n/(n-1) Σq(1-q), which reproduces the fixed total of a
    uniform router: E max = Σ_x (1 - Π_r F_r(x)).

    Against simulated routers, 236 points of 8 to 256 experts on 4 to 256 ranks, exponents 0 to 1,
    1 to 4096 tokens: median error 0.7 % (the simulation's own 1 %); worst 4 % from 16 tokens on,
    14 % for a single token.

    Args:
        tokens: T, of all ranks together; at least 1.
        num_experts: n.
        top_k: k.
        ranks: R; must divide n for a skewed router.
        zipf_exponent: 0 is uniform.

    Raises:
        InputError: top_k or ranks outside 1..n, a negative exponent, or below 1 token.

    Source: first principles.
    """
    _check(num_experts, top_k, ranks, zipf_exponent)
    count = np.asarray(tokens, dtype=np.float64)
    # Not <: NaN must be refused too.
    if not np.all(count >= 1):
        raise InputError("tokens must be at least 1.")
    if zipf_exponent == 0:
        chosen = top_k / num_experts
        mean = np.array([top_k / ranks])
        spread = mean * (1.0 - chosen)
        return _ratio(count, mean, spread, num_experts, top_k, ranks)
    mean, spread, taste = _dealt(num_experts, top_k, ranks, float(zipf_exponent))
    each = [_ratio(count, m, s, num_experts, top_k, 1) for m, s in zip(mean, spread, strict=True)]
    # Chance from a few deals, taste alone (cheap) from many: the few deals' own taste cancels.
    few = (mean.max(axis=1) / mean.mean(axis=1)).mean()
    return np.maximum(np.mean(each, axis=0) - few + taste, 1.0)


def expert_imbalance(zipf_exponent: float = 0.0) -> Imbalance:
    """Return a function of (experts, tokens, layout) for `operations`, over arrays of both.

    `load_imbalance` of the physical experts, interpolated in log tokens (within 1 % of it).
    A redundant copy counts as an expert of its own, with a popularity of its own.

    Args:
        zipf_exponent: 0 is a uniform router.

    Source: first principles.
    """

    def imbalance(experts: Experts, tokens: Number, layout: Layout) -> Number:
        ranks = np.asarray(layout.ep)
        slots = experts.num_experts + np.asarray(layout.num_redundant_experts)
        shape = np.broadcast_shapes(ranks.shape, slots.shape, np.shape(tokens))
        ranks, slots = np.broadcast_to(ranks, shape), np.broadcast_to(slots, shape)
        depth = np.broadcast_to(np.log2(np.maximum(tokens, 1.0)), shape)
        factor = np.ones(shape)
        for r, n in sorted(set(zip(ranks.ravel().tolist(), slots.ravel().tolist(), strict=True))):
            if r > 1:
                here = (ranks == r) & (slots == n)
                top_k = min(experts.num_experts_per_tok, n)
                table = _tabulated(n, top_k, r, float(zipf_exponent))
                factor = np.where(here, np.interp(depth, _TABLE, table), factor)
        return factor[()]

    return imbalance


@lru_cache(maxsize=1024)
def _tabulated(num_experts: int, top_k: int, ranks: int, exponent: float) -> Floats:
    return load_imbalance(
        tokens=2.0**_TABLE,
        num_experts=num_experts,
        top_k=top_k,
        ranks=ranks,
        zipf_exponent=exponent,
    )


def distinct_experts(
    *, tokens: Number, num_experts: int, top_k: int, ranks: int = 1, zipf_exponent: float = 0.0
) -> Floats:
    """Return the experts of one rank that T tokens visit, on average over ranks [expert].

    Σ over experts of 1 - (1 - q)^T, over R; a skewed router visits fewer than a uniform one.

    Args:
        tokens: T, of all ranks together.
        num_experts: n.
        top_k: k.
        ranks: R.
        zipf_exponent: 0 is uniform.

    Raises:
        InputError: top_k or ranks outside 1..n, or a negative exponent.

    Source: first principles.
    """
    _check(num_experts, top_k, ranks, zipf_exponent)
    q = inclusion(zipf_popularity(num_experts, zipf_exponent), top_k)
    count = np.asarray(tokens, dtype=np.float64)[..., None]
    return (1.0 - (1.0 - q) ** count).sum(axis=-1) / ranks


def zipf_popularity(num_experts: int, exponent: float) -> Floats:
    """Return popularity p ∝ i^-exponent of experts i = 1..n, summing to 1 [1], [experts].

    Source: zipf1949.
    """
    weight = np.arange(1, num_experts + 1, dtype=np.float64) ** -exponent
    return weight / weight.sum()


def inclusion(popularity: Floats, top_k: int) -> Floats:
    """Return the probability that a token picks each expert when it picks k different ones [1].

    Experts race with exponential rates p (a softmax router with Gumbel noise), and the first k
    are picked: e is among them if fewer than k others arrive before it,

        q_e = ∫ P(N_-e(t) < k) d(1 - exp(-p_e t)),  Σ q_e = k

    where the arrivals N_-e(t) of the others are counted exactly and t in 240 steps.

    Args:
        popularity: p, all above 0, [experts].
        top_k: k, at most the number of experts.

    Source: efraimidis2006.
    """
    n = len(popularity)
    if top_k == n:
        return np.ones_like(popularity)
    scale = top_k / n / float(np.exp(np.log(popularity).mean()))
    time = np.concatenate([[0.0], scale * np.geomspace(1e-5, 1e3, 240)])
    arrived = -np.expm1(-popularity[:, None] * time)
    before = _arrivals(arrived, top_k)[:-1]
    after = _arrivals(arrived[::-1], top_k)[-2::-1]
    # P(fewer than k) = Σ_i P(i of the experts before e) P(at most k - 1 - i of those after e)
    fewer = (before * np.cumsum(after, axis=1)[:, ::-1]).sum(axis=1)
    q = (np.diff(arrived, axis=1) * 0.5 * (fewer[:, 1:] + fewer[:, :-1])).sum(axis=1)
    return q * (top_k / q.sum())


def _arrivals(arrived: Floats, top_k: int) -> Floats:
    """Return P(i of the first e experts have arrived), [experts + 1, i < k, times]."""
    found = np.zeros((len(arrived) + 1, top_k, arrived.shape[1]))
    found[0, 0] = 1.0
    for e, chance in enumerate(arrived):
        found[e + 1] = found[e] * (1.0 - chance)
        found[e + 1, 1:] += found[e, :-1] * chance
    return found


def _check(num_experts: int, top_k: int, ranks: int, exponent: float) -> None:
    if not 1 <= top_k <= num_experts:
        raise InputError(f"top_k must be from 1 to {num_experts} experts: {top_k}.")
    if not 1 <= ranks <= num_experts:
        raise InputError(
            f"ranks must be from 1 to {num_experts} experts: {ranks}. Use fewer, or redundancy."
        )
    # Not <: NaN must be refused too.
    if not 0 <= exponent < 10:
        raise InputError(f"zipf_exponent must be from 0 to below 10: {exponent}.")
    if exponent and num_experts % ranks:
        raise InputError(f"ranks must divide {num_experts} experts: {ranks}.")


@lru_cache(maxsize=256)
def _dealt(
    num_experts: int, top_k: int, ranks: int, exponent: float
) -> tuple[Floats, Floats, float]:
    """Return Σq and Σq(1-q) per rank [deals, ranks], and the mean of max Σq over mean Σq."""
    q = inclusion(zipf_popularity(num_experts, exponent), top_k)
    rng = np.random.default_rng(0)
    deals = rng.permuted(np.tile(q, (_DEALS, 1)), axis=1).reshape(_DEALS, ranks, -1)
    mean = deals.sum(axis=2)
    taste = float((mean.max(axis=1) / mean.mean(axis=1)).mean())
    spread = (deals * (1.0 - deals)).sum(axis=2)
    return mean[:_DEALS_WITH_CHANCE], spread[:_DEALS_WITH_CHANCE], taste


def _ratio(
    tokens: Floats, mean: Floats, spread: Floats, num_experts: int, top_k: int, times: int
) -> Floats:
    """Return E max / mean for ranks of mean T·`mean`, each standing for `times` equal ones."""
    load = tokens[..., None] * mean
    factor = num_experts / max(num_experts - 1, 1)
    variance = tokens[..., None] * spread * factor
    top = load.max(axis=-1)
    few = top <= _DISCRETE
    result = np.empty(tokens.shape)
    result[few] = _maximum_by_count(load[few], variance[few], times)
    result[~few] = _maximum_by_normal(load[~few], variance[~few], times)
    # A rank gets at most one pick per expert it holds, and k, from each token.
    most = np.maximum(tokens * min(top_k, -(-num_experts // (mean.shape[-1] * times))), top)
    return np.clip(result, top, most) / load.mean(axis=-1)


def _maximum_by_count(load: Floats, variance: Floats, times: int) -> Floats:
    """Return E max of counts: binomial of any order, Poisson where variance reaches the mean."""
    if not load.size:
        return np.zeros(load.shape[:-1])
    p = np.clip(1.0 - variance / load, 1e-12, 1.0 - 1e-12)
    x = np.arange(_STEPS, dtype=np.float64)
    # pmf(x+1)/pmf(x) = (μ - x p) / ((x + 1)(1 - p)); pmf(0) = (1 - p)^(μ/p)
    left = np.maximum(load[..., None] - x * p[..., None], 0.0)
    with np.errstate(divide="ignore"):
        ratio = np.log(left) - np.log((x + 1.0) * (1.0 - p[..., None]))
    start = load / p * np.log1p(-p)
    log_pmf = start[..., None] + np.concatenate(
        [np.zeros((*load.shape, 1)), np.cumsum(ratio, axis=-1)[..., :-1]], axis=-1
    )
    below = np.minimum(np.cumsum(np.exp(log_pmf), axis=-1), 1.0)
    above = 1.0 - np.prod(below**times, axis=-2)
    # Some rank holds at least one pick: certain, whatever independent ranks say.
    above[..., 0] = 1.0
    return above.sum(axis=-1)


def _maximum_by_normal(load: Floats, variance: Floats, times: int) -> Floats:
    """Return E max of sums with a normal's tails, skewed by Wilson and Hilferty's cube root."""
    if not load.size:
        return np.zeros(load.shape[:-1])
    sigma = np.sqrt(np.maximum(variance, 1e-30))
    low = (load - 9.0 * sigma).max(axis=-1)
    high = (load + 9.0 * sigma).max(axis=-1)
    x = low[..., None] + (high - low)[..., None] * np.linspace(0.0, 1.0, 2 * _STEPS)
    y = (x[..., None, :] - load[..., None]) / sigma[..., None]
    # Skewness of a binomial: (1 - 2p)/σ with 1 - p = variance / mean.
    skew = ((2.0 * variance / load - 1.0) / sigma)[..., None]
    skew = np.where(np.abs(skew) < 1e-6, 1e-6, skew)
    root = np.cbrt(np.maximum(1.0 + 0.5 * skew * y, 0.0))
    below = np.asarray(
        np.interp(6.0 / skew * (root - 1.0) + skew / 6.0, _Z, _PHI), dtype=np.float64
    )
    above = 1.0 - np.prod(below**times, axis=-2)
    step = (high - low) / (2 * _STEPS - 1)
    return low + (above.sum(axis=-1) - 0.5 * (above[..., 0] + above[..., -1])) * step
