"""What does it cost to spread one mixture-of-experts layer over racks? Chapter 2 as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeline.catalog import Catalog
from ridgeline.chalkboard import racks as chalk
from ridgeline.cost.network_records import CALIBRATED
from ridgeline.errors import InputError
from ridgeline.hardware.records import Cluster, NetworkTier
from ridgeline.model.architecture import Architecture, Experts
from ridgeline.model.precision import Precision
from ridgeline.model.state import state_bytes
from ridgeline.model.work import Routing
from ridgeline.readers.routing import read_routing
from ridgeline.study.rack_exchange import Exchange, exchange_time
from ridgeline.study.resolve import open_catalog, resolve_cluster, resolve_model
from ridgeline.units import parse_quantity, parse_sweep

DOMAINS = ("hgx-h100-8", "hgx-b200-8", "mi355x-8", "trn2-ultra-64", "gb200-nvl72", "vr-nvl72")
"""Scale-up domains of the C2-Q4 chart."""
WIDTHS = {"bf16": 2.0, "fp8": 1.0, "fp4": 0.5}
"""Bytes per parameter of the largest-model chart, scales not counted."""
_MAX_TOKENS = 2**27
_MAX_DEVICES = 4096
_LEAST_RATIO, _MOST_RATIO = 1e-3, 1e6
_MAX_ELEMENT_BYTES = 16
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RacksResult:
    """The rack cliff, the largest model per domain, and two comparisons of topologies."""

    request: dict[str, Any]
    exchange: Exchange
    cliff: list[dict[str, Any]]
    """One row per racks x ratio; times are of all layers, out and back."""
    traffic_bytes: Floats
    """Dispatch bytes of one layer, [devices, devices], at the most racks."""
    imbalance: float
    """Fullest device over mean, from the given load; 1 for uniform routing."""
    domains: list[dict[str, Any]]
    """Largest model per scale-up domain."""
    topologies: list[dict[str, Any]]
    """The same devices joined in different ways."""
    flags: tuple[str, ...]


def racks(
    model: str | Architecture = "deepseek-v3",
    *,
    on: str = "gb200-nvl72",
    devices_per_rack: int | None = None,
    num_racks: Sequence[int] = (1, 2, 3, 4),
    ratios: Sequence[float] = (1.0, 4.0, 8.0, 18.0),
    tokens_per_device: int = 128,
    context: int = 4096,
    dispatch_bytes: float = 1.0,
    combine_bytes: float = 2.0,
    load: Sequence[float] | None = None,
    catalog_dir: Path | None = None,
) -> RacksResult:
    """Return the all-to-all of one model over racks, and what other networks would do.

    Args:
        model: A mixture of experts.
        on: Cluster whose scale-up domain is the rack; the ratio sets its scale-out link.
        devices_per_rack: Default: the scale-up domain of `on`.
        num_racks: Q.
        ratios: ρ, scale-up over scale-out bandwidth per device.
        tokens_per_device: Tokens each device dispatches per layer and step.
        context: Tokens per sequence in the cache, for the KV reserve.
        dispatch_bytes: Per element on the way out.
        combine_bytes: Per element on the way back.
        load: Relative load of each routed expert; None: uniform.
        catalog_dir: More catalogue entries.

    Raises:
        InputError: no experts, no scale-up domain, or numbers out of range.
    """
    shelf = open_catalog(catalog_dir)
    arch = resolve_model(model, shelf)
    exchange = _exchange(arch, dispatch_bytes, combine_bytes)
    unit = resolve_cluster(on, None, shelf)
    per_rack = devices_per_rack
    if per_rack is None:
        per_rack = unit.tiers[0].size if unit.tiers else 1
    _check(unit, per_rack, num_racks, ratios, tokens_per_device)
    devices = per_rack * max(num_racks)
    shares = _device_shares(exchange, devices, load)
    imbalance = float(shares.max() * devices)
    matrix = _traffic(exchange, devices, tokens_per_device, shares)
    flags = _flags(unit, per_rack, exchange, devices)
    cliff: list[dict[str, Any]] = []
    for count in num_racks:
        for ratio in ratios:
            if count == 1 and cliff and cliff[-1]["racks"] == 1:  # no way out, so no ratio
                cliff.append({**cliff[-1], "ratio": ratio})
                continue
            row, found = _cliff_row(
                exchange,
                rack_cluster(unit, per_rack, count, ratio),
                (count, ratio),
                tokens_per_device,
                imbalance,
            )
            cliff.append(row)
            flags += found
    topologies, found = _topologies(exchange, tokens_per_device, shelf)
    flags += found
    return RacksResult(
        request={
            "model": arch.name,
            "on": on,
            "devices_per_rack": per_rack,
            "tokens_per_device": tokens_per_device,
            "context": context,
            "scale_up_bytes_per_s": unit.tiers[0].bandwidth_bytes_per_s,
            "tiers": _tiers(_two_of(on, unit, shelf)),
        },
        exchange=exchange,
        cliff=cliff,
        traffic_bytes=matrix,
        imbalance=imbalance,
        domains=[_domain(d, arch, tokens_per_device, context, shelf) for d in DOMAINS],
        topologies=topologies,
        flags=tuple(dict.fromkeys(flags)),
    )


def parse_racks(text: str) -> tuple[int, ...]:
    """Return the numbers of racks: "1:4" counts every one, "1,2,8" those.

    >>> parse_racks("1:4")
    (1, 2, 3, 4)
    """
    ends = text.split(":")
    whole = f"{text}:1" if len(ends) == 2 and "," not in text else text
    return parse_sweep(whole, what="--racks")


def parse_ratios(text: str) -> tuple[float, ...]:
    """Return the ratios "1,4,8,18" as numbers.

    Raises:
        InputError: not numbers, or not positive.
    """
    found = tuple(parse_quantity(item, "1", what="--ratio") for item in text.split(","))
    if not all(_LEAST_RATIO <= ratio <= _MOST_RATIO for ratio in found):
        raise InputError(f"--ratio must be positive, from 0.001 to 1e6: {text[:100]!r}.")
    return tuple(dict.fromkeys(found))


def read_load(path: Path) -> tuple[float, ...]:
    """Return the copies each expert received in a routing file, layers summed.

    Raises:
        InputError: the file does not hold routing counts.
    """
    return tuple(float(x) for x in read_routing(path, num_ranks=1).load.sum(axis=0))


def _exchange(arch: Architecture, dispatch_bytes: float, combine_bytes: float) -> Exchange:
    blocks = [b for b in arch.blocks if b.feed_forward.experts is not None]
    if not blocks:
        raise InputError(
            f"`racks` needs a mixture of experts: {arch.name} has none. Use deepseek-v3, for one."
        )
    for name, value in (("dispatch-bytes", dispatch_bytes), ("combine-bytes", combine_bytes)):
        if not 0 < value <= _MAX_ELEMENT_BYTES:
            raise InputError(
                f"{name} must be above 0 and at most {_MAX_ELEMENT_BYTES} bytes: {value}."
            )
    experts: Experts = blocks[0].feed_forward.experts  # pyright: ignore[reportAssignmentType]
    return Exchange(
        hidden_size=arch.hidden_size,
        moe_layers=sum(b.count for b in blocks),
        routing=Routing(
            top_k=experts.num_experts_per_tok,
            num_experts=experts.num_experts,
            num_groups=experts.num_groups,
            top_groups=experts.num_groups_per_tok,
        ),
        dispatch_bytes=dispatch_bytes,
        combine_bytes=combine_bytes,
    )


def _two_of(on: str, unit: Cluster, shelf: Catalog) -> Cluster:
    """Return two domains over the catalogue's own scale-out link; one where it has none."""
    try:
        return resolve_cluster(on, 2 * unit.num_devices, shelf)
    except InputError:
        return unit


