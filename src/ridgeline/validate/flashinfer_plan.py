"""How FlashInfer deals decode attention to cores; a benchmark of its kernels shows every gap."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_BLOCKS_PER_CORE = 2
_LEAST_CHUNK = 128
_LATENT_ROWS = 64


def uses_matrix_units(queries_per_kv_head: float, kv_format: str) -> bool:
    """Return whether SGLang's FlashInfer backend decodes on matrix units.

    Source: SGLang, flashinfer_backend.py, `should_use_tensor_core`: an 8-bit cache always, a 16-bit
    one from 5 queries per KV head on.
    """
    return kv_format.startswith("fp8") or queries_per_kv_head > 4


def query_rows(queries_per_kv_head: float, head_dim: float) -> int:
    """Return the rows of a tile that the queries of one KV head fill, or fill in part.

    Source: FlashInfer, include/flashinfer/utils.cuh, `FA2DetermineCtaTileQ`.
    """
    if queries_per_kv_head > 64 and head_dim < 256:
        return 128
    return 64 if queries_per_kv_head > 16 else 16


def grouped_query_growth(
    batch: Array, context: Array, *, heads: float, kv_heads: float, head_dim: float, cores: int
) -> Array:
    """Return FLOP that the slowest core's share of the tiles stands for, over FLOP asked for [1].

    Queries pad to whole tiles; every sequence is cut into as many equal pieces as keep all blocks
    within two per core; n blocks on S cores take ⌈n/S⌉ turns:

        n = B·tiles·pieces·kv_heads,  growth = (tiles·rows / queries) · ⌈n/S⌉ / (n/S)

    Args:
        batch: Sequences [1].
        context: Their cached tokens [1].
        heads: Query heads.
        kv_heads: KV heads.
        head_dim: Width of a head.
        cores: S, of the device.

    Source: FlashInfer, include/flashinfer/attention/scheduler.cuh, `PrefillSplitQOKVIndptr`.
    """
    queries = heads / kv_heads
    rows = query_rows(queries, head_dim)
    tiles = np.ceil(queries / rows)
    room = _BLOCKS_PER_CORE * cores // int(kv_heads)
    pieces = np.clip(room // (batch * tiles), 1, np.ceil(context / _LEAST_CHUNK))
    turns = batch * tiles * pieces * kv_heads / cores
    return np.asarray(tiles * rows / queries * np.ceil(turns) / turns, dtype=np.float64)


def latent_growth(batch: Array, context: Array, *, heads: float, cores: int) -> Array:
    """Return the same for MLA: pieces of one length, longest queue last, to pairs of cores.

    Source: FlashInfer, include/flashinfer/attention/scheduler.cuh, `MLAPlan`.
    """
    pairs = 2 if heads > _LATENT_ROWS else 1
    rows = _LATENT_ROWS * pairs
    tiles = int(np.ceil(heads / rows))
    queues = cores // pairs
    sequences, tokens = np.maximum(batch, 1.0) * tiles, np.maximum(context, 1.0)
    pairs_of = zip(sequences.tolist(), tokens.tolist(), strict=True)
    slowest = [_slowest(int(many), int(long), rows, queues) for many, long in pairs_of]
    mean = sequences * tokens / queues
    return np.asarray(slowest) / mean * (tiles * rows / heads)


def _slowest(sequences: int, context: int, rows: int, queues: int) -> float:
    """Return the most tokens that one queue of cores walks through [1]."""
    limit = _piece(-(-sequences * context // queues))
    if limit >= context:
        return float(-(-sequences // queues) * context)
    waiting = [(0, 0)] * queues
    for _ in range(sequences):
        left = context
        while left > 0:
            taken = min(left, limit)
            cost, tokens = waiting[0]
            heapq.heapreplace(waiting, (cost + 2 * rows + taken, tokens + taken))
            left -= taken
    return float(max(tokens for _, tokens in waiting))


def _piece(even: int) -> int:
    for most, tokens in ((8, 32), (16, 64), (32, 128), (64, 192)):
        if even <= most:
            return tokens
    return -(-even // 256) * 256
