"""The dual of fair assignment at given centres: prices of the clusters at which the groups' shares stay within bounds.

Fair assignment is a linear program. Each instance goes to one cluster or is divided among several. In every cluster, the counts
m of the groups must meet ``constraints @ m <= slack``.

The dual has a multiplier of at least 0 for each constraint and cluster. The multipliers give every group a price in every
cluster, and each instance goes to the cluster with the least sum of cost and price. The value of the dual is a lower bound on
the cost of every assignment that meets the constraints.

The minimum over clusters is smoothed at falling temperatures. At each temperature, damped Newton steps raise the dual. The
arithmetic consists of sums, products and roots in a fixed order, so every processor gives the same bits.

Each step evaluates only the near clusters of an instance. A cluster is near an instance if its cost plus price is within a few
temperatures of the least. At a low temperature, most instances have one
near cluster. Sums over these are kept, and each step evaluates only the other instances. Once prices have moved too far, near
clusters are listed again. Until then, only a near cluster can become the cheapest, so the bound stays exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import frexp

import numpy as np
from numba import njit

from clusterlets.algorithms.compiled import compiled, inner

_MAX_STEPS = 30  # at each temperature; more steps hardly raise the bound
_ROUNDING = 1e-20  # as a fraction of the mean cost: smaller costs are rounding errors
_MAX_DAMPING = 1e12  # the search at a temperature ends if a step needs more damping
_LN2 = 0.6931471805599453
_REACH = 18.0  # in temperatures above the least cost plus price: a costlier cluster gets less than 2e-8 of the instance
_MARGIN = 6.0  # in temperatures: price differences may change by this much before near clusters are listed again


@dataclass(frozen=True)
class FairDual:
    """A solution of the dual: no assignment that meets the constraints costs less than ``bound`` at these centres.

    ``multipliers`` (R, k) are those of R constraints in k clusters. ``prices`` (K, k) are what an instance of each group pays
    in each cluster on top of its cost. ``counts`` (K, k) are the numbers of instances of each group in each cluster, with
    fractions. ``temperature`` is the last one of the search, in units of the costs.
    """

    bound: float
    multipliers: np.ndarray
    prices: np.ndarray
    counts: np.ndarray
    temperature: float


def solve_sparse_dual(
    costs: np.ndarray,
    weights: np.ndarray,
    groups: np.ndarray,
    n_groups: int,
    constraints: np.ndarray,
    slack: np.ndarray,
    multipliers: np.ndarray | None,
    temperatures: Sequence[float],
    tolerance: float,
) -> FairDual:
    """Raise the dual until its assignment nearly meets ``constraints @ counts <= slack``, or until the steps run out.

    Parameters
    ----------
    costs : float array (n, k)
        Finite and not negative.
    weights : float array (n,)
        Number of instances that each row stands for.
    groups : int array (n,)
        0..K-1.
    n_groups : int
        K.
    constraints, slack : float arrays (R, K), (R, k)
    multipliers : float array (R, k) or None
        Where the search starts, by default at 0. If they come from nearby centres, the last temperature is enough.
    temperatures : sequence of float
        Used one after the other, as multiples of the mean cost of an instance's nearest cluster. At a temperature of 1, other
        clusters get large parts of an instance, and at .01, the nearest cluster gets nearly all of it.
    tolerance : float
        A constraint may be off by this many instances.

    Notes
    -----
    O(n k + (R k)^3) time per step.
    """
    all_multipliers = np.zeros(slack.shape) if multipliers is None else multipliers.copy()
    # A constraint and its opposite form an equality. It needs only one multiplier, which may have either sign.
    firsts, seconds = np.array(_opposites(constraints, slack), dtype=np.int64).reshape(-1, 2).T
    independent = np.setdiff1d(np.arange(len(constraints)), seconds)
    minima = np.where(np.isin(independent, firsts), -np.inf, 0.0)
    all_multipliers[firsts] -= all_multipliers[seconds]
    dual = _maximise(
        costs,
        weights,
        groups,
        n_groups,
        constraints[independent],
        slack[independent],
        minima,
        all_multipliers[independent],
        temperatures,
        tolerance,
    )
    all_multipliers[independent] = dual.multipliers
    all_multipliers[seconds] = np.maximum(0.0, -all_multipliers[firsts])
    return replace(dual, multipliers=np.maximum(0.0, all_multipliers))


def _maximise(costs, weights, groups, n_groups, constraints, slack, minima, multipliers, temperatures, tolerance) -> FairDual:
    """Raise the dual at one temperature after the other, starting from ``multipliers`` (R, k), which are overwritten.

    ``minima`` (R,) are lower limits of the multipliers.
    """
    mean_least_cost = float((weights * costs.min(axis=1)).sum() / weights.sum())
    mean_cost = float(costs.mean())
    unit = (mean_least_cost if mean_least_cost > _ROUNDING * mean_cost else mean_cost) or 1.0  # of the temperatures
    counts, prices = np.empty((n_groups, costs.shape[1])), np.empty((n_groups, costs.shape[1]))
    bound = -np.inf
    for temperature in temperatures:
        value = _ascend(
            costs,
            weights,
            groups,
            np.ascontiguousarray(constraints),
            np.ascontiguousarray(slack),
            minima,
            temperature * unit,
            tolerance,
            multipliers,
            prices,
            counts,
        )
        bound = max(bound, value)
    return FairDual(bound, multipliers, prices, counts, temperatures[-1] * unit)


def _opposites(constraints: np.ndarray, slack: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of opposite constraints, which together fix a sum in every cluster; no constraint is in two pairs."""
    is_opposite = (constraints[:, None] == -constraints).all(axis=2) & (slack[:, None] == -slack).all(axis=2)
    pairs: list[tuple[int, int]] = []
    for first, second in np.argwhere(np.triu(is_opposite, 1)).tolist():
        if not any({first, second} & set(pair) for pair in pairs):
            pairs.append((first, second))
    return pairs


