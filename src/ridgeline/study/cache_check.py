"""Published offload measurements beside what links and cache sizes predict."""

from __future__ import annotations

from dataclasses import dataclass

from ridgeline.catalog.tiers import tier_data
from ridgeline.economics.token_cost import SECONDS_PER_DAY
from ridgeline.model.precision import Precision
from ridgeline.model.state import kv_bytes_per_token, state_bytes
from ridgeline.study.resolve import resolve_model
from ridgeline.study.service_day import service_day
from ridgeline.units import parse_quantity

RDMA_SHARE = 0.92
"""A 400 Gb/s NIC moves 46 of 50 GB/s: headers and flow control (datasheet and verbs tests)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One measured figure and its prediction."""

    system: str
    quantity: str
    unit: str
    predicted: float
    measured: float
    note: str
    source: str

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        return self.predicted / self.measured - 1.0


def cache_checks() -> tuple[Check, ...]:
    """Return every published figure that can be predicted from stated inputs."""
    found = [
        Check(
            system=m["system"],
            quantity="read bandwidth",
            unit="B/s",
            predicted=RDMA_SHARE * parse_quantity(m["raw"], "B/s"),
            measured=parse_quantity(m["measured"]["value"], "B/s"),
            note=m.get("note") or m["measured"].get("note") or "",
            source=m["measured"]["source"],
        )
        for m in tier_data()["measurements"]
    ]
    v4 = resolve_model("deepseek-v4-pro")
    found.append(
        Check(
            system="DeepSeek V4 Pro, cache of 1M tokens",
            quantity="cache size",
            unit="B",
            predicted=float(state_bytes(v4, 1_000_000, Precision.of(v4, kv_dtype="bf16"))),
            measured=9.62e9,
            note="1M read as 1,000,000 tokens; bf16",
            source="https://locsic.com/thinking/kv-cache-deep-dive/ (secondary)",
        )
    )
    return tuple(found)


def deepseek_hit_bandwidth() -> tuple[float, float]:
    """Return the mean cache traffic per node of DeepSeek's published day [B/s]: fp8 and bf16."""
    day = service_day("deepseek-2025-02-28").entry
    arch = resolve_model(day["model"])
    per_second = day["cached_tokens"] / SECONDS_PER_DAY / day["nodes"]
    low, high = (
        per_second * kv_bytes_per_token(arch, Precision.of(arch, kv_dtype=fmt))
        for fmt in ("fp8", "bf16")
    )
    return low, high
