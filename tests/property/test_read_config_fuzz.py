"""Whatever a config says: an architecture with sane counts, or an error for people, in no time."""

import copy
import math
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from ridgeline.errors import InputError, RidgelineError
from ridgeline.model.params import count_parameters
from ridgeline.readers import read_config, read_model
from small_configs import SMALL, small

WEIRD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.sampled_from([0, 1, -1, 2**31, 2**63, 10_001, 1e308, math.inf, -math.inf, math.nan, 0.5]),
    st.text(max_size=8),
    st.lists(st.one_of(st.none(), st.integers(-3, 10), st.text(max_size=3)), max_size=6),
    st.dictionaries(st.text(max_size=4), st.integers(-3, 3), max_size=3),
)
FAMILIES = sorted(SMALL)


def read_or_refuse(config: dict[str, Any]) -> None:
    try:
        arch = read_config(config, name="fuzz")
        counts = count_parameters(arch)
    except RidgelineError as error:
        message = str(error)
    else:
        message = ""
    if message:
        assert len(message) > 20
        return
    assert isinstance(counts.num_params, int)
    assert 0 <= counts.num_params < 10**19
    assert 0 <= counts.num_active_params <= counts.num_params
    assert sum(counts.num_params_by_component.values()) == counts.num_params
    assert arch.num_layers <= 20_000


@settings(max_examples=400, deadline=2000, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_one_weird_value(data: st.DataObject) -> None:
    """One key of a sound config replaced, removed, or added."""
    config = small(data.draw(st.sampled_from(FAMILIES)))
    key = data.draw(st.sampled_from([*config, "num_experts", "layer_types", "sliding_window"]))
    if data.draw(st.booleans()):
        config[key] = data.draw(WEIRD)
    else:
        config.pop(key, None)
    read_or_refuse(config)


@settings(max_examples=200, deadline=2000, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_many_weird_values(data: st.DataObject) -> None:
    """Several keys at once, and keys of one family under the name of another."""
    config = small(data.draw(st.sampled_from(FAMILIES)))
    config["model_type"] = data.draw(st.sampled_from([*FAMILIES, "unheard_of", "llava", "gemma4"]))
    for key in data.draw(st.lists(st.sampled_from(sorted(config)), max_size=5)):
        config[key] = data.draw(WEIRD)
    read_or_refuse(config)


@settings(max_examples=150, deadline=2000, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_weird_nested_parts(data: st.DataObject) -> None:
    """Language and vision parts of a multimodal config that are not what they should be."""
    text = small(data.draw(st.sampled_from(FAMILIES)))
    config: dict[str, Any] = {
        "model_type": data.draw(st.sampled_from(["llava", "mistral3", "qwen3_vl", "gemma3"])),
        "text_config": data.draw(st.one_of(st.just(text), WEIRD)),
        "vision_config": data.draw(
            st.one_of(
                WEIRD,
                st.dictionaries(
                    st.sampled_from(["hidden_size", "depth", "image_size", "model_type"]), WEIRD
                ),
            )
        ),
    }
    read_or_refuse(copy.deepcopy(config))


@given(text=st.text(max_size=200))
def test_any_text(text: str) -> None:
    """Text that is not a config."""
    with pytest.raises(RidgelineError):
        read_model("{" + text)


@pytest.mark.parametrize(
    "text",
    [
        '{"model_type": "llama", "hidden_size": NaN}',
        '{"model_type": "llama", "model_type": "gpt2"}',
        "{" * 100_000,
        '{"a":' * 50_000 + "1" + "}" * 50_000,
        '{"model_type": "llama", "x": ' + "[" * 60 + "]" * 60 + "}",
        '{"model_type": "llama", "hidden_size": Infinity}',
        '{"model_type": "llama", "hidden_size": 1' + "0" * 5000 + "}",
    ],
    ids=["nan", "twice", "open", "deep object", "deep list", "infinity", "digits"],
)
def test_hostile_text(text: str) -> None:
    """Not JSON, or JSON that no config is."""
    with pytest.raises(InputError):
        read_model(text)
