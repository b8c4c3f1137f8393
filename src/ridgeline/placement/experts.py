"""Place and replicate experts: the lightest fullest rank first, then the least traffic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.placement import expert_packing, expert_traffic
from ridgeline.placement.expert_records import (
    Floats,
    Ints,
    Placement,
    RankTree,
    RoutingLog,
    initial_placement,
)

Progress = Callable[[str, float], None]
"""Called with what is being done and the part of it that is done."""


def place_experts(
    log: RoutingLog,
    tree: RankTree,
    *,
    num_redundant: int = 0,
    num_groups: int = 1,
    seed: int = 0,
    kicks: int = 60,
    progress: Progress | None = None,
) -> Placement:
    """Return a placement with a light fullest rank and, at that load, little traffic.

    Without sources or routes no placement changes the total traffic, and whole ranks are ordered
    so that racks, then nodes, compute and receive alike.

    Args:
        log: Tokens per layer and expert, and their sources or routes if known.
        tree: Ranks, nodes and racks.
        num_redundant: Copies beyond one per expert.
        num_groups: Expert groups whose members stay on one node (node-limited routing); 1: none.
        seed: Seed of the search; the same seed gives the same placement.
        kicks: Disturbances the search tries.
        progress: Told what is being done.

    Raises:
        InputError: slots do not fill the ranks, or groups do not fill the nodes.

    Source: first principles.
    """
    initial_placement(
        log.num_layers, log.num_experts, num_ranks=tree.num_ranks, num_redundant=num_redundant
    )
    _check_sources(log, tree.num_ranks)
    if seed < 0 or kicks < 0:
        raise InputError(f"seed and kicks must be at least 0: seed={seed}, kicks={kicks}.")
    rng = np.random.default_rng(seed)
    num_slots = log.num_experts + num_redundant

    def search(load: Floats, slots: int, ranks: int) -> Ints:
        def report(kick: int) -> None:
            if progress is not None:
                progress("balancing", kick / max(kicks, 1))

        return expert_packing.search(load, slots, ranks, rng=rng, kicks=kicks, report=report)

    if num_groups == 1:
        placed = search(log.load, num_slots, tree.num_ranks)
    else:
        _check_groups(log.num_experts, num_slots, num_groups, tree)
        placed = _by_group(log.load, num_slots, num_groups, tree, search)
    found = _placement(placed, log.num_experts)
    company = expert_traffic.affinity(log, tree.num_ranks)
    if tree.num_nodes == 1:
        return found
    if company is None:
        return _level(found, log.load, tree, grouped=num_groups > 1)
    if progress is not None:
        progress("keeping tokens at home", 0.0)
    return _nearer(found, log, tree, company, grouped=num_groups > 1)


def lower_bound(log: RoutingLog, tree: RankTree, *, num_redundant: int, num_groups: int) -> Floats:
    """Return a load that no placement's fullest rank goes below [token], [layers].

    With groups on nodes, the fullest node also has at least the bound of packing whole groups,
    and its fullest rank at least the mean of the node.

    Source: first principles; see expert_packing.lower_bound.
    """
    bound = expert_packing.lower_bound(log.load, log.num_experts + num_redundant, tree.num_ranks)
    if num_groups == 1:
        return bound
    groups = log.load.reshape(log.num_layers, num_groups, -1).sum(axis=2)
    node = expert_packing.lower_bound(groups, num_groups, tree.num_nodes)
    return np.maximum(bound, node / tree.ranks_per_node)


def _check_sources(log: RoutingLog, num_ranks: int) -> None:
    if log.by_source is not None and log.by_source.shape[1] != num_ranks:
        raise InputError(
            f"Counts by source must have one source per rank: {log.by_source.shape[1]} sources, "
            f"{num_ranks} ranks. Sum over sources, or give --ranks {log.by_source.shape[1]}."
        )
    if log.route_source is not None and int(log.route_source.max()) >= num_ranks:
        raise InputError(
            f"Sources of routes must be below {num_ranks} ranks: {int(log.route_source.max())}."
        )


def _check_groups(num_experts: int, num_slots: int, num_groups: int, tree: RankTree) -> None:
    if num_groups < 1 or num_experts % num_groups:
        raise InputError(f"groups must divide {num_experts} experts: {num_groups}.")
    if num_groups % tree.num_nodes:
        raise InputError(
            f"nodes must divide the groups, each node holding whole groups: {num_groups} groups "
            f"on {tree.num_nodes} nodes. Leave groups out to place experts freely."
        )
    per_node = num_slots // tree.num_nodes
    most = num_experts // tree.num_nodes * tree.ranks_per_node
    if per_node > most:
        raise InputError(
            f"redundant experts must leave at most {most} slots per node: {per_node}. "
            "More copies cannot help."
        )


def _placement(placed: Ints, num_experts: int) -> Placement:
    # Experts in order within a rank: slots of a rank are interchangeable.
    return Placement(
        physical_to_logical=np.sort(placed, axis=2).reshape(len(placed), -1),
        num_experts=num_experts,
        num_ranks=placed.shape[1],
    )


def _by_group(
    load: Floats,
    num_slots: int,
    num_groups: int,
    tree: RankTree,
    search: Callable[[Floats, int, int], Ints],
) -> Ints:
    """Return slots where whole groups sit on nodes: the better of two packings, per layer."""
    layers, num_experts = load.shape
    size = num_experts // num_groups
    group_load = load.reshape(layers, num_groups, size).sum(axis=2)
    names = np.tile(np.arange(num_groups), (layers, 1))
    greedy = expert_packing.pack(names, group_load, tree.num_nodes)
    results: list[Ints] = []
    peaks: list[Floats] = []
    for nodes in (greedy, expert_packing.improve_by_swaps(greedy, group_load)):
        experts: Ints = nodes[..., None] * size + np.arange(size, dtype=np.int64)
        experts = experts.reshape(layers * tree.num_nodes, -1)
        inner_load = np.repeat(load, tree.num_nodes, axis=0)
        inner_load = np.take_along_axis(inner_load, experts, axis=1)
        inner = search(inner_load, num_slots // tree.num_nodes, tree.ranks_per_node)
        placed = np.take_along_axis(experts, inner.reshape(len(inner), -1), axis=1)
        placed = placed.reshape(layers, tree.num_ranks, -1)
        results.append(placed)
        peaks.append(_placement(placed, num_experts).rank_loads(load).max(axis=1))
    better = peaks[1] < peaks[0]
    return np.where(better[:, None, None], results[1], results[0])


def _level(found: Placement, load: Floats, tree: RankTree, *, grouped: bool) -> Placement:
    """Return the placement with whole ranks (nodes, when grouped) ordered to level racks, nodes."""
    bundle = tree.ranks_per_node if grouped else 1
    for regions, domains in ((1, tree.num_racks), (tree.num_racks, tree.nodes_per_rack)):
        if grouped and domains == tree.nodes_per_rack:
            break
        loads = found.rank_loads(load).reshape(len(load) * regions, -1, bundle).sum(axis=2)
        items = np.tile(np.arange(loads.shape[1], dtype=np.int64), (len(loads), 1))
        order = expert_packing.pack(items, loads, domains)
        order = expert_packing.improve_by_swaps(order, loads).reshape(len(loads), -1, 1)
        table = found.physical_to_logical.reshape(*loads.shape, -1)
        table = np.take_along_axis(table, order, axis=1).reshape(len(load), -1)
        found = Placement(
            physical_to_logical=table, num_experts=found.num_experts, num_ranks=found.num_ranks
        )
    return found


def _nearer(
    found: Placement,
    log: RoutingLog,
    tree: RankTree,
    company: expert_traffic.Affinity,
    *,
    grouped: bool,
) -> Placement:
    """Return the placement after swaps that lower traffic and leave the fullest rank as light.

    First whole ranks (whole nodes, when groups own nodes) trade places between racks, then ranks
    between the nodes of a rack, then single slots; each step is kept per layer if it lowers
    traffic between racks, or leaves that and lowers traffic between nodes.
    """
    per_rack = tree.ranks_per_node * tree.nodes_per_rack
    steps: list[tuple[int, int, int]] = []  # ranks per bundle, per domain, per closed region
    if tree.num_racks > 1:
        steps.append((tree.ranks_per_node if grouped else 1, per_rack, tree.num_ranks))
    steps.append((tree.ranks_per_node if grouped else 1, tree.ranks_per_node, per_rack))
    for bundle, domain, region in steps:
        found = _keep_better(
            found, _swap_bundles(found, company, bundle, domain, region), log, tree
        )
    if grouped:
        return found
    for domain, region in ((per_rack, tree.num_ranks), (tree.ranks_per_node, per_rack)):
        new = _swap_slots(found, log.load, company, domain, region)
        found = _keep_better(found, new, log, tree)
    return found


def _keep_better(old: Placement, new: Placement, log: RoutingLog, tree: RankTree) -> Placement:
    per_rack = tree.ranks_per_node * tree.nodes_per_rack
    rack = [expert_traffic.crossing(log, p, tree, per_rack) for p in (old, new)]
    node = [expert_traffic.crossing(log, p, tree, tree.ranks_per_node) for p in (old, new)]
    peak = [p.rank_loads(log.load).max(axis=1) for p in (old, new)]
    same = 1e-9 * rack[0]
    better = (rack[1] < rack[0] - same) | ((rack[1] <= rack[0] + same) & (node[1] < node[0]))
    better &= peak[1] <= peak[0] * (1.0 + 1e-12)
    table = np.where(better[:, None], new.physical_to_logical, old.physical_to_logical)
    return Placement(
        physical_to_logical=table, num_experts=old.num_experts, num_ranks=old.num_ranks
    )


def _slot_affinity(
    found: Placement, company: expert_traffic.Affinity, ranks_per_domain: int
) -> tuple[Floats, Floats | None]:
    """Return pull [layers, slots, domains] and company [layers, slots, slots] of each copy."""
    table, copies = found.physical_to_logical, found.copies
    rows = np.arange(len(table))[:, None]
    pull = company.pull.reshape(len(table), -1, ranks_per_domain, found.num_experts).sum(axis=2)
    pull = (pull / copies[:, None, :]).transpose(0, 2, 1)[rows, table]
    if company.together is None:
        return pull, None
    pairs = company.together / (copies[:, :, None] * copies[:, None, :])
    return pull, pairs[rows[:, :, None], table[:, :, None], table[:, None, :]]


def _swap_bundles(
    found: Placement,
    company: expert_traffic.Affinity,
    bundle: int,
    ranks_per_domain: int,
    ranks_per_region: int,
) -> Placement:
    """Return the placement after bundles of whole ranks traded places within each region."""
    pull, pairs = _slot_affinity(found, company, ranks_per_domain)
    layers, slots, domains = pull.shape
    size = bundle * found.slots_per_rank
    items = slots // size
    pull = pull.reshape(layers, items, size, domains).sum(axis=2)
    if pairs is not None:
        pairs = pairs.reshape(layers, items, size, items, size).sum(axis=(2, 4))
        pairs[:, np.arange(items), np.arange(items)] = 0.0
    place = np.arange(items, dtype=np.int64) * bundle
    region = place // ranks_per_region

    def may_swap(_: Ints, at: int) -> NDArray[np.bool_]:
        return np.broadcast_to(region == region[at], (layers, items))

    order = expert_traffic.settle(pull, pairs, place // ranks_per_domain, may_swap)
    table = found.physical_to_logical.reshape(layers, items, size)
    table = np.take_along_axis(table, order[:, :, None], axis=1).reshape(layers, slots)
    return Placement(
        physical_to_logical=table, num_experts=found.num_experts, num_ranks=found.num_ranks
    )


def _swap_slots(
    found: Placement,
    load: Floats,
    company: expert_traffic.Affinity,
    ranks_per_domain: int,
    ranks_per_region: int,
) -> Placement:
    """Return the placement after slots traded places where no rank passes the fullest one."""
    table, slots_per_rank = found.physical_to_logical, found.slots_per_rank
    layers, slots = table.shape
    pull, pairs = _slot_affinity(found, company, ranks_per_domain)
    weight = np.take_along_axis(load / found.copies, table, axis=1)
    limit = found.rank_loads(load).max(axis=1, keepdims=True) * (1.0 + 1e-12)
    rank = np.arange(slots, dtype=np.int64) // slots_per_rank
    region = rank // ranks_per_region

    def may_swap(item: Ints, at: int) -> NDArray[np.bool_]:
        now = np.take_along_axis(weight, item, axis=1)
        loads = now.reshape(layers, -1, slots_per_rank).sum(axis=2)
        change = now - now[:, at, None]
        fits = (loads[:, rank[at], None] + change <= limit) & (loads[:, rank] - change <= limit)
        expert = np.take_along_axis(table, item, axis=1)
        by_rank = expert.reshape(layers, -1, slots_per_rank)
        mine = by_rank[:, rank[at]]
        repeats = (expert[:, :, None] == mine[:, None, :]).any(axis=2)
        repeats |= (by_rank == expert[:, at, None, None]).any(axis=2)[:, rank]
        return fits & ~repeats & (region == region[at])

    order = expert_traffic.settle(pull, pairs, rank // ranks_per_domain, may_swap)
    return Placement(
        physical_to_logical=np.take_along_axis(table, order, axis=1),
        num_experts=found.num_experts,
        num_ranks=found.num_ranks,
    )
