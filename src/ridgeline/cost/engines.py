"""What a serving engine adds to the kernels of a step: small kernels, sampling, the host.

A step of a real engine is longer than its matrix multiplications, attention and messages:

- small kernels in every layer that no operation stands for (residuals, quantisation of
  activations, rotary, router top-k, sorting and gathering tokens by expert): `layer_s`;
- sampling, scheduling and returning a token for every sequence, on the host: `sequence_s`;
- the same for the step as a whole: `step_s`;
- without captured graphs, the host launches every kernel itself, and a device that is faster
  waits: `eager_layer_s` is a floor, not a sum.

Kernels of engines before captured graphs were less fused: `busy_share` stretches them.

The figures are fitted to published serving steps by dev/fit_engines.py, per engine and vendor,
never per model or chip.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from ridgeline.cost.engine_fits import ENGINE_FITS, OLDER_LAYER_US
from ridgeline.errors import UnknownNameError

Scheduling = Literal["mixed", "separate"]
"""`mixed`: prompts ride on decode steps in chunks; `separate`: prefill steps of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineProfile:
    """One engine on the devices of one vendor."""

    name: str
    versions: str
    layer_s: float = 0.0
    """Small kernels of one layer on the vendor's newest generation [s]."""
    expert_layer_s: float = 0.0
    """What they take longer in a layer with routed experts [s]."""
    older_layer_s: Mapping[str, float] = field(default_factory=dict[str, float])
    """And in such a layer on other generations than the newest [s]."""
    hidden_sequence_s: float = 0.0
    """Host time per sequence and step that runs beside the device: a floor of the step, with
    `prompt_layer_s` on top where it carries prompts [s]."""
    sequence_s: float = 0.0
    """Host time per sequence of one attention group and step [s]."""
    step_s: float = 0.0
    """Host time per step [s]."""
    eager_layer_s: float = 0.0
    """Time the host needs to launch one layer without captured graphs [s]; 0: graphs."""
    prompt_layer_s: float = 0.0
    """Time the host needs to launch one layer of a step with prompts, which graphs do not hold:
    a floor of such steps [s]."""
    busy_share: float = 1.0
    """Time of kernels over that of today's."""
    first_token_s: float = 0.0
    """From a request's arrival to its first token beside queueing and kernels: connection,
    tokenisation, launching a prefill that no graph holds [s]."""
    scheduling: Scheduling = "mixed"
    chunk_tokens: int = 8192
    """Most prompt tokens of one step and attention group, by default."""
    own_kernels: bool = False
    """Runs kernels that no library of data-centre kernels resembles (see `engines_local`)."""
    error: float = 0.0
    """Median absolute error on held-out (model, chip) groups it was fitted without [1]."""
    source: str = ""
    flags: tuple[str, ...] = ()


_SOURCE = "InferenceX closed-loop runs of 2026, decode steps without speculation"
_SCHEDULING: dict[str, Scheduling] = {"sglang": "separate"}
_OLDER = {generation: us * 1e-6 for generation, us in OLDER_LAYER_US.items()}
_VERSIONS = {
    "vllm": "0.6 and later (captured graphs)",
    "sglang": "0.5",
    "trtllm": "1.0 and later",
    "atom": "2026",
}


_FIRST_TOKEN_S = 80e-3
"""DeepSeek-R1 on four chips: 30 to 120 ms over waits and kernels, by cluster more than by chip, at
922 as at 7,373 prompt tokens."""
_PROMPT_LAYER = {"trtllm": 0.7e-3}
"""Best of 0 to 1 ms on (model, chip) pairs left out of the fit (10.3 % against 11.2 % without);
other engines do better without: they hold steps with prompts in graphs, piece by piece."""
_HIDDEN = {"trtllm": 15e-6}
"""TensorRT-LLM 1.0 (PyTorch): sampling and handing out tokens beside the device; thousands of
sequences of a 3 B-active model need 15 on B200, 25 on GB200, whose host is slower."""


def _flag(engine: str) -> str:
    return (
        f"engine: small kernels and host time of {engine} {_VERSIONS[engine]}, fitted to published"
        " serving runs; `ideal` adds none"
    )


def _fitted(engine: str, vendor: str) -> EngineProfile:
    layer_us, sequence_us, error = ENGINE_FITS[engine, vendor]
    return EngineProfile(
        name=engine,
        versions=_VERSIONS[engine],
        layer_s=layer_us * 1e-6,
        sequence_s=sequence_us * 1e-6,
        older_layer_s=_OLDER,
        hidden_sequence_s=_HIDDEN.get(engine, 0.0),
        prompt_layer_s=_PROMPT_LAYER.get(engine, 0.0),
        first_token_s=_FIRST_TOKEN_S,
        scheduling=_SCHEDULING.get(engine, "mixed"),
        error=error / 100,
        source=_SOURCE,
        flags=(_flag(engine),),
    )


_EAGER = EngineProfile(
    name="vllm-0.2",
    versions="0.1 to 0.4 (eager, Python per kernel)",
    eager_layer_s=540e-6,
    busy_share=1.2,
    scheduling="separate",
    chunk_tokens=2560,
    source="Splitwise, ISCA 2024, Llama-2-70B on A100: 43 ms per step of 80 layers where the device"
    " is faster, steps 1.2 times the kernels where it is not",
)
_LLAMA_CPP = EngineProfile(
    name="llamacpp",
    versions="2025 and later (captured graphs)",
    layer_s=42e-6,
    expert_layer_s=50e-6,
    chunk_tokens=512,
    own_kernels=True,
    source="Llama-2-7B on RTX PRO 6000, llama-bench of two mixtures on DGX Spark",
)
_LLAMA_CPP_2024 = replace(
    _LLAMA_CPP,
    name="llamacpp-2024",
    versions="to mid-2024 (kernels launched one by one)",
    layer_s=94e-6,
    source="Llama-3-8B in two formats on seven cards: 2.5 to 3.4 ms per step beside the weights",
)
PROFILES: Mapping[tuple[str, str], EngineProfile] = {
    **{(engine, vendor): _fitted(engine, vendor) for engine, vendor in ENGINE_FITS},
    ("vllm-0.2", "*"): _EAGER,
    ("llamacpp", "*"): _LLAMA_CPP,
    ("llamacpp-2024", "*"): _LLAMA_CPP_2024,
}
"""By engine and vendor; vendor `*` is any other."""
ENGINES = ("ideal", *sorted({engine for engine, _ in PROFILES}))
"""Names for people; `ideal` adds nothing."""


def engine_profile(name: str, vendor: str) -> EngineProfile | None:
    """Return the profile of an engine on a vendor's devices; None for `ideal`.

    A vendor that nobody measured with this engine gets another vendor's profile and a flag.

    Raises:
        UnknownNameError: no such engine.
    """
    if name == "ideal":
        return None
    known = {v: p for (engine, v), p in PROFILES.items() if engine == name}
    if not known:
        raise UnknownNameError("engine", name, ENGINES, list_command="ridgeline estimate --help")
    exact = known.get(vendor.lower(), known.get("*"))
    if exact is not None:
        return exact
    measured, profile = next(iter(known.items()))
    flag = f"engine: {name} not measured on {vendor or 'this vendor'}; figures of {measured}"
    return replace(profile, flags=(flag,))