def _tiers(cluster: Cluster) -> list[dict[str, Any]]:
    """Return the networks of a cluster, innermost first."""
    return [
        {
            "name": tier.name,
            "size": tier.size,
            "topology": tier.topology,
            "dimensions": list(tier.dimensions),
            "bandwidth_bytes_per_s": tier.bandwidth_bytes_per_s,
            "latency_s": tier.latency_s,
        }
        for tier in cluster.tiers
    ]


def _check(
    unit: Cluster,
    per_rack: int,
    num_racks: Sequence[int],
    ratios: Sequence[float],
    tokens: int,
) -> None:
    if not unit.tiers:
        raise InputError(
            f"`racks` needs a scale-up domain: {unit.id} is one device. Use gb200-nvl72."
        )
    if per_rack < 2 or min(num_racks) < 1 or per_rack * max(num_racks) > _MAX_DEVICES:
        raise InputError(
            f"A rack has at least 2 devices, and all racks at most {_MAX_DEVICES:,}:"
            f" {per_rack:,} x {max(num_racks):,}. Use fewer."
        )
    if not all(_LEAST_RATIO <= r <= _MOST_RATIO for r in ratios) or not 1 <= tokens <= _MAX_TOKENS:
        raise InputError(
            "Ratios must be positive, from 0.001 to 1e6, and tokens from 1 to 2^27:"
            f" {min(ratios)}, {tokens:,}."
        )


