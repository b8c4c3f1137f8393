"""Measured kernels of aiconfigurator-core as Operations, so that fit and use share one formula.

A group is one (family, format, system, engine): arrays of operations and of measured seconds.
Rows that must not be used as truth are dropped here, each for the reason stated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ridgeline.hardware import Device
from ridgeline.model.architecture import LatentAttention, Linear, SoftmaxAttention
from ridgeline.model.formats import format_named
from ridgeline.model.layout import Layout
from ridgeline.model.operations_attention import latent_operations, softmax_operations
from ridgeline.model.precision import Precision
from ridgeline.model.scene import Scene, gemm
from ridgeline.model.work import Operation, Step
from ridgeline.study.resolve import open_catalog

SYSTEMS = {
    "a100_sxm": "a100-sxm-80",
    "h100_sxm": "h100-sxm",
    "h200_sxm": "h200-sxm",
    "b200_sxm": "b200-sxm",
    "gb200": "gb200",
    "b300_sxm": "b300-sxm",
    "gb300": "gb300",
    "l40s": "l40s",
    "rtx_pro_6000_server": "rtx-pro-6000-server",
}
"""System of the measurements to catalogue id."""

MOST_ROWS = 2000
"""Rows drawn per group."""

NO_LATENT_KERNELS = ("ampere", "ada", "blackwell_rtx")
"""Generations for which some engines have no kernel of their own for latent attention."""

FORMATS = {
    "bfloat16": "bf16",
    "fp8": "fp8_channel",
    "fp8_block": "fp8_block",
    "nvfp4": "nvfp4",
    "int8_wo": "int8_a16",
    "int4_wo": "int4_g128",
    "w4a16_mxfp4": "mxfp4",
    "w4a8_mxfp4_mxfp8": "mxfp4_a8",
}

FORMS = {
    "bf16": "bf16",
    "fp8_channel": "fp8",
    "fp8_block": "fp8_block",
    "nvfp4": "fp4",
    "int8_a16": "w8a16",
    "int4_g128": "w4a16",
    "mxfp4": "w4a16",
    "mxfp4_a8": "w4a8",
}
"""As `kernel_form` names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows of one family, format, system and engine."""

    kind: str
    form: str
    system: str
    engine: str
    version: str
    device: Device
    operations: tuple[Operation, ...]
    """One execution each; the measured time is their sum."""
    seconds: np.ndarray
    rows: pd.DataFrame


def _precision(weights: str, kv: str = "bf16", attention: str = "bf16") -> Precision:
    form = format_named(weights)
    plain = format_named("bf16")
    classes = ("attention", "ffn", "expert", "shared_expert", "router", "head", "norm")
    return Precision(
        weights=dict.fromkeys(classes, form),
        kv=format_named(kv),
        activation=plain,
        attention_compute_format=attention,
    )


def _scene(step: Step, precision: Precision) -> Scene:
    return Scene.of(None, (step,), precision, Layout())


def _newest(folder: Path, name: str) -> Iterator[tuple[str, str, Path]]:
    """Yield (engine, version, file) with the newest version of each engine that has the file."""
    for engine in sorted(p for p in folder.glob("*") if p.is_dir()):
        files = sorted(engine.glob(f"*/{name}_perf.parquet"), key=lambda f: _order(f.parent.name))
        if files:
            yield engine.name, files[-1].parent.name, files[-1]


def _order(version: str) -> tuple[int, ...]:
    text = version.replace("rc", ".").replace("post", ".").replace("dev", ".")
    return tuple(int(x) for x in text.split(".") if x.isdigit())


def _read(file: Path, keys: list[str]) -> pd.DataFrame:
    rows = pd.read_parquet(file)
    keys = [k for k in keys if k in rows]
    rows["latency"] = pd.to_numeric(rows.latency, errors="coerce")
    rows = rows[rows.latency > 0]
    return rows.groupby(keys).latency.median().reset_index()


def _sample(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sample(MOST_ROWS, random_state=0) if len(rows) > MOST_ROWS else rows


def _columns(rows: pd.DataFrame, *names: str) -> list[np.ndarray]:
    return [rows[n].to_numpy(float) for n in names]


def gemm_operation(m: np.ndarray, n: np.ndarray, k: np.ndarray, weights: str) -> Operation:
    """Return GEMMs as a model's projections would be priced."""
    linear = Linear(name="gemm", in_features=k, out_features=n, weight_class="ffn")
    scene = _scene(Step(batch=m), _precision(weights))
    return gemm([linear], scene, component="ffn", count=1, rows=m)


