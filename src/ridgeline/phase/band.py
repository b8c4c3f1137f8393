"""The 10-90 % band of a time: fitted figures off by their spread, sampled together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ridgeline.cost.efficiency import sampled
from ridgeline.model.work import Number
from ridgeline.phase.deployment import Deployment, Phase, step_breakdown

NUM_SAMPLES = 32
NETWORK_SPREAD = 0.15
"""σ of ln(measured / predicted) of messages: half-widths of the 10-90 % bands of the fitted
collectives are 4 to 16 % (cost.network_fits), and up to 50 % where a prior stands in."""


LOOP_SPREAD = 0.17
"""σ of what a replica under load is off by beside its kernels: version and settings of the engine,
heat, lengths that vary. With it the bands of closed loops hold 80 % of the published ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Quantiles of a time over the samples [s]."""

    p10_s: NDArray[np.float64]
    p50_s: NDArray[np.float64]
    p90_s: NDArray[np.float64]


def band(
    deployment: Deployment,
    *,
    phase: Phase,
    batch: Number,
    context: Number,
    chunk: Number = 0,
    prompt: Number | None = None,
    num: int = NUM_SAMPLES,
    seed: int = 0,
) -> Band:
    """Return the 10, 50 and 90 % quantiles of the time of a step [s].

    Launch times, shares of the datasheet and messages are sampled from their spreads. Prompts of
    an engine also by the common factor of a loop: they heat the device for seconds, where kernels
    were measured in bursts. What else the model leaves out is not sampled.

    Args:
        deployment: Model, devices, efficiency.
        phase: As in `step_breakdown`, like batch, context and chunk.
        batch: Sequences in the replica.
        context: Tokens.
        chunk: Prompt tokens of a mixed step.
        prompt: As in `step_breakdown`.
        num: Samples.
        seed: Of the random generator; the same seed gives the same band.

    Source: first principles.
    """
    ndim = max(np.ndim(batch), np.ndim(context), np.ndim(chunk))
    efficiency = sampled(deployment.efficiency, num=num, seed=seed, ndim=ndim)
    step = step_breakdown(
        replace(deployment, efficiency=efficiency),
        phase=phase,
        batch=batch,
        context=context,
        chunk=chunk,
        prompt=prompt,
    )
    draws = np.random.default_rng(seed + 1).standard_normal((num,) + (1,) * ndim)
    network = step.network_s * np.exp(NETWORK_SPREAD * draws)
    times = np.asarray(step.local_s + network)
    if phase == "prefill" and deployment.engine is not None:
        more = np.random.default_rng(seed + 2).standard_normal((num,) + (1,) * ndim)
        times = times * np.exp(LOOP_SPREAD * more)
    low, middle, high = np.quantile(times, [0.1, 0.5, 0.9], axis=0)
    return Band(p10_s=low, p50_s=middle, p90_s=high)


def ratio_band(
    deployment: Deployment,
    time_s: Callable[[Deployment], Number],
    *,
    spread: Number = LOOP_SPREAD,
    ndim: int = 1,
    num: int = NUM_SAMPLES,
    seed: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the 10 and 90 % quantiles of any time of a deployment, over that time itself [1].

    Args:
        deployment: Model, devices, efficiency.
        time_s: Prices a deployment; samples come in front of its own axes.
        spread: σ of a factor common to the whole time.
        ndim: Axes of the batches and contexts that it is priced over.
        num: Samples.
        seed: Of the random generator.

    Source: first principles.
    """
    efficiency = sampled(deployment.efficiency, num=num, seed=seed, ndim=ndim)
    base = np.asarray(time_s(deployment))
    times = np.asarray(time_s(replace(deployment, efficiency=efficiency)))
    draws = np.random.default_rng(seed + 1).standard_normal((num,) + (1,) * base.ndim)
    ratios = times * np.exp(spread * draws) / base
    low, high = np.quantile(ratios, [0.1, 0.9], axis=0)
    return low, high
