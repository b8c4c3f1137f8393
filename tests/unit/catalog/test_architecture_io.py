"""Architectures as plain data and back."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeline.catalog import Catalog
from ridgeline.catalog.architecture_io import dump_architecture, load_architecture
from ridgeline.errors import InputError
from ridgeline.model.params import count_parameters

CATALOG = Catalog()
NAMES = sorted(CATALOG.entries("models"))
JUNK = st.sampled_from([None, -1, float("nan"), 1e300, 10**30, "x", [], {}, True, [[]], 0.5])


@pytest.mark.parametrize("name", NAMES)
def test_every_model_loads_and_dumps_to_itself(name):
    plain = CATALOG.entry("models", name)["architecture"]
    arch = load_architecture(plain)
    assert dump_architecture(arch) == plain
    assert count_parameters(arch).num_params > 0


def test_known_counts():
    """Published exact totals: Llama 3 70B 70,553,706,496; DeepSeek-V3 671,026,404,352."""
    for name, total in (("llama-3.3-70b", 70_553_706_496), ("DeepSeek-V3", 671_026_404_352)):
        assert count_parameters(CATALOG.architecture(name)).num_params == total


def _places(node, path=()):
    yield path
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, item in items:
        if isinstance(item, dict | list):
            yield from _places(item, (*path, key))
        else:
            yield (*path, key)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_mutations_are_loaded_or_refused_with_their_path(data):
    """Nothing but an InputError comes out of a damaged entry."""
    plain = copy.deepcopy(CATALOG.entry("models", "deepseek-v3")["architecture"])
    path = data.draw(st.sampled_from([p for p in _places(plain) if p]))
    node = plain
    for key in path[:-1]:
        node = node[key]
    if data.draw(st.booleans()):
        node[path[-1]] = data.draw(JUNK)
    else:
        del node[path[-1]]
    try:
        arch = load_architecture(plain)
    except InputError as error:
        assert str(error).startswith("architecture")  # noqa: PT017 - raising is optional here
    else:
        json.dumps(dump_architecture(arch), allow_nan=False)


def test_unknown_fields_are_refused():
    plain = {**CATALOG.entry("models", "gpt2")["architecture"], "num_hedas": 3}
    with pytest.raises(InputError, match="no field 'num_hedas'"):
        load_architecture(plain)