def read_gemms(root: Path, system: str, device: Device) -> Iterator[Group]:
    """Yield the GEMMs of a system."""
    for engine, version, file in _newest(root / system / "gemm", "gemm"):
        rows = _read(file, ["gemm_dtype", "m", "n", "k"])
        for dtype, found in rows.groupby("gemm_dtype"):
            part = found
            if dtype not in FORMATS:
                continue
            if engine == "vllm" and dtype == "fp8_block":
                continue  # eager timing, 8 to 32 times slow
            if system == "gb200" and engine == "vllm" and dtype == "bfloat16":
                part = part[part.m < 16384]  # power throttling
            part = _sample(part[(part.n >= 256) & (part.k >= 256)])
            m, n, k = _columns(part, "m", "n", "k")
            yield Group(
                kind="gemm",
                form=FORMS[FORMATS[dtype]],
                system=system,
                engine=engine,
                version=version,
                device=device,
                operations=(gemm_operation(m, n, k, FORMATS[dtype]),),
                seconds=part.latency.to_numpy() * 1e-3,
                rows=part,
            )


def _attention_ops(part: pd.DataFrame, kv: str, compute: str, prefill: bool) -> Operation:
    batch, heads, kv_heads, d, new, past = _columns(
        part, "batch_size", "num_heads", "num_key_value_heads", "head_dim", "isl", "step"
    )
    core = SoftmaxAttention(num_heads=heads, num_kv_heads=kv_heads, qk_head_dim=d, v_head_dim=d)
    step = Step(batch=batch, new_tokens=new, context=past * (not prefill))
    (operation,) = softmax_operations(core, _scene(step, _precision("bf16", kv, compute)), 1)
    return operation


def _attentions(root: Path, system: str, device: Device) -> Iterator[Group]:
    keys = ["attn_dtype", "kv_cache_dtype", "batch_size", "isl", "step", "num_heads"]
    keys += ["num_key_value_heads", "head_dim", "window_size"]
    for prefill, name in ((True, "context_attention"), (False, "generation_attention")):
        for engine, version, file in _newest(root / system / "attention", name):
            rows = _read(file, [*keys, "kernel_source"])
            # Triton serves shapes that the engine's own kernel does not; where that is
            # FlashInfer's TensorRT-LLM kernel, plain FlashInfer is a second choice too.
            rows = rows[~rows.kernel_source.str.contains("triton")]
            main = rows.kernel_source == "trtllm_mha"
            rows = rows[main] if main.any() else rows
            rows = rows[rows.window_size == 0] if "window_size" in rows else rows
            # Shapes of today's models: others fall back to slow kernels.
            sharing = rows.num_heads / rows.num_key_value_heads
            rows = rows[sharing.between(1 if prefill else 2, 16)]
            rows = rows[rows.head_dim.isin([64, 128, 256])]
            rows = rows[rows.isl >= 64] if prefill else rows[rows.step >= 16]
            for (compute, kv, width), found in _kernels(rows, prefill):
                part = _sample(found)
                arithmetic = "fp8" if compute == "fp8" else "bf16"
                cache = "fp8" if kv == "fp8" else "bf16"
                form = "fp8" if arithmetic == "fp8" else "bf16/fp8" if cache == "fp8" else "bf16"
                yield Group(
                    kind="attention" + ("_prefill" if prefill else "_decode"),
                    form=form + (f":{width}" if width else ""),
                    system=system,
                    engine=engine,
                    version=version,
                    device=device,
                    operations=(_attention_ops(part, cache, arithmetic, prefill),),
                    seconds=part.latency.to_numpy() * 1e-3,
                    rows=part,
                )


