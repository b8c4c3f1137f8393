"""Copies of experts packed into the slots of ranks, many layers at once.

w  load per expert [problems, experts]      c  copies per expert [problems, experts]
x  expert in each slot [problems, ranks, slots]
A copy carries w / c: every copy of an expert takes an equal share of its tokens.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUNDING = 1e-12
"""Relative gain below which a swap is a rounding error."""
_CLOSE = 2e-4
"""Relative distance to the lower bound that ends the search."""


def replicate(load: Floats, num_slots: int, num_ranks: int) -> Ints:
    """Return the copies per expert that minimise the largest load per copy [1].

    Each spare slot goes to the expert with the highest load per copy (the Jefferson-type divisor
    rule, optimal for min max w/c), up to one copy per rank.

    Args:
        load: w, tokens per expert, [problems, experts].
        num_slots: Physical experts in all, at least one per expert.
        num_ranks: Most copies that an expert can use.

    Source: first principles.
    """
    copies = np.ones(load.shape, dtype=np.int64)
    rows = np.arange(len(load))
    for _ in range(num_slots - load.shape[1]):
        # A zero load still ranks above an expert that is already on every rank.
        share = np.where(copies < num_ranks, load / copies, -1.0)
        copies[rows, share.argmax(axis=1)] += 1
    return copies


def slots_in_order(copies: Ints, num_slots: int) -> Ints:
    """Return the expert of each copy, experts in order, [problems, slots]."""
    experts: Ints = np.tile(np.arange(copies.shape[1], dtype=np.int64), len(copies))
    return np.repeat(experts, copies.reshape(-1)).reshape(len(copies), num_slots)


def pack(items: Ints, share: Floats, num_ranks: int, *, disturbance: Floats | float = 1.0) -> Ints:
    """Return slots filled by longest processing time first, [problems, ranks, slots].

    Items in falling load, each to the least loaded rank with a free slot that does not hold the
    same expert yet (if there is one).

    Args:
        items: Expert of each copy, [problems, copies].
        share: Load of one copy of each expert, [problems, experts].
        num_ranks: Ranks, all with the same number of slots.
        disturbance: Factor on the loads for their order only, [problems, copies].

    Source: graham1969.
    """
    num_problems, num_items = items.shape
    slots = num_items // num_ranks
    rows = np.arange(num_problems, dtype=np.int64)
    weight = np.take_along_axis(share, items, axis=1)
    order = np.argsort(-weight * disturbance, axis=1, kind="stable")
    placed = np.full((num_problems, num_ranks, slots), -1, dtype=np.int64)
    load = np.zeros((num_problems, num_ranks))
    used = np.zeros((num_problems, num_ranks), dtype=np.int64)
    big = 4.0 * (weight.sum(axis=1, keepdims=True) + 1.0)
    for k in range(num_items):
        expert = items[rows, order[:, k]]
        held = (placed == expert[:, None, None]).any(axis=2)
        rank = (load + big * held + np.where(used >= slots, np.inf, 0.0)).argmin(axis=1)
        placed[rows, rank, used[rows, rank]] = expert
        used[rows, rank] += 1
        load[rows, rank] += weight[rows, order[:, k]]
    return placed


def rank_loads(placed: Ints, share: Floats) -> Floats:
    """Return the load of each rank [token], [problems, ranks]."""
    num_problems = len(placed)
    flat = np.take_along_axis(share, placed.reshape(num_problems, -1), axis=1)
    return flat.reshape(placed.shape).sum(axis=2)


def improve_by_swaps(placed: Ints, share: Floats, *, max_rounds: int = 2000) -> Ints:
    """Return the slots after pairwise swaps have lowered the fullest rank as far as they can.

    Each round swaps one slot of the fullest rank with the slot anywhere that leaves the smaller
    maximum on the two ranks, and puts no expert twice on a rank; a problem stops when no swap
    helps.

    Source: first principles.
    """
    placed = placed.copy()
    _, num_ranks, slots = placed.shape
    active = np.arange(len(placed))
    for _ in range(max_rounds):
        x = placed[active]
        rows = np.arange(len(active))
        weight = np.take_along_axis(share[active], x.reshape(len(x), -1), axis=1).reshape(x.shape)
        load = weight.sum(axis=2)
        top = load.argmax(axis=1)
        most = load[rows, top]
        gain = weight[rows, top][:, :, None, None] - weight[:, None, :, :]
        after = np.maximum(most[:, None, None, None] - gain, load[:, None, :, None] + gain)
        if num_ranks * slots > share.shape[1]:
            after[_makes_duplicate(x, x[rows, top])] = np.inf
        flat = after.reshape(len(x), -1)
        best = flat.argmin(axis=1)
        better = flat[rows, best] < most * (1.0 - _ROUNDING)
        if not better.any():
            break
        mine, rest = np.divmod(best[better], num_ranks * slots)
        rank, slot = np.divmod(rest, slots)
        rows, top, active = rows[better], top[better], active[better]
        placed[active, top, mine] = x[rows, rank, slot]
        placed[active, rank, slot] = x[rows, top, mine]
    return placed


def _makes_duplicate(x: Ints, mine: Ints) -> NDArray[np.bool_]:
    """Return whether swapping slot i of `mine` for [rank, slot] puts an expert on a rank twice."""
    theirs_here = (x[:, :, :, None] == mine[:, None, None, :]).any(axis=3)
    mine_there = (mine[:, :, None, None] == x[:, None, :, :]).any(axis=3)
    return theirs_here[:, None, :, :] | mine_there[:, :, :, None]


def search(
    load: Floats,
    num_slots: int,
    num_ranks: int,
    *,
    rng: np.random.Generator,
    kicks: int,
    report: Callable[[int], None] | None = None,
) -> Ints:
    """Return slots per rank whose fullest rank is as light as the search finds.

    Greedy copies, longest-processing-time packing and pairwise swaps; then `kicks` times a small
    disturbance (repack the fullest and two other ranks, or move one copy to an expert of the
    fullest rank) and swaps again, kept where the fullest rank is no heavier. A problem within
    2e-4 of the lower bound is left alone.

    Args:
        load: Tokens per expert, [problems, experts].
        num_slots: Physical experts in all.
        num_ranks: Ranks.
        rng: Seeded chance: the same seed gives the same placement.
        kicks: Disturbances tried.
        report: Called with the number of kicks done.

    Source: first principles.
    """
    copies = replicate(load, num_slots, num_ranks)
    share = load / copies
    placed = improve_by_swaps(pack(slots_in_order(copies, num_slots), share, num_ranks), share)
    most = rank_loads(placed, share).max(axis=1)
    goal = lower_bound(load, num_slots, num_ranks) * (1.0 + _CLOSE)
    for kick in range(kicks):
        if report is not None:
            report(kick)
        act = np.flatnonzero(most > goal)
        if not len(act):
            break
        if kick % 3 == 2 and num_slots > load.shape[1]:
            tried = _move_a_copy(placed[act], load[act], copies[act], rng)
            start = pack(slots_in_order(tried, num_slots), load[act] / tried, num_ranks)
        else:
            tried = copies[act]
            start = _repack_some(placed[act], load[act] / tried, rng)
        found = improve_by_swaps(start, load[act] / tried)
        peak = rank_loads(found, load[act] / tried).max(axis=1)
        keep = peak <= most[act]
        placed[act[keep]], copies[act[keep]] = found[keep], tried[keep]
        most[act[keep]] = peak[keep]
    return placed


def _move_a_copy(placed: Ints, load: Floats, copies: Ints, rng: np.random.Generator) -> Ints:
    """Return copies with one taken from a random donor for an expert of the fullest rank."""
    rows = np.arange(len(placed))
    top = rank_loads(placed, load / copies).argmax(axis=1)
    fullest = placed[rows, top]
    can_grow = np.take_along_axis(copies, fullest, axis=1) < placed.shape[1]
    lot = np.where(can_grow, rng.random(fullest.shape), -1.0)
    receiver = fullest[rows, lot.argmax(axis=1)]
    lot = np.where(copies > 1, rng.random(copies.shape), -1.0)
    lot[rows, receiver] = -1.0
    donor = lot.argmax(axis=1)
    can = (lot[rows, donor] >= 0) & can_grow.any(axis=1)
    copies = copies.copy()
    copies[rows[can], receiver[can]] += 1
    copies[rows[can], donor[can]] -= 1
    return copies


def _repack_some(placed: Ints, share: Floats, rng: np.random.Generator) -> Ints:
    """Return slots with the fullest and two random ranks packed again in a disturbed order."""
    num_problems, num_ranks, slots = placed.shape
    some = min(3, num_ranks)
    key = rng.random((num_problems, num_ranks))
    key[np.arange(num_problems), rank_loads(placed, share).argmax(axis=1)] = -1.0
    ranks = key.argsort(axis=1)[:, :some, None]
    items = np.take_along_axis(placed, ranks, axis=1).reshape(num_problems, -1)
    noise = 1.0 + 0.3 * rng.standard_normal((num_problems, some * slots))
    packed = pack(items, share, some, disturbance=noise)
    placed = placed.copy()
    np.put_along_axis(placed, ranks, packed, axis=1)
    return placed


def lower_bound(load: Floats, num_slots: int, num_ranks: int) -> Floats:
    """Return a load that the fullest rank of no placement goes below [token], [problems].

    The largest of, with W = Σ w, R ranks, s slots per rank and d_e ≤ R ranks holding expert e:

        W / R                    the fullest rank is at least the mean
        min over Σ d_e ≤ slots of max w_e / d_e
                                 some rank gets at least w_e / d_e of expert e, however its
                                 tokens are split; `replicate` finds the minimum exactly
        w_max + the s - 1 smallest w       } without redundant experts: the rank of the
        Σ of the k + 1 smallest of the     } largest expert holds s - 1 more; of the kR + 1
          kR + 1 largest w, k < s          } largest, some rank holds k + 1

    Args:
        load: w, tokens per expert, [problems, experts].
        num_slots: Physical experts in all.
        num_ranks: R.

    Source: first principles.
    """
    share = load / replicate(load, num_slots, num_ranks)
    bound = np.maximum(load.sum(axis=1) / num_ranks, share.max(axis=1))
    if num_slots > load.shape[1]:
        return bound
    slots = num_slots // num_ranks
    falling = -np.sort(-load, axis=1)
    rest = falling[:, num_slots - slots + 1 :].sum(axis=1)
    bound = np.maximum(bound, falling[:, 0] + rest)
    for k in range(1, slots):
        last = k * num_ranks + 1
        bound = np.maximum(bound, falling[:, last - k - 1 : last].sum(axis=1))
    return bound
