"""Lloyd's algorithm with fractional fair assignments gives centres of lower fair cost than plain k-means."""

import numpy as np
import pytest
from fair_tables import table
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets.algorithms.fair_assignment import share_bounds
from clusterlets.algorithms.fair_dual import share_rows, solve_dual
from clusterlets.algorithms.fractional_lloyd import fractional_lloyd
from clusterlets.algorithms.geometry import squared_distances_to_centres
from clusterlets.algorithms.weighted_kmeans import weighted_kmeans

KINDS = ["plain", "duplicates", "apart", "equal"]


def random_weights(seed, groups):
    """Random weights that add up to the number of instances in each group, as in a sample that represents a table."""
    weights = np.random.default_rng(seed).uniform(0.5, 5, size=len(groups))
    return weights * (np.bincount(groups) / np.bincount(groups, weights))[groups]


def fair_cost(X, weights, groups, centres, bounds):
    """The least cost of a fair fractional assignment to the centres, according to the dual."""
    costs = squared_distances_to_centres(X, centres, len(centres))
    return solve_dual(costs, weights, groups, len(bounds[0]), share_rows(*bounds), slack=1.0).bound


@settings(max_examples=50)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(6, 80),
    k=st.integers(1, 6),
    n_groups=st.integers(1, 5),
    kind=st.sampled_from(KINDS),
    delta=st.sampled_from([0.0, 0.2, 0.9]),
)
def test_centres_lie_among_the_rows_and_multipliers_are_not_negative(seed, n, k, n_groups, kind, delta):
    X, groups = table(np.random.default_rng(seed), n, n_groups, kind)
    weights, bounds = random_weights(seed, groups), share_bounds(groups, delta)
    centres, multipliers = fractional_lloyd(X, weights, groups, k, bounds, 1.0, np.random.default_rng(seed))
    assert centres.shape == (k, 2) and np.isfinite(centres).all()
    assert (centres >= X.min(axis=0) - 1e-9).all() and (centres <= X.max(axis=0) + 1e-9).all()
    assert multipliers.shape == (len(share_rows(*bounds)), k) and (multipliers >= 0).all()


@pytest.mark.parametrize("kind", ["plain", "apart"])
@pytest.mark.parametrize("n_groups", [2, 3])
def test_the_fair_cost_is_lower_at_these_centres_than_at_those_of_plain_k_means(kind, n_groups):
    for seed in range(3):
        X, groups = table(np.random.default_rng(seed), 300, n_groups, kind)
        weights, bounds = random_weights(0, groups), share_bounds(groups, 0.0)
        plain_centres, _ = weighted_kmeans(X, weights, 4, np.random.default_rng(seed))
        centres, _ = fractional_lloyd(X, weights, groups, 4, bounds, 1.0, np.random.default_rng(seed))
        plain_cost = fair_cost(X, weights, groups, plain_centres, bounds)
        assert fair_cost(X, weights, groups, centres, bounds) < plain_cost


def test_more_rounds_and_more_starts_do_not_raise_the_cost():
    X, groups = table(np.random.default_rng(1), 400, 2, "apart")
    weights, bounds = np.ones(400), share_bounds(groups, 0.0)
    costs = {}
    for n_init, max_iter in ((1, 1), (1, 5), (1, 30), (6, 5)):
        random_state = np.random.default_rng(4)  # the first of six starts is also the only start of n_init = 1
        centres = fractional_lloyd(X, weights, groups, 6, bounds, 1.0, random_state, n_init, max_iter, tol=0)[0]
        costs[n_init, max_iter] = fair_cost(X, weights, groups, centres, bounds)
    assert costs[1, 30] < costs[1, 5] < costs[1, 1]
    assert costs[6, 5] <= costs[1, 5] * (1 + 1e-3)


def test_centres_are_repeated_if_there_are_fewer_distinct_rows_than_clusters():
    X, groups = np.repeat([[0.0], [9.0]], 10, axis=0), np.tile([0, 1], 10)
    slack = 1 - 1 / 20  # by which whole counts of 20 rows may miss exact shares
    centres, _ = fractional_lloyd(X, np.ones(20), groups, 5, share_bounds(groups, 0.0), slack, np.random.default_rng(0))
    assert centres.shape == (5, 1)
    assert np.abs(centres - [[0.0, 9.0]]).min(axis=0) == pytest.approx([0, 0], abs=0.1)
