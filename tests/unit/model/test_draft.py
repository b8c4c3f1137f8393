"""Speculation: what drafting costs and what a step yields."""

from dataclasses import replace

import numpy as np
import pytest

from ridgeline.errors import InputError
from ridgeline.model.draft import Speculation, check_speculation, draft_bytes
from ridgeline.model.layout import Layout
from ridgeline.model.operations import operations
from ridgeline.model.work import Step
from ridgeline.phase.deployment import step_breakdown, step_operations
from ridgeline.study.deploy import deploy, speculation_of
from ridgeline.study.estimate import estimate

MTP = Speculation(acceptance=(0.85,))


def test_one_mtp_draft_is_one_layer_the_projection_and_the_head():
    """One block of 61, 2h·h for the join, h·V for the head; embedding rows besides."""
    base = deploy("deepseek-v3", on="hgx-h200-8", degrees={"tp": 8, "ep": 8})
    ops = step_operations(replace(base, speculation=MTP), phase="decode", batch=8, context=4096)
    drafted = {op.name: op for op in ops if op.name.startswith("draft.")}
    assert drafted["draft.attention"].count == 1
    assert drafted["draft.join_proj"].flop == 2 * 8 * 7168 * 2 * 7168
    assert drafted["draft.lm_head"].flop == 2 * 8 * 7168 * 129280 / 8
    verify = next(op for op in ops if op.name == "lm_head")
    assert verify.flop == 2 * drafted["draft.lm_head"].flop
    three = replace(base, speculation=Speculation(acceptance=(0.8, 0.7, 0.6)))
    ops = step_operations(three, phase="decode", batch=8, context=4096)
    assert next(op for op in ops if op.name == "draft.lm_head").count == 3


def test_mtp_weights_are_a_layer_more():
    """DeepSeek-V3 on one device: 11.5 B parameters of the layer and the join, in fp8."""
    base = deploy("deepseek-v3", on="hgx-h200-8")
    arch, precision = base.architecture, base.precision
    held = draft_bytes(arch, MTP, precision, Layout(), batch=0, tokens=4096)
    assert held == pytest.approx(11.5e9, rel=0.02)
    share = Speculation(acceptance=(0.8,), draft_share=0.1)
    assert draft_bytes(arch, share, precision, Layout(), batch=1, tokens=1) == 0


def test_a_stated_share_of_a_decode_step():
    base = deploy("llama-3.3-70b", on="hgx-h100-8")
    arch = base.architecture
    drafts = replace(base, speculation=Speculation(acceptance=(0.8, 0.8), draft_share=0.25))
    ops = step_operations(drafts, phase="decode", batch=4, context=1000)
    flop = sum(op.flop * op.count for op in ops if op.name.startswith("draft."))
    plain = operations(arch, Step(batch=4, context=1000), base.precision, base.layout)
    assert flop == pytest.approx(0.5 * sum(op.flop * op.count for op in plain))


def test_prefill_does_not_speculate():
    base = deploy("deepseek-v3", on="hgx-h200-8")
    plain = step_breakdown(base, phase="prefill", batch=1, context=2048).step_s
    with_drafts = replace(base, speculation=MTP)
    assert step_breakdown(with_drafts, phase="prefill", batch=1, context=2048).step_s == plain


def test_speculation_gains_at_small_batch_and_loses_when_never_accepted():
    def speed(speculation, batch):
        rows = estimate("deepseek-v3", on="hgx-h200-8", batch=batch, speculation=speculation).rows
        return float(rows["tokens_per_s_per_user"][0])

    assert 1.3 < speed(Speculation(acceptance=(0.9,)), 1) / speed(None, 1) < 1.9
    assert speed(Speculation(acceptance=(0.0,)), 64) < speed(None, 64)


def test_pipelines_as_arrays_draft_on_the_last_stage():
    base = deploy("deepseek-v3", on="hgx-h200-8")
    layout = Layout(tp=np.array([8, 4]), ep=np.array([8, 4]), pp=np.array([1, 2]))
    drafts = replace(base, layout=layout, speculation=MTP)
    ops = step_operations(drafts, phase="decode", batch=8, context=4096)
    assert next(op for op in ops if op.name == "draft.attention").count == 1


def test_words_of_the_command_line():
    assert speculation_of(None, None, None) is None
    assert speculation_of(2, "0.8", None) == Speculation(acceptance=(0.8, 0.8))
    assert speculation_of(2, "90%,50%", 0.1) == Speculation(acceptance=(0.9, 0.5), draft_share=0.1)
    for words in ((None, "0.8", None), (2, None, None), (3, "0.8,0.7", None), (0, "0.8", None)):
        with pytest.raises(InputError):
            speculation_of(*words)
    llama = deploy("llama-3.3-70b", on="hgx-h100-8").architecture
    with pytest.raises(InputError, match="no MTP layer"):
        check_speculation(llama, MTP)
    with pytest.raises(InputError, match="from 0 to 1 decode"):
        check_speculation(llama, Speculation(acceptance=(0.8,), draft_share=float("nan")))
