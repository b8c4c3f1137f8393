"""Options of a plan: those that meet the targets, ranked, in words and SI numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InfeasibleError
from ridgeline.model.layout import Layout
from ridgeline.model.precision import Precision
from ridgeline.placement.search import Candidates
from ridgeline.placement.space import Space

Objective = Literal["cost", "throughput", "latency"]
_SECONDS_PER_HOUR = 3600.0
_TIE = 1e-3
"""Relative difference below which two figures count as the same: far below the model's error."""
_MOST_OTHERS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """Service levels; None does not constrain."""

    ttft_s: float | None = None
    tpot_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionBand:
    """10 and 90 % quantiles of an option's figures."""

    tpot_p10_s: float
    tpot_p90_s: float
    ttft_p10_s: float
    ttft_p90_s: float
    tokens_per_s_per_device_p10: float
    tokens_per_s_per_device_p90: float
    usd_per_mtok_p10: float | None
    usd_per_mtok_p90: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One way to serve, in words and SI numbers."""

    kind: Literal["mixed", "pools"]
    layout: Layout
    batch: int
    """Requests in flight per decode (or mixed) replica."""
    replicas: int
    prefill_layout: Layout | None
    prefill_batch: int
    prefill_replicas: int
    weights: str
    kv: str
    idle_devices: int
    tpot_s: float
    ttft_s: float
    requests_per_s: float
    tokens_per_s_per_user: float
    tokens_per_s_per_device: float
    usd_per_mtok: float | None
    """Per million output tokens, prompts included, idle devices paid for."""
    band: OptionBand | None = None
    """See `study.plan_bands`; None before an option is shown."""


def options_by_name(options: Sequence[Precision]) -> dict[tuple[str, str], Precision]:
    """Return the precision options by (weights, cache) name."""
    return {(weights_name(p), p.kv.id): p for p in options}


def weights_name(precision: Precision) -> str:
    """Return the formats of the weights, the widest use first."""
    return "/".join(sorted({f.id for f in precision.weights.values()}))


def meets(found: Candidates, targets: Targets) -> NDArray[np.bool_]:
    """Return where every target is met, `[candidates]`."""
    ok = np.ones(len(found), dtype=bool)
    if targets.ttft_s is not None:
        ok &= found.ttft_s <= targets.ttft_s
    if targets.tpot_s is not None:
        ok &= found.tpot_s <= targets.tpot_s
    return ok


def ranked(
    found: Candidates,
    space: Space,
    per_device: NDArray[np.float64],
    meets: NDArray[np.bool_],
    objective: Objective,
) -> NDArray[np.int64]:
    """Return the indices that meet the targets, best first.

    By the objective's figure; ties (within 0.1 %) by the other figure, then fewest devices in
    use, then smaller replicas.
    """
    chosen = np.flatnonzero(meets)
    figures = (per_device[chosen], 1 / found.tpot_s[chosen])
    first, second = figures[::-1] if objective == "latency" else figures
    order = np.lexsort(
        (
            -first,
            space.num_devices[found.layout[chosen]],
            devices_in_use(found, space)[chosen],
            _steps_below_best(second),
            _steps_below_best(first),
        )
    )
    return chosen[order]


def devices_in_use(found: Candidates, space: Space) -> NDArray[np.int64]:
    """Return the devices that hold a replica of either pool, `[candidates]`."""
    prefill = np.where(
        found.prefill_layout >= 0, space.num_devices[np.maximum(found.prefill_layout, 0)], 0
    )
    return space.num_devices[found.layout] * found.replicas + prefill * found.prefill_replicas


def _steps_below_best(figure: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how many ties fit between the best and each: 0 for all that tie with the best."""
    return np.floor(np.log(figure.max() / figure) / np.log1p(_TIE)).astype(np.int64)


def best_of_other_layouts(
    found: Candidates, order: NDArray[np.int64], per_device: NDArray[np.float64]
) -> list[int]:
    """Return the best option of each other layout, those that end like a better one left out."""
    pairs = np.stack((found.layout[order], found.prefill_layout[order]), axis=1)
    _, first = np.unique(pairs, axis=0, return_index=True)
    kept = [int(order[0])]
    for i in order[np.sort(first)].tolist():
        same = any(
            abs(per_device[i] / per_device[j] - 1) < _TIE
            and abs(found.tpot_s[i] / found.tpot_s[j] - 1) < _TIE
            for j in kept
        )
        if not same:
            kept.append(i)
        if len(kept) > _MOST_OTHERS:
            break
    return kept[1:]


def option_at(
    found: Candidates,
    i: int,
    space: Space,
    options: Sequence[Precision],
    count: int,
    osl: int,
    price: float | None,
) -> Option:
    """Return candidate i in words and SI numbers; idle devices are paid for."""
    layout = space.one(int(found.layout[i]))
    pooled = int(found.prefill_layout[i]) >= 0
    prefill = space.one(int(found.prefill_layout[i])) if pooled else None
    used = int(layout.num_devices) * int(found.replicas[i])
    if prefill is not None:
        used += int(prefill.num_devices) * int(found.prefill_replicas[i])
    rate = float(found.requests_per_s[i])
    precision = options[int(found.precision[i])]
    return Option(
        kind="pools" if pooled else "mixed",
        layout=layout,
        batch=int(found.batch[i]),
        replicas=int(found.replicas[i]),
        prefill_layout=prefill,
        prefill_batch=int(found.prefill_batch[i]),
        prefill_replicas=int(found.prefill_replicas[i]),
        weights=weights_name(precision),
        kv=precision.kv.id,
        idle_devices=count - used,
        tpot_s=float(found.tpot_s[i]),
        ttft_s=float(found.ttft_s[i]),
        requests_per_s=rate,
        tokens_per_s_per_user=1 / float(found.tpot_s[i]),
        tokens_per_s_per_device=rate * osl / count,
        usd_per_mtok=None
        if price is None
        else price * count / _SECONDS_PER_HOUR / (rate * osl) * 1e6,
    )


def nothing_meets(
    found: Candidates, targets: Targets, option: Callable[[int], Option]
) -> InfeasibleError:
    """Return why nothing meets the targets, and the option that misses by the least factor."""
    excess = np.ones(len(found))
    words: list[str] = []
    if targets.ttft_s is not None:
        excess = np.maximum(excess, found.ttft_s / targets.ttft_s)
        words.append(f"TTFT {targets.ttft_s * 1e3:.3g} ms")
    if targets.tpot_s is not None:
        excess = np.maximum(excess, found.tpot_s / targets.tpot_s)
        words.append(f"TPOT {targets.tpot_s * 1e3:.3g} ms")
    near = option(int(np.argmin(excess)))
    relax: dict[str, float] = {}
    for name, target in (("ttft_s", targets.ttft_s), ("tpot_s", targets.tpot_s)):
        if target is not None:
            relax[name] = max(target, getattr(near, name))
    return InfeasibleError(
        f"No option meets {' and '.join(words)}. Nearest: {near.kind}, {degrees_text(near.layout)},"
        f" batch {near.batch}, TTFT {near.ttft_s * 1e3:.3g} ms, TPOT {near.tpot_s * 1e3:.3g} ms."
        " Relax the target, add devices, or try --dtype and --kv-cache-dtype with fewer bits.",
        relax=relax,
    )


def degrees_text(layout: Layout) -> str:
    """Return the degrees above 1: `tp 8`, `dp 72 ep 72`."""
    words = [f"{k} {int(getattr(layout, k))}" for k in ("tp", "pp", "ep", "dp", "cp")]
    return " ".join(w for w in words if not w.endswith(" 1")) or "one device"
