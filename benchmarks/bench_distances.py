"""Distance sums against the former implementation, the error of samples, and memory: all in one run.

    python benchmarks/bench_distances.py

The former implementation (``former_distances.py``) used BLAS. bank and adult are taken as the workflow has prepared them
(``results/prepared``), and left out if they are missing.
"""

import subprocess
import sys
import time
from pathlib import Path

from measuring import Bars, cpu_seconds, peak_megabytes  # isort: skip; before numpy, as it sets the threads

import former_distances
import numpy as np

from clusterlets.algorithms import geometry
from clusterlets.algorithms.kmeans import kmeans_labels
from clusterlets.metrics.pieces import cohesion, cohesion_with_error
from clusterlets.storage import load_arrays

PREPARED = Path("results/prepared")
GROUPS = 60


def ratio_to_former(X: np.ndarray, labels: np.ndarray, runs: int) -> tuple[float, float]:
    """Time of the sums, and its ratio to the former implementation's; the two take turns."""
    ours, former = [], []
    for _ in range(runs):
        ours.append(cpu_seconds(lambda: geometry.distance_sums(X, labels, GROUPS), runs=1))
        former.append(cpu_seconds(lambda: former_distances.distance_sums(X, labels, GROUPS), runs=1))
    return min(ours), min(ours) / min(former)


def prepared(name: str) -> np.ndarray | None:
    path = PREPARED / f"{name}.npz"
    return load_arrays(path)["X"] if path.exists() else None


def bank_memory() -> float:
    """Peak memory, in megabytes, of a process that sums the distances of bank and does nothing else."""
    return float(subprocess.check_output([sys.executable, __file__, "bank"], text=True))


def print_error_of_samples(name: str, X: np.ndarray) -> None:
    """Compare the cohesion of 20 clusters of k-means from sampled and from exact sums."""
    labels = kmeans_labels(X, 20, np.random.default_rng(0))
    sizes, clusters = np.bincount(labels), np.eye(20, dtype=bool)
    start = time.process_time()
    exact = geometry.distance_sums(X, labels, 20)
    middle = time.process_time()
    largest = geometry.diameter(X)
    truth = cohesion(clusters, sizes, exact, largest)
    start_sampling = time.process_time()
    draws = [geometry.sampled_sums(X, labels, 20, np.random.default_rng(seed).permutation(len(X))) for seed in range(10)]
    end = time.process_time()
    cohesions, standard_errors = np.transpose([cohesion_with_error(clusters, sizes, sums, largest) for sums in draws])
    errors = cohesions - truth
    print(
        f"      sampled sums on {name}: {(end - start_sampling) / 10:.2f} s for {middle - start:.2f} s; cohesion "
        f"{truth:.4f}, error {np.sqrt((errors**2).mean()):.1e} (mean standard error: {np.mean(standard_errors):.1e}); "
        f"{np.mean(np.abs(errors) <= 2 * standard_errors):.0%} of ten within two standard errors"
    )


def main() -> int:
    bars = Bars()
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(12_000, 10)), rng.integers(GROUPS, size=12_000)
    geometry.distance_sums(X[:200], labels[:200], GROUPS)  # compiles the first time
    seconds, ratio = ratio_to_former(X, labels, runs=7)
    bars.at_most(f"sums, {X.shape}, {GROUPS} groups ({seconds:.2f} s)", ratio, 0.6, "of the former time")
    bank = prepared("bank")
    if bank is not None:
        seconds, ratio = ratio_to_former(bank, rng.integers(GROUPS, size=len(bank)), runs=3)
        bars.at_most(f"sums, bank {bank.shape}, {GROUPS} groups ({seconds:.2f} s)", ratio, 0.6, "of the former time")
        bars.at_most("sums, bank, peak memory", bank_memory(), 400, "MB")
    for name in ("adult", "bank"):
        X = prepared(name)
        if X is not None:
            print_error_of_samples(name, X)
    return bars.missed


if __name__ == "__main__":
    if sys.argv[1:] == ["bank"]:
        bank = prepared("bank")
        geometry.distance_sums(bank, np.random.default_rng(0).integers(GROUPS, size=len(bank)), GROUPS)
        print(peak_megabytes())
    else:
        sys.exit(main())
