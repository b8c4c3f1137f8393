"""Decode estimates per CPU second: ridgeline, alone and beside a peer in the same run.

    python bench/estimates.py [--peer-python PATH]

PATH is an interpreter that has llm-analysis and genz-llm from PyPI.
"""

import argparse
import subprocess
import time
from pathlib import Path

import numpy as np

from ridgeline.phase.deployment import step_breakdown
from ridgeline.study.deploy import deploy

POINTS = 16_384
REPEATS = 5


def points_per_cpu_second(model: str, cluster: str, network: str) -> float:
    """Return the median over repeats of (batch, context) points per CPU second, parts kept."""
    deployment = deploy(model, on=cluster, network=network)
    rng = np.random.default_rng(0)
    batch = rng.integers(1, 4096, POINTS).astype(float)
    context = rng.integers(1, 131072, POINTS).astype(float)
    rates: list[float] = []
    for _ in range(REPEATS):
        start = time.process_time()
        step_breakdown(deployment, phase="decode", batch=batch, context=context)
        rates.append(POINTS / (time.process_time() - start))
    return float(np.median(rates))


def main() -> None:
    """Print one line per model, and the ratio to the peer where it is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", type=Path)
    arguments = parser.parse_args()
    ours: float | None = None
    for model, cluster in (
        ("llama-3.3-70b", "hgx-h100-8"),
        ("deepseek-v3", "hgx-h200-8"),
        ("deepseek-v4-pro", "gb200-nvl72"),
    ):
        for network in ("calibrated", "ideal"):
            rate = points_per_cpu_second(model, cluster, network)
            ours = ours or rate
            print(f"{model:16} {cluster:12} network {network:10} {rate:12,.0f} points per CPU s")
    for peer in ("llm_analysis", "genz") if arguments.peer_python else ():
        script = Path(__file__).with_name(f"peer_{peer}.py")
        done = subprocess.run(
            [arguments.peer_python, script], capture_output=True, text=True, check=True
        )
        seconds = float(done.stdout.strip().splitlines()[-1])
        ratio = (ours or 0.0) * seconds
        print(f"{peer:16} the same dense model: {1 / seconds:,.0f} per CPU s; ratio {ratio:,.0f}")


if __name__ == "__main__":
    main()
