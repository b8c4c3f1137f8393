"""Token cost, break-even and DeepSeek's published day."""

import pytest

from ridgeline.economics.energy import energy_per_token, energy_usd_per_mtok
from ridgeline.economics.token_cost import (
    break_even_tokens_per_day,
    day_account,
    token_costs,
    usd_per_mtok,
    utilisation_from_load,
)
from ridgeline.errors import InputError


def test_cost_of_a_million_tokens():
    """2 USD/h is 5.556e-4 USD/s; at 1850 tok/s per device and full use 0.3003 USD/Mtok."""
    cost = usd_per_mtok(usd_per_device_hour=2.0, tokens_per_s_per_device=1850.0, utilisation=1.0)
    assert cost == pytest.approx(0.3003, abs=1e-4)


@pytest.mark.parametrize("u", [0.0, -0.1, 1.01, float("nan")])
def test_utilisation_is_checked(u: float):
    with pytest.raises(InputError, match="utilisation must be above 0 and at most 1"):
        usd_per_mtok(usd_per_device_hour=2.0, tokens_per_s_per_device=1.0, utilisation=u)


def test_little():
    """100 requests/s of 1000 tokens at 20 ms fill 2000 seats exactly (practice problem 5)."""
    u = utilisation_from_load(requests_per_s=100.0, output_tokens=1000, tpot_s=0.02, seats=2000)
    assert u == pytest.approx(1.0)


def test_blend_by_pencil():
    """3.6 USD/h, u = 0.5 is 2000 USD per 1e6 s: input 2/tok/s·1000 ...

    prefill 10,000 tok/s -> 0.2; decode 1,000 -> 2.0; cached 1e-6 s -> 0.002 USD/Mtok.
    Mix 6:3:1 -> (6·0.2 + 3·0.002 + 1·2.0)/10 = 0.3206.
    """
    cost = token_costs(
        usd_per_device_hour=3.6,
        prefill_tokens_per_s_per_device=10_000.0,
        decode_tokens_per_s_per_device=1000.0,
        cached_seconds_per_token=1e-6,
        input_tokens=6,
        cached_tokens=3,
        output_tokens=1,
        utilisation=0.5,
    )
    assert cost.input_usd_per_mtok == pytest.approx(0.2)
    assert cost.cached_usd_per_mtok == pytest.approx(0.002)
    assert cost.output_usd_per_mtok == pytest.approx(2.0)
    assert cost.blended_usd_per_mtok == pytest.approx(0.3206)


def test_break_even_is_where_bills_meet():
    tokens = break_even_tokens_per_day(
        usd_per_device_hour=2.5, num_devices=8, price_usd_per_mtok=0.75
    )
    assert tokens / 1e6 * 0.75 == pytest.approx(2.5 * 8 * 24)


def test_energy():
    """700 W at PUE 1.3 over 1820 tok/s at u = 0.5: 1 J/token; 1 Mtok = 0.2778 kWh."""
    joule = energy_per_token(power_w=700.0, pue=1.3, tokens_per_s=1820.0, utilisation=0.5)
    assert joule == pytest.approx(1.0)
    assert energy_usd_per_mtok(energy_j_per_token=joule, usd_per_kwh=0.09) == pytest.approx(0.025)


def test_deepseek_day():
    """Published: cost 87,072 USD, income 562,027 USD, margin 545 % (open-infra-index, day 6).

    The token counts are published to three digits, so income is only good to ±0.5e9 tokens:
    0.07 + 0.275 + 1.1 thousand USD. 266·0.55 + 342·0.14 + 168·2.19 = 562.1 thousand USD.
    """
    day = day_account(
        fresh_tokens=608e9 - 342e9,
        cached_tokens=342e9,
        output_tokens=168e9,
        input_usd_per_mtok=0.55,
        cached_usd_per_mtok=0.14,
        output_usd_per_mtok=2.19,
        nodes=226.75,
        devices_per_node=8,
        usd_per_device_hour=2.0,
    )
    assert day.cost_usd == pytest.approx(87_072)
    assert day.income_usd == pytest.approx(562_027, abs=1445)
    assert day.income_usd == pytest.approx(562_100)
    assert round(day.profit_over_cost * 100) in (545, 546)
