"""Tokens that leave a node or a rack, and swaps that keep them at home.

A message is one token's activation sent to one expert and its result sent back. Copies of an
expert share its tokens evenly, so of expert e's tokens the part f[e, d] goes to domain d (a node
or a rack), where f is the part of its copies there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ridgeline.placement.expert_records import Floats, Ints, Placement, RankTree, RoutingLog

_CHUNK = 2048


def share_per_domain(placement: Placement, ranks_per_domain: int) -> Floats:
    """Return the part of each expert's copies in each domain [1], [layers, experts, domains].

    Source: first principles.
    """
    table = placement.physical_to_logical
    layers, slots = table.shape
    domain = np.arange(slots, dtype=np.int64) // (placement.slots_per_rank * ranks_per_domain)
    counts = np.zeros((layers, placement.num_experts, int(domain[-1]) + 1))
    np.add.at(counts, (np.arange(layers, dtype=np.int64)[:, None], table, domain[None, :]), 1.0)
    return counts / placement.copies[:, :, None]


def crossing(
    log: RoutingLog, placement: Placement, tree: RankTree, ranks_per_domain: int
) -> Floats:
    """Return the messages that leave their domain [message], [layers].

    From counts, every chosen expert is one message: with sources s in domain d(s)

        Σ_s Σ_e n[s, e] (1 - f[e, d(s)])

    and with sources unknown n[s, e] = w_e / ranks, which gives W (1 - 1/domains) for every
    placement. From single routes, a token is sent once to each other domain that holds any of
    its experts, and copies are picked independently:

        Σ_t Σ_{d ≠ d(t)} 1 - Π_{e of t} (1 - f[e, d])

    scaled from the routes given to the tokens in `load`.

    Args:
        log: What routers chose.
        placement: Where copies live.
        tree: Ranks, nodes and racks.
        ranks_per_domain: Ranks in a node, or in a rack.

    Source: first principles.
    """
    share = share_per_domain(placement, ranks_per_domain)
    if log.routes is not None and log.route_source is not None:
        return _crossing_of_routes(log, share, log.routes, log.route_source // ranks_per_domain)
    if log.by_source is None:
        return log.load.sum(axis=1) * (1.0 - 1.0 / share.shape[2])
    home = np.arange(tree.num_ranks) // ranks_per_domain
    return np.einsum("lse,les->l", log.by_source, 1.0 - share[:, :, home])


def _crossing_of_routes(log: RoutingLog, share: Floats, routes: Ints, home: Ints) -> Floats:
    total = np.zeros(log.num_layers)
    for layer in range(log.num_layers):
        for start in range(0, len(routes), _CHUNK):
            experts = routes[start : start + _CHUNK, layer]
            reached = 1.0 - np.prod(1.0 - share[layer][experts], axis=1)
            own = reached[np.arange(len(reached)), home[start : start + _CHUNK]]
            total[layer] += reached.sum() - own.sum()
    return total * log.load.sum(axis=1) / (routes.shape[0] * routes.shape[2])


def inbound(placement: Placement, load: Floats, ranks_per_domain: int) -> Floats:
    """Return the load computed in each domain [token], [layers, domains].

    Source: first principles.
    """
    loads = placement.rank_loads(load)
    return loads.reshape(len(loads), -1, ranks_per_domain).sum(axis=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Affinity:
    """What experts gain from company: sources and each other."""

    pull: Floats
    """Tokens per expert from each source rank, [layers, source ranks, experts]."""
    together: Floats | None
    """Tokens that two experts share, [layers, experts, experts]; None: unknown."""


def affinity(log: RoutingLog, num_ranks: int) -> Affinity | None:
    """Return source and company of experts, or None when the log knows neither.

    Source: first principles.
    """
    if log.routes is None or log.route_source is None:
        return None if log.by_source is None else Affinity(pull=log.by_source, together=None)
    layers, experts = log.load.shape
    together = np.zeros((layers, experts, experts))
    pull = np.zeros((layers, num_ranks, experts))
    top_k = log.routes.shape[2]
    scale = log.load.sum(axis=1) / (log.routes.shape[0] * top_k)
    for layer in range(layers):
        chosen = log.routes[:, layer]
        np.add.at(pull[layer], (log.route_source[:, None], chosen), scale[layer])
        for k in range(top_k):
            np.add.at(together[layer], (chosen[:, k, None], chosen), scale[layer])
        np.fill_diagonal(together[layer], 0.0)
    return Affinity(pull=pull, together=together)


def settle(
    pull: Floats,
    together: Floats | None,
    home: Ints,
    may_swap: Callable[[Ints, int], NDArray[np.bool_]],
    *,
    sweeps: int = 3,
) -> Ints:
    """Return an order of items over fixed places that keeps more tokens at home.

    Items are visited in turn and each swaps with the partner that saves the most messages:
    its pull in the new domain, plus company there, minus what both leave behind.

    Args:
        pull: Tokens an item draws from each domain, [layers, items, domains].
        together: Tokens that two items share, [layers, items, items].
        home: Domain of each place, [places].
        may_swap: Given the item at each place and one place, whether what stands there may swap
            with what stands at each place, [layers, places].
        sweeps: Visits of every item at most.

    Returns:
        Item at each place, [layers, places].

    Source: kernighan1970.
    """
    layers, items, domains = pull.shape
    rows = np.arange(layers, dtype=np.int64)
    item: Ints = np.tile(np.arange(items, dtype=np.int64), (layers, 1))
    where = np.eye(domains)[home]
    bond = pull.copy() if together is None else pull + together @ where
    least = 1e-9 * (1.0 + np.abs(bond).max())  # below it a gain is a rounding error
    for _ in range(sweeps):
        moved = False
        for place in range(items):
            mine, here = item[:, place], home[place]
            theirs = np.take_along_axis(bond, item[:, :, None], axis=1)
            away = theirs[rows[:, None], np.arange(items), home[None, :]]
            gain = bond[rows, mine][:, home] - bond[rows, mine, here][:, None]
            gain += theirs[:, :, here] - away
            if together is not None:
                gain -= 2.0 * together[rows[:, None], mine[:, None], item]
            gain[:, home == here] = 0.0
            gain[~may_swap(item, place)] = 0.0
            partner = gain.argmax(axis=1)
            act = np.flatnonzero(gain[rows, partner] > least)
            if not len(act):
                continue
            moved = True
            there, other = home[partner[act]], item[act, partner[act]]
            if together is not None:
                change = together[act, other] - together[act, mine[act]]
                bond[act, :, here] += change
                bond[act, :, there] -= change
            item[act, place], item[act, partner[act]] = other, mine[act]
        if not moved:
            break
    return item
