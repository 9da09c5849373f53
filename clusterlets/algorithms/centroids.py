"""Distances between centroids of clusterlets, and silhouettes of partitions in which each clusterlet counts as one point.

The clusters of a partition are called parts. Sums run in a fixed order, so results are the same to the last bit on any number
of threads.
"""

from collections.abc import Callable

import numpy as np


def centroid_distances(centroids: np.ndarray) -> np.ndarray:
    """Euclidean distances (N, N) between the rows of ``centroids`` (N, d); symmetric to the last bit.

    The faster ``|a|^2 + |b|^2 - 2ab`` would lose half of the digits if the data lie far from the origin. O(N^2 d) time,
    O(N^2 + N d) memory.
    """
    return np.stack([distances_to(centroid, centroids) for centroid in centroids])


def distances_to(point: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """Euclidean distances (N,) from a point (d,) to the rows of ``centroids`` (N, d)."""
    return np.sqrt(np.square(centroids - point).sum(axis=1))


def centroid_silhouette(distances: np.ndarray, labels: np.ndarray) -> float:
    """Mean silhouette of the clusterlets of a partition. Each counts once, whatever its size.

    ``distances`` (N, N) are between the centroids. ``labels`` (N,) are the parts of the clusterlets, 0..B-1, each of which
    occurs; B >= 2. A clusterlet that is alone in its part scores 0, as in scikit-learn. So does a clusterlet at distance 0
    from both its own and another part. O(B N^2) time.
    """
    labels = np.asarray(labels)
    values = silhouettes(np.asarray(distances, dtype=np.float64), members_of(labels[:, None]), ordered_product)[:, 0]
    return float(np.where(np.bincount(labels)[labels] > 1, values, 0).mean())


def silhouettes(distances: np.ndarray, members: np.ndarray, product: Callable) -> np.ndarray:
    """Silhouette (N, S) of each clusterlet in each partition; meaningless for a clusterlet that is alone in its part.

    ``distances`` (N, N) are between the centroids, and ``members`` (B, N, S) as :func:`members_of` returns them.
    ``product`` multiplies the two (B, N, S): :func:`ordered_product` for reproducible bits, or a faster matrix product.
    """
    sizes = members.sum(axis=1, keepdims=True)
    sums = product(distances, members)
    float_limits = np.finfo(sums.dtype)
    means = sums / sizes
    # Exclude each clusterlet's own part from the minimum. A mask would be much slower.
    np.maximum(means, members * float_limits.max, out=means)
    to_nearest = means.min(axis=0)
    # Keep only the sum over the clusterlet's own part, in which it has distance 0 to itself.
    sums *= members
    sums /= np.maximum(sizes - 1, 1)
    to_own = sums.sum(axis=0)
    return (to_nearest - to_own) / np.maximum(np.maximum(to_nearest, to_own), float_limits.tiny)  # tiny turns 0 / 0 into 0


def ordered_product(distances: np.ndarray, members: np.ndarray) -> np.ndarray:
    """``distances @ members``, with every sum in index order, whatever the shapes and the number of threads."""
    return sum(distances[:, j, None] * members[:, j, None, :] for j in range(len(distances)))


def members_of(labels: np.ndarray, dtype=np.float64) -> np.ndarray:
    """Array (B, N, S) from ``labels`` (N, S): entry (b, j, s) is 1 if clusterlet j is in part b of partition s, else 0."""
    return (labels == np.arange(labels.max() + 1, dtype=labels.dtype)[:, None, None]).astype(dtype)
