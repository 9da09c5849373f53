"""Shared by the benchmarks: measurements in one numeric thread, tables, and bars. A bar is a limit that a result must keep."""

import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

# Numeric libraries read these when they are loaded.
for pool in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
    os.environ[f"{pool}_NUM_THREADS"] = "1"

import numpy as np

from clusterlets.storage import load_arrays

PREPARED = Path("results/prepared")


def prepared(dataset: str, folder: Path = PREPARED) -> tuple[np.ndarray, np.ndarray]:
    """Return the features and groups of a dataset that the workflow has prepared."""
    path = folder / f"{dataset}.npz"
    if not path.exists():
        sys.exit(f"There is no file {path}: run `make data` first.")
    arrays = load_arrays(path)
    return np.asarray(arrays["X"], dtype=np.float64), arrays["groups"].astype(np.int64)


def standardised(X: np.ndarray) -> np.ndarray:
    """Return X with each feature scaled to mean 0 and variance 1. Constant features become 0."""
    spread = X.std(axis=0)
    return np.ascontiguousarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def random_table(n: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw the features of twenty overlapping clusters, and two groups whose shares depend on the first feature."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_features)) + 3 * rng.normal(size=(20, n_features))[rng.integers(0, 20, n)]
    return X, (rng.random(n) < 0.3 + 0.2 * (X[:, 0] > 0)).astype(np.int64)


def cpu_seconds(action: Callable[[], object], runs: int = 3) -> float:
    """Return the least CPU time of several runs: other work on the machine can only lengthen a run."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def cpu_of_children() -> float:
    """Return the CPU time of all child processes that have ended, including their start-up."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def peak_megabytes() -> float:
    """Return the most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Bars:
    """Prints each result with its bar, and counts the bars that are missed."""

    def __init__(self) -> None:
        self.missed = 0

    def at_most(self, what: str, value: float, bar: float, unit: str) -> None:
        """Print a result that must not be above its bar."""
        self._print(what, value, f"at most {bar:g}", unit, met=value <= bar)

    def at_least(self, what: str, value: float, bar: float, unit: str) -> None:
        """Print a result that must not be below its bar."""
        self._print(what, value, f"at least {bar:g}", unit, met=value >= bar)

    def _print(self, what: str, value: float, bar: str, unit: str, met: bool) -> None:
        self.missed += not met
        print(f"{'pass' if met else 'MISS'}  {what}: {value:.4g} {unit} ({bar})", flush=True)
