"""From names to a deployment: model, cluster, layout, formats and efficiency."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from ridgeline.catalog import Catalog
from ridgeline.catalog.calibration import device_calibration, read_calibration
from ridgeline.cost.efficiency import IDEAL, TYPICAL, Efficiency
from ridgeline.cost.efficiency_records import CALIBRATED as CALIBRATED_KERNELS
from ridgeline.cost.engines import engine_profile
from ridgeline.cost.engines_local import llama_cpp_kernels, with_half_accumulation
from ridgeline.cost.network_records import CALIBRATED, NetworkEfficiency
from ridgeline.cost.network_records import TYPICAL as TYPICAL_NETWORK
from ridgeline.cost.own_curves import Calibration, with_curves, with_engine, with_links
from ridgeline.errors import InputError
from ridgeline.hardware import Cluster, Device
from ridgeline.model.architecture import (
    Architecture,
    LatentAttention,
    SoftmaxAttention,
    WeightClass,
)
from ridgeline.model.draft import Speculation, check_speculation
from ridgeline.model.formats import GGUF_TYPES
from ridgeline.model.imbalance import expert_imbalance
from ridgeline.model.layout import Layout
from ridgeline.model.layout_rules import default_layout, expert_counts, layout_faults
from ridgeline.model.operations import num_kv_heads
from ridgeline.model.operations_moe import Imbalance
from ridgeline.model.precision import Precision
from ridgeline.model.state import kv_head_share
from ridgeline.phase.deployment import Deployment
from ridgeline.study.resolve import open_catalog, resolve_cluster, resolve_model
from ridgeline.units import parse_quantity

EFFICIENCIES: dict[str, Efficiency] = {
    "calibrated": CALIBRATED_KERNELS,
    "typical": TYPICAL,
    "ideal": IDEAL,
}
NETWORKS: dict[str, NetworkEfficiency | None] = {
    "calibrated": CALIBRATED,
    "typical": TYPICAL_NETWORK,
    "ideal": None,
}
"""None: work is divided evenly and messages are free."""

MAX_DEVICES = 2**20
_ENGINE_VENDORS = frozenset({"nvidia", "amd"})
_LOCAL_GENERATIONS = frozenset({"apple", "cpu"})
_GGUF_FORMATS = frozenset(name for name, _, _ in GGUF_TYPES.values()) - {"bf16", "fp16", "fp32"}


def chosen_engine(engine: str, device: Device, precision: Precision, *, realistic: bool) -> str:
    """Return the engine that `auto` stands for.

    None beside an ideal bound; llamacpp for GGUF formats and on CPUs and Apple chips; vllm on
    other GPUs.
    """
    if engine != "auto":
        return engine
    if not realistic:
        return "ideal"
    files = {f.id for f in precision.weights.values()} & _GGUF_FORMATS
    if files or device.generation in _LOCAL_GENERATIONS:
        return "llamacpp"
    return "vllm" if device.vendor.lower() in _ENGINE_VENDORS else "ideal"


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
    efficiency: str | Efficiency = "calibrated",
    routing: str = "uniform",
    speculation: Speculation | None = None,
    engine: str = "ideal",
    memory_share: float = 0.9,
    calibration: Path | Calibration | None = None,
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
        speculation: Drafts that every decode step verifies.
        engine: Key of `cost.engines.ENGINES`; `ideal` adds nothing to the kernels, `auto` takes
            vllm on GPUs.
        memory_share: Share of device memory the engine may fill.
        calibration: What the user measured, or the file of `ridgeline calibrate`; it goes over
            the calibrated efficiency.
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
    realistic = efficiency == "calibrated" and network == "calibrated"
    precision = Precision.of(
        architecture,
        dtype=dtype,
        kv_dtype=kv_cache_dtype,
        per_class=cast("Mapping[WeightClass, str]", dtypes or {}),
    )
    own = _own(calibration, catalog, cluster.device, efficiency)
    if engine == "auto" and realistic and device_calibration(catalog, cluster.device.id).curves:
        # Kernels as a device entry measured them hold their own launches.
        engine = "ideal"
    profile = engine_profile(
        chosen_engine(engine, cluster.device, precision, realistic=realistic),
        cluster.device.vendor,
    )
    kernels = _efficiency(efficiency)
    if profile is not None and profile.own_kernels and efficiency == "calibrated":
        cluster = replace(cluster, device=with_half_accumulation(cluster.device))
        kernels = llama_cpp_kernels(cluster.device)
    elif profile is not None and efficiency == "calibrated":
        # Where an engine's own kernels were measured apart from others', it runs those.
        kernels = replace(kernels, engine=profile.name)
    if speculation is not None:
        check_speculation(architecture, speculation)
    layout = None
    if rates is not None:
        layout = _layout(architecture, cluster, count, given, redundant_experts)
    return Deployment(
        architecture=architecture,
        precision=precision,
        cluster=cluster,
        num_devices=count,
        layout=layout,
        efficiency=with_curves(kernels, own, cluster.device.id),
        network=with_links(rates or CALIBRATED, own),
        imbalance=imbalance_of(routing),
        speculation=speculation,
        engine=with_engine(profile, own, cluster.device.id),
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


def speculation_of(
    tokens: int | None, acceptance: str | None, draft_share: float | None
) -> Speculation | None:
    """Return `--spec-tokens`, `--acceptance` (one rate, or one per position) and `--draft-cost`.

    Raises:
        InputError: one without the other, or as many rates as neither 1 nor the drafts.
    """
    if tokens is None:
        if acceptance is not None or draft_share is not None:
            raise InputError("--acceptance and --draft-cost need --spec-tokens.")
        return None
    if acceptance is None:
        raise InputError(
            "--spec-tokens needs --acceptance: the rate at which drafts are kept, such as 0.8, or"
            " one rate per position. Published curves: ridgeline.catalog.speculation."
        )
    rates = [parse_quantity(a, "1", what="acceptance") for a in acceptance.split(",")]
    if len(rates) not in {1, tokens} or not 1 <= tokens <= 64:
        raise InputError(
            f"spec-tokens must be from 1 to 64, with one acceptance or as many: {tokens} drafts,"
            f" {len(rates)} rates."
        )
    return Speculation(
        acceptance=tuple(rates * tokens if len(rates) == 1 else rates), draft_share=draft_share
    )


def speculation_dict(speculation: Speculation | None) -> dict[str, Any] | None:
    """Return the request's words for speculation."""
    if speculation is None:
        return None
    return {
        "spec_tokens": speculation.drafts,
        "acceptance": list(speculation.acceptance),
        "draft_share": speculation.draft_share,
        "tokens_per_step": speculation.tokens_per_step,
    }


