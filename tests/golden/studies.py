"""Whole studies whose numbers are watched: a change needs a changelog line that says why."""

from collections.abc import Callable
from typing import Any

from ridgeline.study.estimate import estimate
from ridgeline.study.plan import plan

ESTIMATES: dict[str, dict[str, Any]] = {
    "llama-70b on one board": {"model": "llama-3.3-70b", "on": "hgx-h100-8"},
    "llama-70b ideal": {
        "model": "llama-3.3-70b", "on": "hgx-h100-8", "efficiency": "ideal", "network": "ideal",
    },
    "llama-70b in two stages": {"model": "llama-3.3-70b", "on": "hgx-h100-8", "tp": 4, "pp": 2},
    "llama-8b on a gaming card": {"model": "llama-3.1-8b", "on": "rtx-4090"},
    "llama-8b prompts": {"model": "llama-3.1-8b", "on": "h100-sxm", "phase": "prefill"},
    "llama-8b on a TPU slice": {"model": "llama-3.1-8b", "on": "tpu-v5e-8"},
    "qwen3-32b in fp8": {"model": "qwen3-32b-fp8", "on": "l40s"},
    "qwen3-235b on MI300X": {"model": "qwen3-235b-a22b", "on": "mi300x-8"},
    "gpt-oss on one device": {"model": "gpt-oss-120b", "on": "b200-sxm"},
    "gpt-oss mixed": {"model": "gpt-oss-120b", "on": "hgx-h100-8", "phase": "mixed"},
    "gemma-3 windows": {"model": "gemma-3-27b-it", "on": "h100-sxm", "context": 32768},
    "deepseek-v3 over a rack": {"model": "deepseek-v3", "on": "gb200-nvl72", "batch": [72, 9216]},
    "deepseek-v3 over 18 boards": {
        "model": "deepseek-v3", "on": "hgx-h800-8", "dp": 144, "ep": 144,
        "redundant_experts": 32, "batch": 12672, "context": 4989,
    },
    "deepseek-v4 long": {"model": "deepseek-v4-flash", "on": "hgx-b200-8", "context": 1 << 20},
    "hybrid": {"model": "qwen3-coder-next", "on": "hgx-h200-8", "context": 262144},
    "state space": {"model": "falcon-mamba-7b", "on": "a100-sxm-80"},
}  # fmt: skip
PLANS: dict[str, dict[str, Any]] = {
    "plan llama-70b": {"model": "llama-3.3-70b", "on": "hgx-h100-8", "isl": 2048, "osl": 512},
    "plan deepseek-v3": {
        "model": "deepseek-v3", "on": "gb200-nvl72", "isl": 4096, "osl": 1024, "tpot_s": 0.05,
    },
}  # fmt: skip


def _estimate(question: dict[str, Any]) -> dict[str, float]:
    result = estimate(**{"batch": [1, 64], **question})
    last = {f"{k}": float(result.rows[k][-1]) for k in ("step_s", "mfu", "mbu", "chalk_step_s")}
    derived = {k: float(v) for k, v in result.derived.items() if v is not None}
    return {**last, **derived}


def _plan(question: dict[str, Any]) -> dict[str, float]:
    result = plan(**question)
    names = ("tpot_s", "ttft_s", "tokens_per_s_per_device", "batch")
    found = {k: float(getattr(result.winner, k)) for k in names}
    return {**found, "front": float(len(result.front))}


def measured() -> dict[str, dict[str, float]]:
    """Run every study and return its watched figures."""
    runs: list[tuple[dict[str, dict[str, Any]], Callable[[dict[str, Any]], dict[str, float]]]] = [
        (ESTIMATES, _estimate),
        (PLANS, _plan),
    ]
    return {name: run(q) for questions, run in runs for name, q in questions.items()}
