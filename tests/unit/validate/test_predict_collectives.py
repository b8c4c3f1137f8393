"""Published rates of expert exchanges, against bytes counted by hand."""

import math
from dataclasses import replace

import pytest

from made_rows import made_row
from ridgeline.validate.predict_collectives import predict_collectives
from ridgeline.validate.prediction import Prediction

HIDDEN, TOKENS, TOP_K, EXPERTS = 7168, 4096, 8, 256


def _predicted(metric: str, unit: str, ranks: int) -> float:
    cells = {"n_chips": str(ranks), "batch": str(TOKENS), "compute_dtype": "bf16"}
    row = replace(made_row(metric, chip="H800 SXM", engine="DeepEP", **cells), unit=unit)
    answer = predict_collectives([row])["1"]
    assert isinstance(answer, Prediction)
    return answer.value


@pytest.mark.parametrize(("ranks", "units"), [(8, 8), (16, 2), (64, 8)])
def test_a_rate_counts_every_unit_a_token_goes_to_its_own_too(ranks, units):
    seconds = _predicted("dispatch_latency", "us", ranks) * 1e-6
    rate = _predicted("dispatch_bottleneck_bandwidth", "GB/s", ranks) * 1e9
    # Units (ranks of one host, or hosts) that hold at least one of a token's 8 experts.
    missed = math.comb(EXPERTS - EXPERTS // units, TOP_K) / math.comb(EXPERTS, TOP_K)
    copies = units * (1 - missed)
    assert rate * seconds == pytest.approx(TOKENS * copies * HIDDEN * 2, rel=0.01)
