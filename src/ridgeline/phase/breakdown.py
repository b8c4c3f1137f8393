"""A whole step as named parts that sum to it, and the limit that binds each of them.

A part is an operation times the number of layers that run it. Its time is divided among the
limits that cause it: launch, then either compute, or the memory traffic of weights, state (KV
cache) and activations in proportion to their bytes, or network tiers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ridgeline.cost.collectives import CollectiveCost
from ridgeline.cost.efficiency import Efficiency
from ridgeline.cost.engines import EngineProfile
from ridgeline.cost.roofline import Timing, arithmetic_format, operation_time
from ridgeline.hardware import Device
from ridgeline.model.work import Message, Number, Operation
from ridgeline.phase.stages import Pipeline, Runs

LIMITS = ("compute", "weight read", "state read", "activations", "launch", "network", "host")
"""What can bind; time on the network is kept by tier as `network: <tier>`."""

Network = Callable[[Message], CollectiveCost]
"""Prices one message on the cluster and layout at hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One operation over all layers that run it, on the slowest device [s]."""

    name: str
    component: str
    operation: Operation
    time_s: Number
    """Total over all executions."""
    executions: Number
    """How often the operation runs: layers of a stage, times pipeline slots."""
    compute_s: Number = 0.0
    """Of it, had memory been free."""
    memory_s: Number = 0.0
    """Of it, had arithmetic been free."""
    launch_s: Number = 0.0
    tier_s: Mapping[str, Number] = field(default_factory=dict[str, Number])
    """Of a collective: time by network tier; sums to `time_s`."""
    wire_s: Mapping[str, Number] = field(default_factory=dict[str, Number])
    """Of a collective: what scales with each tier's bandwidth; the rest is latency."""
    algorithm: str | NDArray[np.str_] = ""
    """Of a collective: the fastest algorithm."""

    @property
    def is_network(self) -> bool:
        """Whether the part is a collective."""
        return self.operation.family == "collective"

    def limit_s(self) -> dict[str, Number]:
        """Divide the part's time among the limits; the values sum to `time_s` [s].

        The longer of compute and memory counts in full, of the shorter what it does not hide.
        """
        if self.is_network:
            return {f"network: {tier}": value for tier, value in self.tier_s.items()}
        op = self.operation
        busy = self.time_s - self.launch_s
        unhidden = busy - np.maximum(self.memory_s, self.compute_s)
        memory = np.where(np.greater(self.memory_s, self.compute_s), self.memory_s, unhidden)
        state = op.state_read_bytes + op.state_write_bytes
        total = op.weight_bytes + state + op.activation_bytes
        share = memory / np.where(np.greater(total, 0), total, 1.0)
        return {
            "compute": np.where(np.greater(total, 0), busy - memory, busy),
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
    """Operations and messages one after another: the sum of the parts and the host [s]."""
    local_s: Number
    """Of it, on the device: everything but messages [s]."""
    network_s: Number
    """Of it, messages [s]."""
    overlap_step_s: Number
    """Lower bound: compute, memory traffic and messages hidden behind the largest [s]."""
    flop: Number
    """FLOP of one device in the step."""
    peak_s: Number
    """The same work at the dense peak of each format [s]: MFU = peak_s / step_s."""
    required_bytes: Number
    """Weights and state one device must move [B]: MBU = required_bytes / (step_s·W)."""
    flags: tuple[str, ...] = ()

    def limit_s(self) -> dict[str, Number]:
        """Divide the step among the limits; the values sum to `step_s` [s]."""
        totals: dict[str, Number] = {}
        for part in self.parts:
            for name, value in part.limit_s().items():
                totals[name] = totals.get(name, 0.0) + value
        totals["host"] = self.host_s
        return totals

    def bound_by(self) -> NDArray[np.str_]:
        """Return the limit with the largest share at every point."""
        totals = self.limit_s()
        shape = np.shape(self.step_s)
        stacked = np.stack([np.broadcast_to(value, shape) for value in totals.values()])
        return np.asarray(list(totals))[np.argmax(stacked, axis=0)]

    def elasticities(self) -> dict[str, Number]:
        """Return -d ln(step) / d ln(figure): +1 % of it shortens the step by this many percent.

        The time that a figure binds scales with its inverse, so the elasticity is that share;
        of messages, the part that scales with a tier's bandwidth, apart from their latency. A
        peak is raised with the power that it takes.
        """
        limits = self.limit_s()
        wires: dict[str, Number] = {}
        for part in self.parts:
            for tier, value in part.wire_s.items():
                name = f"network bandwidth: {tier}"
                wires[name] = wires.get(name, 0.0) + value / self.step_s

        def share(*names: str) -> Number:
            total: Number = 0.0
            for name in names:
                total = total + limits.get(name, 0.0)
            return total / self.step_s

        messages = share(*(n for n in limits if n.startswith("network")))
        return {
            "peak FLOP/s": share("compute"),
            "memory bandwidth": share("weight read", "state read", "activations"),
            **wires,
            "network latency": messages - sum(wires.values()),
            "launch and host time": share("launch", "host"),
        }


@dataclass(slots=True)
class _Sums:
    """Running totals over the parts."""

    local_s: Number = 0.0
    network_s: Number = 0.0
    compute_s: Number = 0.0
    memory_s: Number = 0.0
    launch_s: Number = 0.0
    flop: Number = 0.0
    peak_s: Number = 0.0
    required_bytes: Number = 0.0


def breakdown(
    operations: Sequence[Operation],
    device: Device,
    efficiency: Efficiency,
    *,
    network: Network | None = None,
    shards: float = 1.0,
    repeats: Number = 1.0,
    occupancy: Number = 1.0,
    engine: EngineProfile | None = None,
    layers: Number = 0.0,
    sequences: Number = 0.0,
    pipeline: Pipeline | None = None,
) -> Breakdown:
    """Return the breakdown of a step.

    Args:
        operations: Work of one device (or of the whole replica, see `shards`).
        device: Datasheet figures.
        efficiency: Curves per family; `IDEAL` gives the pure roofline.
        network: Prices messages; without it they are free.
        shards: Divide all work evenly over this many devices with an ideal network.
        repeats: How often the device runs the operations (micro-batches).
        occupancy: Share of them that does useful work.
        engine: Adds small kernels per layer and the host's time; None adds nothing.
        layers: Layers of one execution, for the engine.
        sequences: Sequences of one attention group, for the engine.
        pipeline: How often operations run on the critical path instead.
    """
    parts: list[Part] = []
    sums = _Sums()
    formats: dict[str, str] = {}
    flags: dict[str, None] = {}
    stretch = (1.0 if engine is None else engine.busy_share) / shards
    once = [_once(op, device, efficiency, network, stretch, flags) for op in operations]
    layer_s, routed_s = _small_kernels_s(engine, device)
    if pipeline is None:
        runs = _in_a_row(operations, repeats, layers)
    else:
        times_s = tuple(0.0 if x is None else x.time_s for x in once)
        runs = pipeline.runs(times_s, layer_s=layer_s, routed_s=routed_s)
    for op, priced, times in zip(operations, once, runs.operations, strict=True):
        if isinstance(priced, CollectiveCost):
            flags.update(dict.fromkeys(priced.flags))
            parts.append(_message_part(op, priced, times, sums))
        elif priced is not None:
            parts.append(_local_part(op, priced, times, sums))
            used = arithmetic_format(device, op.compute_format)
            formats[op.compute_format] = used
            _count_useful(op, op.count * repeats * occupancy / shards, device, used, sums)
    host_s = efficiency.host_s
    if engine is not None:
        time = runs.layers * layer_s + runs.routed * routed_s
        parts.append(_small_kernels(engine, time, runs.layers, sums))
        host_s = host_s + _host_time(engine, runs, sequences, sums)
        flags.update(dict.fromkeys(engine.flags))
    fixed = sums.launch_s + host_s
    hidden = np.maximum(np.maximum(sums.compute_s, sums.memory_s), sums.network_s)
    return Breakdown(
        parts=tuple(parts),
        host_s=host_s,
        step_s=sums.local_s + sums.network_s + host_s,
        local_s=sums.local_s + host_s,
        network_s=sums.network_s,
        overlap_step_s=hidden + fixed,
        flop=sums.flop,
        peak_s=sums.peak_s,
        required_bytes=sums.required_bytes,
        flags=(*efficiency.flags, *_format_flags(device, formats), *flags),
    )


_ROUTED = frozenset(("experts.permute+activation",))
"""The operation that stands once in every layer with routed experts."""


def _once(
    op: Operation,
    device: Device,
    efficiency: Efficiency,
    network: Network | None,
    stretch: float,
    flags: dict[str, None],
) -> Timing | CollectiveCost | None:
    """Price one execution; None where messages are free."""
    if op.message is not None:
        return None if network is None else network(op.message)
    note = efficiency.flag(op, device)
    if note is not None:
        flags[note] = None
    return _stretched(operation_time(op, device, efficiency.curve(op, device)), stretch)


def _in_a_row(operations: Sequence[Operation], repeats: Number, layers: Number) -> Runs:
    routed = sum((op.count for op in operations if op.name in _ROUTED), start=0.0)
    return Runs(
        operations=tuple(op.count * repeats for op in operations),
        layers=layers * repeats,
        routed=routed * repeats,
        slots=repeats,
    )


def _count_useful(op: Operation, times: Number, device: Device, used: str, sums: _Sums) -> None:
    work = times * op.flop
    sums.flop = sums.flop + work
    sums.peak_s = sums.peak_s + work / device.peak_flop_per_s[used]
    moved = op.weight_bytes + op.state_read_bytes + op.state_write_bytes
    sums.required_bytes = sums.required_bytes + times * moved


def _small_kernels_s(engine: EngineProfile | None, device: Device) -> tuple[Number, Number]:
    """Return what an engine runs in a layer beside the operations, and more in a routed one [s]."""
    if engine is None:
        return 0.0, 0.0
    more = engine.expert_layer_s + engine.older_layer_s.get(device.generation, 0.0)
    return engine.layer_s, more


def _small_kernels(engine: EngineProfile, time: Number, executions: Number, sums: _Sums) -> Part:
    """Return what an engine runs in every layer beside the operations counted here."""
    sums.local_s = sums.local_s + time
    sums.launch_s = sums.launch_s + time
    return Part(
        name=f"{engine.name}: small kernels",
        component="engine",
        operation=Operation(
            name="small kernels",
            family="elementwise",
            component="engine",
            compute_format="bf16",
            count=executions,
        ),
        time_s=time,
        executions=executions,
        launch_s=time,
    )


def _host_time(engine: EngineProfile, runs: Runs, sequences: Number, sums: _Sums) -> Number:
    """Return the host's time that the device waits for [s].

    What the host does while the device runs (launching layer by layer without captured graphs,
    sampling and handing out tokens of the step before) is added where it takes longer.
    """
    host = engine.step_s + engine.sequence_s * sequences * runs.slots
    handed = engine.hidden_sequence_s * sequences * runs.slots
    beside = engine.eager_layer_s * runs.layers + handed
    device = sums.local_s + sums.network_s
    return host + np.maximum(beside - device, 0.0)


def _stretched(timing: Timing, by: float) -> Timing:
    """Return a timing whose work, but not its launch, takes `by` times as long."""
    if by == 1.0:
        return timing
    return Timing(
        time_s=(timing.time_s - timing.launch_s) * by + timing.launch_s,
        compute_s=timing.compute_s * by,
        memory_s=timing.memory_s * by,
        launch_s=timing.launch_s,
    )


def _local_part(op: Operation, timing: Timing, times: Number, sums: _Sums) -> Part:
    launch, compute = times * timing.launch_s, times * timing.compute_s
    memory, time = times * timing.memory_s, times * timing.time_s
    sums.local_s = sums.local_s + time
    sums.compute_s = sums.compute_s + compute
    sums.memory_s = sums.memory_s + memory
    sums.launch_s = sums.launch_s + launch
    return Part(
        name=op.name,
        component=op.component,
        operation=op,
        time_s=time,
        executions=times,
        compute_s=compute,
        memory_s=memory,
        launch_s=launch,
    )


def _message_part(op: Operation, cost: CollectiveCost, times: Number, sums: _Sums) -> Part:
    time = times * cost.time_s
    sums.network_s = sums.network_s + time
    return Part(
        name=op.name,
        component=op.component,
        operation=op,
        time_s=time,
        executions=times,
        tier_s={tier: times * value for tier, value in cost.time_by_tier_s.items()},
        wire_s={tier: times * value for tier, value in cost.wire_by_tier_s.items()},
        algorithm=cost.algorithm,
    )


def _format_flags(device: Device, formats: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        f"{device.id} has no {asked} arithmetic: computed in {used}"
        for asked, used in sorted(formats.items())
        if asked != used
    )
