"""A closed loop: `concurrency` requests always in flight; a new one arrives when one finishes.

The steady state is a fixed point, found without a simulator. Requests cycle between waiting for
and running their prefill (one server that a prompt holds for S seconds) and decoding (everyone
at once, Z seconds): the machine-repair model of queueing theory, with a service time that
hardly varies.

Legend: c requests in flight; B of them decode; O output tokens; τ tokens per sequence and step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ridgeline.model.layout import Layout
from ridgeline.model.work import Number
from ridgeline.phase.deployment import Deployment, step_breakdown

Array = NDArray[np.float64]
Scheduling = Literal["mixed", "separate"]
"""`mixed`: prompts ride on decode steps in chunks; `separate`: prefill steps of their own."""
_ROUNDS = 3
_QUEUE_ROUNDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedLoop:
    """The steady state, one element per point."""

    tpot_s: Array
    ttft_s: Array
    decode_s: Array
    """Of a step without prompts."""
    prompt_s: Array
    """What one prompt adds to the steps of everyone else."""
    decoding: Array
    """B: requests that decode at a time."""
    requests_per_s: Array

    def output_tokens_per_s(self, osl: Number) -> Array:
        """Return output tokens per second of the replica."""
        return self.requests_per_s * osl


def closed_loop(
    deployment: Deployment,
    *,
    concurrency: Number,
    isl: Number,
    osl: Number,
    budget: float = 8192.0,
    scheduling: Scheduling = "mixed",
    tokens_per_step: float = 1.0,
) -> ClosedLoop:
    """Return the steady state at fixed concurrency.

    While one request takes its O/τ decode steps, each of the other B - 1 is replaced once, and
    a replacement's prompt delays everyone by what it adds to the steps that carry it:

        TPOT = [t_decode(B) + (B - 1)·τ·s / O] / τ
        TTFT = R + t/2,  R = S (1 + Q - U/2)  (queue Q of other prompts, U busy share: waits for
               the rest of the running prompt and for all of those queued), and what the engine
               needs before and after its kernels
        B    = c·Z / (Z + TTFT),  Z = (O - 1)·TPOT

    Args:
        deployment: One replica; its sequences are spread evenly over dp attention groups.
        concurrency: c of the replica.
        isl: Mean prompt tokens.
        osl: O.
        budget: Most prompt tokens of one step and attention group.
        scheduling: How prompts and decodes share the device.
        tokens_per_step: τ, above 1 with speculation.

    Source: machine-repair model with deterministic service (Lazowska et al. 1984, Quantitative
    System Performance, chapter 6); agrawal2024 for chunked prefill.
    """
    c, prompt, output = np.broadcast_arrays(
        *(np.asarray(x, dtype=float) for x in (concurrency, isl, osl))
    )
    context = prompt + output / 2
    chunk = np.minimum(prompt, budget)
    decoding: Array = c * 1.0
    loop: ClosedLoop | None = None
    groups = float(np.max((deployment.layout or Layout()).dp))
    first = 0.0 if deployment.engine is None else deployment.engine.first_token_s
    for _ in range(_ROUNDS):
        batch = np.maximum(decoding, 1.0)
        decode: Array = np.asarray(
            step_breakdown(deployment, phase="decode", batch=batch, context=context).step_s
        )
        prompt_s, alone_s = _prompt_seconds(
            deployment, scheduling, batch, context, prompt, chunk, decode, groups
        )
        others = np.maximum(batch - 1.0, 0.0)
        tpot = decode / tokens_per_step + others * prompt_s / output
        think = np.maximum(output - 1.0, 1.0) * tpot
        response = _queue(c, prompt_s, think)
        ttft = response - prompt_s + alone_s + np.where(c > 1, decode / 2, 0.0) + first
        cycle = think + ttft
        decoding = c * think / cycle
        loop = ClosedLoop(
            tpot_s=tpot,
            ttft_s=ttft,
            decode_s=decode,
            prompt_s=prompt_s,
            decoding=decoding,
            requests_per_s=c / cycle,
        )
    assert loop is not None  # noqa: S101  the loop runs
    return loop


def _prompt_seconds(
    deployment: Deployment,
    scheduling: Scheduling,
    batch: Array,
    context: Array,
    prompt: Array,
    chunk: Array,
    decode: Array,
    groups: float,
) -> tuple[Array, Array]:
    """Return what one prompt adds to everyone's steps, and how long it takes itself [s].

    Attention groups take a prompt each at the same time, so that everyone waits a groups-th.
    """
    if scheduling == "separate":
        whole = np.asarray(
            step_breakdown(deployment, phase="prefill", batch=groups, context=prompt).step_s
        )
        return whole / groups, whole
    mixed = np.asarray(
        step_breakdown(deployment, phase="mixed", batch=batch, context=context, chunk=chunk).step_s
    )
    chunks = prompt / chunk
    return (mixed - decode) * chunks / groups, mixed * chunks


def _queue(customers: Array, service: Array, think: Array) -> Array:
    """Return the response time of a server with nearly constant service in a closed loop [s].

    Schweitzer's approximation: an arriving customer sees the queue of the others, and the one in
    service is half done.

        R = S (1 + Q - U/2),  Q = (c - 1)/c · X·R,  U = (c - 1)/c · X·S,  X = c / (R + Z)
    """
    response: Array = service * 1.0
    others = (customers - 1.0) / customers
    for _ in range(_QUEUE_ROUNDS):
        rate = customers / (response + think)
        queue = others * rate * response
        busy = np.minimum(others * rate * service, 1.0)
        response = 0.5 * response + 0.5 * service * (1.0 + queue - busy / 2)
    return response
