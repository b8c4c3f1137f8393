"""Every layout that the rules allow has a finite step: no message outgrows its group's devices."""

import itertools

import numpy as np
import pytest

from ridgeline.errors import InputError
from ridgeline.model.layout import Layout
from ridgeline.model.layout_rules import layout_faults
from ridgeline.study.estimate import estimate
from ridgeline.study.resolve import resolve_model

DEGREES = {"tp": (1, 2, 4), "cp": (1, 2, 3), "dp": (1, 2, 5), "ep": (1, 2, 4, 8)}


@pytest.mark.parametrize("model", ["deepseek-v3", "gpt-oss-120b", "llama-3.1-8b"])
def test_finite_steps(model: str) -> None:
    """Two boards of eight, every mix of small degrees."""
    arch = resolve_model(model)
    seen = 0
    for degrees in itertools.product(*DEGREES.values()):
        layout = Layout(**dict(zip(DEGREES, degrees, strict=True)))
        if layout.num_devices > 16 or layout_faults(arch, layout):
            continue
        given = dict(zip(DEGREES, degrees, strict=True))
        try:
            result = estimate(arch, on="hgx-h100-8x2", batch=[1, 64], **given)
        except InputError:  # devices that the boards cannot be cut into
            continue
        assert np.isfinite(result.breakdown.step_s).all(), given
        seen += 1
    assert seen > 10


@pytest.mark.parametrize("model", ["falcon-mamba-7b", "mamba-2.8b-hf", "mistral-7b-v0.1"])
def test_state_that_does_not_grow(model: str) -> None:
    """Recurrences and windows everywhere: cache reads never move the critical batch."""
    derived = estimate(model, on="hgx-h100-8", batch=1).derived
    assert derived["balance_context"] is None
    assert derived["critical_batch_with_kv"] == pytest.approx(derived["critical_batch"])
