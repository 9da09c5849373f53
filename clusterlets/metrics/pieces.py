"""Scores of clusters that are made of pieces, disjoint sets of instances.

A clustering is a boolean membership matrix (C, N): cluster c holds piece j. Pieces are clusterlets, or for other methods
the clusters themselves. An instance may be in several clusters.
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
    membership : bool array (C, N)
    counts : int array (N, K)
        Instances of each group in each piece.
    centroids : float array (N, d)
    inertia : float array (N,)
        Sum of squared distances of each piece's members to its centroid.
    sums : float array (N, N) or (R, N, N)
        Summed distances between pieces, :func:`clusterlets.algorithms.geometry.distance_sums`, or R independent estimates of
        them, :func:`clusterlets.algorithms.geometry.sampled_sums`. Where every cluster is a single piece, the diagonal is
        enough.
    diameter : float
        Largest distance in the dataset.
    deviation : str
        What the columns ``deviation_*`` measure: one of ``clusterlets.metrics.composition.DEVIATIONS``.
    columns : sequence of S sequences (K,)
        The value of each group in each sensitive column; empty for a single one.
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
        """Instances of each piece, (N,)."""
        return self.counts.sum(axis=1)

    @cached_property
    def group_counts(self) -> np.ndarray:
        """Instances of each group in the dataset, (K,)."""
        return self.counts.sum(axis=0)

    @cached_property
    def composition(self) -> np.ndarray:
        """Instances of each group in each cluster, (C, K)."""
        return self.membership.astype(np.int64) @ self.counts

    @cached_property
    def is_crisp(self) -> bool:
        """Whether no piece is in several clusters."""
        return not (self.membership.sum(axis=0) > 1).any()

    @cached_property
    def deviations(self) -> np.ndarray:
        """Deviation of each cluster, (C,)."""
        return deviation_per_cluster(self.composition, self.group_counts, self.deviation)

    @cached_property
    def cohesion_with_error(self) -> tuple[float, float]:
        """Cohesion, and its standard error where the sums are estimates."""
        return cohesion_with_error(self.membership, self.sizes, self.sums, self.diameter)


@dataclass(frozen=True)
class JoinedClusterlets:
    """Clusters that a matcher joined from clusterlets: their memberships (C, N) and the centroids (N, d) of the clusterlets."""

    membership: np.ndarray
    centroids: np.ndarray


def cohesion(membership: np.ndarray, sizes: np.ndarray, sums: np.ndarray, diameter: float) -> float:
    """1 - (mean over clusters of the mean of the full pairwise distance matrix) / (largest distance in the dataset).

    The zero diagonal of each cluster's matrix counts, as in the paper's numbers. 1 where all instances coincide.
    """
    if diameter == 0:
        return 1.0
    # No matrix product: BLAS chooses its order of summation, while that of NumPy's sum depends only on the shape.
    within = np.array([sums[np.ix_(members, members)].sum() for members in membership])
    return float(1.0 - (within / np.square(membership.astype(np.int64) @ sizes)).mean() / diameter)


def cohesion_with_error(membership: np.ndarray, sizes: np.ndarray, sums: np.ndarray, diameter: float) -> tuple[float, float]:
    """The cohesion and, where ``sums`` are R independent estimates (R, N, N), its standard error; NaN where they are exact.

    With estimates the cohesion is the mean of the R cohesions, and its standard error is their standard deviation / sqrt(R).
    """
    if sums.ndim == 2:
        return cohesion(membership, sizes, sums, diameter), float("nan")
    estimates = np.array([cohesion(membership, sizes, estimate, diameter) for estimate in sums])
    return float(estimates.mean()), float(estimates.std(ddof=1) / np.sqrt(len(estimates)))


def overlap(membership: np.ndarray, sizes: np.ndarray) -> float:
    """Share of the instances that are in two or more clusters."""
    return float(sizes[membership.sum(axis=0) > 1].sum() / sizes.sum())


def kmeans_cost(membership: np.ndarray, sizes: np.ndarray, centroids: np.ndarray, inertia: np.ndarray) -> float:
    """Sum over clusters of squared distances to the cluster's mean, within the pieces and between them."""
    cost = 0.0
    for members in membership:
        weights, points = sizes[members], centroids[members]
        mean = (weights[:, None] * points).sum(axis=0) / weights.sum()
        cost += inertia[members].sum() + (weights * np.square(points - mean).sum(axis=1)).sum()
    return float(cost)


def centroid_silhouette(joined: JoinedClusterlets) -> float:
    """Silhouette over the clusterlets' centroids; NaN where clusters overlap, and for a single cluster."""
    if len(joined.membership) < 2 or (joined.membership.sum(axis=0) != 1).any():
        return float("nan")
    return silhouette_of_centroids(centroid_distances(joined.centroids), joined.membership.argmax(axis=0))
