"""Measured collectives of aiconfigurator-core as rows in this project's conventions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from ridgeline.cost.network_records import RACK
from ridgeline.hardware.records import Cluster, Device, MemoryTier, NetworkTier

# Datasheet rate per device and direction [B/s], tier and generation of the measured systems.
SYSTEMS = {
    "a100_sxm": ("ampere", "scale_up", 300e9),
    "h100_sxm": ("hopper", "scale_up", 450e9),
    "h200_sxm": ("hopper", "scale_up", 450e9),
    "b200_sxm": ("blackwell", "scale_up", 900e9),
    "gb200": ("blackwell", "scale_up", 900e9),
    "b300_sxm": ("blackwell_ultra", "scale_up", 900e9),
    "gb300": ("blackwell_ultra", "scale_up", 900e9),
    "l40s": ("ada", "pcie", 31.5e9),
    "rtx_pro_6000_server": ("blackwell_rtx", "pcie", 63e9),
    "b60": ("battlemage", "pcie", 31.5e9),
}
ITEM = {"half": 2, "int8": 1, "bfloat16": 2}
ENGINES = {"vLLM_custom_graph", "SGLang_CustomAllReduce_graph", "TRTLLM"}
NO_P2P = {"sglang 0.5.10", "trtllm 1.3.0rc10", "vllm 0.19.0"}
NCCL_KINDS = {
    "all_gather": "all_gather",
    "all_reduce": "all_reduce",
    "alltoall": "all_to_all",
    "reduce_scatter": "reduce_scatter",
}
SHARP = {"hopper", "blackwell", "blackwell_ultra"}
WIRE = {"scale_up": 2e-6, "pcie": 5e-6, "scale_out": 5e-6}


def measurements(root: Path) -> pd.DataFrame:
    """Return all usable rows: system, library, kind, group, nodes, payload_bytes, time_s ..."""
    frames = []
    for system in SYSTEMS:
        for path in sorted((root / system / "comm").glob("*/*/*.parquet")):
            library, version, name = path.parts[-3:]
            data = pd.read_parquet(path)
            if name.startswith(("nccl", "oneccl")):
                frame = _nccl(data, sharp=SYSTEMS[system][0] in SHARP)
            elif name.startswith("custom_allreduce"):
                frame = _engine(data)
            elif name.startswith("trtllm_alltoall"):
                frame = _one_copy(data)
            elif name.startswith("wideep_deepep"):
                frame = _deepep(data, normal="normal" in name, system=system)
            else:
                continue
            frames.append(frame.assign(system=system, version=f"{library} {version}"))
    rows = pd.concat(frames, ignore_index=True)
    # The multi-node rows of H200 repeat those of H100 digit for digit: not a second measurement.
    rows = rows[~((rows.system == "h200_sxm") & (rows.nodes > 1))]
    # The L40S host is broken beyond one pair: 4 devices get 4.7 GB/s where 2 get 19.6.
    rows = rows[~((rows.system == "l40s") & (rows.group > 2))]
    # Older runs of engines on the RTX host staged all copies in host memory (15 GB/s, no P2P).
    rows = rows[~((rows.system == "rtx_pro_6000_server") & rows.version.isin(NO_P2P))]
    keys = ["system", "library", "kind", "group", "nodes", "payload_bytes", "top_k", "experts"]
    median = rows.groupby([*keys, "phase"], as_index=False, dropna=False).time_s.median()
    return median[median.time_s > 0]


def _nccl(data: pd.DataFrame, *, sharp: bool) -> pd.DataFrame:
    if sharp:
        # Switches reduce 16-bit numbers, as engines send them, but no 8-bit ones.
        data = data[(data.op_name != "all_reduce") | (data.nccl_dtype != "int8")]
    total = data.message_size * data.nccl_dtype.map(ITEM)
    kind = data.op_name.map(NCCL_KINDS)
    # The files count the gathered buffer; our payload is the shard.
    payload = np.where(kind == "all_gather", total / data.num_gpus, total)
    return _frame(data, "nccl", kind, data.num_gpus, payload, data.latency * 1e-3)


def _engine(data: pd.DataFrame) -> pd.DataFrame:
    data = data[data.kernel_source.isin(ENGINES)]
    payload = data.message_size * data.allreduce_dtype.map(ITEM)
    frame = _frame(data, "engine", "all_reduce", data.num_gpus, payload, data.latency * 1e-3)
    return frame.assign(phase="engine")


def _deepep(data: pd.DataFrame, *, normal: bool, system: str) -> pd.DataFrame:
    per_node = 4 if system.startswith("gb") else 8
    if normal:
        # On 4 and 8 nodes the rows agree with neither the link's rate nor each other.
        data = data[data.node_num <= 2]
        data = data[data.dispatch_sms >= 20]
    elif (data.node_num > 1).any():
        # The older single-node runs sent all over the NICs' loop-back path.
        data = data[data.node_num > 1]
    frames = []
    for phase, width in (("dispatch", 1 + 4 / 128), ("combine", 2.0)):
        column = f"{phase}_transmit_us" if normal else f"{phase}_avg_t_us"
        payload = data.num_token * data.num_topk * data.hidden_size * width
        name = "deepep_normal" if normal else "deepep_ll"
        group = data.node_num * per_node
        frame = _frame(data, name, "all_to_all", group, payload, data[column] * 1e-6)
        frames.append(
            frame.assign(
                phase=phase,
                nodes=data.node_num.to_numpy(),
                top_k=data.num_topk.to_numpy(),
                experts=data.num_experts.to_numpy(),
            )
        )
    return pd.concat(frames, ignore_index=True)


def _one_copy(data: pd.DataFrame) -> pd.DataFrame:
    """TensorRT-LLM's exchange inside one NVLink domain, 2 to 64 ranks: one copy per rank.

    A dispatch needs the preparation (who sends how much to whom) of its layer.
    """
    data = data[data.kernel_source.eq("NVLinkTwoSided") & data.moe_dtype.isin(["bfloat16", "fp8"])]
    keys = ["moe_dtype", "num_tokens", "moe_ep_size"]
    wide = data.pivot_table(
        index=[*keys, "hidden_size", "topk", "num_experts"], columns="op_name", values="latency"
    ).reset_index()
    frames = []
    for phase in ("dispatch", "combine"):
        part = wide if phase == "dispatch" else wide[wide.moe_dtype == "bfloat16"]
        width = part.moe_dtype.map({"bfloat16": 2, "fp8": 1}) if phase == "dispatch" else 2
        time = part[f"alltoall_{phase}"]
        if phase == "dispatch":
            time = time + part.alltoall_prepare
        # Routing was dealt evenly: a token's copies go to min(k, n) ranks, one expert of each.
        ranks = np.minimum(part.topk, part.moe_ep_size)
        payload = part.num_tokens * ranks * part.hidden_size * width
        frame = _frame(part, "one_copy", "all_to_all", part.moe_ep_size, payload, time * 1e-3)
        frames.append(
            frame.assign(phase=phase, top_k=ranks.to_numpy(), experts=part.moe_ep_size.to_numpy())
        )
    return pd.concat(frames, ignore_index=True)


def key_of(system: str, *, multi_node: bool) -> str:
    """Return the key of the records that a system's rows are fitted into."""
    generation, tier, _ = SYSTEMS[system]
    if multi_node:
        return f"{generation}:scale_out"
    return f"{generation}:{tier}{RACK if system.startswith('gb') else ''}"


