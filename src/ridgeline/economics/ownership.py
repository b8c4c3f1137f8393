"""What a device-hour costs its owner: capital, power, hosting and staff."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgeline.model.work import Number

HOURS_PER_YEAR = 8766.0
"""365.25 days of 24 hours."""
HOURS_PER_MONTH = HOURS_PER_YEAR / 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """The assumptions of an owner; one device with its share of the system."""

    capex_usd: Number
    """All-in purchase per device: server, network, storage, installation."""
    life_years: Number
    """Economic life over which capex is recovered."""
    residual_fraction: Number = 0.0
    """Resale value at the end of life, as a share of capex."""
    cost_of_capital: Number = 0.0
    """Interest per year, e.g. 0.08."""
    power_w: Number = 0.0
    """Mean draw per device with its share of the server, before PUE."""
    pue: Number = 1.0
    """Facility power over IT power."""
    usd_per_kwh: Number = 0.0
    hosting_usd_per_kw_month: Number = 0.0
    """Colocation, per kW of IT power."""
    opex_fraction_per_year: Number = 0.0
    """Maintenance, software and staff, as a share of capex per year."""
    availability: Number = 1.0
    """Share of the hours of a year in which the device can serve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnershipCost:
    """USD per available device-hour, by cause; the parts sum to the total."""

    capital_usd_per_hour: Number
    energy_usd_per_hour: Number
    hosting_usd_per_hour: Number
    opex_usd_per_hour: Number

    @property
    def total_usd_per_hour(self) -> Number:
        """Sum of the parts [USD/h]."""
        return (
            self.capital_usd_per_hour
            + self.energy_usd_per_hour
            + self.hosting_usd_per_hour
            + self.opex_usd_per_hour
        )


def annuity_factor(cost_of_capital: Number, life_years: Number) -> Number:
    """Return the yearly payment that repays one dollar over a life [1/year].

        a = i / (1 − (1 + i)^−n),   a → 1/n as i → 0

    Source: first principles.

    >>> round(float(annuity_factor(0.1, 2.0)), 4)
    0.5762
    """
    i = np.asarray(cost_of_capital, dtype=np.float64)
    n = np.asarray(life_years, dtype=np.float64)
    safe = np.where(i > 0, i, 1.0)
    return np.where(i > 0, safe / (1.0 - (1.0 + safe) ** -n), 1.0 / n)


def ownership_cost(owner: Ownership) -> OwnershipCost:
    """Return what an available device-hour costs, by cause [USD/h].

    Capex less the present value of the residual is repaid in equal yearly sums:

        capital = a·(1 − r·(1 + i)^−n)·capex / (hours·availability)

    Power, hosting and opex run in all hours, available or not.

    Args:
        owner: Assumptions; any field may be an array.

    Source: first principles; defaults in the catalogue carry their own sources.
    """
    hours = HOURS_PER_YEAR * owner.availability
    discount = (1.0 + owner.cost_of_capital) ** (-1.0 * owner.life_years)
    capital_per_year = (
        annuity_factor(owner.cost_of_capital, owner.life_years)
        * owner.capex_usd
        * (1.0 - owner.residual_fraction * discount)
    )
    kilowatt = owner.power_w / 1000.0
    return OwnershipCost(
        capital_usd_per_hour=capital_per_year / hours,
        energy_usd_per_hour=kilowatt * owner.pue * owner.usd_per_kwh / owner.availability,
        hosting_usd_per_hour=kilowatt
        * owner.hosting_usd_per_kw_month
        / HOURS_PER_MONTH
        / owner.availability,
        opex_usd_per_hour=owner.opex_fraction_per_year * owner.capex_usd / hours,
    )
