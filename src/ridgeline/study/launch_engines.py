"""How each engine is told its layout: vLLM, SGLang, TensorRT-LLM."""

from __future__ import annotations

import json
import math

from ridgeline.study.launch_pool import Engine, Pool, cache_word, shell
from ridgeline.study.plan import Plan
from ridgeline.study.plan_options import Option


def vllm(pool: Pool) -> list[str]:
    """Return `vllm serve` commands; experts are spread over tp·dp, limits count per group."""
    ep = pool.has_experts and pool.ep > 1
    flags: dict[str, object] = {
        "--host": "0.0.0.0",  # noqa: S104 - what the user's server binds to
        "--port": pool.port,
        "--tensor-parallel-size": pool.tp,
        "--pipeline-parallel-size": pool.pp if pool.pp > 1 else None,
        "--data-parallel-size": pool.dp if pool.dp > 1 else None,
        "--enable-expert-parallel": ep,
        "--all2all-backend": _vllm_all_to_all(pool),
        "--enable-eplb": ep and pool.spare > 0,
        "--eplb-config": _json(num_redundant_experts=pool.spare) if ep and pool.spare else None,
        "--kv-cache-dtype": cache_word(pool.cache, "vllm"),
        "--max-model-len": pool.max_tokens,
        "--max-num-seqs": math.ceil(pool.batch / pool.dp),
        "--max-num-batched-tokens": pool.step_tokens,
        "--gpu-memory-utilization": pool.memory_share,
        "--speculative-config": _json(method="mtp", num_speculative_tokens=pool.drafts)
        if pool.drafts
        else None,
        "--kv-transfer-config": _json(kv_connector="NixlConnector", kv_role="kv_both")
        if pool.role != "mixed"
        else None,
    }
    program = f"vllm serve {pool.model}"
    if pool.hosts == 1:
        return shell(program, flags)
    if pool.dp == 1 or pool.tp * pool.pp > pool.devices_per_host:
        spread = {"--nnodes": pool.hosts, "--node-rank": "$NODE_RANK", "--master-addr": "$HEAD"}
        others = {**flags, **spread, "--headless": True}
    else:
        local = pool.devices_per_host // (pool.tp * pool.pp)
        spread = {
            "--data-parallel-size-local": local,
            "--data-parallel-address": "$HEAD",
            "--data-parallel-rpc-port": pool.port + 50,
        }
        start = {"--data-parallel-start-rank": f"$((NODE_RANK * {local}))", "--headless": True}
        others = {**flags, **spread, **start}
    first = shell(program, {**flags, **spread})
    rest = shell(program, {k: v for k, v in others.items() if k not in {"--host", "--port"}})
    return ["# first host", *first, "# every other host", *rest]


def _json(**values: object) -> str:
    return f"'{json.dumps(values)}'"


def _vllm_all_to_all(pool: Pool) -> str | None:
    if pool.dp == 1 or pool.ep == 1:
        return None
    return "deepep_high_throughput" if pool.role == "prefill" else "deepep_low_latency"


def sglang(pool: Pool) -> list[str]:
    """Return an SGLang launch; tp is tp·dp, request and prefill limits count all groups."""
    wide = pool.has_experts and pool.dp > 1 and pool.ep == pool.tp * pool.dp
    flags: dict[str, object] = {
        "--model-path": pool.model,
        "--host": "0.0.0.0",  # noqa: S104 - what the user's server binds to
        "--port": pool.port,
        "--tp-size": pool.tp * pool.dp,
        "--attn-dp-size": pool.dp if pool.dp > 1 else None,
        "--pp-size": pool.pp if pool.pp > 1 else None,
        "--ep-size": pool.ep if pool.ep > 1 else None,
        "--moe-a2a-backend": "deepep" if wide else None,
        "--ep-num-redundant-experts": pool.spare or None,
        "--kv-cache-dtype": cache_word(pool.cache, "sglang"),
        "--context-length": pool.max_tokens,
        "--max-running-requests": pool.batch,
        "--chunked-prefill-size": _sglang_prefill(pool),
        "--enable-mixed-chunk": pool.role == "mixed" and not pool.drafts,
        "--mem-fraction-static": f"{max(pool.memory_share - pool.workspace_share, 0.05):.3f}",
        "--disaggregation-mode": None if pool.role == "mixed" else pool.role,
        "--speculative-algorithm": "NEXTN" if pool.drafts else None,
        "--speculative-num-steps": pool.drafts or None,
        "--speculative-eagle-topk": 1 if pool.drafts else None,
        "--speculative-num-draft-tokens": pool.drafts + 1 if pool.drafts else None,
    }
    if pool.hosts > 1:
        flags |= {
            "--nnodes": pool.hosts,
            "--node-rank": "$NODE_RANK",
            "--dist-init-addr": f"$HEAD:{pool.port + 50}",
        }
    return shell("python -m sglang.launch_server", flags)


