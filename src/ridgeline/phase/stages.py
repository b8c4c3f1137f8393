"""How often a pipeline runs each operation: the slowest of its real stages sets the pace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ridgeline.model.architecture import Architecture
from ridgeline.model.work import Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Executions on the critical path of a step."""

    operations: tuple[Number, ...]
    layers: Number
    routed: Number
    """Of `layers`, those with routed experts."""
    slots: Number
    """Stages that follow each other on that path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """Micro-batches that follow each other through the real stages of a model.

    A stage of layers that differ (dense ones first, the LM head last) takes longer than another.
    With Σ the time through all P stages and t the slowest one's:

        decode, M micro-batches in a loop:  max(Σ, M·t) per token
        prefill, N of them in a row:        Σ + (N - 1)·t

    Source: lecture C4-F3 to C4-F7; the makespan of a permutation flow shop with equal jobs.
    """

    architecture: Architecture
    groups: tuple[int, ...]
    """Of each operation: its place in `model.operations.operation_groups`."""
    counts: tuple[Number, ...]
    """Of each operation: executions in a mean stage."""
    pp: Number
    micro_batches: Number
    loop: bool
    """A loop (decode), or a row (prefill)."""

    def runs(self, once_s: Sequence[Number], *, layer_s: Number, routed_s: Number) -> Runs:
        """Return the executions of every operation, from the time of one of each [s].

        Args:
            once_s: One execution of each operation.
            layer_s: What an engine adds to a layer.
            routed_s: What it adds to one with routed experts.
        """
        blocks = self.architecture.distinct_blocks()
        routed = [float(block.feed_forward.experts is not None) for block, _ in blocks]
        inside = [1 / self.pp, *(layers / self.pp for _, layers in blocks), 1 / self.pp]
        # In a loop the last stage sends too: the new token, back to the first.
        mean = [*inside, 1.0 if self.loop else (self.pp - 1) / self.pp]
        # Operations of a group run once in it, or more often: what a speculator drafts.
        often = [
            count / inside[group] if group < len(inside) else 1.0
            for group, count in zip(self.groups, self.counts, strict=True)
        ]
        times: list[Number] = [0.0, *(layer_s + routed_s * many for many in routed), 0.0, 0.0]
        for group, many, one in zip(self.groups, often, once_s, strict=True):
            times[group] = times[group] + many * one
        slowest, pace = self._slowest(times)
        passes, paced = self._passes(_dot(mean, times) * self.pp, pace)
        of_group = [passes * m + paced * s for m, s in zip(mean, slowest, strict=True)]
        return Runs(
            operations=tuple(
                many * of_group[group] for group, many in zip(self.groups, often, strict=True)
            ),
            layers=sum(of_group[1:-2], start=0.0),
            routed=_dot(of_group[1:-2], routed),
            slots=passes + paced,
        )

    def _passes(self, through_s: Number, pace_s: Number) -> tuple[Number, Number]:
        """Return stages that a micro-batch passes on its way, and turns of the slowest."""
        if not self.loop:
            return self.pp * 1.0, self.micro_batches - 1.0
        lone = np.greater(through_s, self.micro_batches * pace_s)
        return np.where(lone, self.pp, 0.0), np.where(lone, 0.0, self.micro_batches)

    def _slowest(self, times: Sequence[Number]) -> tuple[list[Number], Number]:
        """Return what the slowest stage runs of each group, and its time; sends go beside it."""
        most: list[Number] = [0.0] * len(times)
        pace: Number = 0.0
        for stages in np.unique(self.pp):
            for layers, first, last in self.architecture.distinct_stages(int(stages)):
                held = (float(first), *(float(n) for n in layers), float(last), 0.0)
                time = _dot(held, times)
                slower = np.equal(self.pp, stages) & np.greater(time, pace)
                pace = np.where(slower, time, pace)
                most = [np.where(slower, n, m) for n, m in zip(held, most, strict=True)]
        return most, pace


def _dot(many: Sequence[Number], each: Sequence[Number]) -> Number:
    return sum((n * t for n, t in zip(many, each, strict=True)), start=0.0)