def _kernels(
    rows: pd.DataFrame, prefill: bool
) -> Iterator[tuple[tuple[str, str, int], pd.DataFrame]]:
    """Yield rows of one kernel each: decode that widens a cache differs by width of heads."""
    for (compute, kv), found in rows.groupby(["attn_dtype", "kv_cache_dtype"]):
        if prefill or kv != "fp8" or compute == "fp8":
            yield (compute, kv, 0), found
            continue
        for width, part in found.groupby("head_dim"):
            yield (compute, kv, 0 if width == 128 else int(width)), part


def _latents(root: Path, system: str, device: Device) -> Iterator[Group]:
    keys = ["mla_dtype", "kv_cache_dtype", "batch_size", "isl", "step", "num_heads"]
    for prefill, name in ((True, "context_mla"), (False, "generation_mla")):
        for engine, version, file in _newest(root / system / "mla", name):
            hopper = device.generation == "hopper"
            if engine == "sglang" and hopper and prefill:
                continue  # measures the absorbed form
            for (_, kv), found in _read(file, keys).groupby(["mla_dtype", "kv_cache_dtype"]):
                if engine == "sglang" and hopper and kv == "fp8":
                    continue  # dequantisation fallback
                if device.generation in NO_LATENT_KERNELS and engine == (
                    "sglang" if prefill else "trtllm"
                ):
                    continue  # fallback kernels, 3 to 10 times slow
                part = _sample(found[found.isl >= 64] if prefill else found[found.step >= 16])
                cache = "fp8" if kv == "fp8" else "bf16"
                heads, batch, new, past = _columns(part, "num_heads", "batch_size", "isl", "step")
                core = LatentAttention(
                    num_heads=heads,
                    kv_lora_rank=512,
                    qk_nope_head_dim=128,
                    qk_rope_head_dim=64,
                    v_head_dim=128,
                )
                step = Step(batch=batch, new_tokens=new, context=past * (not prefill))
                scene = _scene(step, _precision("bf16", cache))
                operation = latent_operations(core, (), scene, 1)[-1]
                yield Group(
                    kind="latent_attention" + ("_prefill" if prefill else "_decode"),
                    form="bf16" if cache == "bf16" else "bf16/fp8",
                    system=system,
                    engine=engine,
                    version=version,
                    device=device,
                    operations=(operation,),
                    seconds=part.latency.to_numpy() * 1e-3,
                    rows=part,
                )


def expert_operations_of(part: pd.DataFrame, weights: str) -> tuple[Operation, ...]:
    """Return gate/up, down and element-wise work of experts under balanced routing.

    As `model.operations_moe.expert_operations` with one rank's load given: rows = T·k/ep and
    touched = min(T·k, E)/ep, which balanced rows have exactly.
    """
    tokens, hidden, inter, top_k, experts, tp, ep = _columns(
        part,
        "num_tokens",
        "hidden_size",
        "inter_size",
        "topk",
        "num_experts",
        "moe_tp_size",
        "moe_ep_size",
    )
    form = format_named(weights)
    compute = "bf16" if form.weights_only else form.compute_format
    rows = tokens * top_k / ep
    touched = np.maximum(np.minimum(tokens * top_k, experts) / ep, np.minimum(rows, 1.0))
    inner = inter / tp
    gated = part.gated.to_numpy(float)
    operations = []
    for n, k in (((1 + gated) * inner, hidden), (hidden, inner)):
        operations.append(
            Operation(
                name="experts",
                family="expert_gemm",
                component="experts",
                compute_format=compute,
                storage_format=weights,
                flop=rows * (2.0 * n * k),
                weight_bytes=touched * n * k * form.bytes_per_weight,
                activation_bytes=rows * (n + k) * 2.0,
                shape={
                    "m": rows,
                    "n": n,
                    "k": k,
                    "num_groups": touched,
                    "tokens_per_expert": rows / touched,
                },
            )
        )
    # Under ep, every rank reads and writes all tokens of the replica.
    foreign = np.where(ep > 1, tokens - rows / top_k, 0.0) * (2 * hidden * 2.0)
    operations.append(
        Operation(
            name="experts.permute+activation",
            family="elementwise",
            component="experts",
            compute_format="bf16",
            activation_bytes=rows * ((3 * hidden + (2 + gated) * inner) * 2.0) + foreign,
        )
    )
    return tuple(operations)


