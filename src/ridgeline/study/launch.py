"""The launch and benchmark commands of a plan's winner, in the words of one engine.

Flags are those of `launch_pool.RELEASES`, frozen in `tests/golden/engine_flags.json`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import get_args

from ridgeline.errors import InfeasibleError, InputError
from ridgeline.model.layout import Layout
from ridgeline.model.layout_rules import expert_counts
from ridgeline.phase.deployment import memory_parts_bytes
from ridgeline.study import launch_engines as engines
from ridgeline.study.launch_pool import CACHES, RELEASES, Engine, Pool, Role
from ridgeline.study.plan import Plan
from ridgeline.study.plan_options import Option, degrees_text
from ridgeline.units import significant

_HOST_DEVICES = 8
"""Most devices of one host where the scale-up domain says no more."""
_TRAY_DEVICES = 4
"""Devices of one host in rack-scale domains: a GB200 compute tray has two boards of two."""


def expressible(layout: Layout, engine: Engine, *, has_experts: bool) -> str:
    """Return why an engine cannot run a layout; empty when it can.

    vLLM: experts are cut over all tp·dp devices, or with `--enable-expert-parallel` spread over
    all of them; nothing between. SGLang: `--tp-size` is tp·dp, and `--ep-size` divides it.
    TensorRT-LLM: attention is either tensor parallel or, with `enable_attention_dp`, data
    parallel on every rank. Context parallelism of decode differs in each and is left out.

    Source: argument classes of the releases in RELEASES.
    """
    tp, dp, ep, cp = (int(x) for x in (layout.tp, layout.dp, layout.ep, layout.cp))
    stage = tp * dp
    if cp > 1:
        return f"context parallelism (cp {cp})"
    if not has_experts:
        return f"attention groups (dp {dp}) without experts" if dp > 1 else ""
    if engine == "vllm" and ep not in {1, stage}:
        return f"ep {ep} on {stage} devices: vLLM spreads experts over all of them or none"
    if engine == "sglang" and stage % ep:
        return f"ep {ep} does not divide {stage} devices"
    if engine == "trtllm" and tp > 1 and dp > 1:
        return f"tp {tp} with dp {dp}: TensorRT-LLM's attention is one or the other"
    return ""


def launch_text(plan: Plan, engine: Engine, option: Option | None = None) -> str:
    """Return commands that start an option's servers and the benchmark that checks the plan.

    Args:
        plan: Of which the option is one.
        engine: Whose words to use.
        option: The winner when not given; where the engine cannot express that, the best option
            that it can is used and named.

    Raises:
        InputError: no such engine.
        InfeasibleError: the engine can express no option of the plan, or not the one given.
    """
    if engine not in get_args(Engine):
        raise InputError(f"engine must be one of {', '.join(get_args(Engine))}: {engine!r}.")
    notes: list[str] = []
    if option is None:
        option, notes = _choose(plan, engine)
    else:
        _check_option(plan, option, engine)
    pools = _pools(plan, option)
    write = {"vllm": engines.vllm, "sglang": engines.sglang, "trtllm": engines.trtllm}[engine]
    lines = [
        (
            f"# {plan.request['model']} on {plan.request['devices']} devices of"
            f" {plan.request['on']}; flags of {RELEASES[engine]}"
        ),
        *(f"# {note}" for note in (*notes, *_promises(plan, option), *_host_notes(pools))),
    ]
    for pool in pools:
        lines += ["", f"# {_role(pool)}: start {pool.replicas} of these", *write(pool)]
    lines += ["", "# benchmark, once all servers answer", *engines.benchmark(plan, option, engine)]
    return "\n".join(lines)


def _faults(plan: Plan, option: Option, engine: Engine) -> list[str]:
    """Return what of an option the engine cannot express."""
    has_experts = bool(expert_counts(plan.deployment.architecture))
    layouts = [x for x in (option.layout, option.prefill_layout) if x is not None]
    reasons = [expressible(x, engine, has_experts=has_experts) for x in layouts]
    if option.kv not in CACHES:
        reasons.append(f"a cache in {option.kv}")
    return [r for r in reasons if r]


def _check_option(plan: Plan, option: Option, engine: Engine) -> None:
    reasons = _faults(plan, option, engine)
    if reasons:
        raise InfeasibleError(
            f"{RELEASES[engine]} cannot express this option: {reasons[0]}. Choose another point of"
            " the front, or another engine."
        )


def _choose(plan: Plan, engine: Engine) -> tuple[Option, list[str]]:
    """Return the first option the engine can express, and what was skipped."""
    skipped = ""
    for option in (plan.winner, *plan.runners_up, *_feasible_front(plan)):
        reasons = _faults(plan, option, engine)
        if not reasons:
            if not skipped:
                return option, []
            lost = 1 - option.tokens_per_s_per_device / plan.winner.tokens_per_s_per_device
            return option, [
                f"the winner is not expressible: {skipped}",
                f"next best option instead: {lost:.1%} fewer tokens/s per device",
            ]
        skipped = skipped or reasons[0]
    raise InfeasibleError(
        f"{RELEASES[engine]} can express no option of this plan: {skipped}. Try --no-pools,"
        " another --kv-cache-dtype, or another engine."
    )


def _feasible_front(plan: Plan) -> Sequence[Option]:
    """Return the front's options that meet the targets, best throughput first."""
    ttft, tpot = plan.request["ttft_s"] or math.inf, plan.request["tpot_s"] or math.inf
    meets = [o for o in plan.front if o.ttft_s <= ttft and o.tpot_s <= tpot]
    return sorted(meets, key=lambda o: -o.tokens_per_s_per_device)


