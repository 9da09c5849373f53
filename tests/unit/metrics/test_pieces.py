"""Scores of clusters of pieces equal values worked out by hand, and values computed from the instances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from clusterlets.algorithms.extraction import clusterlets_from_labels
from clusterlets.algorithms.geometry import distance_sums
from clusterlets.metrics.pieces import (
    JoinedClusterlets,
    centroid_silhouette,
    cohesion,
    kmeans_cost,
    overlap,
)


@st.composite
def clusterings_of_pieces(draw):
    """Rows, their groups, the piece of each row, and the pieces in each cluster. Group 1 has the second half of the pieces."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_pieces, n_clusters = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    labels = np.concatenate([np.arange(n_pieces), rng.integers(n_pieces, size=draw(st.integers(0, 30)))])
    groups = (labels >= (n_pieces + 1) // 2) * 1
    X = rng.integers(0, 5, size=(len(labels), 2)).astype(float) if draw(st.booleans()) else rng.normal(size=(len(labels), 3))
    membership = rng.random((n_clusters, n_pieces)) < 0.5
    membership[np.arange(n_clusters), rng.integers(n_pieces, size=n_clusters)] = True
    return X, groups, labels, membership


@settings(max_examples=150)
@given(clusterings_of_pieces())
def test_cohesion_cost_and_overlap_equal_those_of_the_instances(case):
    X, groups, labels, membership = case
    n_pieces = membership.shape[1]
    clusterlets = clusterlets_from_labels(X, groups, labels)
    distances = cdist(X, X)
    sums = distance_sums(X, labels, n_pieces)
    rows_of_cluster = [row[labels] for row in membership]
    mean_distances = [distances[np.ix_(rows, rows)].mean() for rows in rows_of_cluster]
    largest_distance = distances.max()
    expected_cohesion = 1 - np.mean(mean_distances) / largest_distance if largest_distance else 1.0
    assert cohesion(membership, clusterlets.sizes, sums, largest_distance) == pytest.approx(expected_cohesion, abs=1e-7)
    expected_cost = sum(((X[rows] - X[rows].mean(axis=0)) ** 2).sum() for rows in rows_of_cluster)
    cost = kmeans_cost(membership, clusterlets.sizes, clusterlets.centroids, clusterlets.inertia)
    assert cost == pytest.approx(expected_cost, abs=1e-7)
    is_shared = np.sum(rows_of_cluster, axis=0) > 1
    assert overlap(membership, clusterlets.sizes) == pytest.approx(is_shared.mean())


def test_joined_clusterlets_have_the_silhouette_of_their_centroids_if_clusters_are_disjoint():
    centroids = np.array([[0.0], [1.0], [4.0]])

    def silhouette(*membership):
        return centroid_silhouette(JoinedClusterlets(np.array(membership, dtype=bool), centroids))

    # The centroids at 0 and 1 share a cluster; their silhouettes are (4 - 1) / 4 and (3 - 1) / 3. The one at 4 is alone: 0.
    assert silhouette([1, 1, 0], [0, 0, 1]) == silhouette([0, 0, 1], [1, 1, 0]) == pytest.approx((3 / 4 + 2 / 3) / 3)
    assert np.isnan(silhouette([1, 1, 1]))
    assert np.isnan(silhouette([1, 1, 0], [0, 1, 1]))
    assert np.isnan(silhouette([1, 0, 0], [0, 1, 0]))
