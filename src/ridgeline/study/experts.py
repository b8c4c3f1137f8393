"""Where should each expert live? Routing counts in, a placement and what it saves out."""

from __future__ import annotations

from pathlib import Path

from ridgeline.errors import InputError
from ridgeline.model.formats import format_named
from ridgeline.placement.expert_records import Placement, RankTree, RoutingLog, initial_placement
from ridgeline.placement.expert_result import ExpertsResult, Measured
from ridgeline.placement.expert_traffic import crossing, inbound
from ridgeline.placement.experts import Progress, lower_bound, place_experts
from ridgeline.readers.routing import read_routing


def experts(
    routing: Path,
    *,
    ranks: int,
    ranks_per_node: int | None = None,
    nodes_per_rack: int | None = None,
    num_redundant: int = 0,
    num_groups: int = 1,
    hidden_size: int | None = None,
    dispatch_format: str = "fp8",
    combine_format: str = "bf16",
    tokens: float | None = None,
    seed: int = 0,
    kicks: int = 60,
    progress: Progress | None = None,
) -> ExpertsResult:
    """Return a placement of the experts in a routing file over ranks, nodes and racks.

    Raises:
        InputError: a bad file, or numbers that do not divide.
    """
    if ranks < 1:
        raise InputError(f"ranks must be at least 1: {ranks}.")
    per_node = ranks if ranks_per_node is None else ranks_per_node
    per_rack = max(1, ranks // max(per_node, 1)) if nodes_per_rack is None else nodes_per_rack
    tree = RankTree(num_ranks=ranks, ranks_per_node=per_node, nodes_per_rack=per_rack)
    log = read_routing(routing, num_ranks=ranks)
    initial = initial_placement(
        log.num_layers, log.num_experts, num_ranks=ranks, num_redundant=num_redundant
    )
    placement = place_experts(
        log,
        tree,
        num_redundant=num_redundant,
        num_groups=num_groups,
        seed=seed,
        kicks=kicks,
        progress=progress,
    )
    bound = lower_bound(log, tree, num_redundant=num_redundant, num_groups=num_groups)
    return ExpertsResult(
        source=routing.name,
        tree=tree,
        log=log,
        num_redundant=num_redundant,
        num_groups=num_groups,
        placement=placement,
        before=_measured(log, tree, initial),
        after=_measured(log, tree, placement),
        bound=bound * ranks / log.load.sum(axis=1),
        message_bytes=_message_bytes(hidden_size, dispatch_format, combine_format),
        tokens=_positive(tokens, "tokens"),
        flags=(*log.flags, *_flags(log, tree, placement)),
    )


def _measured(log: RoutingLog, tree: RankTree, placement: Placement) -> Measured:
    loads = placement.rank_loads(log.load)
    per_rack = tree.ranks_per_node * tree.nodes_per_rack
    racks = inbound(placement, log.load, per_rack)
    return Measured(
        rank_loads=loads,
        imbalance=loads.max(axis=1) / loads.mean(axis=1),
        rack_imbalance=racks.max(axis=1) / racks.mean(axis=1),
        cross_rack=crossing(log, placement, tree, per_rack),
        cross_node=crossing(log, placement, tree, tree.ranks_per_node),
    )


def _message_bytes(hidden_size: int | None, dispatch: str, combine: str) -> float | None:
    bits = format_named(dispatch).bits_per_weight + format_named(combine).bits_per_weight
    size = _positive(hidden_size, "hidden size")
    return None if size is None else size * bits / 8.0


def _positive(value: float | None, what: str) -> float | None:
    # Not <=: NaN must be refused too.
    if value is not None and not 0 < value < float("inf"):
        raise InputError(f"{what} must be above 0 and finite: {value}.")
    return value


def _flags(log: RoutingLog, tree: RankTree, placement: Placement) -> list[str]:
    flags: list[str] = []
    if tree.num_nodes > 1 and log.by_source is None and log.routes is None:
        flags.append(
            "sources unknown: every rank sends equally, so total traffic is the same for every "
            "placement; give counts by source, or routes, to lower it"
        )
    if tree.num_nodes > 1 and log.routes is not None:
        flags.append("a token is sent once to each node or rack that holds any of its experts")
    table = placement.physical_to_logical.reshape(log.num_layers, tree.num_ranks, -1)
    table.sort(axis=2)
    wasted = int((table[:, :, 1:] == table[:, :, :-1]).sum())
    if wasted:
        flags.append(f"{wasted} slots repeat an expert that their rank already holds")
    return flags
