"""What a predictor answers for one published row: a value in the row's unit, or a reason."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ridgeline.cost.efficiency import Efficiency
from ridgeline.cost.network_records import CALIBRATED, NetworkEfficiency
from ridgeline.cost.own_curves import Calibration, with_curves, with_links
from ridgeline.study.deploy import EFFICIENCIES
from ridgeline.validate.truth_rows import TruthRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """One predicted value."""

    value: float
    """In the row's own unit."""
    bound: str = ""
    """The limit with the largest share."""
    family: str = ""
    """What the row is scored with: `gemm bf16`, `decode attention`, `serving tpot` ..."""
    flags: tuple[str, ...] = ()
    p10: float | None = None
    """Low end of the band that `estimate` and `plan` print, from sampled figures; None where the
    quantity is not sampled."""
    p90: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotPredicted:
    """Why a row has no prediction; never counted as an error of zero."""

    reason: str


IMPOSSIBLE = NotPredicted(
    reason="published as faster than the peak arithmetic of its devices: set-up or figure is wrong"
)
_MOST_PEAK = 1.25
"""Of a datasheet peak: cards run above their rated clock, by up to a tenth."""


def is_impossible(published_s: float, peak_s: float) -> bool:
    """Whether a measured time is too short for its arithmetic at the dense peak [s]."""
    return published_s * _MOST_PEAK < peak_s


Answer = Prediction | NotPredicted
Answers = Mapping[str, Answer]
"""By row id."""
Predictor = Callable[[Sequence[TruthRow]], dict[str, Answer]]


_NONE = Calibration()
_OWN: ContextVar[Calibration] = ContextVar("_OWN", default=_NONE)


@contextmanager
def calibrated_by(calibration: Calibration) -> Generator[None]:
    """Predict with the user's own records inside the block, as with `--calibration`."""
    token = _OWN.set(calibration)
    try:
        yield
    finally:
        _OWN.reset(token)


def own_calibration() -> Calibration:
    """Return the user's records that hold here; empty outside `calibrated_by`."""
    return _OWN.get()


def default_efficiency() -> Efficiency:
    """Return the efficiency that predictions use: the shipped one, under the user's own."""
    return with_curves(EFFICIENCIES["calibrated"], own_calibration())


def default_network() -> NetworkEfficiency:
    """Return the network records that predictions use, as `default_efficiency`."""
    return with_links(CALIBRATED, own_calibration())


SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}


def in_unit(seconds: float, unit: str) -> float:
    """Return a time in the unit of a row.

    Raises:
        KeyError: not a unit of time.
    """
    return seconds / SECONDS[unit.strip()]
