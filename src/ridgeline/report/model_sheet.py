"""A model sheet as text or JSON."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import Any

from ridgeline.report.table import Column, render_table
from ridgeline.units import human

SCHEMA_VERSION = "1"
_LAYERS = (
    Column(key="letter", label="kind", align="left"),
    Column(key="num_layers", label="layers"),
    Column(key="mixer", label="mixer", align="left", wrap=True),
    Column(key="feed_forward", label="feed-forward", align="left", wrap=True),
    Column(key="num_params_per_layer", label="params/layer"),
)
_PARTS = (
    Column(key="component", label="component", align="left"),
    Column(key="params", label="params"),
    Column(key="share", label="share"),
)
_LENGTHS = (
    Column(key="tokens", label="tokens"),
    Column(key="state", label="state"),
    Column(key="flop", label="FLOP/token"),
)


def model_json(sheet: Any) -> dict[str, Any]:
    """Return the sheet as plain data: SI units, full precision."""
    arch, counts = sheet.architecture, sheet.parameters
    return {
        "schema_version": SCHEMA_VERSION,
        "name": sheet.name,
        "source": sheet.source,
        "model_type": arch.model_type,
        "hidden_size": arch.hidden_size,
        "vocab_size": arch.vocab_size,
        "num_layers": arch.num_layers,
        "max_position_embeddings": arch.max_position_embeddings,
        "tie_word_embeddings": arch.tie_word_embeddings,
        "weight_format": arch.weight_format,
        "pattern": sheet.pattern,
        "layers": [asdict(layer) for layer in sheet.layers],
        **asdict(counts),
        "kv_bytes_per_token": sheet.kv_bytes_per_token,
        "state_bytes": [{"tokens": x.tokens, "bytes": x.state_bytes} for x in sheet.at_lengths],
        "flop_per_token": [
            {"tokens": x.tokens, "flop": x.flop_per_token} for x in sheet.at_lengths
        ],
        "flags": list(sheet.flags),
    }


def _short(tokens: int) -> str:
    return f"{tokens // 2**20}M" if tokens >= 2**20 else f"{tokens // 1024}k"


def _count(value: float) -> str:
    """Return a number of parameters in billions, as people say it."""
    return f"{value:,.0f} ({human(value, '').strip().replace('G', 'B')})"


def _head_lines(sheet: Any) -> list[str]:
    arch = sheet.architecture
    positions = f"{arch.max_position_embeddings:,}" if arch.max_position_embeddings else "no limit"
    head = "tied to the input embedding" if arch.tie_word_embeddings else "its own"
    cache = f"; cache {arch.kv_format}" if arch.kv_format else ""
    sizes = f"hidden {arch.hidden_size:,}, vocabulary {arch.vocab_size:,}"
    return [
        f"{sheet.name} ({arch.model_type})",
        *(f"  {k.replace('_', ' ')}: {v}" for k, v in sheet.facts.items()),
        f"  {sizes}, head {head}, positions {positions}",
        *textwrap.wrap(
            f"stored as {arch.weight_format}{_other_formats(arch)}{cache}",
            98,
            initial_indent="  ",
            subsequent_indent="    ",
        ),
    ]


def _other_formats(arch: Any) -> str:
    """Return the exceptions by format: `; bf16: attention, head`."""
    classes: dict[str, list[str]] = {}
    for weight_class, storage in arch.weight_formats:
        classes.setdefault(storage, []).append(weight_class.replace("_", " "))
    return "".join(f"; {storage}: {', '.join(names)}" for storage, names in classes.items())


def _parameter_lines(counts: Any) -> list[str]:
    without = counts.num_active_params_excluding_input_embedding
    lines = [
        f"Parameters: {_count(counts.num_params)}",
        f"  active per token: {_count(counts.num_active_params)}",
        f"  active without the input embedding: {_count(without)}",
    ]
    if counts.num_mtp_params:
        lines.append(f"  multi-token prediction, counted apart: {_count(counts.num_mtp_params)}")
    parts = [
        {"component": k.replace("_", " "), "params": v, "share": f"{v / counts.num_params:.1%}"}
        for k, v in counts.num_params_by_component.items()
    ]
    return [*lines, render_table(_PARTS, parts)]


def _state_lines(sheet: Any) -> list[str]:
    rows = [
        {
            "tokens": _short(x.tokens),
            "state": human(x.state_bytes, "B"),
            "flop": human(x.flop_per_token, "FLOP"),
        }
        for x in sheet.at_lengths
    ]
    growth = human(sheet.kv_bytes_per_token, "B")
    title = f"State of one sequence, bf16 cache ({growth} for one more token at 32k)"
    return [f"{title}, and FLOP of its next token", render_table(_LENGTHS, rows)]


def model_text(sheet: Any) -> str:
    """Return the sheet as people read it."""
    lines = [
        *_head_lines(sheet),
        "",
        textwrap.fill(f"Layers: {sheet.architecture.num_layers} = {sheet.pattern}", 100),
        render_table(_LAYERS, [asdict(layer) for layer in sheet.layers]),
        "",
        *_parameter_lines(sheet.parameters),
        "",
        *_state_lines(sheet),
    ]
    if sheet.flags:
        lines += ["", *(textwrap.fill(f"Flag: {f}", 100) for f in sheet.flags)]
    return "\n".join(lines)
