"""The rent behind margins."""

import pytest

from ridgeline.errors import InputError
from ridgeline.study.serving_cost import serving_costs


def test_a_rent_of_nothing_is_refused():
    """A cost of 0 has no ratio to a price."""
    with pytest.raises(InputError, match="usd-per-hour must be at least 1e-06"):
        serving_costs(
            "llama-3.3-70b",
            on="hgx-h100-8",
            contexts=[4096],
            speed=20.0,
            question={"usd_per_device_hour": 0.0},
        )


def test_the_cheaper_of_two_layouts_is_priced():
    """With tp 8 the latent is kept eight times, with dp 8 once: more sequences fit."""
    ask = {"model": "deepseek-v3", "on": "hgx-h200-8", "contexts": [8192], "speed": 20.0}
    best = serving_costs(**ask, question={})
    tp = serving_costs(**ask, question={"tp": 8, "ep": 8})
    dp = serving_costs(**ask, question={"tp": 1, "dp": 8, "ep": 8})
    assert best.rows == dp.rows
    assert best.rows[0].output_usd_per_mtok < tp.rows[0].output_usd_per_mtok
    assert best.flags[0].startswith("layout: the cheapest output at 8,192 tokens of tp 8 ep 8 ")


def test_a_degree_that_is_asked_for_stays():
    costs = serving_costs(
        "deepseek-v3", on="hgx-h200-8", contexts=[8192], speed=20.0, question={"tp": 8}
    )
    assert costs.request["layout"]["tp"] == 8
    assert not costs.flags[0].startswith("layout")