def _frame(data, library, kind, group, payload, time_s) -> pd.DataFrame:  # noqa: ANN001
    return pd.DataFrame(
        {
            "library": library,
            "kind": kind,
            "group": np.asarray(group, dtype=int),
            "nodes": 1,
            "payload_bytes": np.asarray(payload, dtype=float),
            "time_s": np.asarray(time_s, dtype=float),
            "top_k": 0,
            "experts": 0,
            "phase": "nccl",
        },
        index=data.index,
    )


def cluster_of(system: str, *, multi_node: bool) -> Cluster:
    """Return the measured system as a cluster."""
    generation, tier, rate = SYSTEMS[system]
    memory = MemoryTier(name="m", capacity_bytes=1, bandwidth_bytes_per_s=1)
    device = Device(
        id=system,
        name=system,
        vendor="",
        peak_flop_per_s={},
        memory=memory,
        generation=generation,
    )
    size = 72 if system.startswith("gb") else 8
    inner = NetworkTier(
        name=tier,
        size=size,
        bandwidth_bytes_per_s=rate,
        latency_s=WIRE[tier],
        in_network_reduction=generation in SHARP,
    )
    outer = NetworkTier(
        name="scale_out", size=64, bandwidth_bytes_per_s=50e9, latency_s=WIRE["scale_out"]
    )
    tiers = (inner, outer) if multi_node else (inner,)
    return Cluster(id=system, name=system, device=device, num_devices=64, tiers=tiers)
