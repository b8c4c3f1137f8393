"""A whole step as named parts that sum to it, and the limit that binds each of them.

A part is an operation times the number of layers that run it. Its time is divided among the
limits that cause it: launch, then either compute, or the memory traffic of weights, state (KV
cache) and activations in proportion to their bytes, or one network tier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ridgeline.cost.efficiency import Efficiency
from ridgeline.cost.roofline import arithmetic_format, operation_time
from ridgeline.hardware import Device
from ridgeline.model.work import Number, Operation

LIMITS = ("compute", "weight read", "state read", "activations", "launch", "network", "host")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One operation over all layers that run it, on the slowest device [s]."""

    name: str
    component: str
    operation: Operation
    time_s: Number
    """Total over `operation.count` executions."""
    compute_s: Number
    """Of it, had memory been free."""
    memory_s: Number
    """Of it, had arithmetic been free."""
    launch_s: Number
    network_s: Number = 0.0

    def limit_s(self) -> dict[str, Number]:
        """Divide the part's time among LIMITS; the values sum to `time_s` [s]."""
        if self.operation.family == "collective":
            return {"network": self.time_s}
        op = self.operation
        busy = self.time_s - self.launch_s
        memory_bound = np.where(np.asarray(self.memory_s) > np.asarray(self.compute_s), busy, 0.0)
        state = op.state_read_bytes + op.state_write_bytes
        total = op.weight_bytes + state + op.activation_bytes
        share = memory_bound / np.where(np.asarray(total) > 0, total, 1.0)
        return {
            "compute": busy - memory_bound,
            "weight read": share * op.weight_bytes,
            "state read": share * state,
            "activations": share * op.activation_bytes,
            "launch": self.launch_s,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """One step: its parts, its totals, and what was assumed."""

    parts: tuple[Part, ...]
    host_s: Number
    step_s: Number
    """Operations one after another: the sum of the parts and the host [s]."""
    overlap_step_s: Number
    """Lower bound: all compute hidden behind all memory traffic, or the reverse [s]."""
    flop: Number
    """FLOP of one device in the step."""
    peak_s: Number
    """The same work at the dense peak of each format [s]: MFU = peak_s / step_s."""
    required_bytes: Number
    """Weights and state one device must move [B]: MBU = required_bytes / (step_s·W)."""
    flags: tuple[str, ...] = ()

    def limit_s(self) -> dict[str, Number]:
        """Divide the step among LIMITS; the values sum to `step_s` [s]."""
        totals: dict[str, Number] = {name: np.zeros_like(self.step_s) for name in LIMITS}
        for part in self.parts:
            for name, value in part.limit_s().items():
                totals[name] = totals[name] + value
        totals["host"] = totals["host"] + self.host_s
        return totals

    def bound_by(self) -> NDArray[np.str_]:
        """Return the limit with the largest share at every point."""
        totals = self.limit_s()
        stacked = np.stack([np.broadcast_to(totals[x], np.shape(self.step_s)) for x in LIMITS])
        return np.asarray(LIMITS)[np.argmax(stacked, axis=0)]

    def elasticities(self) -> dict[str, Number]:
        """Return -d ln(step) / d ln(figure): +1 % of it shortens the step by this many percent.

        The time that a figure binds scales with its inverse, so the elasticity is that share.
        """
        limits = self.limit_s()
        memory = limits["weight read"] + limits["state read"] + limits["activations"]
        return {
            "peak FLOP/s": limits["compute"] / self.step_s,
            "memory bandwidth": memory / self.step_s,
            "network bandwidth": limits["network"] / self.step_s,
            "launch and host time": (limits["launch"] + limits["host"]) / self.step_s,
        }


def breakdown(
    operations: Sequence[Operation],
    device: Device,
    efficiency: Efficiency,
    *,
    shards: float = 1.0,
) -> Breakdown:
    """Return the breakdown of a step of local operations on one device.

    Args:
        operations: Work of one device (or of the whole replica, see `shards`).
        device: Datasheet figures.
        efficiency: Curves per family; `IDEAL` gives the pure roofline.
        shards: Divide all work evenly over this many devices with an ideal network.
    """
    parts: list[Part] = []
    step_s: Number = 0.0
    flop: Number = 0.0
    peak_s: Number = 0.0
    required: Number = 0.0
    compute_sum: Number = 0.0
    memory_sum: Number = 0.0
    fixed_sum: Number = efficiency.host_s
    formats: dict[str, str] = {}
    for op in operations:
        timing = operation_time(op, device, efficiency.curve(op.family))
        launch = op.count * timing.launch_s
        compute = op.count / shards * timing.compute_s
        memory = op.count / shards * timing.memory_s
        time = np.maximum(compute, memory) + launch
        parts.append(
            Part(
                name=op.name,
                component=op.component,
                operation=op,
                time_s=time,
                compute_s=compute,
                memory_s=memory,
                launch_s=launch,
            )
        )
        used = formats.setdefault(op.compute_format, arithmetic_format(device, op.compute_format))
        step_s = step_s + time
        compute_sum = compute_sum + compute
        memory_sum = memory_sum + memory
        fixed_sum = fixed_sum + launch
        work = op.count / shards * op.flop
        flop = flop + work
        peak_s = peak_s + work / device.peak_flop_per_s[used]
        required = required + op.count / shards * (
            op.weight_bytes + op.state_read_bytes + op.state_write_bytes
        )
    return Breakdown(
        parts=tuple(parts),
        host_s=efficiency.host_s,
        step_s=step_s + efficiency.host_s,
        overlap_step_s=np.maximum(compute_sum, memory_sum) + fixed_sum,
        flop=flop,
        peak_s=peak_s,
        required_bytes=required,
        flags=efficiency.flags + _format_flags(device, formats),
    )


def _format_flags(device: Device, formats: dict[str, str]) -> tuple[str, ...]:
    return tuple(
        f"{device.id} has no {asked} arithmetic: computed in {used}"
        for asked, used in sorted(formats.items())
        if asked != used
    )
