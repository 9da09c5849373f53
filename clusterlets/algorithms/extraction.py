"""Clusterlet extraction: k-means on each colour by itself (paper, Algorithm 1, line 1)."""

import numpy as np

from clusterlets.algorithms.checks import check_magnitudes
from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.geometry import group_moments
from clusterlets.algorithms.kmeans import kmeans_labels
from clusterlets.errors import ClusterletsError


def extract_clusterlets(X, colours, n_clusters: int, random_state) -> Clusterlets:
    """k-means on each colour separately, with ``min(n_clusters, distinct rows of the colour)`` clusters.

    Parameters
    ----------
    X : float array (n, d)
        Instances.
    colours : int array (n,)
        Colour codes 0..K-1, each present.
    n_clusters : int
        Clusterlets wanted of each colour, at least 2.
    random_state : numpy.random.Generator
        Source of the first centres.

    Returns
    -------
    Clusterlets

    Notes
    -----
    k-means++ with one initialisation (paper, section 3.1; :mod:`clusterlets.algorithms.kmeans`). O(n k d) time a round.
    """
    X = np.asarray(X, dtype=np.float64)
    check_magnitudes(X)
    colours = np.asarray(colours)
    labels = np.empty(len(X), dtype=np.int64)
    offset = 0
    for colour in range(int(colours.max()) + 1):
        members = np.flatnonzero(colours == colour)
        if len(members) == 0:
            raise ClusterletsError(f"colour {colour} has no instance; colour codes must be 0..K-1, each present.")
        found = kmeans_labels(X[members], n_clusters, random_state)
        labels[members] = offset + found
        offset += int(found.max()) + 1
    return clusterlets_from_labels(X, colours, labels)


def clusterlets_from_labels(X: np.ndarray, colours: np.ndarray, labels: np.ndarray) -> Clusterlets:
    """Clusterlets of given groups of the rows of X (n, d): ``labels`` (n,) in 0..N-1, sorted by colour.

    ValueError where a group holds two colours or none, or where the groups are out of order. O(n d) time.
    """
    n_groups = int(labels.max()) + 1
    counts = np.zeros((n_groups, int(colours.max()) + 1), dtype=np.int64)
    np.add.at(counts, (labels, colours), 1)
    if ((counts > 0).sum(axis=1) != 1).any():
        raise ValueError("every clusterlet must hold instances of exactly one colour")
    colour = counts.argmax(axis=1)
    if (np.diff(colour) < 0).any():
        raise ValueError("clusterlets must be sorted by colour")
    return Clusterlets(colour, counts, *group_moments(X, labels, n_groups), labels)
