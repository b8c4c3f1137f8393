"""How public benchmark runs set up their schedulers, where their rows do not say so.

Flags of the launch scripts of InferenceX at revision 843c6254 (github.com/SemiAnalysisAI/
InferenceX, benchmarks/single_node/fixed_seq_len), by engine and generation of the devices.
"""

from __future__ import annotations

from dataclasses import dataclass

from ridgeline.validate.truth_rows import TruthRow

_POLLING = frozenset(("blackwell", "blackwell_ultra"))
_FEW, _MANY, _CROWD = 10.0, 30.0, 16.0
"""`--scheduler-recv-interval` below and from 16 requests in flight."""
_GATHER = 60.0
"""`attention_dp_config: {enable_balance: true, timeout_iters: 60}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """What `closed_loop` takes of a run."""

    poll_steps: float = 1.0
    gather_steps: float = 0.0

    @property
    def flags(self) -> tuple[str, ...]:
        """What was assumed, in words."""
        polled = (
            f"assumed from InferenceX's scripts: a look for prompts in {self.poll_steps:.0f} steps"
        )
        gathered = (
            "assumed from InferenceX's scripts: prompts wait for every attention group, at most"
            f" {self.gather_steps:.0f} steps"
        )
        return (
            *([polled] if self.poll_steps > 1 else []),
            *([gathered] if self.gather_steps else []),
        )


def run_settings(row: TruthRow, *, engine: str, generation: str, groups: float) -> RunSettings:
    """Return a run's scheduler flags; the engine's defaults for runs of anyone else.

    Args:
        row: Its source names InferenceX, its concurrency decides.
        engine: Profile of the engine.
        generation: Of the devices.
        groups: Attention groups.
    """
    if "inferencex" not in f"{row.file} {row.text('source')}".lower():
        return RunSettings()
    if engine == "sglang" and generation in _POLLING and groups == 1:
        many = (row.number("concurrency") or 1.0) >= _CROWD
        return RunSettings(poll_steps=_MANY if many else _FEW)
    if engine == "trtllm" and groups > 1:
        return RunSettings(gather_steps=_GATHER)
    return RunSettings()
