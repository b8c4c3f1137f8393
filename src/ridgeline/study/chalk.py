"""A deployment as the blackboard sees it: five numbers of the model, three of the hardware."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ridgeline.chalkboard import roofline
from ridgeline.cost.roofline import arithmetic_format
from ridgeline.model.architecture import WeightClass
from ridgeline.model.memory import weight_bytes_per_device
from ridgeline.model.params import count_parameters
from ridgeline.model.state import kv_bytes_per_token
from ridgeline.model.work import Number
from ridgeline.phase.deployment import Deployment

_TERMS = ("compute", "weight read", "state read")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chalk:
    """The lecture's inputs; hardware figures are sums over the devices."""

    num_params: float
    """N_t, the language model's."""
    num_active_params: float
    """N_a, input embedding included."""
    bytes_per_param: float
    """w: stored bytes over parameters, mixed formats averaged."""
    kv_bytes_per_token: float
    """k: cache growth of one more token at 32,768."""
    peak_flop_per_s: float
    """F, at the format most weights are computed in."""
    bandwidth_bytes_per_s: float
    """W."""
    capacity_bytes: float
    """C."""
    compute_format: str

    @property
    def balance_ratio(self) -> float:
        """R = (F/2)·w/W."""
        return float(
            roofline.balance_ratio(
                peak_flop_per_s=self.peak_flop_per_s,
                bytes_per_param=self.bytes_per_param,
                bandwidth_bytes_per_s=self.bandwidth_bytes_per_s,
            )
        )

    def terms_s(self, *, batch: Number, new_tokens: Number, context: Number) -> dict[str, Number]:
        """Return the three bounds of a step [s]; prefill counts its tokens as compute."""
        return {
            "compute": roofline.compute_time(
                batch=np.asarray(batch, dtype=float) * np.asarray(new_tokens, dtype=float),
                active_params=self.num_active_params,
                peak_flop_per_s=self.peak_flop_per_s,
            ),
            "weight read": roofline.weight_time(
                total_params=self.num_params,
                bytes_per_param=self.bytes_per_param,
                bandwidth_bytes_per_s=self.bandwidth_bytes_per_s,
            ),
            "state read": roofline.kv_time(
                batch=np.asarray(batch, dtype=float),
                context_tokens=np.asarray(context, dtype=float),
                kv_bytes_per_token=self.kv_bytes_per_token,
                bandwidth_bytes_per_s=self.bandwidth_bytes_per_s,
            ),
        }

    def step_s(self, *, batch: Number, new_tokens: Number, context: Number) -> Number:
        """Return max(compute, weights + KV) [s]."""
        terms = self.terms_s(batch=batch, new_tokens=new_tokens, context=context)
        return np.maximum(terms["compute"], terms["weight read"] + terms["state read"])

    def bound_by(self, *, batch: Number, new_tokens: Number, context: Number) -> NDArray[np.str_]:
        """Return which of the three binds: compute, or the larger of the two reads."""
        terms = self.terms_s(batch=batch, new_tokens=new_tokens, context=context)
        weight, state = terms["weight read"], terms["state read"]
        memory = np.where(np.asarray(weight) >= state, _TERMS[1], _TERMS[2])
        return np.where(np.asarray(terms["compute"]) >= weight + state, _TERMS[0], memory)


def chalk_of(deployment: Deployment) -> Chalk:
    """Return the blackboard's view of a deployment."""
    architecture, precision = deployment.architecture, deployment.precision
    count = count_parameters(architecture)
    weights = weight_bytes_per_device(architecture, precision, multimodal=False)
    device, n = deployment.cluster.device, deployment.num_devices
    main: WeightClass = "expert" if count.num_routed_params else "ffn"
    used = arithmetic_format(device, precision.compute_format_of(main))
    return Chalk(
        num_params=float(count.num_text_params),
        num_active_params=float(count.num_active_params),
        bytes_per_param=float(weights) / count.num_text_params,
        kv_bytes_per_token=float(kv_bytes_per_token(architecture, precision=precision)),
        peak_flop_per_s=device.peak_flop_per_s[used] * n,
        bandwidth_bytes_per_s=device.memory.bandwidth_bytes_per_s * n,
        capacity_bytes=device.memory.capacity_bytes * n,
        compute_format=used,
    )
