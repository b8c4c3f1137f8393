"""Chapter 3: layers cut into stages over racks, in inference and in training.

Symbols: P stages, M micro-batches of b sequences, ρ bandwidth ratio, a experts per token.
"""

from __future__ import annotations

import numpy as np

from ridgeline.chalkboard.roofline import Number


def scale_up_over_scale_out(
    *, experts_per_token: Number, layers_per_stage: Number, bandwidth_ratio: Number
) -> Number:
    """Return expert traffic time inside a rack over hand-over time between racks [1].

    At 1 or more the rack boundary is not the slower path. A token goes to `a` devices and back in
    each layer, and crosses to the next rack once:

        f = a·2·l / ρ

    Args:
        experts_per_token: a, activated experts.
        layers_per_stage: l.
        bandwidth_ratio: ρ, scale-up over scale-out.

    Source: lecture C3-F1.
    """
    return experts_per_token * 2.0 * layers_per_stage / bandwidth_ratio


def least_layers_per_stage(*, experts_per_token: Number, bandwidth_ratio: Number) -> Number:
    """Return the fewest whole layers per stage for which the rack boundary is free [1].

        l = ⌈ρ / (2·a)⌉

    Args:
        experts_per_token: a.
        bandwidth_ratio: ρ.

    Source: lecture C3-F2.
    """
    return np.ceil(bandwidth_ratio / (2.0 * experts_per_token))


def global_batch(*, micro_batches: Number, micro_batch: Number) -> Number:
    """Return the sequences in flight [seq].

        B = M·b

    Args:
        micro_batches: M.
        micro_batch: b.

    Source: lecture C3-F3.
    """
    return micro_batches * micro_batch


def pipeline_latency(*, stages: Number, whole_model_s: Number, hop_s: Number) -> Number:
    """Return the time of one token through all stages [s]: stages share the work, none adds speed.

        t = P·(t_1 / P) + P·h

    Args:
        stages: P.
        whole_model_s: t_1, the same step without a pipeline.
        hop_s: h, time to reach the next stage; the last one returns to the first.

    Source: lecture C3-F4, C4-F7.
    """
    return stages * (whole_model_s / stages) + stages * hop_s


def one_at_a_time_idle_share(*, stages: Number) -> Number:
    """Return the idle share when one batch walks through the stages alone [1].

        f = 1 - 1 / P

    Args:
        stages: P.

    Source: lecture C3-F5.
    """
    return 1.0 - 1.0 / stages


def training_bubble(*, stages: Number, micro_batches: Number) -> Number:
    """Return the idle share of a training step that flushes the pipeline [1].

        f = (P - 1) / (M + P - 1)

    Args:
        stages: P.
        micro_batches: M.

    Source: lecture C3-F6; GPipe, arXiv 1811.06965.
    """
    return (stages - 1.0) / (micro_batches + stages - 1.0)


def micro_batches_for_bubble(*, stages: Number, bubble: Number) -> Number:
    """Return the fewest micro-batches that keep the bubble within a share [1].

        M = ⌈(P - 1)·(1 / f - 1)⌉

    Args:
        stages: P.
        bubble: f, above 0.

    Source: inverse of `training_bubble`.
    """
    exact = (stages - 1.0) * (1.0 / bubble - 1.0)
    # 27 must not become 28 because 0.1 has no exact binary form.
    return np.ceil(exact * (1.0 - 1e-12))


def relative_training_steps(*, batch: Number, critical_batch: Number) -> Number:
    """Return steps to a given loss over those of an endless batch [1].

        S = 1 + B_c / B

    Args:
        batch: B, sequences or tokens per step.
        critical_batch: B_c, in the same unit: where gradient noise equals the signal.

    Source: lecture C3-F7; arXiv 1812.06162.
    """
    return 1.0 + critical_batch / batch


def weights_per_device(
    *,
    total_params: Number,
    bytes_per_param: Number,
    devices_per_stage: Number,
    stages: Number,
) -> Number:
    """Return the weight bytes on each device, evenly cut [B].

        c = w·N_t / (E·P)

    Args:
        total_params: N_t.
        bytes_per_param: w.
        devices_per_stage: E.
        stages: P.

    Source: lecture C3-F4, C4-F2.
    """
    return bytes_per_param * total_params / (devices_per_stage * stages)
