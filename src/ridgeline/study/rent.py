"""What a device-hour costs: the price that is given, else the cluster's own."""

from __future__ import annotations

from ridgeline.errors import InputError
from ridgeline.hardware import Cluster

_MOST_USD = 1e6


def rental_price(given: float | None, cluster: Cluster) -> float | None:
    """Return the rent of a device [USD/h]; None where none is given and none is known.

    Raises:
        InputError: not from 0 to 1e6.
    """
    if given is None:
        return cluster.usd_per_device_hour
    if not 0 <= given <= _MOST_USD:
        raise InputError(f"usd-per-hour must be from 0 to 1e6 USD per device-hour: {given}.")
    return given
