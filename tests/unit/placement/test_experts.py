"""Placements over nodes and racks: groups, traffic and the words of EPLB."""

import numpy as np
import pytest

from ridgeline.errors import InputError
from ridgeline.placement.expert_records import Placement, RankTree, RoutingLog, initial_placement
from ridgeline.placement.expert_traffic import crossing, share_per_domain
from ridgeline.placement.experts import lower_bound, place_experts

TREE = RankTree(num_ranks=8, ranks_per_node=2, nodes_per_rack=2)


def _log(seed=0, layers=3, experts=16, tokens=400, top_k=2):
    """Tokens of rank r mostly choose experts near 2 r mod 16 in a shuffled order."""
    rng = np.random.default_rng(seed)
    source = np.arange(tokens) * 8 // tokens
    routes = np.empty((tokens, layers, top_k), dtype=np.int64)
    for layer in range(layers):
        names = rng.permutation(experts)
        for t in range(tokens):
            near = (2 * source[t] + rng.permutation(4)[:top_k]) % experts
            far = rng.permutation(experts)[:top_k]
            routes[t, layer] = names[near if rng.random() < 0.7 else far]
    load = np.stack([np.bincount(routes[:, n].ravel(), minlength=experts) for n in range(layers)])
    return RoutingLog(load=load.astype(float), routes=routes, route_source=source)


def _by_source(log):
    by_source = np.zeros((log.num_layers, 8, log.num_experts))
    for layer in range(log.num_layers):
        np.add.at(by_source[layer], (log.route_source[:, None], log.routes[:, layer]), 1.0)
    return RoutingLog(load=log.load, by_source=by_source)


def test_maps_have_the_meaning_of_eplb():
    """Slots 0 1 | 2 0 on two ranks: expert 0 in slots 0 and 3."""
    place = Placement(physical_to_logical=np.array([[0, 1, 2, 0]]), num_experts=3, num_ranks=2)
    assert place.copies.tolist() == [[2, 1, 1]]
    assert place.logical_to_physical.tolist() == [[[0, 3], [1, -1], [2, -1]]]
    assert place.rank_loads(np.array([[4.0, 1.0, 5.0]])).tolist() == [[3.0, 7.0]]


def test_initial_placement_repeats_from_expert_0():
    place = initial_placement(1, 4, num_ranks=3, num_redundant=2)
    assert place.physical_to_logical.tolist() == [[0, 1, 2, 3, 0, 1]]


def test_unknown_sources_cross_by_the_number_of_racks_alone():
    log = RoutingLog(load=np.random.default_rng(0).random((2, 16)))
    place = place_experts(log, TREE, num_redundant=8)
    assert crossing(log, place, TREE, 4) == pytest.approx(log.load.sum(axis=1) / 2)
    assert crossing(log, place, TREE, 2) == pytest.approx(log.load.sum(axis=1) * 3 / 4)


def test_crossing_by_source_by_pencil():
    """Rank 0 sends 6 to expert 0 (copies on both racks) and 4 to expert 1 (other rack): 3 + 4."""
    tree = RankTree(num_ranks=2, ranks_per_node=1, nodes_per_rack=1)
    place = Placement(physical_to_logical=np.array([[0, 2, 0, 1]]), num_experts=3, num_ranks=2)
    by_source = np.array([[[6.0, 4.0, 1.0], [0.0, 0.0, 0.0]]])
    log = RoutingLog(load=by_source.sum(axis=1), by_source=by_source)
    assert crossing(log, place, tree, 1).tolist() == [7.0]


def test_crossing_of_routes_sends_a_token_once_to_a_rack():
    """Both experts of the token are on the other rack: one message, not two; scaled to load 2."""
    tree = RankTree(num_ranks=2, ranks_per_node=1, nodes_per_rack=1)
    place = Placement(physical_to_logical=np.array([[0, 1, 2, 3]]), num_experts=4, num_ranks=2)
    log = RoutingLog(
        load=np.array([[0.0, 0.0, 1.0, 1.0]]),
        routes=np.array([[[2, 3]]]),
        route_source=np.array([0]),
    )
    assert crossing(log, place, tree, 1).tolist() == [1.0]


