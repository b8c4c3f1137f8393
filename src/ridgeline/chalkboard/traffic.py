"""Chapter 1: trains that leave on schedule, and the users who fill them.

Symbols: B seats, T time between departures.
"""

from __future__ import annotations

from ridgeline.chalkboard.roofline import Number


def worst_latency(*, interval_s: Number) -> Number:
    """Return the longest time from arrival to token [s]: just missed one train, rode the next.

        t = 2·T

    Args:
        interval_s: T, time between departures, and the length of one ride.

    Source: lecture C1-F10.
    """
    return 2.0 * interval_s


def mean_latency(*, interval_s: Number) -> Number:
    """Return the mean time from arrival to token [s] when arrivals are uniform.

        t = 1.5·T

    Args:
        interval_s: T; half an interval of waiting, one of riding.

    Source: lecture C1-F10.
    """
    return 1.5 * interval_s


def system_rate(*, batch: Number, interval_s: Number) -> Number:
    """Return the tokens per second of one system [token/s].

        r = B / T

    Args:
        batch: B, tokens per departure.
        interval_s: T, time between departures.

    Source: lecture C1-F11.
    """
    return batch / interval_s


def request_rate(*, batch: Number, step_s: Number, answer_tokens: Number) -> Number:
    """Return the requests per second that keep every seat taken [1/s]: Little's law.

        r = B / (T·o)

    Args:
        batch: B, seats.
        step_s: T.
        answer_tokens: o, output tokens of one request.

    Source: lecture C1-U6.
    """
    return batch / (step_s * answer_tokens)


def sequences_in_flight(
    *, tokens_per_s_per_device: Number, tokens_per_s_per_user: Number, devices: Number
) -> Number:
    """Return the batch that a measured fleet runs [seq].

        B = r / v·n

    Args:
        tokens_per_s_per_device: r.
        tokens_per_s_per_user: v.
        devices: n, devices of one unit.

    Source: lecture C1-N8.
    """
    return tokens_per_s_per_device / tokens_per_s_per_user * devices


def memory_sweeps(
    *, interval_s: Number, capacity_bytes: Number, bandwidth_bytes_per_s: Number
) -> Number:
    """Return how often the whole memory could be read between departures [1].

        n = T·W / C

    Args:
        interval_s: T.
        capacity_bytes: C.
        bandwidth_bytes_per_s: W.

    Source: lecture C1-N13.
    """
    return interval_s * bandwidth_bytes_per_s / capacity_bytes
