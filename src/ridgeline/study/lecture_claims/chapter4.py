"""Chapter 4, why pipelining is not wise for decoding."""

from __future__ import annotations

from ridgeline.chalkboard import memory, pipelines, prices, racks, roofline
from ridgeline.study.lecture_claims.facts import DEEPSEEK_V3, GB200, H100, H200, R
from ridgeline.study.lecture_claims.record import Check, check, claim

TRILLION = {"total_params": 1e12, "bytes_per_param": 1.0}
V3_FP8 = {"total_params": DEEPSEEK_V3.total, "bytes_per_param": 1.0}
RACK_BYTES = 72 * GB200.capacity


def _weights(stated: str, stages: float) -> Check:
    return check(f"weights, P {stages:.0f}", stated, pipelines.weights_per_device,
                 **TRILLION, devices_per_stage=64.0, stages=stages)  # fmt: skip


def _cache(label: str, stated: str, kv_bytes_per_token: float) -> Check:
    return check(label, stated, memory.kv_per_device_full_pipeline, micro_batch=2000.0,
                 context_tokens=1e5, kv_bytes_per_token=kv_bytes_per_token,
                 devices_per_stage=64.0)  # fmt: skip


def _read(label: str, stated: str, params: float, devices: float, bandwidth: float) -> Check:
    return check(label, stated, memory.stage_weight_time, total_params=params,
                 bytes_per_param=1.0, scale_up_devices=devices,
                 device_bandwidth_bytes_per_s=bandwidth)  # fmt: skip


def _longest(label: str, stated: str, batch: float) -> Check:
    return check(label, stated, memory.longest_context, capacity_bytes=RACK_BYTES, **V3_FP8,
                 batch=batch, kv_bytes_per_token=35_136.0)  # fmt: skip


