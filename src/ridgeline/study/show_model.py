"""One model: layers, parameters, state and arithmetic per token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ridgeline.catalog.figures import Entry
from ridgeline.model.architecture import Architecture, Block, replace_count
from ridgeline.model.operations import operations
from ridgeline.model.params import ParameterCount, block_params, count_parameters
from ridgeline.model.precision import Precision
from ridgeline.model.state import kv_bytes_per_token, state_bytes
from ridgeline.model.work import Step
from ridgeline.study.resolve import open_catalog, resolve_model

LENGTHS = (1024, 32768, 131072, 1048576)
"""Tokens at which state and FLOP are shown: 1k, 32k, 128k, 1M."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerKind:
    """One distinct layer and how often it stands in the stack."""

    letter: str
    num_layers: int
    mixer: str
    feed_forward: str
    num_params_per_layer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AtLength:
    """What one sequence of `tokens` tokens keeps, and what its next token costs."""

    tokens: int
    state_bytes: float
    flop_per_token: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSheet:
    """Everything `ridgeline show model` prints."""

    name: str
    source: str
    architecture: Architecture
    layers: Sequence[LayerKind]
    pattern: str
    """Layer kinds in order, e.g. `3A 58B` or `16 x (3A B)`."""
    parameters: ParameterCount
    kv_bytes_per_token: float
    """bf16, one more token at 32k."""
    at_lengths: Sequence[AtLength]
    """bf16 cache, batch 1."""
    facts: Mapping[str, str]
    flags: tuple[str, ...]


def show_model(name: str | Architecture, catalog_dir: Path | None = None) -> ModelSheet:
    """Return the sheet of a catalogue model, or of a config.json, GGUF or safetensors path.

    Raises:
        UnknownNameError: neither in the catalogue nor a path.
        InputError: a file that does not describe a model.
        UnsupportedError: not a decoder language model.
    """
    catalog = open_catalog(catalog_dir)
    arch = resolve_model(name, catalog)
    entry = catalog.find("models", name) if isinstance(name, str) else None
    precision = Precision.of(arch, kv_dtype="bf16")
    tokens = np.array(LENGTHS, dtype=float)
    state = np.broadcast_to(state_bytes(arch, tokens, precision), tokens.shape)
    flop = _flop_per_token(arch, precision, tokens)
    kinds = list(arch.distinct_blocks())
    return ModelSheet(
        name=arch.name,
        source="the file" if entry is None else entry["source"],
        architecture=arch,
        layers=[_layer_kind(i, block, count) for i, (block, count) in enumerate(kinds)],
        pattern=layer_pattern(arch),
        parameters=count_parameters(arch),
        kv_bytes_per_token=kv_bytes_per_token(arch, precision),
        at_lengths=[
            AtLength(tokens=t, state_bytes=float(s), flop_per_token=float(f))
            for t, s, f in zip(LENGTHS, state, flop, strict=True)
        ],
        facts=_facts(entry),
        flags=(*arch.flags, *_length_flags(arch)),
    )


def _facts(entry: Entry | None) -> Mapping[str, str]:
    keys = ("id", "hub", "source", "as_of", "published_params", "note")
    return {} if entry is None else {k: str(entry[k]) for k in keys if entry.get(k)}


def _flop_per_token(arch: Architecture, precision: Precision, tokens: np.ndarray) -> np.ndarray:
    """Return the FLOP of one decode step at batch 1 over `tokens` cached tokens."""
    work = operations(arch, Step(batch=1, new_tokens=1, context=tokens), precision)
    flop = np.zeros_like(tokens)
    for op in work:
        flop += np.asarray(op.count * op.flop, dtype=float)
    return flop


def _length_flags(arch: Architecture) -> tuple[str, ...]:
    limit = arch.max_position_embeddings
    beyond = [n for n in LENGTHS if limit is not None and n > limit]
    if not beyond:
        return ()
    return (f"extrapolated: lengths above the model's {limit:,} positions are shown",)


def _letter(index: int) -> str:
    return chr(ord("A") + index) if index < 26 else f"L{index}"


def _layer_kind(index: int, block: Block, count: int) -> LayerKind:
    return LayerKind(
        letter=_letter(index),
        num_layers=count,
        mixer=_mixer_words(block),
        feed_forward=_feed_forward_words(block),
        num_params_per_layer=block_params(block),
    )


def _mixer_words(block: Block) -> str:
    words = [block.mixer.kind]
    for core in block.mixer.cores:
        window = getattr(core, "window", None)
        if window:
            words.append(f"window {window:,}")
        heads = getattr(core, "num_heads", None)
        kv = getattr(core, "num_kv_heads", None)
        if heads:
            words.append(f"{heads} heads" + (f" / {kv} KV" if kv and kv != heads else ""))
        indexer = getattr(core, "indexer", None)
        if indexer is not None:
            words.append(f"top {indexer.top_k * indexer.block_size:,} tokens")
        if getattr(core, "stores_kv", True) is False:
            words.append("shared KV")
    return ", ".join(words)


def _feed_forward_words(block: Block) -> str:
    part = block.feed_forward
    if part.experts is None:
        return part.kind + (f", width {part.intermediate_size:,}" if part.intermediate_size else "")
    experts = part.experts
    words = f"{part.kind}, {experts.num_experts_per_tok} of {experts.num_experts} experts"
    if experts.num_zero_experts:
        words += f" + {experts.num_zero_experts} zero experts"
    shared = any(x.weight_class == "shared_expert" for x in part.linears)
    return words + (" + shared" if shared else "")


def layer_pattern(arch: Architecture) -> str:
    """Return the order of layer kinds; groups that repeat are written once."""
    distinct = [block for block, _ in arch.distinct_blocks()]
    letters = [distinct.index(replace_count(b)) for b in arch.blocks for _ in range(b.count)]
    runs = _runs(letters)
    words: list[str] = []
    start = 0
    while start < len(runs):
        period, times = _best_group(runs, start)
        group = " ".join(runs[start : start + period])
        words.append(f"{times} x ({group})" if times > 1 else group)
        start += period * times
    return " ".join(words)


def _best_group(runs: Sequence[str], start: int) -> tuple[int, int]:
    """Return the period and number of repeats that cover most runs from `start`."""
    best = (1, 1)
    for period in range(1, (len(runs) - start) // 2 + 1):
        group = runs[start : start + period]
        times = 1
        while runs[start + times * period : start + (times + 1) * period] == group:
            times += 1
        if times > 1 and times * period > best[0] * best[1]:
            best = (period, times)
    return best


def _runs(letters: Sequence[int]) -> list[str]:
    words: list[str] = []
    start = 0
    for i in range(1, len(letters) + 1):
        if i == len(letters) or letters[i] != letters[start]:
            count = i - start
            words.append((str(count) if count > 1 else "") + _letter(letters[start]))
            start = i
    return words
