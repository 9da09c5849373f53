"""Fair assignments keep their bounds. On small tables, their costs are compared with the least cost of all assignments."""

from fractions import Fraction
from functools import partial
from math import ceil

import numpy as np
import pytest
from fair_tables import cost_of, counts_of, is_fair, least_cost_of_all, squared_distances, table
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets.algorithms.fair_assignment import balance_bounds, fair_assignment, round_within_bounds, share_bounds
from clusterlets.algorithms.limits import largest_deviation
from clusterlets.errors import ClusterletsError, NoClusteringError

DELTAS = [0.0, 0.05, 0.3, 0.7, 0.99]
KINDS = ["plain", "duplicates", "apart", "equal", "outlier"]


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
        result = fair_assignment(costs, groups, delta)
        assert is_fair(result.labels, groups, k, delta)
        assert result.cost == pytest.approx(cost_of(costs, result.labels))
        assert result.gap == pytest.approx(result.cost / result.bound - 1)
        least_cost = least_cost_of_all(costs, partial(is_fair, groups=groups, k=k, delta=delta))
        assert_between_bound_and_cost(least_cost, result)


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
        result = fair_assignment(costs, groups, balance=balance)
        counts = counts_of(result.labels, groups, k)
        assert counts.any(axis=0).all()
        assert (counts >= np.floor(balance / (1 + balance) * counts.sum(axis=0) + 1e-9)).all()
        if is_balanced(result.labels, groups, k, balance):
            least_cost = least_cost_of_all(costs, partial(is_balanced, groups=groups, k=k, balance=balance))
            assert_between_bound_and_cost(least_cost, result)


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
        fair_assignment(np.ones((4, 2)), np.array(groups), **bound)


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
    result = fair_assignment(costs, groups, delta)
    assert is_fair(result.labels, groups, k, delta)
    assert result.cost == pytest.approx(cost_of(costs, result.labels))
    assert 0 <= result.bound <= result.cost and result.gap >= 0
    # A start from the multipliers of the first result changes the search, but not its guarantees.
    restarted = fair_assignment(costs, groups, delta, result.multipliers)
    assert is_fair(restarted.labels, groups, k, delta) and restarted.bound <= result.cost * (1 + 1e-9)


@pytest.mark.parametrize(("n", "k", "n_groups", "max_gap"), [(1000, 5, 2, 0.01), (1000, 5, 3, 0.02), (3000, 10, 2, 0.01)])
def test_the_gap_is_small_on_larger_tables(n, k, n_groups, max_gap):
    for seed in range(3):
        X, groups = table(np.random.default_rng(seed), n, n_groups, "plain")
        for delta in (0.0, 0.2):
            assert fair_assignment(squared_distances(X, X[:k]), groups, delta).gap < max_gap


def test_a_group_whose_costs_hardly_differ_causes_no_numerical_error():
    rng = np.random.default_rng(5)
    X, groups = table(rng, 60, 3, "plain")
    costs = squared_distances(X, X[:4])
    costs[groups == 2] = 1 + 1e-15 * rng.integers(0, 3, size=((groups == 2).sum(), 4))
    with np.errstate(all="raise"):
        result = fair_assignment(costs, groups)
    assert is_fair(result.labels, groups, 4, 0.0)


