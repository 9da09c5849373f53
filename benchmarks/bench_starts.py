"""CPU seconds of one fit of each rival, and how many take as long as fair-limit: the numbers of starts in field.yaml.

.venv/bin/python benchmarks/bench_starts.py --prepared results/prepared
"""

import argparse
import time
from contextlib import suppress
from math import exp, log
from pathlib import Path

import numpy as np

from clusterlets import methods
from clusterlets.algorithms.geometry import load_kernels
from clusterlets.benchmark.grid.artifacts import Prepared
from clusterlets.errors import ClusterletsError
from clusterlets.tables.table import standardise

TABLES, KS, SEEDS = ("compas", "heloc", "magic", "bank"), (5, 10, 20), (0, 1)
PARAMETERS = {
    "fair-limit": {"max_deviation": 0.05, "n_init": 1},
    **{name: {"max_deviation": 0.05, "n_init": 1} for name in ("fair-flow", "fair-lp", "coreset")},
    "fairkm": {"penalty": 300},
    "vfc": {"fairness_weight": 1},
    "fair-lloyd": {},
    "antidote": {},
    "scaff-tree": {"theta": 0.5},
    "FRAC": {"tau": "0.95x"},
    "FRAC-OE": {"tau": "0.95x"},
    "tree-fairlets": {},
}
N_CLUSTERS_OF_SLOW = {"antidote": 10}  # one k is enough


def seconds(name: str, X: np.ndarray, groups: np.ndarray, k: int) -> float:
    """Mean CPU seconds of a fit; NaN if no seed gives a clustering."""
    times = []
    for seed in SEEDS:
        start = time.process_time()
        with suppress(ClusterletsError):
            methods.fit(methods.get(name), X, groups, k, np.random.default_rng(seed), PARAMETERS[name])
            times.append(time.process_time() - start)
    return float(np.mean(times)) if times else np.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prepared", type=Path, default=Path("results/prepared"), help="folder of prepared tables")
    folder = parser.parse_args().prepared
    load_kernels()
    logs: dict[str, list[float]] = {name: [] for name in PARAMETERS}
    for table in TABLES:
        prepared = Prepared.load(str(folder / f"{table}.npz"))
        X = standardise(prepared.X)
        for name in PARAMETERS:
            seconds(name, X[:2000], prepared.groups[:2000], 5)  # compiles
        for k in KS:
            taken = {name: seconds(name, X, prepared.groups, k) for name in PARAMETERS if N_CLUSTERS_OF_SLOW.get(name, k) == k}
            print(table, k, "; ".join(f"{name} {time:.2f} s" for name, time in taken.items()), flush=True)
            for name, time_of_fit in taken.items():
                if not np.isnan(time_of_fit):
                    logs[name].append(log(taken["fair-limit"] / time_of_fit))
    for name, values in logs.items():
        ratio = exp(np.mean(values))
        print(f"{name}: fair-limit takes {ratio:.1f} times as long, so {min(16, max(1, round(ratio)))} starts")


if __name__ == "__main__":
    main()
