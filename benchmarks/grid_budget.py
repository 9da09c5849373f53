"""Compare the accounts of a finished run with the budget of the grid without nbfi.

    make reproduce EXCLUDE=nbfi
    python benchmarks/grid_budget.py [results/accounts/steps.csv]

The accounts are sums over all jobs of the grid, including those of earlier runs. They do not contain Snakemake's own time.
"""

import csv
import sys
from pathlib import Path

from measuring import Bars

ACCOUNTS_PATH = "results/accounts/steps.csv"
#: For each kind of job: its budget in seconds of CPU, and the steps that it covers.
BUDGETS = {
    "cells": (240, {"score-method"}),
    "C's samples": (80, {"sample-partitions"}),
    "k-means of each group": (50, {"extract-clusterlets"}),
    "distances between clusterlets": (100, {"measure-geometry", "sum-distances"}),
    "fits of FRAC, k-means and random, with their distances": (300, {"fit-method"}),
}
TOTAL = 650  # budget of all jobs in seconds of CPU


def main(path: str = ACCOUNTS_PATH) -> int:
    with Path(path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    seconds = {row["step"]: float(row["cpu_seconds"]) for row in rows}
    bars = Bars()
    for kind, (budget, steps) in BUDGETS.items():
        bars.at_most(kind, sum(seconds.get(step, 0) for step in steps), budget, "s of CPU")
    bars.at_most("all jobs", sum(seconds.values()), TOTAL, "s of CPU")
    print(f"      the largest job: {max(float(row['largest_memory_mb']) for row in rows):.0f} MB")
    return bars.missed


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
    else:
        sys.exit(main(*sys.argv[1:]))
