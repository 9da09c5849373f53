"""The bound of the dual of fair assignment is close to the optimum of the linear program, and never above it."""

from math import exp, log

import numpy as np
import pytest
from fair_tables import squared_distances, table
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, kron

import clusterlets.algorithms.fair_dual as module
from clusterlets.algorithms.fair_assignment import share_bounds, slack_for_whole_counts
from clusterlets.algorithms.fair_dual import share_rows, solve_dual

KINDS = ["plain", "duplicates", "apart", "offset", "equal"]


def problem(seed, n, k, n_groups, kind="plain"):
    """Costs (n, k) and groups (n,). For every fourth seed, each group but the first has a single instance."""
    rng = np.random.default_rng(seed)
    X, groups = table(rng, n, n_groups, kind, singletons=seed % 4 == 3)
    return squared_distances(X, X[rng.choice(n, k, replace=False)]) + 1000 * (kind == "offset"), groups


def linear_program_optimum(costs, weights, groups, low, high, slack):
    """The least cost of a fractional assignment whose counts miss the bounds on shares by at most ``slack`` instances."""
    (n, k), n_groups = costs.shape, len(low)
    # The constraints are the same for every cluster.
    constraints = np.concatenate([low[:, None] - np.eye(n_groups), np.eye(n_groups) - high[:, None]])
    group_weights = csr_array((weights, (groups, np.arange(n))), shape=(n_groups, n))
    share_constraints = kron(csr_array(constraints) @ group_weights, eye_array(k))
    row_sums = kron(eye_array(n), np.ones((1, k)))
    limits = np.full(share_constraints.shape[0], slack)
    solution = linprog(
        (costs * weights[:, None]).ravel(), share_constraints, limits, row_sums, np.ones(n), (0, None), method="highs"
    )
    assert solution.status == 0
    return solution.fun


def bound_and_optimum(costs, groups, delta, slack):
    """The dual's bound, and the least cost according to the linear program."""
    (low, high), weights = share_bounds(groups, delta), np.ones(len(costs))
    bound = solve_dual(costs, weights, groups, len(low), share_rows(low, high), slack).bound
    return bound, linear_program_optimum(costs, weights, groups, low, high, slack)


@settings(max_examples=80)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(6, 120),
    k=st.integers(1, 6),
    n_groups=st.integers(1, 6),
    kind=st.sampled_from(KINDS),
    delta=st.sampled_from([0.0, 0.05, 0.3, 0.8]),
    is_exact=st.booleans(),
)
def test_the_bound_is_never_above_the_optimum_and_hardly_below(seed, n, k, n_groups, kind, delta, is_exact):
    costs, groups = problem(seed, n, k, n_groups, kind)
    bound, optimum = bound_and_optimum(costs, groups, delta, 0.0 if is_exact else slack_for_whole_counts(n, delta))
    assert bound <= optimum * (1 + 1e-9) + 1e-9
    assert bound >= optimum - 0.05 * abs(optimum) - 1e-9  # a wide margin, because small tables are the hardest


@pytest.mark.parametrize("kind", ["plain", "duplicates", "apart", "offset"])
@pytest.mark.parametrize(("n_groups", "delta"), [(1, 0.0), (2, 0.0), (2, 0.2), (3, 0.0), (5, 0.2)])
def test_the_bound_is_within_a_thousandth_of_the_optimum(kind, n_groups, delta):
    for seed in range(1, 4):
        costs, groups = problem(seed, 500, 6, n_groups, kind)
        bound, optimum = bound_and_optimum(costs, groups, delta, slack_for_whole_counts(500, delta))
        assert optimum * (1 - 1e-3) <= bound <= optimum * (1 + 1e-9)


@pytest.mark.parametrize("n_groups", [2, 3])
def test_a_weight_counts_like_repeated_rows(n_groups):
    costs, groups = problem(1, 200, 4, n_groups)
    repeats = np.random.default_rng(0).integers(1, 6, size=200)
    repeated_costs, repeated_groups = np.repeat(costs, repeats, axis=0), np.repeat(groups, repeats)
    low, high = share_bounds(repeated_groups, 0.1)
    constraints = share_rows(low, high)
    weighted = solve_dual(costs, repeats.astype(float), groups, n_groups, constraints, 1.0)
    repeated = solve_dual(repeated_costs, np.ones(repeats.sum()), repeated_groups, n_groups, constraints, 1.0)
    assert weighted.bound == pytest.approx(repeated.bound, rel=1e-6)
    assert weighted.counts == pytest.approx(repeated.counts, abs=0.5)
    optimum = linear_program_optimum(costs, repeats.astype(float), groups, low, high, 1.0)
    assert optimum * (1 - 1e-3) <= weighted.bound <= optimum * (1 + 1e-9)


def test_the_bound_is_close_even_if_half_of_the_distances_are_0_up_to_rounding():
    """Half of the rows lie at a centre, up to rounding. The bound on the cost of the other rows must still be close."""
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=60), np.repeat([0, 1], 30)
    X[:30] = X[0]
    costs = np.square(X[:, None] - np.r_[X[0] + 1e-13, X[30:34]])
    costs = np.maximum(costs - costs.min(axis=1, keepdims=True), 1e-30)
    bound, optimum = bound_and_optimum(costs, groups, 0.0, 59 / 60)  # the slack for exact shares of 60 rows
    # An optimum above 5 cannot consist of rounding errors.
    assert 5 < 0.98 * optimum <= bound <= optimum * (1 + 1e-9)


@given(
    shares=st.lists(st.integers(1, 20), min_size=1, max_size=5),
    counts=st.lists(st.integers(0, 9), min_size=5, max_size=5),
    delta=st.sampled_from([0.0, 0.1, 0.4, 0.9]),
)
def test_constraints_hold_if_and_only_if_the_shares_are_within_the_bounds(shares, counts, delta):
    cluster_counts = np.array(counts[: len(shares)])
    low, high = share_bounds(np.repeat(np.arange(len(shares)), shares), delta)
    size = cluster_counts.sum()
    within_bounds = (cluster_counts >= low * size - 1e-9).all() and (cluster_counts <= high * size + 1e-9).all()
    constraints = share_rows(low, high)
    # The product may round a count that just meets the tolerance of 1e-9.
    assert within_bounds == bool((constraints @ cluster_counts <= 1e-9 * (1 + 1e-3)).all())
    assert len(constraints) == (2 if len(shares) == 2 else 2 * len(shares))


def test_exponentials_and_logarithms_are_accurate_to_twelve_digits():
    values = np.concatenate([np.linspace(0, 40, 400), [41.0, 1e9]])
    exponentials = values.copy()
    module._exponentials(exponentials, 0.0, 1.0)
    # Values above 40 count as 40.
    assert exponentials == pytest.approx([exp(-min(value, 40)) for value in values], rel=1e-12)
    for x in np.concatenate([10.0 ** np.linspace(-300, 300, 200), np.linspace(0.5, 2, 100)]):
        assert module._log(x, 13) == pytest.approx(log(x), rel=1e-12, abs=1e-15)  # 13 terms of the series
