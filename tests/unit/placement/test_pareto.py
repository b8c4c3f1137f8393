"""The front is exactly the points that nothing beats."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ridgeline.placement.pareto import pareto_front

# Small integers: many ties.
points = st.integers(1, 40).flatmap(
    lambda n: arrays(np.float64, (2, n), elements=st.integers(0, 9))
)


def beats(a, b) -> bool:
    return bool((a >= b).all() and (a > b).any())


@given(points)
def test_no_point_of_the_front_is_beaten_and_every_dropped_one_is_or_has_a_twin(p):
    front = pareto_front(p[0], p[1])
    kept = p[:, front].T
    for i, point in enumerate(p.T):
        if i in front:
            assert not any(beats(other, point) for other in p.T)
        else:
            assert any(beats(k, point) or (k == point).all() for k in kept)
    assert (np.diff(p[0][front]) < 0).all()
    assert (np.diff(p[1][front]) > 0).all()
