"""Measure the memory of distance sums on bank, and the error of sampled sums on adult and bank.

    python benchmarks/bench_distances.py

The workflow must have prepared these tables.
"""

import subprocess
import sys
import time

from measuring import Bars, peak_megabytes, prepared  # isort: skip; before numpy, whose threads it limits

import numpy as np

from clusterlets.algorithms import geometry
from clusterlets.algorithms.kmeans import kmeans_labels
from clusterlets.metrics.pieces import cohesion, cohesion_with_error

N_LABELS = 60


def print_error_of_samples(name: str) -> None:
    """Print the error of the cohesion of 20 k-means clusters if distances are sampled."""
    X, _ = prepared(name)
    labels = kmeans_labels(X, 20, np.random.default_rng(0))
    sizes, clusters, largest = np.bincount(labels), np.eye(20, dtype=bool), geometry.diameter(X)
    start = time.process_time()
    exact_cohesion = cohesion(clusters, sizes, geometry.distance_sums(X, labels, 20), largest)
    exact_end = time.process_time()
    samples = [geometry.sampled_sums(X, labels, 20, np.random.default_rng(seed).permutation(len(X))) for seed in range(10)]
    sampled_end = time.process_time()
    cohesions, standard_errors = np.transpose([cohesion_with_error(clusters, sizes, sums, largest) for sums in samples])
    errors = cohesions - exact_cohesion
    print(
        f"      sampled sums on {name}: {(sampled_end - exact_end) / 10:.2f} s instead of {exact_end - start:.2f} s; cohesion "
        f"{exact_cohesion:.4f}, error {np.sqrt((errors**2).mean()):.1e} (mean standard error: {np.mean(standard_errors):.1e}); "
        f"{np.mean(np.abs(errors) <= 2 * standard_errors):.0%} of ten within two standard errors"
    )


def main() -> int:
    bars = Bars()
    # The peak is measured in a separate process that does nothing else.
    memory = float(subprocess.check_output([sys.executable, __file__, "bank"], text=True))
    bars.at_most(f"sums, bank, {N_LABELS} labels, peak memory", memory, 400, "MB")
    for name in ("adult", "bank"):
        print_error_of_samples(name)
    return bars.missed


if __name__ == "__main__":
    if sys.argv[1:] == ["bank"]:
        X, _ = prepared("bank")
        geometry.distance_sums(X, np.random.default_rng(0).integers(N_LABELS, size=len(X)), N_LABELS)
        print(peak_megabytes())
    else:
        sys.exit(main())
