"""The lecture's pictures as curves, chapter by chapter."""

from __future__ import annotations

from ridgeline.study.lecture_claims.picture import Picture
from ridgeline.study.lecture_claims.pictures_prices import price_pictures
from ridgeline.study.lecture_claims.pictures_serving import serving_pictures


def lecture_figures() -> tuple[Picture, ...]:
    """Return the pictures in the order of the lecture."""
    return (*serving_pictures(), *price_pictures())
