"""How many devices and nodes one token's expert copies reach."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ridgeline.model.work import Number, Routing


def expected_domains(routing: Routing, domains: Number) -> Number:
    """Return how many of `domains` equal parts [1] a token's top-k copies are expected to reach.

    Experts are spread evenly and in order over the parts and chosen uniformly without
    repetition. Without groups, a part holding E/D of the E experts is missed with probability
    C(E − E/D, k)/C(E, k), so

        D · (1 − Π_{j<k} (1 − (E/D)/(E − j)))

    With node-limited routing only g of G groups are open. Parts finer than a group: D·g/G are
    open, with E·g/G experts. Parts coarser: D·(1 − C(G − G/D, g)/C(G, g)) are expected open.

    Args:
        routing: E experts, top-k, G groups of which g are chosen.
        domains: D, parts (ranks, nodes, racks).

    Source: first principles (hypergeometric occupancy).

    >>> round(float(expected_domains(Routing(top_k=8, num_experts=256), 18)), 2)
    6.68
    """
    parts = np.asarray(domains, dtype=float)
    groups = np.asarray(routing.num_groups, dtype=float)
    chosen = np.asarray(routing.top_groups, dtype=float)
    share = chosen / groups
    coarse = parts * (1 - _miss(groups, chosen, groups / parts))
    open_parts = np.where(parts >= groups, np.maximum(1.0, parts * share), coarse)
    experts = np.asarray(routing.num_experts, dtype=float) * share
    reached = open_parts * (1 - _miss(experts, routing.top_k, experts / open_parts))
    # Parts of less than one expert (copies of it elsewhere): never more parts than copies.
    return np.minimum(reached, routing.top_k)


def _miss(total: Number, draws: Number, marked: Number) -> Number:
    """Probability that none of `draws` out of `total` is one of the `marked`."""
    if np.ndim(total) == np.ndim(draws) == np.ndim(marked) == 0:
        return _miss_once(float(total), float(draws), float(marked))
    product = np.ones(np.broadcast_shapes(np.shape(total), np.shape(draws), np.shape(marked)))
    for j in range(math.ceil(np.max(draws))):
        left = np.maximum(np.subtract(total, j), 1e-12)
        step = np.clip(1 - np.divide(marked, left), 0.0, 1.0)
        # A mean of copies need not be whole: the last draw happens with the rest's probability.
        product = product * (1 - (1 - step) * np.clip(np.subtract(draws, j), 0.0, 1.0))
    return product


@lru_cache(maxsize=4096)
def _miss_once(total: float, draws: float, marked: float) -> float:
    """The same of plain numbers, a hundred times faster."""
    product = 1.0
    for j in range(math.ceil(draws)):
        hit = min(1.0, max(0.0, marked / max(total - j, 1e-12)))
        product *= 1.0 - hit * min(1.0, max(0.0, draws - j))
    return product
