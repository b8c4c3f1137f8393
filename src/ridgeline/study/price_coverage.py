"""How often the decoder's bands hold the truth, on models whose architecture is public."""

from __future__ import annotations

import datetime as dt
import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ridgeline.economics.price_posterior import HOST_PRIOR, Band, posterior
from ridgeline.model.params import count_parameters
from ridgeline.model.precision import Precision
from ridgeline.model.state import kv_bytes_per_token
from ridgeline.study.price_decode import evidence_of, offers, one_sheet
from ridgeline.study.prices import all_rows
from ridgeline.study.resolve import resolve_model

_FILE = Path(__file__).parents[1] / "catalog" / "data" / "price_models.json"
FAMILIES = ("deepseek", "llama", "qwen", "glm", "kimi")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One sheet, its bands and the true figures."""

    price: str
    model: str
    family: str
    active_params: float
    active_band: Band
    kv_bytes_per_token: float
    """Growth of the cache per token at 32k, kept in bf16 [B]."""
    kv_band: Band
    why: str
    """Why a band missed; empty where both hold."""

    @property
    def holds_active(self) -> bool:
        """Whether the true active size lies in its band."""
        return self.active_band.holds(self.active_params)

    @property
    def holds_kv(self) -> bool:
        """Whether the true cache per token lies in its band."""
        return self.kv_band.holds(self.kv_bytes_per_token)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Scores of a group of cases; widths are medians in powers of ten."""

    group: str
    num_cases: int
    num_models: int
    active_coverage: float
    active_decades: float
    active_prior_decades: float
    active_prior_coverage: float
    """What the prior alone would hold, before any sheet is read."""
    kv_coverage: float
    kv_decades: float
    kv_prior_decades: float
    kv_prior_coverage: float


@functools.cache
def price_models() -> Mapping[str, Sequence[str]]:
    """Return the price entries of each catalogue model."""
    return json.loads(_FILE.read_bytes())["models"]


def true_figures(model: str) -> tuple[float, float]:
    """Return active parameters and bf16 cache bytes per token of a catalogue model."""
    arch = resolve_model(model)
    precision = Precision.of(arch, kv_dtype="bf16")
    return count_parameters(arch).num_active_params, kv_bytes_per_token(arch, precision)


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The public figures of a model that a price is asked for."""

    model: str
    active_params: float
    kv_bytes_per_token: float


def known_truth(price: str) -> Truth | None:
    """Return the public figures behind a `provider/model`, if its architecture is known."""
    for model, names in price_models().items():
        if price in names:
            active, kv = true_figures(model)
            return Truth(model=model, active_params=active, kv_bytes_per_token=kv)
    return None


def cases(*, on: dt.date, draws: int = 30_000, seed: int = 0) -> tuple[Case, ...]:
    """Return every public sheet decoded beside its true figures."""
    market = offers()
    rows = all_rows()
    by_id: dict[str, list[int]] = {}
    for i, row in enumerate(rows):
        by_id.setdefault(row.id, []).append(i)
    found: list[Case] = []
    for model, names in price_models().items():
        active, kv = true_figures(model)
        for name in names:
            base = one_sheet([rows[i] for i in by_id[name]], on, None)[0]
            evidence = evidence_of(base)
            p = posterior(evidence, market, HOST_PRIOR, draws=draws, seed=seed)
            held = p.active_params.holds(active), p.kv_bytes_per_token.holds(kv)
            found.append(
                Case(
                    price=name,
                    model=model,
                    family=next(f for f in FAMILIES if f in model),
                    active_params=active,
                    active_band=p.active_params,
                    kv_bytes_per_token=kv,
                    kv_band=p.kv_bytes_per_token,
                    why=""
                    if all(held)
                    else _why(
                        active, p.active_params, kv, p.kv_bytes_per_token,
                        tariff=evidence.tariff, sram=not evidence.hbm_bound,
                    ),
                )
            )  # fmt: skip
    return tuple(found)


def coverage(found: Sequence[Case]) -> tuple[Coverage, ...]:
    """Return the scores: all, one vote per model, and by family."""
    groups = [("all sheets", list(found))]
    groups += [(f, [c for c in found if c.family == f]) for f in FAMILIES]
    scores = [_score(name, group) for name, group in groups]
    return (scores[0], _per_model(found), *scores[1:])


def _score(group: str, found: Sequence[Case]) -> Coverage:
    def median(values: Sequence[float]) -> float:
        return float(np.median(values))

    return Coverage(
        group=group,
        num_cases=len(found),
        num_models=len({c.model for c in found}),
        active_coverage=float(np.mean([c.holds_active for c in found])),
        active_decades=median([c.active_band.decades for c in found]),
        active_prior_decades=median([c.active_band.prior_decades for c in found]),
        active_prior_coverage=float(
            np.mean([c.active_band.prior_holds(c.active_params) for c in found])
        ),
        kv_prior_coverage=float(
            np.mean([c.kv_band.prior_holds(c.kv_bytes_per_token) for c in found])
        ),
        kv_coverage=float(np.mean([c.holds_kv for c in found])),
        kv_decades=median([c.kv_band.decades for c in found]),
        kv_prior_decades=median([c.kv_band.prior_decades for c in found]),
    )


def _per_model(found: Sequence[Case]) -> Coverage:
    """Weigh every model once, however many hosts list it."""
    models = sorted({c.model for c in found})
    parts = [_score(m, [c for c in found if c.model == m]) for m in models]
    whole = _score("all, one vote per model", found)
    return Coverage(
        group=whole.group,
        num_cases=whole.num_cases,
        num_models=whole.num_models,
        active_coverage=float(np.mean([p.active_coverage for p in parts])),
        active_decades=float(np.mean([p.active_decades for p in parts])),
        active_prior_decades=whole.active_prior_decades,
        active_prior_coverage=whole.active_prior_coverage,
        kv_prior_coverage=whole.kv_prior_coverage,
        kv_coverage=float(np.mean([p.kv_coverage for p in parts])),
        kv_decades=float(np.mean([p.kv_decades for p in parts])),
        kv_prior_decades=whole.kv_prior_decades,
    )


def _why(
    active: float, active_band: Band, kv: float, kv_band: Band, *, tariff: bool, sram: bool
) -> str:
    parts: list[str] = []
    if active > active_band.high:
        parts.append("sold near or below cost")
    elif active < active_band.low:
        parts.append("priced above its arithmetic")
    if kv > kv_band.high:
        parts.append("more cache than output/input allows")
    elif kv < kv_band.low:
        parts.append("less cache than the prior expects")
    if tariff:
        parts.append("a tariff class")
    if sram:
        parts.append("served from SRAM")
    return "; ".join(parts)
