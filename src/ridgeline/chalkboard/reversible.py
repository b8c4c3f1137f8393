"""Chapter 7: networks that run backwards, and ciphers, which are built the same way.

Symbols: (x, y) two streams, f any function, n layers; every experiment takes a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeline.chalkboard.roofline import Number

Array = NDArray[Any]
Mixer = Callable[[Array], Array]


def feistel_forward(x: Array, y: Array, mixers: Sequence[Mixer]) -> tuple[Array, Array]:
    """Return both streams after all rounds; nothing has to be invertible but the addition.

        (x, y) → (y + f(x), x)

    Args:
        x: One stream, any shape.
        y: The other, same shape and type.
        mixers: f of each round; a transformer layer in a reversible network.

    Source: lecture C7-F1, C7-F2; arXiv 1707.04585.
    """
    for mix in mixers:
        x, y = y + mix(x), x
    return x, y


def feistel_inverse(x: Array, y: Array, mixers: Sequence[Mixer]) -> tuple[Array, Array]:
    """Return the streams that `feistel_forward` started from.

        (x, y) → (y, x - f(y))

    Args:
        x: First output.
        y: Second output.
        mixers: The same rounds, in forward order.

    Source: lecture C7-F1, C7-F2.
    """
    for mix in reversed(mixers):
        x, y = y, x - mix(y)
    return x, y


def random_mixers(*, layers: int, width: int, dtype: str, seed: int) -> list[Mixer]:
    """Return rectified random linear layers, none of them invertible [1].

    Float layers see a normalised input, as in any trained network: without it the streams grow with
    depth and so does the rounding error of the way back. Integers wrap around, as in ciphers.

        f(x) = max(0, x·V)

    Args:
        layers: n.
        width: Elements of each stream.
        dtype: `int64`, `float32` or `float64`.
        seed: Of the weights.

    Source: lecture C7-Q1.
    """
    rng = np.random.default_rng(seed)
    if np.issubdtype(np.dtype(dtype), np.integer):
        return [_integer_mixer(rng.integers(-9, 10, (width, width))) for _ in range(layers)]
    scale = 1.0 / np.sqrt(width)
    return [
        _normed_mixer((scale * rng.standard_normal((width, width))).astype(dtype))
        for _ in range(layers)
    ]


def _integer_mixer(weight: Array) -> Mixer:
    return lambda x: np.maximum(x @ weight, 0)


def _normed_mixer(weight: Array) -> Mixer:
    return lambda x: np.maximum(x / x.std() @ weight, 0)


def inversion_error(*, layers: int, width: int, dtype: str, seed: int) -> float:
    """Return the largest relative error after all layers forward and back [1].

        e = max|x' - x| / max|x|

    Args:
        layers: n.
        width: Elements of each stream.
        dtype: `int64`, `float32` or `float64`.
        seed: Of weights and input.

    Source: lecture C7-N6, measured here.
    """
    rng = np.random.default_rng(seed + 1)
    start = (rng.standard_normal((2, width)) * 100).astype(dtype)
    mixers = random_mixers(layers=layers, width=width, dtype=dtype, seed=seed)
    x, y = feistel_inverse(*feistel_forward(start[0], start[1], mixers), mixers)
    off = np.abs(np.stack([x, y]).astype(float) - start.astype(float))
    return float(off.max() / np.abs(start.astype(float)).max())


def stored_activations(*, layers: Number) -> Number:
    """Return the activation tensors that ordinary training keeps for the way back [1].

        m = n

    Args:
        layers: n.

    Source: lecture C7-F3.
    """
    return 1.0 * layers


def reversible_activations(*, layers: Number) -> Number:
    """Return the activation tensors a reversible network keeps: its last pair, at any depth [1].

        m = 2

    Args:
        layers: n, which does not matter.

    Source: lecture C7-F3.
    """
    return 2.0 + 0.0 * layers


def checkpointed_activations(*, layers: Number) -> Number:
    """Return the activation tensors with a checkpoint every sqrt(n) layers [1].

        m = 2·sqrt(n)

    Args:
        layers: n; sqrt(n) checkpoints, and one segment recomputed at a time.

    Source: arXiv 1604.06174.
    """
    return 2.0 * np.sqrt(layers)


def activation_bytes(
    *, tensors: Number, tokens: Number, hidden_size: Number, bytes_per_element: Number
) -> Number:
    """Return the bytes of stored residual tensors [B].

        c = m·t·d·e

    Args:
        tensors: m.
        tokens: t.
        hidden_size: d.
        bytes_per_element: e.

    Source: lecture C7-N5.
    """
    return tensors * tokens * hidden_size * bytes_per_element


def recompute_overhead(*, forward_flop: Number, backward_flop: Number) -> Number:
    """Return the extra work of running the forward pass twice [1].

        f = F_f / (F_f + F_b)

    Args:
        forward_flop: F_f, 2 per parameter and token.
        backward_flop: F_b, 4 per parameter and token.

    Source: lecture C7-F4.
    """
    return forward_flop / (forward_flop + backward_flop)


def constant_difference_share(*, bits: int, linear: bool, seed: int) -> float:
    """Return how often a cipher's derivative takes its most common value [1].

    Over GF(2) the derivative in direction a is a difference by exclusive or; it is constant for
    a linear map and looks random for a good substitution table:

        D(x) = f(x ⊕ a) ⊕ f(x)

    Args:
        bits: Width of the map, up to 16.
        linear: A random linear map instead of a random permutation.
        seed: Of the map and the direction.

    Source: lecture C7-F5.
    """
    rng = np.random.default_rng(seed)
    size = 1 << bits
    table = rng.permutation(size)
    if linear:
        columns = rng.integers(0, size, bits)
        table = np.bitwise_xor.reduce(_bits(np.arange(size), bits) * columns, axis=1)
    direction = int(rng.integers(1, size))
    differences = table[np.arange(size) ^ direction] ^ table
    return float(np.bincount(differences, minlength=size).max() / size)


def _bits(numbers: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    return numbers[:, None] >> np.arange(bits) & 1


def avalanche(*, rounds: int, blocks: int, seed: int) -> float:
    """Return the share of output bits that flip when one input bit does [1].

    A Feistel cipher of two 16-bit halves with a random table per round; its aim is one half:

        f = flips / bits

    Args:
        rounds: Rounds of the cipher.
        blocks: Random inputs, each with every one of its 32 bits flipped once.
        seed: Of tables and inputs.

    Source: lecture C7-F6.
    """
    rng = np.random.default_rng(seed)
    tables = [rng.integers(0, 2**16, 2**16) for _ in range(rounds)]
    halves = rng.integers(0, 2**16, (2, blocks, 1))
    bit = 1 << np.arange(16)
    zero = np.zeros(16, dtype=np.int64)

    def encrypt(x: Array, y: Array) -> Array:
        for table in tables:
            x, y = y ^ table[x], x
        return np.stack([x, y])

    plain = encrypt(halves[0], halves[1])
    left = encrypt(halves[0] ^ np.append(bit, zero), halves[1] ^ np.append(zero, bit))
    changed = (plain ^ left)[..., None] >> np.arange(16) & 1
    return float(changed.mean())


def perturbation_growth(*, layers: int, width: int, residual: bool, seed: int) -> Array:
    """Return the relative size of a small perturbation after each layer [1], [layers].

    Both nets start random. The plain one has gain 2 per matrix, as an untamed chain has; the other
    adds each normalised layer to its input, which keeps the derivative near one:

        g = |f(x + ε) - f(x)| / |f(x)| · |x| / |ε|

    Args:
        layers: n.
        width: Elements of the state.
        residual: Residual and norm, or a plain chain of tanh layers.
        seed: Of weights, input and perturbation.

    Source: lecture C7-Q3.
    """
    rng = np.random.default_rng(seed)
    state = rng.standard_normal(width)
    nudge = rng.standard_normal(width)
    nudge *= 1e-6 * np.linalg.norm(state) / np.linalg.norm(nudge)
    pair = np.stack([state, state + nudge])
    growth: list[float] = []
    for _ in range(layers):
        weight = rng.standard_normal((width, width)) / np.sqrt(width)
        if residual:
            pair = pair + np.tanh(pair / pair.std(axis=1, keepdims=True) @ weight)
        else:
            pair = np.tanh(2.0 * pair @ weight)
        growth.append(float(np.linalg.norm(pair[1] - pair[0]) / np.linalg.norm(pair[0]) / 1e-6))
    return np.array(growth)
