"""Domains that a token reaches: plain numbers and arrays agree, and so does counting."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeline.cost.routing import expected_domains
from ridgeline.model.work import Routing


@given(
    experts=st.sampled_from([8, 64, 128, 256]),
    top_k=st.floats(1, 8),
    domains=st.sampled_from([1, 2, 4, 9, 18, 64, 288]),
)
def test_plain_numbers_equal_arrays(experts, top_k, domains):
    routing = Routing(top_k=top_k, num_experts=experts)
    array = expected_domains(routing, np.array([domains, domains]))
    assert float(expected_domains(routing, domains)) == pytest.approx(float(array[1]), rel=1e-12)


def test_counted_over_every_choice():
    """3 of 8 experts over 4 parts of 2: the mean number of parts over all 56 choices."""
    reached = [len({e // 2 for e in chosen}) for chosen in itertools.combinations(range(8), 3)]
    found = expected_domains(Routing(top_k=3, num_experts=8), 4)
    assert float(found) == pytest.approx(sum(reached) / len(reached))
