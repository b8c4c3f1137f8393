"""Collectives: NCCL latencies and bus bandwidths, DeepEP dispatch and combine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ridgeline.catalog import Catalog
from ridgeline.catalog.clusters import named_cluster
from ridgeline.cost.collectives import CollectiveCost, collective_time
from ridgeline.errors import RidgelineError
from ridgeline.hardware import Cluster
from ridgeline.hardware.records import NetworkTier
from ridgeline.model.layout import Layout
from ridgeline.model.work import CollectiveKind, Message, Routing
from ridgeline.validate.chip_names import find_chip
from ridgeline.validate.prediction import (
    Answer,
    NotPredicted,
    Prediction,
    default_network,
    in_unit,
)
from ridgeline.validate.truth_rows import TruthRow

_KINDS: dict[str, CollectiveKind] = {
    "all_reduce": "all_reduce",
    "allreduce": "all_reduce",
    "send_recv": "point_to_point",
    "all_gather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "all_to_all": "all_to_all",
}
_LIBRARY_ALGORITHMS = frozenset({"ring", "ring_ll", "tree", "in_network", "send", "pairwise"})
"""What NCCL, RCCL and their kin choose from; one- and two-shot are kernels of serving engines."""


def predict_collectives(rows: Sequence[TruthRow]) -> dict[str, Answer]:
    """Return a prediction or a reason for every collective row."""
    answers: dict[str, Answer] = {}
    for row in rows:
        try:
            answers[row.id] = _one(row)
        except RidgelineError as error:
            answers[row.id] = NotPredicted(reason=str(error))
    return answers


def _one(row: TruthRow) -> Answer:
    if re.match(r"(dispatch|combine)_", row.metric):
        return _expert_exchange(row)
    asked = library_message(row)
    if asked is None:
        return NotPredicted(reason=f"collective metric `{row.metric}` is not modelled")
    cost = library_cost(asked, row.machine)
    ranks = float(asked.group)
    if "busbw" in row.metric:
        value = float(asked.payload_bytes) * 2 * (ranks - 1) / ranks / float(cost.time_s) / 1e9
    else:
        value = in_unit(float(cost.time_s), row.unit)
    return _prediction(value, cost, "collective")


def library_message(row: TruthRow) -> Message | None:
    """Return the message of a row about a collectives library; None for any other row."""
    kind, payload = collective_kind(row), row.number("bytes")
    if row.metric.endswith("busbw_peak"):
        payload = payload or 16 * 2.0**30
    if kind is None or payload is None:
        return None
    ranks = row.count("workers", row.count("n_chips"))
    share = ranks if kind == "all_gather" else 1
    return Message(kind=kind, payload_bytes=payload / share, group=ranks, axis="tp")


def library_cost(message: Message, chip: str) -> CollectiveCost:
    """Return the cost of a message, or of an array of payloads, on devices of a chip.

    With what a collectives library runs; engines' own kernels are left out.
    """
    ranks = int(np.max(message.group))
    return _library_cost(message, cluster_of(chip, ranks), Layout(tp=ranks))


def _library_cost(message: Message, cluster: Cluster, layout: Layout) -> CollectiveCost:
    free = collective_time(message, cluster, layout, efficiency=default_network())
    library = [name for name in free.candidates_s if name in _LIBRARY_ALGORITHMS]
    if not library:
        return free
    return collective_time(
        message, cluster, layout, efficiency=default_network(), algorithms=library
    )


def collective_kind(row: TruthRow) -> CollectiveKind | None:
    """Return the collective of a row, None for expert exchanges and what is no collective."""
    for word, kind in _KINDS.items():
        if word == row.text("op") or row.metric.startswith(word):
            return kind
    return None


def _prediction(value: float, cost: CollectiveCost, family: str) -> Prediction:
    spread = float(np.max(cost.spread))
    return Prediction(
        value=value,
        bound=f"network: {cost.algorithm}",
        family=family,
        flags=cost.flags,
        p10=value / (1 + spread),
        p90=value * (1 + spread),
    )


_PCIE_BYTES_PER_S = 31.5e9
"""PCIe 4.0 x16: 16 GT/s x 16 x 128/130 / 8."""


def cluster_of(chip: str, devices: int) -> Cluster:
    """Return `devices` of a chip, joined as its usual server joins them.

    `pairwise` NVLink (bridges between two cards) keeps the link for two; beyond, PCIe 4.0 x16
    through the host.
    """
    named = find_chip(chip)
    if not named.in_catalog:
        cluster = named_cluster(Catalog(), "rtx-4090", devices)
        return replace(cluster, id=named.device.id, device=named.device, usd_per_device_hour=None)
    cluster = named_cluster(Catalog(), named.device.id, devices)
    if "pairwise" in chip.lower() and cluster.tiers:
        first = cluster.tiers[0]
        pairs = replace(first, size=2)
        pcie = NetworkTier(
            name="pcie",
            size=devices,
            bandwidth_bytes_per_s=_PCIE_BYTES_PER_S,
            latency_s=5e-6,
            topology="switch",
        )
        return replace(cluster, tiers=(pairs,) if devices <= 2 else (pairs, pcie))
    return cluster


def _expert_exchange(row: TruthRow) -> Answer:
    """DeepEP: latency of a step's dispatch or combine, or payload over the slowest link."""
    tokens, hidden = row.number("tokens") or row.number("batch"), row.number("hidden") or 7168.0
    top_k, ranks = row.number("topk") or 8.0, row.count("ep", row.count("n_chips"))
    if tokens is None:
        return NotPredicted(reason="tokens per device not given")
    combine = row.metric.startswith("combine")
    width = 1.0 if "fp8" in row.text("compute_dtype") and not combine else 2.0
    payload = tokens * top_k * hidden * width
    cluster = cluster_of(row.machine, ranks)
    groups, top_groups = 1, 1
    if "top-4 groups" in row.text("setup"):
        groups, top_groups = 8, 4
    routing = Routing(
        top_k=top_k,
        num_experts=256,
        num_groups=groups,
        top_groups=top_groups,
        returning=combine,
    )
    message = Message(
        kind="all_to_all", payload_bytes=payload, group=ranks, axis="ep", routing=routing
    )
    layout = Layout(dp=ranks, ep=ranks)
    cost = collective_time(message, cluster, layout, efficiency=default_network())
    if "bandwidth" in row.metric:
        value = _counted_bytes(cost, cluster, ranks) / float(cost.time_s) / 1e9
    else:
        value = in_unit(float(cost.time_s), row.unit)
    return _prediction(value, cost, "expert exchange")


def _counted_bytes(cost: CollectiveCost, cluster: Cluster, ranks: int) -> float:
    """Return what DeepEP divides by time: all copies bound for units of the slowest tier [B].

    The copy that stays in the sender's own unit counts too: of u units, u/(u - 1) of the wire's.

    Source: DeepSeek 2025, DeepEP, tests/legacy/test_internode.py and test_intranode.py.
    """
    sizes = {tier.name: float(tier.size) for tier in cluster.tiers}
    below, wire, units = 1.0, 0.0, 2.0
    for name, sent in cost.bytes_by_tier.items():
        if float(sent) > 0:
            wire, units = float(sent), ranks / below
        below = min(sizes.get(name, below), ranks)
    return wire * units / (units - 1.0)
