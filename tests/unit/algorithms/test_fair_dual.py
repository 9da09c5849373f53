"""The bound of the dual of fair assignment is close to the optimum of the linear program, and never above it."""

from math import log

import numpy as np
import pytest
from fair_tables import dual_of, squared_distances, table
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, kron

import clusterlets.algorithms.fair_dual as module
from clusterlets.algorithms.limits import limits_of_fit

KINDS = ["plain", "duplicates", "apart", "offset", "equal"]


def problem(seed, n, k, n_groups, kind="plain"):
    """Costs (n, k) and groups (n,). For every fourth seed, each group but the first has a single instance."""
    rng = np.random.default_rng(seed)
    X, groups = table(rng, n, n_groups, kind, singletons=seed % 4 == 3)
    return squared_distances(X, X[rng.choice(n, k, replace=False)]) + 1000 * (kind == "offset"), groups


def linear_program_optimum(costs, weights, groups, rows, slack):
    """The least cost of a fractional assignment with ``rows @ counts <= slack``."""
    (n, k), (n_rows, n_groups) = costs.shape, rows.shape
    group_weights = csr_array((weights, (groups, np.arange(n))), shape=(n_groups, n))
    constraints = kron(csr_array(rows) @ group_weights, eye_array(k)) if n_rows else None
    row_sums = kron(eye_array(n), np.ones((1, k)))
    solution = linprog(
        (costs * weights[:, None]).ravel(), constraints, slack.ravel() if n_rows else None, row_sums, np.ones(n), (0, None)
    )
    assert solution.status == 0
    return solution.fun


def bound_and_optimum(costs, groups, delta, is_exact=False):
    """The dual's bound, and the least cost according to the linear program. Limits hold up to whole counts or exactly."""
    rows, (slack,) = limits_of_fit(groups, costs.shape[1], delta)
    weights, slack = np.ones(len(costs)), 0 * slack if is_exact else slack
    return dual_of(costs, weights, groups, rows, slack).bound, linear_program_optimum(costs, weights, groups, rows, slack)


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
    bound, optimum = bound_and_optimum(costs, groups, delta, is_exact)
    assert bound <= optimum * (1 + 1e-9) + 1e-9
    assert bound >= optimum - 0.05 * abs(optimum) - 1e-9  # a wide margin, because small tables are the hardest


@pytest.mark.parametrize("kind", ["plain", "duplicates", "apart", "offset"])
@pytest.mark.parametrize(("n_groups", "delta"), [(1, 0.0), (2, 0.0), (5, 0.2)])
def test_the_bound_is_within_a_thousandth_of_the_optimum(kind, n_groups, delta):
    for seed in (1, 2):
        costs, groups = problem(seed, 500, 6, n_groups, kind)
        bound, optimum = bound_and_optimum(costs, groups, delta)
        assert optimum * (1 - 1e-3) <= bound <= optimum * (1 + 1e-9)


@pytest.mark.parametrize("n_groups", [2, 3])
def test_a_weight_counts_like_repeated_rows(n_groups):
    costs, groups = problem(1, 200, 4, n_groups)
    repeats = np.random.default_rng(0).integers(1, 6, size=200)
    repeated_costs, repeated_groups = np.repeat(costs, repeats, axis=0), np.repeat(groups, repeats)
    rows, (slack,) = limits_of_fit(repeated_groups, 4, 0.1)
    weighted = dual_of(costs, repeats.astype(float), groups, rows, slack)
    repeated = dual_of(repeated_costs, np.ones(repeats.sum()), repeated_groups, rows, slack)
    assert weighted.bound == pytest.approx(repeated.bound, rel=1e-6)
    assert weighted.counts == pytest.approx(repeated.counts, abs=0.5)
    optimum = linear_program_optimum(costs, repeats.astype(float), groups, rows, slack)
    assert optimum * (1 - 1e-3) <= weighted.bound <= optimum * (1 + 1e-9)