def fractional_means(
    X: np.ndarray, costs: np.ndarray, weights: np.ndarray, groups: np.ndarray, dual: FairDual, centres: np.ndarray
) -> np.ndarray:
    """Means (k, d) of the rows, weighted by their fractions in each cluster at the dual's last temperature.

    A cluster that gets no part of any row keeps its row of ``centres``. If ``centres`` has fewer than k rows, the first row
    stands in for the missing ones.
    """
    means = np.empty((costs.shape[1], X.shape[1]))
    means[: len(centres)], means[len(centres) :] = centres, centres[0]
    _means(X, costs, weights, groups, dual.prices, dual.temperature, means)
    return means


# ---- Newton steps -----------------------------------------------------------------------------------------------------


@njit
def _solve(matrix, right, size):
    """Solve the first ``size`` equations of a linear system by Cholesky; ``right`` becomes the solution.

    The matrix is overwritten. Returns False if the matrix is not positive definite.
    """
    for i in range(size):
        for j in range(i + 1):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            if i == j:
                if value <= 0:
                    return False
                matrix[i, i] = np.sqrt(value)
            else:
                matrix[i, j] = value / matrix[j, j]
    for i in range(size):
        for j in range(i):
            right[i] -= matrix[i, j] * right[j]
        right[i] /= matrix[i, i]
    for i in range(size - 1, -1, -1):
        for j in range(i + 1, size):
            right[i] -= matrix[j, i] * right[j]
        right[i] /= matrix[i, i]
    return True


@inner
def _newton_system(constraints, curvature, temperature, free, n_free, gradient, damping, matrix, right):
    """Fill in the damped Newton system of the free multipliers: the lower half of the matrix, and the right side."""
    k = curvature.shape[1]
    largest_curvature = 0.0
    for i in range(n_free):
        constraint_i, cluster_i = free[i] // k, free[i] % k
        right[i] = gradient[constraint_i, cluster_i]
        for j in range(i + 1):
            constraint_j, cluster_j = free[j] // k, free[j] % k
            larger, smaller = max(cluster_i, cluster_j), min(cluster_i, cluster_j)
            total = 0.0
            for group in range(constraints.shape[1]):
                total += constraints[constraint_i, group] * constraints[constraint_j, group] * curvature[group, larger, smaller]
            matrix[i, j] = total / temperature
        largest_curvature = max(largest_curvature, matrix[i, i])
    # Where the dual is flat, a thousandth of its largest curvature keeps the steps finite.
    floor = 1e-3 * largest_curvature if largest_curvature > 0 else 1.0
    for i in range(n_free):
        matrix[i, i] += damping * (matrix[i, i] + floor) + 1e-10 * floor