def _experts(root: Path, system: str, device: Device) -> Iterator[Group]:
    keys = ["moe_dtype", "kernel_source", "num_tokens", "hidden_size", "inter_size", "topk"]
    keys += ["num_experts", "moe_tp_size", "moe_ep_size", "distribution"]
    for engine, newest, newest_file in _newest(root / system / "moe", "moe"):
        version, file = newest, newest_file
        if engine == "trtllm" and version.endswith("rc23"):  # holds a few shapes only
            version = "1.3.0rc20"
            file = file.parent.parent / version / file.name
        rows = _read(file, keys)
        # Balanced routing; larger ep and top-k measure tokens that the rank does not own.
        rows = rows[rows.distribution.isin(["balanced", "uniform"])]
        rows = rows[(rows.moe_ep_size <= 16) & (rows.topk <= 10)]
        rows["gated"] = (~rows.kernel_source.str.contains("nongated")).astype(float)
        for dtype, found in rows.groupby("moe_dtype"):
            part = found
            if dtype not in FORMATS:
                continue
            fp8 = dtype.startswith("fp8")
            if engine == "sglang":
                # Fused Triton kernels without a tuned configuration reach 0.15 of the peak.
                part = part[part.kernel_source != "sglang_fused_moe_triton"]
            if len(part) < 600 or (dtype == "fp8" and device.generation == "hopper"):
                continue  # a few shapes only; engines three times apart
            if engine == "vllm" and fp8 and device.generation == "hopper":
                part = part[part.num_tokens >= 256]  # slow at small token counts
            part = _sample(part)
            yield Group(
                kind="expert_gemm",
                form=FORMS[FORMATS[dtype]],
                system=system,
                engine=engine,
                version=version,
                device=device,
                operations=expert_operations_of(part, FORMATS[dtype]),
                seconds=part.latency.to_numpy() * 1e-3,
                rows=part,
            )


def _wide_experts(root: Path, system: str, device: Device) -> Iterator[Group]:
    """Yield experts behind an all-to-all (DeepGEMM), as wide expert parallelism runs them."""
    keys = ["num_tokens", "hidden_size", "inter_size", "topk", "num_experts", "moe_tp_size"]
    keys += ["moe_ep_size", "distribution"]
    for name in ("wideep_context_moe", "wideep_generation_moe"):
        for engine, version, file in _newest(root / system / "moe", name):
            rows = _read(file, keys)
            rows = rows[rows.distribution == "uniform"].assign(gated=1.0)
            operations = expert_operations_of(rows, "fp8_block")
            yield Group(
                kind="expert_gemm",
                form="fp8_block",
                system=system,
                engine=f"{engine}-wide",
                version=version,
                device=device,
                operations=operations[:2],
                seconds=rows.latency.to_numpy() * 1e-3,
                rows=rows,
            )


def _quantizations(root: Path, system: str, device: Device) -> Iterator[Group]:
    """Yield kernels that read 16-bit activations and write 8-bit ones: element-wise work."""
    for engine, version, file in _newest(root / system / "quantize", "scale_matrix"):
        if engine == "sglang":
            continue  # 3 times faster than memory allows: measured resident in the cache
        rows = _sample(_read(file, ["m", "k", "quant_dtype"]).query("quant_dtype == 'fp8'"))
        m, k = _columns(rows, "m", "k")
        operation = Operation(
            name="quantize",
            family="elementwise",
            component="elementwise",
            compute_format="bf16",
            activation_bytes=3.0 * m * k,
        )
        yield Group(
            kind="elementwise",
            form="bf16",
            system=system,
            engine=engine,
            version=version,
            device=device,
            operations=(operation,),
            seconds=rows.latency.to_numpy() * 1e-3,
            rows=rows,
        )


def groups(root: Path) -> list[Group]:
    """Return all usable rows under `systems/data`."""
    catalog = open_catalog(None)
    result: list[Group] = []
    for system, name in SYSTEMS.items():
        device = catalog.device(name)
        for read in (read_gemms, _attentions, _latents, _experts, _wide_experts, _quantizations):
            result += read(root, system, device)
    return result
