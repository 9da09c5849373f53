"""VFC against its definition in plain numpy, both in this run: CPU time, equal labels, and the objective.

    python benchmarks/bench_vfc.py [rows]

The rows are drawn at random from adult, with standardised features, by its class; all of them by default.
"""

import sys
import time
from pathlib import Path

import numpy as np
from bench_fair_flow import standardised  # before numba: it sets the threads

sys.path.append(str(Path(__file__).parents[1] / "tests" / "unit" / "algorithms"))
sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from test_vfc import reference

from clusterlets.algorithms.vfc import vfc


def main():
    X, groups = standardised("adult")
    rows = np.sort(np.random.default_rng(0).permutation(len(X))[: int(sys.argv[1]) if len(sys.argv) > 1 else len(X)])
    X, groups = np.ascontiguousarray(X[rows]), groups[rows]
    vfc(X[:500], groups[:500], 3, np.random.default_rng(0))  # which compiles
    print(f"{'k':>3}{'weight':>8}{'seconds':>9}{'numpy':>9}{'ratio':>7}{'equal labels':>14}{'objectives':>24}")
    for k, weight in ((5, 0.1), (10, 1.0), (20, 1.0)):
        start = time.process_time()
        result = vfc(X, groups, k, np.random.default_rng(0), weight)
        middle = time.process_time()
        labels, value, _ = reference(X, groups, k, np.random.default_rng(0), weight)
        seconds, plain = middle - start, time.process_time() - middle
        equal = (result.labels == labels).mean()
        print(
            f"{k:3}{weight:8}{seconds:9.2f}{plain:9.1f}{plain / seconds:7.1f}{equal:14.5f}{result.objective:12.1f}{value:12.1f}"
        )


if __name__ == "__main__":
    main()
