"""Write docs/validation.md and its picture.

python dev/make_validation.py DIR     DIR holds CSV files of published measurements
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean, median

from held_out_engines import CASES, held_out

from ridgeline.cost.engine_fits import ENGINE_FITS, OLDER_LAYER_US
from ridgeline.report.table import Column, render_table
from ridgeline.report.truth import truth_plot
from ridgeline.validate.score import Score
from ridgeline.validate.truth import TruthReport, validate_truth
from ridgeline.validate.truth_rows import read_directory

DOCS = Path(__file__).parents[1] / "docs"
TARGETS = {
    "gemm bf16": 8, "gemm fp8": 12, "decode attention": 10, "prefill attention": 10,
    "grouped gemm": 15, "collective": 8, "decode step": 12, "prefill step": 12,
    "serving tpot": 12, "serving ttft": 25, "offline max": 20, "local decode": 12,
    "wide-EP decode": 25, "wide-EP prefill": 25,
}  # fmt: skip
"""Median error aimed at [%]."""

WHY = {
    "collective": "three of four sources ran NCCL of 2022 and 2023 on A100, which takes up to"
    " twice the time of the calibration's NCCL of 2025 between 64 kB and 4 MB: for 1"
    " MB between four devices two sources measured 61 and 64 µs, the calibration 34"
    " (a third, not scored, 75 between eight, against 45: microsoft/superbenchmark,"
    " test data of 2021). One profiler adds the wait for the other process (13 and"
    " 60 µs at neighbouring sizes) and times sends on the sender, which only fills a"
    " buffer (339 GB/s over a link of 300). All-reduces of 32 MB and more agree"
    " within 15 %; fitting the old library would mean fitting to these rows",
    "decode attention": "FlashInfer on H20 (148 TFLOP/s over 4 TB/s): vector units where four"
    " queries share a key, and one shape of heads that its rows show to be dealt by another plan",
    "prefill step": "seconds of prompts on H100 run a quarter below the rates of short kernel"
    " measurements, and an engine of 2023 slows down beyond 4,000 tokens at tp 4 and 8 for a reason"
    " that its rows do not show. Over the groups of both kinds of step the median is {steps}",
    "serving ttft": "marked as context (N) by its source. InferenceX runs alone: the figure by"
    " source below; what is left is up to 90 ms between clusters before the first kernel, and runs"
    " whose seats ran out. The other source, one sweep of a nightly build, is twenty times slower"
    " than its kernels",
    "gemm fp8": "one chip",
    "gemm bf16": "within the noise between libraries",
}


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


_COLUMNS = tuple(
    Column(key=key, label=label, align="left" if key in ("family", "source", "bound") else "right")
    for key, label in (
        ("family", "family"), ("source", "source"), ("class", "class"), ("rows", "rows"),
        ("groups", "groups"), ("median", "median"), ("target", "target"), ("p90", "p90"),
        ("bias", "bias"), ("band", "in band"), ("sampled", "sampled"),
        ("bound", "mostly bound by"),
    )
)  # fmt: skip


def _row(score: Score) -> dict[str, object]:
    target = TARGETS.get(score.family)
    return {
        "family": score.family,
        "source": score.file,
        "class": score.scorable,
        "rows": score.num_rows,
        "groups": score.num_groups,
        "median": _percent(score.median_error),
        "target": f"{target} %" if target else "",
        "p90": _percent(score.p90_error),
        "bias": f"{100 * score.bias:+.1f} %",
        "band": f"{100 * score.coverage:.0f} %",
        "sampled": ""
        if score.sampled_coverage is None
        else f"{100 * score.sampled_coverage:.0f} %",
        "bound": next(iter(score.bounds), ""),
    }


def _table(scores: tuple[Score, ...], *drop: str) -> str:
    columns = [c for c in _COLUMNS if c.key not in drop]
    return render_table(columns, [_row(s) for s in scores], style="markdown")


def _missed(result: TruthReport) -> list[str]:
    lines: list[str] = []
    for score in (*result.report.scores, *result.context.scores):
        target = TARGETS.get(score.family)
        if score.scorable != "P" and target and 100 * score.median_error > target:
            why = WHY.get(score.family, "see the worst rows of `ridgeline validate`")
            why = why.replace("{steps}", _percent(_both_steps(result)))
            lines.append(
                f"- **{score.family}**: {_percent(score.median_error)}, aimed at {target} %: {why}."
            )
    return lines


def _both_steps(result: TruthReport) -> float:
    """Median over the groups of prefill and decode steps [1]."""
    groups: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for scored in result.report.scored:
        family = scored.prediction.family
        if family in ("prefill step", "decode step") and scored.row.scorable == "Y":
            groups[family, *scored.row.group].append(abs(scored.error))
    return median(mean(errors) for errors in groups.values())


def _engines() -> str:
    columns = [
        Column(key=k, label=k, align="left" if k in ("engine", "vendor") else "right")
        for k in ("engine", "vendor", "µs per layer", "µs per sequence", "held-out error")
    ]
    rows = [
        {
            "engine": engine,
            "vendor": vendor,
            "µs per layer": layer,
            "µs per sequence": sequence,
            "held-out error": f"{error} %",
        }
        for (engine, vendor), (layer, sequence, error) in ENGINE_FITS.items()
    ]
    return render_table(columns, rows, style="markdown")


def _held_out(directory: Path) -> str:
    keys = ("figures", "rows", "left out", "shipped", "held-out")
    columns = [Column(key=k, label=k, align="left" if k == "figures" else "right") for k in keys]
    rows = read_directory(directory)
    found = [held_out(case, rows) for case in CASES]
    return render_table(
        columns,
        [
            {
                "figures": x.figures.name,
                "rows": x.num_rows,
                "left out": f"1 {x.figures.left_out} of {x.num_groups}",
                "shipped": _percent(x.shipped_error),
                "held-out": _percent(x.held_out_error),
            }
            for x in found
        ],
        style="markdown",
    )


def main() -> None:
    """Write the page."""
    result = validate_truth(Path(sys.argv[1]))
    DOCS.mkdir(exist_ok=True)
    truth_plot(result, DOCS / "validation.png")
    report = result.report
    older = ", ".join(f"{g} {us} µs" for g, us in OLDER_LAYER_US.items())
    lines = [
        "# How far off are the predictions?",
        "",
        "Written by `dev/make_validation.py`; `ridgeline validate` checks a packaged subset of the",
        f"same rows. {len(report.scored):,} published measurements are scored. Rows are averaged",
        "within (source, model, chip) first, so that big sweeps do not drown small sources; the",
        "median is over those groups, p90 over rows. Y rows state all facts, P rows need one",
        "assumption. Two kinds of band should hold 80 % of the rows. `in band`: from the errors of",
        "the other groups of a family. `sampled`: what `estimate` and `plan` print, from fitted",
        "figures that are off by the spread of their own fits (kernels of other sources than these",
        "rows), and for replicas under load by one common factor. It is low where a source is off",
        "by more than its kernels' spread: one library of 2023, H20, long prompts on H100.",
        "",
        "![Predicted against published](validation.png)",
        "",
        "## By family",
        "",
        _table(report.scores, "source"),
        "",
        "## Where we miss, and why",
        "",
        *_missed(result),
        "",
        "## By source",
        "",
        _table(report.by_source, "target", "bound"),
        "",
        "Context rows (N), not part of any score:",
        "",
        _table(result.context.by_source, "target", "bound"),
        "",
        "## Engines",
        "",
        "What serving engines add to the kernels of a step, fitted to closed loops",
        "(`dev/fit_engines.py`), never per model or chip. The error is that of (model, chip) pairs",
        f"left out of the fit. A layer with routed experts takes longer on {older}.",
        "",
        "Read `serving tpot` above with that in mind: its figure is of rows the fit has seen; over",
        "pairs left out it is 13.2 % by group and 11.2 % by row.",
        "",
        _engines(),
        "",
        "Other figures of engines come from sources they are scored on. Each is chosen anew on a",
        "grid with one group left out and scored on that group (`dev/held_out_engines.py`):",
        "",
        _held_out(Path(sys.argv[1])),
        "",
        "Runs of InferenceX poll for prompts and gather them as the launch scripts of that project",
        "say (`validate/benchmark_runs.py`); their rows do not state it.",
        "",
        "Kernels, collectives, offline Llama rows, pools, wide expert parallelism and capacity are",
        "fitted to none of these rows. Some forms and sources were looked for because open rows",
        "were off, and only rows nobody has seen can confirm them: rounds of prompts on cards with",
        "FlashAttention 2, warp-wide decode on Hopper, tiles and drawn rows of bare grouped GEMMs,",
        "the rated peak of RTX 4090 and 5090, the best of a thousand shapes, host time of eager",
        "calls, FlashInfer's plan of decode, the edition of RTX PRO 6000 that its source's records",
        "name, what DeepEP counts as sent. Their constants come from papers, code, records beside",
        "the figures, vendors and the calibration tables.",
        "",
        "## Reproduce it",
        "",
        "Every fitted figure comes from a command and is data with its source, rows and errors.",
        "The shipped ones are refitted from the measurements they came from, which are development",
        "dependencies and not shipped:",
        "",
        "| figures | records | command |",
        "| --- | --- | --- |",
        "| kernels | `cost/efficiency_fits.py` | `dev/fit_kernels.py --write` |",
        "| collectives | `cost/network_fits.py` | `dev/fit_collectives.py --write` |",
        "| engines | `cost/engine_fits.py` | `dev/fit_engines.py DIR` prints them |",
        "| the other figures of engines | `cost/engines.py` | `dev/held_out_engines.py DIR` |",
        "| errors, bands | `catalog/data/truth/recorded.json` | `dev/record_validation.py DIR` |",
        "",
        "`ridgeline calibrate` fits the same forms to a user's own measurements",
        "([how to](howto/calibrate.md)); `ridgeline validate --calibration FILE` scores them on",
        "these rows.",
        "",
        "## Not predicted yet",
        "",
        *(f"- {count} rows of {file}: {why}" for (file, why), count in
          report.not_predicted.items()),
        "",
    ]  # fmt: skip
    (DOCS / "validation.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
