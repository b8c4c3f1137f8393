"""Micro-benchmarks: memory, square and skinny matrix products, attention, element-wise work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ridgeline.study.measure_backend import Backend, Sample
from ridgeline.study.measure_model import HEAD_DIM, attention, rms_norm, rotary, swiglu

Progress = Callable[[str], None]
"""Told what starts."""

_SKINNY = ((768, 3072), (1280, 7680), (2048, 2048), (3072, 1280))
"""Inner and outer width of the skinny products: wide, square and tall as layers have them, but
not those of the model that is predicted."""
ROWS = (1, 2, 4, 8, 16, 32, 64, 128)
_ATTENTION = (
    (1, 64), (1, 256), (1, 1024), (1, 3072), (4, 96), (4, 768), (8, 512), (8, 1536), (16, 64),
    (16, 1280), (32, 192), (32, 640),
)  # fmt: skip
"""Sequences and cached tokens of one attention layer."""
_ELEMENT_ROWS = (1, 8, 32, 128)
_KV_HEADS, _GROUP = 4, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One timed kernel and its work."""

    kind: str
    """`read`, `gemm`, `skinny`, `attention` or `elementwise`."""
    name: str
    sample: Sample
    flop: float
    moved_bytes: float
    rows: float = 1.0
    """Rows of a matrix product, sequences of attention."""
    sequence_bytes: float = 0.0
    """Bytes of one cached token of all sequences (attention)."""

    @property
    def bytes_per_s(self) -> float:
        """Bytes moved over the median time."""
        return self.moved_bytes / self.sample.median_s

    @property
    def flop_per_s(self) -> float:
        """FLOP over the median time."""
        return self.flop / self.sample.median_s


NUM_KERNELS = 4 + len(_SKINNY) * len(ROWS) + len(_ATTENTION) + 2 * len(_ELEMENT_ROWS)


def run_kernels(
    backend: Backend, *, cache_bytes: float, quick: bool, progress: Progress
) -> tuple[Kernel, ...]:
    """Return every micro-benchmark; what must come from memory exceeds the cache eightfold."""
    repeats = 5 if quick else 9
    size = int(min(max(8 * cache_bytes, 128e6), 2e9))
    found = [*_reads(backend, size, repeats, progress), _square(backend, quick, progress)]
    for inner, outer in _SKINNY:
        found += _skinny(backend, inner, outer, size, repeats, progress)
    found += _attention_kernels(backend, repeats, size, progress)
    found += _element_kernels(backend, repeats, progress)
    return tuple(found)


def _reads(backend: Backend, size: int, repeats: int, progress: Progress) -> list[Kernel]:
    """Return three kernels that read an array once: dot, sum, and matrix times vector."""
    xp, width = backend.xp, 4096
    rows = size // backend.bytes_per_element // width
    matrix = backend.random(rows, width)
    flat, vector = matrix.reshape(-1), backend.random(width)
    moved = float(rows * width * backend.bytes_per_element)
    works: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("dot", lambda: xp.dot(flat, flat)),
        ("sum", flat.sum),
        ("matrix · vector", lambda: xp.matmul(matrix, vector)),
    )
    found: list[Kernel] = []
    for name, work in works:
        progress(f"read: {name}")
        sample = backend.timed(work, repeats=repeats)
        found.append(
            Kernel(kind="read", name=name, sample=sample, flop=2 * rows * width, moved_bytes=moved)
        )
    return found


def _square(backend: Backend, quick: bool, progress: Progress) -> Kernel:
    n = (1024 if quick else 2048) if backend.device == "cpu" else 8192
    progress(f"square product of {n}")
    left, right = backend.random(n, n), backend.random(n, n)
    sample = backend.timed(lambda: backend.xp.matmul(left, right), repeats=7)
    moved = 3.0 * n * n * backend.bytes_per_element
    return Kernel(
        kind="gemm", name=f"{n}³", sample=sample, flop=2.0 * n**3, moved_bytes=moved, rows=n
    )


