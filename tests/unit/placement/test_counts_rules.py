"""Counts that cannot be summed are refused."""

import numpy as np
import pytest

from ridgeline.errors import InputError
from ridgeline.readers.routing import read_routing
from ridgeline.study.plan import plan
from ridgeline.study.racks import racks


@pytest.mark.parametrize("value", [np.nan, np.inf, -2.0, 1e300])
def test_counts_out_of_range(tmp_path, value):
    path = tmp_path / "counts.npy"
    np.save(path, np.array([[1.0, value], [2.0, 3.0]]))
    with pytest.raises(InputError, match="finite, at least 0 and at most"):
        read_routing(path, num_ranks=2)


def test_pickles_are_refused_without_advice_to_load_them(tmp_path):
    path = tmp_path / "counts.npy"
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="plain numbers"):
        read_routing(path, num_ranks=2)


def test_zero_is_not_a_missing_number():
    with pytest.raises(InputError, match="at least 2 devices"):
        racks("deepseek-v3", on="gb200-nvl72", devices_per_rack=0)
    with pytest.raises(InputError, match="2\\^27"):
        racks("deepseek-v3", on="gb200-nvl72", tokens_per_device=2**40)
    with pytest.raises(InputError, match="max-pp"):
        plan("llama-3.1-8b", on="hgx-h100-8", isl=10, osl=10, max_pp=0)
