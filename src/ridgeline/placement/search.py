"""Evaluate every layout, batch and pool split of a model on N devices.

Candidates are flat arrays; each is either `mixed` (prefill and decode share the replicas) or
`pools` (x replicas only prefill, y only decode, joined by a cache transfer).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ridgeline.phase.deployment import Deployment
from ridgeline.phase.serving import (
    Load,
    Serving,
    decode_pool,
    kv_transfer_s,
    mixed_serving,
    prefill_pool,
)
from ridgeline.placement.space import Space

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

PER_GROUP = np.unique(np.round(2.0 ** np.arange(0.0, 10.5, 0.5))).astype(np.float64)
"""Sequences per attention group and pipeline slot that are tried: 1 to 1024."""
_PROMPTS = np.array([1.0, 2.0, 4.0])
_CHUNK = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Parallel arrays `[candidates]`; indices point into the space."""

    layout: IntArray
    """Of the decode (or mixed) replicas."""
    batch: FloatArray
    """Requests in flight per decode or mixed replica."""
    replicas: IntArray
    """Decode or mixed replicas."""
    prefill_layout: IntArray
    """-1 for mixed."""
    prefill_batch: FloatArray
    prefill_replicas: IntArray
    precision: IntArray
    """Index of the precision option."""
    tpot_s: FloatArray
    ttft_s: FloatArray
    requests_per_s: FloatArray
    """Of the whole cluster."""

    def __len__(self) -> int:
        """Return the number of candidates."""
        return int(self.layout.size)

    def take(self, index: NDArray[np.bool_] | IntArray) -> Candidates:
        """Return the chosen candidates."""
        return Candidates(
            **{name: getattr(self, name)[index] for name in Candidates.__dataclass_fields__}
        )


def joined(parts: list[Candidates]) -> Candidates:
    """Return all candidates as one."""
    return Candidates(
        **{
            name: np.concatenate([getattr(p, name) for p in parts])
            for name in Candidates.__dataclass_fields__
        }
    )


def search(
    deployment: Deployment,
    space: Space,
    load: Load,
    *,
    num_devices: int,
    precision: int,
    pools: bool,
) -> Iterator[tuple[int, Candidates, float]]:
    """Yield (combinations evaluated, those that fit, share of the search done), in parts.

    Args:
        deployment: Template: model, formats, cluster, efficiency; its layout is replaced.
        space: Layouts to try.
        load: Lengths.
        num_devices: Devices to fill; those that no replica covers stay idle and cost.
        precision: Recorded in the candidates.
        pools: Also try separate prefill and decode pools.
    """
    spread = replace(deployment, layout=space.layout())
    batch = PER_GROUP[None, :] * (space.dp * space.pp)[:, None]
    mixed = mixed_serving(spread, load, batch)
    last = not pools or num_devices < 2
    found = _mixed(mixed, space, batch, num_devices, precision)
    yield batch.size, found, 1.0 if last else 0.0
    if last:
        return
    decode = decode_pool(spread, load, batch)
    prompts: FloatArray = (_PROMPTS[None, :] * space.dp[:, None]).astype(np.float64)
    prefill = prefill_pool(spread, load, prompts)
    kept = np.argwhere(prefill.fits & np.isfinite(prefill.ttft_s))
    kept = kept[_useful(prefill, space, kept)]
    rows = np.argwhere(decode.fits & np.isfinite(decode.tpot_s))
    step = max(1, _CHUNK // max(1, len(kept)))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        yield (
            len(part) * len(kept),
            _pools(spread, space, load, decode, prefill, part, kept, batch, prompts,
                   num_devices, precision),
            (start + len(part)) / len(rows),
        )  # fmt: skip


def _mixed(
    serving: Serving, space: Space, batch: FloatArray, num_devices: int, precision: int
) -> Candidates:
    shape = batch.shape
    rows, columns = np.nonzero(serving.fits & np.isfinite(np.broadcast_to(serving.tpot_s, shape)))
    replicas = num_devices // space.num_devices[rows]
    none = np.full(rows.size, -1, dtype=np.int64)
    at = (rows, columns)
    return Candidates(
        layout=rows,
        batch=batch[at],
        replicas=replicas,
        prefill_layout=none,
        prefill_batch=np.zeros(rows.size),
        prefill_replicas=np.zeros(rows.size, dtype=np.int64),
        precision=np.full(rows.size, precision, dtype=np.int64),
        tpot_s=np.broadcast_to(serving.tpot_s, shape)[at],
        ttft_s=np.broadcast_to(serving.ttft_s, shape)[at],
        requests_per_s=np.broadcast_to(serving.requests_per_s, shape)[at]
        * replicas.astype(np.float64),
    )