def _skinny(
    backend: Backend, inner: int, outer: int, size: int, repeats: int, progress: Progress
) -> list[Kernel]:
    """Return products of few rows with matrices that come from memory, one after another."""
    each = inner * outer * backend.bytes_per_element
    matrices = [backend.random(inner, outer) for _ in range(max(size // each, 2))]
    found: list[Kernel] = []
    for rows in ROWS:
        progress(f"product of {rows} rows, {inner} × {outer}")
        x = backend.random(rows, inner)
        state = {"next": 0}

        def work(x: Any = x, state: dict[str, int] = state) -> Any:
            state["next"] = (state["next"] + 1) % len(matrices)
            return backend.xp.matmul(x, matrices[state["next"]])

        sample = backend.timed(work, repeats=max(3 * repeats, 15))
        moved = each + rows * (inner + outer) * backend.bytes_per_element
        found.append(
            Kernel(
                kind="skinny",
                name=f"{rows} × {inner} × {outer}",
                sample=sample,
                flop=2.0 * rows * inner * outer,
                moved_bytes=float(moved),
                rows=rows,
            )
        )
    return found


def _attention_kernels(
    backend: Backend, repeats: int, size: int, progress: Progress
) -> list[Kernel]:
    """Return decode attention of one layer, on caches that come from memory in turn."""
    found: list[Kernel] = []
    token = 2 * _KV_HEADS * HEAD_DIM * backend.bytes_per_element
    for batch, tokens in _ATTENTION:
        progress(f"attention of {batch} × {tokens} tokens")
        copies = max(2, min(64, size // (2 * batch * tokens * token)))
        caches = [backend.random(batch, _KV_HEADS, tokens, HEAD_DIM) for _ in range(copies)]
        queries = backend.random(batch, _KV_HEADS, _GROUP, HEAD_DIM)
        state = {"next": 0}

        def work(
            caches: Sequence[Any] = caches,
            queries: Any = queries,
            state: dict[str, int] = state,
        ) -> Any:
            i = state["next"] = (state["next"] + 1) % len(caches)
            return attention(backend.xp, queries, caches[i], caches[i - 1])

        sample = backend.timed(work, repeats=max(2 * repeats, 9))
        found.append(
            Kernel(
                kind="attention",
                name=f"{batch} × {tokens}",
                sample=sample,
                flop=4.0 * batch * tokens * _KV_HEADS * _GROUP * HEAD_DIM,
                moved_bytes=float(batch * tokens * token),
                rows=batch,
                sequence_bytes=float(batch * token),
            )
        )
    return found


def _element_kernels(backend: Backend, repeats: int, progress: Progress) -> list[Kernel]:
    """Return what surrounds the products of a layer: norm with residual and rotary, SwiGLU.

    Bytes as the engine counts fused kernels; NumPy runs several passes, which the share shows.
    """
    xp, hidden, inner = backend.xp, 1024, 2816
    heads = 2 * _KV_HEADS + _KV_HEADS * (_GROUP - 1)
    found: list[Kernel] = []
    for rows in _ELEMENT_ROWS:
        x, weight = backend.random(rows, hidden), backend.random(hidden)
        qk = backend.random(rows, heads, HEAD_DIM)
        angle = backend.random(HEAD_DIM // 2)
        gate_up = backend.random(rows, 2 * inner)
        works: tuple[tuple[str, int, Callable[[], Any]], ...] = (
            (
                "norm, rotary",
                4 * hidden + 2 * heads * HEAD_DIM,
                lambda x=x, w=weight, qk=qk, a=angle: (
                    rms_norm(xp, x + x, w),
                    rotary(xp, qk, a, a),
                ),
            ),
            (
                "norm, SwiGLU",
                4 * hidden + 3 * inner,
                lambda x=x, w=weight, g=gate_up: (rms_norm(xp, x + x, w), swiglu(xp, g)),
            ),
        )
        for name, width, work in works:
            progress(f"{name}, {rows} rows")
            sample = backend.timed(work, repeats=max(3 * repeats, 15))
            found.append(
                Kernel(
                    kind="elementwise",
                    name=f"{name}, {rows} rows",
                    sample=sample,
                    flop=0.0,
                    moved_bytes=float(rows * width * backend.bytes_per_element),
                    rows=rows,
                )
            )
    return found
