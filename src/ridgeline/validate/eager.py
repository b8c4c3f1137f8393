"""Host time of kernels that a benchmark calls one by one and waits for; engines capture graphs."""

from __future__ import annotations

from ridgeline.hardware import Device

_CALL_S = {
    "AMD": {"gemm": 34e-6, "softmax": 22e-6, "layernorm": 28e-6, "gelu": 21e-6},
    "NVIDIA": {"gemm": 21e-6, "softmax": 12e-6, "layernorm": 45e-6, "gelu": 45e-6},
}
"""PyTorch of 2023 on the smallest inputs, on MI210 and A100. Source: Zhang et al. 2024, LLMCompass
(ISCA), hardware_model/compute_module.py, `Overhead`."""

HOST_SPREAD = 0.42
"""σ of the logarithm of a call's time between hosts and software stacks: the four calls of
`_CALL_S` lie 0.59 apart between its two stacks, √2 of that for one."""


def eager_call_s(operation: str, device: Device) -> float:
    """Return the host time of one eager PyTorch call [s]; NVIDIA's for other vendors.

    Args:
        operation: `gemm`, `softmax`, `layernorm` or `gelu`; another counts as `softmax`.
        device: Its vendor's stack runs.

    Source: as `_CALL_S`.
    """
    calls = _CALL_S.get(device.vendor, _CALL_S["NVIDIA"])
    return calls.get(operation, calls["softmax"])
