"""Results of other people's benchmark tools, recognised by what is in the file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from ridgeline.errors import InputError
from ridgeline.readers.benchmarks.aiperf import is_aiperf, read_aiperf
from ridgeline.readers.benchmarks.genai_bench import is_genai_bench, read_genai_bench
from ridgeline.readers.benchmarks.guidellm import is_guidellm, read_guidellm
from ridgeline.readers.benchmarks.inferencex import is_inferencex, read_inferencex
from ridgeline.readers.benchmarks.llama_bench import is_llama_bench, read_llama_bench
from ridgeline.readers.benchmarks.record import Json, Measured, need
from ridgeline.readers.benchmarks.sglang import is_sglang, read_sglang
from ridgeline.readers.benchmarks.trtllm import is_trtllm, read_trtllm
from ridgeline.readers.benchmarks.vllm import (
    is_serve,
    is_throughput,
    read_serve,
    read_throughput,
)

__all__ = ["MAX_FILE_BYTES", "TOOLS", "Measured", "parse_benchmarks", "read_benchmarks"]

MAX_FILE_BYTES = 256 * 2**20
"""A run with `--save-detailed` keeps every gap of every request: tens of MB."""
MAX_RUNS = 10_000
_VALUE_LINE = re.compile(r"^[ \t]*([\[{])", re.MULTILINE)
_MAX_LOG_LINES = 100
"""Lines of a log that start like JSON, `[INFO] ...`, and are passed over."""

_Reader = Callable[[Json], Measured | tuple[Measured, ...]]

TOOLS: tuple[tuple[str, Callable[[Json], bool], _Reader], ...] = (
    ("InferenceX agg_*.json (tput_per_gpu, conc)", is_inferencex, read_inferencex),
    ("trtllm-bench (engine, world_info, performance)", is_trtllm, read_trtllm),
    ("guidellm (metadata, benchmarks[].metrics)", is_guidellm, read_guidellm),
    ("aiperf, genai-perf (input_config, request_latency.avg)", is_aiperf, read_aiperf),
    ("SGLang bench_serving (total_output_tokens_retokenized)", is_sglang, read_sglang),
    ("vllm bench serve (model_id, request_throughput)", is_serve, read_serve),
    ("vllm bench throughput (elapsed_time, tokens_per_second)", is_throughput, read_throughput),
    ("genai-bench (aggregated_metrics, num_concurrency)", is_genai_bench, read_genai_bench),
    ("llama-bench (n_prompt, n_gen, avg_ts)", is_llama_bench, read_llama_bench),
)
"""What a file is, how it is recognised, and who reads it; the first that matches wins."""


def read_benchmarks(path: Path) -> tuple[Measured, ...]:
    """Return the runs of a result file, in the file's order.

    Raises:
        InputError: unreadable, not JSON, or of no known tool.
    """
    try:
        _check_file(path)
        content = path.read_text("utf-8-sig")
    except InputError:
        raise
    except UnicodeDecodeError:
        raise InputError(f"{path.name[:100]} is not UTF-8 text.") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)[:100]!r} cannot be read: {str(error)[:120]}.") from None
    return parse_benchmarks(content, what=path.name[:100])


def _check_file(path: Path) -> None:
    size = path.stat().st_size
    # Reading a pipe or a device may never end.
    if not path.is_file():
        raise InputError(f"{str(path)[:100]!r} is not a plain file.")
    if size > MAX_FILE_BYTES:
        raise InputError(f"{path.name[:100]} is larger than 256 MiB; results are a few MB.")


def parse_benchmarks(content: str, *, what: str) -> tuple[Measured, ...]:
    """Return the runs in JSON text: one object, a list, JSON lines, or objects in a row.

    Raises:
        InputError: not JSON, or of no known tool.
    """
    objects = _objects(content, what)
    if not objects:
        raise InputError(f"{what} holds no JSON object; a benchmark result is one or several.")
    runs: list[Measured] = []
    for data in objects:
        reader = next((read for _, fits, read in TOOLS if fits(data)), None)
        if reader is None:
            raise _unknown(data, what)
        found = reader(data)
        runs += [need(x, what) for x in (found if isinstance(found, tuple) else (found,))]
        if len(runs) > MAX_RUNS:
            raise InputError(f"{what}: at most {MAX_RUNS:,} runs in one file.")
    return tuple(runs)


def _objects(content: str, what: str) -> list[Json]:
    """Return every object of JSON values written one after another.

    Tools that print their JSON print lines of a log before it; those are passed over.
    """
    decoder = json.JSONDecoder()
    found: list[Json] = []
    position, end = _first_value(content, decoder), len(content)
    try:
        while True:
            while position < end and content[position] in " \t\r\n,":
                position += 1
            if position >= end:
                return found
            value, position = decoder.raw_decode(content, position)
            found += _flat(value, what)
    except InputError:
        raise
    except RecursionError:
        raise InputError(f"{what} is nested too deeply to be a benchmark result.") from None
    except ValueError as error:
        raise InputError(
            f"{what} is not JSON at character {position:,}: {str(error)[:100]}."
            " Save the tool's JSON output, not its printed table."
        ) from None


def _first_value(content: str, decoder: json.JSONDecoder) -> int:
    """Return where the first line that starts a JSON object or list begins; 0 where none does."""
    for tried, line in enumerate(_VALUE_LINE.finditer(content)):
        if tried >= _MAX_LOG_LINES:
            break
        try:
            decoder.raw_decode(content, line.start(1))
        except RecursionError:
            pass  # said by the reader, which meets it again
        except ValueError:
            continue
        return line.start(1)
    return 0


def _flat(value: Any, what: str) -> list[Json]:
    items: list[Any] = cast("list[Any]", value) if isinstance(value, list) else [value]
    for item in items:
        if not isinstance(item, dict):
            raise InputError(
                f"{what} holds a {type(item).__name__} where a benchmark result has an object."
            )
    return [cast("Json", item) for item in items]


def _unknown(data: Json, what: str) -> InputError:
    keys = ", ".join(str(k)[:30] for k in list(data)[:12]) or "none"
    more = " ..." if len(data) > 12 else ""
    known = "; ".join(name for name, _, _ in TOOLS)
    return InputError(
        f"{what} is of no known tool. Its keys: {keys}{more}. Known: {known}. Or give the figures"
        " by hand: --tpot-ms, --ttft-ms, --concurrency, --isl, --osl, --output-tok-s."
    )
