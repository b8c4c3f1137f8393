"""Every layout of a model on up to N devices, as arrays: enumerate, then prune by rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ridgeline.hardware.records import Cluster
from ridgeline.model.architecture import Architecture
from ridgeline.model.layout import Layout
from ridgeline.model.layout_rules import expert_counts, head_counts

_BOARD_DEVICES = 16
"""Larger scale-up domains are racks of trays."""
_TRAY_DEVICES = 4
"""Devices of one host in racks of NVIDIA and in pods of TPUs."""

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """Layouts as parallel arrays `[layouts]`."""

    tp: IntArray
    pp: IntArray
    ep: IntArray
    dp: IntArray
    cp: IntArray
    num_redundant_experts: IntArray

    @property
    def num_devices(self) -> IntArray:
        """Devices of one replica, `[layouts]`."""
        return self.tp * self.pp * self.dp * self.cp

    def __len__(self) -> int:
        """Return the number of layouts."""
        return int(self.tp.size)

    def layout(self, *, axis: bool = True) -> Layout:
        """Return the layouts as one `Layout` of arrays `[layouts, 1]` (or `[layouts]`)."""
        shape = (-1, 1) if axis else (-1,)
        return Layout(
            tp=self.tp.reshape(shape),
            pp=self.pp.reshape(shape),
            ep=self.ep.reshape(shape),
            dp=self.dp.reshape(shape),
            cp=self.cp.reshape(shape),
            num_redundant_experts=self.num_redundant_experts.reshape(shape),
        )

    def one(self, index: int) -> Layout:
        """Return one layout with plain integers."""
        return Layout(
            tp=int(self.tp[index]),
            pp=int(self.pp[index]),
            ep=int(self.ep[index]),
            dp=int(self.dp[index]),
            cp=int(self.cp[index]),
            num_redundant_experts=int(self.num_redundant_experts[index]),
        )

    def take(self, mask: NDArray[np.bool_] | IntArray) -> Space:
        """Return the chosen layouts."""
        return Space(
            tp=self.tp[mask],
            pp=self.pp[mask],
            ep=self.ep[mask],
            dp=self.dp[mask],
            cp=self.cp[mask],
            num_redundant_experts=self.num_redundant_experts[mask],
        )


def devices_per_host(cluster: Cluster) -> int:
    """Return the devices that share one operating system: a board, or a tray of a larger domain.

    >>> from ridgeline.hardware.records import Device, MemoryTier, NetworkTier
    >>> hbm = MemoryTier(name="hbm", capacity_bytes=1, bandwidth_bytes_per_s=1)
    >>> device = Device(id="d", name="d", vendor="v", peak_flop_per_s={}, memory=hbm)
    >>> rack = NetworkTier(name="scale_up", size=72, bandwidth_bytes_per_s=1.0)
    >>> devices_per_host(
    ...     Cluster(id="c", name="c", device=device, num_devices=72, tiers=(rack,))
    ... )
    4
    """
    size = cluster.tiers[0].size if cluster.tiers else 1
    return size if size <= _BOARD_DEVICES else _TRAY_DEVICES


def enumerate_layouts(
    arch: Architecture,
    *,
    num_devices: int,
    scale_up: int,
    host: int | None = None,
    max_pp: int = 16,
) -> Space:
    """Return every layout of one replica on at most `num_devices` devices.

    tp divides the heads and stays inside the scale-up domain; stages and replicas divide a host
    or fill several, so that none straddles two; dp above 1 only where experts are shared between
    the groups (without experts it is the same as more replicas); ep is 1 or all devices of a
    stage, with the fewest copies that let the experts divide; pp divides evenly enough to keep
    stages busy.

    Args:
        arch: The model.
        num_devices: Devices of the cluster.
        scale_up: Devices of the innermost tier.
        host: Devices of one host; those of the innermost tier when not given.
        max_pp: Most pipeline stages.
    """
    heads, kv_heads = head_counts(arch)
    experts = sorted(expert_counts(arch))
    board = min(host or scale_up, num_devices)
    rows: set[tuple[int, ...]] = set()
    for tp in _tensor_degrees(heads, kv_heads, min(scale_up, num_devices)):
        for pp in _stages(arch, num_devices // tp, max_pp):
            for dp in _groups(num_devices // (tp * pp), with_experts=bool(experts)):
                if not (_aligned(tp * dp, board) and _aligned(tp * dp * pp, board)):
                    continue
                rows |= {
                    (tp, pp, ep, dp, 1, extra) for ep, extra in _expert_ranks(experts, tp * dp)
                }
    table = np.array(sorted(rows), dtype=np.int64).reshape(-1, 6).T
    return Space(
        tp=table[0],
        pp=table[1],
        ep=table[2],
        dp=table[3],
        cp=table[4],
        num_redundant_experts=table[5],
    )


def _aligned(devices: int, host: int) -> bool:
    return devices % host == 0 or host % devices == 0


def _tensor_degrees(heads: set[int], kv_heads: set[int], limit: int) -> list[int]:
    return [
        tp
        for tp in range(1, limit + 1)
        if all(n % tp == 0 for n in heads) and all(n % tp == 0 or tp % n == 0 for n in kv_heads)
    ]


def _stages(arch: Architecture, limit: int, most: int) -> list[int]:
    """Stages whose fullest one has at most 15 % more layers than the mean."""
    layers = arch.num_layers
    return [
        pp
        for pp in range(1, min(limit, most, layers) + 1)
        if -(-layers // pp) * pp <= layers * 1.15
    ]


def _groups(limit: int, *, with_experts: bool) -> list[int]:
    if not with_experts:
        return [1] if limit >= 1 else []
    # Every degree up to 16, then those that tile devices: products of 2 and 3, and divisors, so
    # that a larger cluster has all the choices of a smaller one.
    return [d for d in range(1, limit + 1) if d <= 16 or limit % d == 0 or _is_smooth(d)]


def _is_smooth(n: int) -> bool:
    for prime in (2, 3):
        while n % prime == 0:
            n //= prime
    return n == 1


def _expert_ranks(experts: list[int], stage: int) -> list[tuple[int, int]]:
    if not experts or stage == 1:
        return [(1, 0)]
    choices = [(1, 0)]
    extra = max(-n % stage for n in experts)
    if all((n + extra) % stage == 0 for n in experts) and extra <= max(experts):
        choices.append((stage, extra))
    return choices
