"""Laws of layouts and links: a degree of 1 is free, a better link never slows."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeline.hardware.what_if import figure_value, what_if
from ridgeline.model.layout import Layout
from ridgeline.phase.deployment import step_breakdown
from ridgeline.placement.space import enumerate_layouts
from ridgeline.study.deploy import deploy

MODELS = ("deepseek-v3", "llama-3.3-70b", "qwen3-30b-a3b")
BASES = {m: deploy(m, on="hgx-h100-8x4") for m in MODELS}
SPACES = {
    m: enumerate_layouts(b.architecture, num_devices=32, scale_up=8) for m, b in BASES.items()
}
PHASES = ("decode", "prefill", "mixed")
layouts = st.sampled_from(MODELS).flatmap(
    lambda m: st.integers(0, len(SPACES[m]) - 1).map(lambda i: (m, SPACES[m].one(i)))
)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("phase", PHASES)
def test_degrees_of_one_send_nothing(model, phase):
    """The layout of one device is the ideal division by one, to the last bit."""
    one = replace(BASES[model], layout=Layout(), num_devices=1)
    step = step_breakdown(one, phase=phase, batch=4.0, context=1000.0, chunk=256)
    assert step.network_s == 0
    ideal = replace(one, layout=None)
    assert (
        step.step_s
        == step_breakdown(ideal, phase=phase, batch=4.0, context=1000.0, chunk=256).step_s
    )


@given(
    layouts,
    st.sampled_from(PHASES),
    st.sampled_from(("scale_up_bandwidth", "scale_out_bandwidth", "latency", "memory_bandwidth",
                     "peak")),
    st.floats(1.0, 16.0),
    st.integers(1, 64),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_a_better_figure_never_slows_a_step(chosen, phase, figure, factor, per_group):
    model, layout = chosen
    base = replace(BASES[model], layout=layout, num_devices=int(layout.num_devices))
    value = figure_value(base.cluster, figure)
    better = value / factor if figure == "latency" else value * factor
    question = {"phase": phase, "batch": float(per_group * layout.dp), "context": 2048.0,
                "chunk": 512}  # fmt: skip
    before = step_breakdown(base, **question).step_s
    improved = replace(base, cluster=what_if(base.cluster, figure, better))
    assert step_breakdown(improved, **question).step_s <= before * (1 + 1e-9)
