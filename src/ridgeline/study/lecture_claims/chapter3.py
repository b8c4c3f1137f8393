"""Chapter 3, pipeline parallelism over racks."""

from __future__ import annotations

from ridgeline.chalkboard import pipelines, racks
from ridgeline.study.lecture_claims.facts import GB200, GB300
from ridgeline.study.lecture_claims.record import Check, check, claim


def _ratio(label: str, stated: str, experts: float, layers: float) -> Check:
    return check(label, stated, pipelines.scale_up_over_scale_out, experts_per_token=experts,
                 layers_per_stage=layers, bandwidth_ratio=8.0)  # fmt: skip


def _bubble(label: str, stated: str, stages: float, micro_batches: float) -> Check:
    return check(label, stated, pipelines.training_bubble,
                 stages=stages, micro_batches=micro_batches)  # fmt: skip


def training_time(*, micro_batches: float, critical_micro_batches: float, stages: float) -> float:
    """Return time to a loss over that without bubble or endless batch [1].

        f = (1 + M_c / M)·M / (1 - f_b), f_b the bubble

    Args:
        micro_batches: M.
        critical_micro_batches: M_c, critical batch in micro-batches.
        stages: P.
    """
    steps = pipelines.relative_training_steps(
        batch=micro_batches, critical_batch=critical_micro_batches
    )
    bubble = pipelines.training_bubble(stages=stages, micro_batches=micro_batches)
    return float(steps * micro_batches / (1.0 - bubble))


def headroom(*, capacity_bytes: float, total_params: float, bytes_per_param: float) -> float:
    """Return how many copies of the weights a domain holds [1].

        f = C / (w·N_t)

    Args:
        capacity_bytes: C.
        total_params: N_t.
        bytes_per_param: w.
    """
    most = racks.largest_model(
        capacity_bytes=capacity_bytes, kv_bytes=0.0, bytes_per_param=bytes_per_param
    )
    return float(most) / total_params


