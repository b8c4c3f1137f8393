"""The calibrated records load, are physical, and beat the prior on rows nobody fitted."""

import math

import numpy as np
import pytest

from ridgeline.cost.efficiency import IDEAL, TYPICAL
from ridgeline.cost.efficiency_fits import FITS, SYSTEMS
from ridgeline.cost.efficiency_records import CALIBRATED, FITTED
from ridgeline.cost.roofline import operation_time
from ridgeline.model.architecture import LatentAttention, Linear, SoftmaxAttention
from ridgeline.model.formats import format_named
from ridgeline.model.layout import Layout
from ridgeline.model.operations_attention import latent_operations, softmax_operations
from ridgeline.model.precision import WEIGHT_CLASSES, Precision
from ridgeline.model.scene import Scene, gemm
from ridgeline.model.work import Step
from ridgeline.study.resolve import open_catalog

VIDUR = "github.com/microsoft/vidur@7d47513363 data/profiling/compute/a100"
INFERSIM = "github.com/alibaba/InferSim@f2293dab6d bench_data"
LLAMA_70B, QWEN = f"{VIDUR}/meta-llama/Llama-2-70b-hf/mlp.csv", f"{VIDUR}/Qwen/Qwen-72B/mlp.csv"
LLAMA_7B = f"{VIDUR}/meta-llama/Llama-2-7b-hf/mlp.csv"
GEMMS = [
    # device, format, m, n, k, measured µs, source
    ("a100-sxm-80", "bf16", 512, 10240, 8192, 386.5, LLAMA_70B),
    ("a100-sxm-80", "bf16", 4096, 8192, 6144, 1751.0, QWEN),
    ("a100-sxm-80", "bf16", 4096, 4096, 2752, 395.5, LLAMA_7B),
    ("a100-sxm-80", "bf16", 1, 49152, 8192, 500.0, QWEN),
    ("a100-sxm-80", "bf16", 512, 8192, 2048, 101.0, QWEN),
    ("a100-sxm-80", "bf16", 512, 6144, 4096, 128.5, LLAMA_7B),
    ("h20-sxm", "fp8_block", 64, 576, 7168, 10.182, f"{INFERSIM}/gemm/h20/data.csv"),
    ("h20-sxm", "fp8_block", 1024, 6144, 2048, 106.114, f"{INFERSIM}/gemm/h20/data.csv"),
    ("h20-sxm", "fp8_block", 16384, 4096, 1024, 525.699, f"{INFERSIM}/gemm/h20/data.csv"),
    ("h20-sxm", "fp8_block", 4096, 51200, 5120, 7722.0, f"{INFERSIM}/gemm/h20/data.csv"),
]
ATTENTION = [
    # heads, kv heads, head_dim, batch, new tokens, context, measured µs, source (H20, bf16)
    (16, 2, 256, 1, 8192, 0, 4351.417, f"{INFERSIM}/mha/prefill/h20/16-2-256.csv"),
    (16, 2, 256, 1, 4096, 0, 1134.939, f"{INFERSIM}/mha/prefill/h20/16-2-256.csv"),
    (64, 8, 128, 1, 8192, 0, 8157.914, f"{INFERSIM}/mha/prefill/h20/64-8-128.csv"),
    (16, 2, 128, 256, 1, 8192, 680.716, f"{INFERSIM}/mha/decode/h20/16-2-128.csv"),
    (32, 8, 128, 256, 1, 4096, 1524.0, f"{INFERSIM}/mha/decode/h20/32-8-128.csv"),
]
LATENT = [
    # batch, context, measured µs (H20, bf16, 128 heads, 512 + 64)
    (128, 8192, 2711.245),
    (256, 1024, 633.661),
    (256, 4096, 2398.27),
]


def scene(step: Step, weights: str = "bf16") -> Scene:
    """Return a step of no particular model."""
    plain = format_named("bf16")
    precision = Precision(
        weights=dict.fromkeys(WEIGHT_CLASSES, format_named(weights)),
        kv=plain,
        activation=plain,
        attention_compute_format="bf16",
    )
    return Scene.of(None, (step,), precision, Layout())  # pyright: ignore[reportArgumentType]


def published():
    """Yield (device, operation, seconds) of every row above."""
    for device, form, m, n, k, micros, _ in GEMMS:
        linear = Linear(name="x", in_features=k, out_features=n, weight_class="ffn")
        where = scene(Step(batch=m), form)
        yield device, gemm([linear], where, component="ffn", count=1, rows=m), micros * 1e-6
    for heads, kv, d, batch, new, context, micros, _ in ATTENTION:
        core = SoftmaxAttention(num_heads=heads, num_kv_heads=kv, qk_head_dim=d, v_head_dim=d)
        where = scene(Step(batch=batch, new_tokens=new, context=context))
        yield "h20-sxm", softmax_operations(core, where, 1)[-1], micros * 1e-6
    for batch, context, micros in LATENT:
        core = LatentAttention(
            num_heads=128,
            kv_lora_rank=512,
            qk_nope_head_dim=128,
            qk_rope_head_dim=64,
            v_head_dim=128,
        )
        where = scene(Step(batch=batch, context=context))
        yield "h20-sxm", latent_operations(core, (), where, 1)[-1], micros * 1e-6


def errors(efficiency) -> np.ndarray:
    """Return |predicted/measured - 1| of every published row."""
    catalog = open_catalog(None)
    found = []
    for name, op, seconds in published():
        device = catalog.device(name)
        time = operation_time(op, device, efficiency.curve(op, device)).time_s
        found.append(abs(float(time) / seconds - 1))
    return np.array(found)


def test_calibrated_beats_the_prior_on_published_kernels():
    """Nobody fitted these rows, nor any row of H20: median 15 % at most, below the prior's."""
    calibrated, typical = errors(CALIBRATED), errors(TYPICAL)
    assert np.median(calibrated) < 0.15
    assert np.median(calibrated) < np.median(typical)
    assert np.mean(calibrated) < np.mean(typical)
    assert np.mean(calibrated) < np.mean(errors(IDEAL))


@pytest.mark.parametrize("fit", FITS, ids=lambda f: f"{f.kind} {f.form} {f.generation}")
def test_fits_are_physical_and_state_their_error(fit):
    """Shares within 0..1, launches of 1 to 40 µs, an error and a spread on hundreds of rows."""
    assert fit.generation in SYSTEMS
    assert 0.02 < fit.compute_share <= 1
    assert 0.1 < fit.bandwidth_share <= 0.93
    assert 0 <= fit.unhidden <= 1
    assert 1 < fit.launch_us < 40
    assert fit.rows >= 500
    assert 0 < fit.error_percent <= fit.p90_percent
    assert abs(fit.bias_percent) < 15
    assert 0 < fit.spread_percent < 80
    assert math.isnan(fit.held_out_percent) == (len(SYSTEMS[fit.generation]) == 1)


def test_every_generation_and_prior_has_its_records():
    """A source, a prior per form, the power of the devices fitted, no record twice."""
    assert "aiconfigurator-core 0.12.0" in CALIBRATED.source
    assert set(FITTED) == set(SYSTEMS)
    assert len({(f.kind, f.form, f.generation) for f in FITS}) == len(FITS)
    for fit in FITS:
        if "@" not in fit.form:
            prior = CALIBRATED.records[fit.kind, fit.form, "*"]
            assert prior.spread > 0.2
