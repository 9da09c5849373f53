"""Time FRAC: start-up, one round, a run shaped like adult, and the gain over a direct simulation, all in one run.

    python benchmarks/bench_frac.py

The large run is adult as the workflow has prepared it (``results/prepared/adult.npz``), else random whole numbers of its
shape. Start-up is wall time, all else CPU time of the one thread.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from measuring import Bars, cpu_seconds  # before numpy: it sets the threads

from clusterlets.algorithms.frac import fair_assignment, frac
from clusterlets.storage import load_arrays

ADULT = Path("results/prepared/adult.npz")

FIRST_USE = """
import time; start = time.perf_counter()
import numpy as np; numpy = time.perf_counter()
from clusterlets.algorithms.frac import frac; imported = time.perf_counter()
frac(np.arange(20.0).reshape(10, 2), np.tile([0, 1], 5), 2, np.random.default_rng(0)); ran = time.perf_counter()
print(f"import numpy {numpy - start:.2f} s, frac {imported - numpy:.2f} s, first call {ran - imported:.2f} s")
"""


def first_use():
    with tempfile.TemporaryDirectory() as cache:
        for state in ("empty cache", "full cache"):
            command = [sys.executable, "-c", FIRST_USE]
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            print(f"start, {state}: {subprocess.check_output(command, env=environment, text=True).strip()}")


def adult():
    prepared = load_arrays(ADULT)
    return prepared["X"], prepared["groups"]


def adult_shaped():
    rng = np.random.default_rng(0)
    X = np.rint(rng.lognormal(mean=[3.6, 1, 1, 2.3, 12, 3.7, 0], sigma=0.6, size=(48_842, 7)))
    return X, (rng.random(len(X)) < 0.239).astype(int)


def simulated_assignment(X, groups, centres):
    """The definition in plain Python: O(n^2 d)."""
    X, centres = X.tolist(), centres.tolist()
    labels, turn = [-1] * len(X), 0
    for group in sorted(set(groups)):
        free = [index for index in range(len(X)) if groups[index] == group]
        while free:
            centre = centres[turn]
            taken = min(free, key=lambda index: sum((a - b) * (a - b) for a, b in zip(X[index], centre)))
            free.remove(taken)
            labels[taken] = turn
            turn = (turn + 1) % len(centres)
    return labels


def main():
    bars = Bars()
    first_use()
    rng = np.random.default_rng(0)

    X, groups = rng.normal(size=(400, 7)), rng.integers(0, 2, size=400)
    centres = X[:10]
    assert simulated_assignment(X, groups, centres) == fair_assignment(X, groups, centres).tolist()
    direct = cpu_seconds(lambda: simulated_assignment(X, groups, centres), runs=1)
    ours = cpu_seconds(lambda: fair_assignment(X, groups, centres), runs=20)
    print(f"fair assignment, n = 400, k = 10: {1e3 * ours:.2f} ms, in plain Python {direct / ours:.0f} times that")

    X, groups = rng.normal(size=(2000, 10)), rng.integers(0, 2, size=2000)
    rounds = 20
    run = cpu_seconds(lambda: frac(X, groups, 20, np.random.default_rng(0), max_iter=rounds, tol=-1))
    bars.at_most("one round of FRAC, n = 2,000, k = 20", 1e3 * run / rounds, 10, "ms")

    X, groups = adult() if ADULT.exists() else adult_shaped()
    results = []
    run = cpu_seconds(lambda: results.append(frac(X, groups, 30, np.random.default_rng(0))), runs=1)
    n_iter = results[0].n_iter
    name = f"FRAC on {'adult' if ADULT.exists() else 'numbers of the shape of adult'} {X.shape}, k = 30"
    bars.at_most(f"{name}, to convergence ({n_iter} rounds)", run, 12, "s")
    bars.at_most(f"{name}, were it 100 rounds", 100 * run / n_iter, 12, "s")
    return bars.missed


if __name__ == "__main__":
    sys.exit(main())