def test_shares_sum_to_one():
    place = place_experts(_log(), TREE, num_redundant=8)
    assert share_per_domain(place, 2).sum(axis=2) == pytest.approx(np.ones((3, 16)))


@pytest.mark.parametrize("known", ["routes", "sources"])
@pytest.mark.parametrize("redundant", [0, 8])
def test_knowing_sources_lowers_traffic_and_leaves_the_fullest_rank_as_light(known, redundant):
    log = _log() if known == "routes" else _by_source(_log())
    blind = place_experts(RoutingLog(load=log.load), TREE, num_redundant=redundant)
    seeing = place_experts(log, TREE, num_redundant=redundant)
    peak = [p.rank_loads(log.load).max(axis=1) for p in (blind, seeing)]
    assert peak[1] == pytest.approx(peak[0])
    rack = [crossing(log, p, TREE, 4).sum() for p in (blind, seeing)]
    assert rack[1] < 0.95 * rack[0]


def test_more_racks_never_lower_cross_rack_messages():
    log = _log()
    place = place_experts(log, TREE, num_redundant=8)
    crossed = [crossing(log, place, TREE, ranks).sum() for ranks in (8, 4, 2, 1)]
    assert crossed[0] == 0
    assert crossed == sorted(crossed)


def test_groups_stay_whole_on_nodes():
    log = RoutingLog(load=np.random.default_rng(3).lognormal(0, 1, (5, 16)))
    place = place_experts(log, TREE, num_redundant=8, num_groups=8)
    node = np.arange(24) // (3 * 2)
    for row in place.physical_to_logical:
        homes = {group: set(node[row // 2 == group].tolist()) for group in range(8)}
        assert all(len(nodes) == 1 for nodes in homes.values())
    peak = place.rank_loads(log.load).max(axis=1)
    bound = lower_bound(log, TREE, num_redundant=8, num_groups=8)
    assert (peak >= bound * (1 - 1e-12)).all()
    initial = initial_placement(5, 16, num_ranks=8, num_redundant=8)
    assert (peak < initial.rank_loads(log.load).max(axis=1)).all()


def test_counts_alone_level_the_racks():
    log = RoutingLog(load=np.random.default_rng(2).lognormal(0, 1, (6, 64)))
    tree = RankTree(num_ranks=32, ranks_per_node=4, nodes_per_rack=4)
    racks = place_experts(log, tree).rank_loads(log.load).reshape(6, 2, 16).sum(axis=2)
    assert (racks.max(axis=1) / racks.mean(axis=1)).max() < 1.02


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: RankTree(num_ranks=8, ranks_per_node=3, nodes_per_rack=1), "divisor such as 2"),
        (lambda: RankTree(num_ranks=8, ranks_per_node=0, nodes_per_rack=1), "at least 1"),
        (lambda: RankTree(num_ranks=8, ranks_per_node=2, nodes_per_rack=3), "divisor such as 2"),
        (lambda: place_experts(_log(), TREE, num_redundant=3), "Use 8 redundant"),
        (lambda: place_experts(_log(), TREE, num_redundant=-8), "at least 0"),
        (lambda: place_experts(_log(), TREE, num_redundant=800), "at most"),
        (lambda: place_experts(_log(), TREE, num_groups=3), "groups must divide"),
        (lambda: place_experts(_log(), TREE, num_groups=2), "nodes must divide"),
        (lambda: place_experts(_log(), TREE, seed=-1), "seed"),
        (lambda: RoutingLog(load=np.array([[1.0, np.nan]])), "expert 1"),
        (lambda: RoutingLog(load=np.array([[1.0, -2.0]])), "at least 0"),
        (lambda: RoutingLog(load=np.zeros((1, 2))), "layer 0"),
        (lambda: RoutingLog(load=np.zeros((0, 2))), "layers × experts"),
    ],
)
def test_bad_numbers_say_the_rule(call, words):
    with pytest.raises(InputError, match=words):
        call()
