"""The centres of Fair-Lloyd cost as little as another solver's. The result is compared with all clusterings of small tables."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from clusterlets.algorithms.fair_lloyd import _fill_empty_clusters, fair_centres, fair_lloyd


def group_costs(X, groups, labels, centres):
    """The mean squared distance of each group's rows to their centres."""
    squares = np.square(X - centres[labels]).sum(axis=1)
    return np.array([squares[groups == group].mean() for group in np.unique(groups)])


def social_cost(X, groups, labels, centres):
    return group_costs(X, groups, labels, centres).max()


def table(seed, n=40, n_groups=2, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.integers(1, 4, size=(n, 1))
    groups = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, size=n - n_groups)])
    return X + groups[:, None], groups


def least_social_cost(X, groups, labels, start):
    """The least social cost of these labels: SLSQP minimises t, subject to no group's cost being above t."""

    def costs(variables):  # the centres, then t
        return group_costs(X, groups, labels, variables[:-1].reshape(start.shape))

    initial = np.append(start.ravel(), social_cost(X, groups, labels, start))
    solution = minimize(
        lambda variables: variables[-1],
        initial,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda variables: variables[-1] - costs(variables)},
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return costs(solution.x).max()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_groups", [1, 2, 3, 5])
def test_the_centres_have_the_least_social_cost(seed, n_groups):
    X, groups = table(seed, n_groups=n_groups)
    labels = np.random.default_rng(seed).integers(0, 3, size=len(X))
    start = np.array([X[labels == cluster].mean(axis=0) for cluster in range(3)])
    result = fair_centres(X, groups, labels, start)
    assert result.social_cost == pytest.approx(social_cost(X, groups, labels, result.centres), rel=1e-12)
    assert 0 <= result.gap <= 1e-7 and result.bound <= result.social_cost
    assert result.social_cost == pytest.approx(least_social_cost(X, groups, labels, start), rel=1e-5)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_groups", [2, 3])
def test_rounds_never_raise_the_cost_nor_take_it_below_the_optimum(seed, n_groups):
    X, groups = table(seed, n=7, n_groups=n_groups, d=1)
    costs = []
    for max_iter in range(1, 8):
        result = fair_lloyd(X, groups, 2, np.random.default_rng(seed), max_iter, tol=0)
        costs.append(result.social_cost)
        assert result.social_cost == pytest.approx(social_cost(X, groups, result.labels, result.centres), rel=1e-12)
        squares = np.square(X[:, None] - result.centres).sum(axis=2)
        assert (result.labels == squares.argmin(axis=1)).all()
    assert all(later <= earlier for earlier, later in pairwise(costs))
    labellings = (np.array(labels) for labels in product(range(2), repeat=7))
    optimum = min(fair_centres(X, groups, labels, np.zeros((2, 1))).bound for labels in labellings)
    assert costs[-1] >= optimum * (1 - 1e-9)


# On the tables of these examples, rounding can end Newton's method early.
@example(n=13, n_values=4, n_groups=3, seed=3628800)
@example(n=11, n_values=5, n_groups=6, seed=723)
@settings(max_examples=60)
@given(n=st.integers(1, 14), n_values=st.integers(1, 5), n_groups=st.integers(1, 6), seed=st.integers(0, 2**32 - 1))
def test_there_are_as_many_centres_as_clusters_or_fewer_if_rows_are_equal(n, n_values, n_groups, seed):
    rng = np.random.default_rng(seed)
    X, groups = rng.integers(0, n_values, size=(n, 2)).astype(float), rng.integers(0, n_groups, size=n)
    for k in {1, min(3, n), n}:
        result = fair_lloyd(X, groups, k, np.random.default_rng(seed))
        assert len(result.centres) == min(k, len(np.unique(X, axis=0))) and np.isfinite(result.centres).all()
        assert result.gap <= 1e-7
        assert result.social_cost == pytest.approx(social_cost(X, groups, result.labels, result.centres), abs=1e-12)
        if k == n:
            assert result.social_cost == pytest.approx(0, abs=1e-12)


def test_an_empty_cluster_takes_the_farthest_row_that_is_not_alone_in_its_cluster():
    X, centres = np.array([[0.0], [1.0], [9.0], [30.0]]), np.array([[0.0], [50.0], [20.0]])
    labels, squares = np.array([0, 0, 0, 2]), np.array([0.0, 1.0, 81.0, 100.0])
    labels, centres = _fill_empty_clusters(labels, squares, X, centres)
    assert labels.tolist() == [0, 0, 1, 2] and centres.tolist() == [[0.0], [9.0], [20.0]]
