"""The inverse problem with error bars: from a price sheet to active size and cache per token.

Everything unknown is drawn from a stated prior; each draw is priced by the chapter-1 and
chapter-6 forms and weighted by how well it explains the sheet. Bands are 10-90 % posterior.

Symbols: N active parameters, k cache bytes per token, m decode batch over critical batch,
L context, u utilisation, F peak, W bandwidth, w bytes per weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError

Array = NDArray[np.float64]
Z_90 = 1.2815515655446004
"""90th percentile of the standard normal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One device a provider may rent, at one weight precision."""

    name: str
    peak_flop_per_s: float
    bandwidth_bytes_per_s: float
    usd_per_device_hour: float
    bytes_per_weight: float
    weight: float
    """Prior share of the market."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """What is believed before the sheet is read; every pair is the 10-90 % range."""

    active_params: tuple[float, float] = (1.5e9, 150e9)
    """Log-uniform."""
    kv_bytes_per_token: tuple[float, float] = (5e3, 450e3)
    """In bf16, log-uniform. Published architectures outside the families the decoder is tested on
    span 12-446 kB (10-90 %); the lower end is drawn towards the lecture's 2 kB."""
    fp8_cache_share: float = 0.5
    """Chance that the provider keeps the cache in fp8, half the bf16 bytes."""
    batch_over_critical: tuple[float, float] = (0.1, 3.0)
    """Lecture: 2-3 when busy; hosts with many models run far below."""
    context_tokens: tuple[float, float] = (0.8e3, 12e3)
    """Mean context in decode: public chat traces 1.2k, DeepSeek's day 5.0k, Mooncake 12k."""
    prefill_mfu: tuple[float, float] = (0.12, 0.5)
    """DeepSeek's day: 32k fresh tokens/s per node is 0.15; tuned dense models reach 0.5."""
    decode_efficiency: tuple[float, float] = (0.2, 0.7)
    """Share of the bound that a decode step reaches; DeepSeek's day is 0.22 of the chalk bound."""
    utilisation: tuple[float, float] = (0.25, 0.85)
    """Share of the paid hours that is sold."""
    markup: tuple[float, float] = (0.9, 5.0)
    """Price over cost, log-normal; DeepSeek published 6.45 for its best day."""
    rental_spread: float = 1.6
    """One-sided 90 % factor on the rental price."""
    ratio_spread: float = 1.7
    """One-sided 90 % factor by which output/input prices leave output/input cost; the same model
    at three or more hosts spreads by 1.4."""
    step_spread: float = 1.7
    """The same for the price step of a long-context bracket."""
    tariff_spread: float = 3.0
    """One-sided 90 % factor inside a class of models that share one price."""
    output_share: tuple[float, float] = (0.05, 0.4)
    """Output tokens over all tokens, where one price covers both kinds."""


HOST_PRIOR = Prior()
FIRST_PARTY_PRIOR = Prior(
    active_params=(4e9, 400e9), kv_bytes_per_token=(2e3, 450e3), markup=(1.5, 20.0)
)
"""Closed models carry research and brand in the price; some designs share caches over layers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The figures of a sheet [USD per million tokens], and what is known about their making."""

    input_usd_per_mtok: float
    output_usd_per_mtok: float
    cache_read_usd_per_mtok: float | None = None
    steps: tuple[tuple[float, float], ...] = ()
    """(context where the bracket starts, its output price over the first bracket's)."""
    max_context: float = 1e6
    tariff: bool = False
    """Many models of the provider carry this very price: it is of a class, not of the model."""
    hbm_bound: bool = True
    """False for machines that serve from SRAM: the output/input ratio then says nothing of k."""

    @property
    def blended(self) -> bool:
        """One price for input and output: their ratio is a convention."""
        return abs(self.output_usd_per_mtok / self.input_usd_per_mtok - 1.0) < 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """10th, 50th and 90th percentile of a quantity, after and before the sheet is read."""

    low: float
    median: float
    high: float
    prior_low: float
    prior_high: float

    @property
    def decades(self) -> float:
        """Width of the posterior band in powers of ten."""
        return float(np.log10(self.high / self.low))

    @property
    def prior_decades(self) -> float:
        """Width of the prior band in powers of ten."""
        return float(np.log10(self.prior_high / self.prior_low))

    def holds(self, truth: float) -> bool:
        """Return whether `truth` lies in the band."""
        return self.low <= truth <= self.high

    def prior_holds(self, truth: float) -> bool:
        """Return whether `truth` lies in the band before the sheet is read."""
        return self.prior_low <= truth <= self.prior_high


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """What the sheet implies, and how well any cost explains it."""

    active_params: Band
    kv_bytes_per_token: Band
    batch_over_critical: Band
    kv_share: Band
    """Share of a decode step spent reading cache at the mean context."""
    markup: Band
    """Price over cost."""
    effective_draws: float
    """Draws that carry the weight; few means that no cost explains the sheet well."""
    explained: float
    """Best fit of the ratios: 1 perfect, below 0.1 not explained by cost."""


