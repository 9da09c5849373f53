"""fair-flow under a bound on the balance, on the tables that MS-FlowFC's paper prints (arXiv 2605.13759).

    python benchmarks/bench_balance.py [--seeds 10]

The tables are adult by sex and bank by marital status (married or single), numeric features alone, from 0 to 1. The balance
is (1 - lambda) floor(n_min / k) / ceil(n_max / k), the rule
of that paper, which printed the best of a hundred seeds. The raw files lie in the folder that
CLUSTERLETS_MIRROR names, or in ../shared/datasets. Times are CPU time of the one thread.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from measuring import Bars  # before numba: it sets the threads

from clusterlets.algorithms.fair_flow import fair_flow

MIRROR = Path(os.environ.get("CLUSTERLETS_MIRROR") or Path(__file__).parents[2] / "shared" / "datasets")
# Table, k, lambda: the sums of squares of MPFC, whose assignments are optimal, and of MS-FlowFC.
PRINTED = {
    ("adult", 2, 0.01): (3697, 3698),
    ("adult", 5, 0.01): (2434, 2447),
    ("adult", 5, 0.1): (2407, 2413),
    ("adult", 5, 0.3): (2379, 2380),
    ("adult", 10, 0.01): (1607, 1623),
    ("adult", 10, 0.1): (1557, 1564),
    ("adult", 10, 0.3): (1515, 1507),
    ("adult", 15, 0.01): (1296, 1321),
    ("bank", 2, 0.01): (2397, 2397),
    ("bank", 5, 0.01): (1389, 1402),
    ("bank", 10, 0.01): (951, 980),
    ("bank", 10, 0.1): (930, 950),
    ("bank", 10, 0.3): (890, 901),
    ("bank", 15, 0.01): (810, 841),
}


def adult():
    parts = [
        pd.read_csv(MIRROR / "adult" / name, header=None, skiprows=skipped, skipinitialspace=True)
        for name, skipped in (("adult.data", 0), ("adult.test", 1))
    ]
    rows = pd.concat(parts)
    return rows[[0, 2, 4, 10, 11, 12]].to_numpy(dtype=float), (rows[9] == "Female").to_numpy().astype(np.int64)


def bank():
    rows = pd.read_csv(MIRROR / "bank" / "bank-full.csv", sep=";").query("marital != 'divorced'")
    features = ["age", "balance", "day", "duration", "campaign", "pdays", "previous"]
    return rows[features].to_numpy(dtype=float), (rows["marital"] == "single").to_numpy().astype(np.int64)


def scaled(X, groups):
    return np.ascontiguousarray((X - X.min(axis=0)) / np.ptp(X, axis=0)), groups


def balance_of(labels, groups, k):
    counts = np.stack([np.bincount(labels[groups == group], minlength=k) for group in (0, 1)])
    return (counts.min(axis=0) / counts.max(axis=0)).min()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    seeds = parser.parse_args().seeds
    if not MIRROR.is_dir():
        sys.exit(f"There is no folder {MIRROR}: let CLUSTERLETS_MIRROR name the one with the raw files.")
    tables, bars = {"adult": scaled(*adult()), "bank": scaled(*bank())}, Bars()
    for (name, k, slack), (optimal, published) in PRINTED.items():
        X, groups = tables[name]
        counts = np.bincount(groups)
        least = (1 - slack) * (counts.min() // k) / -(-counts.max() // k)
        inertias, start = [], time.process_time()
        for seed in range(seeds):
            found = fair_flow(X, groups, k, np.random.default_rng(seed), balance=least)
            if balance_of(found.labels, groups, k) >= least:
                inertias.append(found.inertia)
        seconds = (time.process_time() - start) / seeds
        where = f"{name}, k = {k}, lambda = {slack}"
        best = min(inertias, default=np.inf)
        print(f"{where}: {len(inertias)} of {seeds} seeds keep {least:.5f}; {best:,.1f}; {seconds:.1f} s a fit")
        print(f"      {best / optimal:.4f} of MPFC's {optimal:,}")
        bars.at_most(f"{where}: best / MS-FlowFC's {published:,}", best / (published + 0.5), 1, "")
    sys.exit(f"{bars.missed} bars missed" if bars.missed else 0)


if __name__ == "__main__":
    main()
