"""`agg_*.json` of InferenceX (InferenceMAX): times in seconds, throughput per GPU.

`tput_per_gpu` counts prompt and output tokens, `output_tput_per_gpu` output tokens only.
"""

from __future__ import annotations

from ridgeline.readers.benchmarks.record import (
    Json,
    Measured,
    mean_or_median,
    positive,
    text,
    whole,
)


def is_inferencex(data: Json) -> bool:
    """Whether the object is an aggregated result of InferenceX."""
    return "tput_per_gpu" in data and "conc" in data


def read_inferencex(data: Json) -> Measured:
    """Return an aggregated result; per-GPU rates become rates of the whole system."""
    tp = whole(data.get("tp")) or 1
    ep = whole(data.get("ep"))
    devices = whole(data.get("num_gpus")) or tp
    attention_dp = _said(data.get("dp_attention"))
    degrees = {"dp" if attention_dp else "tp": tp}
    if ep and ep > 1:
        degrees["ep"] = ep
    ttft, _ = mean_or_median(data, "ttft")
    tpot, statistic = mean_or_median(data, "tpot")
    e2e, _ = mean_or_median(data, "e2el")
    output = positive(data.get("output_tput_per_gpu"), scale=devices)
    osl = positive(data.get("osl"))
    flags = ["per-GPU rates times the GPUs; tput_per_gpu is total tokens"]
    if _said(data.get("disagg")):
        flags.append("prefill and decode ran on separate devices; the prediction shares them")
    return Measured(
        tool="InferenceX",
        model=text(data.get("model")) or text(data.get("infmax_model_prefix")),
        engine=text(data.get("framework")),
        device=text(data.get("hw")),
        num_devices=devices,
        degrees=degrees,
        dtype=text(data.get("precision")),
        concurrency=positive(data.get("conc")),
        isl=positive(data.get("isl")),
        osl=osl,
        ttft_s=ttft,
        tpot_s=tpot,
        e2e_latency_s=e2e,
        requests_per_s=output / osl if output and osl else None,
        output_tokens_per_s=output,
        total_tokens_per_s=positive(data.get("tput_per_gpu"), scale=devices),
        statistic=statistic,
        flags=tuple(flags),
    )


def _said(value: object) -> bool:
    """Return whether a switch is on; it is written as a boolean or as text."""
    return value is True or str(value)[:5].lower() == "true"
