"""Time of each matcher: ``python benchmarks/bench_matching.py``.

D, B, G-D and G-B on 60 clusterlets, and C's 250,000 samples with all four omegas on 40 and 60 clusterlets, against what
one sample costs when it is drawn and scored by itself, in the same run: ratios hold on other machines, times do not.
"""

import sys

import numpy as np
from measuring import Bars, cpu_seconds  # before numpy: it sets the threads

from clusterlets import methods
from clusterlets.algorithms.centroids import centroid_distances
from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.matching.centroid import match_centroid, sample_partitions
from clusterlets.algorithms.matching.objectives import deviations

SAMPLES = 250_000
OMEGAS = (0, 0.25, 0.5, 0.75)
NAIVE_SAMPLES = 1000


def make_clusterlets(n_groups: int, per_group: int, dimensions: int = 10) -> Clusterlets:
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(n_groups), per_group)
    n = len(group)
    counts = np.zeros((n, n_groups), dtype=np.int64)
    counts[np.arange(n), group] = rng.integers(5, 500, n)
    return Clusterlets(group, counts, rng.normal(size=(n, dimensions)), np.zeros(n), np.zeros(0, dtype=np.int64))


def match_every_omega(clusterlets: Clusterlets) -> None:
    """The whole of C: one pass over the samples, and the best partition by each omega."""
    front = sample_partitions(clusterlets, SAMPLES, np.random.default_rng(0))
    for omega in OMEGAS:
        match_centroid(front, omega)


def sample_one_by_one(clusterlets: Clusterlets) -> None:
    """Draw ``NAIVE_SAMPLES`` partitions and score the valid ones, each by itself, with plain NumPy."""
    rng = np.random.default_rng(0)
    distances = centroid_distances(clusterlets.centroids)
    n = len(clusterlets)
    for _ in range(NAIVE_SAMPLES):
        order, labels = rng.permutation(n), np.empty(n, dtype=int)
        start = n_blocks = 0
        while start < n:
            size = rng.integers(2, n)
            labels[order[start : start + size]] = n_blocks
            start, n_blocks = start + size, n_blocks + 1
        members = labels == np.arange(n_blocks)[:, None]
        counts = members.astype(np.int64) @ clusterlets.counts
        if n_blocks > 1 and (counts > 0).all():
            silhouette(distances, members.astype(float))
            deviations(counts, clusterlets.group_counts).max()


def silhouette(distances: np.ndarray, members: np.ndarray) -> float:
    sums, sizes = members @ distances, members.sum(axis=1, keepdims=True)
    within = (sums * members / (sizes - 1)).sum(axis=0)
    nearest = np.where(members > 0, np.inf, sums / sizes).min(axis=0)
    return ((nearest - within) / np.maximum(nearest, within)).mean()


def main() -> int:
    bars = Bars()
    clusterlets = make_clusterlets(2, 30)
    for name in ("D", "B", "G-D", "G-B"):
        matcher = methods.get(name)
        for scope in ("last", "cluster"):

            def run():
                matcher().match(clusterlets, np.random.default_rng(0), hops=4, scope=scope)

            bars.at_most(f"{matcher.label}, scope {scope}, 60 clusterlets, 4 hops", cpu_seconds(run, 20) * 1e3, 5, "ms")
    for per_group in (20, 30):
        clusterlets = make_clusterlets(2, per_group)
        bulk = cpu_seconds(lambda: match_every_omega(clusterlets))
        naive = cpu_seconds(lambda: sample_one_by_one(clusterlets)) / NAIVE_SAMPLES * SAMPLES
        what = f"Centroid (C), {SAMPLES:,} samples, {2 * per_group} clusterlets, four omegas"
        if per_group == 20:
            bars.at_most(what, bulk, 1.0, "s")
        else:
            print(f"      {what}: {bulk:.3g} s")
        print(f"      drawn and scored one by one: {naive:.3g} s, {naive / bulk:.0f} times as long")
    return bars.missed


if __name__ == "__main__":
    sys.exit(main())
