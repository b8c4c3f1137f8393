"""Fitted collectives against open measurements by others, which no fit has seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from collective_rows import cluster_of

from ridgeline.cost.collectives import collective_time
from ridgeline.cost.network_records import LinkRecord, NetworkEfficiency
from ridgeline.cost.routing import expected_domains
from ridgeline.hardware.records import Cluster
from ridgeline.model.layout import Layout
from ridgeline.model.work import Message, Routing


def check(root: Path, records: dict) -> None:
    """Print the error on open measurements by others, which no fit has seen."""
    efficiency = NetworkEfficiency(
        name="fit",
        records=records,
        default=LinkRecord(launch_s=5e-6, step_s=0, bandwidth_share=0.75),
        source="",
    )

    def seconds(cluster: Cluster, algorithms: tuple[str, ...], **message) -> float:  # noqa: ANN003
        group = int(message["group"])
        cost = collective_time(
            Message(axis="tp", **message),
            cluster,
            Layout(tp=group),
            efficiency=efficiency,
            algorithms=algorithms,
        )
        return float(cost.time_s)

    found = []
    a100 = cluster_of("a100_sxm", multi_node=False)
    mesh = replace(a100.tiers[0], size=4, topology="mesh")
    mesh4 = replace(a100, id="a100-mesh", tiers=(mesh,))
    vidur = pd.read_csv(root / "kernel_vidur.csv")
    vidur = vidur[vidur.metric.eq("all_reduce_latency") & vidur.chip.str.contains("DGX")]
    local = vidur.setup.str.extract(r"(\d+) devices per node")[0].astype(int)
    for _, r in vidur[local == vidur.n_chips].iterrows():
        t = seconds(a100, ("ring",), kind="all_reduce", payload_bytes=r.bytes, group=r.n_chips)
        found.append(("vidur A100 NCCL all_reduce", r.n_chips, r.bytes, t / (r.value * 1e-6) - 1))
    compass = pd.read_csv(root / "kernel_llmcompass_a100_mi210.csv")
    for _, r in compass[compass.metric.eq("allreduce_latency")].iterrows():
        t = seconds(mesh4, ("ring",), kind="all_reduce", payload_bytes=r.bytes, group=4)
        found.append(("LLMCompass 4xA100 mesh", 4, r.bytes, t / (r.value * 1e-6) - 1))
    h800 = cluster_of("h100_sxm", multi_node=True)
    slow = replace(h800.tiers[0], bandwidth_bytes_per_s=200e9)
    wide = replace(h800.tiers[1], size=256)
    h800 = replace(h800, id="h800", num_devices=256, tiers=(slow, wide))
    deepep = pd.read_csv(root / "collective_deepep.csv")
    for _, r in deepep[deepep.tokens.notna()].iterrows():
        width = 1 + 4 / 128 if r.compute_dtype == "fp8" else 2.0
        width = width if isinstance(r.compute_dtype, str) else 2.0
        normal = "bandwidth" in r.metric
        limits = {"num_groups": min(8, r.n_chips / 8), "top_groups": min(4, r.n_chips / 8)}
        routing = Routing(
            top_k=8,
            num_experts=256,
            returning="combine" in r.metric,
            **(limits if normal else {}),
        )
        t = seconds(
            h800,
            ("hierarchical" if normal else "direct",),
            kind="all_to_all",
            payload_bytes=r.tokens * r.hidden * 8 * width,
            group=r.n_chips,
            routing=routing,
        )
        measured = r.value * 1e-6
        if normal:
            once = r.tokens * r.hidden * width
            domains = r.n_chips if r.n_chips == 8 else r.n_chips / 8
            # DeepEP's own test counts every distinct node (or rank), the sender's included.
            measured = once * float(expected_domains(routing, domains)) / (r.value * 1e9)
        name = f"DeepEP H800 {'normal' if normal else 'low-latency'} {r.metric.split('_')[0]}"
        found.append((name, r.n_chips, r.tokens * r.hidden * 8 * width, t / measured - 1))
    table = pd.DataFrame(found, columns=["source", "group", "payload", "error"])
    decade = np.floor(np.log10(table.payload)).astype(int).clip(3, 9)
    print("\nOpen measurements by others, never fitted: median absolute error [%]")
    size = (100 * table.error.abs()).groupby([table.source, table.group, decade]).median()
    print(size.unstack().round(1).to_string(na_rep="-"))  # noqa: PD010
