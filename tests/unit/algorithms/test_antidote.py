"""Added points act like repeated rows, scores equal those worked out by hand, and the search keeps its guarantees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from clusterlets.algorithms import antidote as module
from clusterlets.algorithms.antidote import antidote, cluster_balances
from clusterlets.algorithms.kmeans import lloyd


def naive_balances(labels, groups, n_clusters):
    table_shares = np.array([(groups == group).mean() for group in np.unique(groups)])
    balances = []
    for cluster in range(n_clusters):
        shares = np.array([(groups[labels == cluster] == group).mean() for group in np.unique(groups)])
        balances.append(np.minimum(shares / table_shares, table_shares / shares).min() if shares.all() else 0.0)
    return balances


def naive_score(labels, groups, n_clusters):
    balances = naive_balances(labels, groups, n_clusters)
    return min(balances) + 0.1 * np.mean(balances)


def naive_k_means(rows, centres):
    """Labels after 30 rounds of Lloyd's algorithm."""
    for _ in range(30):
        labels = cdist(rows, centres, "sqeuclidean").argmin(axis=1)
        clusters = [rows[labels == index] for index in range(len(centres))]
        centres = np.array([cluster.mean(axis=0) if len(cluster) else centre for cluster, centre in zip(clusters, centres)])
    return labels


def blobs_and_groups(seed=0, n=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + rng.integers(4, size=(n, 1)) * [1.5, 0]
    return X, (rng.random(n) < 0.25 + 0.5 * (X[:, 0] > 2)).astype(int)


def plain_labels(X, k, seed):
    return lloyd(X, module._plain_centres(X, k, np.random.default_rng(seed)), max_iter=1).labels


@given(label_group_pairs=st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0, 1, 5])), min_size=3, max_size=30))
def test_balances_match_a_naive_computation(label_group_pairs):
    labels, groups = np.array([(0, 0), (1, 5), (2, 0), *label_group_pairs]).T
    np.testing.assert_allclose(cluster_balances(labels, groups, 3), naive_balances(labels, groups, 3), atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_added_points_have_the_effect_of_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    X, groups = blobs_and_groups(seed)
    centres, places = X[rng.choice(len(X), 4, replace=False)], rng.normal(2, 4, size=(5, 2))
    labels = module._Evaluation(X, groups, centres, 3.0).labels(places)
    rows_and_points = np.concatenate([X, np.repeat(places, 3, axis=0)])
    assert np.array_equal(labels, naive_k_means(rows_and_points, centres)[: len(X)])
    assert not np.array_equal(labels, naive_k_means(X, centres))


def test_a_centre_with_only_added_points_moves_to_their_mean():
    """No row is nearest to the centre at 20, so two added points of weight 0.2 move it to 12. There, too, it has no rows.

    If their weighted sum were not divided by their total weight, the centre would move to 4.8 and take the last row.
    """
    evaluation = module._Evaluation(np.array([[0.0], [1.0], [5.4]]), np.array([0, 1, 0]), np.array([[0.0], [20.0]]), 0.2)
    labels = evaluation.labels(np.array([[12.0], [12.0]]))
    assert labels.tolist() == [0, 0, 0]
    assert evaluation.score(labels) == (-1.0, 0.0)  # the worst score, because a cluster has no rows


def test_the_score_equals_the_one_worked_out_by_hand():
    X, groups = np.array([[0.0], [2.0], [10.0], [14.0], [10.0], [14.0]]), np.array([0, 1, 0, 0, 0, 1])
    labels = np.array([0, 0, 1, 1, 1, 1])
    # The groups' shares are 2/3 and 1/3 in the table, 1/2 and 1/2 in cluster 0, and 3/4 and 1/4 in cluster 1.
    fairness, closeness = module._Evaluation(X, groups, np.array([[0.0], [12.0]]), 1.0).score(labels)
    assert fairness == pytest.approx(2 / 3 + 0.1 * (2 / 3 + 3 / 4) / 2)
    assert closeness == pytest.approx(-(2 + 16))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [2, 5])
def test_the_labels_are_those_of_k_means_with_the_added_points(seed, k):
    X, groups = blobs_and_groups(seed)
    result = antidote(X, groups, k, np.random.default_rng(seed), n_evaluations=60)
    # The number of added points is 5 % (rho) of 150 rows, rounded up: 8 points at 5 places.
    assert len(result.places) == 5 and result.weight == 8 / 5
    assert (result.places >= X.min(axis=0)).all() and (result.places <= X.max(axis=0)).all()
    evaluation = module._Evaluation(X, groups, module._plain_centres(X, k, np.random.default_rng(seed)), 8 / 5)
    assert np.array_equal(result.labels, evaluation.labels(result.places))


@pytest.mark.parametrize("seed", range(4))
def test_longer_searches_are_never_less_fair_and_the_longest_beats_plain_k_means(seed):
    X, groups = blobs_and_groups(seed)
    scores = [naive_score(plain_labels(X, 4, seed), groups, 4)]
    for n_evaluations in (1, 2, 10, 40, 160):
        labels = antidote(X, groups, 4, np.random.default_rng(seed), n_evaluations=n_evaluations).labels
        scores.append(naive_score(labels, groups, 4))
    assert scores == sorted(scores) and scores[-1] > scores[0]


def test_the_result_is_plain_k_means_if_no_points_help():
    X, groups = blobs_and_groups(3)
    numbers_of_places = set()
    for seed in range(12):
        plain = plain_labels(X, 4, seed)
        result = antidote(X, groups, 4, np.random.default_rng(seed), rho=1, n_evaluations=1)
        numbers_of_places.add(len(result.places))
        if len(result.places):
            assert naive_score(result.labels, groups, 4) >= naive_score(plain, groups, 4)
        else:
            assert np.array_equal(result.labels, plain)
    assert numbers_of_places == {0, 5}


@pytest.mark.parametrize(("n", "rho", "n_added"), [(100, 0.07, 7), (100, 0.071, 8), (90, 0.01, 1), (10, 1, 10)])
def test_the_number_of_added_points_is_rounded_up(n, rho, n_added):
    X = np.random.default_rng(0).normal(size=(n, 2))
    result = antidote(X, np.arange(n) % 2, 2, np.random.default_rng(0), rho, n_evaluations=2)
    assert result.weight == pytest.approx(n_added / 5)


def test_random_steps_have_mean_0_and_variance_1():
    steps = module._nearly_normal(np.random.default_rng(0), 50_000)
    assert abs(steps.mean()) < 0.02 and abs(steps.var() - 1) < 0.03
    assert 3 < abs(steps).max() <= 6  # a step is a sum of twelve numbers from 0 to 1, less 6
