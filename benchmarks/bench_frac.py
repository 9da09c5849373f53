"""Time FRAC: start-up, one round, a run shaped like adult, and the gain over a direct simulation, all in one run.

    python benchmarks/bench_frac.py

With CLUSTERLETS_MIRROR naming a folder that holds ``adult/adult.data`` and ``adult/adult.test``, the large run is
adult itself, else random whole numbers of its shape. Start-up is wall time, all else CPU time of the one thread, which
other work on the machine disturbs less; the numbers to compare are the ratios.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from clusterlets.frac import fair_assignment, frac

FIRST_USE = """
import time; start = time.perf_counter()
import numpy as np; numpy = time.perf_counter()
from clusterlets.frac import frac; imported = time.perf_counter()
frac(np.arange(20.0).reshape(10, 2), np.tile([0, 1], 5), 2, np.random.default_rng(0)); ran = time.perf_counter()
print(f"import numpy {numpy - start:.2f} s, frac {imported - numpy:.2f} s, first call {ran - imported:.2f} s")
"""
AGE, WEIGHT, EDUCATION, SEX, GAIN, LOSS, HOURS, INCOME = 0, 2, 4, 9, 10, 11, 12, 14


def seconds(function, repeats=1):
    """Least CPU time of one call."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def first_use():
    with tempfile.TemporaryDirectory() as cache:
        for state in ("empty cache", "full cache"):
            command = [sys.executable, "-c", FIRST_USE]
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            print(f"start, {state}: {subprocess.check_output(command, env=environment, text=True).strip()}")


def adult(mirror):
    import pandas as pd

    folder = Path(mirror) / "adult"
    form = {"header": None, "skipinitialspace": True}
    train, test = pd.read_csv(folder / "adult.data", **form), pd.read_csv(folder / "adult.test", skiprows=1, **form)
    table = pd.concat([train, test])
    table[SEX] = table[SEX] == "Male"
    X = table[[AGE, GAIN, LOSS, EDUCATION, WEIGHT, HOURS, SEX]].to_numpy(dtype=float)
    return X, table[INCOME].str.startswith(">50K").to_numpy(dtype=int)


def adult_shaped():
    rng = np.random.default_rng(0)
    X = np.rint(rng.lognormal(mean=[3.6, 1, 1, 2.3, 12, 3.7, 0], sigma=0.6, size=(48_842, 7)))
    return X, (rng.random(len(X)) < 0.239).astype(int)


def simulated_assignment(X, colours, centres):
    """The definition in plain Python: O(n^2 d)."""
    X, centres = X.tolist(), centres.tolist()
    labels, turn = [-1] * len(X), 0
    for colour in sorted(set(colours)):
        free = [index for index in range(len(X)) if colours[index] == colour]
        while free:
            centre = centres[turn]
            taken = min(free, key=lambda index: sum((a - b) * (a - b) for a, b in zip(X[index], centre)))
            free.remove(taken)
            labels[taken] = turn
            turn = (turn + 1) % len(centres)
    return labels


def main():
    first_use()
    rng = np.random.default_rng(0)

    X, colours = rng.normal(size=(400, 7)), rng.integers(0, 2, size=400)
    centres = X[:10]
    assert simulated_assignment(X, colours, centres) == fair_assignment(X, colours, centres).tolist()
    direct = seconds(lambda: simulated_assignment(X, colours, centres))
    ours = seconds(lambda: fair_assignment(X, colours, centres), repeats=20)
    ratio = direct / ours
    print(f"fair assignment, n = 400, k = 10: {1e3 * ours:.2f} ms, in plain Python {ratio:.0f} times that")

    X, colours = rng.normal(size=(2000, 10)), rng.integers(0, 2, size=2000)
    rounds = 20
    run = seconds(lambda: frac(X, colours, 20, np.random.default_rng(0), max_iter=rounds, tol=-1), repeats=3)
    print(f"one round, n = 2,000, k = 20: {1e3 * run / rounds:.1f} ms (at most 10)")

    mirror = os.environ.get("CLUSTERLETS_MIRROR")
    X, colours = adult(mirror) if mirror else adult_shaped()
    name = "adult" if mirror else "adult-shaped"
    results = []
    run = seconds(lambda: results.append(frac(X, colours, 30, np.random.default_rng(0))))
    n_iter = results[0].n_iter
    print(
        f"FRAC, {name} {X.shape}, k = 30: {run:.1f} s for {n_iter} rounds, {1e3 * run / n_iter:.0f} ms each; "
        f"100 rounds: {100 * run / n_iter:.1f} s (at most 12)"
    )


if __name__ == "__main__":
    main()
