"""The same words everywhere: keys that leave the program are defined once."""

from ridgeline.glossary import TERMS
from ridgeline.study.estimate import estimate


def test_keys_of_an_estimate_are_defined():
    """Every column and derived figure has a label, a unit and a meaning."""
    result = estimate("qwen3-8b", on="h100-sxm", batch=1)
    keys = {*result.rows, *result.derived}
    assert keys - set(TERMS) == set()
    assert all(t.label and t.meaning for t in TERMS.values())


def test_units_stand_in_the_key():
    """A key ends in the unit that its term states."""
    endings = {"s": "_s", "USD/1e6 token": "usd_per_mtok", "B/token": "bytes_per_token"}
    for key, term in TERMS.items():
        if term.unit in endings:
            assert key.endswith(endings[term.unit]), key
