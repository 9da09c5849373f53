"""Weighted k-means follows its definition, treats weights as repeated rows, and keeps fairlets together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets.algorithms import weighted_kmeans as module
from clusterlets.algorithms.weighted_kmeans import cluster_fairlets, weighted_kmeans


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), n_clusters=st.integers(1, 45), n_distinct=st.integers(1, 50))
def test_rows_get_their_nearest_centres_and_centres_are_weighted_means(seed, n, n_clusters, n_distinct):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_distinct, 2))[rng.integers(n_distinct, size=n)]
    weights = rng.integers(1, 9, size=n).astype(float)
    centres, labels = weighted_kmeans(X, weights, n_clusters, np.random.default_rng(seed))
    assert len(centres) == min(n_clusters, len(np.unique(X, axis=0)))
    squared_distances = ((X[:, None] - centres) ** 2).sum(axis=2)
    assert squared_distances[np.arange(n), labels] == pytest.approx(squared_distances.min(axis=1))
    means = np.array([np.average(X[labels == c], axis=0, weights=weights[labels == c]) for c in range(len(centres))])
    # The rounds end when the centres move by less than a tolerance of 1e-4. Rows that change their centre after the last move
    # can shift the means further, so 20 times the tolerance is allowed.
    mean_variance = (weights[:, None] * (X - np.average(X, axis=0, weights=weights)) ** 2).sum() / weights.sum() / X.shape[1]
    assert ((means - centres) ** 2).sum() <= 2e-3 * mean_variance + 1e-12


def test_a_row_counts_as_many_copies_as_its_weight():
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(30, 3)), rng.integers(1, 6, size=30)
    copies = np.repeat(X, weights, axis=0)
    initial_centres = X[:4]
    centres, labels, cost = module._lloyd(X, module.tiles_of(X), weights.astype(float), initial_centres)
    centres_of_copies, labels_of_copies, cost_of_copies = module._lloyd(
        copies, module.tiles_of(copies), np.ones(len(copies)), initial_centres
    )
    assert centres == pytest.approx(centres_of_copies) and cost == pytest.approx(cost_of_copies)
    assert (np.repeat(labels, weights) == labels_of_copies).all()


def test_first_centres_are_drawn_by_weight():
    X, weights = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 998.0, 1.0])
    tiles = module.tiles_of(X)
    first_rows = [module._first_centres(X, tiles, weights, 1, np.random.default_rng(seed))[0] for seed in range(200)]
    assert first_rows.count(1) > 190


def test_a_centre_without_rows_moves_to_the_row_with_the_highest_cost():
    X, weights = np.array([[0.0], [1.0], [2.0], [10.0]]), np.array([1.0, 1.0, 100.0, 1.0])
    initial_centres = np.array([[1.0], [500.0]])  # no row is nearest to 500; row 2 costs 100, and row 3 costs 81
    labels, distances = np.zeros(4, dtype=np.int64), ((X - 1.0) ** 2).ravel()
    means = module._weighted_means(weights, X * weights[:, None], labels, distances, initial_centres)
    assert means.ravel() == pytest.approx([11 / 3, 2])


def test_fairlets_stay_together_and_the_costs_within_and_between_them_add_up():
    rng = np.random.default_rng(5)
    X, fairlets = rng.normal(size=(200, 3)), np.append(np.arange(40), rng.integers(40, size=160))
    labels = cluster_fairlets(X, fairlets, 5, np.random.default_rng(0))
    assert set(labels) == set(range(5))
    assert all(len(set(labels[fairlets == fairlet])) == 1 for fairlet in range(40))
    sizes = np.bincount(fairlets)
    means = np.array([X[fairlets == fairlet].mean(axis=0) for fairlet in range(40)])
    fairlet_labels = np.array([labels[fairlets == fairlet][0] for fairlet in range(40)])
    centres = np.array([X[labels == c].mean(axis=0) for c in range(5)])
    cost_within = ((X - means[fairlets]) ** 2).sum()
    cost_between = (sizes * ((means - centres[fairlet_labels]) ** 2).sum(axis=1)).sum()
    assert ((X - centres[labels]) ** 2).sum() == pytest.approx(cost_within + cost_between)
