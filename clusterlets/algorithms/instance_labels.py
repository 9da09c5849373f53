"""Labels of instances for clusters that may overlap, such as unions of pieces. This module needs only NumPy."""

from collections.abc import Sequence

import numpy as np


def labels_by_nearest_centre(X: np.ndarray, members: Sequence[np.ndarray], centres: np.ndarray) -> np.ndarray:
    """Label (n,) of each row of X (n, d): the cluster with the nearest centre (C, d) among the clusters that contain the row.

    ``members`` lists the rows of each cluster, and every row is in at least one cluster. Ties go to the first cluster. O(m d)
    time for clusters with m rows in total.
    """
    labels, least_distances = np.zeros(len(X), dtype=np.int64), np.full(len(X), np.inf)
    for cluster, (rows, centre) in enumerate(zip(members, centres, strict=True)):
        distances = np.square(X[rows] - centre).sum(axis=1)
        is_nearer = distances < least_distances[rows]
        labels[rows[is_nearer]], least_distances[rows[is_nearer]] = cluster, distances[is_nearer]
    return labels


def labels_of_pieces(X: np.ndarray, piece_of: np.ndarray, membership: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Label (n,) of each row of X (n, d): the cluster that contains the row's piece.

    ``piece_of`` (n,) is the piece of each row, and ``membership`` (C, G) says which pieces each cluster contains. Every piece
    is in at least one cluster. If a piece is in several, each of its rows gets the one with the nearest of the centres (C, d).
    """
    labels = membership.argmax(axis=0)[piece_of]
    shared_rows = np.flatnonzero((membership.sum(axis=0) > 1)[piece_of])
    if len(shared_rows):
        members = [np.flatnonzero(cluster) for cluster in membership[:, piece_of[shared_rows]]]
        labels[shared_rows] = labels_by_nearest_centre(X[shared_rows], members, centres)
    return labels


def cluster_centres(membership: np.ndarray, sizes: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """Mean (C, d) of each cluster's instances, computed from the sizes (G,) and centroids (G, d) of all pieces, in O(C G d)."""
    weights = membership * sizes
    sums = np.stack([(cluster_weights[:, None] * centroids).sum(axis=0) for cluster_weights in weights])
    return sums / weights.sum(axis=1, keepdims=True)
