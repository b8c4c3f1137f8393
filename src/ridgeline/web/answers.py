"""From a question's name and body to a status and JSON; every fault becomes a sentence."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import ValidationError

from ridgeline.errors import InfeasibleError, RidgelineError, UnknownNameError, UnsupportedError
from ridgeline.web.jobs import Answer, refusal
from ridgeline.web.questions import QUESTIONS, Question, Tell
from ridgeline.web.schemas import Request

_FIELDS_OF = {
    "gpu-memory-utilization": "memory_share", "usd-per-hour": "usd_per_device_hour",
    "ttft-ms": "ttft_s", "tpot-ms": "tpot_s", "draft-cost": "draft_cost",
    "--racks": "num_racks", "--ratio": "ratios", "rental price": "usd_per_device_hour",
}  # fmt: skip
"""Words of the command line to fields of a body."""
_FIELDS_OF_KIND = {"model": "model", "cluster": "on", "device": "on", "price of": "model"}


def answer(name: str, body: str, tell: Tell) -> Answer:
    """Return the answer to a question as an HTTP status and JSON."""
    question = QUESTIONS[name]
    try:
        request = question.schema.model_validate_json(body)
        return 200, _answer(question, request, tell)
    except ValidationError as error:  # the server's own check passed it
        return refusal(422, "input", str(error)[:500])
    except RidgelineError as error:
        return 422, json.dumps({"detail": [_detail(error, question.schema)]}).encode()
    except MemoryError:
        return refusal(422, "too_large", "The question needs more memory than one may use.")
    except Exception as error:  # noqa: BLE001 - a defect is said, never shown as a traceback
        words = " ".join(str(error).split())[:200]
        return refusal(
            500, "defect", f"A defect in ridgeline, not an answer: {type(error).__name__}: {words}"
        )


def _answer(question: Question, request: Request, tell: Tell) -> bytes:
    call = question.call(request)
    more = {"progress": question.progress(tell)} if question.long else {}
    document = {
        **question.document(request, call.run(**more)),
        "cli": question.command(request),
        "python": call.python(),
    }
    return json.dumps(document, allow_nan=False, default=str).encode()


def _detail(error: RidgelineError, schema: type[Request]) -> dict[str, Any]:
    kinds = {InfeasibleError: "infeasible", UnsupportedError: "unsupported"}
    kind = next((word for k, word in kinds.items() if isinstance(error, k)), "input")
    detail: dict[str, Any] = {"loc": ["body"], "msg": str(error), "type": kind}
    if isinstance(error, UnknownNameError):
        detail |= {"type": "unknown_name", "nearest": list(error.nearest)}
    field = None if kind == "infeasible" else _field(error, schema)
    return detail if field is None else {**detail, "loc": ["body", field]}


def _field(error: RidgelineError, schema: type[Request]) -> str | None:
    """Return the field that a sentence names first, as itself or as its flag."""
    text = str(error)
    fields = schema.model_fields
    if isinstance(error, UnknownNameError):
        for kind, field in _FIELDS_OF_KIND.items():
            if text.startswith(f"No {kind} "):
                other = {"model": "name", "on": "name"}
                return next((f for f in (field, other.get(field), "price") if f in fields), None)
        return next((f for f in ("claim", "which", "name") if f in fields), None)
    names = {f: f for f in fields} | {f.replace("_", "-"): f for f in fields} | _FIELDS_OF
    found = [
        (match.start(), field)
        for word, field in names.items()
        if field in fields and (match := re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text))
    ]
    return min(found)[1] if found else None
