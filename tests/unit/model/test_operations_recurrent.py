from dataclasses import replace

import numpy as np
import pytest

from ridgeline.model.architecture import Architecture, Block, Mixer, Recurrence
from ridgeline.model.build import no_feed_forward
from ridgeline.model.build_recurrent import gated_delta_net, mamba2
from ridgeline.model.layout import Layout
from ridgeline.model.operations import operations
from ridgeline.model.operations_recurrent import intra_chunk_flop_per_token
from ridgeline.model.precision import Precision
from ridgeline.model.work import Operation, Step


def core_of(mixer: Mixer) -> Recurrence:
    core = mixer.cores[0]
    assert isinstance(core, Recurrence)
    return core


def recurrence(mixer: Mixer, step: Step, layout: Layout | None = None) -> Operation:
    block = Block(count=1, mixer=mixer, feed_forward=no_feed_forward(), num_norm_params=64)
    arch = Architecture(
        name="m",
        model_type="m",
        hidden_size=64,
        vocab_size=10,
        blocks=(block,),
        num_input_embedding_params=640,
    )
    ops = operations(arch, step, Precision.of(arch), layout)
    return next(op for op in ops if op.family == "recurrence")


MAMBA = mamba2(64, 8, 16, 32, 1, 4, chunk_size=256)
STATE = 8 * 16 * 32
CONV = 8 * 16 + 2 * 32


def test_decode_advances_the_state_token_by_token() -> None:
    op = recurrence(MAMBA, Step(batch=3, context=1000))
    assert op.flop == 3 * (5 * STATE + 2 * CONV * 4)
    # fp32 state and 16-bit convolution, read and written once per sequence.
    assert op.state_read_bytes == op.state_write_bytes == 3 * (4 * STATE + 2 * CONV * 4)


def test_prefill_works_in_chunks_and_touches_the_state_once() -> None:
    # C·Bᵀ and ·X inside a chunk: 2 · 256 · (32 + 16) FLOP per token and head.
    assert intra_chunk_flop_per_token(core_of(MAMBA)) == 2 * 256 * 48 * 8
    op = recurrence(MAMBA, Step(batch=1, new_tokens=512))
    assert op.flop == 512 * (5 * STATE + 2 * CONV * 4 + 2 * 256 * 48 * 8)
    assert op.state_read_bytes == 4 * STATE + 2 * CONV * 4
    short = recurrence(MAMBA, Step(batch=1, new_tokens=4))
    assert short.flop == 4 * (5 * STATE + 2 * CONV * 4)


def test_delta_rule_has_five_products_inside_a_chunk() -> None:
    core = core_of(gated_delta_net(64, 2, 4, 16, 8, 4))
    assert intra_chunk_flop_per_token(core) == 2 * 64 * (3 * 16 + 2 * 8) * 4


def test_an_unknown_value_width_is_taken_as_square() -> None:
    core = replace(core_of(gated_delta_net(64, 2, 4, 16, 16, 4)), head_dim=0)
    assert intra_chunk_flop_per_token(core) == pytest.approx(2 * 64 * 5 * 16 * 4)


def test_heads_split_over_tp_and_convolutions_by_channel() -> None:
    one = recurrence(MAMBA, Step(batch=1))
    swept = recurrence(MAMBA, Step(batch=1), Layout(tp=np.array([1, 4, 8, 16])))
    share = np.array([1, 1 / 4, 1 / 8, 1 / 8])
    assert np.allclose(swept.flop, one.flop * share)
    assert np.allclose(swept.state_read_bytes, one.state_read_bytes * share)
