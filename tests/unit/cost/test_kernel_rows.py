"""What dev/kernel_rows.py fits is what a model's operations are priced with."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from ridgeline.cost.roofline import operation_bytes
from ridgeline.model.architecture import Experts, FeedForward, Linear
from ridgeline.model.formats import format_named
from ridgeline.model.layout import Layout
from ridgeline.model.operations_moe import expert_operations
from ridgeline.model.precision import WEIGHT_CLASSES, Precision
from ridgeline.model.scene import Scene
from ridgeline.model.work import Step

pandas = pytest.importorskip("pandas")


@pytest.fixture
def rows(monkeypatch):
    """The module, imported from its folder."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "dev"))
    yield importlib.import_module("kernel_rows")
    sys.modules.pop("kernel_rows", None)


def test_expert_rows_equal_the_operations_of_a_layer(rows):
    """256 tokens to 4 of 16 gated experts, 1024 wide, 512 inside, fp8 in blocks: so many tokens
    touch all experts, and the FLOP and bytes of every operation agree.
    """  # noqa: D205 - one sentence
    linears = tuple(
        Linear(name=n, in_features=i, out_features=o, weight_class="expert", split=s)
        for n, i, o, s in (
            ("gate_proj", 1024, 512, "column"),
            ("up_proj", 1024, 512, "column"),
            ("down_proj", 512, 1024, "row"),
        )
    )
    experts = Experts(num_experts=16, num_experts_per_tok=4, linears=linears)
    ffn = FeedForward(kind="moe", experts=experts, intermediate_size=512)
    plain = format_named("bf16")
    precision = Precision(
        weights=dict.fromkeys(WEIGHT_CLASSES, format_named("fp8_block")),
        kv=plain,
        activation=plain,
        attention_compute_format="bf16",
    )
    scene = Scene.of(None, (Step(batch=256),), precision, Layout())  # pyright: ignore[reportArgumentType]
    model = expert_operations(ffn, experts, scene, 1, None)
    columns = {"num_tokens": 256, "hidden_size": 1024, "inter_size": 512, "topk": 4}
    columns |= {"num_experts": 16, "moe_tp_size": 1, "moe_ep_size": 1, "gated": 1.0}
    fitted = rows.expert_operations_of(pandas.DataFrame([columns]), "fp8_block")
    assert len(model) == len(fitted) == 3
    for ours, theirs in zip(model, fitted, strict=True):
        assert ours.family == theirs.family
        assert ours.compute_format == theirs.compute_format
        assert ours.storage_format == theirs.storage_format
        assert float(ours.flop) == pytest.approx(np.asarray(theirs.flop).item())
        assert float(operation_bytes(ours)) == pytest.approx(
            np.asarray(operation_bytes(theirs)).item()
        )
        for name in theirs.shape:
            assert float(ours.shape[name]) == pytest.approx(theirs.shape[name].item()), name
