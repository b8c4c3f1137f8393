"""What the experts of one model send over a network, and how long that takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from ridgeline.cost.collectives import collective_time
from ridgeline.cost.network_records import NetworkEfficiency
from ridgeline.hardware.records import Cluster
from ridgeline.model.layout import Layout
from ridgeline.model.work import Message, Routing


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What the experts of one model send: once out and once back per layer."""

    hidden_size: int
    moe_layers: int
    routing: Routing
    dispatch_bytes: float
    """Per element on the way out."""
    combine_bytes: float
    """Per element on the way back."""


def exchange_time(
    exchange: Exchange,
    cluster: Cluster,
    tokens_per_device: float,
    efficiency: NetworkEfficiency | Literal["ideal"],
    algorithm: str | None = None,
    *,
    imbalance: float = 1.0,
) -> dict[str, Any]:
    """Return time [s], scale-out bytes per device [B] and algorithm of all layers, out and back.

    Everybody waits for the device that receives the most: `imbalance` times the mean.
    """
    time_s, crossing, names, flags = 0.0, 0.0, list[str](), list[str]()
    for width, back in ((exchange.dispatch_bytes, False), (exchange.combine_bytes, True)):
        copies = float(exchange.routing.top_k) * exchange.hidden_size * width
        message = Message(
            kind="all_to_all",
            payload_bytes=tokens_per_device * copies * imbalance,
            group=cluster.num_devices,
            axis="ep",
            routing=replace(exchange.routing, returning=back),
        )
        layout = Layout(dp=cluster.num_devices, ep=cluster.num_devices)
        cost = collective_time(
            message,
            cluster,
            layout,
            efficiency=efficiency,
            algorithms=None if algorithm is None else [algorithm],
        )
        time_s += float(cost.time_s) * exchange.moe_layers
        mean = float(cost.bytes_by_tier.get("scale_out", 0.0)) / imbalance
        crossing += mean * exchange.moe_layers
        names.append(str(cost.algorithm))
        flags += cost.flags
    joined = " / ".join(dict.fromkeys(names))
    return {"time_s": time_s, "crossing_bytes": crossing, "algorithm": joined, "flags": flags}