def _useful(prefill: Serving, space: Space, kept: IntArray) -> IntArray:
    """Return the prefill options that no other beats in first token and rate per device.

    One option beats another only where its size divides the other's: then its replicas can
    stand wherever the other's stand, and no split of the devices loses.
    """
    ttft = np.asarray(prefill.ttft_s)[kept[:, 0], kept[:, 1]]
    size = space.num_devices[kept[:, 0]]
    rate = np.asarray(prefill.requests_per_s)[kept[:, 0], kept[:, 1]] / size
    useful: list[int] = []
    for i in np.lexsort((size, ttft, -rate)):
        beaten = any(
            ttft[j] <= ttft[i] and rate[j] >= rate[i] and size[i] % size[j] == 0 for j in useful
        )
        if not beaten:
            useful.append(int(i))
    return np.array(useful, dtype=np.int64)


def _pools(
    deployment: Deployment,
    space: Space,
    load: Load,
    decode: Serving,
    prefill: Serving,
    rows: IntArray,
    kept: IntArray,
    batch: FloatArray,
    prompts: FloatArray,
    num_devices: int,
    precision: int,
) -> Candidates:
    d, p = rows[:, None, :], kept[None, :, :]
    at_d, at_p = (d[..., 0], d[..., 1]), (p[..., 0], p[..., 1])
    rate_d = np.asarray(decode.requests_per_s)[at_d]
    rate_p = np.asarray(prefill.requests_per_s)[at_p]
    size_d, size_p = space.num_devices[at_d[0]], space.num_devices[at_p[0]]
    x, y, rate = split(rate_p, size_p, rate_d, size_d, num_devices)
    shape = rate.shape
    ok = rate > 0
    first = np.asarray(prefill.ttft_s)[at_p] + kv_transfer_s(deployment, load, size_p, size_d)

    def flat(value: object) -> NDArray[np.generic]:
        return np.broadcast_to(np.asarray(value), shape)[ok]

    # A pool that waits for the other runs at a smaller batch, so its speed is a lower bound.
    return Candidates(
        layout=flat(at_d[0]).astype(np.int64),
        batch=flat(batch[at_d]).astype(np.float64),
        replicas=flat(y).astype(np.int64),
        prefill_layout=flat(at_p[0]).astype(np.int64),
        prefill_batch=flat(prompts[at_p]).astype(np.float64),
        prefill_replicas=flat(x).astype(np.int64),
        precision=np.full(int(ok.sum()), precision, dtype=np.int64),
        tpot_s=flat(np.asarray(decode.tpot_s)[at_d]).astype(np.float64),
        ttft_s=flat(first + np.asarray(decode.tpot_s)[at_d]).astype(np.float64),
        requests_per_s=flat(rate).astype(np.float64),
    )


def split(
    rate_p: FloatArray, size_p: IntArray, rate_d: FloatArray, size_d: IntArray, num_devices: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return prefill replicas x, decode replicas y and their common rate [request/s].

    Balanced pools have x·r_p = y·r_d and fill x·g_p + y·g_d = N. The best whole pair has x or
    y next to its balance, and as many of the other as fit: with u and v the balance rounded
    down, x ≤ u if prefill limits and y ≤ v if decode does, so only u, u + 1, v, v + 1 can win.
    0 where not even one of each fits.

    Source: first principles.

    >>> x, y, r = split(*map(np.array, ([4.0], [2], [1.0], [1])), 8)
    >>> int(x[0]), int(y[0]), float(r[0])
    (1, 6, 4.0)
    """
    balance_x = num_devices * rate_d / (rate_d * size_p + rate_p * size_d)
    balance_y = balance_x * rate_p / rate_d
    shape = np.broadcast_shapes(balance_x.shape, size_p.shape, size_d.shape)
    best_x, best_y, best = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for up in (0.0, 1.0):
        x = np.clip(np.floor(balance_x) + up, 1.0, (num_devices - size_d) // size_p)
        y = np.clip(np.floor(balance_y) + up, 1.0, (num_devices - size_p) // size_d)
        for whole_x, whole_y in (
            (x, (num_devices - x * size_p) // size_d),
            ((num_devices - y * size_d) // size_p, y),
        ):
            both = (whole_x >= 1) & (whole_y >= 1)
            rate = np.where(both, np.minimum(whole_x * rate_p, whole_y * rate_d), 0.0)
            better = rate > best
            best_x = np.where(better, whole_x, best_x)
            best_y = np.where(better, whole_y, best_y)
            best = np.maximum(best, rate)
    return best_x.astype(np.int64), best_y.astype(np.int64), best
