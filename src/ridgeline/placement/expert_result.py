"""What a placement of experts costs, beside the engines' initial one."""

from __future__ import annotations

from dataclasses import dataclass

from ridgeline.placement.expert_records import Floats, Placement, RankTree, RoutingLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one placement costs, per layer."""

    rank_loads: Floats
    """Tokens each rank computes, [layers, ranks]."""
    imbalance: Floats
    """Fullest rank / mean rank [1], [layers]."""
    rack_imbalance: Floats
    """Fullest rack / mean rack [1], [layers]."""
    cross_rack: Floats
    """Messages that leave their rack [message], [layers]."""
    cross_node: Floats
    """Messages that leave their node, also within the rack [message], [layers]."""

    @property
    def total_imbalance(self) -> float:
        """Sum over layers of the fullest rank / sum of the mean rank [1]: what a step waits for."""
        return float(self.rank_loads.max(axis=1).sum() / self.rank_loads.mean(axis=1).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertsResult:
    """A placement, and the engines' initial placement beside it."""

    source: str
    tree: RankTree
    log: RoutingLog
    num_redundant: int
    num_groups: int
    placement: Placement
    before: Measured
    after: Measured
    bound: Floats
    """Fullest rank / mean rank that no placement goes below [1], [layers]."""
    message_bytes: float | None
    """Bytes of one activation out and its result back [B]; None: hidden size not given."""
    tokens: float | None
    """Tokens the log covers; None: not given."""
    flags: tuple[str, ...]

    @property
    def total_bound(self) -> float:
        """The bound of `total_imbalance` [1]."""
        mean = self.log.load.sum(axis=1)
        return float((self.bound * mean).sum() / mean.sum())

    @property
    def bytes_factor(self) -> float | None:
        """Bytes per message [B], or bytes per message and token of the log [B]."""
        if self.message_bytes is None:
            return None
        return self.message_bytes / (self.tokens or 1.0)
