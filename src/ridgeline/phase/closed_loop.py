"""A closed loop: `concurrency` requests always in flight; a new one arrives when one finishes.

The steady state is a fixed point, found without a simulator. Requests cycle between waiting for
and running their prefill and decoding (everyone at once, Z seconds). Requests finish, and new
ones arrive, only at the end of steps, so that queues are counted in steps, not in seconds: a
step that carries a prompt takes longer but lets no more requests in.

Legend: c requests in flight; B of them decode; O output tokens; τ tokens per sequence and step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ridgeline.cost.engines import EngineProfile
from ridgeline.model.layout import Layout
from ridgeline.model.work import Number
from ridgeline.phase.deployment import Deployment, step_breakdown

Array = NDArray[np.float64]
Scheduling = Literal["mixed", "separate"]
"""`mixed`: prompts ride on decode steps in chunks; `separate`: prefill steps of their own."""
_NO_ENGINE = EngineProfile(name="ideal", versions="")
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
    launch_s: Array
    """What a step is longer, on average, for kernels that the host launches one by one."""
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
    poll_steps: Number = 1.0,
    gather_steps: float = 0.0,
) -> ClosedLoop:
    """Return the steady state at fixed concurrency.

    While one request takes its O/τ decode steps, each of the other B - 1 is replaced once, and
    a replacement's prompt delays everyone by what it adds to the steps that carry it:

        TPOT = [t_decode(B) + (B - 1)·τ·s / O] / τ
        TTFT = wait + prefill + what the engine needs before and after its kernels
        B    = c·Z / (Z + TTFT),  Z = (O - 1)·TPOT

    The wait is that for the engine to look (half of the `poll_steps` between two looks), for the
    prompts ahead (`_queue_steps`, `_together`), and with attention groups for a prompt for every
    group (`_gathering_steps`).

    Args:
        deployment: One replica; its sequences are spread evenly over dp attention groups.
        concurrency: c of the replica.
        isl: Mean prompt tokens.
        osl: O.
        budget: Most prompt tokens of one step and attention group.
        scheduling: How prompts and decodes share the device.
        tokens_per_step: τ, above 1 with speculation.
        poll_steps: Decode steps between two looks for new requests
            (SGLang's `--scheduler-recv-interval`).
        gather_steps: Most steps for which prompts wait until every attention group has one
            (TensorRT-LLM's `attention_dp_config`, `timeout_iters`); 0: they do not.

    Source: machine-repair model with deterministic service (Lazowska et al. 1984, Quantitative
    System Performance, chapter 6); agrawal2024 for chunked prefill.
    """
    c, prompt, output, poll = np.broadcast_arrays(
        *(np.asarray(x, dtype=float) for x in (concurrency, isl, osl, poll_steps))
    )
    context = prompt + output / 2
    chunk = np.minimum(prompt, budget)
    loop: ClosedLoop | None = None
    engine = deployment.engine or _NO_ENGINE
    groups = float(np.max((deployment.layout or Layout()).dp))
    launch = engine.prompt_layer_s * deployment.architecture.num_layers
    steps = output / tokens_per_step
    queued = _queue_steps(c / groups, prompt / budget, steps)
    if scheduling == "separate":
        queued = np.zeros_like(c)
    decoding: Array = c * steps / (steps + queued)
    for _ in range(_ROUNDS):
        batch = np.maximum(decoding, 1.0)
        decode: Array = np.asarray(
            step_breakdown(deployment, phase="decode", batch=batch, context=context).step_s
        )
        prompt_s, alone_s = _prompt_seconds(
            deployment, scheduling, batch, context, prompt, chunk, decode, groups
        )
        others = np.maximum(batch - 1.0, 0.0)
        carried = others / steps * prompt / chunk / groups
        host = launch + engine.hidden_sequence_s * batch / groups
        idle = _waiting_for_host(host, decode, prompt_s * groups * chunk / prompt, carried)
        alone_s = np.maximum(alone_s, launch * prompt / chunk)
        tpot = (decode + idle) / tokens_per_step + others * prompt_s / output
        think = np.maximum(output - 1.0, 1.0) * tpot
        step = tpot * tokens_per_step
        if scheduling == "separate":
            together = prompt_s * _together(poll * others / steps, budget * groups / prompt)
            wait = poll * decode / 2 + together
        else:
            wait = (0.5 + queued) * step
        wait = wait + _gathering_steps(others / steps, groups, gather_steps) * step
        ttft = np.where(c > 1, wait, 0.0) + alone_s + engine.first_token_s
        cycle = think + ttft
        decoding = c * think / cycle
        loop = ClosedLoop(
            tpot_s=tpot,
            ttft_s=ttft,
            decode_s=decode,
            prompt_s=prompt_s,
            launch_s=idle,
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
        step_breakdown(
            deployment, phase="mixed", batch=batch, context=context, chunk=chunk, prompt=prompt
        ).step_s
    )
    chunks = prompt / chunk
    return (mixed - decode) * chunks / groups, mixed * chunks


def _waiting_for_host(host: Array, decode: Array, chunk_s: Array, carried: Array) -> Array:
    """Return what a step is longer, on average, because no graph holds steps with prompts [s].

    A share p = min(n, 1) of the steps carries n/p chunks; for them the host launches kernels one
    by one and hands out tokens, which takes `host` however long the device runs.
    """
    share = np.minimum(carried, 1.0)
    busy = decode + chunk_s * np.maximum(carried, 1.0)
    return share * np.maximum(host - busy, 0.0)


def _together(arrived: Array, batch: Array) -> Array:
    """Return prompts that run before or with an arriving one, which sees `arrived` others.

    Half of them came first. Those that came later delay it as well where they share its batch of
    prompts, whose results come out at once.
    """
    return arrived / 2 + np.minimum(arrived / 2, np.maximum(batch - 1.0, 0.0) / 2)


def _gathering_steps(rate: Array, groups: float, most: float) -> Array:
    """Return the mean wait for a prompt for every attention group [steps].

    A prompt goes to the group whose request ended, any of G: all have one after G·(1 + 1/2 + ...
    + 1/G) arrivals at `rate` per step, unless the first gives up after `most` steps. It waits for
    all of that window, the n that follow for half of it.
    """
    if groups <= 1:
        return np.zeros_like(rate)
    arrivals = groups * float(np.sum(1.0 / np.arange(1.0, groups + 1.0)))
    window = np.minimum(arrivals / np.maximum(rate, 1e-9), most)
    return window * (1.0 + rate * window / 2) / (1.0 + rate * window)


def _queue_steps(customers: Array, service: Array, think: Array) -> Array:
    """Return the wait at a server with constant service in a closed loop, service excluded.

    Schweitzer's approximation: an arriving customer sees the queue of the others, and the one in
    service is half done.

        R = S (1 + Q - U/2),  Q = (c - 1)/c · X·R,  U = (c - 1)/c · X·S,  X = c / (R + Z)
    """
    response: Array = service * 1.0
    others = np.maximum(customers - 1.0, 0.0) / customers
    for _ in range(_QUEUE_ROUNDS):
        rate = customers / (response + think)
        queue = others * rate * response
        busy = np.minimum(others * rate * service, 1.0)
        response = 0.5 * response + 0.5 * service * (1.0 + queue - busy / 2)
    return response - service
