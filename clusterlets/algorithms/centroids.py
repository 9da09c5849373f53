"""Distances of centroids, and the silhouette over them: matchers and scores treat clusterlets as points.

Sums run in a fixed order, so the same centroids give the same bits on any number of threads.
"""

from collections.abc import Callable

import numpy as np


def centroid_distances(centroids: np.ndarray) -> np.ndarray:
    """Euclidean distances (N, N) between the rows of ``centroids`` (N, d); symmetric to the last bit.

    Row by row, and not by the faster ``|a|^2 + |b|^2 - 2ab``, which loses half of the digits where data lie far from
    the origin. O(N^2 d) time, O(N^2 + N d) memory.
    """
    return np.stack([distances_to(centroid, centroids) for centroid in centroids])


def distances_to(point: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """Euclidean distances (N,) of a point (d,) to the rows of ``centroids`` (N, d)."""
    return np.sqrt(np.square(centroids - point).sum(axis=1))


def centroid_silhouette(distances: np.ndarray, labels: np.ndarray) -> float:
    """Mean silhouette of clusterlets, each counted once, from their distances (N, N) and blocks (N,), 0..B-1, B >= 2.

    A clusterlet that is alone in its block scores 0, as in scikit-learn, and so does one at distance 0 from its own and from
    another block. O(B N^2) time.
    """
    labels = np.asarray(labels)
    values = silhouettes(np.asarray(distances, dtype=np.float64), members_of(labels[:, None]), ordered_product)[:, 0]
    return float(np.where(np.bincount(labels)[labels] > 1, values, 0).mean())


def silhouettes(distances: np.ndarray, members: np.ndarray, product: Callable) -> np.ndarray:
    """Silhouette (N, S) of each clusterlet in each partition; meaningless for a block of one clusterlet."""
    sizes = members.sum(axis=1, keepdims=True)
    sums = product(distances, members)
    limits = np.finfo(sums.dtype)
    means = sums / sizes
    np.maximum(means, members * limits.max, out=means)  # arithmetic, because selecting by a random mask is much slower
    nearest = means.min(axis=0)
    sums *= members
    sums /= np.maximum(sizes - 1, 1)
    within = sums.sum(axis=0)
    return (nearest - within) / np.maximum(np.maximum(nearest, within), limits.tiny)  # tiny makes 0 / 0 a 0


def ordered_product(distances: np.ndarray, members: np.ndarray) -> np.ndarray:
    """``distances @ members``, each sum in index order for all shapes and numbers of threads."""
    return sum(distances[:, j, None] * members[:, j, None, :] for j in range(len(distances)))


def members_of(labels: np.ndarray, dtype=np.float64) -> np.ndarray:
    """1 where block b holds clusterlet j in partition s, else 0: (B, N, S). Every partition has B blocks."""
    return (labels == np.arange(labels.max() + 1, dtype=labels.dtype)[:, None, None]).astype(dtype)
