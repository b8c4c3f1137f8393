"""One role of a plan as an engine needs to know it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ridgeline.model.layout import Layout

Engine = Literal["vllm", "sglang", "trtllm"]
RELEASES: dict[Engine, str] = {
    "vllm": "vLLM 0.33.0 (2026-11-01)",
    "sglang": "SGLang 0.5.23 (2026-10-30)",
    "trtllm": "TensorRT-LLM 1.2",
}
Role = Literal["mixed", "prefill", "decode"]
CACHES: dict[str, dict[Engine, str]] = {
    "bf16": {"vllm": "auto", "sglang": "auto", "trtllm": "auto"},
    "fp8": {"vllm": "fp8", "sglang": "fp8_e4m3", "trtllm": "fp8"},
}
"""What each engine calls a cache format; others it may know under names of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Equal servers of one role, as an engine needs to know them."""

    role: Role
    model: str
    layout: Layout
    replicas: int
    batch: int
    """Requests in flight per replica."""
    step_tokens: int
    """Most tokens of one step of one attention group."""
    max_tokens: int
    """Longest request [token]."""
    cache: str
    has_experts: bool
    num_experts: int
    drafts: int
    memory_share: float
    """Share of all memory that the engine may fill."""
    workspace_share: float
    """Of it, activations and runtime."""
    weight_share: float
    """Of it, weights."""
    hosts: int
    devices_per_host: int
    port: int

    @property
    def tp(self) -> int:
        """Tensor-parallel degree of attention."""
        return int(self.layout.tp)

    @property
    def dp(self) -> int:
        """Attention data-parallel groups."""
        return int(self.layout.dp)

    @property
    def pp(self) -> int:
        """Pipeline stages."""
        return int(self.layout.pp)

    @property
    def ep(self) -> int:
        """Expert-parallel ranks."""
        return int(self.layout.ep)

    @property
    def spare(self) -> int:
        """Redundant experts."""
        return int(self.layout.num_redundant_experts)


def cache_word(cache: str, engine: Engine) -> str:
    """Return the engine's word for a cache format."""
    return CACHES[cache][engine]


def shell(program: str, flags: Mapping[str, object]) -> list[str]:
    """Return a command over lines; a value of True stands alone, None and False are left out."""
    words = [
        flag if value is True else f"{flag} {value}"
        for flag, value in flags.items()
        if value is not None and value is not False
    ]
    return [f"{program} \\", *(f"  {w} \\" for w in words[:-1]), f"  {words[-1]}"]
