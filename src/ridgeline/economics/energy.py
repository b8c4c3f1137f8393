"""Energy: joules and dollars of electricity per token."""

from __future__ import annotations

from ridgeline.model.work import Number

J_PER_KWH = 3.6e6


def energy_per_token(
    *, power_w: Number, pue: Number, tokens_per_s: Number, utilisation: Number
) -> Number:
    """Return the facility energy behind one token [J/token].

    A device that waits still draws power, so the stated utilisation divides:

        E = P·PUE / (u·tokens/s)

    Args:
        power_w: Mean draw per device with its share of the server.
        pue: Facility power over IT power.
        tokens_per_s: Tokens per second per device when busy.
        utilisation: Share of the capacity that is sold, 0 < u ≤ 1.

    Source: first principles.

    >>> energy_per_token(power_w=1000.0, pue=1.2, tokens_per_s=600.0, utilisation=0.5)
    4.0
    """
    return power_w * pue / (tokens_per_s * utilisation)


def energy_usd_per_mtok(*, energy_j_per_token: Number, usd_per_kwh: Number) -> Number:
    """Return the electricity bill of a million tokens [USD/Mtok].

    Source: first principles (1 kWh = 3.6 MJ).

    >>> energy_usd_per_mtok(energy_j_per_token=3.6, usd_per_kwh=0.1)
    0.1
    """
    return energy_j_per_token * 1e6 / J_PER_KWH * usd_per_kwh
