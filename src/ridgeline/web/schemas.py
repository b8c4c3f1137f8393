"""The bodies of requests: arguments of study functions, bounded, with the flag of each."""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from ridgeline.web.limits import MAX_EXPERT_CELLS, MAX_LIST, MAX_TEXT

Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
Count = Annotated[int, Field(ge=0, le=2**40, strict=True)]
"""Strict: true and "3" are no numbers."""
Tokens = Count | Text
"""4096, or "4k" (binary)."""
Points = Tokens | Annotated[list[Count], Field(max_length=MAX_LIST)]
"""One value, a list, or a range: "1:1024" in powers of two."""
Degree = Annotated[int, Field(ge=1, le=2**20, strict=True)]
Number = Annotated[float, Field(ge=0, le=1e15, strict=True)]
Numbers = dict[Text, Number]


def _written_out(value: Any) -> Any:
    if (isinstance(value, str) and not _DAY.match(value)) or isinstance(value, int | float):
        raise ValueError("a day is written 2026-11-30")
    return value


_DAY = re.compile(r"\d{4}-\d\d-\d\d$")
Day = Annotated[dt.date, BeforeValidator(_written_out)]
"""Not seconds since 1970, which pydantic would take too."""


class Request(BaseModel):
    """Fields that are not known are refused."""

    model_config = ConfigDict(
        extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True, frozen=True
    )


def flag(default: Any, name: str, *, scale: float | None = None, repeat: bool = False) -> Any:
    """Return a field with a default and the flag of the command line that means the same."""
    return Field(
        default=default, json_schema_extra={"x-flag": name, "x-scale": scale, "x-repeat": repeat}
    )


def today() -> dt.date:
    """Return today's date (UTC)."""
    return dt.datetime.now(tz=dt.UTC).date()


def day() -> Any:
    """Return a field for the day of prices."""
    return Field(default_factory=today, json_schema_extra={"x-flag": "--date"})


class Served(Request):
    """A model by its catalogue name, or by its own config.json."""

    model: Text | None = None
    """Catalogue name."""
    config: dict[str, Any] | None = None
    """The object in a config.json, in place of `model`; read as data, never run."""
    name: Text = "config"
    """What to call that model."""

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        if (self.model is None) == (self.config is None):
            raise ValueError("give either model, a catalogue name, or config, a config.json object")
        return self


class Traffic(Served):
    """What runs the kernels, how tokens choose experts, and drafts."""

    engine: Text = flag("auto", "--engine")
    """What an engine adds to a step: `vllm`, `sglang`, `trtllm` ..., or `ideal` for nothing."""

    routing: Text = flag("uniform", "--routing")
    """`uniform`, `zipf:1.0` or `balanced`."""
    spec_tokens: Count | None = flag(None, "--spec-tokens")
    """Drafts that every decode step verifies."""
    acceptance: Text | None = flag(None, "--acceptance")
    """Rate at which drafts are kept: "0.8", or per position "0.9,0.7"."""
    draft_cost: Number | None = flag(None, "--draft-cost")
    """One draft over a decode step; the model's own MTP layer when not given."""


class EstimateRequest(Traffic):
    """Arguments of `ridgeline.estimate`."""

    on: Text = flag(..., "--on")
    """Cluster or device."""
    batch: Points = flag("1:1024", "--batch")
    """Sequences."""
    context: Points = flag(4096, "--context")
    """Cached tokens per sequence; the prompt in prefill."""
    phase: Literal["decode", "prefill", "mixed"] = flag("decode", "--phase")
    chunk: Count = flag(2048, "--chunk")
    """Prompt tokens of a mixed step per attention group."""
    devices: Degree | None = flag(None, "--devices")
    tp: Degree | None = flag(None, "--tp")
    pp: Degree | None = flag(None, "--pp")
    ep: Degree | None = flag(None, "--ep")
    dp: Degree | None = flag(None, "--dp")
    cp: Degree | None = flag(None, "--cp")
    redundant_experts: Annotated[int, Field(ge=0, le=2**20, strict=True)] = flag(
        0, "--redundant-experts"
    )
    network: Literal["calibrated", "typical", "ideal"] = flag("calibrated", "--network")
    overlap: Literal["none", "two-batch", "full"] = flag("none", "--overlap")
    dtype: Text | None = flag(None, "--dtype")
    kv_cache_dtype: Text | None = flag(None, "--kv-cache-dtype")
    dtypes: Annotated[dict[Text, Text], Field(max_length=16)] = flag({}, "--dtype-of")
    """Weights of one class: attention, ffn, expert, shared_expert, router, embedding, head."""
    usd_per_device_hour: Number | None = flag(None, "--usd-per-hour")
    fidelity: Literal["detailed", "chalk"] = flag("detailed", "--fidelity")
    efficiency: Literal["calibrated", "typical", "ideal"] = flag("calibrated", "--efficiency")
    memory_share: Number = flag(0.9, "--gpu-memory-utilization")
    parts: bool = True
    """Whether each row has its parts; without them curves are a tenth of the size."""


