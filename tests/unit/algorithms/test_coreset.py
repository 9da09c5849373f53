"""Coresets have weights that add up to the size of each group, approximate costs, and yield good clusterings."""

import numpy as np
import pytest
from fair_tables import dual_of, is_fair, sse, table
from hypothesis import given, settings
from hypothesis import strategies as st
from real_tables import standardised

from clusterlets.algorithms.coreset import coreset_clustering, sample_coreset
from clusterlets.algorithms.geometry import squared_distances_to_centres
from clusterlets.algorithms.limits import limits_of_fit

KINDS = ["plain", "duplicates", "apart", "equal", "outlier", "noise"]


def largest_error(X, groups, rows, weights, k, random_state):
    """The largest relative error of the coreset's cost over four sets of k centres. A centre is a mean of one or four rows.

    The cost at a set of centres is the dual's bound on the cost of fractional assignments that keep the table's shares.
    """
    limits, (slack,) = limits_of_fit(groups, k)
    errors = []
    for rows_per_centre in (1, 4, 1, 4):
        centres = X[random_state.choice(len(X), rows_per_centre * k)].reshape(-1, k, X.shape[1]).mean(axis=0)
        costs = squared_distances_to_centres(X, centres, k)
        table_cost = dual_of(costs, np.ones(len(X)), groups, limits, slack).bound
        coreset_cost = dual_of(costs[rows], weights, groups[rows], limits, slack).bound
        errors.append(abs(coreset_cost / table_cost - 1))
    return max(errors)


@settings(max_examples=150)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 300),
    k=st.integers(1, 20),
    size=st.integers(1, 400),
    n_groups=st.integers(1, 6),
    kind=st.sampled_from(KINDS),
    singletons=st.booleans(),
)
def test_weights_add_up_to_the_size_of_each_group(seed, n, k, size, n_groups, kind, singletons):
    rng = np.random.default_rng(seed)
    n_groups, k = min(n_groups, n), min(k, n)
    X, groups = table(rng, n, n_groups, kind, singletons)
    rows, weights = sample_coreset(X, groups, k, size, rng)
    assert (np.diff(rows) > 0).all() and rows.min() >= 0 and rows.max() < n
    assert weights.shape == rows.shape and (weights >= 1).all()
    totals = np.bincount(groups)
    assert np.bincount(groups[rows], weights, n_groups) == pytest.approx(totals)
    if size >= n * n:  # so large that every ring keeps all its rows
        assert np.array_equal(rows, np.arange(n)) and (weights == 1).all()


@pytest.mark.parametrize("size", [300, 1000, 3000])
def test_a_coreset_has_about_the_requested_size(size):
    X, groups = table(np.random.default_rng(0), 20_000, 2, "plain")
    rows, _ = sample_coreset(X, groups, 5, size, np.random.default_rng(0))
    assert 0.5 * size < len(rows) <= 1.1 * size


def test_coresets_contain_outliers():
    """Two of 5,000 rows make up most of the cost. A uniform sample of 200 rows would miss them."""
    X = np.random.default_rng(1).normal(size=(5000, 2))
    X[[7, 4321]] += [[300, 0], [0, 300]]
    groups = np.arange(5000) % 2
    for seed in range(5):
        rows, _ = sample_coreset(X, groups, 1, 200, np.random.default_rng(seed))
        assert {7, 4321} <= set(rows)


@pytest.mark.parametrize(("kind", "n_groups"), [("plain", 2), ("apart", 2), ("apart", 3)])
def test_larger_coresets_approximate_costs_more_closely(kind, n_groups):
    X, groups = table(np.random.default_rng(2), 4000, n_groups, kind)

    def mean_error(size):
        coresets = (sample_coreset(X, groups, 4, size, np.random.default_rng(seed)) for seed in range(3))
        return np.mean([largest_error(X, groups, *coreset, 4, np.random.default_rng(9)) for coreset in coresets])

    assert mean_error(1500) < min(0.06, 0.8 * mean_error(100))


@pytest.mark.parametrize(("k", "cost_on_all_rows"), [(5, 105_824), pytest.param(20, 75_372, marks=pytest.mark.slow)])
def test_a_coreset_of_a_real_table_yields_a_clustering_nearly_as_cheap_as_one_of_all_rows(k, cost_on_all_rows):
    """The cost on all rows is that of Lloyd's algorithm with fair assignments."""
    X, groups = standardised("magic")
    labellings = [coreset_clustering(X, groups, k, np.random.default_rng(seed)) for seed in range(3)]
    best_labels = min(labellings, key=lambda labels: sse(X, labels))
    assert is_fair(best_labels, groups, k, 0.0) and sse(X, best_labels) < 1.05 * cost_on_all_rows
    rows, weights = sample_coreset(X, groups, k, 2000, np.random.default_rng(0))
    assert largest_error(X, groups, rows, weights, k, np.random.default_rng(0)) < 0.1
