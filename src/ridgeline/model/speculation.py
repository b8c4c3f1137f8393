"""Speculative decoding and MTP: tokens per verify step, and what they are worth.

k  drafted tokens      a_i  probability that draft i is accepted, given that i - 1 before it were
A verify step computes k + 1 tokens per sequence and always yields one token of its own (the
correction, or the bonus after k accepted drafts).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ridgeline.errors import InputError
from ridgeline.model.work import Number

Floats = NDArray[np.float64]


def tokens_per_step(acceptance: ArrayLike) -> Floats:
    """Return the expected tokens per verify step [token/step].

        AL = 1 + Σ_{i ≤ k} Π_{j ≤ i} a_j

    Args:
        acceptance: a_1 … a_k on the last axis, [..., drafts].

    Raises:
        InputError: a probability outside 0..1.

    Source: leviathan2023.

    >>> float(tokens_per_step([0.8, 0.5]))
    2.2
    """
    a = _probability(acceptance, "acceptance")
    return 1.0 + np.cumprod(a, axis=-1).sum(axis=-1)


def decaying_acceptance(first: Number, decay: Number, drafts: int) -> Floats:
    """Return a_i = a·d^(i-1) for i = 1..k [1], [..., drafts]; d = 1 is the geometric model.

    Args:
        first: a, acceptance of the first draft.
        decay: d, by which each later draft is accepted less.
        drafts: k.

    Raises:
        InputError: a or d outside 0..1, or negative k.

    Source: first principles; leviathan2023 has d = 1.
    """
    if drafts < 0:
        raise InputError(f"drafts must be at least 0: {drafts}.")
    a, d = _probability(first, "acceptance"), _probability(decay, "decay")
    return a[..., None] * d[..., None] ** np.arange(drafts, dtype=np.float64)


def speedup(
    *, step_s: Number, verify_step_s: Number, draft_s: Number, tokens_per_step: Number
) -> Floats:
    """Return the speed with speculation over the speed without [1]; below 1 it is a loss.

        AL · t_step / (t_verify + t_draft)

    Args:
        step_s: A decode step of one token per sequence [s].
        verify_step_s: A step of k + 1 tokens per sequence [s].
        draft_s: Making all k drafts of a step [s].
        tokens_per_step: AL [token/step].

    Raises:
        InputError: a step time not above 0, or a negative draft time.

    Source: leviathan2023.

    >>> float(speedup(step_s=0.010, verify_step_s=0.012, draft_s=0.001, tokens_per_step=2.6))
    2.0
    """
    plain, verify, draft = (
        np.asarray(x, dtype=np.float64) for x in (step_s, verify_step_s, draft_s)
    )
    # Not <: NaN must be refused too.
    if not (np.all(plain > 0) and np.all(verify > 0) and np.all(draft >= 0)):
        raise InputError("Step times must be above 0 and draft times at least 0.")
    return np.asarray(tokens_per_step, dtype=np.float64) * plain / (verify + draft)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceFit:
    """An acceptance model fitted to a measured curve of tokens per step."""

    first: float
    """a, acceptance of the first draft [1]."""
    decay: float
    """d, by which each later draft is accepted less [1]; 1 in the geometric model."""
    largest_error: float
    """Largest |fitted / measured - 1| of tokens per step [1]."""

    def tokens_per_step(self, drafts: int) -> float:
        """Return AL(k) [token/step]."""
        return float(tokens_per_step(decaying_acceptance(self.first, self.decay, drafts)))


def fit_acceptance(curve: ArrayLike, *, geometric: bool = False) -> AcceptanceFit:
    """Return the acceptance model nearest to measured tokens per step at k = 1, 2, 3 [1].

    Least squares of relative errors on a grid refined four times. On the published curves of the
    catalogue (k = 1..8) the decaying model is off by at most 6 % (median 1.6 %), the geometric
    one by 3 to 15 %; fitted to k ≤ 4 and asked for 5..8: 1 to 12 % against 7 to 31 %.

    Args:
        curve: AL(1) … AL(k) [token/step], each from 1 to k + 1.
        geometric: Hold every a_i equal.

    Raises:
        InputError: no points, or tokens per step outside 1..k + 1.

    Source: first principles.
    """
    measured = np.asarray(curve, dtype=np.float64)
    k = np.arange(1, measured.size + 1)
    if measured.ndim != 1 or not measured.size or not np.all((measured >= 1) & (measured <= k + 1)):
        raise InputError("Tokens per step must be from 1 to drafts + 1, for 1, 2, 3 … drafts.")
    a_low, a_high = 0.0, 1.0
    d_low, d_high = (1.0, 1.0) if geometric else (0.0, 1.0)
    a = d = 1.0
    for _ in range(5):
        first = np.linspace(a_low, a_high, 101)[:, None]
        decay = np.linspace(d_low, d_high, 1 if geometric else 101)[None, :]
        chance = np.broadcast_to(decaying_acceptance(first, decay, measured.size), (
            101, decay.size, measured.size))  # fmt: skip
        error = (1.0 + np.cumsum(np.cumprod(chance, axis=-1), axis=-1)) / measured - 1.0
        i, j = np.unravel_index(int((error**2).sum(axis=-1).argmin()), error.shape[:2])
        a, d = float(first[i, 0]), float(decay[0, j])
        step_a, step_d = (a_high - a_low) / 50.0, (d_high - d_low) / 50.0
        a_low, a_high = max(0.0, a - step_a), min(1.0, a + step_a)
        if not geometric:
            d_low, d_high = max(0.0, d - step_d), min(1.0, d + step_d)
    chance = decaying_acceptance(a, d, measured.size)
    error = (1.0 + np.cumsum(np.cumprod(chance))) / measured - 1.0
    return AcceptanceFit(first=a, decay=d, largest_error=float(np.abs(error).max()))


def _probability(value: ArrayLike, what: str) -> Floats:
    found = np.asarray(value, dtype=np.float64)
    # Not <: NaN must be refused too.
    if not np.all((found >= 0) & (found <= 1)):
        raise InputError(f"{what} must be a probability from 0 to 1.")
    return found
