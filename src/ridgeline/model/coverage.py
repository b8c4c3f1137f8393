"""How many experts a batch touches: the weights a mixture-of-experts step really reads."""

from __future__ import annotations

import numpy as np

from ridgeline.model.work import Number


def expected_experts_touched(num_experts: Number, num_chosen: Number, tokens: Number) -> Number:
    """Return the expected number of distinct experts that `tokens` tokens visit [expert].

    Each token picks k distinct experts of n, all equally likely, independently of the others:

        E = n (1 − (1 − k/n)^B)

    computed as −n·expm1(B·log1p(−k/n)), which keeps all digits when k/n or B·k/n is small.

    Args:
        num_experts: n, all experts of the layer.
        num_chosen: k per token (a mean, when some choices have no weights); k ≤ n.
        tokens: B; may be fractional. 0 touches none.

    Source: first principles (linearity of expectation); lecture C2, simplification S5.

    >>> round(float(expected_experts_touched(256, 8, 32)), 2)
    163.31
    """
    share = np.minimum(np.asarray(num_chosen) / num_experts, 1.0)
    # k = n touches everything from the first token on: log1p(-1) is -inf by design, so use a
    # log so small that exp underflows, without a warning.
    log_missed = np.log1p(-np.minimum(share, 1.0 - 2.0**-53))
    missed = np.exp(tokens * np.where(share >= 1.0, -745.2, log_missed))
    touched = -num_experts * np.expm1(tokens * log_missed)
    return np.where(share >= 1.0, num_experts * (1.0 - missed), touched)
