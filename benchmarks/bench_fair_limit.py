"""fair-limit beside reference values: blocks of tables, balanced files at limit 0, and a million rows.

    python benchmarks/bench_fair_limit.py --blocks limits.csv --prepared results/prepared --balanced folder --rows 1000000

``limits.csv`` has the columns dataset, k, limit, sse and seconds; the prepared tables are standardised first. A folder
of balanced files has ``expected.csv`` (dataset, k, sse) and the tables, whose first column is the group. Ratios are medians
of three seeds to the reference, of balanced files the best of three. Every result is checked in whole numbers.
"""

import argparse
import statistics
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from measuring import Bars, cpu_seconds, peak_megabytes  # before numpy: it sets the threads

from clusterlets.algorithms.fair_limit import fair_limit
from clusterlets.algorithms.limits import deviation_limits, exact, largest_deviation
from clusterlets.storage import load_arrays


def fit(X: np.ndarray, groups: np.ndarray, k: int, limit: str, seed: int) -> tuple[float, float]:
    """Sum of squared errors and CPU seconds."""
    counts = np.bincount(groups)
    levels, results = np.arange(len(counts))[:, None], []
    limits = deviation_limits(levels, counts, [exact(limit)])
    seconds = cpu_seconds(lambda: results.append(fair_limit(X, groups, k, np.random.default_rng(seed), limits, levels)), runs=1)
    composition = np.zeros((len(counts), k), dtype=np.int64)
    np.add.at(composition, (groups, results[0].labels), 1)
    assert largest_deviation(composition, levels) <= exact(limit)
    return results[0].inertia, seconds


def blocks(path: Path, prepared: Path, bars: Bars) -> None:
    for dataset, rows in pd.read_csv(path, dtype={"limit": str}).groupby("dataset", sort=False):
        table = load_arrays(prepared / f"{dataset}.npz")
        X = np.asarray(table["X"], dtype=np.float64)
        spread = X.std(axis=0)
        X, groups = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), table["groups"].astype(np.int64)
        fit(X, groups, 2, "0.5", 0)  # compiles
        for row in rows[rows["status"] == "ok"].itertuples():
            fits = [fit(X, groups, row.k, row.limit, seed) for seed in range(3)]
            what = f"{dataset}, k = {row.k}, limit {row.limit}"
            bars.at_most(what, statistics.median(sse for sse, _ in fits) / row.sse, 1.003, "of the reference")
            bars.at_most(
                f"{what}, time", statistics.median(seconds for _, seconds in fits) / row.seconds, 2, "of the reference"
            )


def balanced(folder: Path, bars: Bars) -> None:
    for row in pd.read_csv(folder / "expected.csv").itertuples():
        table = pd.read_csv(folder / f"{row.dataset}.csv").to_numpy(dtype=np.float64)
        X, groups = np.ascontiguousarray(table[:, 1:]), table[:, 0].astype(np.int64)
        fits = [fit(X, groups, row.k, "0", seed) for seed in range(3)]
        # The reference has six digits.
        bars.at_most(
            f"balanced {row.dataset}, k = {row.k}", min(sse for sse, _ in fits) / row.sse, 1.000003, "of the reference"
        )
        print(f"      {statistics.median(seconds for _, seconds in fits):.2f} s a fit")


def many(n: int, bars: Bars) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8)) + 3 * rng.normal(size=(20, 8))[rng.integers(0, 20, n)]
    groups = (rng.random(n) < 0.3 + 0.2 * (X[:, 0] > 0)).astype(np.int64)
    _, seconds = fit(X, groups, 20, "0.02", 0)
    bars.at_most(f"{n:,} rows, two groups", seconds, 15, "s")
    bars.at_most(f"{n:,} rows, two groups", peak_megabytes(), 1000, "MB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=Path)
    parser.add_argument("--prepared", type=Path)
    parser.add_argument("--balanced", type=Path)
    parser.add_argument("--rows", type=int)
    options, bars = parser.parse_args(), Bars()
    if options.blocks:
        blocks(options.blocks, options.prepared, bars)
    if options.balanced:
        balanced(options.balanced, bars)
    if options.rows:
        many(options.rows, bars)
    return bars.missed


if __name__ == "__main__":
    sys.exit(main())
