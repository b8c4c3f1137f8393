"""Fitted figures of kernels; written by dev/fit_kernels.py, never by hand.

Measurements: NVIDIA aiconfigurator-core 0.12.0 (PyPI, Apache-2.0), read on 2026-12-01: kernels of
vLLM 0.14 (A100) and 0.24, SGLang 0.5.10 (A100) and 0.5.14, TensorRT-LLM 1.0.0 (A100) and
1.3.0rc20, replayed under CUDA graphs.
"""

# ruff: noqa: E501 - a table, one fit per line

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
    ramp_us: float
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
gemm bf16 ada 2.34 0.609 0.805 0.274 0.001 0 0 0 0 0 6000 11.2 35 -0 19 nan
gemm bf16 ampere 5.29 0.832 0.812 0.497 2.16 0 0 0 0 0 6000 7.5 21 0 12 nan
gemm bf16 blackwell 2.56 0.74 0.836 0.314 24.6 0 0 0 0 0 12000 7.9 23 1 13 8
gemm bf16 blackwell_rtx 2.87 0.869 0.93 0.443 0.001 0 0 0 0 0 6000 7.7 27 1 14 nan
gemm bf16 blackwell_ultra 2.42 0.823 0.828 0.307 27.5 0 0 0 0 0 12000 7.4 21 0 12 7
gemm bf16 hopper 3.34 0.816 0.872 0.229 9.4 0 0 0 0 0 12000 7.0 19 1 11 7
gemm fp4 blackwell 6.38 0.522 0.808 0.593 92.1 0 0.728 0 0 0 12000 12.2 39 -0 21 12
gemm fp4@sglang blackwell 4.28 0.556 0.824 0.745 84.1 0 0.78 0 0 0 4000 8.3 23 1 14 9
gemm fp4@trtllm blackwell 6.42 0.48 0.614 0.214 222 0 1.09 0 0 0 4000 5.1 15 -0 9 5
gemm fp4 blackwell_rtx 4.62 0.723 0.795 0.101 135 0 0.193 0 0 0 6000 8.1 27 0 15 nan
gemm fp4@vllm blackwell_rtx 6.2 0.746 0.729 0.165 133 0 0.131 0 0 0 2000 6.5 28 -1 14 nan
gemm fp4 blackwell_ultra 6.46 0.409 0.828 0.724 95.5 0 0.633 0 0 0 12000 14.3 43 1 25 15
gemm fp4@sglang blackwell_ultra 3.97 0.405 0.827 0.748 89.4 0 0.773 0 0 0 4000 7.2 20 1 12 7
gemm fp4@trtllm blackwell_ultra 7.85 0.419 0.582 0.486 207 0 0.697 0 0 0 4000 9.3 26 1 15 10
gemm fp8 ada 5.35 0.505 0.783 0.343 11.4 0 0.787 0 0 0 6000 13.4 49 0 26 nan
gemm fp8@trtllm ada 11.7 0.521 0.819 0.312 5.94 0 0.36 0 0 0 2000 8.1 29 1 16 nan
gemm fp8 blackwell 7.6 0.665 0.877 0.722 44.1 0 3.22 0 0 0 12000 17.5 41 2 28 17
gemm fp8@sglang blackwell 5.6 0.581 0.834 0.58 49.4 0 1.47 0 0 0 4000 8.1 24 1 14 8
gemm fp8@trtllm blackwell 14.5 0.688 0.901 0.709 20.1 0 2.5 0 0 0 4000 4.6 12 0 7 5
gemm fp8@vllm blackwell 5.98 0.719 0.91 0.72 52.8 0 5.6 0 0 0 4000 9.3 33 1 21 9
gemm fp8 blackwell_rtx 7.9 0.818 0.93 0.371 33.7 0 1.13 0 0 0 6000 12.5 48 1 25 nan
gemm fp8@sglang blackwell_rtx 4.89 0.773 0.785 0.0111 142 0 0.963 0 0 0 2000 5.7 24 -1 13 nan
gemm fp8@trtllm blackwell_rtx 11.9 0.776 0.93 0.439 5.77 0 0.804 0 0 0 2000 7.4 21 1 12 nan
gemm fp8@vllm blackwell_rtx 4.74 0.873 0.93 0.398 28.9 0 1.53 0 0 0 2000 8.1 27 1 14 nan
gemm fp8 blackwell_ultra 7.21 0.753 0.862 0.742 47.4 0 3.04 0 0 0 12000 16.6 40 2 27 17
gemm fp8@sglang blackwell_ultra 5.41 0.662 0.822 0.624 54.4 0 1.42 0 0 0 4000 7.3 21 1 12 8
gemm fp8@trtllm blackwell_ultra 14 0.78 0.889 0.698 23.2 0 2.42 0 0 0 4000 4.4 12 -0 7 5
gemm fp8@vllm blackwell_ultra 5.76 0.801 0.903 0.757 54 0 5.24 0 0 0 4000 8.1 28 1 17 9
gemm fp8 hopper 7.79 0.689 0.93 0.627 19.8 0 2.53 0 0 0 12000 15.0 36 1 23 16
gemm fp8@sglang hopper 5.51 0.629 0.916 0.587 22.8 0 1.67 0 0 0 4000 11.0 29 1 18 11
gemm fp8@trtllm hopper 12.6 0.718 0.921 0.487 6.73 0 2.37 0 0 0 4000 5.1 13 0 8 5
gemm fp8_block ada 2.95 0.3 0.785 0.14 18.1 0 0.44 0 0 0 2000 7.4 34 0 16 nan
gemm fp8_block blackwell 5.92 0.694 0.905 0.46 64.1 0 1.05 0 0 0 8000 5.5 20 1 12 6
gemm fp8_block blackwell_rtx 6.35 0.648 0.93 0.499 38.6 0 3.06 0 0 0 2000 14.0 52 3 29 nan
gemm fp8_block blackwell_ultra 5.63 0.77 0.882 0.49 68.8 0 0.937 0 0 0 8000 5.3 18 1 10 6
gemm fp8_block hopper 4.28 0.639 0.93 0.677 34.4 0 1.56 0 0 0 8000 10.5 29 0 17 11
gemm w4a16 ampere 12 0.799 0.93 0.488 13.3 0 0 0 0 0 2000 8.0 24 1 14 nan
gemm w8a16 ampere 11.9 0.848 0.93 0.415 13.5 0 0 0 0 0 2000 7.4 22 1 13 nan
attention_prefill bf16 ada 7.62 0.562 0.713 0.774 73.2 0 0 0 16.3 0 6000 15.9 39 0 23 nan
attention_prefill bf16@sglang ada 5.67 0.525 0.767 0.428 109 0 0 0 0.001 0 2000 12.3 27 0 17 nan
attention_prefill bf16@trtllm ada 9.37 0.486 0.494 0.819 78 0 0 0 10.8 0 2000 7.2 26 -1 15 nan
attention_prefill bf16 ampere 11.1 0.65 0.513 1 108 0 0 0 14 0 6000 14.7 28 1 17 nan
attention_prefill bf16@sglang ampere 11.5 0.736 0.675 0.866 176 0 0 0 8.73 0 2000 2.9 16 0 8 nan
attention_prefill bf16@trtllm ampere 12.9 0.551 0.412 0.98 92.2 0 0 0 15.9 0 2000 5.2 19 -0 10 nan
attention_prefill bf16 blackwell 12.8 1 0.349 0.757 217 0 0 0 129 0 12000 15.2 38 1 22 15
attention_prefill bf16@sglang blackwell 10.7 1 0.556 0.797 204 0 0 0 116 0 4000 8.2 21 1 13 8
attention_prefill bf16@trtllm blackwell 16.5 1 0.264 0.978 159 0 0 0 135 0 4000 9.9 30 1 16 10
attention_prefill bf16 blackwell_rtx 7.92 0.796 0.83 0.927 140 0 0 0 28.5 0 6000 16.2 38 2 26 nan
attention_prefill bf16@sglang blackwell_rtx 6.3 0.741 0.93 0.474 216 0 0 0 0.001 0 2000 7.8 23 0 11 nan
attention_prefill bf16@trtllm blackwell_rtx 11.8 0.489 0.597 0.99 104 0 0 0 0.001 0 2000 6.6 19 -1 10 nan
attention_prefill bf16 blackwell_ultra 11.9 1 0.372 0.735 218 0 0 0 78.1 0 12000 15.8 38 1 23 16
attention_prefill bf16@sglang blackwell_ultra 10.1 1 0.578 0.781 205 0 0 0 65 0 4000 7.6 20 1 12 8
attention_prefill bf16@trtllm blackwell_ultra 15.6 1 0.276 0.998 157 0 0 0 82.5 0 4000 9.7 30 1 16 10
attention_prefill bf16 hopper 13.5 0.94 0.474 1 85.8 0 0 0 66.3 0 12000 13.3 32 1 19 14
attention_prefill bf16@sglang hopper 11.5 0.848 0.645 0.975 66.9 0 0 0 46 0 4000 7.3 20 1 12 10
attention_prefill bf16@trtllm hopper 16 0.767 0.373 0.95 114 0 0 0 47.9 0 4000 8.5 27 0 15 10
attention_prefill bf16/fp8 ada 9 0.499 0.705 0.709 108 0 0 0 9.19 0 6000 14.2 39 -0 23 nan
attention_prefill bf16/fp8@sglang ada 8.09 0.528 0.699 0.484 106 0 0 0 0.001 0 2000 12.2 28 1 18 nan
attention_prefill bf16/fp8@trtllm ada 9.52 0.49 0.473 0.802 81.7 0 0 0 11.4 0 2000 6.8 24 -1 14 nan
attention_prefill bf16/fp8 blackwell 14 1 0.218 0.649 257 0 0 0 105 0 8000 12.9 34 1 20 13
attention_prefill bf16/fp8 blackwell_rtx 9.59 0.703 0.857 0.85 203 0 0 0 19 0 6000 16.8 38 1 25 nan
attention_prefill bf16/fp8@sglang blackwell_rtx 8.46 0.744 0.93 0.592 218 0 0 0 0.001 0 2000 7.8 25 1 13 nan
attention_prefill bf16/fp8@trtllm blackwell_rtx 11.8 0.491 0.571 0.972 109 0 0 0 0.001 0 2000 6.6 18 -1 10 nan
attention_prefill bf16/fp8@vllm blackwell_rtx 7.89 0.612 0.93 0.821 325 0 0 0 3.39 0 2000 6.1 24 1 13 nan
attention_prefill bf16/fp8 blackwell_ultra 13.5 1 0.23 0.568 204 0 0 0 57.5 0 8000 14.4 37 1 22 15
attention_prefill bf16/fp8 hopper 15.4 1 0.314 1 133 0 0 0 50.3 0 8000 11.9 35 1 20 14
attention_prefill fp8 ada 10.8 0.159 0.584 0.995 89.3 0 0 0 0.001 0 2000 22.5 121 -2 42 nan
attention_prefill fp8 blackwell 16.4 1 0.294 1 281 0 0 0 270 0 8000 9.0 28 -0 15 9
attention_prefill fp8 blackwell_rtx 14.3 0.192 0.588 0.861 217 0 0 0 0.001 0 2000 27.0 127 -1 46 nan
attention_prefill fp8 blackwell_ultra 15.7 1 0.303 0.963 240 0 0 0 168 0 8000 9.2 29 0 16 10
attention_prefill fp8 hopper 13.8 0.83 0.538 1 97 0 0 0 154 0 8000 12.3 35 0 20 13
attention_prefill fp8@sglang hopper 11.7 0.816 0.686 1 78.6 0 0 0 145 0 4000 7.7 23 0 13 10
attention_prefill fp8@trtllm hopper 15.7 0.771 0.392 1 126 0 0 0 129 0 4000 8.6 29 0 15 11
latent_attention_prefill bf16 ada 8.57 0.468 0.613 0.411 54.9 0 0 0 0 0 552 8.2 27 -0 14 nan
latent_attention_prefill bf16 ampere 11.7 0.529 0.587 0.632 107 0 0 0 0 0 552 2.7 10 0 5 nan
latent_attention_prefill bf16 blackwell 13.5 0.636 0.513 0.75 301 0 0 0 0 0 2656 6.7 20 0 11 7
latent_attention_prefill bf16 blackwell_rtx 12.4 0.581 0.799 0.66 123 0 0 0 0 0 664 3.6 13 0 7 nan
latent_attention_prefill bf16 blackwell_ultra 12.5 0.738 0.556 0.728 324 0 0 0 0 0 2656 6.6 18 -0 10 7
latent_attention_prefill bf16 hopper 15.5 0.637 0.613 0.639 141 0 0 0 0 0 1328 4.7 13 0 7 6
latent_attention_prefill bf16/fp8 ada 8.58 0.47 0.581 0.415 58.4 0 0 0 0 0 552 7.5 18 -1 11 nan
latent_attention_prefill bf16/fp8 ampere 11.7 0.532 0.561 0.635 110 0 0 0 0 0 552 2.7 10 0 5 nan
latent_attention_prefill bf16/fp8 blackwell 18.9 0.857 0.317 0.869 357 0 0 0 0 0 2656 6.2 16 0 9 6
latent_attention_prefill bf16/fp8 blackwell_rtx 15.4 0.994 0.459 0.834 173 0 0 0 0 0 664 5.0 16 -1 9 nan
latent_attention_prefill bf16/fp8 blackwell_ultra 17.9 1 0.343 0.705 296 0 0 0 0 0 2656 7.8 16 2 11 8
latent_attention_prefill bf16/fp8@trtllm blackwell_ultra 17.6 1 0.316 0.855 246 0 0 0 0 0 1328 5.1 19 -0 10 6
latent_attention_prefill bf16/fp8 hopper 18.1 0.754 0.375 0.893 153 0 0 0 0 0 1328 4.3 16 0 8 6
attention_decode bf16 ada 9.11 0.562 0.814 0 0 0 0 7.53 16.3 2.62 6000 9.8 41 1 22 nan
attention_decode bf16@sglang ada 7.18 0.562 0.847 0 0 0 0 0.0013 16.3 3.88 2000 4.7 27 -0 16 nan
attention_decode bf16@vllm ada 11.6 0.562 0.817 0 0 0 0 21.5 16.3 7 2000 7.5 31 -0 16 nan
attention_decode bf16 ampere 14.9 0.65 0.817 0 0 0 0 54 14 12.8 5435 16.4 46 1 27 nan
attention_decode bf16@sglang ampere 15 0.65 0.505 0 0 0 0 4.36 14 10.9 1681 14.9 30 1 19 nan
attention_decode bf16@trtllm ampere 13.4 0.65 0.93 0 0 0 0 101 14 3.8 1754 15.4 55 3 26 nan
attention_decode bf16 blackwell 10.1 1 0.93 0 0 0 0 72.9 129 0.01 12000 8.3 28 0 15 9
attention_decode bf16 blackwell_rtx 9.51 0.796 0.93 0 0 0 0 10.7 28.5 0.34 6000 17.3 61 3 32 nan
attention_decode bf16@sglang blackwell_rtx 7.79 0.796 0.93 0 0 0 0 0.00876 28.5 0.609 2000 9.1 52 1 24 nan
attention_decode bf16@vllm blackwell_rtx 12.4 0.796 0.93 0 0 0 0 29.7 28.5 1.49 2000 10.2 52 2 24 nan
attention_decode bf16 blackwell_ultra 9.69 1 0.93 0 0 0 0 69.4 78.1 0.01 12000 9.2 29 -1 15 10
attention_decode bf16@trtllm blackwell_ultra 10.8 1 0.929 0 0 0 0 77.9 78.1 0.01 4000 5.5 24 -0 13 6
attention_decode bf16 hopper 10.6 0.94 0.862 0 0 0 0 96.9 66.3 1.59 12000 9.9 32 1 18 11
attention_decode bf16@trtllm hopper 10 0.94 0.93 0 0 0 0 79.8 66.3 27.3 4000 9.6 34 1 21 12
attention_decode bf16/fp8 ada 10.3 0.499 0.832 0 0 0 0 34.5 9.19 2.83 6000 11.0 48 1 30 nan
attention_decode bf16/fp8 blackwell 11.8 1 0.921 0 0 0 0 156 105 0.0866 12000 12.4 31 1 21 13
attention_decode bf16/fp8@sglang blackwell 15.9 1 0.93 0 0 0 0 143 105 0.01 4000 6.5 21 -1 12 7
attention_decode bf16/fp8@vllm blackwell 10.1 1 0.93 0 0 0 0 157 105 0.0282 4000 7.3 23 -1 12 9
attention_decode bf16/fp8 blackwell_rtx 10.5 0.703 0.93 0 0 0 0 46.7 19 1.21 6000 13.9 74 2 28 nan
attention_decode bf16/fp8@vllm blackwell_rtx 11.9 0.703 0.93 0 0 0 0 68.4 19 0.464 2000 6.8 40 2 16 nan
attention_decode bf16/fp8 blackwell_ultra 11.4 1 0.91 0 0 0 0 146 57.5 0.01 12000 13.2 31 2 22 13
attention_decode bf16/fp8@sglang blackwell_ultra 15.5 1 0.93 0 0 0 0 134 57.5 0.01 4000 6.7 22 -2 11 7
attention_decode bf16/fp8@vllm blackwell_ultra 9.41 1 0.918 0 0 0 0 147 57.5 0.0773 4000 8.4 24 -0 12 10
attention_decode bf16/fp8 hopper 12.2 1 0.685 0 0 0 0 165 50.3 0.383 12000 16.6 81 -3 33 20
attention_decode bf16/fp8@trtllm hopper 6.46 1 0.93 0 0 0 0 20.3 50.3 15.9 4000 11.1 33 2 19 12
attention_decode bf16/fp8@vllm hopper 13.8 1 0.706 0 0 0 0 244 50.3 0.947 4000 8.4 21 -0 13 15
attention_decode bf16/fp8:256 ada 11.7 0.499 0.816 0 0 0 0 14.3 9.19 0.969 5323 8.7 59 2 36 nan
attention_decode bf16/fp8:256 blackwell 12 1 0.91 0 0 0 0 89.1 105 0.241 10084 12.0 33 1 21 12
attention_decode bf16/fp8:256@sglang blackwell 16.8 1 0.93 0 0 0 0 82.4 105 0.01 3430 6.5 22 0 11 6
attention_decode bf16/fp8:256@vllm blackwell 10.5 1 0.905 0 0 0 0 79.7 105 0.01 2654 5.8 25 -1 13 8
attention_decode bf16/fp8:256 blackwell_rtx 11.2 0.703 0.93 0 0 0 0 23.7 19 1.02 5323 10.7 67 2 30 nan
attention_decode bf16/fp8:256 blackwell_ultra 11.5 1 0.892 0 0 0 0 81.1 57.5 0.139 10084 11.5 34 1 23 12
attention_decode bf16/fp8:256@sglang blackwell_ultra 16.3 1 0.914 0 0 0 0 75.2 57.5 0.01 3430 6.1 23 -1 11 6
attention_decode bf16/fp8:256@vllm blackwell_ultra 9.78 1 0.884 0 0 0 0 74 57.5 0.0434 2654 8.0 26 -0 13 11
attention_decode bf16/fp8:256 hopper 14.1 1 0.895 0 0 0 0 82.1 50.3 30 10654 20.2 101 1 42 23
attention_decode bf16/fp8:256@trtllm hopper 6.44 1 0.93 0 0 0 0 14.2 50.3 22 4000 11.5 43 3 25 14
attention_decode bf16/fp8:256@vllm hopper 15.2 1 0.458 0 0 0 0 33.5 50.3 30 2654 8.3 25 -0 14 14
attention_decode bf16/fp8:64 ada 10.2 0.499 0.845 0 0 0 0 147 9.19 0.351 3891 13.1 56 1 39 nan
attention_decode bf16/fp8:64@vllm ada 10.6 0.499 0.822 0 0 0 0 210 9.19 0.306 2000 6.0 21 0 10 nan
attention_decode bf16/fp8:64 blackwell 11.5 1 0.848 0 0 0 0 278 105 0.678 9765 11.2 29 3 18 12
attention_decode bf16/fp8:64@sglang blackwell 15.9 1 0.854 0 0 0 0 255 105 0.01 1983 7.1 17 -1 11 7
attention_decode bf16/fp8:64@vllm blackwell 9.97 1 0.854 0 0 0 0 272 105 0.464 4000 8.0 20 -1 12 9
attention_decode bf16/fp8:64 blackwell_rtx 9.95 0.703 0.93 0 0 0 0 150 19 0.751 3891 16.7 77 2 36 nan
attention_decode bf16/fp8:64 blackwell_ultra 11.1 1 0.838 0 0 0 0 262 57.5 0.403 9765 11.6 30 3 19 12
attention_decode bf16/fp8:64@sglang blackwell_ultra 15.4 1 0.834 0 0 0 0 228 57.5 0.01 1983 7.2 19 0 11 8
attention_decode bf16/fp8:64@vllm blackwell_ultra 9.35 1 0.852 0 0 0 0 262 57.5 0.48 4000 7.9 20 1 12 10
attention_decode bf16/fp8:64 hopper 10.9 1 0.588 0 0 0 0 152 50.3 2.27 9290 15.6 47 2 26 19
attention_decode bf16/fp8:64@sglang hopper 12.9 1 0.457 0 0 0 0 194 50.3 0.275 1508 10.5 23 1 14 15
attention_decode bf16/fp8:64@trtllm hopper 8.88 1 0.906 0 0 0 0 32 50.3 20.3 3782 10.3 27 1 16 12
latent_attention_decode bf16 ada 15.6 0.137 0.91 0.52 0 0 0 447 0 0 878 15.4 48 1 28 nan
latent_attention_decode bf16 blackwell 11.9 0.647 0.72 0.197 0 0 0 68.9 0 0 4384 9.4 28 1 18 10
latent_attention_decode bf16 blackwell_rtx 19.4 0.128 0.844 0.325 0 0 0 369 0 0 916 16.8 43 2 29 nan
latent_attention_decode bf16 blackwell_ultra 11.4 0.694 0.708 0.135 0 0 0 66 0 0 4384 9.2 29 1 18 11
latent_attention_decode bf16 hopper 14.3 0.682 0.904 0.231 0 0 0 61.7 0 0 4384 7.9 24 1 14 8
latent_attention_decode bf16/fp8 blackwell 11.1 1 0.839 0.512 0 0 0 156 0 0 4384 10.2 29 2 19 11
latent_attention_decode bf16/fp8 blackwell_ultra 10.7 1 0.816 0.424 0 0 0 141 0 0 4384 11.0 31 2 19 12
latent_attention_decode bf16/fp8 hopper 13.9 0.846 0.733 0.355 0 0 0 86.6 0 0 2192 11.5 27 0 16 18
expert_gemm bf16 ada 5.7 0.55 0.785 0.0793 22.5 1 0 0 0 0 4000 7.7 42 1 19 nan
expert_gemm bf16 blackwell 8.05 0.632 0.93 0.582 83.9 1 0 0 0 0 12000 12.1 40 2 25 12
expert_gemm bf16@sglang blackwell 8.16 0.567 0.93 0.249 8.9 1 0 0 0 0 4000 10.1 35 1 21 10
expert_gemm bf16@trtllm blackwell 12.5 1 0.872 1 53 1 0 0 0 0 4000 9.5 31 1 19 10
expert_gemm bf16 blackwell_rtx 4.06 0.53 0.93 0.0874 45.6 36.1 0 0 0 0 4000 7.7 33 2 16 nan
expert_gemm bf16 blackwell_ultra 7.68 0.695 0.919 0.621 86.6 1 0 0 0 0 12000 12.2 41 1 24 12
expert_gemm bf16@sglang blackwell_ultra 7.62 0.599 0.918 0.252 8.92 1.01 0 0 0 0 4000 10.1 36 1 22 10
expert_gemm bf16@trtllm blackwell_ultra 12.3 1 0.852 0.894 42.8 1 0 0 0 0 4000 8.8 29 1 18 9
expert_gemm bf16 hopper 11.9 0.761 0.897 0.593 50.3 1 0 0 0 0 8000 8.8 40 2 24 9
expert_gemm fp4 blackwell 11.5 0.529 0.904 0.47 9.83 2 0.451 0 0 0 12000 20.1 55 2 36 20
expert_gemm fp4 blackwell_rtx 12.3 0.704 0.93 0.001 145 256 0.001 0 0 0 6000 12.3 45 2 23 nan
expert_gemm fp4 blackwell_ultra 13.6 0.36 0.879 0.318 13.9 1.97 0.357 0 0 0 12000 20.6 61 2 35 21
expert_gemm fp4@sglang blackwell_ultra 9.1 1 0.855 0.001 0.00114 1.76 0.0673 0 0 0 4000 14.1 44 1 27 14
expert_gemm fp4@trtllm blackwell_ultra 18.3 0.457 0.734 0.001 0.613 256 3.5 0 0 0 4000 11.1 32 1 19 11
expert_gemm fp4@vllm blackwell_ultra 7.97 0.347 0.847 0.187 62.3 2.45 0.00106 0 0 0 4000 10.9 41 2 24 11
expert_gemm fp8 ada 7.37 0.516 0.765 0.00103 30.8 12 0.001 0 0 0 4000 12.2 49 2 24 nan
expert_gemm fp8 blackwell 14.3 0.511 0.93 0.00154 3.58 154 3.15 0 0 0 8000 11.3 46 0 22 11
expert_gemm fp8@vllm blackwell 9.76 0.431 0.899 0.103 37.2 1.48 0.00122 0 0 0 4000 7.7 38 2 24 8
expert_gemm fp8 blackwell_rtx 7.87 0.496 0.93 0.0943 38.3 56.9 0.001 0 0 0 4000 12.7 40 2 22 nan
expert_gemm fp8@trtllm blackwell_rtx 6.79 0.804 0.919 0.001 74.4 10.1 0.001 0 0 0 2000 10.8 35 1 19 nan
expert_gemm fp8 blackwell_ultra 13.7 0.531 0.913 0.00194 2.67 164 2.93 0 0 0 8000 11.0 47 0 22 11
expert_gemm fp8@vllm blackwell_ultra 9.2 0.43 0.873 0.0595 38.1 1.9 0.00315 0 0 0 4000 7.5 38 2 24 7
expert_gemm fp8_block ada 3.2 0.51 0.774 0.376 57 1.91 0.00298 0 0 0 2000 7.9 56 1 27 nan
expert_gemm fp8_block blackwell 14.5 0.232 0.804 0.318 8.07 1 1.8 0 0 0 12254 14.4 45 0 25 14
expert_gemm fp8_block@trtllm blackwell 16.2 0.555 0.712 0.00101 3.73 6.64 1.75 0 0 0 4000 9.4 29 2 18 9
expert_gemm fp8_block@vllm blackwell 13.2 0.198 0.93 0.717 43.4 1 0.001 0 0 0 4000 9.7 34 2 21 10
expert_gemm fp8_block blackwell_rtx 7.83 0.069 0.643 0.209 14 1 0.001 0 0 0 2000 21.6 77 0 52 nan
expert_gemm fp8_block blackwell_ultra 13.9 0.238 0.793 0.306 8.54 1.3 1.66 0 0 0 12254 13.9 45 0 25 14
expert_gemm fp8_block@trtllm blackwell_ultra 15.9 0.583 0.703 0.00103 3.73 5.19 1.73 0 0 0 4000 9.1 29 2 18 9
expert_gemm fp8_block@vllm blackwell_ultra 12.9 0.206 0.919 0.686 43.6 1 0.001 0 0 0 4000 9.3 35 1 20 10
expert_gemm fp8_block hopper 13.4 0.425 0.93 0.384 0.001 27.5 4.59 0 0 0 8186 9.1 35 0 19 10
expert_gemm w4a16 ada 3.09 0.207 0.766 0.216 8.89 1.5 0 0 0 0 783 13.9 55 -0 32 nan
expert_gemm w4a16 ampere 23 0.246 0.818 1 0.001 1 0 0 0 0 2000 24.8 73 3 59 nan
expert_gemm w4a16 blackwell 9.86 0.241 0.628 1 0.001 1 0 0 0 0 3132 10.9 33 -0 20 11
expert_gemm w4a16 blackwell_rtx 4.43 0.451 0.856 0.486 9.5 1.46 0 0 0 0 783 13.4 57 -0 32 nan
expert_gemm w4a16 blackwell_ultra 9.35 0.253 0.629 1 0.001 1 0 0 0 0 3132 10.7 32 -0 20 11
expert_gemm w4a16 hopper 14.8 0.22 0.646 1 0.001 1 0 0 0 0 1566 24.5 51 -0 36 26
expert_gemm w4a8 blackwell 10.2 0.994 0.814 0.818 8.87 2 1.67 0 0 0 6619 14.9 40 2 24 15
expert_gemm w4a8 blackwell_rtx 17.8 1 0.93 0.001 138 192 0.001 0 0 0 1161 6.9 25 1 12 nan
expert_gemm w4a8 blackwell_ultra 9.8 0.84 0.798 0.558 3.48 1.22 1.3 0 0 0 6916 14.3 39 2 24 14
elementwise bf16 ada 2.37 1 0.835 0 0 0 0 0 0 0 3256 11.9 45 -2 23 nan
elementwise bf16@trtllm ada 2.7 1 0.837 0 0 0 0 0 0 0 1628 6.3 18 0 10 nan
elementwise bf16@vllm ada 1.81 1 0.833 0 0 0 0 0 0 0 1628 8.3 40 2 20 nan
elementwise bf16 blackwell 2.18 1 0.751 0 0 0 0 0 0 0 6512 8.9 25 1 15 10
elementwise bf16 blackwell_rtx 1.69 1 0.93 0 0 0 0 0 0 0 3256 6.6 28 0 14 nan
elementwise bf16 blackwell_ultra 2.04 1 0.76 0 0 0 0 0 0 0 6512 11.3 27 -1 15 13
elementwise bf16@trtllm blackwell_ultra 1.79 1 0.663 0 0 0 0 0 0 0 3256 3.5 13 1 7 8
elementwise bf16 hopper 1.59 1 0.93 0 0 0 0 0 0 0 6512 17.4 42 1 23 18
elementwise bf16@trtllm hopper 1.32 1 0.93 0 0 0 0 0 0 0 3256 3.5 24 -0 11 4
elementwise bf16@vllm hopper 2.09 1 0.93 0 0 0 0 0 0 0 3256 8.4 43 2 21 8
"""


def _fit(line: str) -> Fit:
    kind, form, generation, *figures = line.split()
    return Fit(kind, form, generation, *(float(figure) for figure in figures))


FITS: tuple[Fit, ...] = tuple(_fit(line) for line in _TABLE.splitlines() if line)
"""All fits."""
