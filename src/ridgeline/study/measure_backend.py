"""Where arrays live and who multiplies them: NumPy, or torch on the CPU, CUDA or Apple's GPU.

Both libraries share the few functions that the micro-benchmarks and the small model use.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ridgeline.errors import InputError, UnsupportedError

LIBRARIES = ("numpy", "torch")
DEVICES = ("cpu", "cuda", "mps")
_OWN_TIME = 0.9
"""Share of a repeat's time the calling thread must have run for it to count as undisturbed."""
_FEW = 3
_MOST_TRIES = 6
"""Times the asked-for repeats, while others disturb."""
_PATIENCE_S = 4.0
"""And no longer than this once enough repeats are in."""
_PAUSE_S = 0.02
"""After a disturbed repeat, so that the others come to an end of their turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Repeated timings of one thing [s]."""

    median_s: float
    low_s: float
    """10th percentile."""
    high_s: float
    """90th percentile."""
    num_repeats: int
    disturbed: float
    """Share of the repeats in which other programs took the processor."""
    clean: bool
    """Whether enough undisturbed repeats remained to use only them."""

    @property
    def spread(self) -> float:
        """10th to 90th percentile over the median [1]."""
        return (self.high_s - self.low_s) / self.median_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """An array library on a device."""

    library: str
    device: str
    xp: Any
    """numpy or torch: both have matmul, exp, amax, concatenate ..."""
    dtype: Any
    compute_format: str
    """Our name of the dtype."""
    num_threads: int | None
    """Threads of matrix products, where the library says."""

    def random(self, *shape: int) -> Any:
        """Return standard normal numbers."""
        if self.library == "numpy":
            generator = np.random.default_rng(0)
            return generator.standard_normal(shape, dtype=np.float32)
        return self.xp.randn(*shape, device=self.device).to(self.dtype)

    def empty(self, *shape: int) -> Any:
        """Return uninitialised numbers."""
        if self.library == "numpy":
            return np.empty(shape, dtype=np.float32)
        return self.xp.empty(*shape, device=self.device, dtype=self.dtype)

    def integers(self, count: int, below: int) -> Any:
        """Return `count` whole numbers from 0 to `below` - 1."""
        values = np.random.default_rng(0).integers(0, below, count)
        if self.library == "numpy":
            return values
        return self.xp.as_tensor(values, device=self.device)

    def wait(self) -> None:
        """Return when the device has finished."""
        if self.device == "cuda":
            self.xp.cuda.synchronize()
        elif self.device == "mps":
            self.xp.mps.synchronize()

    @property
    def bytes_per_element(self) -> int:
        """Of one number [B]."""
        return 4 if self.compute_format == "fp32" else 2

    def timed(self, work: Callable[[], object], *, repeats: int = 7) -> Sample:
        """Return the median time of `work` and its spread, after one run that does not count."""
        work()
        self.wait()
        own: list[float] = []
        every: list[float] = []
        began = time.perf_counter()
        while len(own) < repeats and len(every) < repeats * _MOST_TRIES:
            if len(every) >= repeats and time.perf_counter() - began > _PATIENCE_S:
                break
            thread, start = time.thread_time(), time.perf_counter()
            work()
            self.wait()
            seconds = time.perf_counter() - start
            every.append(seconds)
            if self.device != "cpu" or time.thread_time() - thread >= _OWN_TIME * seconds:
                own.append(seconds)
            else:
                time.sleep(_PAUSE_S)
        kept = own if len(own) >= _FEW else every
        low, middle, high = (float(x) for x in np.quantile(kept, (0.1, 0.5, 0.9)))
        return Sample(
            median_s=middle,
            low_s=low,
            high_s=high,
            num_repeats=len(kept),
            disturbed=1 - len(own) / len(every),
            clean=len(own) >= _FEW,
        )


def backend_named(library: str, device: str) -> Backend:
    """Return the library on the device.

    Raises:
        InputError: an unknown word, or torch is not installed.
        UnsupportedError: the machine has no such device.
    """
    if library not in LIBRARIES or device not in DEVICES:
        raise InputError(
            f"library must be one of {', '.join(LIBRARIES)} and device one of"
            f" {', '.join(DEVICES)}: {library!r}, {device!r}."
        )
    if library == "numpy":
        if device != "cpu":
            raise InputError(f"NumPy runs on the CPU only: device {device!r}. Use --library torch.")
        return Backend(
            library="numpy",
            device="cpu",
            xp=np,
            dtype=np.float32,
            compute_format="fp32",
            num_threads=_threads_from_environment(),
        )
    return _torch(device)


def _threads_from_environment() -> int | None:
    """Return the threads of NumPy's matrix products, where a variable or the machine says."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdigit() and int(value):
            return int(value)
    return os.cpu_count()


def _torch(device: str) -> Backend:
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError as error:
        raise InputError(
            "torch is not installed: `pip install ridgeline[torch]`, or use --library numpy."
        ) from error
    there = {
        "cpu": lambda: True,
        "cuda": torch.cuda.is_available,
        "mps": torch.backends.mps.is_available,
    }
    if not there[device]():
        raise UnsupportedError(f"torch finds no {device} device on this machine. Use --device cpu.")
    wide = device == "cpu"
    return Backend(
        library="torch",
        device=device,
        xp=torch,
        dtype=torch.float32 if wide else torch.bfloat16,
        compute_format="fp32" if wide else "bf16",
        num_threads=torch.get_num_threads() if wide else None,
    )
