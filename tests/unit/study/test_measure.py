"""Fits recover known figures, the model computes attention, the entry loads. Nothing is timed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ridgeline.errors import InputError
from ridgeline.hardware.records import Device
from ridgeline.phase.deployment import step_breakdown
from ridgeline.report.measure import (
    check_out,
    device_yaml,
    measure_json,
    measure_rows,
    measure_text,
)
from ridgeline.report.measure_plot import plot_measure
from ridgeline.study.estimate import estimate
from ridgeline.study.measure import (
    Knee,
    Measurement,
    Point,
    device_record,
    machine_facts,
    predicted_step,
    sized_shape,
)
from ridgeline.study.measure_backend import Backend, Sample, backend_named
from ridgeline.study.measure_fit import fit_kernels, knee
from ridgeline.study.measure_kernels import NUM_KERNELS, Kernel, run_kernels
from ridgeline.study.measure_model import HEAD_DIM, Shape, SmallTransformer, attention, rms_norm

W, F = 20e9, 100e9
"""Bandwidth and peak of the machine that the synthetic kernels come from."""


def sample(seconds: float) -> Sample:
    return Sample(
        median_s=seconds, low_s=seconds, high_s=seconds, num_repeats=7, disturbed=0.0, clean=True
    )


def kernel(kind: str, seconds: float, **work: float) -> Kernel:
    return Kernel(kind=kind, name=kind, sample=sample(seconds), **{"flop": 0.0, **work})


def product(rows: int, inner: int = 1024, outer: int = 4096) -> Kernel:
    """One row: bytes/W. More: copying takes bytes/(0.4·W), then arithmetic FLOP/F, unhidden."""
    flop, moved = 2.0 * rows * inner * outer, 4.0 * (inner * outer + rows * (inner + outer))
    seconds = moved / W if rows == 1 else moved / (0.4 * W) + flop / F
    return kernel("skinny", seconds, flop=flop, moved_bytes=moved, rows=rows)


def seen(batch: int, tokens: int) -> Kernel:
    """Attention at 0.5·W, 10 µs and 20 tokens lost; half as fast above 256 tokens."""
    per_token = batch * 2048.0
    rate = W * (0.5 if tokens <= 256 else 0.25)
    seconds = 1e-5 + (tokens + 20) * per_token / rate
    return kernel(
        "attention", seconds, moved_bytes=tokens * per_token, rows=batch, sequence_bytes=per_token
    )


def synthetic() -> list[Kernel]:
    rows = [kernel("read", 1e9 / W, moved_bytes=1e9), kernel("gemm", 1.0, flop=F, moved_bytes=1.0)]
    rows += [product(m) for m in (1, 2, 4, 8, 16, 32, 64, 128)]
    rows += [seen(b, t) for b in (1, 8) for t in (64, 128, 256, 512, 1024, 2048)]
    rows += [kernel("elementwise", 1e-5 + x / (0.3 * W), moved_bytes=x) for x in (1e4, 1e5, 1e6)]
    return rows


def test_fit_recovers_the_machine() -> None:
    fit = fit_kernels(synthetic())
    assert fit.bandwidth_bytes_per_s == pytest.approx(W)
    assert fit.flop_per_s == pytest.approx(F)
    assert fit.vector.bandwidth_share == pytest.approx(1.0)
    assert fit.product.bandwidth_share == pytest.approx(0.4, rel=0.03)
    assert fit.product.compute_share == pytest.approx(1.0, rel=0.03)
    assert fit.product.unhidden == 1.0
    assert fit.boundary_tokens == 256
    assert fit.short_attention.bandwidth_share == pytest.approx(0.5)
    assert fit.long_attention.bandwidth_share == pytest.approx(0.25)
    assert fit.short_attention.page_tokens == pytest.approx(20)
    assert fit.element.bandwidth_share == pytest.approx(0.3)
    assert fit.element.launch_s == pytest.approx(1e-5)
    assert max(fit.errors.values()) < 0.02


def test_knee_of_a_line_and_without_the_first_point() -> None:
    """12 + 0.5·B: the parts are equal at B = 24, whatever one sequence takes."""
    batch = [1, 2, 4, 8, 16, 32, 64]
    assert knee(batch, [3.0, *(12 + 0.5 * b for b in batch[1:])]) == pytest.approx(24)


def test_model_exceeds_the_cache_sixfold() -> None:
    """32 MiB·6 = 201 MB; a layer of 11.27 M weights and a head of 16.4 M: 4 layers, 246 MB."""
    shape = sized_shape(32 * 2**20, 4)
    assert shape.num_layers == 4
    assert shape.weight_elements * 4 == pytest.approx(246e6, rel=0.01)


def test_engine_counts_the_model_that_runs() -> None:
    """Matrices that the transformer holds = weights the engine reads; same widths, same order."""
    shape = Shape(num_layers=2, vocab_size=512)
    backend = backend_named("numpy", "cpu")
    model = SmallTransformer(backend, shape, batch=1, tokens=4)
    held = sum(x.size for layer in model.layers for k, x in layer.items() if x.ndim == 2)
    assert held + model.head.size == shape.weight_elements
    arch = shape.architecture()
    counted = sum(x.num_weights for b in arch.blocks for x in b.mixer.linears) * shape.num_layers
    counted += sum(x.num_weights for b in arch.blocks for x in b.feed_forward.linears) * 2
    assert counted + arch.head.num_weights == shape.weight_elements


def test_prediction_by_pencil() -> None:
    """Ideal, one sequence, nothing cached: weights·4 B / W and little else.

    246 MB / 20 GB/s = 12.3 ms; two sequences of arithmetic stay below.
    """
    backend = backend_named("numpy", "cpu")
    fit, shape = fit_kernels(synthetic()), Shape(num_layers=4)
    device = Device(
        id="x", name="x", vendor="x", peak_flop_per_s={"fp32": F},
        memory=machine_device(backend).memory,
    )  # fmt: skip
    predicted, ideal, bound = predicted_step(shape, device, fit, batch=1.0, context=1.0)
    assert ideal == pytest.approx(shape.weight_elements * 4 / W, rel=0.01)
    assert bound == "weight read"
    assert ideal < predicted < 1.2 * ideal


def machine_device(backend: Backend) -> Device:
    return device_record(machine_facts(backend), fit_kernels(synthetic()), backend)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_attention_is_softmax_attention(library: str) -> None:
    if library == "torch":
        pytest.importorskip("torch")
    backend = backend_named(library, "cpu")
    q, k, v = (backend.random(2, 3, n, HEAD_DIM) for n in (4, 5, 5))
    found = np.asarray(attention(backend.xp, q, k, v))
    qn, kn, vn = (np.asarray(x) for x in (q, k, v))
    weights = np.exp(np.einsum("bhqd,bhkd->bhqk", qn, kn) / 8)
    weights /= weights.sum(-1, keepdims=True)
    np.testing.assert_allclose(found, np.einsum("bhqk,bhkd->bhqd", weights, vn), atol=1e-4)


def test_rms_norm() -> None:
    """(3, 4): root mean square √12.5."""
    found = rms_norm(np, np.array([[3.0, 4.0]]), np.ones(2))
    np.testing.assert_allclose(found, [[3 / 12.5**0.5, 4 / 12.5**0.5]], rtol=1e-5)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_decode_writes_the_cache_and_repeats(library: str) -> None:
    """A sequence decodes alike alone and in a batch, and its key lands at the new position."""
    if library == "torch":
        pytest.importorskip("torch")
    shape = Shape(num_layers=2, vocab_size=300, hidden_size=128, intermediate_size=64, num_heads=4)
    backend = backend_named(library, "cpu")
    model = SmallTransformer(backend, shape, batch=3, tokens=9)
    tokens = backend.integers(3, 300)
    before = np.asarray(model.keys[0]).copy()
    together = np.asarray(model.decode(tokens, 8))
    after = np.asarray(model.keys[0])
    assert together.shape == (3,)
    assert (after[:, :, :8] == before[:, :, :8]).all()
    assert (after[:, :, 8] != before[:, :, 8]).any()
    assert int(model.decode(tokens[:1], 8)[0]) == together[0]


def test_kernels_count_their_work(monkeypatch) -> None:
    """Every kernel has positive work and one progress step; timing is replaced."""
    monkeypatch.setattr(Backend, "timed", lambda _, work, **__: (work(), sample(1.0))[1])
    steps: list[str] = []
    found = run_kernels(
        backend_named("numpy", "cpu"), cache_bytes=1e6, quick=True, progress=steps.append
    )
    assert len(found) == len(steps) == NUM_KERNELS
    assert all(k.moved_bytes > 0 for k in found)
    square = next(k for k in found if k.kind == "gemm")
    assert square.flop_per_s == 2 * 1024**3


def measurement() -> Measurement:
    backend = backend_named("numpy", "cpu")
    fit, shape = fit_kernels(synthetic()), Shape(num_layers=4)
    machine = {**machine_facts(backend), "memory_bytes": 64e9, "cache_bytes": 2.0**25}
    device = device_record(machine, fit, backend)
    points = []
    for batch in (1, 2, 8, 32):
        predicted, ideal, bound = predicted_step(shape, device, fit, batch=batch, context=128.0)
        points.append(
            Point(
                batch=batch, context=128, sample=sample(predicted * 1.1), predicted_s=predicted,
                ideal_s=ideal, bound_by=bound,
            )
        )  # fmt: skip
    return Measurement(
        date="2026-12-01", machine=machine, kernels=tuple(synthetic()), fit=fit, shape=shape,
        device=device, points=tuple(points),
        knees=(Knee(context=128, measured=20.0, predicted=21.0),), flags=("noisy",),
    )  # fmt: skip


def test_device_entry_loads_and_answers(tmp_path: Path) -> None:
    """The catalogue reads the written entry back: the same figures, and estimates with them."""
    path = tmp_path / "my-box.yaml"
    path.write_text(device_yaml(measurement(), path))
    found = estimate(
        "llama-3.2-1b", on="my-box", batch=1, context=128, dtype="fp32", efficiency="ideal",
        catalog_dir=tmp_path,
    )  # fmt: skip
    device = found.deployment.cluster.device
    assert device.memory.bandwidth_bytes_per_s == pytest.approx(W)
    assert device.peak_flop_per_s == {"fp32": pytest.approx(F)}
    assert device.cache_bytes == 2.0**25


@pytest.mark.parametrize("context", [128, 1024])
def test_device_entry_predicts_as_measure_did(tmp_path: Path, context: int) -> None:
    """The saved curves give the step of the small model that measure predicted, at every batch."""
    path, result = tmp_path / "my-box.yaml", measurement()
    path.write_text(device_yaml(result, path))
    found = estimate(
        result.shape.architecture(), on="my-box", batch=(1, 2, 8, 32), context=context,
        dtype="fp32", kv_cache_dtype="fp32", catalog_dir=tmp_path,
    )  # fmt: skip
    d = found.deployment
    d = replace(d, precision=replace(d.precision, activation=d.precision.kv))
    step = step_breakdown(
        d, phase="decode", batch=np.array([1.0, 2.0, 8.0, 32.0]), context=float(context)
    ).step_s
    said = [
        predicted_step(result.shape, result.device, result.fit, batch=b, context=context)[0]
        for b in (1.0, 2.0, 8.0, 32.0)
    ]
    np.testing.assert_allclose(step, said, rtol=1e-4)
    assert found.request["engine"] == "ideal"


@pytest.mark.parametrize("name", ["My Box.yaml", "box.txt", ".yaml", "nowhere/box.yaml"])
def test_refused_out_files(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="--out"):
        check_out(tmp_path / name)


def test_reports(tmp_path: Path) -> None:
    """Predicted is 1/1.1 of measured: an error of 9.09 %."""
    result = measurement()
    text = measure_text(result)
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "median error 9.09 %" in text
    document = json.loads(json.dumps(measure_json(result), allow_nan=False))
    assert document["rows"][0]["measured_s"] / document["rows"][0]["predicted_s"] == pytest.approx(
        1.1
    )
    assert measure_rows(result, "csv").splitlines()[0].startswith("context,batch,measured_s")
    assert measure_rows(result, "markdown").startswith("| context")
    plot_measure(result, tmp_path / "m.png")
    assert (tmp_path / "m.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("library", "device", "words"),
    [("numpy", "cuda", "CPU only"), ("jax", "cpu", "library must"), ("numpy", "tpu", "device one")],
)
def test_refused_backends(library: str, device: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        backend_named(library, device)


def test_timed_reports_quantiles() -> None:
    found = backend_named("numpy", "cpu").timed(lambda: sum(range(1000)), repeats=5)
    assert 0 < found.low_s <= found.median_s <= found.high_s
    assert 0 <= found.disturbed <= 1
