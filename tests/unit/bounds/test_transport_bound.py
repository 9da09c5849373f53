"""No fair partition of a small table costs less than the table's bound. The bounds are close to the cost of exact transport."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse
from fair_tables import counts_of, sse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog

from clusterlets.bounds.transport import share_intervals, sse_bounds, transport_bounds
from clusterlets.errors import ClusterletsError
from clusterlets.metrics.composition import delta_min

DELTAS = [0.0, 0.2, 0.5, 0.8, 1.0]
CLUSTER_COUNTS = [1, 2, 3, 4]


@cache
def partitions(n):
    """The labels (m, n) of all partitions of n instances into at most four clusters."""
    labels = np.zeros((1, 1), dtype=int)
    for _ in range(n - 1):
        labels = np.vstack(
            [np.pad(labels[labels.max(axis=1) + 1 >= label], ((0, 0), (0, 1)), constant_values=label) for label in range(4)]
        )
    return labels


def least_errors(X, groups):
    """Least sums of squared errors over all partitions, for each of DELTAS (rows) and CLUSTER_COUNTS (columns)."""
    labels = partitions(len(X))
    shares = np.bincount(groups) / len(X)
    errors = np.full(len(labels), np.square(X).sum())
    worst_ratio = np.ones(len(labels))  # 1 - delta_min
    for cluster in range(4):
        is_in_cluster = labels == cluster
        sizes = np.maximum(is_in_cluster.sum(axis=1), 1)
        errors -= np.square(is_in_cluster @ X).sum(axis=1) / sizes
        for group, share in enumerate(shares):
            cluster_share = (is_in_cluster & (groups == group)).sum(axis=1) / sizes
            ratio = np.where(cluster_share > 0, np.minimum(cluster_share / share, share / np.maximum(cluster_share, 1e-9)), 0)
            worst_ratio = np.where(is_in_cluster.any(axis=1), np.minimum(worst_ratio, ratio), worst_ratio)
    n_clusters = labels.max(axis=1) + 1
    return np.array(
        [[errors[(1 - worst_ratio <= delta + 1e-12) & (n_clusters <= k)].min() for k in CLUSTER_COUNTS] for delta in DELTAS]
    )


def small_table(seed, n_groups):
    """Features and groups of 3 to 8 instances."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(max(3, n_groups), 9)), int(rng.integers(1, 4))
    groups = rng.permutation(np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, size=n - n_groups)]))
    if seed % 2:  # groups of equal size, so that even small clusters can have exactly the shares of the table
        groups = rng.permutation(np.arange(6 if n_groups == 3 else 8) % n_groups)
        n = len(groups)
    X = rng.normal(size=(n, d)) if seed % 3 else rng.integers(0, 4, size=(n, d)).astype(float)
    return X + (seed % 5) * groups[:, None], groups


@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("seed", range(30))
def test_no_fair_partition_costs_less_than_the_bound(seed, n_groups):
    X, groups = small_table(seed, n_groups)
    bounds = sse_bounds(X, groups, CLUSTER_COUNTS, DELTAS)
    assert (bounds >= 0).all() and (bounds <= least_errors(X, groups) * (1 + 1e-12) + 1e-12).all()
    assert (np.diff(bounds, axis=0) <= 0).all() and (np.diff(bounds, axis=1) <= 0).all()


def test_the_median_bound_of_small_tables_exceeds_0_85_of_the_optimum():
    ratios = []
    for seed in range(1, 30, 2):  # odd seeds: groups of equal size
        X, groups = small_table(seed, 2)
        bounds, optima = sse_bounds(X, groups, CLUSTER_COUNTS, [0.0])[0], least_errors(X, groups)[0]
        ratios.append((bounds / np.maximum(optima, 1e-9))[1:])
    assert np.median(ratios) > 0.85


class TestEquality:
    def test_pairs_that_stay_together_reach_the_bound(self):
        """Each cluster is a pair that the cheapest transport joins, so SSE = n r_0 r_1 W_2^2."""
        first_group = np.array([[0.0, 0.0], [10.0, 3.0], [-4.0, 7.0]])
        X, groups = np.vstack([first_group, first_group + np.array([1.0, 0.5])]), np.repeat([0, 1], 3)
        assert sse_bounds(X, groups, [3], [0.0]) == pytest.approx(3 * 1.25 / 2, rel=1e-4)

    def test_the_bound_for_one_cluster_is_the_error_of_the_whole_table(self):
        X = np.random.default_rng(0).normal(size=(40, 3))
        assert sse_bounds(X, np.arange(40) % 2, [1], [0.0, 0.5]) == pytest.approx(np.square(X - X.mean(axis=0)).sum(), rel=1e-8)

    def test_clusters_of_one_instance_cost_less_than_the_bound_for_delta_0(self):
        """The docs warn of this case: such clusters cost nothing, and are as fair as whole instances allow."""
        X, groups = np.array([[0.0], [5.0]]), np.array([0, 1])
        assert sse_bounds(X, groups, [2], [0.0, 1.0]).ravel() == pytest.approx([12.5, 0], abs=1e-6)


def cheapest_transport(costs, row_interval, column_interval):
    """The least cost of a transport whose row sums and column sums lie in these intervals, by linear programming."""
    m, n = costs.shape
    sums = scipy.sparse.vstack(
        [scipy.sparse.kron(scipy.sparse.eye(m), np.ones((1, n))), scipy.sparse.kron(np.ones((1, m)), scipy.sparse.eye(n))]
    )
    low, high = (np.repeat([row_interval[end], column_interval[end]], [m, n]) for end in (0, 1))
    return linprog(costs.ravel(), scipy.sparse.vstack([sums, -sums]), np.concatenate([high, -low]), method="highs").fun


