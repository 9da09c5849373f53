"""Assignments keep their limits. On small tables, their costs are compared with the least cost of all assignments."""

from fractions import Fraction
from functools import partial
from math import ceil

import numpy as np
import pytest
from fair_tables import cost_of, counts_of, is_fair, least_cost_of_all, squared_distances, table
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets.algorithms.limit_assignment import assign_within_limits
from clusterlets.algorithms.limits import largest_deviation, limits_of_fit
from clusterlets.errors import ClusterletsError, NoClusteringError

DELTAS = [0.0, 0.05, 0.3, 0.7, 0.99]
KINDS = ["plain", "duplicates", "apart", "equal", "outlier"]


def assign(costs, groups, multipliers=None, min_cluster_size=1, **bounds):
    limits = limits_of_fit(groups, costs.shape[1], **bounds)
    return assign_within_limits(costs, groups, *limits, min_cluster_size, multipliers)


def small_problem(seed, n_groups):
    """Costs (n, k) and groups (n,) of few instances, so that a test can try every assignment."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(5, 10)), int(rng.integers(1, 4))
    X, groups = table(rng, n, n_groups, KINDS[seed % 4])  # without the kind "outlier"
    return squared_distances(X, X[rng.choice(n, k, replace=False)] + rng.normal(size=2)), groups


def assert_between_bound_and_cost(least_cost, result):
    assert result.bound <= least_cost * (1 + 1e-9) + 1e-9
    assert least_cost <= result.cost * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("seed", range(40))
def test_the_least_cost_of_all_assignments_lies_between_bound_and_cost(seed):
    costs, groups = small_problem(seed, 1 + seed % 3)
    k = costs.shape[1]
    for delta in DELTAS:
        result = assign(costs, groups, delta=delta)
        assert is_fair(result.labels, groups, k, delta)
        assert result.cost == pytest.approx(cost_of(costs, result.labels))
        least_cost = least_cost_of_all(costs, partial(is_fair, groups=groups, k=k, delta=delta))
        assert_between_bound_and_cost(least_cost, result)


def test_labels_are_mostly_the_cheapest_of_all():
    n_cheapest = 0
    for seed in range(60):
        costs, groups = small_problem(seed, 2 + seed % 2)
        least_cost = least_cost_of_all(costs, partial(is_fair, groups=groups, k=costs.shape[1], delta=0.0))
        n_cheapest += assign(costs, groups).cost <= least_cost * (1 + 1e-9) + 1e-9
    assert n_cheapest >= 40


def is_balanced(labels, groups, k, balance):
    """Whether every cluster has instances, and the ratio of its rarer group to the other one is at least ``balance``."""
    counts = counts_of(labels, groups, k)
    return counts.any(axis=0).all() and (counts.min(axis=0) / counts.max(axis=0) >= balance - 1e-9).all()


@pytest.mark.parametrize("seed", range(40))
def test_the_balance_is_kept_and_the_least_cost_lies_between_bound_and_cost(seed):
    costs, groups = small_problem(seed, 2)
    k, totals = costs.shape[1], np.bincount(groups)
    for fraction in (0.0, 0.4, 0.9, 1.0):
        balance = fraction * totals.min() / totals.max()
        result = assign(costs, groups, balance=balance)
        counts = counts_of(result.labels, groups, k)
        assert counts.any(axis=0).all()
        assert (counts >= np.floor(balance / (1 + balance) * counts.sum(axis=0) + 1e-9)).all()
        if is_balanced(result.labels, groups, k, balance):
            least_cost = least_cost_of_all(costs, partial(is_balanced, groups=groups, k=k, balance=balance))
            assert_between_bound_and_cost(least_cost, result)


def test_a_balance_that_whole_instances_can_keep_is_kept_exactly():
    """Each group must make up half of every cluster. Three instances have no half, but the table splits into even clusters."""
    costs = np.array([[0.0, 1.0]] * 3 + [[1.0, 0.0]] * 5)
    groups = np.array([0, 0, 1, 0, 1, 0, 1, 1])
    labels = assign(costs, groups, balance=1.0).labels
    assert (counts_of(labels, groups, 2) == [[1, 3], [1, 3]]).all() or (counts_of(labels, groups, 2) == [[2, 2], [2, 2]]).all()
    odd_costs, odd_groups = costs[[0, 1, 2, 3, 4, 5]], np.array([0, 1, 0, 1, 0, 1])
    sizes = counts_of(assign(odd_costs, odd_groups, balance=1.0, min_cluster_size=3).labels, odd_groups, 2)
    assert sizes.sum(axis=0).tolist() == [3, 3] and sizes.min() == 1


@pytest.mark.parametrize(
    ("groups", "bound", "message"),
    [
        ([0, 1, 2, 0], {"balance": 0.5}, "two groups, not 3"),
        ([0, 0, 0, 0], {"balance": 0.5}, "two groups, not 1"),
        ([0, 1, 0, 0], {"balance": 0.34}, "from 0 to the table's own, 0.333333, not 0.34"),
        ([0, 1, 0, 1], {"balance": -0.1}, "from 0 to the table's own, 1, not -0.1"),
        ([0, 1, 0, 1], {"balance": float("nan")}, "not nan"),
        *(
            ([0, 1, 0, 1], {"delta": delta}, "delta must be at least 0 and below 1, not")
            for delta in (-0.1, 1.0, 2, np.nan, np.inf)
        ),
        ([0, 1, 0, 1], {"max_deviation": 1.1}, "max_deviation must be from 0 to 1, not 1.1"),
    ],
)
def test_bounds_out_of_range_and_a_balance_without_two_groups_are_refused(groups, bound, message):
    with pytest.raises(ClusterletsError, match=message):
        limits_of_fit(np.array(groups), 2, **bound)


@settings(max_examples=150)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 70),
    k=st.integers(1, 70),
    n_groups=st.integers(1, 12),
    kind=st.sampled_from(KINDS),
    delta=st.one_of(st.sampled_from(DELTAS), st.floats(0, 0.999)),
    singletons=st.booleans(),
)
def test_shares_keep_their_bounds_and_no_cluster_is_empty(seed, n, k, n_groups, kind, delta, singletons):
    rng = np.random.default_rng(seed)
    k, n_groups = min(k, n), min(n_groups, n)
    X, groups = table(rng, n, n_groups, kind, singletons, outlier=1e6)
    costs = squared_distances(X, X[rng.integers(0, n, size=k)])  # some centres may be equal
    result = assign(costs, groups, delta=delta)
    assert is_fair(result.labels, groups, k, delta)
    assert result.cost == pytest.approx(cost_of(costs, result.labels))
    assert result.bound <= result.cost and result.gap >= 0
    # A start from the multipliers of the first result changes the search, but not its guarantees.
    restarted = assign(costs, groups, result.multipliers, delta=delta)
    assert is_fair(restarted.labels, groups, k, delta) and restarted.bound <= result.cost * (1 + 1e-9)


@pytest.mark.parametrize(("n", "k", "n_groups", "max_gap"), [(1000, 5, 2, 0.01), (1000, 5, 3, 0.02), (3000, 10, 2, 0.01)])
def test_the_gap_is_small_on_larger_tables(n, k, n_groups, max_gap):
    for seed in range(3):
        X, groups = table(np.random.default_rng(seed), n, n_groups, "plain")
        for delta in (0.0, 0.2):
            result = assign(squared_distances(X, X[:k]), groups, delta=delta)
            assert result.gap == pytest.approx(result.cost / result.bound - 1)
            assert result.bound > 0 and result.gap < max_gap


def test_a_group_whose_costs_hardly_differ_causes_no_numerical_error():
    rng = np.random.default_rng(5)
    X, groups = table(rng, 60, 3, "plain")
    costs = squared_distances(X, X[:4])
    costs[groups == 2] = 1 + 1e-15 * rng.integers(0, 3, size=((groups == 2).sum(), 4))
    with np.errstate(all="raise"):
        result = assign(costs, groups)
    assert is_fair(result.labels, groups, 4, 0.0)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(10, 120),
    k=st.integers(1, 6),
    n_groups=st.integers(1, 5),
    kind=st.sampled_from(KINDS),
    limit=st.sampled_from([Fraction(1, 2), Fraction(1, 5), Fraction(1, 10), Fraction(3, 20)]),
)
def test_deviations_stay_within_a_limit_if_every_size_is_at_least_the_limits_reciprocal(seed, n, k, n_groups, kind, limit):
    rng = np.random.default_rng(seed)
    min_size = ceil(1 / limit)
    k = max(1, min(k, n // min_size))
    X, groups = table(rng, n, n_groups, kind, outlier=1e6)
    costs = squared_distances(X, X[rng.integers(0, n, size=k)])
    if k * min_size > n:
        with pytest.raises(NoClusteringError, match="min_cluster_size") as error:
            assign(costs, groups, min_cluster_size=min_size)
        assert error.value.status == "infeasible"
        return
    result = assign(costs, groups, min_cluster_size=min_size)
    counts = counts_of(result.labels, groups, k)
    assert counts.sum(axis=0).min() >= min_size and result.bound <= result.cost
    assert largest_deviation(counts, np.arange(n_groups)[:, None]) <= limit
