"""The shape of a catalogue entry, checked by pydantic: one schema for built-in and user entries.

Imported only to check YAML (user files, dev/build_catalog.py), never to load built-in entries.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from ridgeline.catalog.figures import quantity
from ridgeline.errors import InputError

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.\-]{0,79}$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
Date = Annotated[str, StringConstraints(pattern=r"^20\d\d(-(\d\d(-\d\d)?|Q[1-4]|H[12]))?$")]
Count = Annotated[int, Field(ge=1, le=1_000_000, strict=True)]
Format = Literal["fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4", "int8", "int4"]


class Strict(BaseModel):
    """No unknown fields, no silent conversions."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class SourceInfo(Strict):
    """What a source key of the catalogue stands for."""

    title: Text
    url: Annotated[str, StringConstraints(pattern=r"^https?://")] | None


class Sourced(Strict):
    """What every figure carries beside its value."""

    source: Text
    """A key of the catalogue's sources, an address, or a publication."""
    kind: Literal["datasheet", "measured", "derived", "assumed"]
    note: Text | None = None
    """The arithmetic of a derived figure, the reason of an assumed one."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_bare_values(cls, figure: Any) -> Any:
        if not isinstance(figure, dict):
            raise ValueError(  # noqa: TRY004 - pydantic collects ValueError
                "a figure is written {value: 3.35 TB/s, source: ..., kind: datasheet};"
                " a bare value is refused"
            )
        return figure  # pyright: ignore[reportUnknownVariableType]

    @model_validator(mode="after")
    def _explain(self) -> Self:
        if self.kind in ("derived", "assumed") and not self.note:
            raise ValueError(f"a figure of kind {self.kind} needs a note: its arithmetic or reason")
        return self


class Figure(Sourced):
    """A quantity with its unit, or null where it is not known."""

    value: Annotated[str, StringConstraints(max_length=40)] | None


class Fact(Sourced):
    """Something that is or is not so."""

    value: Annotated[bool, Field(strict=True)]


def _in_unit(field: str) -> AfterValidator:
    def check(figure: Figure) -> Figure:
        if figure.value is not None:
            try:
                quantity({"value": figure.value}, field, what="value")
            except InputError as error:
                raise ValueError(str(error)) from error
        return figure

    return AfterValidator(check)


Peak = Annotated[Figure, _in_unit("peak_flop_per_s")]
Bytes = Annotated[Figure, _in_unit("capacity")]
Rate = Annotated[Figure, _in_unit("bandwidth")]
Watts = Annotated[Figure, _in_unit("tdp")]
Latency = Annotated[Figure, _in_unit("latency")]
Price = Annotated[Figure, _in_unit("usd_per_device_hour")]


class Tally(Sourced):
    """How many of something there are."""

    value: Count


class Memory(Strict):
    """One kind of memory of one device."""

    capacity: Bytes
    bandwidth: Rate
    """Peak read bandwidth."""
    visible: Bytes | None = None
    """What the driver offers programs; default: the capacity."""
    inline_ecc: Fact | None = None
    """Whether check bits lie among the data (GDDR with ECC on), not in chips of their own."""


class Link(Strict):
    """How devices are joined: figures per device and per direction."""

    topology: Literal["switch", "mesh", "torus", "fat_tree", "ring"] = "switch"
    bandwidth: Rate
    """Per device and per direction; vendors usually print the sum of both."""
    latency: Latency
    """Of one message through the tier; of one hop on a torus."""
    num_dimensions: Annotated[int, Field(ge=1, le=6, strict=True)] | None = None
    oversubscription: Annotated[float, Field(ge=1, le=1000)] = 1.0
    in_network_reduction: Fact | None = None

    @model_validator(mode="after")
    def _dimensions(self) -> Self:
        if self.topology == "torus" and self.num_dimensions is None:
            raise ValueError("a torus needs num_dimensions")
        return self


class ScaleUp(Link):
    """The inner network: NVLink, Infinity Fabric, ICI, NeuronLink."""

    size: Annotated[int, Field(ge=2, le=1_000_000, strict=True)]
    """Devices it joins."""


Kind = Literal[
    "gemm",
    "expert_gemm",
    "attention_decode",
    "attention_prefill",
    "latent_attention_decode",
    "latent_attention_prefill",
    "elementwise",
]
"""Kinds of kernel that a user can measure; attention of few and of many new tokens apart."""
KernelFormat = Literal[
    "bf16", "bf16/fp8", "fp8", "fp8_block", "fp4", "w4a8", "w4a16", "w8a16"
]  # fmt: skip
Share = Annotated[float, Field(gt=0, le=1000)]
"""Of a peak; above 1 where the peak is a measured rate and caches serve the kernel."""
Amount = Annotated[float, Field(ge=0, le=1e9)]


class Evidence(Strict):
    """What a fitted record rests on."""

    source: Text
    """File names, or the tool that measured."""
    software: Text | None = None
    """Library or engine, with its version where the file says."""
    rows: Count
    fitted: list[Text] = []
    """Figures that the rows decide; the others are as shipped."""
    error_shipped: Annotated[float, Field(ge=0)] | None = None
    """Median absolute error before [1]."""
    error_fitted: Annotated[float, Field(ge=0)]
    error_held_out: Annotated[float, Field(ge=0)] | None = None
    """Of rows that the fit did not see."""


class CurveEntry(Strict):
    """One kind of kernel in one format: figures of `cost.efficiency.Curve`, and their evidence."""

    family: Kind
    format: KernelFormat
    up_to: Annotated[float, Field(ge=1)] | None = None
    """Holds to this many rows of a GEMM, or cached tokens of attention."""
    launch_us: Annotated[float, Field(ge=0, le=1e7)]
    compute_share: Share = 1.0
    bandwidth_share: Share = 1.0
    unhidden: Annotated[float, Field(ge=0, le=1)] = 0.0
    tail_tiles: Amount = 0.0
    row_tile: Amount = 0.0
    quantize_passes: Amount = 0.0
    page_tokens: Amount = 0.0
    softmax_width: Amount = 0.0
    ramp_us: Amount = 0.0
    block_rows: Amount = 0.0
    cores: Amount = 0.0
    spread: Annotated[float, Field(ge=0, le=20)]
    """σ of ln(measured / fitted)."""
    evidence: Evidence


class DeviceCurve(CurveEntry):
    """A curve outside the entry of its device."""

    device: Slug


class LinkEntry(Strict):
    """Messages of one kind, as ratios to the shipped records."""

    device: Slug
    collective: Literal[
        "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "point_to_point"
    ]
    latency_ratio: Annotated[float, Field(gt=0, le=100)]
    bandwidth_ratio: Annotated[float, Field(gt=0, le=100)]
    evidence: Evidence


class EngineEntry(Strict):
    """What an engine adds to the kernels."""

    device: Slug
    engine: Annotated[str, StringConstraints(pattern=r"^[a-z0-9.\-]{1,40}$")]
    layer_us: Annotated[float, Field(ge=0, le=1e4)]
    sequence_us: Annotated[float, Field(ge=0, le=1e4)]
    evidence: Evidence


class CalibrationEntry(Strict):
    """What `ridgeline calibrate` fitted to a user's own measurements."""

    kind: Literal["calibration"]
    schema_version: Literal[1]
    date: Date
    software: Text
    """Version of ridgeline: shipped figures that were kept are those of this version."""
    curves: list[DeviceCurve] = []
    collectives: list[LinkEntry] = []
    engines: list[EngineEntry] = []


