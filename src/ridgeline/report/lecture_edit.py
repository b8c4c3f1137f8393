"""An edited or answered claim as plain data; computes nothing."""

from __future__ import annotations

from typing import Any

from ridgeline.report.lecture import SCHEMA_VERSION, value_json


def recomputed_json(result: Any, work: Any, stated_value: Any) -> dict[str, Any]:
    """Return an edited value: what the lecture states, what now comes out, and how."""
    done = work(result.value.check)
    return {
        "schema_version": SCHEMA_VERSION,
        "claim": result.claim.id,
        "value": result.index,
        **value_json(result.value, work, stated_value),
        "substituted": done.substituted or None,
        "changed": list(result.changed),
    }


def marked_json(result: Any, work: Any, stated_value: Any) -> dict[str, Any]:
    """Return a marked answer and the value it was compared with."""
    return {
        "schema_version": SCHEMA_VERSION,
        "claim": result.claim.id,
        "value": result.index,
        **value_json(result.value, work, stated_value),
        "mark": result.mark,
        "given": result.given,
        "why": result.why or None,
    }