@inner
def _free_multipliers(constraints, counts, slack, minima, multipliers, gradient, free):
    """Fill in the gradient and the indices of the free multipliers; return their number and their largest absolute gradient.

    A multiplier is free unless it is at its minimum and its constraint is met.
    """
    k = multipliers.shape[1]
    n_free, largest_gradient = 0, 0.0
    for constraint in range(constraints.shape[0]):
        for cluster in range(k):
            total = -slack[constraint, cluster]
            for group in range(constraints.shape[1]):
                total += constraints[constraint, group] * counts[group, cluster]
            gradient[constraint, cluster] = total
            if total > 0 or multipliers[constraint, cluster] > minima[constraint]:
                free[n_free] = constraint * k + cluster
                n_free += 1
                largest_gradient = max(largest_gradient, abs(total))
    return n_free, largest_gradient


@inner
def _copy(source, target):
    """Copy in a loop, because Numba would take seconds to compile ``target[:] = source``."""
    for row in range(source.shape[0]):
        for column in range(source.shape[1]):
            target[row, column] = source[row, column]


@inner
def _step(constraints, minima, curvature, temperature, free, n_free, gradient, damping, matrix, right, multipliers, trial):
    """Fill in trial multipliers by a Newton step; return the damping of the step and the gain that the gradient predicts.

    The damping grows until the system is solvable. It reaches ``_MAX_DAMPING`` if the system never is.
    """
    k, predicted_gain = multipliers.shape[1], 0.0
    while damping < _MAX_DAMPING:
        _newton_system(constraints, curvature, temperature, free, n_free, gradient, damping, matrix, right)
        if _solve(matrix, right, n_free):
            _copy(multipliers, trial)
            for i in range(n_free):
                constraint, cluster = free[i] // k, free[i] % k
                trial[constraint, cluster] = max(minima[constraint], trial[constraint, cluster] + right[i])
                predicted_gain += gradient[constraint, cluster] * (
                    trial[constraint, cluster] - multipliers[constraint, cluster]
                )
            break
        damping *= 10
    return damping, predicted_gain


@inner
def _judge_trial(trial_value, value, predicted_gain, steps, damping):
    """Whether to accept a trial, and the next damping. A trial, except the first, must reach a fifth of the predicted gain."""
    if steps == 0:
        return True, damping
    if not (predicted_gain > 0 and trial_value >= value + 0.2 * predicted_gain):
        return False, max(4 * damping, 1e-4)
    lower_damping = max(0.2 * damping, 1e-9)
    return True, (lower_damping if trial_value >= value + 0.4 * predicted_gain else damping)


@njit  # not @inner, because a test calls it from Python
def _log(x):
    """log(x) of a positive number, by operations that every processor rounds alike. The error is below 1e-15."""
    mantissa, exponent = frexp(x)
    if mantissa < 0.7071067811865476:
        mantissa, exponent = 2 * mantissa, exponent - 1
    s = (mantissa - 1) / (mantissa + 1)
    value, square = 0.0, s * s
    for power in range(9, -1, -1):
        value = value * square + 2.0 / (2 * power + 1)
    return exponent * _LN2 + s * value


# ---- the near clusters of each instance --------------------------------------------------------------------------------


@inner
def _exponential(x):
    """exp(-x) for x from 0 to 40: the series of exp(-x / 64), squared six times."""
    x *= -0.015625
    total = 1.0 + x * (1 / 10.0)
    for power in range(9, 0, -1):
        total = 1.0 + x * (1.0 / power) * total
    for _ in range(6):
        total *= total
    return total


@inner
def _cheapest_cluster(costs, prices, row, group):
    """The least cost plus price of an instance, and the cluster where it is reached."""
    least, cheapest = costs[row, 0] + prices[group, 0], 0
    for cluster in range(1, costs.shape[1]):
        value = costs[row, cluster] + prices[group, cluster]
        if value < least:
            least, cheapest = value, cluster
    return least, cheapest