def test_the_bound_is_close_even_if_half_of_the_distances_are_0_up_to_rounding():
    """Half of the rows lie at a centre, up to rounding. The bound on the cost of the other rows must still be close."""
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=60), np.repeat([0, 1], 30)
    X[:30] = X[0]
    costs = np.square(X[:, None] - np.r_[X[0] + 1e-13, X[30:34]])
    costs = np.maximum(costs - costs.min(axis=1, keepdims=True), 1e-30)
    bound, optimum = bound_and_optimum(costs, groups, 0.0)
    # An optimum above 5 cannot consist of rounding errors.
    assert 5 < 0.98 * optimum <= bound <= optimum * (1 + 1e-9)


def test_exponentials_and_logarithms_are_accurate():
    values = np.linspace(0, 30, 400)
    exponentials = values.copy()
    # Kernels alone call these functions, so they are compiled once more, for Python.
    compute_exponentials, compute_log = (njit(getattr(f, "py_func", f)) for f in (module._exponentials, module._log))
    compute_exponentials(exponentials, 399)
    assert exponentials[:399] == pytest.approx(np.exp(-np.minimum(values[:399], 24)), abs=1e-9)
    assert exponentials[:50] == pytest.approx(np.exp(-values[:50]), rel=1e-8)
    assert exponentials[399] == values[399]  # only the first values are replaced
    for x in np.concatenate([10.0 ** np.linspace(-300, 300, 200), np.linspace(0.5, 2, 100)]):
        assert compute_log(x) == pytest.approx(log(x), rel=1e-12, abs=1e-12)


def blobs(sizes, distance=30.0):
    """Costs to the means of one-dimensional blobs that are far apart, and alternating groups."""
    means = distance * np.arange(len(sizes))
    X = np.repeat(means, sizes) + np.random.default_rng(0).normal(size=sum(sizes))
    return squared_distances(X[:, None], means[:, None]), np.arange(len(X)) % 2


def solve(costs, groups, constraints, slack, multipliers=None, temperatures=(1.0, 0.1, 0.01), tolerance=0.1):
    """The dual with the same slack (R,) in all clusters."""
    slack = np.repeat(np.array(slack, float)[:, None], costs.shape[1], axis=1)
    weights = np.ones(len(costs))
    return module.solve_dual(
        costs, weights, groups, 2, np.array(constraints, float), slack, multipliers, temperatures, tolerance
    )


def test_sizes_are_constraints_like_any_other():
    """Blobs of 20, 80 and 100 rows become clusters of 50 to 75 rows."""
    costs, groups = blobs([20, 80, 100])
    constraints, slack = [[-1, -1], [1, 1]], [-50, 75]
    dual = solve(costs, groups, constraints, slack)
    sizes = dual.counts.sum(axis=0)
    assert sizes.sum() == pytest.approx(200) and sizes.min() >= 49.8 and sizes.max() <= 75.2
    slacks = np.repeat(np.array(slack)[:, None], 3, axis=1)
    optimum = linear_program_optimum(costs, np.ones(200), groups, np.array(constraints), slacks)
    assert optimum * (1 - 1e-3) <= dual.bound <= optimum * (1 + 1e-9)


@pytest.mark.parametrize("stale", [-1e4, 1e4])
def test_multipliers_that_no_row_feels_are_rescued(stale):
    """A multiplier of the first cluster is so large that this cluster has all rows or none, and no row is near its border."""
    costs, groups = blobs([60, 70, 70])
    multipliers, prices = np.zeros((2, 3)), np.empty((2, 3))
    multipliers[int(stale > 0), 0] = abs(stale)
    constraints, slack = np.array([[-1.0, -1.0], [1.0, 1.0]]), np.repeat([[-65.0], [80.0]], 3, axis=1)
    rescued = multipliers.copy()
    problem = module.FairAssignment(np.ones(200), groups, 2, constraints, slack).problem(costs)
    module._rescue(problem, 0.01, 0.1, rescued, prices)
    sizes = np.bincount((costs + rescued[1] - rescued[0]).argmin(axis=1), minlength=3)
    assert 64 <= sizes.min() <= sizes.max() <= 81
    dual = solve(costs, groups, constraints, [-65, 80], multipliers, temperatures=(0.01,))
    assert dual.bound >= 0.99 * solve(costs, groups, constraints, [-65, 80]).bound > 0