@pytest.mark.parametrize("kind", ["normal", "far outliers", "duplicates", "one column"])
def test_the_bounds_for_intervals_of_shares_are_close_to_the_exact_cost(kind):
    rng = np.random.default_rng(3)
    rows, columns = rng.normal(size=(30, 3)), rng.normal(size=(20, 3)) + 0.5
    if kind == "far outliers":
        rows, columns = np.exp(3 * rows), np.exp(3 * columns)
    elif kind == "duplicates":
        rows, columns = np.repeat(rows[:6], 5, axis=0), np.repeat(columns[:4], 5, axis=0)
    elif kind == "one column":
        columns = columns[:1]
    shares = np.array([len(rows), len(columns)]) / (len(rows) + len(columns))
    intervals = [share_intervals(shares, delta) for delta in (0, 0.1, 0.3, 0.6)]
    # The rows are one group and the columns another. The mass of a row is a share of the other group, and vice versa.
    row_intervals, column_intervals = ([(low[group], high[group]) for low, high in intervals] for group in (1, 0))
    bounds = transport_bounds(rows, columns, row_intervals, column_intervals)
    costs = np.square(rows[:, None] - columns[None]).sum(axis=2)
    exact = [cheapest_transport(costs, *intervals) for intervals in zip(row_intervals, column_intervals)]
    assert (bounds <= np.multiply(exact, 1 + 1e-7)).all() and (bounds >= np.multiply(exact, 0.98)).all()
    swapped = transport_bounds(columns, rows, column_intervals, row_intervals)
    assert swapped == pytest.approx(bounds, rel=0.02)


def test_the_bound_is_nearly_exact_for_large_sets_too():
    """With 1600 points in each set, the problem is first solved on every eighth point and then on all."""
    rng = np.random.default_rng(5)
    n = 1600
    rows, columns = rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) * 1.5 + 1
    costs = np.square(rows[:, None] - columns[None]).sum(axis=2)
    exact = costs[linear_sum_assignment(costs)].mean()
    intervals = [(1 / n, 1 / n), (0.5 / n, 2 / n)]
    bounds = transport_bounds(rows, columns, intervals, intervals)
    assert 0.98 * exact < bounds[0] <= exact and 0 < bounds[1] < bounds[0]


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.1, 0.9], [0.2, 0.3, 0.5], [1.0]])
@pytest.mark.parametrize("delta", DELTAS)
def test_intervals_of_shares_contain_the_shares(shares, delta):
    low, high = share_intervals(np.array(shares), delta)
    assert (low <= shares).all() and (shares <= high).all() and (low >= 0).all() and (high <= 1).all()
    if len(shares) == 2:
        assert low + high[::-1] == pytest.approx([1, 1]), "the least share of one group is 1 minus the largest of the other"
    if len(shares) == 1 or delta == 0:
        assert low.sum() == pytest.approx(1)
    else:
        assert low.sum() < 1


@settings(max_examples=60)
@given(st.data())
def test_any_labels_cost_at_least_the_bound_for_the_delta_that_they_reach(data):
    n = data.draw(st.integers(1, 12))
    numbers = st.one_of(
        st.integers(-3, 3), st.floats(-1e6, 1e6, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-3)
    )
    X = np.array(data.draw(st.lists(numbers, min_size=2 * n, max_size=2 * n)), dtype=float).reshape(n, 2)
    groups = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    labels = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    labels = np.unique(labels, return_inverse=True)[1]
    error, composition = sse(X, labels), counts_of(labels, groups, labels.max() + 1).T
    bound = sse_bounds(X, groups, [len(composition)], [delta_min(composition, np.bincount(groups))])[0, 0]
    assert 0 <= bound <= error * (1 + 1e-12) + 1e-9 * np.square(X - X.mean(axis=0)).sum()


class TestInput:
    def table(self):
        rng = np.random.default_rng(1)
        return rng.normal(size=(30, 2)), np.arange(30) % 3

    def test_bounds_depend_neither_on_the_names_of_groups_nor_on_the_origin(self):
        X, groups = self.table()
        expected = sse_bounds(X, groups, [4], [0.1])
        assert (sse_bounds(X, groups * 7 - 3, [4], [0.1]) == expected).all()
        assert sse_bounds(X + 1000, groups, [4], [0.1]) == pytest.approx(expected, rel=1e-3)

    @pytest.mark.parametrize("unit", [2.0**-200, 2.0**200])
    def test_bounds_scale_with_the_square_of_the_unit(self, unit):
        X, groups = self.table()
        assert (sse_bounds(X * unit, groups, [3], [0.1]) == sse_bounds(X, groups, [3], [0.1]) * unit * unit).all()

    @pytest.mark.parametrize(
        ("X", "groups", "n_clusters", "deltas", "message"),
        [
            (np.zeros((2, 1)), [0, 1], [0], [0.0], "at least 1 cluster, not 0"),
            (np.zeros((2, 1)), [0, 1], [1], [-0.1], "delta must be from 0 to 1"),
            (np.zeros((2, 1)), [0, 1], [1], [1.1], "delta must be from 0 to 1"),
            (np.zeros((2, 1)), [0, 1], [1], [np.nan], "delta must be from 0 to 1"),
            (np.zeros((2, 1)), [0], [1], [0.0], "2 instances need as many groups"),
            (np.zeros((0, 1)), [], [1], [0.0], "at least one instance"),
            (np.array([[np.nan]]), [0], [1], [0.0], "finite"),
            (np.array([[1e101], [0.0]]), [0, 1], [1], [0.0], "larger unit"),
        ],
    )
    def test_unusable_input_is_refused(self, X, groups, n_clusters, deltas, message):
        with pytest.raises(ClusterletsError, match=message):
            sse_bounds(X, groups, n_clusters, deltas)
