"""The step that makes the baselines: plain k-means, and a random partition of k equal parts."""

import numpy as np

from clusterlets.algorithms.kmeans import kmeans_labels
from clusterlets.grid.artifacts import Prepared
from clusterlets.grid.cells import random_stream, seeds_of
from clusterlets.grid.groups import save_groups


def cluster_baselines(data: str, dataset: str, k: int, seeds: str, base_seed: int, groups: str, labels: str) -> None:
    """Plain k-means, blind to the colours, and a random partition of the same number of clusters.

    data: the prepared dataset (.npz)
    dataset: its name, a part of the random streams
    k: clusters wanted
    seeds: block of seeds, as in 0-9
    base_seed: first part of the random streams
    groups: the clusters (.npz)
    labels: cluster of each instance (.npz)
    """
    prepared = Prepared.load(data)

    def baselines(seed: int) -> dict[str, np.ndarray]:
        plain = kmeans_labels(prepared.X, k, random_stream(base_seed, dataset, k, seed, "kmeans"))
        dealt = random_stream(base_seed, dataset, k, seed, "random").permutation(np.arange(len(prepared.X)) % k)
        return {f"k-means/{seed}": plain, f"random/{seed}": dealt}

    save_groups(prepared, k, seeds_of(seeds), baselines, groups, labels)
