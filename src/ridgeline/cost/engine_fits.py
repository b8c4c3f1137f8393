"""Fitted figures of engines; written by dev/fit_engines.py, never by hand."""

from __future__ import annotations

EXPERT_SHARE = 0.8
"""Share of the standalone time of grouped GEMMs, one figure for every engine."""

ENGINE_FITS: dict[tuple[str, str], tuple[float, float, float]] = {
    ("vllm", "nvidia"): (20.8, 10.5, 6.7),
    ("sglang", "nvidia"): (2.7, 0.0, 10.9),
    ("trtllm", "nvidia"): (13.5, 2.0, 9.3),
    ("vllm", "amd"): (56.9, 19.2, 13.9),
    ("sglang", "amd"): (76.8, 15.5, 12.4),
    ("atom", "amd"): (45.4, 4.1, 18.0),
}
"""By engine and vendor: small kernels per layer [us], host per sequence and step [us], and
median error [%] on (model, chip) groups left out of the fit."""
