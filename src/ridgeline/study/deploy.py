"""From names to a deployment: model, cluster, layout, formats and efficiency."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from ridgeline.cost.efficiency import IDEAL, TYPICAL, Efficiency
from ridgeline.cost.network_records import CALIBRATED, NetworkEfficiency
from ridgeline.cost.network_records import TYPICAL as TYPICAL_NETWORK
from ridgeline.errors import InputError
from ridgeline.hardware import Cluster
from ridgeline.model.architecture import Architecture, WeightClass
from ridgeline.model.imbalance import expert_imbalance
from ridgeline.model.layout import Layout
from ridgeline.model.layout_rules import default_layout, expert_counts, layout_faults
from ridgeline.model.operations_moe import Imbalance
from ridgeline.model.precision import Precision
from ridgeline.phase.deployment import Deployment
from ridgeline.study.resolve import open_catalog, resolve_cluster, resolve_model
from ridgeline.units import parse_quantity

EFFICIENCIES: dict[str, Efficiency] = {"typical": TYPICAL, "ideal": IDEAL}
NETWORKS: dict[str, NetworkEfficiency | None] = {
    "calibrated": CALIBRATED,
    "typical": TYPICAL_NETWORK,
    "ideal": None,
}
"""None: work is divided evenly and messages are free."""

MAX_DEVICES = 2**20


def deploy(
    model: str | Architecture,
    *,
    on: str | Cluster,
    devices: int | None = None,
    degrees: Mapping[str, int | None] | None = None,
    redundant_experts: int = 0,
    network: str = "calibrated",
    dtype: str | None = None,
    kv_cache_dtype: str | None = None,
    dtypes: Mapping[str, str] | None = None,
    efficiency: str | Efficiency = "typical",
    routing: str = "uniform",
    memory_share: float = 0.9,
    catalog_dir: Path | None = None,
) -> Deployment:
    """Return one replica of a model on devices of a cluster.

    Args:
        model: Name, path or Architecture.
        on: Name or Cluster.
        devices: Devices of the replica; tp·pp·dp·cp, else all of the cluster's.
        degrees: tp, pp, ep, dp, cp; those left out are 1 (ep: all that divides), and a plain
            layout is chosen when none is given.
        redundant_experts: Extra physical experts.
        network: Key of NETWORKS.
        dtype: Weights.
        kv_cache_dtype: Cache.
        dtypes: Weights by tensor class.
        efficiency: Key of EFFICIENCIES, or an Efficiency.
        routing: How tokens choose experts, see `imbalance_of`.
        memory_share: Share of device memory the engine may fill.
        catalog_dir: Folder of the user's own entries.

    Raises:
        InputError: a layout that breaks a rule, or more devices than the cluster has.
    """
    catalog = open_catalog(catalog_dir)
    architecture = resolve_model(model, catalog) if isinstance(model, str) else model
    given = {k: v for k, v in (degrees or {}).items() if v is not None}
    wanted = devices
    if wanted is not None and not 1 <= wanted <= MAX_DEVICES:
        raise InputError(f"devices must be from 1 to {MAX_DEVICES:,}: {wanted}.")
    if wanted is None and given:
        wanted = _size(given)
    cluster = resolve_cluster(on, None, catalog) if isinstance(on, str) else on
    if isinstance(on, str) and wanted is not None and wanted > cluster.num_devices:
        cluster = resolve_cluster(on, wanted, catalog)
    count = wanted or cluster.num_devices
    if network not in NETWORKS:
        raise InputError(f"network must be one of {', '.join(NETWORKS)}: {network!r}.")
    rates = NETWORKS[network]
    layout = None
    if rates is not None:
        layout = _layout(architecture, cluster, count, given, redundant_experts)
    return Deployment(
        architecture=architecture,
        precision=Precision.of(
            architecture,
            dtype=dtype,
            kv_dtype=kv_cache_dtype,
            per_class=cast("Mapping[WeightClass, str]", dtypes or {}),
        ),
        cluster=cluster,
        num_devices=count,
        layout=layout,
        efficiency=_efficiency(efficiency),
        network=rates or CALIBRATED,
        imbalance=imbalance_of(routing),
        memory_share=memory_share,
    )


def imbalance_of(routing: str) -> Imbalance | None:
    """Return how unequal expert ranks are: `uniform`, `zipf:EXPONENT`, or `balanced` (not at all).

    Raises:
        InputError: another word, or an exponent outside 0 to below 10.
    """
    word, colon, number = routing.partition(":")
    if routing == "balanced":
        return None
    if routing == "uniform":
        return expert_imbalance()
    exponent = parse_quantity(number, "1", what="zipf exponent") if colon else math.nan
    if word != "zipf" or not 0 <= exponent < 10:
        raise InputError(
            "routing must be uniform, balanced, or zipf with an exponent from 0 to below 10,"
            f" such as zipf:1.0: {routing!r}."
        )
    return expert_imbalance(exponent)


def _size(given: Mapping[str, int]) -> int:
    size = 1
    for name in ("tp", "pp", "dp", "cp"):
        size *= given.get(name, 1)
    if size > MAX_DEVICES:
        raise InputError(f"tp·pp·dp·cp must be at most {MAX_DEVICES:,} devices: {size}.")
    return max(size, 1)


def _layout(
    architecture: Architecture,
    cluster: Cluster,
    count: int,
    given: Mapping[str, int],
    redundant_experts: int,
) -> Layout:
    scale_up = cluster.tiers[0].size if cluster.tiers else 1
    if not given:
        layout = default_layout(architecture, count, min(scale_up, cluster.num_devices))
    else:
        layout = Layout(
            tp=given.get("tp", 1),
            pp=given.get("pp", 1),
            ep=given.get("ep", 1),
            dp=given.get("dp", 1),
            cp=given.get("cp", 1),
            num_redundant_experts=redundant_experts,
        )
    faults = layout_faults(architecture, layout)
    if faults:
        raise InputError(" ".join(faults))
    if layout.num_devices != count:
        hint = (
            " Experts are spread by ep inside these devices." if expert_counts(architecture) else ""
        )
        raise InputError(
            f"tp·pp·dp·cp must equal the devices: {layout.num_devices} of {count}.{hint}"
        )
    return layout


def _efficiency(value: str | Efficiency) -> Efficiency:
    if isinstance(value, Efficiency):
        return value
    if value not in EFFICIENCIES:
        raise InputError(f"efficiency must be {' or '.join(EFFICIENCIES)}: {value!r}.")
    return EFFICIENCIES[value]