def _flags(unit: Cluster, per_rack: int, exchange: Exchange, devices: int) -> list[str]:
    flags = list(unit.flags)
    if per_rack != unit.tiers[0].size:
        flags.append(
            f"assumed: {per_rack} devices share a domain like the {unit.tiers[0].size} of {unit.id}"
        )
    experts = int(exchange.routing.num_experts)
    if experts % devices:
        flags.append(
            f"{experts} experts do not divide over {devices} devices: times are for the mean of"
            f" {experts / devices:.3g} per device"
        )
    return flags


def rack_cluster(unit: Cluster, per_rack: int, count: int, ratio: float) -> Cluster:
    """Return `count` racks like the domain of `unit`, joined at 1/ratio of its bandwidth."""
    inner = unit.tiers[0]
    dims = inner.dimensions if per_rack == inner.size else (per_rack,)
    inner = replace(inner, size=per_rack, dimensions=dims if inner.dimensions else ())
    outer = NetworkTier(
        name="scale_out",
        size=per_rack * count,
        bandwidth_bytes_per_s=inner.bandwidth_bytes_per_s / ratio,
        latency_s=5e-6,
    )
    tiers = (inner, outer) if count > 1 else (inner,)
    return replace(unit, num_devices=per_rack * count, tiers=tiers)


def _cliff_row(
    exchange: Exchange,
    pod: Cluster,
    at: tuple[int, float],
    tokens: int,
    imbalance: float,
) -> tuple[dict[str, Any], list[str]]:
    count, ratio = at
    link = pod.tiers[0].bandwidth_bytes_per_s
    per_token = chalk.all_to_all_bytes_per_token(
        experts_per_token=float(exchange.routing.top_k),
        hidden_size=exchange.hidden_size,
        dispatch_bytes=exchange.dispatch_bytes,
        combine_bytes=exchange.combine_bytes,
        moe_layers=exchange.moe_layers,
    )
    one_rack = chalk.all_to_all_time(
        tokens_per_device=tokens, bytes_per_token=per_token, link_bytes_per_s=link
    )
    slowdown = float(chalk.all_to_all_slowdown(racks=count, bandwidth_ratio=ratio))
    bound = exchange_time(exchange, pod, tokens, "ideal", "direct", imbalance=imbalance)
    once = exchange_time(exchange, pod, tokens, "ideal", "hierarchical", imbalance=imbalance)
    detail = exchange_time(exchange, pod, tokens, CALIBRATED, imbalance=imbalance)
    row = {
        "racks": count,
        "ratio": ratio,
        "crossing_share": float(chalk.crossing_share(racks=count)),
        "crossing_bytes_per_device": bound["crossing_bytes"],
        "crossing_bytes_per_device_once_per_rack": once["crossing_bytes"],
        "slowdown_chalk": slowdown,
        "time_chalk_s": float(one_rack) * slowdown,
        "time_ideal_s": bound["time_s"],
        "time_ideal_once_per_rack_s": once["time_s"],
        "time_detailed_s": detail["time_s"],
        "algorithm": detail["algorithm"],
    }
    return row, detail["flags"]


