"""Published GEMMs as operations."""

import numpy as np
import pytest

from ridgeline.study.resolve import open_catalog
from ridgeline.validate.eager import eager_call_s
from ridgeline.validate.gemm_rows import drawn_groups


def test_half_of_the_groups_of_one_row_are_empty():
    # floor(u) is 1 for the half of 0.7 to 1.3 above 1; floor(2u) is 1 below 1 and 2 above.
    touched, rows = drawn_groups(np.array([1.0, 2.0, 1000.0]))
    assert touched == pytest.approx([0.5, 1.0, 1.0], abs=0.01)
    assert rows == pytest.approx([1.0, 1.5, 999.5], rel=0.01)


def test_a_stack_has_its_own_host_time():
    catalog = open_catalog(None)
    assert eager_call_s("gemm", catalog.device("mi210")) == 34e-6
    assert eager_call_s("gemm", catalog.device("a100-sxm-80")) == 21e-6
