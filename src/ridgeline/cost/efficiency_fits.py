"""Fitted figures of kernels; written by dev/fit_kernels.py, never by hand.

Measurements: NVIDIA aiconfigurator-core 0.12.0 (PyPI, Apache-2.0), read on 2026-12-01: kernels of
vLLM 0.14 (A100) and 0.24, SGLang 0.5.10 (A100) and 0.5.14, TensorRT-LLM 1.0.0 (A100) and
1.3.0rc20, replayed under CUDA graphs.
"""

from __future__ import annotations

from typing import NamedTuple


class Fit(NamedTuple):
    """One fitted curve; `cost.efficiency.Curve` explains the figures."""

    kind: str
    form: str
    """Format; `@engine` where one engine's kernels are fitted apart."""
    generation: str
    launch_us: float
    compute_share: float
    bandwidth_share: float
    unhidden: float
    tail_tiles: float
    row_tile: float
    quantize_passes: float
    page_tokens: float
    softmax_width: float
    rows: float
    """Measurements fitted."""
    error_percent: float
    """Median absolute error."""
    p90_percent: float
    bias_percent: float
    spread_percent: float
    """σ of ln(measured / fitted), from its 10-90 % band."""
    held_out_percent: float
    """Median error on a system the fit had not seen, averaged; nan where there is one system."""


SYSTEMS = {
    "ampere": ("A100 SXM",),
    "hopper": ("H100 SXM", "H200 SXM"),
    "blackwell": ("B200 SXM", "GB200"),
    "blackwell_ultra": ("B300 SXM", "GB300"),
    "ada": ("L40S",),
    "blackwell_rtx": ("RTX PRO 6000 Server",),
}
"""Generation to the systems measured."""

