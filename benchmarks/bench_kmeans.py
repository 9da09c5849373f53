"""k-means against scikit-learn's, from the same starts and from many: time and cost on every prepared dataset.

    python benchmarks/bench_kmeans.py

The datasets are taken as the workflow has prepared them (``results/prepared``); without them the bundled ones serve.
"""

import sys
import warnings

from measuring import PREPARED, Bars, cpu_seconds, prepared  # isort: skip; before numpy, as it sets the threads

import numpy as np
from sklearn import datasets
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from clusterlets.algorithms.kmeans import kmeans_plus_plus, lloyd

K = 30
SMALL = 2000
STARTS = 5
SEEDS = {True: 300, False: 40}  # for small and for large tables


def tables() -> dict[str, np.ndarray]:
    tables = {path.stem: prepared(path.stem)[0] for path in sorted(PREPARED.glob("*.npz"))}
    return tables or {name: getattr(datasets, f"load_{name}")().data for name in ("iris", "wine", "breast_cancer", "digits")}


def time_ratio(X: np.ndarray) -> float:
    """Time of Lloyd's rounds from the same rows, as a fraction of scikit-learn's; the two take turns."""
    ours = theirs = 0.0
    for seed in range(STARTS):
        centres = X[kmeans_plus_plus(X, K, np.random.default_rng(seed))]
        ours += cpu_seconds(lambda: lloyd(X, centres))
        theirs += cpu_seconds(lambda: KMeans(len(centres), init=centres, n_init=1).fit(X))
    return ours / theirs


def cost_ratio(X: np.ndarray, seeds: int) -> tuple[float, float]:
    """Mean cost over many seeds, as a fraction of scikit-learn's, and its standard error."""
    rng = np.random.default_rng(0)
    ours = np.array([lloyd(X, X[kmeans_plus_plus(X, K, rng)]).inertia for _ in range(seeds)])
    theirs = np.array([KMeans(K, n_init=1, random_state=seed).fit(X).inertia_ for seed in range(seeds)])
    error = np.hypot(ours.std() / ours.mean(), theirs.std() / theirs.mean()) / np.sqrt(seeds)
    return ours.mean() / theirs.mean(), float(error)


def main() -> int:
    warnings.simplefilter("ignore", ConvergenceWarning)
    bars = Bars()
    for name, X in tables().items():
        small = len(X) < SMALL
        bars.at_most(f"Lloyd, {name} {X.shape}, k = {K}", time_ratio(X), 1.0 if small else 2.0, "of scikit-learn's time")
        ratio, error = cost_ratio(X, SEEDS[small])
        bars.at_most(f"mean cost of {SEEDS[small]} seeds, {name} ({ratio:.4f} +- {error:.4f})", abs(ratio - 1), 0.01, "apart")
    return bars.missed


if __name__ == "__main__":
    sys.exit(main())
