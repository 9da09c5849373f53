"""Every move of FairKM lowers its objective. Its result is compared with all clusterings of small tables."""

from itertools import product

import numpy as np
import pytest

import clusterlets.algorithms.fairkm as module
from clusterlets.algorithms.fairkm import fairkm
from clusterlets.algorithms.kmeans import kmeans_plus_plus, lloyd


def objective_terms(X, groups, labels):
    """The sum of squared errors and the unfairness U."""
    shares = np.bincount(groups) / len(X)
    sse = unfairness = 0.0
    for cluster in np.unique(labels):
        members = labels == cluster
        sse += np.square(X[members] - X[members].mean(axis=0)).sum()
        cluster_shares = np.bincount(groups[members], minlength=len(shares)) / members.sum()
        unfairness += members.mean() ** 2 * np.square(cluster_shares - shares).mean()
    return sse, unfairness


def table(seed, n=60, n_groups=3, d=2):
    """Rows and groups. All rows on the left are in group 0, except some of the first ``n_groups`` rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3 * rng.integers(0, 3, size=(n, 1))
    groups = (X[:, 0] > 2) * np.append(np.zeros(n_groups, int), rng.integers(0, n_groups, size=n - n_groups))
    groups[:n_groups] = np.arange(n_groups)
    return X, groups


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("penalty", [0, 0.3, 30])
def test_every_move_lowers_the_objective_as_much_as_any_move_of_the_row(seed, penalty):
    X, groups = table(seed)
    labels = lloyd(X, X[kmeans_plus_plus(X, 5, np.random.default_rng(seed))]).labels
    weight = penalty * objective_terms(X, groups, labels)[0]

    def objective(labels):
        sse, unfairness = objective_terms(X, groups, labels)
        return sse + weight * unfairness

    for _ in range(3):
        current_labels = labels.copy()
        any_moved = module._run_pass(X, groups, labels, 5, weight)
        assert any_moved == (labels != current_labels).any()
        for row in range(len(X)):
            if (current_labels == current_labels[row]).sum() > 1:
                objectives = [objective(np.where(np.arange(len(X)) == row, c, current_labels)) for c in range(5)]
                assert objectives[labels[row]] <= min(objectives) * (1 + 1e-9)
            current_labels[row] = labels[row]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("penalty", [0, 1, 100])
def test_no_single_move_lowers_the_final_objective_which_is_at_least_the_optimum(seed, penalty):
    X, groups = table(seed, n=7, n_groups=2)
    result = fairkm(X, groups, 3, np.random.default_rng(seed), penalty, max_iter=1000)
    assert result.converged

    def objective(labels):
        sse, unfairness = objective_terms(X, groups, labels)
        return sse + result.weight * unfairness

    assert result.objective == pytest.approx(objective(result.labels))
    assert (result.sse, result.unfairness) == pytest.approx(objective_terms(X, groups, result.labels))
    optimum = min(objective(np.array(labels)) for labels in product(range(3), repeat=7))
    assert result.objective >= optimum * (1 - 1e-9)
    for row in range(7):
        if (result.labels == result.labels[row]).sum() > 1:  # no move may empty a cluster
            for cluster in range(3):
                changed_labels = result.labels.copy()
                changed_labels[row] = cluster
                assert objective(changed_labels) >= result.objective * (1 - 1e-9)


def test_the_authors_weight_is_the_squared_mean_size_of_the_clusters():
    X, groups = table(0)
    assert fairkm(X, groups, 5, np.random.default_rng(0), "authors").weight == 144  # (60 / 5)^2


def test_the_search_ends_after_max_iter_passes():
    X, groups = table(3, n=500)
    single_pass = fairkm(X, groups, 6, np.random.default_rng(0), 100, max_iter=1)
    complete = fairkm(X, groups, 6, np.random.default_rng(0), 100, max_iter=200)
    assert (single_pass.n_iter, single_pass.converged) == (1, False)
    assert complete.converged and 1 < complete.n_iter < 200
    assert complete.objective < single_pass.objective
