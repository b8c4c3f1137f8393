"""Print the share of peak that the best GEMM in a thousand shapes reaches, by form and generation.

    AICONFIGURATOR_DATA=.../systems/data \
        uv run --with pyarrow --with pandas --with scipy python dev/best_gemms.py

The figures of `ridgeline.cost.best_gemms`: median over engines, mean over systems; then σ of an
engine's best about that.
"""

from __future__ import annotations

import os
from pathlib import Path

import kernel_rows
import pandas as pd
from kernel_rows import SYSTEMS, read_gemms

from ridgeline.cost.roofline import arithmetic_format
from ridgeline.study.resolve import open_catalog

FORMS = ("bf16", "fp8", "fp8_block", "fp4")
BEST = 0.999
"""Quantile over shapes: the best in a thousand, as many as a search for the maximum tries."""


def main() -> None:
    """Print one line per form and generation, and the spread."""
    kernel_rows.MOST_ROWS = 10**9
    catalog = open_catalog(None)
    found = []
    for system, name in SYSTEMS.items():
        device = catalog.device(name)
        for g in read_gemms(Path(os.environ["AICONFIGURATOR_DATA"]), system, device):
            if g.form in FORMS:
                (op,) = g.operations
                peak = device.peak_flop_per_s[arithmetic_format(device, op.compute_format)]
                shares = pd.Series(op.flop / g.seconds / peak)
                found.append((g.form, device.generation, system, shares.quantile(BEST)))
    table = pd.DataFrame(found, columns=["form", "generation", "system", "share"])
    by_system = table.groupby(["form", "generation", "system"]).share.median()
    print(by_system.round(3).to_string())
    print(by_system.groupby(["form", "generation"]).mean().round(3).to_string())
    keys = [table.form, table.generation, table.system]
    apart = table.share / table.share.groupby(keys).transform("median")
    print("spread", round(float(((apart - 1) ** 2).mean() ** 0.5), 3))


if __name__ == "__main__":
    main()
