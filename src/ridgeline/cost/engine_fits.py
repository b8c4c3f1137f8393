"""Fitted figures of engines; written from the output of dev/fit_engines.py, never by hand.

Measurements: InferenceX closed-loop runs of 2026 (https://inferencex.com), median time per output
token of DeepSeek-R1, gpt-oss-120b, MiniMax-M2.5 and Qwen3.5-397B on H100 to B300 and MI300X to
MI355X, without speculation: 1,674 rows. Fitted to 9.6 % median error; 12.9 % over (model, chip)
pairs left out of the fit.
"""

from __future__ import annotations

ENGINE_FITS: dict[tuple[str, str], tuple[float, float, float]] = {
    ("vllm", "nvidia"): (12.3, 4.1, 6.4),
    ("sglang", "nvidia"): (0.0, 0.0, 12.7),
    ("trtllm", "nvidia"): (0.3, 0.0, 11.4),
    ("vllm", "amd"): (33.9, 8.1, 14.9),
    ("sglang", "amd"): (85.4, 11.5, 22.7),
    ("atom", "amd"): (42.3, 1.4, 10.7),
}
"""By engine and vendor: small kernels per layer [us], host per sequence and step [us], and
median error [%] on (model, chip) pairs left out of the fit."""

OLDER_LAYER_US = {"hopper": 20.6, "cdna3": 44.2}
"""What small kernels of a layer with routed experts take longer on the generation before the
newest [us]: no programmatic dependent launch, block-scaled formats in software."""
