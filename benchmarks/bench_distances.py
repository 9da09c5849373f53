"""Distance sums beside the least that they can cost, the error of samples, and memory: all in one run.

    python benchmarks/bench_distances.py

The bare cost is the matrix product and the square root of the upper half of the distances, in tiles of the size that
the library uses, in double precision; what comes on top is the sums over groups. bank and adult are taken as the
workflow has prepared them (``results/prepared``), and left out where they are not there.
"""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from measuring import Bars, cpu_seconds, peak_megabytes  # before numpy: it sets the threads

from clusterlets import geometry
from clusterlets.kmeans import kmeans_labels
from clusterlets.metrics import cohesion
from clusterlets.storage import load_arrays

PREPARED = Path("results/prepared")
ROWS, COLUMNS = 128, 512
GROUPS = 60


def product_and_root(X: np.ndarray) -> None:
    """Distances of the upper half, kept nowhere."""
    norms = np.einsum("ij,ij->i", X, X)[:, None]
    ones = np.ones_like(norms)
    left, right = np.hstack([-2 * X, ones, norms]), np.ascontiguousarray(np.hstack([X, norms, ones]).T)
    buffer = np.empty(ROWS * COLUMNS)
    with np.errstate(invalid="ignore"):  # rounding may leave -1e-16 under a root
        for row in range(0, len(X), ROWS):
            height = min(ROWS, len(X) - row)
            for column in range(row, len(X), COLUMNS):
                width = min(COLUMNS, len(X) - column)
                tile = buffer[: height * width].reshape(height, width)
                np.matmul(left[row : row + height], right[:, column : column + width], out=tile)
                np.sqrt(tile, out=tile)


def ratio_to_bare(X: np.ndarray, labels: np.ndarray, runs: int) -> tuple[float, float]:
    """Time of the sums, and how many times the bare cost that is; the two take turns."""
    ours, bare = [], []
    for _ in range(runs):
        ours.append(cpu_seconds(lambda: geometry.distance_sums(X, labels, GROUPS), runs=1))
        bare.append(cpu_seconds(lambda: product_and_root(X), runs=1))
    return min(ours), min(ours) / min(bare)


def prepared(name: str) -> np.ndarray | None:
    path = PREPARED / f"{name}.npz"
    return load_arrays(path)["X"] if path.exists() else None


def bank_memory() -> float:
    """Peak memory, in megabytes, of a process that sums the distances of bank and does nothing else."""
    return float(subprocess.check_output([sys.executable, __file__, "bank"], text=True))


def print_error_of_samples(name: str, X: np.ndarray) -> None:
    """The sampled sums beside the exact ones: 20 clusters of k-means, the cohesion of their clustering."""
    labels = kmeans_labels(X, 20, np.random.default_rng(0))
    sizes, every = np.bincount(labels), np.eye(20, dtype=bool)
    start = time.process_time()
    exact = geometry.distance_sums(X, labels, 20)
    middle = time.process_time()
    largest = geometry.diameter(X)
    truth = cohesion(every, sizes, exact, largest)
    start_sampling = time.process_time()
    draws = [geometry.sampled_sums(X, labels, 20, np.random.default_rng(seed)) for seed in range(10)]
    end = time.process_time()
    errors = np.array([cohesion(every, sizes, sums, largest) for sums, _ in draws]) - truth
    told = [np.sqrt((np.diag(error / np.outer(sizes, sizes)) ** 2).sum()) / 20 / largest for _, error in draws]
    within = np.mean([np.abs(sums - exact) <= 2 * error for sums, error in draws])
    print(
        f"      sampled sums on {name}: {(end - start_sampling) / 10:.2f} s for {middle - start:.2f} s; cohesion "
        f"{truth:.4f}, error {np.sqrt((errors**2).mean()):.1e} (standard error told: {np.mean(told):.1e}); "
        f"{within:.0%} of the sums within two standard errors"
    )


def main() -> int:
    bars = Bars()
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(12_000, 10)), rng.integers(GROUPS, size=12_000)
    seconds, ratio = ratio_to_bare(X, labels, runs=7)
    bars.at_most(f"sums, {X.shape}, {GROUPS} groups ({seconds:.2f} s)", ratio, 1.5, "times the bare cost")
    bank = prepared("bank")
    if bank is not None:
        seconds, ratio = ratio_to_bare(bank, rng.integers(GROUPS, size=len(bank)), runs=3)
        bars.at_most(f"sums, bank {bank.shape}, {GROUPS} groups ({seconds:.2f} s)", ratio, 1.5, "times the bare cost")
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