@inner
def _list_near_clusters(costs, weights, groups, prices, max_excess, sure_counts, sure_costs):
    """List the near clusters of each instance: their cost plus price is within ``max_excess`` of the least.

    An instance with one near cluster is sure, any other is unsure. ``sure_counts`` and ``sure_costs`` become the sums over sure
    instances. Returns the unsure ones, their number, and their near clusters as sparse rows: row starts, clusters, and costs.
    """
    n, k = costs.shape
    for group in range(sure_counts.shape[0]):
        for cluster in range(k):
            sure_counts[group, cluster], sure_costs[group, cluster] = 0.0, 0.0
    unsure, starts = np.empty(n, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    n_unsure, n_entries = 0, 0
    starts[0] = 0
    for row in range(n):
        group = groups[row]
        least, cheapest = _cheapest_cluster(costs, prices, row, group)
        n_near = 0
        for cluster in range(k):
            n_near += costs[row, cluster] + prices[group, cluster] - least <= max_excess
        if n_near > 1:
            unsure[n_unsure] = row
            n_entries += n_near
            n_unsure += 1
            starts[n_unsure] = n_entries
        else:
            sure_counts[group, cheapest] += weights[row]
            sure_costs[group, cheapest] += weights[row] * costs[row, cheapest]
    clusters, near_costs = np.empty(n_entries, dtype=np.int32), np.empty(n_entries)
    position = 0
    for index in range(n_unsure):
        row = unsure[index]
        group = groups[row]
        least, _ = _cheapest_cluster(costs, prices, row, group)
        for cluster in range(k):
            if costs[row, cluster] + prices[group, cluster] - least <= max_excess:
                clusters[position], near_costs[position] = cluster, costs[row, cluster]
                position += 1
    return unsure, n_unsure, starts, clusters, near_costs


@inner
def _evaluate(near, weights, groups, prices, temperature, sure_counts, sure_costs, counts, curvature):
    """Return the sum of all instances' least cost plus price, and what smoothing subtracts; fill in counts and curvature.

    ``near`` is what :func:`_list_near_clusters` returned. ``curvature`` (K, k, k) holds -``temperature`` times the derivatives
    of each group's counts by its prices (lower half).
    """
    unsure, n_unsure, starts, clusters, near_costs = near
    n_groups, k = counts.shape
    least_sum, smoothing, inverse = 0.0, 0.0, 1.0 / temperature
    for group in range(n_groups):
        for cluster in range(k):
            counts[group, cluster] = sure_counts[group, cluster]
            least_sum += sure_costs[group, cluster] + prices[group, cluster] * sure_counts[group, cluster]
            for other in range(k):
                curvature[group, cluster, other] = 0.0
    parts = np.empty(k)
    for index in range(n_unsure):
        row = unsure[index]
        group, weight = groups[row], weights[row]
        first, size = starts[index], starts[index + 1] - starts[index]
        least = np.inf
        for i in range(size):
            parts[i] = near_costs[first + i] + prices[group, clusters[first + i]]
            least = min(least, parts[i])
        for i in range(size):  # a separate loop, which the compiler can vectorise
            parts[i] = _exponential(min((parts[i] - least) * inverse, 40.0))
        total = 0.0
        for i in range(size):
            total += parts[i]
        least_sum += weight * least
        smoothing += weight * _log(total)
        scale = weight / total
        for i in range(size):
            cluster = clusters[first + i]
            counts[group, cluster] += scale * parts[i]
            if parts[i] > 1e-6:
                scaled_part = scale * parts[i] / total
                for j in range(i):
                    curvature[group, cluster, clusters[first + j]] -= scaled_part * parts[j]
                curvature[group, cluster, cluster] += scale * parts[i] - scaled_part * parts[i]
    return least_sum, temperature * smoothing


@inner
def _largest_shift(prices, former):
    """Largest change, since the ``former`` prices, of the difference between a group's prices in two clusters."""
    largest = 0.0
    for group in range(prices.shape[0]):
        low, high = np.inf, -np.inf
        for cluster in range(prices.shape[1]):
            change = prices[group, cluster] - former[group, cluster]
            low, high = min(low, change), max(high, change)
        largest = max(largest, high - low)
    return largest


@compiled("void(float64[:,::1], float64[:,::1], float64[::1], int64[::1], float64[:,::1], float64, float64[:,::1])")
def _means(X, costs, weights, groups, prices, temperature, means):
    """Fill in ``means``, except those of clusters without rows: see :func:`fractional_means`."""
    k, d = means.shape
    sums, totals, parts = np.zeros((k, d)), np.zeros(k), np.empty(k)
    for row in range(len(X)):
        group = groups[row]
        least, _ = _cheapest_cluster(costs, prices, row, group)
        total = 0.0
        for cluster in range(k):
            value = (costs[row, cluster] + prices[group, cluster] - least) / temperature
            parts[cluster] = _exponential(value) if value < _REACH else 0.0
            total += parts[cluster]
        for cluster in range(k):
            if parts[cluster] > 0:
                part = weights[row] * parts[cluster] / total
                totals[cluster] += part
                for feature in range(d):
                    sums[cluster, feature] += part * X[row, feature]
    for cluster in range(k):
        if totals[cluster] > 0:
            for feature in range(d):
                means[cluster, feature] = sums[cluster, feature] / totals[cluster]


# ---- the ascent --------------------------------------------------------------------------------------------------------


@inner
def _set_prices(constraints, multipliers, prices):
    """Fill in the prices that the multipliers give."""
    for group in range(prices.shape[0]):
        for cluster in range(prices.shape[1]):
            total = 0.0
            for constraint in range(constraints.shape[0]):
                total += multipliers[constraint, cluster] * constraints[constraint, group]
            prices[group, cluster] = total


@compiled(
    "float64(float64[:,::1], float64[::1], int64[::1], float64[:,::1], float64[:,::1], float64[::1], float64, float64,"
    "float64[:,::1], float64[:,::1], float64[:,::1])"
)
def _ascend(costs, weights, groups, constraints, slack, minima, temperature, tolerance, multipliers, prices, counts):
    """Maximise the smoothed dual over multipliers >= ``minima`` (R,); return the largest value that the exact dual reached.

    ``multipliers`` are changed in place, and ``prices`` and ``counts`` are filled in.
    """
    n_constraints, k = multipliers.shape
    n_groups, size = constraints.shape[1], n_constraints * k
    curvature, trial_curvature = np.empty((n_groups, k, k)), np.empty((n_groups, k, k))
    trial_counts, trial_prices = np.empty((n_groups, k)), np.empty((n_groups, k))
    sure_counts, sure_costs = np.empty((n_groups, k)), np.empty((n_groups, k))
    listed_prices = np.empty((n_groups, k))  # prices at which near clusters were listed
    gradient, trial = np.empty((n_constraints, k)), multipliers.copy()
    matrix, right, free = np.empty((size, size)), np.empty(size), np.empty(size, dtype=np.int64)
    damping, value, bound = 1e-4, -np.inf, -np.inf
    predicted_gain, n_free, steps = 0.0, 0, 0
    while True:
        _set_prices(constraints, trial, trial_prices)
        if steps == 0 or _largest_shift(trial_prices, listed_prices) > _MARGIN * temperature:
            _copy(trial_prices, listed_prices)
            max_excess = (_REACH + _MARGIN) * temperature
            near = _list_near_clusters(costs, weights, groups, trial_prices, max_excess, sure_counts, sure_costs)
        exact_value, smoothing = _evaluate(
            near, weights, groups, trial_prices, temperature, sure_counts, sure_costs, trial_counts, trial_curvature
        )
        for constraint in range(n_constraints):
            for cluster in range(k):
                exact_value -= slack[constraint, cluster] * trial[constraint, cluster]
        bound = max(bound, exact_value)
        trial_value = exact_value - smoothing
        is_accepted, damping = _judge_trial(trial_value, value, predicted_gain, steps, damping)
        if is_accepted:
            _copy(trial, multipliers)
            _copy(trial_prices, prices)
            _copy(trial_counts, counts)
            curvature, trial_curvature = trial_curvature, curvature
            value = trial_value
            n_free, largest_gradient = _free_multipliers(constraints, counts, slack, minima, multipliers, gradient, free)
            if largest_gradient <= tolerance or steps == _MAX_STEPS:
                return bound
            steps += 1
        damping, predicted_gain = _step(
            constraints, minima, curvature, temperature, free, n_free, gradient, damping, matrix, right, multipliers, trial
        )
        if damping >= _MAX_DAMPING:
            return bound
