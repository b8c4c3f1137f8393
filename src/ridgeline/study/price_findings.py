"""The findings of a sheet: one figure, one hypothesis, what it would mean, how plausible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgeline.catalog.prices import builtin_prices
from ridgeline.chalkboard import fast_mode
from ridgeline.chalkboard import prices as chalk
from ridgeline.chalkboard import tiers as chalk_tiers
from ridgeline.economics.ownership import HOURS_PER_MONTH
from ridgeline.economics.price_list import PriceRow
from ridgeline.economics.price_posterior import Evidence, Posterior
from ridgeline.errors import InputError

MAX_FAST_RATIO = 1e6
"""Fast over standard, in speed or price: beyond, a slip of the pen."""
TTL_S = {"5m": 300.0, "1h": 3600.0, "12h": 43_200.0}
DEAREST_TIER_USD_PER_GB_MONTH = (
    ("HBM", 20.0),
    ("DRAM", 0.3),
    ("networked flash or cloud storage", 0.02),
    ("local flash", 0.003),
)
"""Lowest monthly rent of each tier in the tier catalogue (rounded down)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One figure of the sheet and what it would mean."""

    figure: str
    hypothesis: str
    implied: str
    low: float | None
    high: float | None
    unit: str
    plausibility: str


def level_findings(base: PriceRow, evidence: Evidence, p: Posterior) -> list[Finding]:
    """Read the input price as a level: active parameters, if it follows arithmetic."""
    band = p.active_params
    text = "a tariff class: many models share this price" if evidence.tariff else "plausible"
    if p.markup.low > 5:
        text = f"price is {p.markup.low:.0f}-{p.markup.high:.0f} times cost: not explained by cost"
    return [
        Finding(
            figure=f"input {base.input_usd_per_mtok:g}",
            hypothesis="price follows arithmetic: USD/s·2N/(F·MFU·utilisation)·markup",
            implied="active parameters",
            low=band.low,
            high=band.high,
            unit="params",
            plausibility=text,
        )
    ]


def ratio_findings(base: PriceRow, evidence: Evidence, p: Posterior) -> list[Finding]:
    """Read output over input: utilisation ratio, batch and cache share (C6-F8 to F10)."""
    r = base.output_usd_per_mtok / base.input_usd_per_mtok
    if evidence.blended:
        return [
            Finding(
                figure="output = input",
                hypothesis="one price for a mix of both kinds",
                implied="nothing about the ratio of decode to prefill",
                low=None,
                high=None,
                unit="",
                plausibility="a convention, not a cost",
            )
        ]
    odd = "decode below prefill cost cannot be" if r < 1 else "plausible"
    if not evidence.hbm_bound:
        odd = "served from SRAM: the HBM forms do not apply"
    elif r > 8:
        odd = "high: hidden reasoning, long contexts or demand, not one roofline"
    band = p.batch_over_critical
    return [
        Finding(
            figure=f"output/input {r:.3g}",
            hypothesis="decode is memory-bound, prefill compute-bound (C6-F10)",
            implied="decode MFU over prefill MFU",
            low=float(chalk.decode_over_prefill_mfu(output_input_ratio=r)),
            high=float(chalk.decode_over_prefill_mfu(output_input_ratio=r)),
            unit="1",
            plausibility=odd,
        ),
        Finding(
            figure=f"output/input {r:.3g}",
            hypothesis="weights and cache read share the step (joint)",
            implied="decode batch over critical batch",
            low=band.low,
            high=band.high,
            unit="1",
            plausibility=f"cache reads are {p.kv_share.low:.0%}-{p.kv_share.high:.0%} of the step",
        ),
    ]


def step_finding(base: PriceRow, step: PriceRow, p: Posterior) -> Finding:
    """Read a bracket as the crossover of C6-F5, with batch and active size uncertain."""
    rng = np.random.default_rng(0)
    spread = np.log(p.active_params.high / p.active_params.low) / 2.563
    active = p.active_params.median * np.exp(rng.normal(0.0, spread, 4000))
    kv = chalk.kv_bytes_at_finite_batch(
        active_params=active,
        bytes_per_param=rng.choice([2.0, 1.0, 0.5], 4000, p=[0.2, 0.6, 0.2]),
        balance_ratio=rng.uniform(200.0, 320.0, 4000),
        step_tokens=float(step.above_tokens),
        batch_over_critical=rng.uniform(1.5, 5.0, 4000),
    )
    low, high = (float(x) for x in np.quantile(kv, (0.1, 0.9)))
    rise_in = step.input_usd_per_mtok / base.input_usd_per_mtok
    rise_out = step.output_usd_per_mtok / base.output_usd_per_mtok
    if high < 5e3:
        text = "below any GQA or latent design at bf16: windows, shared or sparse caches"
    elif low < 5e3:
        text = "only its upper end reaches published designs (5-450 kB in bf16)"
    else:
        text = "in the range of published designs"
    if rise_in >= rise_out * 0.99 and rise_in > 1.01:
        text += "; input rises as much as output, which cache reads do not explain: segmentation"
    return Finding(
        figure=f"above {step.above_tokens:,}: input x{rise_in:.3g}, output x{rise_out:.3g}",
        hypothesis="the step sits where cache reads equal compute (C6-F5, m = 1.5-5)",
        implied="cache bytes per token",
        low=low,
        high=high,
        unit="B",
        plausibility=text,
    )


def cache_read_findings(base: PriceRow) -> list[Finding]:
    """Read the price of a hit: the most it can cost to load, and whether it is a house rule."""
    read = base.cache_read_usd_per_mtok
    if not read:
        return []
    share = read / base.input_usd_per_mtok
    ratios = [
        r.cache_read_usd_per_mtok / r.input_usd_per_mtok
        for r in builtin_prices()
        if r.provider == base.provider
        and r.tier == "standard"
        and r.cache_read_usd_per_mtok
        and r.input_usd_per_mtok
    ]
    same = sum(abs(x - share) < 0.005 for x in ratios)
    text = "an architecture signal" if same < 0.5 * len(ratios) else "a house rule"
    return [
        Finding(
            figure=f"cache read {read:g} = {share:.3g} of input",
            hypothesis="a hit costs the reading of k over a 50 GB/s link",
            implied="cache bytes per token, at 3 USD per device-hour",
            low=None,
            high=read / 1e6 * 50e9 / (3.0 / 3600.0),
            unit="B",
            plausibility=f"{text}: the same share in {same} of {len(ratios)} prices of"
            f" {base.provider}; recomputing would cost 1/{1 / share:.3g}",
        )
    ]


def cache_write_findings(base: PriceRow, p: Posterior) -> list[Finding]:
    """Read write premiums and storage prices as rent of room (C6-N12, N16)."""
    found: list[Finding] = []
    read = base.cache_read_usd_per_mtok or 0.0
    for ttl, price in base.cache_write_usd_per_mtok:
        if ttl not in TTL_S or price <= base.input_usd_per_mtok:
            continue
        per_hour = (
            float(
                chalk_tiers.implied_hold_price(
                    write_usd_per_token=price / 1e6,
                    base_usd_per_token=base.input_usd_per_mtok / 1e6,
                    lifetime_s=TTL_S[ttl],
                )
            )
            * 3600.0
            * 1e6
        )
        reads = chalk_tiers.break_even_reads(
            write_multiple=price / base.input_usd_per_mtok,
            read_multiple=read / base.input_usd_per_mtok,
        )
        found.append(
            _hold(f"write {ttl} {price:g}", per_hour, p, f"; pays from {float(reads):.2f} reads")
        )
    if base.cache_storage_usd_per_mtok_hour:
        usd = base.cache_storage_usd_per_mtok_hour
        found.append(_hold(f"storage {usd:g} per hour", usd, p, ""))
    return found


def _hold(figure: str, usd_per_mtok_hour: float, p: Posterior, tail: str) -> Finding:
    """Read a holding price as rent per GB and month with k from the posterior."""
    k = p.kv_bytes_per_token
    rents = [usd_per_mtok_hour * HOURS_PER_MONTH / (x * 1e6 / 1e9) for x in (k.high, k.low)]
    middle = float(np.sqrt(rents[0] * rents[1]))
    tier = next((n for n, usd in DEAREST_TIER_USD_PER_GB_MONTH if middle >= usd), "disk")
    return Finding(
        figure=f"{figure}: {usd_per_mtok_hour:.3g} USD/Mtok-h",
        hypothesis="the premium pays for holding k bytes per token (C6-N12)",
        implied="rent of room",
        low=rents[0],
        high=rents[1],
        unit="USD/GB-month",
        plausibility=f"covers {tier}{tail}",
    )


def fast_findings(price: float | None, speed: float | None) -> list[Finding]:
    """Read a fast mode as a batch ratio, a cache share and ceilings (C1-N18)."""
    if price is None or price <= 1:
        return []
    if speed is None:
        return [
            Finding(
                figure=f"fast mode at x{price:.3g}",
                hypothesis="same hardware, smaller batch (C1-F13)",
                implied="needs the speed: give --fast-speed",
                low=None,
                high=None,
                unit="",
                plausibility="a price list states no speed",
            )
        ]
    if not 1 < speed <= MAX_FAST_RATIO:
        raise InputError(
            f"--fast-speed must be above 1 (fast over standard) and at most"
            f" {MAX_FAST_RATIO:,.0f}: {speed}."
        )
    ratio = float(fast_mode.batch_ratio(price_ratio=price, speed_ratio=speed))
    share = float(fast_mode.fast_kv_share(batch_ratio=ratio, speed_ratio=speed))
    ceiling = float(fast_mode.speed_ceiling(batch_ratio=ratio, fast_kv_share=share))
    saving = float(fast_mode.slow_saving(batch_ratio=ratio, fast_kv_share=share))
    kv = float(fast_mode.slow_kv_fraction(batch_ratio=ratio, fast_kv_share=share))
    figure = f"fast mode x{price:.3g} for speed x{speed:.3g}"

    def finding(implied: str, value: float, text: str) -> Finding:
        return Finding(
            figure=figure,
            hypothesis="same hardware, both modes memory-bound (C1-N18)",
            implied=implied,
            low=value,
            high=value,
            unit="1",
            plausibility=text,
        )

    return [
        finding("slow batch over fast batch", ratio, "or other hardware, or speculative decoding"),
        finding("cache share of the slow step", kv, f"slower modes save at most {saving:.0%}"),
        finding("largest speed-up at any price", ceiling, "only the weights are read"),
    ]