class TestWholeCounts:
    @settings(max_examples=200)
    @given(
        seed=st.integers(0, 10**6),
        n_groups=st.integers(1, 8),
        k=st.integers(1, 12),
        max_total=st.integers(1, 60),
        kind=st.sampled_from(["fair", "any", "concentrated", "nothing"]),
        delta=st.one_of(st.sampled_from(DELTAS), st.floats(0, 0.999)),
    )
    def test_whole_counts_keep_totals_and_bounds(self, seed, n_groups, k, max_total, kind, delta):
        rng = np.random.default_rng(seed)
        totals = rng.integers(1, max_total + 1, size=n_groups)
        totals[0] += max(0, k - totals.sum())  # at least one instance for each cluster
        low, high = share_bounds(np.repeat(np.arange(n_groups), totals), delta)
        fractions = {
            "fair": np.tile(rng.dirichlet(np.ones(k)), (n_groups, 1)),
            "any": rng.dirichlet(np.full(k, 0.3), size=n_groups),
            "concentrated": np.eye(k)[np.zeros(n_groups, int)],
            "nothing": np.zeros((n_groups, k)),
        }[kind]
        counts, _ = round_within_bounds(fractions * totals[:, None], low, high, totals)
        sizes = counts.sum(axis=0)
        assert counts.dtype == np.int64 and np.array_equal(counts.sum(axis=1), totals) and (sizes >= 1).all()
        assert (counts >= np.floor(low[:, None] * sizes + 1e-9)).all()
        assert (counts <= np.ceil(high[:, None] * sizes - 1e-9)).all()

    def test_only_clusters_whose_size_rules_out_the_bounds_break_them(self):
        """Each group must make up half of every cluster. Four or ten instances have halves, but three have none."""
        low = high = np.array([0.5, 0.5])
        counts, is_strict = round_within_bounds(
            np.array([[1.5, 2.5, 4.5], [1.5, 1.5, 5.5]]), low, high, np.array([9, 8]), strict=True
        )
        assert counts.sum(axis=0).tolist() == [3, 4, 10] and is_strict.tolist() == [False, True, True]
        assert counts[:, 1:].tolist() == [[2, 5], [2, 5]] and sorted(counts[:, 0]) == [1, 2]

    @settings(max_examples=100)
    @given(seed=st.integers(0, 10**6), k=st.integers(1, 8), balance=st.sampled_from([0.2, 0.5, 0.9]))
    def test_clusters_marked_as_strict_keep_the_bounds_exactly(self, seed, k, balance):
        rng = np.random.default_rng(seed)
        totals = rng.integers(k, 60, size=2)
        low, high = balance_bounds(np.repeat([0, 1], totals), balance * totals.min() / totals.max())
        counts, is_strict = round_within_bounds(
            rng.dirichlet(np.ones(k), size=2) * totals[:, None], low, high, totals, strict=True
        )
        sizes = counts.sum(axis=0)
        assert np.array_equal(counts.sum(axis=1), totals)
        strict_counts, strict_sizes = counts[:, is_strict], sizes[is_strict]
        assert (strict_counts >= low[:, None] * strict_sizes - 1e-9).all()
        assert (strict_counts <= high[:, None] * strict_sizes + 1e-9).all()


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
            fair_assignment(costs, groups, min_cluster_size=min_size)
        assert error.value.status == "infeasible"
        return
    result = fair_assignment(costs, groups, min_cluster_size=min_size)
    counts = counts_of(result.labels, groups, k)
    assert counts.sum(axis=0).min() >= min_size and result.bound <= result.cost
    assert largest_deviation(counts, np.arange(n_groups)[:, None]) <= limit


@pytest.mark.parametrize(
    ("costs", "groups", "message"),
    [
        (np.ones((2, 3)), [0, 1], "2 instances cannot fill 3 clusters"),
        (np.ones((2, 0)), [0, 1], "2 instances cannot fill 0 clusters"),
        (np.ones((3, 2)), [0, 1], r"\(3, 2\) and \(2,\)"),
        (np.ones(3), [0, 1, 0], r"\(3,\) and \(3,\)"),
        (np.array([[0.0, np.nan]] * 3), [0, 1, 0], "finite"),
        (np.array([[0.0, np.inf]] * 3), [0, 1, 0], "finite"),
        (np.array([[0.0, -1.0]] * 3), [0, 1, 0], "not negative"),
        (np.ones((3, 2)), [0, 2, 0], "codes 0..K-1"),
        (np.ones((3, 2)), [0, -1, 0], "codes 0..K-1"),
    ],
)
def test_unusable_input_is_refused(costs, groups, message):
    with pytest.raises(ClusterletsError, match=message):
        fair_assignment(costs, np.array(groups))