def _device_shares(
    exchange: Exchange, devices: int, load: Sequence[float] | None
) -> NDArray[np.float64]:
    """Return the share of all copies that each device receives, experts laid out in order."""
    experts = int(exchange.routing.num_experts)
    weight = np.ones(experts) if load is None else np.asarray(load, dtype=float)
    if weight.shape != (experts,) or not np.all(np.isfinite(weight)) or weight.min() < 0:
        raise InputError(
            f"The load must hold one number of at least 0 for each of {experts} experts:"
            f" {weight.shape[0] if weight.ndim else 1} given."
        )
    if weight.sum() <= 0:
        raise InputError("The load must not be all zero. Give relative counts per expert.")
    edges = np.linspace(0, experts, devices + 1)
    filled = np.concatenate([[0.0], np.cumsum(weight)])
    return np.diff(np.interp(edges, np.arange(experts + 1), filled)) / weight.sum()


def _traffic(exchange: Exchange, devices: int, tokens: int, shares: Floats) -> Floats:
    """Return dispatch bytes of one layer from each device to each; its own copies stay home."""
    sent = tokens * float(exchange.routing.top_k) * exchange.hidden_size * exchange.dispatch_bytes
    return np.tile(sent * shares, (devices, 1)) * (1.0 - np.eye(devices))


def _domain(
    name: str, arch: Architecture, sequences: int, context: int, shelf: Catalog
) -> dict[str, Any]:
    """Return the largest model of one scale-up domain beside the caches of its sequences."""
    cluster = resolve_cluster(name, None, shelf)
    capacity = cluster.device.memory.capacity_bytes
    domain = cluster.num_devices
    each = float(state_bytes(arch, context, Precision.of(arch)))
    total = chalk.domain_capacity(devices=domain, capacity_bytes=capacity)
    reserve = min(1.0, sequences * each / capacity) * total
    row: dict[str, Any] = {
        "cluster": name,
        "devices": domain,
        "capacity_bytes": total,
        "kv_reserve_bytes": reserve,
        "kv_fits": sequences * each < capacity,
    }
    for width, size in WIDTHS.items():
        row[f"params_{width}"] = float(
            chalk.largest_model(capacity_bytes=total, kv_bytes=reserve, bytes_per_param=size)
        )
    return row


def _topologies(
    exchange: Exchange, tokens: int, shelf: Catalog
) -> tuple[list[dict[str, Any]], list[str]]:
    """NVL72 against nine 8-device boards; a torus against a switch of the same links."""
    torus = resolve_cluster("tpu-v5p-64", None, shelf)
    wide = resolve_cluster("tpu-v5p-512", None, shelf)
    cases = [
        ("72 x GB200 in one NVL72", resolve_cluster("gb200-nvl72", None, shelf)),
        ("72 x B200 in nine boards of 8", resolve_cluster("hgx-b200-8", 72, shelf)),
    ]
    for pod in (torus, wide):
        tier = pod.tiers[0]
        shape = "x".join(str(d) for d in tier.dimensions)
        switch = replace(pod, tiers=(replace(tier, topology="switch", dimensions=()),))
        cases += [
            (f"{pod.num_devices} x TPU v5p, torus {shape}", pod),
            (f"{pod.num_devices} x TPU v5p links, one switch", switch),
        ]
    rows: list[dict[str, Any]] = []
    flags: list[str] = []
    for label, pod in cases:
        bound = exchange_time(exchange, pod, tokens, "ideal", "direct")
        once = exchange_time(exchange, pod, tokens, "ideal", "hierarchical")
        detail = exchange_time(exchange, pod, tokens, CALIBRATED)
        rows.append(
            {
                "network": label,
                "devices": pod.num_devices,
                "time_ideal_s": bound["time_s"],
                "time_ideal_once_per_rack_s": once["time_s"],
                "time_detailed_s": detail["time_s"],
                "algorithm": detail["algorithm"],
                "tiers": _tiers(pod),
            }
        )
        flags += detail["flags"]
    return rows, flags