def posterior(
    evidence: Evidence,
    offers: Sequence[Offer],
    prior: Prior,
    *,
    draws: int = 100_000,
    seed: int = 0,
) -> Posterior:
    """Return active size, cache per token, batch and markup that the sheet implies.

    Per draw, with t_c = 2N/F the arithmetic of a token (w·N_t/(W·B) = t_c/m at batch m·B*):

        c_in  = $·t_c / (MFU·u)
        c_out(L) = $·max(t_c, t_c/m + k·L/W) / (e·u)

    The weight of a draw is the likelihood of ln(P_in/c_in) under the markup, of
    ln(P_out/P_in) against c_out/c_in, of each bracket's step against c_out(L_2)/c_out(L), and
    the chance that a cached token is not sold below the reading of k over a 50 GB/s link.
    One price for both kinds is compared with the cost of a mix instead.

    Args:
        evidence: The sheet.
        offers: Devices and precisions with their market shares.
        prior: Ranges of everything unknown.
        draws: Monte-Carlo draws.
        seed: Same seed, same bands.

    Raises:
        InputError: draws or a seed out of range.

    Source: first principles; lecture C1-F3, C1-F7, C6-F8, S18.
    """
    if not 1000 <= draws <= 5_000_000:
        raise InputError(f"draws must be from 1,000 to 5,000,000: {draws}.")
    if seed < 0:
        raise InputError(f"seed must be at least 0: {seed}.")
    rng = np.random.default_rng(seed)
    draw = _draw(rng, offers, prior, draws)
    cost_in = draw.rent_usd_per_s * draw.compute_s / draw.mfu * 1e6
    cost_out = draw.rent_usd_per_s * draw.decode_s(draw.context) * 1e6
    if evidence.blended:
        share = _uniform(rng, prior.output_share, draws)
        cost = cost_in * (1.0 - share) + cost_out * share
    else:
        cost = cost_in
    log_markup = np.log(evidence.input_usd_per_mtok / cost)
    middle, spread = _log_normal(prior.markup)
    if evidence.tariff:
        spread = float(np.hypot(spread, np.log(prior.tariff_spread) / Z_90))
    score = -0.5 * ((log_markup - middle) / spread) ** 2
    shape = _shape(rng, draw, evidence, prior, np.log(cost_out / cost_in))
    if evidence.cache_read_usd_per_mtok:
        floor = draw.rent_usd_per_s * draw.served_kv / LINK_BYTES_PER_S * 1e6
        score = score + np.minimum(0.0, np.log(evidence.cache_read_usd_per_mtok / floor))
    weight = np.exp(score + shape - np.max(score + shape))
    weight = weight / weight.sum()
    reading_s = draw.served_kv * draw.context / draw.bandwidth

    def band(values: Array) -> Band:
        return _band(values, weight)

    return Posterior(
        active_params=band(draw.active),
        kv_bytes_per_token=band(draw.kv),
        batch_over_critical=band(draw.batch),
        kv_share=band(reading_s / (draw.compute_s / draw.batch + reading_s)),
        markup=band(np.exp(log_markup)),
        effective_draws=float(1.0 / np.sum(weight**2)),
        explained=float(np.exp(np.max(shape))),
    )