# Columns are the fields of Fit, in order.
_TABLE = """
gemm bf16 ada 2.30 0.610 0.804 0.277 0.0 0.0 0.00 0.0 0 9000 11.3 34 -0 19 nan
gemm bf16 ampere 5.32 0.831 0.810 0.497 2.0 0.0 0.00 0.0 0 9000 7.5 21 0 12 nan
gemm bf16 blackwell 2.59 0.738 0.836 0.323 22.6 0.0 0.00 0.0 0 18000 8.1 23 1 13 8
gemm bf16 blackwell_rtx 2.86 0.879 1.000 0.513 0.3 0.0 0.00 0.0 0 9000 7.6 26 -0 13 nan
gemm bf16 blackwell_ultra 2.45 0.821 0.827 0.316 25.3 0.0 0.00 0.0 0 18000 7.6 22 1 13 8
gemm bf16 hopper 3.35 0.817 0.874 0.240 8.9 0.0 0.00 0.0 0 18000 7.0 19 1 11 7
gemm fp4 blackwell 6.36 0.522 0.809 0.591 92.1 0.0 0.75 0.0 0 18000 12.3 39 -0 22 12
gemm fp4 blackwell_rtx 4.66 0.725 0.802 0.115 134.8 0.0 0.18 0.0 0 9000 8.1 27 -0 15 nan
gemm fp4 blackwell_ultra 6.44 0.407 0.822 0.710 95.3 0.0 0.65 0.0 0 18000 14.3 43 1 25 15
gemm fp8 ada 5.43 0.512 0.790 0.386 11.8 0.0 0.76 0.0 0 9000 13.8 49 0 26 nan
gemm fp8 blackwell 7.76 0.659 0.880 0.724 43.5 0.0 3.15 0.0 0 18000 17.8 41 2 28 18
gemm fp8 blackwell_rtx 7.86 0.838 0.993 0.456 34.5 0.0 1.14 0.0 0 9000 12.5 49 1 25 nan
gemm fp8 blackwell_ultra 7.36 0.747 0.866 0.745 47.3 0.0 3.00 0.0 0 18000 17.0 40 2 27 17
gemm fp8 hopper 7.82 0.693 0.952 0.659 20.4 0.0 2.55 0.0 0 18000 15.0 37 1 23 16
gemm fp8_block ada 2.91 0.304 0.800 0.185 17.9 0.0 0.44 0.0 0 3000 7.5 35 0 16 nan
gemm fp8_block blackwell 5.94 0.692 0.904 0.465 63.7 0.0 1.04 0.0 0 12000 5.6 20 1 12 6
gemm fp8_block blackwell_rtx 6.55 0.655 1.000 0.567 37.4 0.0 3.10 0.0 0 3000 14.0 51 2 28 nan
gemm fp8_block blackwell_ultra 5.65 0.769 0.880 0.488 68.5 0.0 0.95 0.0 0 12000 5.4 18 1 10 6
gemm fp8_block hopper 4.32 0.646 0.977 0.761 33.7 0.0 1.55 0.0 0 12000 10.3 30 0 17 11
gemm w4a16 ampere 12.04 0.801 1.000 0.558 13.0 0.0 0.00 0.0 0 3000 7.9 24 1 14 nan
gemm w8a16 ampere 11.93 0.851 0.963 0.450 13.7 0.0 0.00 0.0 0 3000 7.6 23 1 13 nan
attention_prefill bf16 ada 8.57 0.475 0.738 0.739 53.8 0.0 0.00 0.0 0 9000 17.8 56 -1 29 nan
attention_prefill bf16 ampere 13.21 0.572 0.444 0.802 91.2 0.0 0.00 0.0 0 9000 14.8 34 1 20 nan
attention_prefill bf16 blackwell 13.54 0.506 0.271 0.605 221.2 0.0 0.00 0.0 0 18000 23.7 55 2 34 24
attention_prefill bf16 blackwell_rtx 9.71 0.590 0.756 0.792 98.4 0.0 0.00 0.0 0 9000 21.4 59 2 30 nan
attention_prefill bf16 blackwell_ultra 12.69 0.633 0.295 0.626 227.7 0.0 0.00 0.0 0 18000 21.8 54 2 32 22
attention_prefill bf16 hopper 13.64 0.606 0.418 0.863 70.5 0.0 0.00 0.0 0 18000 16.9 42 1 26 18
attention_prefill bf16/fp8 ada 9.45 0.448 0.731 0.713 95.4 0.0 0.00 0.0 0 9000 15.2 43 0 25 nan
attention_prefill bf16/fp8 blackwell 14.09 0.494 0.181 0.598 402.9 0.0 0.00 0.0 0 17168 23.1 72 1 47 23
attention_prefill bf16/fp8 blackwell_rtx 10.83 0.556 0.804 0.777 162.3 0.0 0.00 0.0 0 9000 18.7 48 -0 28 nan
attention_prefill bf16/fp8 blackwell_ultra 13.39 0.691 0.197 0.653 426.1 0.0 0.00 0.0 0 17168 22.7 72 1 48 23
attention_prefill bf16/fp8 hopper 16.21 0.672 0.287 0.976 102.6 0.0 0.00 0.0 0 12000 15.8 45 -0 25 17
attention_prefill fp8 ada 8.77 0.194 0.494 0.360 96.9 0.0 0.00 0.0 0 3816 31.1 78 -8 43 nan
attention_prefill fp8 blackwell 17.23 0.329 0.257 0.745 301.3 0.0 0.00 0.0 0 12000 17.1 49 2 32 17
attention_prefill fp8 blackwell_rtx 10.72 0.235 0.551 0.362 146.3 0.0 0.00 0.0 0 4292 34.6 76 -3 46 nan
attention_prefill fp8 blackwell_ultra 16.20 0.460 0.271 0.819 283.5 0.0 0.00 0.0 0 12000 15.7 48 2 30 16
attention_prefill fp8 hopper 14.94 0.392 0.481 0.838 68.9 0.0 0.00 0.0 0 12000 19.8 51 0 32 21
latent_attention_prefill bf16 ada 9.60 0.068 0.486 0.049 6.6 0.0 0.00 0.0 0 1576 24.1 418 -5 79 nan
latent_attention_prefill bf16 ampere 13.95 0.515 0.529 0.454 97.4 0.0 0.00 0.0 0 696 3.8 22 0 9 nan
latent_attention_prefill bf16 blackwell 14.61 0.615 0.469 0.594 279.6 0.0 0.00 0.0 0 3520 8.6 32 1 20 9
latent_attention_prefill bf16 blackwell_rtx 13.09 0.154 0.510 0.001 67.6 0.0 0.00 0.0 0 1760 56.0 207 0 78 nan
latent_attention_prefill bf16 blackwell_ultra 13.54 0.717 0.515 0.592 301.1 0.0 0.00 0.0 0 3520 8.3 30 1 17 9
latent_attention_prefill bf16 hopper 16.13 0.625 0.566 0.521 135.4 0.0 0.00 0.0 0 1760 5.5 23 1 12 7
latent_attention_prefill bf16/fp8 ada 9.32 0.459 0.566 0.335 51.6 0.0 0.00 0.0 0 696 7.9 28 -1 13 nan
latent_attention_prefill bf16/fp8 ampere 14.03 0.516 0.511 0.467 99.1 0.0 0.00 0.0 0 696 4.1 22 0 9 nan
latent_attention_prefill bf16/fp8 blackwell 19.74 0.833 0.294 0.732 344.1 0.0 0.00 0.0 0 3520 6.8 24 0 13 7
latent_attention_prefill bf16/fp8 blackwell_rtx 15.49 0.979 0.446 0.757 162.8 0.0 0.00 0.0 0 880 5.6 21 -0 10 nan
latent_attention_prefill bf16/fp8 blackwell_ultra 18.40 1.000 0.320 0.612 296.6 0.0 0.00 0.0 0 3520 8.3 22 1 13 9
latent_attention_prefill bf16/fp8 hopper 19.41 0.740 0.352 0.777 143.9 0.0 0.00 0.0 0 1760 4.9 27 0 12 7
attention_decode bf16 ada 9.28 0.475 0.817 0.000 0.0 0.0 0.00 3.4 0 9000 9.7 52 2 26 nan
attention_decode bf16 ampere 16.42 0.572 0.706 0.000 0.0 0.0 0.00 42.3 0 8302 17.7 51 0 28 nan
attention_decode bf16 blackwell 10.12 0.506 0.938 0.000 0.0 0.0 0.00 80.7 0 18000 8.7 31 -0 16 9
attention_decode bf16 blackwell_rtx 9.48 0.590 0.980 0.000 0.0 0.0 0.00 8.9 0 9000 17.2 65 -2 34 nan
attention_decode bf16 blackwell_ultra 9.69 0.633 0.920 0.000 0.0 0.0 0.00 73.9 0 18000 9.4 32 -0 16 10
attention_decode bf16 hopper 11.12 0.606 0.853 0.000 0.0 0.0 0.00 88.8 0 18000 10.2 33 1 19 12
attention_decode bf16/fp8 ada 10.97 0.448 0.821 0.000 0.0 0.0 0.00 37.4 0 9000 13.1 50 1 34 nan
attention_decode bf16/fp8 blackwell 11.96 0.494 0.885 0.000 0.0 0.0 0.00 139.4 0 18000 13.3 36 2 22 13
attention_decode bf16/fp8 blackwell_rtx 10.77 0.556 1.000 0.000 0.0 0.0 0.00 46.6 0 9000 13.4 61 -1 26 nan
attention_decode bf16/fp8 blackwell_ultra 11.43 0.691 0.874 0.000 0.0 0.0 0.00 130.5 0 18000 13.7 37 2 24 14
attention_decode bf16/fp8 hopper 12.65 0.672 0.635 0.000 0.0 0.0 0.00 126.8 0 18000 17.0 60 -1 31 20
latent_attention_decode bf16 ada 16.82 0.146 0.773 0.253 0.0 0.0 0.00 0.0 0 1974 28.2 93 3 84 nan
latent_attention_decode bf16 ampere 22.49 0.171 0.245 0.001 0.0 0.0 0.00 0.0 0 1096 49.4 93 3 114 nan
latent_attention_decode bf16 blackwell 11.88 0.707 0.720 0.215 0.0 0.0 0.00 68.9 0 4384 9.4 28 1 18 10
latent_attention_decode bf16 blackwell_rtx 22.14 0.117 0.664 0.045 0.0 0.0 0.00 0.0 0 2012 33.6 97 1 94 nan
latent_attention_decode bf16 blackwell_ultra 11.41 0.686 0.708 0.133 0.0 0.0 0.00 66.0 0 4384 9.2 29 1 18 11
latent_attention_decode bf16 hopper 14.34 0.682 0.904 0.231 0.0 0.0 0.00 61.7 0 4384 7.9 24 1 14 9
latent_attention_decode bf16/fp8 ada 13.36 0.177 0.367 0.001 0.0 0.0 0.00 0.0 0 1096 49.3 95 6 111 nan
latent_attention_decode bf16/fp8 ampere 22.96 0.163 0.128 0.001 0.0 0.0 0.00 0.0 0 1096 54.7 96 1 117 nan
latent_attention_decode bf16/fp8 blackwell 11.14 1.000 0.839 0.512 0.0 0.0 0.00 155.7 0 4384 10.2 29 2 19 11
latent_attention_decode bf16/fp8 blackwell_rtx 15.13 0.583 0.364 0.010 0.0 0.0 0.00 0.0 0 1096 53.2 96 -3 115 nan
latent_attention_decode bf16/fp8 blackwell_ultra 10.71 1.000 0.816 0.424 0.0 0.0 0.00 140.9 0 4384 11.0 31 2 19 12
latent_attention_decode bf16/fp8 hopper 13.85 0.846 0.733 0.355 0.0 0.0 0.00 86.6 0 2192 11.5 27 0 16 18
expert_gemm bf16 ada 4.29 0.346 0.786 0.504 17.1 1.7 0.00 0.0 0 9000 20.5 73 3 42 nan
expert_gemm bf16 ampere 9.61 0.097 0.817 1.000 5.4 1.0 0.00 0.0 0 3000 23.9 100 1 48 nan
expert_gemm bf16 blackwell 7.32 0.521 0.971 0.786 121.2 1.0 0.00 0.0 0 18000 20.4 54 2 35 20
expert_gemm bf16 blackwell_rtx 3.89 0.484 0.939 0.256 50.0 1.0 0.00 0.0 0 9000 13.8 50 1 29 nan
expert_gemm bf16 blackwell_ultra 6.73 0.556 0.952 0.796 130.7 1.0 0.00 0.0 0 18000 19.9 54 1 35 20
expert_gemm bf16 hopper 10.68 0.512 0.916 1.000 75.9 1.0 0.00 0.0 0 18000 23.9 68 2 51 24
expert_gemm fp4 blackwell 11.53 0.644 1.000 1.000 177.4 1.0 1.21 0.0 0 18000 25.4 66 1 43 25
expert_gemm fp4 blackwell_rtx 16.28 0.851 1.000 0.207 180.7 117.0 0.00 0.0 0 9000 13.8 44 1 25 nan
expert_gemm fp4 blackwell_ultra 12.49 0.680 0.966 1.000 280.3 2.0 1.72 0.0 0 18000 24.2 72 1 41 24
expert_gemm fp8 ada 7.08 0.307 0.778 0.128 26.8 2.2 0.00 0.0 0 6000 18.4 70 2 45 nan
expert_gemm fp8 blackwell 14.99 0.476 0.962 0.185 18.3 2.0 3.31 0.0 0 12000 15.1 52 0 29 15
expert_gemm fp8 blackwell_rtx 5.73 0.424 0.931 0.095 65.8 22.7 0.00 0.0 0 6000 14.0 48 0 25 nan
expert_gemm fp8 blackwell_ultra 14.37 0.498 0.937 0.221 20.7 1.6 3.05 0.0 0 12000 15.0 52 0 29 15
expert_gemm fp8 hopper 12.60 0.240 0.389 1.000 7.5 2.0 0.67 0.0 0 10984 41.0 122 3 61 39
expert_gemm fp8_block ada 4.84 0.306 0.810 0.548 50.5 2.2 0.00 0.0 0 3000 16.2 93 -0 57 nan
expert_gemm fp8_block blackwell 13.09 0.271 0.863 1.000 62.9 1.0 1.86 0.0 0 18000 17.6 56 2 32 18
expert_gemm fp8_block blackwell_rtx 10.73 0.093 0.856 0.293 17.9 2.0 0.04 0.0 0 6000 26.7 96 4 72 nan
expert_gemm fp8_block blackwell_ultra 12.65 0.284 0.850 1.000 63.5 1.0 1.75 0.0 0 18000 17.4 56 2 32 17
expert_gemm fp8_block hopper 13.71 0.609 1.000 1.000 49.8 20.4 6.11 0.0 0 17264 13.7 54 1 28 14
expert_gemm w4a16 ada 11.19 0.207 0.807 0.947 2.9 2.0 0.00 0.0 0 4941 52.5 86 -11 78 nan
expert_gemm w4a16 ampere 27.69 0.150 0.959 1.000 0.0 1.0 0.00 0.0 0 3000 37.9 83 2 54 nan
expert_gemm w4a16 blackwell 3.98 0.176 0.523 1.000 48.8 1.0 0.00 0.0 0 10854 24.0 58 6 37 24
expert_gemm w4a16 blackwell_rtx 15.63 0.369 0.882 0.148 21.4 2.1 0.00 0.0 0 2654 23.5 89 -0 63 nan
expert_gemm w4a16 blackwell_ultra 3.49 0.180 0.525 1.000 48.8 1.0 0.00 0.0 0 9828 23.6 58 5 37 24
expert_gemm w4a16 hopper 17.00 0.241 0.811 1.000 53.8 2.0 0.00 0.0 0 9603 25.3 82 -2 47 27
expert_gemm w4a8 blackwell 5.81 0.669 0.907 1.000 318.4 2.0 2.79 0.0 0 11319 22.2 59 2 39 22
expert_gemm w4a8 blackwell_rtx 16.42 0.999 0.896 0.441 166.7 55.0 0.00 0.0 0 1782 7.2 26 1 14 nan
expert_gemm w4a8 blackwell_ultra 5.85 0.845 0.874 1.000 365.2 1.0 2.34 0.0 0 11616 22.0 58 2 40 22
"""


def _fit(line: str) -> Fit:
    kind, form, generation, *figures = line.split()
    return Fit(kind, form, generation, *(float(figure) for figure in figures))


FITS: tuple[Fit, ...] = tuple(_fit(line) for line in _TABLE.splitlines() if line)
"""All fits."""
