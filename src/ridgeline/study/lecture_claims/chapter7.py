"""Chapter 7, reversible networks and ciphers; the experiments run in NumPy with a seed."""

from __future__ import annotations

from ridgeline.chalkboard import reversible
from ridgeline.study.lecture_claims.record import Check, check, claim

STACK = {"layers": 100, "width": 64, "seed": 0}
RESIDUAL = {"tokens": 8192.0, "hidden_size": 12_288.0, "bytes_per_element": 2.0}


def _avalanche(label: str, stated: str, rounds: int) -> Check:
    return check(label, stated, reversible.avalanche, rounds=rounds, blocks=64, seed=0)


def growth_after(*, layers: int, residual: bool) -> float:
    """Return the relative size of a small perturbation after the last of random layers [1].

    Args:
        layers: n.
        residual: Residual and norm, or a plain chain.
    """
    growth = reversible.perturbation_growth(layers=layers, width=256, residual=residual, seed=0)
    return float(growth[-1])


CLAIMS = (
    claim(
        "C7-F1",
        "A Feistel round adds f of one half to the other; f need not be invertible.",
        check("rectified f, integers, 100 rounds: error", "0", reversible.inversion_error,
              dtype="int64", **STACK),
    ),
    claim(
        "C7-F2",
        "A reversible layer maps (x, y) to (y + f(x), x), and back by subtraction.",
        check("double precision: error below", "0..1e-14", reversible.inversion_error,
              dtype="float64", **STACK),
    ),
    claim(
        "C7-F3",
        "Activation memory grows with layers, or is constant when layers run backwards.",
        check("ordinary, 100 layers", "100", reversible.stored_activations, layers=100.0),
        check("reversible, 100 layers", "2", reversible.reversible_activations, layers=100.0),
    ),
    claim(
        "C7-F4",
        "Recomputing costs one more forward pass: 8 instead of 6.",
        check("overhead", "33 %", reversible.recompute_overhead,
              forward_flop=2.0, backward_flop=4.0),
    ),
    claim(
        "C7-F5",
        "A cipher is differentiated over GF(2), by exclusive or.",
        check("linear map: share of the commonest difference", "1",
              reversible.constant_difference_share, bits=10, linear=True, seed=0),
        check("random table: the same, below", "0..0.02",
              reversible.constant_difference_share, bits=10, linear=False, seed=0),
    ),
    claim(
        "C7-F6",
        "One flipped input bit flips half of a cipher's output bits.",
        _avalanche("8 rounds", "0.50", 8),
    ),
    claim(
        "C7-N1",
        "A four-layer toy stores four activations, or none but the final pair.",
        check("ordinary", "4", reversible.stored_activations, layers=4.0),
        check("reversible: the pair", "2", reversible.reversible_activations, layers=4.0),
    ),
    claim("C7-N2", "About 99 % of newly invented ciphers are broken.", reason="folklore"),
    claim(
        "C7-N3",
        "Reversible residual networks date from 2017.",
        reason="a date; arXiv 1707.04585 is of July 2017",
    ),
    claim(
        "C7-N4",
        "Reversibility costs a third more compute.",
        check("8 over 6", "33 %", reversible.recompute_overhead,
              forward_flop=2.0, backward_flop=4.0),
    ),
    claim(
        "C7-N5",
        "What it saves: 201 MB a layer, 20 GB over a hundred.",
        check("one BF16 tensor, 8192 × 12,288", "201 MB", reversible.activation_bytes,
              tensors=1.0, **RESIDUAL),
        check("100 layers", "20.1 GB", reversible.activation_bytes, tensors=100.0, **RESIDUAL),
        check("reversible", "0.403 GB", reversible.activation_bytes, tensors=2.0, **RESIDUAL),
    ),
    claim(
        "C7-N6",
        "Inverting 100 layers is exact in integers, nearly so in floating point.",
        check("int64", "0", reversible.inversion_error, dtype="int64", **STACK),
        check("float32, measured: above 0, below", "1e-9..1e-6", reversible.inversion_error,
              dtype="float32", **STACK),
    ),
    claim(
        "C7-Q1",
        "A stack with a non-invertible f runs back to its input.",
        check("integers: error", "0", reversible.inversion_error, dtype="int64", **STACK),
    ),
    claim(
        "C7-Q2",
        "Peak activations against depth: ordinary, checkpointed, reversible.",
        check("ordinary, 100", "100", reversible.stored_activations, layers=100.0),
        check("checkpointed, 100", "20", reversible.checkpointed_activations, layers=100.0),
        check("reversible, 100", "2", reversible.reversible_activations, layers=100.0),
    ),
    claim(
        "C7-Q3",
        "A cipher amplifies a flip at once, an untamed net with depth, a residual net hardly.",
        _avalanche("cipher, 0 rounds", "0.031", 0),
        _avalanche("cipher, 4 rounds", "0.50", 4),
        check("plain chain, 30 layers: above", "10..1000", growth_after,
              layers=30, residual=False),
        check("residual and norm, 30 layers: about", "1..3", growth_after,
              layers=30, residual=True),
    ),
    claim(
        "C7-Q4",
        "Same shape, opposite aims: structure to noise, noise to structure.",
        reason="a comparison of aims; C7-Q3 measures its one numeric part",
    ),
    claim(
        "C7-Q5",
        "A KV cache spends memory to save compute; a reversible net does the opposite.",
        check("compute spent by reversibility", "33 %", reversible.recompute_overhead,
              forward_flop=2.0, backward_flop=4.0),
        check("memory it needs, of 100 layers", "2", reversible.reversible_activations,
              layers=100.0),
    ),
)  # fmt: skip