class DeviceEntry(Strict):
    """One accelerator or CPU, as its datasheet describes it: dense peaks, links per direction."""

    kind: Literal["device"] = "device"
    id: Slug
    aliases: list[Slug] = []
    name: Text
    vendor: Text
    generation: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,40}$")]
    """Microarchitecture: the key of efficiency records."""
    release: Date | None = None
    confidence: Literal["high", "medium", "low", "derived", "rumour"]
    checked_by: list[Text] = []
    """Sources that agree with the figures."""
    peak_flop_per_s: Annotated[dict[Format, Peak], Field(min_length=1)]
    memory: Memory
    cache: Bytes | None = None
    cores: Tally | None = None
    """Streaming multiprocessors or compute units."""
    tdp: Watts | None = None
    scale_up: ScaleUp | None = None
    scale_out: Link | None = None
    host_memory: Memory | None = None
    """The device's share of host memory."""
    pcie: Rate | None = None
    chip_to_chip: Rate | None = None
    efficiency: list[CurveEntry] = []
    """How far below the peaks its kernels run, where someone measured them on this device."""
    note: Text | None = None


class TierEntry(Link):
    """One network tier of a cluster, innermost first."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,40}$")]
    size: Annotated[int, Field(ge=2, le=1_000_000, strict=True)]
    dimensions: list[Count] = []


class ClusterEntry(Strict):
    """Equal devices joined by the device's own link, or by tiers of its own."""

    kind: Literal["cluster"] = "cluster"
    id: Slug
    aliases: list[Slug] = []
    name: Text
    device: Slug
    num_devices: Count
    source: Text
    link: Literal["scale_up", "pcie", "scale_out"] = "scale_up"
    """Which link of the device joins them, unless `tiers` says."""
    dimensions: list[Count] = []
    """Torus extents."""
    tiers: Annotated[list[TierEntry], Field(min_length=1, max_length=6)] | None = None
    usd_per_device_hour: Price | None = None
    note: Text | None = None


class ModelEntry(Strict):
    """A model: an architecture in the catalogue's form, or the keys of a config.json."""

    kind: Literal["model"] = "model"
    id: Slug
    aliases: list[Slug] = []
    hub: Annotated[str, StringConstraints(pattern=r"^[\w.\-]+/[\w.\-]+$")] | None = None
    """Name on the hub."""
    source: Text
    as_of: Date | None = None
    published_params: Text | None = None
    """What the developers say, in words."""
    architecture: dict[str, Any] | None = None
    config: dict[str, Any] | None = None
    note: Text | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.architecture is None) == (self.config is None):
            raise ValueError("give either `architecture` or `config`")
        return self


class PriceRow(Strict):
    """One dated price."""

    provider: Text
    market: Literal["specialist", "hyperscaler", "marketplace", "index", "model"]
    terms: Text
    as_of: Date
    variant: Text | None = None
    """Why the row is not about exactly this device; such rows never set the default."""
    usd_per_device_hour: Price


class RentalEntry(Strict):
    """Rental prices of one device; `id` is the device's."""

    kind: Literal["rental"] = "rental"
    id: Slug
    prices: Annotated[list[PriceRow], Field(min_length=1)]


ENTRIES: dict[str, type[DeviceEntry | ClusterEntry | ModelEntry | RentalEntry]] = {
    "devices": DeviceEntry,
    "clusters": ClusterEntry,
    "models": ModelEntry,
    "rental": RentalEntry,
}
