"""Weighted k-means against copies of rows, hand-computed cases and its definition; fairlets stay together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets.algorithms import weighted_kmeans as module
from clusterlets.algorithms.weighted_kmeans import cluster_fairlets, weighted_kmeans


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), n_clusters=st.integers(1, 45), distinct=st.integers(1, 50))
def test_labels_name_the_nearest_centres_and_centres_are_weighted_means(seed, n, n_clusters, distinct):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(distinct, 2))[rng.integers(distinct, size=n)]
    weights = rng.integers(1, 9, size=n).astype(float)
    centres, labels = weighted_kmeans(X, weights, n_clusters, np.random.default_rng(seed))
    assert len(centres) == min(n_clusters, len(np.unique(X, axis=0)))
    squares = ((X[:, None] - centres) ** 2).sum(axis=2)
    assert squares[np.arange(n), labels] == pytest.approx(squares.min(axis=1))
    means = np.array([np.average(X[labels == c], axis=0, weights=weights[labels == c]) for c in range(len(centres))])
    # After the last round, centres may be off the means by the stopping tolerance.
    spread = (weights[:, None] * (X - np.average(X, axis=0, weights=weights)) ** 2).sum() / weights.sum() / 2
    assert ((means - centres) ** 2).sum() <= 2e-3 * spread + 1e-12


def test_a_weight_counts_as_copies_of_a_row():
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(30, 3)), rng.integers(1, 6, size=30)
    copied = np.repeat(X, weights, axis=0)
    start = X[:4]
    centres, labels, total = module._lloyd(X, module.tiles_of(X), weights.astype(float), start)
    centres_of_copies, labels_of_copies, total_of_copies = module._lloyd(
        copied, module.tiles_of(copied), np.ones(len(copied)), start
    )
    assert centres == pytest.approx(centres_of_copies) and total == pytest.approx(total_of_copies)
    assert (np.repeat(labels, weights) == labels_of_copies).all()


def test_first_centres_are_drawn_by_weight():
    X, weights = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 998.0, 1.0])
    first_rows = [
        module._first_centres(X, module.tiles_of(X), weights, 1, np.random.default_rng(seed))[0] for seed in range(200)
    ]
    assert np.mean(np.array(first_rows) == 1) > 0.95


def test_a_centre_without_rows_takes_the_row_that_costs_most():
    X, weights = np.array([[0.0], [1.0], [2.0], [10.0]]), np.array([1.0, 1.0, 100.0, 1.0])
    start = np.array([[1.0], [500.0]])  # nothing is nearest to the second: row 2 costs 100, row 3 costs 81
    labels, distances = np.zeros(4, dtype=np.int64), ((X - 1.0) ** 2).ravel()
    means = module._weighted_means(weights, X * weights[:, None], labels, distances, start)
    assert means.ravel() == pytest.approx([11 / 3, 2])


def test_fairlets_stay_together_and_their_cost_adds_up():
    rng = np.random.default_rng(5)
    X, fairlets = rng.normal(size=(200, 3)), np.append(np.arange(40), rng.integers(40, size=160))
    labels = cluster_fairlets(X, fairlets, 5, np.random.default_rng(0))
    assert all(len(set(labels[fairlets == fairlet])) == 1 for fairlet in range(40)) and set(labels) == set(range(5))
    sizes, means = np.bincount(fairlets), np.array([X[fairlets == fairlet].mean(axis=0) for fairlet in range(40)])
    label_of = np.array([labels[fairlets == fairlet][0] for fairlet in range(40)])
    centres = np.array([X[labels == c].mean(axis=0) for c in range(5)])
    inside = ((X - means[fairlets]) ** 2).sum()
    between = (sizes * ((means - centres[label_of]) ** 2).sum(axis=1)).sum()
    assert ((X - centres[labels]) ** 2).sum() == pytest.approx(inside + between)