def test_a_small_cluster_may_be_off_by_a_few_per_cent_of_its_size_only():
    costs, groups = blobs([10, 990])
    dual = solve(costs, groups, [[-1, -1]], [-14], tolerance=50.0)
    assert dual.counts.sum(axis=0)[0] >= 14 - (0.3 + 0.05 * 14)


def test_temperatures_are_multiples_of_the_mean_least_cost():
    costs, groups = problem(1, 300, 4, 2)
    rows, (slack,) = limits_of_fit(groups, 4, 0.1)
    dual, scaled = (dual_of(factor * costs, np.ones(300), groups, rows, slack) for factor in (1.0, 2.0**20))
    assert np.array_equal(scaled.counts, dual.counts) and np.array_equal(scaled.multipliers, 2.0**20 * dual.multipliers)


def test_near_clusters_give_the_counts_and_the_value_of_all_clusters():
    """Ten centres among 2,000 rows: during the search, prices move far, so near clusters are listed anew."""
    costs, groups = problem(2, 2000, 10, 3)
    rows, (slack,) = limits_of_fit(groups, 10, 0.02)
    dual = dual_of(costs, np.ones(2000), groups, rows, slack)
    values = costs + dual.prices[groups]
    parts = np.exp((values.min(axis=1, keepdims=True) - values) / dual.temperature)
    parts /= parts.sum(axis=1, keepdims=True)
    counts = np.stack([parts[groups == group].sum(axis=0) for group in range(3)])
    assert dual.counts == pytest.approx(counts, abs=0.05)
    units = np.maximum(0, rows.max(axis=1)) - np.minimum(0, rows.min(axis=1))
    value = values.min(axis=1).sum() - (slack / units[:, None] * dual.multipliers).sum()
    assert value <= dual.bound * (1 + 1e-12) and value >= 0.999 * dual.bound


def test_the_means_are_those_of_the_fractional_clusters():
    """Groups of 1, 33 and 466 rows do not fill their tiles. The twelfth cluster gets no row, and keeps its centre."""
    rng = np.random.default_rng(0)
    X, groups, weights = rng.normal(size=(500, 3)), rng.permutation(np.repeat([0, 1, 2], [1, 33, 466])), rng.uniform(1, 3, 500)
    centres = np.r_[X[:11], [[1e3, 1e3, 1e3]]]
    constraints, slack = np.array([[0.0, 1.0, 0.0]]), np.full((1, 12), 12.0)
    dual = module.FairAssignment(weights, groups, 3, constraints, slack).solve_at(X, centres, None, (0.1, 0.03), 0.1)
    values = squared_distances(X, centres) + dual.prices[groups]
    parts = np.exp((values.min(axis=1, keepdims=True) - values) / dual.temperature) * weights[:, None]
    parts *= weights[:, None] / parts.sum(axis=1, keepdims=True)
    parts = parts[:, :11]
    assert dual.means[:11] == pytest.approx(parts.T @ X / parts.sum(axis=0)[:, None], abs=1e-4)
    assert dual.means[11].tolist() == centres[11].tolist() and dual.counts[1].max() <= 12.2


def test_clusters_beyond_the_first_word_of_bits_are_listed():
    """With 70 clusters, the bits of near clusters take three numbers."""
    costs, groups = problem(5, 400, 70, 2)
    bound, optimum = bound_and_optimum(costs, groups, 0.2)
    assert optimum * (1 - 0.02) <= bound <= optimum * (1 + 1e-9)


@given(st.lists(st.tuples(*[st.sampled_from([-1.0, -0.0, 0.0, 1.0])] * 2), max_size=8))
def test_every_constraint_that_has_a_free_opposite_is_paired(rows):
    constraints = np.array(rows).reshape(-1, 2)
    pairs = module._opposites(constraints, np.zeros((len(rows), 3)))
    assert all(first < second and (constraints[first] == -constraints[second]).all() for first, second in pairs.items())
    paired = [*pairs, *pairs.values()]
    assert len(set(paired)) == len(paired)
    free = [index for index in range(len(rows)) if index not in paired]
    assert not any((constraints[i] == -constraints[j]).all() for i in free for j in free if i != j)
