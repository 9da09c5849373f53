"""Compare our k-means with scikit-learn's: the time from the same starts, and the mean cost over many seeds.

    python benchmarks/bench_kmeans.py

The tables are those that the workflow has prepared in ``results/prepared`` or, if there are none, those of scikit-learn.
"""

import sys
import warnings

from measuring import PREPARED, Bars, cpu_seconds, prepared  # isort: skip; before numpy, whose threads it limits

import numpy as np
from sklearn import datasets
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from clusterlets.algorithms.kmeans import kmeans_plus_plus, lloyd

K = 30
MIN_LARGE_ROWS = 2000  # a table with fewer rows is small
STARTS = 5
SEEDS_SMALL, SEEDS_LARGE = 300, 40


def tables() -> dict[str, np.ndarray]:
    features = {path.stem: prepared(path.stem)[0] for path in sorted(PREPARED.glob("*.npz"))}
    return features or {name: getattr(datasets, f"load_{name}")().data for name in ("iris", "wine", "breast_cancer", "digits")}


def time_ratio(X: np.ndarray) -> float:
    """Return our time for Lloyd's rounds as a fraction of scikit-learn's. Both start from the same rows."""
    ours = theirs = 0.0
    for seed in range(STARTS):
        centres = X[kmeans_plus_plus(X, K, np.random.default_rng(seed))]
        ours += cpu_seconds(lambda: lloyd(X, centres))
        theirs += cpu_seconds(lambda: KMeans(len(centres), init=centres, n_init=1).fit(X))
    return ours / theirs


def cost_ratio(X: np.ndarray, seeds: int) -> tuple[float, float]:
    """Return our mean cost over many seeds as a fraction of scikit-learn's, and the standard error of this fraction."""
    rng = np.random.default_rng(0)
    ours = np.array([lloyd(X, X[kmeans_plus_plus(X, K, rng)]).inertia for _ in range(seeds)])
    theirs = np.array([KMeans(K, n_init=1, random_state=seed).fit(X).inertia_ for seed in range(seeds)])
    error = np.hypot(ours.std() / ours.mean(), theirs.std() / theirs.mean()) / np.sqrt(seeds)
    return ours.mean() / theirs.mean(), float(error)


def main() -> int:
    warnings.simplefilter("ignore", ConvergenceWarning)
    bars = Bars()
    for name, X in tables().items():
        is_small = len(X) < MIN_LARGE_ROWS
        bars.at_most(f"Lloyd, {name} {X.shape}, k = {K}", time_ratio(X), 1.0 if is_small else 2.0, "of scikit-learn's time")
        seeds = SEEDS_SMALL if is_small else SEEDS_LARGE
        ratio, error = cost_ratio(X, seeds)
        bars.at_most(f"mean cost of {seeds} seeds, {name} ({ratio:.4f} +- {error:.4f})", abs(ratio - 1), 0.01, "apart")
    return bars.missed


if __name__ == "__main__":
    sys.exit(main())
