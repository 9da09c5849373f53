"""Scores of clusters that are made of pieces, disjoint sets of instances.

A clustering is a boolean membership matrix (C, G), whose entry (c, j) says whether cluster c holds piece j. The pieces of a
matcher's clustering are clusterlets; the pieces of other methods are the clusters themselves. Clusters may share pieces.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clusterlets.algorithms.centroids import centroid_distances
from clusterlets.algorithms.centroids import centroid_silhouette as silhouette_of_centroids
from clusterlets.metrics.composition import deviation_per_cluster


@dataclass(frozen=True)
class Pieces:
    """Clusters, and the pieces that they hold.

    Attributes
    ----------
    membership : bool array (C, G)
        Whether a cluster holds a piece.
    counts : int array (G, K)
        Number of instances of each group in each piece.
    centroids : float array (G, d)
        Mean of each piece.
    inertia : float array (G,)
        Sum of squared distances of each piece's instances to its centroid.
    sums : float array (G, G) or (R, G, G)
        Summed distances between pieces from :func:`clusterlets.algorithms.geometry.distance_sums`, or R independent estimates
        of these sums from :func:`clusterlets.algorithms.geometry.sampled_sums`. If every cluster is a single piece, only the
        diagonal is needed.
    diameter : float
        Largest distance between two instances of the dataset.
    deviation : str
        What the columns ``deviation_*`` measure: one of ``clusterlets.metrics.composition.DEVIATIONS``.
    columns : sequence of S sequences (K,)
        The value of each group in each of S sensitive columns; empty if there is a single column.
    """

    membership: np.ndarray
    counts: np.ndarray
    centroids: np.ndarray
    inertia: np.ndarray
    sums: np.ndarray
    diameter: float
    deviation: str = "absolute"
    columns: Sequence[Sequence] = ()

    @cached_property
    def sizes(self) -> np.ndarray:
        """Number of instances of each piece, (G,)."""
        return self.counts.sum(axis=1)

    @cached_property
    def group_counts(self) -> np.ndarray:
        """Number of instances of each group in the dataset, (K,)."""
        return self.counts.sum(axis=0)

    @cached_property
    def composition(self) -> np.ndarray:
        """Number of instances of each group in each cluster, (C, K)."""
        return self.membership.astype(np.int64) @ self.counts

    @cached_property
    def is_crisp(self) -> bool:
        """Whether no piece is in several clusters, so that clusters do not overlap."""
        return not (self.membership.sum(axis=0) > 1).any()

    @cached_property
    def deviations(self) -> np.ndarray:
        """Deviation of each cluster from the dataset's group shares, (C,)."""
        return deviation_per_cluster(self.composition, self.group_counts, self.deviation)

    @cached_property
    def cohesion_with_error(self) -> tuple[float, float]:
        """Cohesion and its standard error, which is NaN if the sums are exact."""
        return cohesion_with_error(self.membership, self.sizes, self.sums, self.diameter)


@dataclass(frozen=True)
class JoinedClusterlets:
    """Clusters that a matcher joined from clusterlets: the membership matrix (C, N), and the clusterlets' centroids (N, d)."""

    membership: np.ndarray
    centroids: np.ndarray


def cohesion(membership: np.ndarray, sizes: np.ndarray, sums: np.ndarray, diameter: float) -> float:
    """1 - (mean over clusters of the mean of the cluster's pairwise distance matrix) / (largest distance in the dataset).

    As in the paper's numbers, the mean includes the zero diagonal of each matrix. The cohesion is 1 if all instances coincide.
    """
    if diameter == 0:
        return 1.0
    # Not a matrix product: BLAS may sum in any order, while the order of NumPy's sum depends only on the shape.
    sums_within_clusters = np.array([sums[np.ix_(members, members)].sum() for members in membership])
    return float(1.0 - (sums_within_clusters / np.square(membership.astype(np.int64) @ sizes)).mean() / diameter)


def cohesion_with_error(membership: np.ndarray, sizes: np.ndarray, sums: np.ndarray, diameter: float) -> tuple[float, float]:
    """The cohesion and its standard error, which is NaN if ``sums`` (G, G) are exact.

    If ``sums`` are R independent estimates (R, G, G), each of them gives a cohesion. The result is the mean of these R
    cohesions, and their standard deviation / sqrt(R).
    """
    if sums.ndim == 2:
        return cohesion(membership, sizes, sums, diameter), float("nan")
    estimates = np.array([cohesion(membership, sizes, estimate, diameter) for estimate in sums])
    return float(estimates.mean()), float(estimates.std(ddof=1) / np.sqrt(len(estimates)))


def overlap(membership: np.ndarray, sizes: np.ndarray) -> float:
    """Share of the instances that are in two or more clusters."""
    return float(sizes[membership.sum(axis=0) > 1].sum() / sizes.sum())


def kmeans_cost(membership: np.ndarray, sizes: np.ndarray, centroids: np.ndarray, inertia: np.ndarray) -> float:
    """Sum of squared distances of instances to the means of their clusters; a shared piece counts in each of its clusters."""
    cost = 0.0
    for members in membership:
        weights, points = sizes[members], centroids[members]
        mean = (weights[:, None] * points).sum(axis=0) / weights.sum()
        cost += inertia[members].sum() + (weights * np.square(points - mean).sum(axis=1)).sum()
    return float(cost)


def centroid_silhouette(joined: JoinedClusterlets) -> float:
    """Silhouette of the clusterlets' centroids; NaN if clusters overlap, and for a single cluster."""
    if len(joined.membership) < 2 or (joined.membership.sum(axis=0) != 1).any():
        return float("nan")
    return silhouette_of_centroids(centroid_distances(joined.centroids), joined.membership.argmax(axis=0))
