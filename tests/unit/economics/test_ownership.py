"""Ownership: capital, power, hosting and opex per device-hour."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeline.economics.ownership import (
    HOURS_PER_YEAR,
    Ownership,
    annuity_factor,
    ownership_cost,
)


def test_annuity_repays_with_interest():
    """I = 10 %, 2 years: 1 = a/1.1 + a/1.21, so a = 1/(0.90909 + 0.82645) = 0.57619."""
    assert annuity_factor(0.1, 2.0) == pytest.approx(0.576190, abs=1e-6)
    assert annuity_factor(0.0, 4.0) == pytest.approx(0.25)


def test_published_system_costs():
    """H100 at 50,000 USD and GB200 at 70,000 USD over 3 years, opex 20 % of the payback.

    50,000/(3·8766) = 1.901, ×1.2 = 2.28 (published 2.3); 70,000: 2.662 ×1.2 = 3.19 (3.2).
    """
    for capex, published in ((50_000.0, 2.3), (70_000.0, 3.2)):
        owner = Ownership(capex_usd=capex, life_years=3.0, opex_fraction_per_year=0.2 / 3)
        assert ownership_cost(owner).total_usd_per_hour == pytest.approx(published, abs=0.05)


def test_power_and_hosting_by_pencil():
    """1 kW, PUE 1.25, 0.08 USD/kWh: 0.10 USD/h; 146.1 USD/kW-month over 730.5 h: 0.20 USD/h."""
    cost = ownership_cost(
        Ownership(
            capex_usd=0.0,
            life_years=4.0,
            power_w=1000.0,
            pue=1.25,
            usd_per_kwh=0.08,
            hosting_usd_per_kw_month=146.1,
        )
    )
    assert cost.energy_usd_per_hour == pytest.approx(0.10)
    assert cost.hosting_usd_per_hour == pytest.approx(0.20)
    assert cost.total_usd_per_hour == pytest.approx(0.30)


@given(
    capex=st.floats(1e3, 1e6),
    life=st.floats(1, 10),
    rate=st.floats(0.001, 0.3),
    residual=st.floats(0, 0.9),
)
def test_payments_repay_capex(capex: float, life: float, rate: float, residual: float):
    """Present value of the yearly payments plus the residual equals capex."""
    years = int(life)
    cost = ownership_cost(
        Ownership(
            capex_usd=capex,
            life_years=float(years),
            cost_of_capital=rate,
            residual_fraction=residual,
        )
    )
    yearly = float(cost.capital_usd_per_hour) * HOURS_PER_YEAR
    value = sum(yearly / (1 + rate) ** n for n in range(1, years + 1))
    value += residual * capex / (1 + rate) ** years
    assert value == pytest.approx(capex, rel=1e-9)


def test_broadcasts():
    cost = ownership_cost(Ownership(capex_usd=np.array([1e4, 2e4]), life_years=4.0))
    assert np.shape(cost.total_usd_per_hour) == (2,)