CLAIMS = (
    claim(
        "C3-F1",
        "Expert traffic inside a rack over the hand-over between racks: (1/ρ)·n_act·2·l.",
        _ratio("8 experts, 1 layer", "2", 8.0, 1.0),
        note="Fan-out to activated experts only; one activation vector crosses per token.",
    ),
    claim(
        "C3-F2",
        "Crossing racks is free when n_act·2·l reaches ρ.",
        check("layers for 8 experts", "1", pipelines.least_layers_per_stage,
              experts_per_token=8.0, bandwidth_ratio=8.0),
        check("layers for 1 expert", "4", pipelines.least_layers_per_stage,
              experts_per_token=1.0, bandwidth_ratio=8.0),
    ),
    claim(
        "C3-F3",
        "Sequences in flight are micro-batches times their size.",
        check("4 of 2000", "8000 seq", pipelines.global_batch,
              micro_batches=4.0, micro_batch=2000.0),
    ),
    claim(
        "C3-F4",
        "In inference a pipeline changes neither latency nor batch, only weights per rack.",
        check("20 ms in one stage", "20 ms", pipelines.pipeline_latency,
              stages=1.0, whole_model_s=20e-3, hop_s=0.0),
        check("20 ms in four", "20 ms", pipelines.pipeline_latency,
              stages=4.0, whole_model_s=20e-3, hop_s=0.0),
        check("weights per device, 1 stage", "15.6 GB", pipelines.weights_per_device,
              total_params=1e12, bytes_per_param=1.0, devices_per_stage=64.0, stages=1.0),
        check("weights per device, 4 stages", "3.9 GB", pipelines.weights_per_device,
              total_params=1e12, bytes_per_param=1.0, devices_per_stage=64.0, stages=4.0),
        assumes="hops that take no time; C4-F7 adds them",
    ),
    claim(
        "C3-F5",
        "One batch at a time leaves 1 - 1/P of the stages idle.",
        check("four stages", "0.75", pipelines.one_at_a_time_idle_share, stages=4.0),
    ),
    claim(
        "C3-F6",
        "A flushed training step idles (P-1)/(M+P-1) of the time.",
        _bubble("P 4, M 4", "42.9 %", 4.0, 4.0),
    ),
    claim(
        "C3-F7",
        "Learning prefers small batches, systems large ones; the optimum is a trade-off.",
        check("steps at the critical batch", "2 x", pipelines.relative_training_steps,
              batch=1.0, critical_batch=1.0),
        check("M 4", "19.25", training_time,
              micro_batches=4.0, critical_micro_batches=7.0, stages=4.0),
        assumes="the gradient-noise model of arXiv 1812.06162; the lecture gives no formula",
    ),
    claim(
        "C3-F8",
        "Cut along layers and experts; tensor parallelism lost its point with small experts.",
        reason="a judgement; the cuts themselves are in C2-F2 and C3-F4",
    ),
    claim(
        "C3-N1",
        "About a hundred more layers stand above the drawn one.",
        reason="a depth budget read off the drawing",
    ),
    claim(
        "C3-N2",
        "Eight activated experts reach the 8 by themselves.",
        _ratio("out and back", "2", 8.0, 1.0),
        check("one way: n_act / ρ", "1", racks.growth, after=8.0, before=8.0),
    ),
    claim(
        "C3-N3",
        "With 16 or 32 activated experts the ratio is 4 or 8.",
        _ratio("16 experts", "4", 16.0, 1.0),
        _ratio("32 experts", "8", 32.0, 1.0),
        check("2 experts need layers", "2", pipelines.least_layers_per_stage,
              experts_per_token=2.0, bandwidth_ratio=8.0),
        check("1 expert needs layers", "4", pipelines.least_layers_per_stage,
              experts_per_token=1.0, bandwidth_ratio=8.0),
        assumes="the number of activated experts; DeepSeek V3 has 8, ratio 2",
    ),
    claim(
        "C3-N4",
        "The drawn diagram fans out about threefold.",
        reason="an example on the board",
    ),
    claim(
        "C3-N5",
        "Four racks without overlap idle three quarters of the time.",
        check("P 4", "75 %", pipelines.one_at_a_time_idle_share, stages=4.0),
    ),
    claim(
        "C3-N6",
        "Training with four stages and four micro-batches idles 3/7.",
        _bubble("M 4", "42.9 %", 4.0, 4.0),
        _bubble("M 12", "20 %", 4.0, 12.0),
        _bubble("M 32", "8.6 %", 4.0, 32.0),
    ),
    claim(
        "C3-N7",
        "A trillion parameters need 1 TB; a Blackwell rack has many tens.",
        check("copies in 10 TB, the least meant by tens", "10", headroom,
              capacity_bytes=10e12, total_params=1e12, bytes_per_param=1.0),
        check("copies in 72 × 192 GB", "14", headroom,
              capacity_bytes=72 * GB200.capacity, total_params=1e12, bytes_per_param=1.0),
        check("copies in 72 × 288 GB", "21", headroom,
              capacity_bytes=72 * GB300.capacity, total_params=1e12, bytes_per_param=1.0),
        assumes="what counts as memory: 14-21 TB of HBM; about 30 TB only with host memory",
    ),
    claim(
        "C3-N8",
        "Spread over 8 racks, the weights need almost no memory.",
        check("per device", "1.7 GB", pipelines.weights_per_device,
              total_params=1e12, bytes_per_param=1.0, devices_per_stage=72.0, stages=8.0),
    ),
    claim(
        "C3-Q1",
        "Naive inference idles, back-to-back does not, training stops hard in between.",
        check("naive, P 4", "75 %", pipelines.one_at_a_time_idle_share, stages=4.0),
        _bubble("training, P 4, M 4", "42.9 %", 4.0, 4.0),
    ),
    claim(
        "C3-Q2",
        "The bubble falls with micro-batches and rises with stages.",
        _bubble("P 2, M 8", "11.1 %", 2.0, 8.0),
        _bubble("P 16, M 8", "65.2 %", 16.0, 8.0),
        check("micro-batches for 10 %, P 4", "27", pipelines.micro_batches_for_bubble,
              stages=4.0, bubble=0.1),
    ),
    claim(
        "C3-Q3",
        "The line where crossing racks is free runs through n_act·l = ρ/2.",
        _ratio("4 experts, 1 layer", "1", 4.0, 1.0),
        _ratio("1 expert, 4 layers", "1", 1.0, 4.0),
    ),
    claim(
        "C3-Q4",
        "In inference pipelining buys capacity, not time and not bandwidth.",
        check("time at 8 stages", "20 ms", pipelines.pipeline_latency,
              stages=8.0, whole_model_s=20e-3, hop_s=0.0),
        check("weights per device at 8 stages", "1.95 GB", pipelines.weights_per_device,
              total_params=1e12, bytes_per_param=1.0, devices_per_stage=64.0, stages=8.0),
    ),
    claim(
        "C3-Q5",
        "Better schedules fill the bubble, for example with weight gradients.",
        _bubble("interleaved twice: as if M doubled", "27.3 %", 4.0, 8.0),
        note="1F1B has the bubble of the flush with less memory; others need a schedule run.",
    ),
    claim(
        "C3-Q6",
        "Time to a given loss against micro-batches is U-shaped.",
        check("M 1", "32", training_time,
              micro_batches=1.0, critical_micro_batches=7.0, stages=4.0),
        check("M 5", "19.2", training_time,
              micro_batches=5.0, critical_micro_batches=7.0, stages=4.0),
        check("M 32", "42.7", training_time,
              micro_batches=32.0, critical_micro_batches=7.0, stages=4.0),
        assumes="a critical batch of 7 micro-batches, chosen to show the shape",
    ),
)  # fmt: skip
