"""Does it fit? Infeasible is a value, not an exception."""

from __future__ import annotations

from dataclasses import dataclass

from ridgeline.units import human


@dataclass(frozen=True, slots=True, kw_only=True)
class Fits:
    """Everything fits on every device."""

    spare_bytes: float
    """What is left on one device [B]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TooBig:
    """It does not fit."""

    needed_bytes: float
    available_bytes: float
    largest_part: str

    def sentence(self, what: str) -> str:
        """Return the reason for people."""
        return (
            f"{what} needs {human(self.needed_bytes, 'B')} per device of"
            f" {human(self.available_bytes, 'B')} usable (largest part: {self.largest_part})"
        )


def fit(parts_bytes: dict[str, float], available_bytes: float) -> Fits | TooBig:
    """Compare the named parts on one device with what is usable there [B].

    >>> fit({"weights": 10.0}, 16.0)
    Fits(spare_bytes=6.0)
    """
    needed = sum(parts_bytes.values())
    if needed <= available_bytes:
        return Fits(spare_bytes=available_bytes - needed)
    return TooBig(
        needed_bytes=needed,
        available_bytes=available_bytes,
        largest_part=max(parts_bytes, key=lambda k: parts_bytes[k]),
    )
