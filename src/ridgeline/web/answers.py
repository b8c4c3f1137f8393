"""From a question's name and body to a status and JSON; every fault becomes a sentence."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import ValidationError

from ridgeline.errors import InfeasibleError, RidgelineError, UnknownNameError, UnsupportedError
from ridgeline.web.jobs import Answer, refusal
from ridgeline.web.questions import QUESTIONS, Question, Tell
from ridgeline.web.schemas import Request, Served

_FIELDS_OF = {
    "gpu-memory-utilization": "memory_share", "usd-per-hour": "usd_per_device_hour",
    "ttft-ms": "ttft_s", "tpot-ms": "tpot_s", "draft-cost": "draft_cost",
    "--racks": "num_racks", "--ratio": "ratios", "rental price": "usd_per_device_hour",
    "fast": "fast_ratio",
}  # fmt: skip
"""Words of the command line to fields of a body."""
_FIELDS_OF_KIND = {
    "model": ("model", "name"), "cluster": ("on", "name"), "device": ("on", "name"),
    "price of": ("price", "provider_price", "model"), "claim": ("claim", "which"),
    "price": ("name",), "service day": ("name",),
}  # fmt: skip
_PLAIN_WORDS = {"on", "model", "name", "value", "load", "parts", "config", "date", "rate", "price"}


def answer(name: str, body: str, tell: Tell) -> Answer:
    """Return the answer to a question as an HTTP status and JSON."""
    question = QUESTIONS[name]
    try:
        request = question.schema.model_validate_json(body)
    except ValidationError as error:  # the server's own check passed it
        return refusal(422, "input", str(error)[:500])
    try:
        return 200, _answer(question, request, tell)
    except RidgelineError as error:
        return 422, json.dumps({"detail": [_detail(error, request)]}).encode()
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


def _detail(error: RidgelineError, request: Request) -> dict[str, Any]:
    kinds = {InfeasibleError: "infeasible", UnsupportedError: "unsupported"}
    kind = next((word for k, word in kinds.items() if isinstance(error, k)), "input")
    detail: dict[str, Any] = {"loc": ["body"], "msg": str(error), "type": kind}
    if isinstance(error, UnknownNameError):
        detail |= {"type": "unknown_name", "nearest": list(error.nearest)}
    if isinstance(error, InfeasibleError) and error.relax:
        detail["relax"] = error.relax
    field = None if kind == "infeasible" else _field(error, request)
    return detail if field is None else {**detail, "loc": ["body", field]}


def _field(error: RidgelineError, request: Request) -> str | None:
    """Return the field that a sentence names first, as itself or as its flag."""
    text = str(error)
    fields = type(request).model_fields
    if isinstance(error, UnknownNameError):
        kind = text.removeprefix("No ").partition(" '")[0]
        return next((f for f in _FIELDS_OF_KIND.get(kind, ()) if f in fields), None)
    if isinstance(request, Served) and request.config and text.startswith(f"{request.name}: "):
        return "config"
    names = {f: f for f in fields} | {f.replace("_", "-"): f for f in fields} | _FIELDS_OF
    found = [
        (match.start(), field)
        for word, field in names.items()
        if field in fields and (match := _named(word, text))
    ]
    return min(found)[1] if found else None


def _named(word: str, text: str) -> re.Match[str] | None:
    """Return where a sentence names a field; a plain word must begin it, be quoted or a flag."""
    if word in _PLAIN_WORDS:
        return re.search(rf"^{word} (?:must|can)|`{word}`|--{word}(?![\w-])", text)
    return re.search(rf"(?<![\w-])(?:--)?{re.escape(word)}(?![\w-])", text, re.IGNORECASE)
