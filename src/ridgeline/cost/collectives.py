"""Time of one collective on a cluster: what each algorithm sends, priced; the best is named.

Payload, always of one rank and before the collective (n ranks):

    all_reduce      S: the whole buffer, which every rank holds
    reduce_scatter  S: the whole buffer; each rank keeps S/n
    all_gather      S: the rank's own shard; each rank ends with n·S
    all_to_all      S: all that a rank sends, the 1/n it keeps included; with `routing`, all
                    top-k copies of every token
    point_to_point  S: what is sent; the slowest hop of the group is priced

A group of 1 costs exactly 0. A group larger than the cluster costs infinity.

Legend: m_i ranks of the group under one unit of tier i; q_i = m_i/m_{i-1} its units below;
B_i bandwidth; a_i time per step; β_i share of B_i reached. One algorithm is the steps and
bytes it puts on every tier:

    wire    = max or sum over tiers of bytes_i / (β_i·B_i)
    latency = launch + Σ steps_i·a_i
    t       = (latency^p + wire^p)^(1/p)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ridgeline.cost.algorithms import Plan, plans
from ridgeline.cost.network_records import IDEAL, NetworkEfficiency, record_kind
from ridgeline.cost.topology import ranks_per_tier, stride, usable_bandwidth
from ridgeline.errors import InputError
from ridgeline.hardware.records import Cluster
from ridgeline.model.layout import Layout
from ridgeline.model.work import Message, Number


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveCost:
    """What one collective costs on one device."""

    time_s: Number
    algorithm: str | NDArray[np.str_]
    """The fastest candidate, by name; an array where the inputs are arrays."""
    bytes_by_tier: Mapping[str, Number]
    """What the chosen algorithm sends over each tier, per device and direction."""
    time_by_tier_s: Mapping[str, Number]
    """The tiers' parts of `time_s`; they sum to it."""
    candidates_s: Mapping[str, Number]
    """Time of every algorithm considered."""
    wire_by_tier_s: Mapping[str, Number] = field(default_factory=dict[str, Number])
    """-∂t/∂ln B of each tier: what scales with its bandwidth; the rest of `time_s` is latency."""
    spread: Number = 0.0
    """Half-width of the 10-90 % band of `time_s`, as a share."""
    flags: tuple[str, ...] = ()


def collective_time(
    message: Message,
    cluster: Cluster,
    layout: Layout,
    *,
    efficiency: NetworkEfficiency | Literal["ideal"],
    algorithms: Iterable[str] | None = None,
) -> CollectiveCost:
    """Return the time [s] of one collective, its algorithm and each tier's share.

    The group is placed innermost first (see cost.topology.stride). Everything broadcasts over
    payload, group and layout arrays.

    Args:
        message: Kind, payload, group and axis.
        cluster: Its tiers.
        layout: Decides where the ranks sit.
        efficiency: Fitted launch, step and bandwidth shares, or "ideal" for the bound with no
            latency and all of the bandwidth.
        algorithms: Consider only these; None: all that fit the kind.

    Raises:
        InputError: an algorithm that the kind does not have.

    Source: thakur2005 (ring, tree), deepep (hierarchical dispatch).
    """
    records = IDEAL if efficiency == "ideal" else efficiency
    if not cluster.tiers:
        return _no_network(message)
    step = stride(layout, message.axis, message.group)
    members = ranks_per_tier(cluster, message.group, step)
    candidates = plans(message, cluster, members)
    if algorithms is not None:
        wanted = set(algorithms)
        unknown = wanted - {plan.name for plan in candidates}
        if unknown:
            raise InputError(
                f"`{message.kind}` has no algorithm {sorted(unknown)} on {cluster.id}."
                f" Use one of: {', '.join(plan.name for plan in candidates)}."
            )
    else:
        wanted = records.known(record_kind(message), [plan.name for plan in candidates], cluster)
    candidates = [plan for plan in candidates if plan.name in wanted]
    alone = np.less_equal(message.group, 1)
    fits = np.greater_equal(members[-1], message.group)
    priced = [_price(plan, message, cluster, members, records) for plan in candidates]
    times = np.stack(
        np.broadcast_arrays(
            *(np.where(alone, 0.0, np.where(fits, total, np.inf)) for total, *_ in priced)
        )
    )
    times = _known_to_run(times, candidates, message, cluster, members, records)
    best = np.argmin(times, axis=0)
    names = np.array([plan.name for plan in candidates])
    time_s = _pick(times, best)
    chosen = np.where(alone, "none", names[best])
    return CollectiveCost(
        time_s=time_s,
        algorithm=chosen if chosen.ndim else str(chosen),
        bytes_by_tier={
            tier.name: np.where(
                alone, 0.0, _pick(_stack([p.bytes[i] for p in candidates], times[0]), best)
            )[()]
            for i, tier in enumerate(cluster.tiers)
        },
        time_by_tier_s={
            tier.name: _pick(_stack([s[i] for _, s, _ in priced], times[0]), best) * time_s
            for i, tier in enumerate(cluster.tiers)
        },
        wire_by_tier_s={
            tier.name: _pick(_stack([w[i] for *_, w in priced], times[0]), best) * time_s
            for i, tier in enumerate(cluster.tiers)
        },
        candidates_s={p.name: times[i][()] for i, p in enumerate(candidates)},
        spread=_pick(
            _stack([_spread(p, message, cluster, records) for p in candidates], times[0]), best
        ),
        flags=records.flags_for(
            record_kind(message), cluster, _tiers_used(candidates, cluster, members)
        ),
    )


