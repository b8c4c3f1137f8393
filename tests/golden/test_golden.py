"""Whole studies give the recorded figures to nine digits."""

import json
from pathlib import Path

import pytest

from golden.studies import measured

RECORDED = Path(__file__).with_name("recorded.json")


def test_figures_are_as_recorded():
    """`python dev/record_golden.py` records new ones; the changelog says why they moved."""
    recorded = json.loads(RECORDED.read_text())
    now = measured()
    assert set(now) == set(recorded)
    moved = [
        f"{name}: {key} {recorded[name].get(key)} -> {value}"
        for name, figures in now.items()
        for key, value in figures.items()
        if value != pytest.approx(recorded[name].get(key), rel=1e-9)
    ]
    assert moved == []