LINK_BYTES_PER_S = 50e9
"""PCIe 5.0 x16 or a 400 Gb/s NIC, per direction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draw:
    """One value of everything unknown per draw."""

    active: Array
    kv: Array
    served_kv: Array
    batch: Array
    context: Array
    mfu: Array
    efficiency: Array
    compute_s: Array
    bandwidth: Array
    rent_usd_per_s: Array
    """Per sold second: rental over utilisation."""

    def decode_s(self, length: Array) -> Array:
        """Return device time per output token at a context [s]."""
        read = self.compute_s / self.batch + self.served_kv * length / self.bandwidth
        return np.maximum(self.compute_s, read) / self.efficiency


def _draw(rng: np.random.Generator, offers: Sequence[Offer], prior: Prior, draws: int) -> _Draw:
    share = np.array([o.weight for o in offers])
    pick = rng.choice(len(offers), size=draws, p=share / share.sum())
    rent = np.array([o.usd_per_device_hour for o in offers])[pick] / 3600.0
    rent = rent * np.exp(rng.normal(0.0, np.log(prior.rental_spread) / Z_90, draws))
    sold = np.clip(_uniform(rng, prior.utilisation, draws), 0.05, 1.0)
    active = _log_uniform(rng, prior.active_params, draws)
    kv = _log_uniform(rng, prior.kv_bytes_per_token, draws)
    narrow = rng.uniform(0.0, 1.0, draws) < prior.fp8_cache_share
    return _Draw(
        active=active,
        kv=kv,
        served_kv=np.where(narrow, 0.5 * kv, kv),
        batch=_log_uniform(rng, prior.batch_over_critical, draws),
        context=_log_uniform(rng, prior.context_tokens, draws),
        mfu=np.clip(_uniform(rng, prior.prefill_mfu, draws), 0.05, 1.0),
        efficiency=np.clip(_uniform(rng, prior.decode_efficiency, draws), 0.05, 1.0),
        compute_s=2.0 * active / np.array([o.peak_flop_per_s for o in offers])[pick],
        bandwidth=np.array([o.bandwidth_bytes_per_s for o in offers])[pick],
        rent_usd_per_s=rent / sold,
    )


def _shape(
    rng: np.random.Generator,
    draw: _Draw,
    evidence: Evidence,
    prior: Prior,
    log_out_over_in: Array,
) -> Array:
    """Return the log-likelihood of the sheet's ratios, which no markup can move."""
    shape = np.zeros_like(draw.active)
    if evidence.hbm_bound and not evidence.blended:
        ratio = np.log(evidence.output_usd_per_mtok / evidence.input_usd_per_mtok)
        spread = np.log(prior.ratio_spread) / Z_90
        shape = shape - 0.5 * ((ratio - log_out_over_in) / spread) ** 2
    for start, factor in evidence.steps:
        end = min(4.0 * start, max(evidence.max_context, 1.5 * start))
        long = start * (end / start) ** rng.uniform(0.0, 1.0, len(draw.active))
        rise = draw.decode_s(long) / draw.decode_s(draw.context)
        spread = np.log(prior.step_spread) / Z_90
        shape = shape - 0.5 * (np.log(factor / rise) / spread) ** 2
    return shape


def _band(values: Array, weight: Array) -> Band:
    order = np.argsort(values)
    total = np.cumsum(weight[order])
    low, median, high = np.interp((0.1, 0.5, 0.9), total, values[order])
    prior_low, prior_high = np.quantile(values, (0.1, 0.9))
    return Band(
        low=float(low),
        median=float(median),
        high=float(high),
        prior_low=float(prior_low),
        prior_high=float(prior_high),
    )


def _log_uniform(rng: np.random.Generator, pair: tuple[float, float], draws: int) -> Array:
    """Draw so that the pair holds the middle 80 % of a log-uniform."""
    low, high = np.log(pair[0]), np.log(pair[1])
    reach = (high - low) / 8.0
    return np.exp(rng.uniform(low - reach, high + reach, draws))


def _uniform(rng: np.random.Generator, pair: tuple[float, float], draws: int) -> Array:
    reach = (pair[1] - pair[0]) / 8.0
    return rng.uniform(pair[0] - reach, pair[1] + reach, draws)


def _log_normal(pair: tuple[float, float]) -> tuple[float, float]:
    low, high = float(np.log(pair[0])), float(np.log(pair[1]))
    return (low + high) / 2.0, (high - low) / (2.0 * Z_90)
