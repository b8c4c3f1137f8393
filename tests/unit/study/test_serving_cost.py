"""The rent behind margins."""

import pytest

from ridgeline.errors import InputError
from ridgeline.study.estimate import estimate
from ridgeline.study.serving_cost import prefill_costs, serving_costs


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


def test_long_prompts_are_computed_in_chunks():
    """Two whole prompts of 128k fit, and leave six of eight groups without work.

    Eight of them would take one step of the same length: chunks cost that much, and for the
    weights read again and the tokens that ride along at most 15 % more.
    """
    ask = {"on": "hgx-h200-8", "question": {"tp": 1, "dp": 8, "ep": 8}}
    (short, long) = prefill_costs("deepseek-v3", contexts=[32_768, 131_072], **ask)
    whole = estimate(
        "deepseek-v3", on="hgx-h200-8", batch=[2, 8], context=131_072, phase="prefill",
        **ask["question"],
    ).rows  # fmt: skip
    assert list(whole["fits"]) == [True, False]
    assert (short.chunk, long.chunk, long.batch) == (0, 2048, 8)
    assert 1.0 < long.usd_per_mtok / whole["usd_per_mtok"][1] < 1.15
    assert long.usd_per_mtok < whole["usd_per_mtok"][0] / 3


def test_contexts_left_out_are_not_called_shown():
    costs = serving_costs(
        "deepseek-v3", on="hgx-h200-8", contexts=[8192, 262_144], speed=20.0, question={"tp": 8}
    )
    assert any("are left out" in f for f in costs.flags)
    assert not any("are shown" in f for f in costs.flags)