class SweepRequest(EstimateRequest):
    """An estimate over values of one figure of the hardware."""

    sweep: Text = flag(..., "--sweep")
    """FIGURE=VALUES: "memory_bandwidth=0.5x,1x,2x"."""


class ModelRequest(Served):
    """A model whose sheet is wanted."""


class PlanRequest(Traffic):
    """Arguments of `ridgeline.study.plan.plan`."""

    on: Text = flag(..., "--on")
    devices: Degree | None = flag(None, "--devices")
    isl: Tokens = flag(..., "--isl")
    """Prompt tokens."""
    osl: Tokens = flag(..., "--osl")
    """Output tokens."""
    ttft_s: Number | None = flag(None, "--ttft-ms", scale=1e3)
    """Largest time to first token [s]."""
    tpot_s: Number | None = flag(None, "--tpot-ms", scale=1e3)
    """Largest time per output token [s]."""
    objective: Literal["cost", "throughput", "latency"] = flag("throughput", "--objective")
    dtypes: Annotated[tuple[Text, ...], Field(min_length=1, max_length=4)] = flag(
        ("auto",), "--dtype"
    )
    """Weights to try; `auto` is the checkpoint's."""
    kv_cache_dtypes: Annotated[tuple[Text, ...], Field(min_length=1, max_length=4)] = flag(
        ("auto", "fp8"), "--kv-cache-dtype"
    )
    pools: bool = flag(default=True, name="--no-pools")
    """Also try separate prefill and decode pools."""
    chunk: Count = flag(2048, "--chunk")
    usd_per_device_hour: Number | None = flag(None, "--usd-per-hour")
    memory_share: Number = flag(0.9, "--gpu-memory-utilization")
    max_pp: Annotated[int, Field(ge=1, le=64, strict=True)] = flag(16, "--max-pp")


class PipelinesRequest(Served):
    """Arguments of `ridgeline.study.pipelines.pipelines`."""

    on: Text = flag(..., "--on")
    pp: Annotated[tuple[Degree, ...], Field(min_length=1, max_length=64)] = flag(
        (1, 2, 4, 8), "--pp"
    )
    """Numbers of stages."""
    batch: Degree = flag(128, "--batch")
    """Sequences of one micro-batch."""
    context: Tokens = flag("32k", "--context")
    devices_per_stage: Degree | None = flag(None, "--devices-per-stage")
    micro_batches: Annotated[int, Field(ge=1, le=256, strict=True)] | None = flag(
        None, "--micro-batches"
    )
    """In flight; as many as stages when not given."""
    dtype: Text | None = flag(None, "--dtype")
    kv_cache_dtype: Text | None = flag(None, "--kv-cache-dtype")
    memory_share: Number = flag(0.9, "--gpu-memory-utilization")


class RacksRequest(Served):
    """Arguments of `ridgeline.study.racks.racks`; the model is a mixture of experts."""

    on: Text = flag("gb200-nvl72", "--on")
    devices_per_rack: Degree | None = flag(None, "--devices-per-rack")
    num_racks: Annotated[tuple[Degree, ...], Field(min_length=1, max_length=16)] = flag(
        (1, 2, 3, 4), "--racks"
    )
    ratios: Annotated[tuple[Number, ...], Field(min_length=1, max_length=16)] = flag(
        (1.0, 4.0, 8.0, 18.0), "--ratio"
    )
    """Scale-up over scale-out bandwidth per device."""
    tokens_per_device: Annotated[int, Field(ge=1, le=2**24, strict=True)] = flag(
        128, "--tokens-per-device"
    )
    context: Tokens = flag(4096, "--context")
    dispatch_bytes: Number = flag(1.0, "--dispatch-bytes")
    combine_bytes: Number = flag(2.0, "--combine-bytes")
    load: Annotated[tuple[Number, ...], Field(max_length=4096)] | None = None
    """Relative load of each routed expert; uniform when not given."""


