"""Builders of mixers with constant state: state spaces, delta nets, lightning, convolution.

FLOP of a recurrence counts a multiply and an add as two, projections and convolution apart.
"""

from __future__ import annotations

from ridgeline.model.architecture import Linear, Mixer, Recurrence
from ridgeline.model.build import linear


def mamba1(
    hidden_size: int,
    inner_size: int,
    state_size: int,
    conv_kernel: int,
    time_step_rank: int,
    *,
    conv_bias: bool = True,
    proj_bias: bool = False,
    inner_norms: bool = False,
    num_heads: int = 1,
) -> Mixer:
    """Return a Mamba-1 mixer: in_proj, convolution, x_proj, dt_proj, out_proj.

    State: inner·state elements. FLOP per token: decay, input and output of each state element,
    6·inner·state.

    Source: Gu & Dao 2023, arXiv:2312.00752.
    """
    vectors = inner_size * (conv_kernel + int(conv_bias)) + inner_size * state_size + inner_size
    if inner_norms:
        vectors += time_step_rank + 2 * state_size
    x_width = num_heads * (time_step_rank + 2 * state_size)
    return Mixer(
        kind="mamba1",
        linears=(
            linear("in_proj", hidden_size, 2 * inner_size, split="column", bias=proj_bias),
            linear("x_proj", inner_size, x_width, split="row", groups=num_heads),
            linear("dt_proj", num_heads * time_step_rank, inner_size, split="column", bias=True,
                   groups=num_heads),
            linear("out_proj", inner_size, hidden_size, split="row", bias=proj_bias),
        ),
        num_vector_params=vectors,
        cores=(
            Recurrence(
                kind="mamba1",
                num_heads=num_heads,
                state_elements=inner_size * state_size,
                conv_elements=inner_size * conv_kernel,
                flop_per_token=6 * inner_size * state_size,
                conv_flop_per_token=2 * inner_size * conv_kernel,
            ),
        ),
    )  # fmt: skip


def mamba2(
    hidden_size: int,
    num_heads: int,
    head_dim: int,
    state_size: int,
    num_groups: int,
    conv_kernel: int,
    *,
    conv_bias: bool = True,
    proj_bias: bool = False,
    out_bias: bool | None = None,
    norm: bool = True,
    chunk_size: int = 256,
    in_size: int | None = None,
) -> Mixer:
    """Return a Mamba-2 mixer.

    in_proj yields gate, x, B, C and dt: 2·inner + 2·groups·state + heads. State:
    heads·head_dim·state. FLOP per token: decay 1, outer product 2, read-out 2 per state element.

    Source: Dao & Gu 2024, arXiv:2405.21060.
    """
    inner = num_heads * head_dim
    conv = inner + 2 * num_groups * state_size
    vectors = conv * (conv_kernel + int(conv_bias)) + 3 * num_heads + (inner if norm else 0)
    width = hidden_size if in_size is None else in_size
    state = inner * state_size
    last_bias = proj_bias if out_bias is None else out_bias
    return Mixer(
        kind="mamba2",
        linears=(
            linear("in_proj", width, inner + conv + num_heads, split="column", bias=proj_bias),
            linear("out_proj", inner, hidden_size, split="row", bias=last_bias),
        ),
        num_vector_params=vectors,
        cores=(
            Recurrence(
                kind="mamba2",
                num_heads=num_heads,
                head_dim=head_dim,
                state_elements=state,
                conv_elements=conv * conv_kernel,
                flop_per_token=5 * state,
                conv_flop_per_token=2 * conv * conv_kernel,
                chunk_size=chunk_size,
            ),
        ),
    )


def gated_delta_net(
    hidden_size: int,
    num_k_heads: int,
    num_v_heads: int,
    k_head_dim: int,
    v_head_dim: int,
    conv_kernel: int,
) -> Mixer:
    """Return a gated delta net: q, k, v, output gate z, and scalars a and b per value head.

    State: v_heads·k_dim·v_dim. FLOP per token and state element: decay 1, read 2, write 2,
    read-out 2.

    Source: Yang et al. 2024, arXiv:2412.06464.
    """
    k_width, v_width = num_k_heads * k_head_dim, num_v_heads * v_head_dim
    conv = 2 * k_width + v_width
    state = num_v_heads * k_head_dim * v_head_dim
    return Mixer(
        kind="gated_delta_net",
        linears=(
            linear("in_proj_qkv", hidden_size, conv, split="column"),
            linear("in_proj_z", hidden_size, v_width, split="column"),
            linear("in_proj_b", hidden_size, num_v_heads, split="column"),
            linear("in_proj_a", hidden_size, num_v_heads, split="column"),
            linear("out_proj", v_width, hidden_size, split="row"),
        ),
        num_vector_params=conv * conv_kernel + 2 * num_v_heads + v_head_dim,
        cores=(
            Recurrence(
                kind="gated_delta_net",
                num_heads=num_v_heads,
                head_dim=v_head_dim,
                state_elements=state,
                conv_elements=conv * conv_kernel,
                flop_per_token=7 * state,
                conv_flop_per_token=2 * conv * conv_kernel,
            ),
        ),
    )


