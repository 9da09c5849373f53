"""Labels of instances in clusters that are made of pieces and may overlap. Needs NumPy only."""

from collections.abc import Sequence

import numpy as np


def nearest_own_centre(X: np.ndarray, members: Sequence[np.ndarray], centres: np.ndarray) -> np.ndarray:
    """For each row of X (n, d), the cluster of those that hold it whose centre (C, d) is nearest; ties go to the first.

    ``members`` are the rows of each cluster; every row is in one. O(m d) time for clusters with m rows in total.
    """
    labels, least_distances = np.zeros(len(X), dtype=np.int64), np.full(len(X), np.inf)
    for cluster, (rows, centre) in enumerate(zip(members, centres, strict=True)):
        distances = np.square(X[rows] - centre).sum(axis=1)
        nearer = distances < least_distances[rows]
        labels[rows[nearer]], least_distances[rows[nearer]] = cluster, distances[nearer]
    return labels


def labels_of_pieces(X: np.ndarray, piece_of: np.ndarray, membership: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Label (n,) of each row of X from its piece (n,); for a piece in several clusters, the one with the nearest centre (C, d).

    ``membership`` (C, G) says which pieces each cluster holds; every piece is in one.
    """
    labels = membership.argmax(axis=0)[piece_of]
    shared = np.flatnonzero((membership.sum(axis=0) > 1)[piece_of])
    if len(shared):
        members = [np.flatnonzero(cluster) for cluster in membership[:, piece_of[shared]]]
        labels[shared] = nearest_own_centre(X[shared], members, centres)
    return labels


def cluster_centres(membership: np.ndarray, sizes: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """Mean (C, d) of all members of each cluster, from the sizes (G,) and centroids (G, d) of its pieces. O(C G d)."""
    weights = membership * sizes
    sums = np.stack([(piece_weights[:, None] * centroids).sum(axis=0) for piece_weights in weights])
    return sums / weights.sum(axis=1, keepdims=True)
