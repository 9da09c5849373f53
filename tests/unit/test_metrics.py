"""Scores by hand, and against the instances themselves."""

from fractions import Fraction
from math import ceil

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


def test_a_cluster_of_one_group_scores_as_the_paper_says_of_adult():
    counts = np.array([37155, 11687])
    assert metrics.deviation_per_cluster(np.array([[10, 0]]), counts)[0] == pytest.approx(0.239, abs=5e-4)


def test_relative_deviation_divides_by_the_larger_share():
    deviation = metrics.deviation_per_cluster(np.array([[1, 3]]), np.array([5, 5]), "relative")
    assert deviation == pytest.approx([max(0.25 / 0.5, 0.25 / 0.75)])


def test_kl_is_finite_for_a_missing_group_and_zero_for_the_dataset_itself():
    deviation = metrics.deviation_per_cluster(np.array([[4, 0], [2, 6]]), np.array([2, 6]), "kl")
    assert deviation == pytest.approx([np.log(4), 0.0])


def test_three_groups_take_the_largest_difference():
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
    n_pieces, n_clusters = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    labels = np.concatenate([np.arange(n_pieces), rng.integers(n_pieces, size=draw(st.integers(0, 30)))])
    groups = labels % 2 if n_pieces > 1 else np.zeros(len(labels), dtype=int)
    X = rng.integers(0, 5, size=(len(labels), 2)).astype(float) if draw(st.booleans()) else rng.normal(size=(len(labels), 3))
    membership = rng.random((n_clusters, n_pieces)) < 0.5
    membership[np.arange(n_clusters), rng.integers(n_pieces, size=n_clusters)] = True
    return X, groups, labels, membership


@settings(max_examples=150, deadline=None)
@given(clustered())
def test_cohesion_and_cost_equal_those_of_the_instances(case):
    X, groups, labels, membership = case
    n_pieces = membership.shape[1]
    order = np.argsort(np.arange(n_pieces) % 2 if n_pieces > 1 else np.zeros(n_pieces), kind="stable")
    rank = np.argsort(order)
    clusterlets = clusterlets_from_labels(X, groups, rank[labels])
    membership = membership[:, order]
    distances = cdist(X, X)
    sums = distance_sums(X, clusterlets.labels, n_pieces)
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


def test_scores_of_bounded_representation_by_hand():
    """Half of the rows of each group; a cluster of three to one, and one of one to three."""
    composition, counts = np.array([[3, 1], [1, 3]]), np.array([4, 4])
    assert metrics.bera_balance(composition, counts) == 0.5  # 1/4 against 1/2
    assert metrics.delta_min(composition, counts) == 0.5
    assert metrics.additive_violation(composition, counts) == 1
    assert metrics.additive_violation(composition, counts, 0.2) == 1  # 3 > 2 / .8 = 2.5, and 1 < 2 * .8
    assert metrics.additive_violation(composition, counts, 0.5) == 0
    assert metrics.weighted_deviation(composition, counts) == 0.25
    assert metrics.vfc_error(composition, counts) == pytest.approx(2 * (0.5 * np.log(2) + 0.5 * np.log(0.5 / 0.75)))


def test_scores_of_clusters_that_differ_in_size_by_hand():
    composition, counts = np.array([[5, 0, 1], [3, 4, 11]]), np.array([8, 4, 12])
    assert metrics.bera_balance(composition, counts) == 0 and metrics.delta_min(composition, counts) == 1
    assert metrics.additive_violation(composition, counts) == 3  # 5 where 2 are due
    assert metrics.additive_violation(composition, counts, 0.5) == 1  # 5 > 2 / .5
    first, second = (3 / 6 + 1 / 6 + 2 / 6) / 3, (3 / 18 + 1 / 18 + 2 / 18) / 3
    assert metrics.weighted_deviation(composition, counts) == pytest.approx((6 * first + 18 * second) / 24)
    assert metrics.vfc_error(composition, counts) == np.inf


def test_the_bound_from_above_ends_at_the_whole_cluster():
    assert metrics.additive_violation(np.array([[5, 0], [4, 1]]), np.array([9, 1]), 0.2) == 1  # 0 where .4 are due
    assert metrics.additive_violation(np.array([[10, 0], [0, 1]]), np.array([10, 1]), 0.95) == 1


@pytest.mark.parametrize("delta", [-0.1, 1, float("nan")])
def test_bounds_refuse_what_is_no_delta(delta):
    with pytest.raises(ValueError, match="must be at least 0 and below 1"):
        metrics.additive_violation(np.array([[1, 1]]), np.array([1, 1]), delta)


