"""llama-bench `-o json` or `-o jsonl`: one row per test, pp (prompt) or tg (generation).

`avg_ts` is tokens per second: of the prompt where n_gen is 0, of one sequence's output where
n_prompt is 0. `n_depth` tokens are in the cache before the test starts.
"""

from __future__ import annotations

from ridgeline.readers.benchmarks.record import Json, Measured, number, positive, text


def is_llama_bench(data: Json) -> bool:
    """Whether the object is a row of llama-bench."""
    return {"n_prompt", "n_gen", "avg_ts"} <= data.keys()


def read_llama_bench(data: Json) -> Measured:
    """Return one row: pp as prompt tokens per second, tg as TPOT of a single sequence."""
    prompt, output = positive(data.get("n_prompt")), positive(data.get("n_gen"))
    depth = positive(data.get("n_depth")) or 0.0
    rate = positive(data.get("avg_ts"))
    model = text(data.get("model_type")) or text(data.get("model_filename"))
    flags = ("the first n_depth tokens are in the cache before the test",) if depth else ()
    # With graphics layers the device is the accelerator; without, the processor.
    layers = number(data.get("n_gpu_layers"))
    place = "gpu_info" if layers is None or layers != 0 else "cpu_info"
    device = text(data.get(place)) or text(data.get("cpu_info"))
    if prompt and output:
        flags = (*flags, "pp and tg in one test: avg_ts counts prompt and output tokens")
        return Measured(
            tool="llama-bench",
            model=model,
            device=device,
            engine="llama.cpp",
            concurrency=1.0,
            isl=prompt + depth,
            osl=output,
            total_tokens_per_s=rate,
            e2e_latency_s=(prompt + output) / rate if rate else None,
            flags=flags,
        )
    return Measured(
        tool="llama-bench",
        model=model,
        device=device,
        engine="llama.cpp",
        concurrency=1.0,
        # Generation starts from one token when nothing is cached.
        isl=prompt or depth or 1.0,
        osl=output,
        prompt_tokens_per_s=rate if prompt else None,
        tpot_s=1 / rate if rate and output else None,
        output_tokens_per_s=rate if output else None,
        flags=flags,
    )
