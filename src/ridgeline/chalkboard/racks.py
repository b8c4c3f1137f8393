"""Chapter 2: a mixture-of-experts layer on one rack, and what crossing racks costs.

Symbols: E devices in the scale-up domain, Q racks, n experts, a experts per token,
d hidden width, ρ scale-up over scale-out bandwidth per device.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ridgeline.chalkboard.roofline import Number

Floats = NDArray[np.float64]


def moe_layer(
    *, hidden: Floats, router: Floats, up: Floats, down: Floats, experts_per_token: int
) -> Floats:
    """Return the output of one mixture-of-experts layer, residual included.

        y = x + Σ g_i·MLP_i(x)

    Args:
        hidden: x, [tokens, width].
        router: Router weights, [width, experts]; g is a softmax over the chosen experts.
        up: Up-projections, [experts, width, inner].
        down: Down-projections, [experts, inner, width].
        experts_per_token: Experts chosen per token.

    Source: lecture C2-F1.
    """
    scores = hidden @ router
    chosen = np.argsort(-scores, axis=1)[:, :experts_per_token]
    best = np.take_along_axis(scores, chosen, axis=1)
    gates = np.exp(best - best.max(axis=1, keepdims=True))
    gates /= gates.sum(axis=1, keepdims=True)
    inner = np.maximum(np.einsum("td,tadf->taf", hidden, up[chosen]), 0.0)
    return hidden + np.einsum("ta,taf,tafd->td", gates, inner, down[chosen])


def experts_per_device(*, experts: Number, devices: Number) -> Number:
    """Return the experts on each device [1]; whole only when the devices divide them.

        m = n / E

    Args:
        experts: n, routed experts of one layer.
        devices: E, devices used.

    Source: lecture C2-F2.
    """
    return experts / devices


def all_to_all_messages(*, devices: Number) -> Number:
    """Return the ordered pairs that talk in one dispatch [1]; combine sends as many back.

        m = E·(E - 1)

    Args:
        devices: E, each with a router copy and a share of the experts.

    Source: lecture C2-F3.
    """
    return devices * (devices - 1.0)


def crossing_share(*, racks: Number) -> Number:
    """Return the share of dispatched tokens that leave the rack under uniform routing [1].

        f = 1 - 1 / Q

    Args:
        racks: Q.

    Source: lecture C2-F4.
    """
    return 1.0 - 1.0 / racks


def all_to_all_slowdown(*, racks: Number, bandwidth_ratio: Number) -> Number:
    """Return the all-to-all time over that of a single rack [1]; both networks run at once.

        f = max(1 / Q, ρ·(1 - 1 / Q))

    Args:
        racks: Q.
        bandwidth_ratio: ρ, scale-up over scale-out bandwidth of one device.

    Source: lecture C2-F5.
    """
    return np.maximum(1.0 / racks, bandwidth_ratio * crossing_share(racks=racks))


def all_to_all_bytes_per_token(
    *,
    experts_per_token: Number,
    hidden_size: Number,
    dispatch_bytes: Number,
    combine_bytes: Number,
    moe_layers: Number,
) -> Number:
    """Return the bytes one token sends to its experts and back, over the layers [B/token].

        S = a·d·(w_d + w_c)·l

    Args:
        experts_per_token: a.
        hidden_size: d, elements of the activation.
        dispatch_bytes: w_d, bytes per element on the way out.
        combine_bytes: w_c, bytes per element on the way back.
        moe_layers: l.

    Source: lecture C2-F6.
    """
    return experts_per_token * hidden_size * (dispatch_bytes + combine_bytes) * moe_layers


def all_to_all_time(
    *, tokens_per_device: Number, bytes_per_token: Number, link_bytes_per_s: Number
) -> Number:
    """Return the time to send one device's dispatch and combine bytes [s].

        t = b·S / W_l

    Args:
        tokens_per_device: b.
        bytes_per_token: S.
        link_bytes_per_s: W_l, per direction.

    Source: lecture C2-N8.
    """
    return tokens_per_device * bytes_per_token / link_bytes_per_s


def switch_hops(*, switch_layers: Number) -> Number:
    """Return the links between two devices below the same top switch [1].

        h = 2·s

    Args:
        switch_layers: s, 1 for a rack where each device reaches every switch.

    Source: lecture C2-F7.
    """
    return 2.0 * switch_layers


def largest_model(*, capacity_bytes: Number, kv_bytes: Number, bytes_per_param: Number) -> Number:
    """Return the most parameters that a domain holds beside its caches [param].

        N_t = (C - K) / w

    Args:
        capacity_bytes: C, memory of the scale-up domain.
        kv_bytes: K, set aside for caches.
        bytes_per_param: w.

    Source: lecture C2-F8.
    """
    return (capacity_bytes - kv_bytes) / bytes_per_param


def traffic_matrix(
    *, devices: int, tokens_per_device: float, experts_per_token: float, token_bytes: float
) -> Floats:
    """Return dispatch bytes from each device to each, uniform routing [B], [devices, devices].

    A token's copies spread evenly; the copy for the own device stays at home:

        m = b·a·s / E

    Args:
        devices: E.
        tokens_per_device: b.
        experts_per_token: a.
        token_bytes: s, one activation vector.

    Source: lecture C2-Q1.
    """
    each = tokens_per_device * experts_per_token * token_bytes / devices
    return np.full((devices, devices), each) * (1.0 - np.eye(devices))


def bandwidth_ratio(*, scale_up_bytes_per_s: Number, scale_out_bytes_per_s: Number) -> Number:
    """Return scale-up over scale-out bandwidth of one device [1].

        ρ = W_u / W_o

    Args:
        scale_up_bytes_per_s: W_u, per direction.
        scale_out_bytes_per_s: W_o, per direction.

    Source: lecture C2-N2.
    """
    return scale_up_bytes_per_s / scale_out_bytes_per_s


def domain_capacity(*, devices: Number, capacity_bytes: Number) -> Number:
    """Return the memory of a scale-up domain [B].

        C = E·c

    Args:
        devices: E.
        capacity_bytes: c, of one device.

    Source: lecture C2-N6.
    """
    return devices * capacity_bytes


def growth(*, after: Number, before: Number) -> Number:
    """Return how many times larger a figure became [1].

        g = a / b

    Args:
        after: a.
        before: b, same unit.

    Source: lecture C4-N6.
    """
    return after / before