def traffic_flags(deployment: Deployment, routing: str) -> tuple[str, ...]:
    """Return what a reader must know about drafts and skewed routing."""
    flags: list[str] = []
    drafts = deployment.speculation
    if drafts is not None and drafts.draft_share is None:
        flags.append("drafts: every one runs the model's MTP layer, embedding and head once")
    if drafts is not None and drafts.draft_share is not None:
        flags.append("drafts: the memory of the draft model is not counted")
    if routing.startswith("zipf") and expert_counts(deployment.architecture):
        flags.append(
            "zipf routing: experts are dealt to ranks at random and copies do not relieve the"
            " popular ones; `ridgeline experts` shows what a placement gains"
        )
    return tuple(flags)


def cache_copies(deployment: Deployment) -> tuple[float, bool]:
    """Return how often a group keeps its cache [1], and whether it is a latent one.

    More than once where tp exceeds the heads that the cache splits by; a latent has one.
    """
    layout = deployment.layout
    if layout is None or np.ndim(layout.tp):
        return 1.0, False
    copies, latent = 1.0, False
    for block, _ in deployment.architecture.distinct_blocks():
        cores = block.mixer.cores
        if not any(isinstance(c, SoftmaxAttention | LatentAttention) for c in cores):
            continue
        latent = latent or any(isinstance(c, LatentAttention) for c in cores)
        share = float(np.asarray(kv_head_share(num_kv_heads(block.mixer), layout)))
        copies = max(copies, share * int(layout.tp))
    return copies, latent


def cache_kept_once(deployment: Deployment) -> dict[str, int] | None:
    """Return the degrees of attention data parallelism that keep the cache once, None if it is."""
    copies, _ = cache_copies(deployment)
    layout = deployment.layout
    if copies <= 1 or layout is None:
        return None
    degrees = {"tp": round(int(layout.tp) / copies), "dp": round(int(layout.dp) * copies)}
    return degrees | ({"ep": int(layout.ep)} if int(layout.ep) > 1 else {})


def copies_flags(deployment: Deployment) -> tuple[str, ...]:
    """Return how often a group keeps its cache where tp exceeds the heads that it splits by."""
    degrees, layout = cache_kept_once(deployment), deployment.layout
    if degrees is None or layout is None:
        return ()
    copies, latent = cache_copies(deployment)
    what = "the latent cache" if latent else "the cache"
    words = " ".join(f"--{name} {value}" for name, value in degrees.items())
    flag = (
        f"tp {int(layout.tp)}: {what} is kept {copies:.3g} times, as engines do; attention data"
        f" parallel ({words}) keeps it once"
    )
    return (flag,)


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


def _own(
    given: Path | Calibration | None,
    catalog: Catalog,
    device: Device,
    efficiency: str | Efficiency,
) -> Calibration:
    """Return what was measured on a device: the given records over those of its entry."""
    if efficiency != "calibrated":
        if given is not None:
            raise InputError("--calibration goes with --efficiency calibrated only.")
        return Calibration()
    entry = device_calibration(catalog, device.id)
    if given is None:
        return entry
    return (read_calibration(given) if isinstance(given, Path) else given).over(entry)


def _efficiency(value: str | Efficiency) -> Efficiency:
    if isinstance(value, Efficiency):
        return value
    if value not in EFFICIENCIES:
        raise InputError(f"efficiency must be {' or '.join(EFFICIENCIES)}: {value!r}.")
    return EFFICIENCIES[value]
