"""The words: variables, columns, JSON keys and plot labels, each defined once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """One quantity: what it is called in print, its unit and its convention."""

    label: str
    unit: str
    meaning: str


TERMS: dict[str, Term] = {
    "batch": Term("batch", "seq", "sequences advanced by one token in one step"),
    "context": Term("context", "token", "tokens already in the cache when the step starts"),
    "new_tokens": Term("new tokens", "token", "tokens per sequence that the step computes"),
    "step_s": Term("step", "s", "time of one forward pass over the whole batch"),
    "chalk_step_s": Term("chalk step", "s", "the lecture's closed form of the same step"),
    "chalk_compute_s": Term("chalk compute", "s", "the lecture's 2·B·N_a/F"),
    "chalk_weight_s": Term("chalk weight read", "s", "the lecture's w·N_t/W"),
    "chalk_state_s": Term("chalk state read", "s", "the lecture's B·L·k/W"),
    "two_batch_step_s": Term(
        "two-batch step", "s", "two micro-batches, one computing while the other communicates"
    ),
    "overlap_step_s": Term(
        "overlapped step", "s", "compute, memory traffic and messages hidden behind the largest"
    ),
    "step_p10_s": Term("step p10", "s", "low end of the 10-90 % band of the step"),
    "step_p90_s": Term("step p90", "s", "high end of the 10-90 % band of the step"),
    "network_s": Term("network", "s", "time of messages in the step, not overlapped"),
    "tokens_per_s_per_user": Term("tok/s/user", "token/s", "output tokens per second of one user"),
    "tokens_per_s_per_device": Term(
        "tok/s/device", "token/s", "output tokens per second over all devices counted, per device"
    ),
    "usd_per_mtok": Term("USD/Mtok", "USD/1e6 token", "device cost of a million tokens"),
    "mfu": Term("MFU", "1", "model FLOP / (time × dense peak); causal attention counted half"),
    "mbu": Term("MBU", "1", "bytes that must move / (time × peak memory bandwidth)"),
    "bound_by": Term("bound by", "", "the limit with the largest share of the step"),
    "fits": Term("fits", "", "whether weights, cache and workspace fit in device memory"),
    "critical_batch": Term("critical batch", "seq", "batch where compute equals weight reading"),
    "critical_batch_with_kv": Term(
        "critical batch with KV", "seq", "the same with cache reads kept; none when never reached"
    ),
    "chalk_latency_floor_s": Term("chalk latency floor", "s", "all weights read once"),
    "chalk_cost_floor_usd_per_mtok": Term(
        "chalk cost floor", "USD/1e6 token", "max of compute and cache reads per sequence"
    ),
    "latency_floor_s": Term("latency floor", "s", "step time as the batch goes to its minimum"),
    "cost_floor_usd_per_mtok": Term(
        "cost floor", "USD/1e6 token", "token cost once weight reads are amortised away"
    ),
    "balance_context": Term("balance context", "token", "context where KV reads equal compute"),
    "drain_time_s": Term("HBM drain time", "s", "capacity / bandwidth: time to read memory once"),
    "max_batch": Term("largest batch", "seq", "largest batch that fits at this context"),
    "max_context": Term("longest context", "token", "longest context that fits at this batch"),
    "kv_bytes_per_token": Term("KV bytes/token", "B/token", "cache growth per token, all layers"),
    "balance_ratio": Term("balance ratio R", "1", "(peak/2)·weight bytes / bandwidth"),
    "arithmetic_intensity": Term("intensity", "FLOP/B", "FLOP per byte moved"),
    "tp": Term("tp", "1", "tensor-parallel degree"),
    "pp": Term("pp", "1", "pipeline-parallel degree"),
    "ep": Term("ep", "1", "expert-parallel degree"),
    "dp": Term("dp", "1", "attention data-parallel degree"),
    "cp": Term("cp", "1", "context-parallel degree"),
    "ttft_s": Term("TTFT", "s", "arrival to first output token, queueing included"),
    "tpot_s": Term("TPOT", "s", "(last - first token time) / (output tokens - 1), per request"),
    "isl": Term("ISL", "token", "input sequence length"),
    "osl": Term("OSL", "token", "output sequence length"),
}