class CacheRequest(Served):
    """Arguments of `ridgeline.study.cache.cache`."""

    on: Text = flag(..., "--on")
    context: Tokens = flag("32k", "--context")
    hold: Text = flag("5m,1h,24h", "--hold")
    """Hold times: "30s,5m,1h"."""
    devices: Degree | None = flag(None, "--devices")
    dtype: Text | None = flag(None, "--dtype")
    kv_cache_dtype: Text | None = flag(None, "--kv-cache-dtype")
    usd_per_device_hour: Number | None = flag(None, "--usd-per-hour")
    usd_per_gb: Annotated[Numbers, Field(max_length=32)] = flag({}, "--price")
    """Purchase prices by tier id."""
    only: Annotated[tuple[Text, ...], Field(max_length=32)] = flag((), "--tier", repeat=True)
    """Tier ids; all when empty."""
    stall: Number = flag(1.0, "--stall")
    """Share of a load for which the accelerators wait."""
    provider_price: Text | None = flag(None, "--provider")
    """A provider/model whose cache writes are compared."""
    price_date: Day | None = flag(None, "--date")


class ExpertsRequest(Request):
    """Arguments of `ridgeline.study.experts.experts`, with the counts themselves."""

    counts: Annotated[
        list[Annotated[list[Number], Field(min_length=1, max_length=4096)]],
        Field(min_length=1, max_length=512),
    ]
    """Tokens per expert, layers x experts."""
    ranks: Annotated[int, Field(ge=1, le=4096, strict=True)] = flag(..., "--ranks")
    ranks_per_node: Degree | None = flag(None, "--ranks-per-node")
    nodes_per_rack: Degree | None = flag(None, "--nodes-per-rack")
    num_redundant: Annotated[int, Field(ge=0, le=4096, strict=True)] = flag(0, "--redundant")
    num_groups: Annotated[int, Field(ge=1, le=4096, strict=True)] = flag(1, "--groups")
    hidden_size: Degree | None = flag(None, "--hidden-size")
    dispatch_format: Text = flag("fp8", "--dispatch-format")
    combine_format: Text = flag("bf16", "--combine-format")
    tokens: Number | None = flag(None, "--tokens")
    seed: Annotated[int, Field(ge=0, le=2**31, strict=True)] = flag(0, "--seed")
    kicks: Annotated[int, Field(ge=0, le=200, strict=True)] = flag(60, "--kicks")

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        cells = sum(len(row) for row in self.counts)
        if cells > MAX_EXPERT_CELLS:
            raise ValueError(f"counts may have at most {MAX_EXPERT_CELLS:,} cells: {cells:,}")
        return self


class ListRequest(Request):
    """Which kind of catalogue entry, and part of a name."""

    kind: Literal["devices", "clusters", "models", "prices", "formats"]
    search: Text = ""


class EntryRequest(Request):
    """One catalogue entry."""

    kind: Literal["devices", "clusters", "models", "prices"]
    name: Text


class LectureRequest(Request):
    """A chapter, a kind or a claim of the lecture."""

    which: Text | None = None


class ChalkRequest(Request):
    """A value of a claim, with other inputs."""

    claim: Text
    """Id, such as C1-N7."""
    value: Annotated[int, Field(ge=0, le=100, strict=True)] = 0
    """Which of the claim's values."""
    inputs: Annotated[
        dict[Text, Annotated[float, Field(strict=True)] | bool], Field(max_length=32)
    ] = Field(default={})
    """Numbers in SI, by the names of the value's own inputs."""


class QuizRequest(Request):
    """An answer to one value of a claim."""

    claim: Text
    value: Annotated[int, Field(ge=0, le=100, strict=True)] = 0
    answer: Text
    """A number with its unit: "20 ms"."""
