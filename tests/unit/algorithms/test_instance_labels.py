"""Instances of overlapping clusters get the labels worked out by hand and by brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from labelled_rows import labelled_rows

from clusterlets.algorithms.geometry import moments_by_label
from clusterlets.algorithms.instance_labels import cluster_centres, labels_by_nearest_centre, labels_of_pieces


def test_a_row_gets_the_nearest_of_its_own_clusters_or_the_first_of_equally_near_ones():
    """The row at 5 is nearest to the centre at 6 but not in its cluster. The row at 2 is halfway between the other centres."""
    X, centres = np.array([[0.0], [2.0], [5.0]]), np.array([[1.0], [3.0], [6.0]])
    members = [np.array([0, 1, 2]), np.array([0, 1, 2]), np.array([], dtype=int)]
    assert labels_by_nearest_centre(X, members, centres).tolist() == [0, 0, 1]


@settings(max_examples=100)
@given(labelled_rows())
def test_labels_from_pieces_equal_labels_from_rows(case):
    X, piece_labels, rng = case
    membership = rng.random((3, piece_labels.max() + 1)) < 0.4
    n_pieces = membership.shape[1]
    membership[rng.integers(3, size=n_pieces), np.arange(n_pieces)] = True  # every piece is in a cluster
    membership = membership[membership.any(axis=1)]  # no cluster is empty
    centroids, _ = moments_by_label(X, piece_labels, n_pieces)
    centres = cluster_centres(membership, np.bincount(piece_labels), centroids)
    row_membership = membership[:, piece_labels]
    assert centres == pytest.approx(np.stack([X[rows].mean(axis=0) for rows in row_membership]), abs=1e-9)
    labels = labels_of_pieces(X, piece_labels, membership, centres)
    expected = np.where(row_membership.T, np.square(X[:, None] - centres).sum(axis=2), np.inf).argmin(axis=1)
    assert np.array_equal(labels, expected)
