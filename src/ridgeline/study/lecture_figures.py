"""The lecture's pictures as curves, chapter by chapter."""

from __future__ import annotations

from collections.abc import Collection

from ridgeline.errors import InputError
from ridgeline.study.lecture_claims.picture import Picture
from ridgeline.study.lecture_claims.pictures_prices import price_pictures
from ridgeline.study.lecture_claims.pictures_serving import serving_pictures


def lecture_figures(claims: Collection[str] | None = None) -> tuple[Picture, ...]:
    """Return the pictures of these claims, or all, in the order of the lecture.

    Raises:
        InputError: none of the claims has a picture.
    """
    pictures = (*serving_pictures(), *price_pictures())
    chosen = tuple(one for one in pictures if claims is None or one.id in claims)
    if not chosen:
        names = ", ".join(one.id for one in pictures)
        raise InputError(f"--plot needs a claim with a picture; these have one: {names}.")
    return chosen
