"""How far below its datasheet a device runs each kind of kernel.

Datasheet figures are never changed; what a device loses lives here, as a few numbers with a
physical meaning per kind of kernel, format and device generation, with their source. What
nobody measured gets a prior and a flag.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ridgeline.cost.kernel_forms import ATTENTION, kernel_form
from ridgeline.hardware.records import Device
from ridgeline.model.work import Family, Number, Operation

MOST_DECODE_TOKENS = 16
"""Attention over at most this many new tokens runs a decode kernel (split over the cache)."""

MOST_SHARE = 0.95
"""Best share of a dense peak that a large GEMM reaches: of 1000 bf16 shapes on data-centre devices
at most 4 pass it (vLLM's), none of two other engines'. Source: as cost.best_gemms."""

_NEAR = {"fp8": "fp8_block", "fp8_block": "fp8", "w8a16": "w4a16", "w4a8": "fp8"}
"""Where a format was not measured on a generation: one with the same arithmetic there."""

_ALIASES: dict[Family, Family] = {"embedding": "elementwise"}
"""Lookups move bytes as element-wise kernels do."""

_ECC_SHARE = 15 / 16
"""Of the bandwidth that is left for data where check bits lie among them. Source: the same share
of capacity is left (46,068 of 49,152 MiB on L40S and A40); of two cards with one chip and one kind
of memory, A40 with ECC and A6000 without, llama.cpp streams 0.93 as large a share."""

DECODE_MMA_SHARE = {"hopper": 0.629}
"""Best share of peak of decode attention on grouped queries, by generation: such kernels multiply
with warp-wide instructions, which on Hopper reach 62.9 % of what its warp-group instructions do.
Source: Luo et al. 2024, Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via
Microbenchmarking, arXiv:2402.13499."""

_FLASH2_ROWS = {"ampere": 128, "ampere_rtx": 64, "ada": 64, "blackwell_rtx": 64}
"""Query rows of a thread block of FlashAttention 2 at head width 128, causal, by generation; it
does not split the cache of a prompt. Source: Dao 2023, FlashAttention-2, arXiv:2307.08691."""

GROUP_ROWS = {"hopper": 64.0, "blackwell": 128.0, "blackwell_ultra": 128.0}
"""Rows of the smallest tile of matrix instructions of a whole warp group (wgmma) or core (tcgen05),
to which a grouped GEMM on its own pads every group; 16 elsewhere. Source: NVIDIA, PTX ISA 8.7."""

PAIR_ROWS = 128.0
"""Rows of the tile that groups of more rows than one warp group takes pad to: DeepGEMM's for rows
in a list; otherwise it takes 64, 128 or 256 by waves, which 128 stands for. Source: its gemm.py."""

_MORE_POWER = 0.6
"""See `powered_share`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Time of one kernel: see `cost.roofline.operation_time`. Fields may be arrays of samples."""

    launch_s: Number = 0.0
    """Fixed time of one execution [s]."""
    compute_share: Number = 1.0
    """c: share of the dense peak."""
    bandwidth_share: Number = 1.0
    """b: share of peak memory bandwidth."""
    unhidden: Number = 0.0
    """κ: share of the shorter of compute and memory time that the longer does not hide [1]."""
    tail_tiles: Number = 0.0
    """Output tiles (128 × 128, or 128 queries of a head) by which the last wave falls short."""
    row_tile: Number = 0.0
    """Rows to which the tokens of each expert are padded."""
    quantize_passes: Number = 0.0
    """Separate passes over the input that turn 16-bit activations into 8-bit ones."""
    page_tokens: Number = 0.0
    """Tokens read beyond the cached ones per sequence: a tile half filled, pages touched."""
    softmax_width: Number = 0.0
    """Exponentials of attention, as elements of head width that would cost as much."""
    ramp_s: Number = 0.0
    """Most by which a stream trails one at full rate from end to end, as blocks end apart [s]."""
    block_rows: Number = 0.0
    """Query rows of a thread block that walks its whole cache; 0 where the cache is split."""
    cores: Number = 0.0
    """Blocks are dealt to so many cores, round after round."""
    spread: float = 0.0
    """σ of ln(measured / fitted): what a band has to cover."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedDevice:
    """What a curve's figures depend on of the devices they were fitted on, by datasheet."""

    flop_per_s: float
    """Dense bf16 peak."""
    fp32_flop_per_s: float
    """Peak of the vector units."""
    tdp_w: float
    inline_ecc: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Efficiency:
    """Curves by kind of kernel, format and generation, plus time of the host per step."""

    name: str
    curves: Mapping[Family, Curve]
    """By family, where no record matches."""
    default: Curve
    """For a family without a curve of its own."""
    records: Mapping[tuple[str, str, str], Curve] = field(
        default_factory=dict[tuple[str, str, str], Curve]
    )
    """By kind, `kernel_form` and generation or device; generation `*` is the prior.

    Kinds are operation families; attention has `_decode` and `_prefill` apart."""
    fitted: Mapping[str, FittedDevice] = field(default_factory=dict[str, FittedDevice])
    """By generation: the devices that its records were fitted on."""
    engine: str = ""
    """`vllm`, `sglang` or `trtllm`: its own kernels where they were fitted apart."""
    host_s: Number = 0.0
    """Scheduling, sampling and launch time per step outside the kernels [s]."""
    source: str
    flags: tuple[str, ...] = ()
    draws: Mapping[str, tuple[Number, Number]] = field(
        default_factory=dict[str, "tuple[Number, Number]"]
    )
    """Standard normal samples by kind, for launch and for both shares (see `sampled`)."""

    def curve(self, operation: Operation, device: Device) -> Curve:
        """Return the curve of an operation on a device.

        Attention whose new tokens are partly few and partly many takes each point's own.
        """
        kind = _ALIASES.get(operation.family, operation.family)
        if kind not in ATTENTION:
            return self._drawn(kind, self._curve(kind, operation, device))
        many = np.greater(operation.shape.get("new_tokens", 1), MOST_DECODE_TOKENS)
        if not np.any(many):
            return self._drawn(kind, self._curve(f"{kind}_decode", operation, device))
        prefill = self._curve(f"{kind}_prefill", operation, device)
        if np.all(many):
            return self._drawn(kind, prefill)
        decode = self._curve(f"{kind}_decode", operation, device)
        return self._drawn(kind, _chosen(many, prefill, decode))

    def flag(self, operation: Operation, device: Device) -> str | None:
        """Return what a reader must know about an operation's curve, if anything."""
        if not self.records:
            return None
        kind: str = _ALIASES.get(operation.family, operation.family)
        if kind in ATTENTION:
            many = np.any(np.greater(operation.shape.get("new_tokens", 1), MOST_DECODE_TOKENS))
            kind = f"{kind}_prefill" if many else f"{kind}_decode"
        measured = self._find(kind, operation, device)[1]
        if measured:
            return None
        form = kernel_form(operation, device)
        name = device.generation or device.id
        return f"efficiency: {kind} {form} not measured on {name}; prior with a wider band"

    def _find(self, kind: str, operation: Operation, device: Device) -> tuple[Curve, bool]:
        if self.records:
            form = kernel_form(operation, device)
            wide = f"{form}:{int(np.max(operation.shape.get('head_dim', 0)))}"
            for key, measured in (
                ((kind, f"{wide}@{self.engine}", device.generation), True),
                ((kind, wide, device.generation), True),
                ((kind, f"{form}@{self.engine}", device.generation), True),
                ((kind, form, device.id), True),
                ((kind, form, device.generation), True),
                ((kind, _NEAR.get(form, form), device.generation), False),
                ((kind, form, "*"), False),
                ((kind, "bf16", device.generation), False),
                ((kind, "bf16", "*"), False),
            ):
                found = self.records.get(key)
                if found is not None:
                    return found, measured
        return self.curves.get(operation.family, self.default), False

    def _curve(self, kind: str, operation: Operation, device: Device) -> Curve:
        """Return the curve, moved from the devices fitted to this one of the same generation.

        The clock follows the power budget. A tail takes its time however fast the matrix units
        are, and on a smaller chip it is fewer tiles, so its tiles scale with the peak.
        Exponentials run on vector units, so their equivalent width scales with matrix over
        vector peak. Bandwidth gives way to check bits where only this device reads them along.
        """
        curve = self._find(kind, operation, device)[0]
        if kind == "gemm" and "tokens_per_expert" in operation.shape:
            curve = replace(curve, row_tile=_group_tile(operation, device))
        fitted = self.fitted.get(device.generation)
        checked = data_share(device) / (_ECC_SHARE if fitted and fitted.inline_ecc else 1.0)
        if checked != 1.0:
            streamed = min(curve.bandwidth_share * checked, MOST_SHARE)
            curve = replace(curve, bandwidth_share=streamed)
        peak = device.peak_flop_per_s.get("bf16")
        if fitted is None or not peak:
            return curve
        faster = peak / fitted.flop_per_s
        share, width = curve.compute_share, curve.softmax_width
        if device.tdp_w:
            share = powered_share(
                float(share),
                fitted_flop_per_joule=fitted.flop_per_s / fitted.tdp_w,
                flop_per_joule=peak / device.tdp_w,
            )
        if kind == "attention_decode":
            share = min(share, DECODE_MMA_SHARE.get(device.generation, 1.0))
        # What runs beside the matrix units keeps its time, whatever they and their clock do.
        beside = faster * (share / curve.compute_share)
        vector = device.peak_flop_per_s.get("fp32")
        if width and vector:
            width = width * (beside / (vector / fitted.fp32_flop_per_s))
        return replace(
            curve,
            compute_share=share,
            softmax_width=width,
            tail_tiles=curve.tail_tiles * beside,
            **self._blocks(kind, device),
        )

    def _blocks(self, kind: str, device: Device) -> dict[str, float]:
        rows = _FLASH2_ROWS.get(device.generation, 0)
        if kind != "attention_prefill" or self.engine == "sglang" or not device.num_cores:
            return {}
        return {"block_rows": float(rows), "cores": float(device.num_cores)}

    def _drawn(self, kind: str, curve: Curve) -> Curve:
        if not self.draws:
            return curve
        launch, share = self.draws[kind]
        slower = np.exp(share * curve.spread)
        return replace(
            curve,
            launch_s=curve.launch_s * np.exp(launch * curve.spread),
            compute_share=curve.compute_share / slower,
            bandwidth_share=curve.bandwidth_share / slower,
        )


def _group_tile(operation: Operation, device: Device) -> Number:
    least = GROUP_ROWS.get(device.generation)
    if least is None:
        return 16.0
    many = np.greater(operation.shape["tokens_per_expert"], least)
    return np.where(many, np.maximum(least, PAIR_ROWS), least)


def data_share(device: Device) -> float:
    """Return the share of bandwidth that is left for data beside check bits [1].

    Source: as `_ECC_SHARE`.
    """
    return _ECC_SHARE if device.memory.inline_ecc else 1.0


def powered_share(share: float, *, fitted_flop_per_joule: float, flop_per_joule: float) -> float:
    """Return the share of peak arithmetic reaches on a device with another power budget [1].

    Under load a clock gives way until power fits. Below full clock power grows as its cube (f·V²,
    V ∝ f); a clock that gave way already has its voltage near the floor, and more power buys more:

        c′ = c · (p_fitted / p)^x, at most 0.95,  x = 1/3 to less power, 0.6 to more

    where p is peak over rated power. A cut-down device (H20) runs at full clock, a card of half
    the power (H100 PCIe) does not.

    Args:
        share: c, fitted on devices of the same generation.
        fitted_flop_per_joule: Theirs.
        flop_per_joule: Of the device at hand.

    Source: first principles (dynamic power of CMOS); 0.6: one chip at 750 and 1000 W, MI300X and
    MI325X, multiplies bf16 at 708 and 843, fp8 at 1273 and 1519 TFLOP/s (Sander et al. 2025,
    Measuring Max-Achievable FLOPs, Part 2, ROCm blogs); 0.95 as in MOST_SHARE.

    >>> round(powered_share(0.6, fitted_flop_per_joule=1.0, flop_per_joule=2.0), 3)
    0.476
    """
    ratio = fitted_flop_per_joule / flop_per_joule
    if ratio < 1:
        return share * ratio ** (1 / 3)
    return max(share, min(share * ratio**_MORE_POWER, MOST_SHARE))


def _chosen(many: Number, prefill: Curve, decode: Curve) -> Curve:
    def pick(first: Number, second: Number) -> Number:
        return np.where(many, first, second)

    return Curve(
        launch_s=pick(prefill.launch_s, decode.launch_s),
        compute_share=pick(prefill.compute_share, decode.compute_share),
        bandwidth_share=pick(prefill.bandwidth_share, decode.bandwidth_share),
        unhidden=pick(prefill.unhidden, decode.unhidden),
        tail_tiles=pick(prefill.tail_tiles, decode.tail_tiles),
        page_tokens=pick(prefill.page_tokens, decode.page_tokens),
        softmax_width=pick(prefill.softmax_width, decode.softmax_width),
        ramp_s=pick(prefill.ramp_s, decode.ramp_s),
        block_rows=pick(prefill.block_rows, decode.block_rows),
        cores=pick(prefill.cores, decode.cores),
        spread=max(prefill.spread, decode.spread),
    )


KINDS = ("gemm", "expert_gemm", "recurrence", "elementwise", "embedding", *sorted(ATTENTION))
"""Kinds of kernel that vary together in `sampled`."""


def sampled(efficiency: Efficiency, *, num: int, seed: int, ndim: int = 1) -> Efficiency:
    """Return an efficiency whose curves hold `num` seeded samples in front of other axes.

    Kernels of one kind are off together (one library wrote them), kinds are off apart:

        launch · exp(σ z₁), shares · exp(-σ z₂), z ~ N(0, 1) per kind and sample

    Args:
        efficiency: Its records' spreads are σ.
        num: Samples.
        seed: Of the random generator.
        ndim: Axes of the arrays it will meet; samples come as [num, 1, ...].

    Source: first principles.
    """
    random = np.random.default_rng(seed)
    shape = (num,) + (1,) * ndim
    draws = {kind: (random.standard_normal(shape), random.standard_normal(shape)) for kind in KINDS}
    return replace(efficiency, draws=draws)


IDEAL = Efficiency(
    name="ideal",
    curves={},
    default=Curve(),
    source="first principles: datasheet peaks, no launch time",
)
"""The pure roofline: a bound nobody beats."""

_PRIOR_SPREAD = 0.25

_TYPICAL: dict[Family, Curve] = {
    "gemm": Curve(launch_s=4e-6, compute_share=0.72, bandwidth_share=0.80),
    "expert_gemm": Curve(launch_s=25e-6, compute_share=0.70, bandwidth_share=0.80),
    "attention": Curve(launch_s=10e-6, compute_share=0.55, bandwidth_share=0.85),
    "latent_attention": Curve(launch_s=12e-6, compute_share=0.55, bandwidth_share=0.75),
    "sparse_attention": Curve(launch_s=12e-6, compute_share=0.50, bandwidth_share=0.70),
    "indexer": Curve(launch_s=8e-6, compute_share=0.45, bandwidth_share=0.70),
    "recurrence": Curve(launch_s=10e-6, compute_share=0.30, bandwidth_share=0.70),
    "elementwise": Curve(launch_s=2e-6, compute_share=1.0, bandwidth_share=0.75),
    "embedding": Curve(launch_s=3e-6, compute_share=1.0, bandwidth_share=0.60),
}

TYPICAL = Efficiency(
    name="typical",
    curves={family: replace(c, spread=_PRIOR_SPREAD) for family, c in _TYPICAL.items()},
    default=Curve(launch_s=5e-6, compute_share=0.60, bandwidth_share=0.75, spread=_PRIOR_SPREAD),
    source=(
        "mid-points of published kernel measurements on A100 to GB200 (bf16 GEMM, decode and"
        " prefill attention, grouped GEMM); not fitted to the device at hand"
    ),
    flags=("efficiency: typical shares of the datasheet, not calibrated for this device",),
)
"""A prior for any device."""
