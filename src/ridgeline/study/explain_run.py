"""What a benchmark leaves out, filled in from what it says, and every guess flagged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ridgeline.errors import InputError
from ridgeline.readers.benchmarks import Measured

Kind = Literal["decode", "prefill"]
_FLAGS = {
    "tpot_s": ("tpot-ms", 1e3),
    "ttft_s": ("ttft-ms", 1e3),
    "output_tokens_per_s": ("output-tok-s", 1.0),
}
"""What the figures are called on the command line, and their unit there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One measured run, complete enough to be compared with a prediction."""

    kind: Kind
    """`prefill` for a run that only reads prompts."""
    isl: float
    osl: float
    concurrency: float
    """Requests in flight."""
    tpot_s: float
    """Of a prefill run: time of the prompt [s]."""
    ttft_s: float | None
    requests_per_s: float
    output_tokens_per_s: float
    """Prompt tokens per second of a prefill run."""
    decoding: float
    """Requests that decode at a time, by Little's law."""
    tokens_per_step: float = 1.0
    flags: tuple[str, ...] = ()


def with_figures(measured: Measured, **given: float | None) -> Measured:
    """Return the run with figures given by hand in place of the file's.

    Raises:
        InputError: a figure that is not above zero.
    """
    stated = {k: v for k, v in given.items() if v is not None}
    for name, value in stated.items():
        flag, scale = _FLAGS.get(name, (name, 1.0))
        if not 1e-9 <= value * scale < 1e15:  # NaN as well
            raise InputError(
                f"--{flag} must be above zero, from 1e-9 to 1e15: {value * scale:.6g}."
            )
    for name in ("isl", "osl", "concurrency"):
        if 0 < stated.get(name, 1.0) < 1:
            raise InputError(f"{name} must be at least 1: {stated[name]}.")
    return replace(measured, **stated)


def complete(measured: Measured) -> Run:
    """Return the run with everything a comparison needs.

    Little's law joins the figures (X requests per second, Z seconds of decoding):

        concurrency = X · latency,  decoding = X · Z,  Z = (osl - 1) · TPOT

    Raises:
        InputError: figures are missing that nothing else implies; names the flags.

    Source: Little 1961.
    """
    if measured.prompt_tokens_per_s is not None and measured.tpot_s is None:
        return _prefill(measured, measured.prompt_tokens_per_s)
    flags = list(measured.flags)
    isl, osl = measured.isl, measured.osl
    if isl is None or osl is None:
        missing = " and ".join(f"--{n}" for n, v in (("isl", isl), ("osl", osl)) if v is None)
        raise InputError(
            f"{measured.tool}: the lengths of the requests are missing. Give {missing}, the mean"
            " prompt and output tokens of a request."
        )
    output = _output_rate(measured, isl, osl)
    latency = _latency(measured, osl)
    concurrency = measured.concurrency
    if concurrency is None and output is not None and latency is not None:
        concurrency = output / osl * latency
        flags.append("concurrency from Little's law: requests per second times latency")
    if concurrency is None:
        raise InputError(
            f"{measured.tool}: the number of requests in flight is missing. Give --concurrency"
            " (offline runs: what the engine batched, its --max-num-seqs or fewer)."
        )
    tpot = measured.tpot_s or _tpot(measured, osl, output, concurrency, flags)
    if tpot is None:
        raise InputError(
            f"{measured.tool}: neither TPOT nor a throughput to derive it from. Give"
            " --tpot-ms or --output-tok-s."
        )
    if output is None:
        cycle = (measured.ttft_s or 0.0) + max(osl - 1, 1) * tpot
        output = concurrency * osl / cycle
        left_out = "" if measured.ttft_s else "; no TTFT is known, so it counts as zero"
        flags.append(
            f"output tok/s from Little's law: concurrency·osl / (TTFT + (osl - 1)·TPOT){left_out}"
        )
    requests = output / osl
    decoding = requests * max(osl - 1, 1) * tpot
    if decoding > concurrency * 1.05:
        flags.append(
            f"TPOT and throughput imply {decoding:.3g} requests decoding at a time, more than the"
            f" {concurrency:.3g} in flight: the figures do not belong together or are medians of a"
            " skewed run"
        )
        decoding = concurrency
    return Run(
        kind="decode",
        isl=isl,
        osl=osl,
        concurrency=max(concurrency, 1.0),
        tpot_s=tpot,
        ttft_s=measured.ttft_s,
        requests_per_s=requests,
        output_tokens_per_s=output,
        decoding=max(min(decoding, concurrency), 1.0),
        tokens_per_step=measured.tokens_per_step or 1.0,
        flags=tuple(flags),
    )


def _prefill(measured: Measured, rate: float) -> Run:
    if measured.isl is None:
        raise InputError(f"{measured.tool}: the run only prefills; give --isl, its prompt tokens.")
    return Run(
        kind="prefill",
        isl=measured.isl,
        osl=1.0,
        concurrency=1.0,
        tpot_s=measured.isl / rate,
        ttft_s=measured.isl / rate,
        requests_per_s=rate / measured.isl,
        output_tokens_per_s=rate,
        decoding=1.0,
        flags=measured.flags,
    )


def _output_rate(measured: Measured, isl: float, osl: float) -> float | None:
    if measured.output_tokens_per_s is not None:
        return measured.output_tokens_per_s
    if measured.requests_per_s is not None:
        return measured.requests_per_s * osl
    if measured.total_tokens_per_s is not None:
        return measured.total_tokens_per_s * osl / (isl + osl)
    return None


def _latency(measured: Measured, osl: float) -> float | None:
    if measured.e2e_latency_s is not None:
        return measured.e2e_latency_s
    if measured.ttft_s is not None and measured.tpot_s is not None:
        return measured.ttft_s + (osl - 1) * measured.tpot_s
    return None


def _tpot(
    measured: Measured,
    osl: float,
    output: float | None,
    concurrency: float,
    flags: list[str],
) -> float | None:
    late, first = measured.e2e_latency_s, measured.ttft_s
    if late is not None and first is not None and osl > 1 and late > first:
        flags.append("TPOT from (latency - TTFT) / (osl - 1)")
        return (late - first) / (osl - 1)
    if output is None:
        return None
    flags.append("TPOT from concurrency / output tok/s: the time of a user's own prompt is in it")
    return concurrency / output
