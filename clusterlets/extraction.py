"""Clusterlet extraction: k-means on each colour by itself (paper, Algorithm 1, line 1).

A set of clusterlets is one value made of arrays, not a set of objects; everything downstream
(matching, exact scoring) works on it without touching the instances again.
"""

from dataclasses import dataclass

import numpy as np

from clusterlets.errors import ClusterletsError


@dataclass(frozen=True)
class Clusterlets:
    """N monochrome clusters of n instances with K colours, sorted by (colour, index).

    Attributes
    ----------
    colour : int array (N,)
        Colour code of each clusterlet, ascending.
    counts : int array (N, K)
        Instances of each colour in each clusterlet (one non-zero a row).
    centroids : float array (N, d)
        Mean of the members.
    inertia : float array (N,)
        Sum of squared Euclidean distances of the members to their centroid.
    labels : int array (n,) or None
        Clusterlet of each instance; matching and scoring do without.
    """

    colour: np.ndarray
    counts: np.ndarray
    centroids: np.ndarray
    inertia: np.ndarray
    labels: np.ndarray | None = None

    @classmethod
    def from_labels(cls, X: np.ndarray, colours: np.ndarray, labels: np.ndarray) -> "Clusterlets":
        """Clusterlets of given groups: ``labels`` (n,) in 0..N-1, every group of one colour, sorted by colour.

        O(n d) time.
        """
        n_groups = int(labels.max()) + 1
        counts = np.zeros((n_groups, int(colours.max()) + 1), dtype=np.int64)
        np.add.at(counts, (labels, colours), 1)
        if ((counts > 0).sum(axis=1) != 1).any():
            raise ValueError("every clusterlet must hold instances of exactly one colour")
        colour = counts.argmax(axis=1)
        if (np.diff(colour) < 0).any():
            raise ValueError("clusterlets must be sorted by colour")
        centroids, inertia = group_moments(X, labels, n_groups)
        return cls(colour, counts, centroids, inertia, labels)

    def __len__(self) -> int:
        return len(self.colour)

    @property
    def sizes(self) -> np.ndarray:
        """Instances of each clusterlet, (N,)."""
        return self.counts.sum(axis=1)

    @property
    def colour_counts(self) -> np.ndarray:
        """Instances of each colour in the dataset, (K,)."""
        return self.counts.sum(axis=0)


def group_moments(X: np.ndarray, labels: np.ndarray, n_groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean (N, d) and sum of squared distances to it (N,) of each group of rows; no group may be empty."""
    sizes = np.bincount(labels, minlength=n_groups)
    means: np.ndarray = np.column_stack([np.bincount(labels, weights=column, minlength=n_groups) for column in X.T])
    means /= sizes[:, None]
    residuals = X - means[labels]
    inertia = np.bincount(labels, weights=np.einsum("ij,ij->i", residuals, residuals), minlength=n_groups)
    return means, inertia


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
        Source of the seeds, one per colour.

    Returns
    -------
    Clusterlets

    Notes
    -----
    k-means++ with one initialisation (paper, section 3.1). O(n k d) time an iteration.
    """
    X = np.asarray(X, dtype=np.float64)
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
    return Clusterlets.from_labels(X, colours, labels)


def kmeans_labels(X: np.ndarray, n_clusters: int, random_state: np.random.Generator) -> np.ndarray:
    """Labels (n,) of plain k-means with ``min(n_clusters, distinct rows)`` clusters, numbered 0..m-1 without gaps.

    One k-means++ initialisation, one numeric thread: the centres' last bits depend on the number of threads.
    """
    from sklearn.cluster import KMeans  # 1 to 3 s to import: only the steps that cluster pay for it
    from threadpoolctl import threadpool_limits

    seed = int(random_state.integers(2**32, dtype=np.uint64))
    n_clusters = min(n_clusters, _count_distinct_rows(X, n_clusters))
    if n_clusters == 1:
        return np.zeros(len(X), dtype=np.int64)
    with threadpool_limits(limits=1):
        found = KMeans(n_clusters, init="k-means++", n_init=1, random_state=seed).fit(X).labels_
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


def _count_distinct_rows(X: np.ndarray, enough: int) -> int:
    """Number of distinct rows, or ``enough`` as soon as a prefix of the rows shows that many."""
    prefix = 4 * enough
    while prefix < len(X):
        if len(np.unique(X[:prefix], axis=0)) >= enough:
            return enough
        prefix *= 4
    return len(np.unique(X, axis=0))
