"""Time and memory of every rival method as tables grow, and on standardised adult, each fit in a process of its own.

    python benchmarks/bench_rivals.py                          # 1,000 to 100,000 rows, and adult
    python benchmarks/bench_rivals.py --rows 1000000 --seconds 900 --methods fair-flow coreset
    python benchmarks/bench_rivals.py --small                  # what changes can be tried with

The rows are of ten normal features; a third of them are of the rarer group, whose mean lies one deviation off. Adult is as
the workflow has prepared it (``results/prepared/adult.npz``); the bars are those of a table of 45,000 rows. CPU time of one
fit without start-up and compilation; memory is the most that the fit's process held.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from measuring import Bars, cpu_seconds  # before numpy: it sets the threads

from clusterlets import methods
from clusterlets.grid.fitting import Limits, fits
from clusterlets.storage import load_arrays

ADULT = Path("results/prepared/adult.npz")
SCALABLE = ("fair-flow", "tree-fairlets", "coreset", "fairkm", "fair-lloyd", "FRAC")
N_CLUSTERS = 20


def table(rows):
    rng = np.random.default_rng(0)
    groups = (rng.random(rows) < 1 / 3).astype(np.int64)
    X = rng.normal(size=(rows, 10))
    X[:, 0] += groups
    return X, groups


def adult():
    prepared = load_arrays(ADULT)
    X = prepared["X"]
    deviations = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviations > 0, deviations, 1), prepared["group"].astype(np.int64)


def measure(name, X, groups, seconds, memory_mb):
    """Status, seconds and megabytes of one fit; compiled code is loaded before."""
    method = methods.get(name)()
    reason = method.unsupported(len(X), int(groups.max()) + 1)
    if reason:
        return reason, None, None
    method.fit(X[:50], np.arange(50) % 2, 2, np.random.default_rng(0))

    def cpu_time(seed):
        return cpu_seconds(lambda: method.fit(X, groups, N_CLUSTERS, np.random.default_rng(seed)), runs=1)

    ((_, outcome),) = fits(cpu_time, [0], Limits(seconds, memory_mb))
    return outcome.note or outcome.status, outcome.result, outcome.memory_mb


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--methods", nargs="*", default=[name for name in methods.names("rival") if name != "FRAC-OE"])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--memory", type=float, default=8000, help="megabytes")
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    tables = {f"{rows:,} rows": table(rows) for rows in ([300, 1_000] if arguments.small else arguments.rows)}
    bars = Bars()
    if ADULT.exists() and not arguments.small:
        tables["adult"] = adult()
    for where, (X, groups) in tables.items():
        for name in arguments.methods:
            status, seconds, memory = measure(name, X, groups, arguments.seconds, arguments.memory)
            taken = "" if seconds is None else f"{seconds:8.2f} s {memory:8.0f} MB"
            print(f"{where:16} {name:14} {taken:24} {status}", flush=True)
            if where == "adult" and name in SCALABLE:
                bars.at_most(f"{name} on adult", np.inf if seconds is None else seconds, 15, "s")
                bars.at_most(f"{name} on adult", np.inf if seconds is None else memory, 2000, "MB")
    sys.exit(f"{bars.missed} bars missed" if bars.missed else 0)


if __name__ == "__main__":
    main()