def _known_to_run(
    times: NDArray[np.float64],
    candidates: list[Plan],
    message: Message,
    cluster: Cluster,
    members: tuple[Number, ...],
    records: NetworkEfficiency,
) -> NDArray[np.float64]:
    """Return the times, infinite where a kernel cannot run or would win by extrapolation alone.

    Mapped memory reaches as far as `mapped_ranks`. On the innermost tier, algorithms that were
    measured on fewer ranks than another do not compete beyond what they were measured on.
    """
    near = np.less_equal(message.group, records.mapped_ranks(cluster, members[0]))
    runs = np.ones(times.shape, dtype=np.bool_)
    ranks = np.zeros(times.shape)
    for i, plan in enumerate(candidates):
        record = records.of(record_kind(message), plan.name, cluster, cluster.tiers[0])
        if plan.mapped:
            runs[i] = np.broadcast_to(near, times[0].shape)
        ranks[i] = np.where(runs[i], record.ranks, 0.0)
    asked = np.minimum(np.broadcast_to(members[0], times[0].shape), ranks.max(axis=0))
    return np.where(runs & (ranks >= asked), times, np.inf)


def _tiers_used(
    candidates: list[Plan], cluster: Cluster, members: tuple[Number, ...]
) -> dict[str, int]:
    return {
        tier.name: int(np.max(members[i]))
        for i, tier in enumerate(cluster.tiers)
        if any(np.any(np.greater(plan.steps[i], 0)) for plan in candidates)
    }


def _no_network(message: Message) -> CollectiveCost:
    """A single device: a group of 1 costs nothing, a larger one does not fit."""
    time_s = np.where(np.less_equal(message.group, 1), 0.0, np.inf)
    time_s = (time_s + np.zeros_like(message.payload_bytes, dtype=float))[()]
    return CollectiveCost(
        time_s=time_s, algorithm="none", bytes_by_tier={}, time_by_tier_s={}, candidates_s={}
    )


def _stack(parts: list[Number], like: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([np.broadcast_to(part, like.shape) for part in parts])


def _pick(stacked: NDArray[np.float64], index: NDArray[np.intp]) -> Number:
    return np.take_along_axis(stacked, index[None, ...], axis=0)[0][()]


def _price(
    plan: Plan,
    message: Message,
    cluster: Cluster,
    members: tuple[Number, ...],
    records: NetworkEfficiency,
) -> tuple[Number, list[Number], list[Number]]:
    """Return the time of one plan, each tier's share of it, and -d ln t / d ln B of each tier."""
    latency: Number = 0.0
    launch: Number = 0.0
    wires: list[Number] = []
    lags: list[Number] = []
    power = 1.0
    experts = 0 if message.routing is None else message.routing.num_experts
    for i, tier in enumerate(cluster.tiers):
        record = records.of(record_kind(message), plan.name, cluster, tier)
        rate = record.share(members[i], tier.bandwidth_bytes_per_s) * usable_bandwidth(
            tier, members[i], plan.patterns[i]
        )
        own = record.own_share * plan.own_bytes if i == 0 else 0.0
        wires.append(np.divide(plan.bytes[i] + own, rate))
        lag = plan.steps[i] * record.step_time(tier.latency_s)
        lags.append(lag)
        latency = latency + lag
        used = np.greater(plan.steps[i], 0)
        launch = np.maximum(
            launch, np.where(used, record.launch_s + record.expert_s * experts, 0.0)
        )
        power = np.where(used, record.sharpness, power)
    wire: Number = 0.0
    for part in wires:
        wire = np.maximum(wire, part) if plan.overlapped else wire + part
    total = _smooth(latency + launch, wire, power)
    standalone = [np.add(lag, part) for lag, part in zip(lags, wires, strict=True)]
    whole: Number = 0.0
    for part in standalone:
        whole = whole + part
    whole = np.where(np.greater(whole, 0), whole, 1.0)
    by_wire = (wire / np.where(np.greater(total, 0), total, 1.0)) ** power
    slopes: list[Number] = [
        by_wire * share for share in _wire_shares(wires, wire, overlapped=plan.overlapped)
    ]
    return total, [part / whole for part in standalone], slopes


def _wire_shares(wires: list[Number], wire: Number, *, overlapped: bool) -> list[Number]:
    """Return d ln wire / d ln wire_i; of overlapped tiers only the slowest counts."""
    shares: list[Number] = []
    left: Number = 1.0
    for part in wires:
        if overlapped:
            share = np.where(np.equal(part, wire), left, 0.0)
            left = left - share
        else:
            share = part / np.where(np.greater(wire, 0), wire, 1.0)
        shares.append(share)
    return shares


def _spread(plan: Plan, message: Message, cluster: Cluster, records: NetworkEfficiency) -> Number:
    """The widest band among the tiers that a plan uses."""
    widest: Number = 0.0
    for steps, tier in zip(plan.steps, cluster.tiers, strict=True):
        record = records.of(record_kind(message), plan.name, cluster, tier)
        widest = np.maximum(widest, np.where(np.greater(steps, 0), record.spread, 0.0))
    return widest


def _smooth(latency: Number, wire: Number, power: Number) -> Number:
    """(latency^p + wire^p)^(1/p), scaled by the larger term so that nothing under- or overflows."""
    top = np.maximum(latency, wire)
    safe = np.where(top > 0, top, 1.0)
    return top * ((latency / safe) ** power + (wire / safe) ** power) ** (1 / power)