def _pools(plan: Plan, option: Option) -> list[Pool]:
    isl, osl, chunk = (plan.request[k] for k in ("isl", "osl", "chunk"))
    main = option.layout
    group = math.ceil(option.batch / int(main.dp))
    if option.prefill_layout is None:
        return [_pool(plan, option, main, "mixed", option.batch, group + chunk, isl + osl, 8000)]
    prompts = math.ceil(option.prefill_batch / int(option.prefill_layout.dp))
    return [
        _pool(
            plan, option, option.prefill_layout, "prefill", option.prefill_batch,
            prompts * isl, isl + osl, 8100,
        ),
        _pool(plan, option, main, "decode", option.batch, group, isl + osl, 8200),
    ]  # fmt: skip


def _pool(
    plan: Plan,
    option: Option,
    layout: Layout,
    role: Role,
    batch: int,
    step_tokens: int,
    max_tokens: int,
    port: int,
) -> Pool:
    base = plan.deployment
    drafts = 0 if base.speculation is None or role == "prefill" else base.speculation.drafts
    parts = memory_parts_bytes(
        plan.deployment_of(layout, option),
        batch=batch,
        tokens=max_tokens,
        step_tokens=step_tokens * int(layout.dp),
    )
    capacity = base.cluster.device.memory.usable_bytes
    hosts, per_host = _hosts(int(layout.num_devices), _host_size(plan))
    experts = expert_counts(base.architecture)
    return Pool(
        role=role,
        model=plan.request["model"],
        layout=layout,
        replicas=option.prefill_replicas if role == "prefill" else option.replicas,
        batch=batch,
        step_tokens=step_tokens * (drafts + 1) if role == "decode" else step_tokens,
        max_tokens=max_tokens,
        cache=option.kv,
        has_experts=bool(experts),
        num_experts=max(experts, default=0),
        drafts=drafts,
        memory_share=base.memory_share,
        workspace_share=float(parts["activations"] + parts["runtime"]) / capacity,
        weight_share=float(parts["weights"] + parts.get("drafts", 0.0)) / capacity,
        hosts=hosts,
        devices_per_host=per_host,
        port=port,
    )


def _host_size(plan: Plan) -> int:
    """Return the devices that share one operating system."""
    tiers = plan.deployment.cluster.tiers
    size = tiers[0].size if tiers else 1
    return size if size <= _HOST_DEVICES else _TRAY_DEVICES


def _hosts(devices: int, host: int) -> tuple[int, int]:
    """Return hosts and devices on each: as full as divides the replica evenly."""
    per_host = next(d for d in range(min(host, devices), 0, -1) if devices % d == 0)
    return devices // per_host, per_host


def _role(pool: Pool) -> str:
    name = {"mixed": "server", "prefill": "prefill server", "decode": "decode server"}[pool.role]
    where = "" if pool.hosts == 1 else f" over {pool.hosts} hosts"
    return f"{name} [{degrees_text(pool.layout)}]{where}"


def _promises(plan: Plan, option: Option) -> list[str]:
    notes = [
        (
            f"predicted: TTFT {significant(option.ttft_s * 1e3)} ms without queueing, TPOT"
            f" {significant(option.tpot_s * 1e3)} ms,"
            f" {significant(option.tokens_per_s_per_device)} output tokens/s"
            " per device"
        )
    ]
    if plan.request["dtypes"] != [None]:
        notes.append(f"weights: use a checkpoint published in {option.weights}")
    if option.prefill_layout is not None:
        notes.append("put a router that knows both pools before the servers")
    elif option.replicas > 1:
        notes.append("put a load balancer before the servers")
    return notes


def _host_notes(pools: Sequence[Pool]) -> list[str]:
    spread = [p for p in pools if p.hosts > 1]
    if not spread:
        return []
    each = {p.devices_per_host for p in spread}
    return [
        (
            f"assumed: {' or '.join(str(n) for n in sorted(each))} devices used per host; run the"
            " command on every host with its NODE_RANK = 0, 1, ..., HEAD = the first host"
        )
    ]