def _sglang_prefill(pool: Pool) -> int | None:
    if pool.role == "decode":
        return None
    group = pool.step_tokens
    if pool.role == "mixed":
        group -= math.ceil(pool.batch / pool.dp)
    return group * pool.dp


def trtllm(pool: Pool) -> list[str]:
    """Return a config file and `trtllm-serve`; limits count per rank of attention.

    `free_gpu_memory_fraction` is the cache's share of what weights and workspace leave.
    """
    ranks = pool.tp * pool.dp
    used = pool.weight_share + pool.workspace_share
    free = max(pool.memory_share - used, 0.0) / max(1.0 - used, 1e-9)
    batch = math.ceil(pool.batch / pool.dp)
    name = f"{pool.role}.yaml"
    config = [
        f"tensor_parallel_size: {ranks}",
        f"pipeline_parallel_size: {pool.pp}",
        f"enable_attention_dp: {'true' if pool.dp > 1 else 'false'}",
        f"max_batch_size: {batch}",
        f"max_num_tokens: {pool.step_tokens}",
        f"max_seq_len: {pool.max_tokens}",
        f"enable_chunked_prefill: {'true' if pool.role == 'mixed' else 'false'}",
        "kv_cache_config:",
        f"  dtype: {cache_word(pool.cache, 'trtllm')}",
        f"  free_gpu_memory_fraction: {free:.3f}",
    ]
    if pool.has_experts:
        config.insert(2, f"moe_expert_parallel_size: {pool.ep}")
    if pool.role != "prefill":
        config += ["cuda_graph_config:", "  enable_padding: true", f"  max_batch_size: {batch}"]
    if pool.spare:
        slots = pool.num_experts + pool.spare
        config += ["moe_config:", "  load_balancer:", f"    num_slots: {slots}"]
    if pool.drafts:
        config += [
            "speculative_config:",
            "  decoding_type: MTP",
            f"  num_nextn_predict_layers: {pool.drafts}",
        ]
    if pool.role != "mixed":
        config += ["disable_overlap_scheduler: true"] if pool.role == "prefill" else []
        config += [
            "cache_transceiver_config:",
            "  backend: DEFAULT",
            f"  max_tokens_in_buffer: {pool.max_tokens}",
        ]
    launcher = "" if pool.hosts == 1 else f"srun -N {pool.hosts} --mpi=pmix trtllm-llmapi-launch "
    flags: dict[str, object] = {
        "--host": "0.0.0.0",  # noqa: S104 - what the user's server binds to
        "--port": pool.port,
        "--extra_llm_api_options": name,
    }
    return [
        f"cat > {name} <<'EOF'",
        *config,
        "EOF",
        *shell(f"{launcher}trtllm-serve {pool.model}", flags),
    ]


def benchmark(plan: Plan, option: Option, engine: Engine) -> list[str]:
    """Return the engine's own serving benchmark at the plan's lengths and concurrency."""
    concurrency = option.batch * option.replicas
    common: dict[str, object] = {
        "--host": "127.0.0.1",
        "--port": 8000,
        "--dataset-name": "random",
        "--random-input-len": plan.request["isl"],
        "--random-output-len": plan.request["osl"],
        "--num-prompts": 5 * concurrency,
        "--max-concurrency": concurrency,
    }
    model = {"--model": plan.request["model"]}
    if engine == "vllm":
        return shell("vllm bench serve", {**model, **common, "--ignore-eos": True})
    if engine == "sglang":
        # Lengths are drawn from ratio x length up to the length; the server ignores EOS.
        exact = {"--random-range-ratio": 1.0}
        return shell(
            "python -m sglang.benchmark.serving",
            {"--backend": "sglang", **model, **common, **exact},
        )
    return shell(
        "python -m tensorrt_llm.serve.scripts.benchmark_serving",
        {"--backend": "openai", **model, **common, "--random-ids": True, "--ignore-eos": True},
    )
