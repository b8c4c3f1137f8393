"""An explained benchmark as text or JSON."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import Any

from ridgeline.report.estimate import finite, layout_text
from ridgeline.report.flags import flag_lines
from ridgeline.report.table import MAX_WIDTH, Column, Style, render_table
from ridgeline.units import human, significant

SCHEMA_VERSION = "1"
DEFINITIONS = {
    "mfu": "FLOP of all work, prompts included / (time × dense peak of all devices)",
    "decode_mfu": "FLOP of a decode step / (time of a step × dense peak)",
    "decode_mbu": "bytes a decode step must move / (time of a step × memory bandwidth)",
    "tpot_s": "(last - first token time) / (output tokens - 1), per request",
    "ttft_s": "arrival to first output token, queueing included",
    "decoding": "requests decoding at a time: requests/s × (osl - 1) × TPOT (Little's law)",
    "ideal": "datasheet peaks, free messages, nothing from the engine: nobody beats it",
    "predicted": "fitted kernels, networks and engine at the same concurrency",
}
_COMPARED = (
    Column(key="what", label="", align="left"),
    Column(key="measured", label="measured"),
    Column(key="predicted", label="predicted"),
    Column(key="ideal", label="roofline"),
    Column(key="gap", label="measured / predicted"),
    Column(key="distance", label="measured / roofline"),
)
_LIMITS = (
    Column(key="name", label="where the time of a token goes", align="left"),
    Column(key="predicted_ms", label="predicted ms"),
    Column(key="share", label="share %"),
    Column(key="scaled_ms", label="of the measured ms"),
)
_CHANGES = (
    Column(key="name", label="what would help", align="left", wrap=True),
    Column(key="flag", label="try it with", align="left"),
    Column(key="throughput", label="tok/s/device"),
    Column(key="gain", label="gain %"),
    Column(key="tpot_ms", label="TPOT ms"),
    Column(key="tpot_gain", label="TPOT %"),
)
_RUNS = (
    Column(key="run", label="run"),
    Column(key="concurrency", label="concurrency"),
    Column(key="isl", label="ISL"),
    Column(key="osl", label="OSL"),
    Column(key="ttft_ms", label="TTFT ms"),
    Column(key="tpot_ms", label="TPOT ms"),
    Column(key="output_tokens_per_s", label="output tok/s"),
)


def explain_text(result: Any) -> str:
    """Return the explanation for people."""
    blocks = [_heading(result), _compared(result), _utilisation(result)]
    blocks += [render_table(_LIMITS, _limit_rows(result)), _gap(result)]
    if result.changes:
        goal = "output tok/s per device" if result.request["goal"] == "throughput" else "TPOT"
        table = render_table(_CHANGES, _change_rows(result))
        blocks.append(f"{table}\nranked by {goal}; each is the prediction run again, as a ratio")
    if result.others:
        blocks.append(f"runs of the file (--run N):\n{render_table(_RUNS, _runs(result))}")
    notes = flag_lines(result.flags)
    return "\n\n".join([*blocks, *(["\n".join(notes)] if notes else [])])


def explain_rows(result: Any, style: Style) -> str:
    """Return where the time goes, as CSV (SI, full precision) or Markdown."""
    if style == "csv":
        keys = ("name", "predicted_s", "share", "scaled_s")
        rows = [asdict(x) for x in result.limits]
        return render_table([Column(key=k, label=k) for k in keys], rows, style="csv")
    return render_table(_LIMITS, _limit_rows(result), style=style)


def explain_json(result: Any) -> dict[str, Any]:
    """Return the stable JSON document; SI units, full precision."""
    return {
        "schema_version": SCHEMA_VERSION,
        "request": dict(result.request),
        "measured": _plain(result.measured),
        "run": _plain(result.run),
        "mfu": result.mfu,
        "decode_mfu": result.decode_mfu,
        "decode_mbu": result.decode_mbu,
        "predicted": _plain(result.predicted),
        "ideal": _plain(result.ideal),
        "measured_over_predicted": result.run.tpot_s / result.predicted.tpot_s,
        "measured_over_ideal": result.run.tpot_s / result.ideal.tpot_s,
        "limits": [_plain(x) for x in result.limits],
        "changes": [_plain(x) for x in result.changes],
        "definitions": DEFINITIONS,
        "flags": list(result.flags),
    }


def _plain(record: Any) -> dict[str, Any]:
    found = asdict(record)
    return {
        k: (v if isinstance(v, dict | list | tuple | bool) else finite(v)) for k, v in found.items()
    }


def _heading(result: Any) -> str:
    request, run = result.request, result.run
    degrees = "network ideal" if request["layout"] is None else layout_text(request["layout"])
    count = request["devices"]
    first = (
        f"{result.measured.tool}: {request['model']} on {request['on']},"
        f" {count} device{'s' * (count != 1)} ({degrees}),"
        f" weights {request['weights']}, cache {request['kv_cache_dtype']},"
        f" engine {request['engine'] or 'none'}"
    )
    if run.kind == "prefill":
        second = f"prompts of {significant(run.isl)} tokens, one at a time"
    else:
        second = (
            f"ISL {significant(run.isl, 4)}, OSL {significant(run.osl, 4)},"
            f" {significant(run.concurrency)} requests in flight, of which"
            f" {significant(run.decoding)} decode at a time (Little's law)"
        )
    return "\n".join([*textwrap.wrap(first, MAX_WIDTH, subsequent_indent="  "), second])


def _compared(result: Any) -> str:
    run, predicted, ideal = result.run, result.predicted, result.ideal
    prefill = run.kind == "prefill"
    rows = [_row("prompt ms" if prefill else "TPOT ms", run, predicted, ideal, "tpot_s", 1e3)]
    if run.ttft_s is not None and not prefill:
        rows.append(_row("TTFT ms", run, predicted, ideal, "ttft_s", 1e3))
    word = "prompt tok/s" if prefill else "output tok/s"
    rows.append(_row(word, run, predicted, ideal, "output_tokens_per_s", 1.0))
    return render_table(_COMPARED, rows)


def _row(what: str, run: Any, predicted: Any, ideal: Any, key: str, scale: float) -> dict[str, Any]:
    value = getattr(run, key)
    return {
        "what": what,
        "measured": value * scale,
        "predicted": getattr(predicted, key) * scale,
        "ideal": getattr(ideal, key) * scale,
        "gap": value / getattr(predicted, key),
        "distance": value / getattr(ideal, key),
    }


def _utilisation(result: Any) -> str:
    if result.run.kind == "prefill":
        return (
            f"MFU {significant(result.mfu * 100)} %, MBU {significant(result.decode_mbu * 100)} %"
        )
    return (
        f"MFU {significant(result.mfu * 100)} % (all work, prompts included),"
        f" decode MFU {significant(result.decode_mfu * 100)} %,"
        f" decode MBU {significant(result.decode_mbu * 100)} %"
    )


def _gap(result: Any) -> str:
    ratio = result.run.tpot_s / result.predicted.tpot_s
    if ratio > 1.15:
        word = (
            f"{human(result.run.tpot_s - result.predicted.tpot_s, 's')} of each token are not in"
            " the prediction: look for eager mode, a small --max-num-batched-tokens, preemption,"
            " another precision, throttling, or a client that cannot keep up"
        )
    elif ratio < 0.87:
        word = (
            "faster than predicted: look for cached prefixes, speculation, formats or devices"
            " other than stated"
        )
    else:
        word = "measured and predicted agree within 15 %: what is left is in the table above"
    return "\n".join(textwrap.wrap(word, MAX_WIDTH, subsequent_indent="  "))


def _limit_rows(result: Any) -> list[dict[str, Any]]:
    return [
        {
            "name": x.name,
            "predicted_ms": x.predicted_s * 1e3,
            "share": x.share * 100,
            "scaled_ms": x.scaled_s * 1e3,
        }
        for x in result.limits
    ]


def _change_rows(result: Any) -> list[dict[str, Any]]:
    per_device = result.run.output_tokens_per_s / result.request["devices"]
    return [
        {
            "name": x.name,
            "flag": x.flag,
            "throughput": per_device * x.throughput_ratio,
            "gain": (x.throughput_ratio - 1) * 100,
            "tpot_ms": result.run.tpot_s * x.tpot_ratio * 1e3,
            "tpot_gain": (x.tpot_ratio - 1) * 100,
        }
        for x in result.changes
    ]


def _runs(result: Any) -> list[dict[str, Any]]:
    return [
        {
            "run": i,
            "concurrency": x.concurrency,
            "isl": x.isl,
            "osl": x.osl,
            "ttft_ms": None if x.ttft_s is None else x.ttft_s * 1e3,
            "tpot_ms": None if x.tpot_s is None else x.tpot_s * 1e3,
            "output_tokens_per_s": x.output_tokens_per_s,
        }
        for i, x in enumerate(result.others[:40], start=1)
    ]
