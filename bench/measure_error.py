"""Error of decode steps predicted from micro-benchmarks alone, over several runs of `measure`.

Takes half a minute per run and thread count; fails above 25 % or where nothing was undisturbed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys

RUNS = 3
LIMIT = 0.25


def main() -> int:
    """Print the median error and both knees of every run; return 1 above the limit."""
    worst = 0.0
    for threads in sorted({1, os.cpu_count() or 1}):
        for _ in range(RUNS):
            command = [sys.executable, "-m", "ridgeline", "measure", "--json"]
            done = subprocess.run(
                [*command, "--threads", str(threads)], capture_output=True, text=True, check=True
            )
            found = json.loads(done.stdout)
            quiet = sum(r["undisturbed"] for r in found["rows"])
            knees = ", ".join(
                f"{k['measured']:.1f} measured {k['predicted']:.1f} predicted at {k['context']}"
                for k in found["knees"]
            )
            largest = max(abs(r["predicted_s"] / r["measured_s"] - 1) for r in found["rows"])
            spread = statistics.median(
                (r["p90_s"] - r["p10_s"]) / r["measured_s"] for r in found["rows"]
            )
            print(
                f"threads {threads}: median error {found['median_error']:.1%}, largest"
                f" {largest:.0%}, spread {spread:.0%}, {quiet} of {len(found['rows'])} steps"
                f" undisturbed; knees {knees}"
            )
            worst = max(worst, found["median_error"] if quiet else 1.0)
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
