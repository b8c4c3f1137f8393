"""What if a figure of the hardware were another: the same question once per value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from ridgeline.errors import InfeasibleError, InputError
from ridgeline.hardware import Cluster
from ridgeline.hardware.what_if import UNITS, Figure, figure_value, what_if
from ridgeline.model.architecture import Architecture
from ridgeline.study.estimate import estimate
from ridgeline.study.plan import plan
from ridgeline.study.plan_options import degrees_text
from ridgeline.study.resolve import open_catalog, resolve_cluster
from ridgeline.units import parse_quantity

_MAX_VALUES = 100
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Rows of one question over values of one figure."""

    request: Mapping[str, Any]
    figure: Figure
    unit: str
    rows: tuple[Mapping[str, Any], ...]
    """`value` (SI), `factor` of today's, and what the question answers."""
    flags: tuple[str, ...]


def sweep_estimate(
    text: str,
    model: str | Architecture,
    *,
    on: str,
    catalog_dir: Path | None = None,
    **question: Any,
) -> Sweep:
    """Return the rows of `estimate` at every value of "FIGURE=VALUES".

    Raises:
        InputError: a figure, value or question that breaks its rule.
    """
    cluster = _cluster(on, question.get("devices"), catalog_dir)
    figure, values = parse_figure(text, cluster)
    rows: list[Mapping[str, Any]] = []
    flags: dict[str, None] = {}
    request: Mapping[str, Any] = {}
    for value in values:
        changed = what_if(cluster, figure, value)
        result = estimate(model, on=changed, catalog_dir=catalog_dir, **question)
        request = result.request
        flags.update(dict.fromkeys(result.flags))
        columns = {k: np.asarray(v).tolist() for k, v in result.rows.items()}
        rows += [
            {**_head(cluster, figure, value), **dict(zip(columns, row, strict=True))}
            for row in zip(*columns.values(), strict=True)
        ]
    return _sweep(request, figure, rows, flags)


def sweep_plan(
    text: str,
    model: str | Architecture,
    *,
    on: str,
    catalog_dir: Path | None = None,
    progress: Progress | None = None,
    **question: Any,
) -> Sweep:
    """Return the winner of `plan` at every value of "FIGURE=VALUES"; None where none is.

    Raises:
        InputError: a figure, value or question that breaks its rule.
    """
    cluster = _cluster(on, question.get("devices"), catalog_dir)
    figure, values = parse_figure(text, cluster)
    rows: list[Mapping[str, Any]] = []
    flags: dict[str, None] = {}
    request: Mapping[str, Any] = {}
    for i, value in enumerate(values):
        head = _head(cluster, figure, value)
        try:
            result = plan(
                model, on=what_if(cluster, figure, value), catalog_dir=catalog_dir, **question
            )
        except InfeasibleError as none:
            rows.append({**head, "winner": None})
            flags[f"{figure} at {value:.4g}: {none}"] = None
        else:
            best = result.winner
            request = result.request
            flags.update(dict.fromkeys(result.flags))
            rows.append(
                {
                    **head,
                    "winner": _words(best),
                    "batch": best.batch,
                    "ttft_s": best.ttft_s,
                    "tpot_s": best.tpot_s,
                    "tokens_per_s_per_user": best.tokens_per_s_per_user,
                    "tokens_per_s_per_device": best.tokens_per_s_per_device,
                    "usd_per_mtok": best.usd_per_mtok,
                    "num_combinations": result.num_combinations,
                }
            )
        if progress is not None:
            progress(i + 1, len(values))
    if not request:
        raise InfeasibleError(next(iter(flags)))
    return _sweep(request, figure, rows, flags)


def parse_figure(text: str, cluster: Cluster) -> tuple[Figure, tuple[float, ...]]:
    """Return the figure and its SI values: "peak=0.5x,1x" or "memory_bandwidth=4 TB/s,8 TB/s".

    Raises:
        InputError: no such figure, or a value that is neither a factor nor a quantity.
    """
    name, _, words = text.partition("=")
    name = name.strip().replace("-", "_")
    if name not in get_args(Figure) or not words.strip():
        raise InputError(
            f"--sweep is written FIGURE=VALUES with one of {', '.join(get_args(Figure))}: {text!r}."
        )
    figure = cast("Figure", name)
    values: list[float] = []
    for word in words.split(","):
        if word.strip().endswith("x"):
            factor = parse_quantity(word.strip()[:-1], "1", what="factor")
            values.append(factor * figure_value(cluster, figure))
        else:
            values.append(parse_quantity(word, UNITS[figure], what=figure))
    if len(values) > _MAX_VALUES:
        raise InputError(f"--sweep may have at most {_MAX_VALUES} values: {len(values)}.")
    return figure, tuple(dict.fromkeys(values))


def _cluster(on: str, devices: int | None, catalog_dir: Path | None) -> Cluster:
    catalog = open_catalog(catalog_dir)
    cluster = resolve_cluster(on, None, catalog)
    if devices is not None and devices > cluster.num_devices:
        cluster = resolve_cluster(on, devices, catalog)
    return cluster


def _head(cluster: Cluster, figure: Figure, value: float) -> dict[str, Any]:
    return {"value": value, "factor": value / figure_value(cluster, figure)}


def _words(option: Any) -> str:
    main = f"{option.replicas} x [{degrees_text(option.layout)}]"
    if option.prefill_layout is None:
        return main
    return f"{option.prefill_replicas} x [{degrees_text(option.prefill_layout)}] + {main}"


def _sweep(
    request: Mapping[str, Any],
    figure: Figure,
    rows: list[Mapping[str, Any]],
    flags: dict[str, None],
) -> Sweep:
    # Efficiency and link shares were fitted to today's hardware.
    note = "what if: price, efficiencies and link shares stay those of today's hardware"
    return Sweep(
        request={k: v for k, v in request.items() if k not in {"batch", "context"}},
        figure=figure,
        unit=UNITS[figure],
        rows=tuple(rows),
        flags=(note, *flags),
    )