CLAIMS = (
    claim(
        "C4-F1",
        "The system holds weights and every sequence's cache.",
        check("1T FP8, 2000 × 100k × 2 kB", "1.41 TB", memory.system_memory, **TRILLION,
              batch=2000.0, context_tokens=1e5, kv_bytes_per_token=2048.0),
        note="Activations, workspace and fragmentation come on top.",
    ),
    claim(
        "C4-F2",
        "Perfectly cut, each device holds 1/(E·P) of both.",
        check("weights, E 64, P 4", "3.91 GB", pipelines.weights_per_device,
              **TRILLION, devices_per_stage=64.0, stages=4.0),
        check("cache of a fixed batch, E 64, P 4", "1.6 GB", memory.kv_per_device,
              batch=2000.0, context_tokens=1e5, kv_bytes_per_token=2048.0,
              devices_per_stage=64.0, stages=4.0),
        assumes="that caches can be cut over all devices of a stage",
    ),
    claim(
        "C4-F3",
        "A decode loop without bubble needs as many micro-batches as stages.",
        check("P 4", "4", memory.least_micro_batches, stages=4.0),
        check("idle at M = P", "0", memory.decode_idle_share, micro_batches=4.0, stages=4.0),
    ),
    claim(
        "C4-F4",
        "With B = P·b the stages cancel in the cache term.",
        check("P 1: total", "22.0 GB", memory.memory_per_device, **TRILLION,
              micro_batch=2000.0, context_tokens=1e5, kv_bytes_per_token=2048.0,
              devices_per_stage=64.0, stages=1.0),
        check("P 8: total", "8.35 GB", memory.memory_per_device, **TRILLION,
              micro_batch=2000.0, context_tokens=1e5, kv_bytes_per_token=2048.0,
              devices_per_stage=64.0, stages=8.0),
        check("P 8: cache of 8 micro-batches", "6.4 GB", memory.kv_per_device,
              batch=16_000.0, context_tokens=1e5, kv_bytes_per_token=2048.0,
              devices_per_stage=64.0, stages=8.0),
        _cache("any P: cache", "6.4 GB", 2048.0),
    ),
    claim(
        "C4-F5",
        "With fewer micro-batches than stages, 1 - M/P of the time is idle.",
        check("M 3, P 4", "25 %", memory.decode_idle_share, micro_batches=3.0, stages=4.0),
        check("M 6, P 4", "0 %", memory.decode_idle_share, micro_batches=6.0, stages=4.0),
    ),
    claim(
        "C4-F6",
        "Weight reading is sped up by the scale-up size only.",
        _read("1T FP8 on 72 × 8 TB/s", "1.74 ms", 1e12, 72.0, GB200.bandwidth),
    ),
    claim(
        "C4-F7",
        "A token pays one hop per stage.",
        check("20 ms, P 4, 2 ms hops", "28 ms", memory.latency_with_hops,
              step_s=20e-3, stages=4.0, hop_s=2e-3),
    ),
    claim(
        "C4-F8",
        "Raise E to the scale-up size first, then P to 1 or 2.",
        _weights("7.8 GB", 2.0),
        _cache("cache at 35 kB", "109.8 GB", 35_136.0),
        assumes="that the model fits in a rack or two",
        note="Training at scale and very sparse models do pipeline.",
    ),
    claim(
        "C4-N1",
        "The example has 64 devices in each of 4 racks.",
        check("devices", "256", memory.device_count, devices_per_stage=64.0, stages=4.0),
    ),
    claim(
        "C4-N2",
        "The micro-batch of about 2000 is set by hardware and sparsity, not by P.",
        check("300 × 8", "order 2000 seq", roofline.critical_batch,
              balance_ratio=R, total_params=8.0, active_params=1.0),
        check("300 × 8, exact", "2400 seq", roofline.critical_batch,
              balance_ratio=R, total_params=8.0, active_params=1.0),
    ),
    claim(
        "C4-N3",
        "Per device: weights fall with P, caches do not.",
        _weights("15.6 GB", 1.0),
        _weights("7.8 GB", 2.0),
        _weights("3.9 GB", 4.0),
        _weights("1.95 GB", 8.0),
        _cache("cache at 2048 B", "6.4 GB", 2048.0),
        _cache("cache at 35 kB, DeepSeek V3 FP8", "109.8 GB", 35_136.0),
        _cache("cache at 70 kB, DeepSeek V3 BF16", "219.6 GB", 70_272.0),
        _cache("cache at 328 kB, Llama 70B BF16", "1024 GB", 327_680.0),
        note="1T parameters FP8, 64 devices a stage, micro-batch 2000, 100k tokens.",
    ),
    claim(
        "C4-N4",
        "Two stages usually make the weights minor.",
        _weights("7.8 GB", 2.0),
        _cache("cache at 2048 B", "6.4 GB", 2048.0),
        _cache("cache at 70 kB", "220 GB", 70_272.0),
        assumes="the cache per token: at 2 kB two stages only make it even",
    ),
    claim(
        "C4-N5",
        "A few milliseconds per hop make 20 ms about 30.",
        check("4 hops of 2 ms", "~30 ms", memory.latency_with_hops,
              step_s=20e-3, stages=4.0, hop_s=2e-3),
        check("4 hops of 2 ms, exact", "28 ms", memory.latency_with_hops,
              step_s=20e-3, stages=4.0, hop_s=2e-3),
        check("4 hops of 20 µs", "20.08 ms", memory.latency_with_hops,
              step_s=20e-3, stages=4.0, hop_s=20e-6),
        assumes="the hop: spoken as uncertain by 10x; networks usually take tens of microseconds",
    ),
    claim(
        "C4-N6",
        "Scale-up size grew 8x from Hopper, bandwidth per device only 1.5-2x.",
        check("72 / 8, as spoken", "~8", racks.growth, after=72.0, before=8.0),
        check("64 / 8", "8", racks.growth, after=64.0, before=8.0),
        check("aggregate bandwidth", "21.5", racks.growth,
              after=72 * GB200.bandwidth, before=8 * H100.bandwidth),
        check("per device, H100 to GB200", "2.39", racks.growth,
              after=GB200.bandwidth, before=H100.bandwidth),
        check("per device, H200 to GB200", "1.5..2", racks.growth,
              after=GB200.bandwidth, before=H200.bandwidth),
        assumes="the pair of generations: H100 to GB200 is 2.39x per device, H200 to GB200 1.67x",
    ),
    claim(
        "C4-N7",
        "Time to read the weights, one box against one rack.",
        _read("1T FP8, 8 × H100", "37.3 ms", 1e12, 8.0, H100.bandwidth),
        _read("1T FP8, 72 × GB200", "1.74 ms", 1e12, 72.0, GB200.bandwidth),
        _read("5T FP8, 72 × GB200", "8.7 ms", 5e12, 72.0, GB200.bandwidth),
        _read("DeepSeek V3 FP8, 8 × H100", "25.0 ms", DEEPSEEK_V3.total, 8.0, H100.bandwidth),
        _read("DeepSeek V3 FP8, 72 × GB200", "1.16 ms", DEEPSEEK_V3.total, 72.0, GB200.bandwidth),
        note="Neither 1T nor DeepSeek V3 fits 8 × 80 GB; the times say what bandwidth would do.",
    ),
    claim(
        "C4-N8",
        "Memory takes about half of hyperscaler capital spending this year.",
        reason="a quotation, not derived",
    ),
    claim(
        "C4-N9",
        "Longest context at B* on a GB200 rack, DeepSeek V3 FP8.",
        _longest("B 5441", "68.8 ktok", 5441.0),
        _longest("B 2400", "156 ktok", 2400.0),
    ),
    claim(
        "C4-Q1",
        "Against P, weights per device fall and caches stay: the sum saturates.",
        check("P 64, 2 kB", "6.64 GB", memory.memory_per_device, **TRILLION,
              micro_batch=2000.0, context_tokens=1e5, kv_bytes_per_token=2048.0,
              devices_per_stage=64.0, stages=64.0),
        _cache("the floor", "6.4 GB", 2048.0),
    ),
    claim(
        "C4-Q2",
        "With a fixed batch caches seem to fall with P; with B = P·b they do not.",
        check("wrong, P 4", "1.6 GB", memory.kv_per_device, batch=2000.0, context_tokens=1e5,
              kv_bytes_per_token=2048.0, devices_per_stage=64.0, stages=4.0),
        check("right, P 4", "6.4 GB", memory.kv_per_device, batch=8000.0, context_tokens=1e5,
              kv_bytes_per_token=2048.0, devices_per_stage=64.0, stages=4.0),
    ),
    claim(
        "C4-Q3",
        "Fewer micro-batches than stages idle; more only add caches.",
        check("M 2, P 4", "50 %", memory.decode_idle_share, micro_batches=2.0, stages=4.0),
        check("M 4, P 4", "0 %", memory.decode_idle_share, micro_batches=4.0, stages=4.0),
        check("M 8, P 4", "0 %", memory.decode_idle_share, micro_batches=8.0, stages=4.0),
    ),
    claim(
        "C4-Q4",
        "Latency falls as one over the scale-up size.",
        _read("1T FP8, 8 × GB200", "15.6 ms", 1e12, 8.0, GB200.bandwidth),
        _read("1T FP8, 72 × GB200", "1.74 ms", 1e12, 72.0, GB200.bandwidth),
    ),
    claim(
        "C4-Q5",
        "Batch amortises weights, stages cut them, scale-up reads faster; only bytes fix caches.",
        _weights("15.6 GB", 1.0),
        _weights("7.8 GB", 2.0),
        check("80 layers, 64 KV heads", "2621 kB/tok", prices.kv_bytes_from_heads,
              distinct_caches=80.0, head_dim=128.0, kv_heads=64.0, bytes_per_element=2.0),
        check("80 layers, 8 KV heads", "328 kB/tok", prices.kv_bytes_from_heads,
              distinct_caches=80.0, head_dim=128.0, kv_heads=8.0, bytes_per_element=2.0),
    ),
    claim(
        "C4-Q6",
        "Pipelines constrain architectures: uneven layers, cross-layer attention, slower research.",
        reason="a judgement; stage imbalance needs a real layer list, not a closed form",
    ),
)  # fmt: skip
