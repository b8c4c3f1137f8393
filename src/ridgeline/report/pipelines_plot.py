"""Memory, latency and stages of a pipeline, and its decode loop as Gantt charts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ridgeline.report.figure import COLOURS, new_figure, save_figure
from ridgeline.schedule.pipeline import idle_share, token_period_s


def plot_pipelines(result: Any, path: Path) -> None:
    """Draw memory and time against stages, time of each stage, and loops with M <, =, > P."""
    figure, axes = new_figure(2, 3, width=16.0, height=9.0)
    asked = result.request
    figure.suptitle(
        f"{asked['model']} in stages of {asked['devices_per_stage']} devices ({asked['on']}),"
        f" micro-batches of {asked['batch']:,} sequences at {asked['context']:,} tokens"
    )
    _memory(axes[0, 0], result)
    _latency(axes[0, 1], result)
    _stages(axes[0, 2], result)
    for axis, (m, loop) in zip(axes[1], result.loops, strict=False):
        _gantt(axis, result.loop_stages, m, loop)
    for axis in axes[1][len(result.loops) :]:
        axis.set_axis_off()
    save_figure(figure, path)


def _memory(axis: Any, result: Any) -> None:
    names = [str(r["stages"]) for r in result.rows]
    weights = [r["weight_bytes_per_device"] / 1e9 for r in result.rows]
    cache = [r["kv_bytes_per_device"] / 1e9 for r in result.rows]
    wrong = [
        (r["weight_bytes_per_device"] + r["kv_bytes_per_device_batch_fixed"]) / 1e9
        for r in result.rows
    ]
    axis.bar(names, weights, color=COLOURS[0], label="weights")
    axis.bar(names, cache, bottom=weights, color=COLOURS[1], label="KV cache, batch = M·b")
    axis.plot(names, wrong, "k--o", markersize=4, label="sum if the batch stayed at b")
    axis.set(
        xlabel="stages P", ylabel="memory per device [GB]", title="Stages cut weights, not the KV"
    )
    axis.legend(fontsize="small")


def _latency(axis: Any, result: Any) -> None:
    stages = [r["stages"] for r in result.rows]
    axis.plot(stages, [r["tpot_s"] * 1e3 for r in result.rows], "o-", color=COLOURS[0])
    axis.set(
        xlabel="stages P", ylabel="time per output token [ms]", ylim=(0, None), xticks=stages,
        title="Time per token, hops included",
    )  # fmt: skip


def _stages(axis: Any, result: Any) -> None:
    at = [s["stage"] for s in result.stages]
    times = [s["time_s"] * 1e3 for s in result.stages]
    axis.bar(at, times, color=COLOURS[2])
    axis.axhline(sum(times) / len(times), color="black", linestyle=":", label="mean")
    axis.set(
        xlabel="stage", ylabel="time of one micro-batch [ms]", xticks=at,
        title="Stages of the deepest pipeline",
    )  # fmt: skip
    axis.legend(fontsize="small")


def _gantt(axis: Any, stages: int, m: int, loop: Any) -> None:
    for task, start in zip(loop.tasks, loop.start_s, strict=True):
        axis.barh(
            task.resource,
            task.duration_s * 1e3,
            left=start * 1e3,
            height=0.85,
            color=COLOURS[task.micro_batch % 6],
            edgecolor="white",
            alpha=1.0 if task.token % 2 == 0 else 0.6,
        )
    sign = "<" if m < stages else ">" if m > stages else "="
    axis.invert_yaxis()
    axis.grid(visible=False)
    axis.set(
        xlabel="time [ms] (colour: micro-batch, shade: token)",
        ylabel="stage",
        yticks=range(stages),
        title=f"M = {m} {sign} P: {token_period_s(loop) * 1e3:.3g} ms per token,"
        f" {100 * idle_share(loop):.3g} % idle",
    )
