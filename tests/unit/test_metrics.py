"""Scores by hand, and against the instances themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from clusterlets import metrics
from clusterlets.algorithms.extraction import clusterlets_from_labels
from clusterlets.algorithms.geometry import distance_sums


def test_deviation_by_hand():
    composition = np.array([[3, 1], [0, 4], [5, 5]])
    counts = np.array([8, 10])
    expected = [abs(0.75 - 8 / 18), 8 / 18, abs(0.5 - 8 / 18)]
    assert metrics.deviation_per_cluster(composition, counts) == pytest.approx(expected)


def test_a_cluster_of_one_colour_scores_as_the_paper_says_of_adult():
    counts = np.array([37155, 11687])
    assert metrics.deviation_per_cluster(np.array([[10, 0]]), counts)[0] == pytest.approx(0.239, abs=5e-4)


def test_relative_deviation_divides_by_the_larger_share():
    deviation = metrics.deviation_per_cluster(np.array([[1, 3]]), np.array([5, 5]), "relative")
    assert deviation == pytest.approx([max(0.25 / 0.5, 0.25 / 0.75)])


def test_kl_is_finite_for_a_missing_colour_and_zero_for_the_dataset_itself():
    deviation = metrics.deviation_per_cluster(np.array([[4, 0], [2, 6]]), np.array([2, 6]), "kl")
    assert deviation == pytest.approx([np.log(4), 0.0])


def test_three_colours_take_the_largest_difference():
    deviation = metrics.deviation_per_cluster(np.array([[2, 1, 1]]), np.array([1, 1, 2]))
    assert deviation == pytest.approx([0.25])


def test_unknown_deviation_is_refused():
    with pytest.raises(ValueError, match="unknown kind of deviation: .squared.; one of absolute, relative, kl$"):
        metrics.deviation_per_cluster(np.array([[1, 1]]), np.array([1, 1]), "squared")


def test_balance_is_the_least_ratio():
    assert metrics.balance(np.array([[3, 4], [10, 5]])) == 0.5
    assert metrics.balance(np.array([[3, 4], [10, 0]])) == 0.0
    assert metrics.balance(np.array([[3, 4, 12]])) == 0.25


def test_overlap_counts_instances_not_clusterlets():
    membership = np.array([[1, 1, 0], [0, 1, 1]], dtype=bool)
    assert metrics.overlap(membership, np.array([5, 3, 2])) == 0.3


@st.composite
def clustered(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_groups, n_clusters = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    labels = np.concatenate([np.arange(n_groups), rng.integers(n_groups, size=draw(st.integers(0, 30)))])
    colours = labels % 2 if n_groups > 1 else np.zeros(len(labels), dtype=int)
    X = rng.integers(0, 5, size=(len(labels), 2)).astype(float) if draw(st.booleans()) else rng.normal(size=(len(labels), 3))
    membership = rng.random((n_clusters, n_groups)) < 0.5
    membership[np.arange(n_clusters), rng.integers(n_groups, size=n_clusters)] = True
    return X, colours, labels, membership


@settings(max_examples=150, deadline=None)
@given(clustered())
def test_cohesion_and_cost_equal_those_of_the_instances(case):
    X, colours, labels, membership = case
    n_groups = membership.shape[1]
    order = np.argsort(np.arange(n_groups) % 2 if n_groups > 1 else np.zeros(n_groups), kind="stable")
    rank = np.argsort(order)
    clusterlets = clusterlets_from_labels(X, colours, rank[labels])
    membership = membership[:, order]
    distances = cdist(X, X)
    sums = distance_sums(X, clusterlets.labels, n_groups)
    inside = [membership[c][clusterlets.labels] for c in range(len(membership))]
    means = [distances[np.ix_(i, i)].mean() for i in inside]
    largest = distances.max()
    expected = 1 - np.mean(means) / largest if largest else 1.0
    assert metrics.cohesion(membership, clusterlets.sizes, sums, largest) == pytest.approx(expected, abs=1e-7)
    cost = sum(((X[i] - X[i].mean(axis=0)) ** 2).sum() for i in inside)
    found = metrics.kmeans_cost(membership, clusterlets.sizes, clusterlets.centroids, clusterlets.inertia)
    assert found == pytest.approx(cost, abs=1e-7)
    often = np.sum(inside, axis=0) > 1
    assert metrics.overlap(membership, clusterlets.sizes) == pytest.approx(often.mean())


def test_price_of_fairness_interpolates_log_cost_over_log_size():
    reference = {2: 100.0, 8: 25.0}
    assert metrics.price_of_fairness(100.0, 4, reference) == pytest.approx(2.0)
    assert metrics.price_of_fairness(25.0, 8, reference) == pytest.approx(1.0)
    assert np.isnan(metrics.price_of_fairness(25.0, 9, reference))
    assert np.isnan(metrics.price_of_fairness(float("nan"), 4, reference))
    assert np.isnan(metrics.price_of_fairness(5.0, 2, {2: 0.0}))
    assert metrics.price_of_fairness(0.5, 20, {2: 1.0, 8: 0.5, 20: 0.25}) == pytest.approx(2.0)
    assert np.isnan(metrics.price_of_fairness(1.0, 1, {2: 1.0, 8: 0.5}))


def test_score_of_a_small_clustering_by_hand():
    X = np.array([[0.0], [2.0], [10.0], [12.0]])
    clusterlets = clusterlets_from_labels(X, np.array([0, 0, 1, 1]), np.array([0, 1, 2, 2]))
    membership = np.array([[1, 0, 1], [0, 1, 1]], dtype=bool)
    found = metrics.score(
        membership,
        clusterlets.counts,
        clusterlets.centroids,
        clusterlets.inertia,
        distance_sums(X, clusterlets.labels, 3),
        12.0,
    )
    first = 2 * (10 + 12 + 2) / 9
    second = 2 * (8 + 10 + 2) / 9
    assert found["n_clusters"] == 2
    assert found["deviation_mean"] == pytest.approx(2 / 3 - 1 / 2)
    assert found["deviation_std"] == pytest.approx(0.0)
    assert found["balance"] == found["balance_ratio"] == 0.5
    assert found["cohesion"] == pytest.approx(1 - (first + second) / 2 / 12)
    assert found["overlap"] == 0.5
    assert (found["smallest"], found["largest"]) == (3, 3)
    assert np.isnan(found["kmeans_cost"])


def test_score_of_a_crisp_clustering_by_hand():
    X = np.array([[0.0], [2.0], [4.0], [10.0], [12.0]])
    clusterlets = clusterlets_from_labels(X, np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 2, 3]))
    membership = np.array([[1, 0, 1, 0], [0, 1, 0, 1]], dtype=bool)  # 0, 2, 10 and 4, 12
    values = clusterlets.counts, clusterlets.centroids, clusterlets.inertia
    found = metrics.score(membership, *values, distance_sums(X, clusterlets.labels, 4), 12.0)
    assert (found["n_clusters"], found["smallest"], found["largest"], found["overlap"]) == (2, 2, 3, 0)
    deviations = [2 / 3 - 3 / 5, 3 / 5 - 1 / 2]
    assert found["deviation_mean"] == pytest.approx(np.mean(deviations))
    assert found["deviation_std"] == pytest.approx(np.std(deviations))
    assert found["deviation_max"] == pytest.approx(1 / 10)
    assert found["balance"] == pytest.approx(1 / 2)
    assert found["balance_ratio"] == pytest.approx((1 / 2) / (2 / 3))
    assert found["cohesion"] == pytest.approx(1 - (2 * (2 + 10 + 8) / 9 + 2 * 8 / 4) / 2 / 12)
    assert found["kmeans_cost"] == pytest.approx((16 + 4 + 36) + (16 + 16))


def test_silhouette_over_instances_is_that_of_scikit_learn():
    from sklearn.metrics import silhouette_score

    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(40, 3)), rng.integers(3, size=40)
    assert metrics.silhouette(X, labels) == pytest.approx(silhouette_score(X, labels), abs=1e-15)
