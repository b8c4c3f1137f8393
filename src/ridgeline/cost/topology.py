"""Where the ranks of a group sit, and what a tier's topology leaves of its bandwidth.

Legend: n ranks of a group; s its stride (devices between neighbouring ranks); T devices of a
tier; m_i ranks of the group that share one unit of tier i (m_{-1} = 1).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ridgeline.errors import InputError
from ridgeline.hardware.records import Cluster, NetworkTier
from ridgeline.model.layout import Layout
from ridgeline.model.work import Number

Pattern = Literal["neighbour", "spread", "pair"]
"""Who talks to whom: a ring of neighbours, everybody with everybody, or one pair."""
Axis = Literal["tp", "ep", "cp", "dp", "pp"]


def stride(layout: Layout, axis: Axis, group: Number | None = None) -> Number:
    """Return the devices [1] between neighbouring ranks of a parallel axis.

    Devices are numbered innermost first: tp, then cp, then dp, then pp. The ep ranks lie evenly
    over the tp·cp·dp devices of a stage, each expert cut over the tp·cp·dp/ep devices next to
    each other. An exchange among fewer ranks than ep (one per dp group, say) is spread evenly too.

    >>> stride(Layout(tp=2, dp=4, ep=8), "ep"), stride(Layout(tp=2, dp=4, ep=8), "ep", 4)
    (1, 2)
    """
    stage = layout.tp * layout.cp * layout.dp
    strides: dict[Axis, Number] = {
        "tp": 1,
        "cp": layout.tp,
        "dp": layout.tp * layout.cp,
        "ep": np.maximum(1, stage // (layout.ep if group is None else group)),
        "pp": stage,
    }
    step = strides[axis]
    return step if isinstance(step, np.ndarray) and step.ndim else int(step)


def ranks_per_tier(cluster: Cluster, group: Number, step: Number) -> tuple[Number, ...]:
    """Return, innermost tier first, how many ranks [1] of a group share one unit of the tier.

        m_i = min(n, max(1, ⌊T_i / s⌋))

    A group that the outermost tier cannot hold keeps m < n there: it does not fit.

    Args:
        cluster: Its tiers.
        group: n, ranks of the group.
        step: s, devices between neighbouring ranks.

    Source: first principles.
    """
    return tuple(
        np.minimum(group, np.maximum(1, np.floor_divide(tier.size, step))) for tier in cluster.tiers
    )


def spans(cluster: Cluster, layout: Layout) -> dict[Axis, tuple[Number, ...]]:
    """Return for each parallel axis how many of its ranks share one unit of each tier.

    >>> from ridgeline.hardware.records import Device, MemoryTier
    >>> hbm = MemoryTier(name="hbm", capacity_bytes=1, bandwidth_bytes_per_s=1)
    >>> device = Device(id="d", name="d", vendor="v", peak_flop_per_s={}, memory=hbm)
    >>> tiers = tuple(NetworkTier(name=k, size=n, bandwidth_bytes_per_s=1.0)
    ...               for k, n in (("scale_up", 8), ("scale_out", 64)))
    >>> pod = Cluster(id="c", name="c", device=device, num_devices=64, tiers=tiers)
    >>> tuple(int(m) for m in spans(pod, Layout(tp=4, dp=8))["dp"])
    (2, 8)
    """
    axes: tuple[Axis, ...] = ("tp", "ep", "cp", "dp", "pp")
    return {
        axis: ranks_per_tier(cluster, getattr(layout, axis), stride(layout, axis)) for axis in axes
    }


def torus_extents(tier: NetworkTier) -> tuple[int, ...]:
    """Return the extents of a torus; a ring is a torus of one dimension.

    Raises:
        InputError: a torus whose dimensions do not multiply to its size.
    """
    extents = (tier.size,) if tier.topology == "ring" else tier.dimensions
    if not extents or int(np.prod(extents)) != tier.size:
        raise InputError(
            f"The dimensions of a torus must multiply to its size: {tier.name} has size"
            f" {tier.size} and dimensions {list(extents)}. Give `dimensions` such as [4, 4, 4]."
        )
    return extents


def _mean_hops(extent: Number) -> Number:
    """Mean distance on a ring of `extent` nodes, the node itself counted: k/4, odd (k²−1)/4k."""
    whole = np.ceil(extent)
    return np.where(whole % 2 == 0, whole / 4, (whole**2 - 1) / (4 * whole))


def usable_bandwidth(tier: NetworkTier, members: Number, pattern: Pattern) -> Number:
    """Return the bandwidth [B/s] per device and direction that a pattern finds in a tier.

    - switch: all of it, whatever the pattern;
    - mesh of T: each pair has B/(T−1), so n members reach (n−1)/(T−1) of it, a pair one link;
    - torus: the neighbour pattern uses every link of the extents it fills; an all-to-all is
      held by the longest extent k of its d dimensions: each byte crosses on average k/4 links
      of that dimension, which owns 1/d of the links, so B·(n−1)/n · 4/(k·d);
    - fat tree: an all-to-all crosses the bisection, B/oversubscription; neighbours do not.

    Args:
        tier: The tier.
        members: Ranks that talk inside one unit of the tier.
        pattern: Who talks to whom.

    Source: dally2004 (bisection and channel load of tori and fat trees).
    """
    full = tier.bandwidth_bytes_per_s
    if tier.topology == "mesh" and tier.size > 1:
        peers = np.where(pattern == "pair", 1, np.maximum(1, np.subtract(members, 1)))
        return full * np.minimum(1.0, peers / (tier.size - 1))
    if tier.topology == "fat_tree" and pattern == "spread":
        return full / tier.oversubscription
    if tier.topology in ("torus", "ring"):
        return full * _torus_share(torus_extents(tier), members, pattern)
    return full * np.ones_like(members, dtype=float)


def _torus_share(extents: tuple[int, ...], members: Number, pattern: Pattern) -> Number:
    """Share of a device's torus bandwidth that a group filling extents in order can use."""
    dimensions = len(extents)
    if pattern == "pair":
        return np.full_like(members, 1 / (2 * dimensions), dtype=float)
    used = np.zeros_like(members, dtype=float)
    longest = np.zeros_like(members, dtype=float)
    filled = 1
    for extent in extents:
        reach = np.clip(np.divide(members, filled), 1, extent)
        used = used + (reach > 1)
        longest = np.maximum(longest, _mean_hops(reach))
        filled *= extent
    if pattern == "neighbour":
        return np.maximum(1, used) / dimensions
    others = np.subtract(members, 1) / np.maximum(members, 1)
    return np.where(longest > 0, others / np.maximum(longest * dimensions, 1e-12), 1.0)


def hops(tier: NetworkTier, members: Number, pattern: Pattern) -> Number:
    """Return the links [1] that the farthest message of one step crosses, in units of one hop.

    Switches and meshes count 1 (their latency is that of one message through the tier); on a
    torus the farthest of an all-to-all is half of each extent away.

    Source: first principles.
    """
    if tier.topology not in ("torus", "ring") or pattern != "spread":
        return np.ones_like(members, dtype=float)
    far = np.zeros_like(members, dtype=float)
    filled = 1
    for extent in torus_extents(tier):
        reach = np.minimum(extent, np.maximum(1, np.asarray(members) / filled))
        far = far + np.floor(reach / 2)
        filled *= extent
    return np.maximum(1.0, far)