@st.composite
def compositions(draw):
    """Counts of crisp clusters, none of them empty, and those of the dataset."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_clusters, n_groups = draw(st.integers(1, 6)), draw(st.integers(2, 5))
    composition = rng.integers(0, draw(st.sampled_from([2, 10, 1000])), size=(n_clusters, n_groups))
    composition[np.arange(n_clusters), rng.integers(n_groups, size=n_clusters)] += 1
    return composition, composition.sum(axis=0)


COUNT_SCORES = (
    *(metrics.bera_balance, metrics.delta_min, metrics.additive_violation),
    *(metrics.weighted_deviation, metrics.vfc_error),
)


@settings(max_examples=200, deadline=None)
@given(compositions())
def test_scores_of_counts_are_what_their_definitions_say(case):
    composition, counts = case
    n, present = int(counts.sum()), np.flatnonzero(counts)
    pairs = [(int(row[h]), int(row.sum()), int(counts[h])) for row in composition for h in present]
    ratios = [Fraction(m * n, size * n_h) for m, size, n_h in pairs]
    expected = min(min(ratio, 1 / ratio) if ratio else Fraction(0) for ratio in ratios)
    assert metrics.bera_balance(composition, counts) == float(expected)
    off = max(abs(m - Fraction(size * n_h, n)) for m, size, n_h in pairs)
    assert metrics.additive_violation(composition, counts) == ceil(off)
    deviations = [size * abs(m / size - n_h / n) for m, size, n_h in pairs]
    assert metrics.weighted_deviation(composition, counts) == pytest.approx(sum(deviations) / n / len(present), abs=1e-12)
    divergences = [n_h / n * (np.log(n_h / n * size / m) if m else np.inf) for m, size, n_h in pairs]
    assert metrics.vfc_error(composition, counts) == pytest.approx(sum(divergences), abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(compositions(), st.floats(0, 0.99))
def test_delta_min_is_the_least_delta_without_a_violation(case, delta):
    composition, counts = case
    least = metrics.delta_min(composition, counts)
    if delta >= least:
        assert metrics.additive_violation(composition, counts, delta) == 0
    elif delta < least - 1e-6:
        assert metrics.additive_violation(composition, counts, delta) > 0


@settings(max_examples=100, deadline=None)
@given(compositions(), st.randoms(use_true_random=False))
def test_the_order_of_clusters_and_groups_changes_no_score_of_counts(case, random):
    composition, counts = case
    clusters, groups = (random.sample(range(length), length) for length in composition.shape)
    for score in COUNT_SCORES:
        other = score(composition[np.ix_(clusters, groups)], counts[groups])
        assert other == pytest.approx(score(composition, counts), rel=1e-12, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(compositions())
def test_doubled_rows_and_groups_that_no_row_has_change_no_share(case):
    composition, counts = case
    more = np.column_stack([composition, np.zeros(len(composition), dtype=int)]), np.append(counts, 0)
    for score in COUNT_SCORES:
        assert score(*more) == score(composition, counts)
        if score is not metrics.additive_violation:
            assert score(2 * composition, 2 * counts) == score(composition, counts)


def test_clusters_with_the_datasets_shares_are_perfect():
    composition = np.array([[1, 2, 3], [10, 20, 30]])
    assert metrics.bera_balance(composition, composition.sum(axis=0)) == 1
    for score in COUNT_SCORES[1:]:
        assert score(composition, composition.sum(axis=0)) == 0
    alone = np.array([[7, 3]])  # a single cluster
    assert [score(alone, alone[0]) for score in COUNT_SCORES] == [1, 0, 0, 0, 0]


def test_cohesion_of_estimates_is_their_mean_with_its_standard_error():
    both, sizes = np.array([[True]]), np.array([2])
    estimates = np.array([[[2.0]], [[4.0]]])  # mean distances of .5 and 1 over a largest one of 2
    assert metrics.cohesion_with_error(both, sizes, estimates, 2.0) == pytest.approx((0.625, 0.125))
    exact, error = metrics.cohesion_with_error(both, sizes, estimates[0], 2.0)
    assert exact == 0.75 and np.isnan(error)


def test_price_over_best_by_hand():
    best = {2: 100.0, 8: 25.0}  # log cost over log size: 50 for four clusters
    assert metrics.price_over_best(100.0, 4, best, 60.0) == pytest.approx(2.0)
    assert metrics.price_over_best(100.0, 4, best, 40.0) == pytest.approx(2.5)  # a run that undercuts the interpolation
    assert metrics.price_over_best(40.0, 4, best, 40.0) == 1
    assert np.isnan(metrics.price_over_best(10.0, 9, best, 10.0))
    assert np.isnan(metrics.price_over_best(0.0, 4, best, 0.0))
