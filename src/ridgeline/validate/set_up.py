"""From a row's words to a deployment: model, chips, layout, formats, engine."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace

from ridgeline.cost.own_curves import Calibration
from ridgeline.errors import InputError
from ridgeline.model.architecture import Architecture
from ridgeline.model.layout_rules import expert_counts
from ridgeline.phase.deployment import Deployment
from ridgeline.study.deploy import deploy
from ridgeline.validate.chip_names import find_chip
from ridgeline.validate.model_names import architecture_named, find_model, formats_of
from ridgeline.validate.predict_collectives import cluster_of
from ridgeline.validate.prediction import own_calibration
from ridgeline.validate.truth_rows import TruthRow


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """A deployment and what was assumed to reach it."""

    deployment: Deployment
    engine: str
    flags: tuple[str, ...] = ()


ENGINE_WORDS = (
    ("llama.cpp", "llamacpp"),
    ("llamacpp", "llamacpp"),
    ("sglang", "sglang"),
    ("tensorrt", "trtllm"),
    ("trt", "trtllm"),
    ("vllm", "vllm"),
    ("atom", "atom"),
    ("deepseek", "sglang"),
    ("fastertransformer", "trtllm"),
    ("lmdeploy", "vllm"),
    ("tgi", "vllm"),
)
"""Word in a row's engine to the profile; the first that occurs wins."""


def engine_of(text: str) -> str:
    """Return the engine profile that a row's engine names; `ideal` where none is known."""
    low = text.lower()
    name = next((engine for word, engine in ENGINE_WORDS if word in low), "ideal")
    version = re.search(r"v?(\d+\.\d+)", low)
    if name == "llamacpp" and re.search(r"\b202[34]\b", low):
        return "llamacpp-2024"
    if name == "vllm" and version and version[1] in ("0.1", "0.2", "0.3", "0.4"):
        return "vllm-0.2"
    return name


_NARROW_MXFP4 = frozenset(("blackwell", "blackwell_ultra"))
"""Where engines multiply mxfp4 experts with 8-bit activations; elsewhere they expand them."""


def _spare_copies(architecture: Architecture, ep: int) -> int:
    """Return the fewest redundant experts that let `ep` ranks hold equally many."""
    return max((-count % ep for count in expert_counts(architecture)), default=0)


@functools.cache
def _set_up(
    model: str,
    chip: str,
    devices: int,
    degrees: tuple[int, int, int, int, int],
    w_dtype: str,
    kv_dtype: str,
    engine: str,
    calibration: Calibration,
) -> SetUp:
    name, formats = formats_of(find_model(model), w_dtype, kv_dtype)
    named = find_chip(chip)
    architecture = architecture_named(name)
    tp, pp, ep, dp, cp = degrees
    if not expert_counts(architecture):
        ep = 1
    per_class = dict(formats.per_class)
    if architecture.weight_format == "mxfp4" and named.device.generation in _NARROW_MXFP4:
        per_class["expert"] = "mxfp4_a8"
    if engine.startswith("llamacpp") and architecture.weight_format == "mxfp4":
        # Published GGUF files keep everything but the experts in Q8_0.
        formats = replace(formats, dtype="q8_0")
        per_class["expert"] = "gguf_mxfp4"
    deployment = deploy(
        architecture,
        on=cluster_of(chip, devices),
        devices=devices,
        degrees={"tp": tp, "pp": pp, "ep": ep, "dp": dp, "cp": cp},
        redundant_experts=_spare_copies(architecture, ep),
        dtype=formats.dtype,
        kv_cache_dtype=formats.kv_dtype,
        dtypes=per_class,
        efficiency="calibrated",
        engine=engine,
        calibration=calibration,
    )
    return SetUp(deployment=deployment, engine=engine, flags=(*formats.flags, *named.flags))


def set_up(
    row: TruthRow, *, degrees: tuple[int, int, int, int, int] | None = None, kv_dtype: str = ""
) -> SetUp:
    """Return the deployment of a row.

    Args:
        row: Its model, chip, dtypes, tp, pp, ep, dp and engine.
        degrees: tp, pp, ep, dp, cp in place of the row's own.
        kv_dtype: Cache format where the row names none.

    Raises:
        InputError: unknown model, chip or format, or a layout that breaks a rule.
    """
    if not row.model:
        raise InputError("no model is named")
    layout = degrees or layout_of(row)
    tp, pp, _, dp, cp = layout
    return _set_up(
        row.model,
        row.machine,
        tp * pp * dp * cp,
        layout,
        row.text("w_dtype"),
        row.text("kv_dtype") or kv_dtype,
        engine_of(row.engine),
        own_calibration(),
    )


def layout_of(row: TruthRow) -> tuple[int, int, int, int, int]:
    """Return tp, pp, ep, dp, cp; engines count attention data parallelism inside their tp."""
    tp, pp, ep = row.count("tp"), row.count("pp"), row.count("ep")
    dp, cp = row.count("dp"), row.count("cp")
    if re.search(r"dp_?att\w*[= ]true", row.text("layout").lower()):
        tp, dp = 1, max(tp, dp)
    if ep > tp * cp * dp:
        dp = max(dp, ep // (tp * cp))
    return tp, pp, ep, dp, cp
