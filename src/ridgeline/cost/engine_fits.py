"""Fitted figures of engines; written from the output of dev/fit_engines.py, never by hand.

Measurements: InferenceX closed-loop runs of 2026 (https://inferencex.com), median time per output
token of DeepSeek-R1, gpt-oss-120b, MiniMax-M2.5 and Qwen3.5-397B on H100 to B300 and MI300X to
MI355X, without speculation: 1,674 rows. Fitted to 9.5 % median error; 13.2 % over (model, chip)
pairs left out of the fit.
"""

from __future__ import annotations

ENGINE_FITS: dict[tuple[str, str], tuple[float, float, float]] = {
    ("vllm", "nvidia"): (16.5, 4.3, 6.7),
    ("sglang", "nvidia"): (0.0, 0.0, 10.4),
    ("trtllm", "nvidia"): (0.0, 0.0, 11.6),
    ("vllm", "amd"): (36.1, 0.0, 14.9),
    ("sglang", "amd"): (87.6, 0.0, 22.8),
    ("atom", "amd"): (43.9, 0.0, 10.9),
}
"""By engine and vendor: small kernels per layer [us], host per sequence and step [us], and
median error [%] on (model, chip) pairs left out of the fit."""

OLDER_LAYER_US = {"hopper": 15.6, "cdna3": 47.7}
"""What small kernels of a layer with routed experts take longer on the generation before the
newest [us]: no programmatic dependent launch, block-scaled formats in software."""