def kda(
    hidden_size: int,
    num_heads: int,
    head_dim: int,
    conv_kernel: int,
    *,
    full_rank_forget: bool = False,
    full_rank_gate: bool = False,
) -> Mixer:
    """Return Kimi delta attention: a delta net whose decay is one value per key channel.

    Decay and output gate go through rank head_dim, or straight where the config says so.

    Source: Kimi Team 2025, Kimi Linear, arXiv:2510.26692.
    """
    width = num_heads * head_dim
    state = width * head_dim
    forget = _low_rank("f", hidden_size, head_dim, width, full=full_rank_forget)
    gate = _low_rank("g", hidden_size, head_dim, width, full=full_rank_gate)
    return Mixer(
        kind="kda",
        linears=(
            linear("q_proj", hidden_size, width, split="column"),
            linear("k_proj", hidden_size, width, split="column"),
            linear("v_proj", hidden_size, width, split="column"),
            *forget,
            linear("b_proj", hidden_size, num_heads, split="column"),
            *gate,
            linear("o_proj", width, hidden_size, split="row"),
        ),
        num_vector_params=3 * width * conv_kernel + width + num_heads + head_dim,
        cores=(
            Recurrence(
                kind="kda",
                num_heads=num_heads,
                head_dim=head_dim,
                state_elements=state,
                conv_elements=3 * width * conv_kernel,
                flop_per_token=7 * state,
                conv_flop_per_token=2 * 3 * width * conv_kernel,
            ),
        ),
    )


def _low_rank(name: str, hidden: int, rank: int, width: int, *, full: bool) -> tuple[Linear, ...]:
    if full:
        return (linear(f"{name}_proj", hidden, width, split="column"),)
    return (
        linear(f"{name}_a_proj", hidden, rank),
        linear(f"{name}_b_proj", rank, width, split="column"),
    )


def lightning(hidden_size: int, num_heads: int, head_dim: int, *, chunk_size: int = 256) -> Mixer:
    """Return lightning attention: linear attention with a fixed decay per head and a gate.

    State: heads·head_dim². FLOP per token and state element: decay 1, write 2, read-out 2.

    Source: MiniMax 2025, MiniMax-01, arXiv:2501.08313.
    """
    width = num_heads * head_dim
    state = width * head_dim
    return Mixer(
        kind="lightning",
        linears=(
            linear("qkv_proj", hidden_size, 3 * width, split="column"),
            linear("output_gate", hidden_size, width, split="column"),
            linear("out_proj", width, hidden_size, split="row"),
        ),
        num_vector_params=width,
        cores=(
            Recurrence(
                kind="lightning",
                num_heads=num_heads,
                head_dim=head_dim,
                state_elements=state,
                flop_per_token=5 * state,
                chunk_size=chunk_size,
            ),
        ),
    )


def short_conv(hidden_size: int, kernel: int, *, bias: bool = False) -> Mixer:
    """Return the gated short convolution of LFM2: B, C and x from one projection.

    State: the last `kernel` inputs of each channel, in the activations' format.

    Source: Liquid AI 2025, LFM2.
    """
    return Mixer(
        kind="short_conv",
        linears=(
            linear("in_proj", hidden_size, 3 * hidden_size, split="column", bias=bias),
            linear("out_proj", hidden_size, hidden_size, split="row", bias=bias),
        ),
        num_vector_params=hidden_size * (kernel + int(bias)),
        cores=(
            Recurrence(
                kind="short_conv",
                num_heads=1,
                state_elements=0,
                conv_elements=hidden_size * kernel,
                conv_flop_per_token=2 * hidden_size * kernel,
            ),
        ),
    )


def rwkv4(hidden_size: int, attention_size: int) -> Mixer:
    """Return the time mixing of RWKV-4: numerator, denominator and maximum per channel.

    Source: Peng et al. 2023, arXiv:2305.13048.
    """
    return Mixer(
        kind="rwkv",
        linears=(
            linear("key", hidden_size, attention_size, split="column"),
            linear("value", hidden_size, attention_size, split="column"),
            linear("receptance", hidden_size, attention_size, split="column"),
            linear("output", attention_size, hidden_size, split="row"),
        ),
        num_vector_params=2 * attention_size + 3 * hidden_size,
        cores=(
            Recurrence(
                kind="rwkv",
                num_heads=attention_size,
                head_dim=1,
                # Three of the recurrence, and the shifted inputs of both halves of the block.
                state_elements=3 * attention_size + 2 * hidden_size,
                flop_per_token=12 * attention_size,
            ),
        ),
    )


def rg_lru(hidden_size: int, width: int, num_heads: int, conv_kernel: int) -> Mixer:
    """Return the recurrent block of Griffin: two branches, convolution, gated linear recurrence.

    The input and recurrence gates are block-diagonal over heads, with bias.

    Source: De et al. 2024, arXiv:2402.19427.
    """
    return Mixer(
        kind="rg_lru",
        linears=(
            linear("linear_y", hidden_size, width, split="column", bias=True),
            linear("linear_x", hidden_size, width, split="column", bias=True),
            linear("input_gate", width, width, split="column", bias=True, groups=num_heads),
            linear("recurrent_gate", width, width, split="column", bias=True, groups=num_heads),
            linear("linear_out", width, hidden_size, split="row", bias=True),
        ),
        num_vector_params=width * (conv_kernel + 1) + width,
        cores=(
            Recurrence(
                kind="rg_lru",
                num_heads=num_heads,
                head_dim=max(1, width // num_heads),
                state_elements=width,
                conv_elements=width * conv_kernel,
                flop_per_token=8 * width,
                conv_flop_per_token=2 * width * conv_kernel,
            ),
        ),
    )
