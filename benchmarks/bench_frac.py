"""Measure the CPU time of one round of FRAC, and of a whole fit on adult, which the workflow must have prepared.

python benchmarks/bench_frac.py
"""

import sys

from measuring import Bars, cpu_seconds, prepared  # isort: skip; before numpy, whose threads it limits

import numpy as np

from clusterlets.algorithms.frac import frac


def main() -> int:
    bars = Bars()
    rng = np.random.default_rng(0)
    X, groups, rounds = rng.normal(size=(2000, 10)), rng.integers(0, 2, size=2000), 20
    seconds = cpu_seconds(lambda: frac(X, groups, 20, np.random.default_rng(0), max_iter=rounds, tol=-1))
    bars.at_most("one round of FRAC, n = 2,000, k = 20", 1e3 * seconds / rounds, 10, "ms")

    X, groups = prepared("adult")
    results = []
    seconds = cpu_seconds(lambda: results.append(frac(X, groups, 30, np.random.default_rng(0))), runs=1)
    n_iter = results[0].n_iter
    bars.at_most(f"FRAC on adult {X.shape}, k = 30, to convergence ({n_iter} rounds)", seconds, 12, "s")
    bars.at_most(f"FRAC on adult {X.shape}, k = 30, scaled to 100 rounds", 100 * seconds / n_iter, 12, "s")
    return bars.missed


if __name__ == "__main__":
    sys.exit(main())
