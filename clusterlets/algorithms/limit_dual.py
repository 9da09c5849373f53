"""The dual of fair assignment, as in :mod:`clusterlets.algorithms.fair_dual`, on the few clusters that matter to each row.

At a low temperature nearly every row belongs to one cluster, whatever the multipliers do within a search. So the rows are
sorted out first: those with a single near cluster only count, and of the others just the near clusters are looked at. A
cluster is near if its cost plus price is within some temperatures of the row's least; when prices have moved too far, rows are
sorted out anew. The bound stays exact.
"""

from collections.abc import Sequence
from math import frexp

import numpy as np

from clusterlets.algorithms.compiled import compiled, inner
from clusterlets.algorithms.fair_dual import FairDual

_MOST_STEPS = 30  # at each temperature; further ones hardly raise the bound
_ROUNDING = 1e-20  # as a part of the mean cost: less is rounding of a distance of 0
_LN2 = 0.6931471805599453
_REACH = 18.0  # temperatures: a cluster beyond has less than 2e-8 of the row
_MARGIN = 6.0  # temperatures by which prices may move before rows are sorted out anew


def solve_dual(
    costs: np.ndarray,
    weights: np.ndarray,
    groups: np.ndarray,
    n_groups: int,
    rows: np.ndarray,
    slack: np.ndarray,
    multipliers: np.ndarray | None,
    temperatures: Sequence[float],
    tolerance: float,
) -> FairDual:
    """Raise the dual until its assignment meets ``rows @ counts <= slack``, or until it hardly rises.

    Parameters
    ----------
    costs : float array (n, k)
        Finite and not negative.
    weights : float array (n,)
        Instances that each row stands for.
    groups : int array (n,)
        0..K-1.
    n_groups : int
        K.
    rows : float array (R, K)
    slack : float array (R, k)
    multipliers : float array (R, k), optional
        Start of the search.
    temperatures : sequence of float
        Falling, as parts of the mean cost of a nearest cluster.
    tolerance : float
        Instances by which a row may be missed.

    Returns
    -------
    FairDual
    """
    k = costs.shape[1]
    solution = np.zeros((len(rows), k)) if multipliers is None else multipliers.copy()
    counts, prices = np.empty((n_groups, k)), np.empty((n_groups, k))
    least, mean = float((weights * costs.min(axis=1)).sum() / weights.sum()), float(costs.mean())
    scale = (least if least > _ROUNDING * mean else mean) or 1.0
    bound = -np.inf
    for temperature in temperatures:
        value = _ascend(costs, weights, groups, rows, slack, temperature * scale, tolerance, solution, prices, counts)
        bound = max(bound, value)
    return FairDual(bound, solution, prices, counts, temperatures[-1] * scale)


def fractional_means(
    X: np.ndarray, costs: np.ndarray, weights: np.ndarray, groups: np.ndarray, dual: FairDual, centres: np.ndarray
) -> np.ndarray:
    """Means (k, d) of the rows by their parts in each cluster, at the dual's last temperature; without any, ``centres``."""
    means = np.empty((costs.shape[1], X.shape[1]))
    means[: len(centres)], means[len(centres) :] = centres, centres[0]
    _means(X, costs, weights, groups, dual.prices, dual.temperature, means)
    return means


@inner
def _exponential(x):
    """exp(-x) for x from 0 to 40: a series for the 64th part, squared six times."""
    x *= -0.015625
    total = 1.0 + x * (1 / 10.0)
    total = 1.0 + x * (1 / 9.0) * total
    total = 1.0 + x * (1 / 8.0) * total
    total = 1.0 + x * (1 / 7.0) * total
    total = 1.0 + x * (1 / 6.0) * total
    total = 1.0 + x * (1 / 5.0) * total
    total = 1.0 + x * (1 / 4.0) * total
    total = 1.0 + x * (1 / 3.0) * total
    total = 1.0 + x * (1 / 2.0) * total
    total = 1.0 + x * total
    total *= total
    total *= total
    total *= total
    total *= total
    total *= total
    total *= total
    return total


@inner
def _log(x):
    """log(x) of a positive number, in operations that every processor rounds alike."""
    mantissa, exponent = frexp(x)
    if mantissa < 0.7071067811865476:
        mantissa, exponent = 2 * mantissa, exponent - 1
    s = (mantissa - 1) / (mantissa + 1)
    square = s * s
    value = 2 / 19.0
    value = value * square + 2 / 17.0
    value = value * square + 2 / 15.0
    value = value * square + 2 / 13.0
    value = value * square + 2 / 11.0
    value = value * square + 2 / 9.0
    value = value * square + 2 / 7.0
    value = value * square + 2 / 5.0
    value = value * square + 2 / 3.0
    value = value * square + 2.0
    return exponent * _LN2 + s * value


@inner
def _least(costs, prices, row, group):
    """The least cost plus price of a row, and its cluster."""
    least, nearest = costs[row, 0] + prices[group, 0], 0
    for cluster in range(1, costs.shape[1]):
        value = costs[row, cluster] + prices[group, cluster]
        if value < least:
            least, nearest = value, cluster
    return least, nearest


@inner
def _sort_out(costs, weights, groups, prices, reach, sure_counts, sure_costs):
    """Rows with several near clusters, how many, and where the near clusters of each begin; the others add to ``sure_*``."""
    n, k = costs.shape
    for group in range(sure_counts.shape[0]):
        for cluster in range(k):
            sure_counts[group, cluster], sure_costs[group, cluster] = 0.0, 0.0
    unsure, starts = np.empty(n, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    n_unsure, n_near = 0, 0
    starts[0] = 0
    for row in range(n):
        group = groups[row]
        least, nearest = _least(costs, prices, row, group)
        near = 0
        for cluster in range(k):
            near += costs[row, cluster] + prices[group, cluster] - least <= reach
        if near > 1:
            unsure[n_unsure] = row
            n_near += near
            n_unsure += 1
            starts[n_unsure] = n_near
        else:
            sure_counts[group, nearest] += weights[row]
            sure_costs[group, nearest] += weights[row] * costs[row, nearest]
    clusters, values = np.empty(n_near, dtype=np.int32), np.empty(n_near)
    place = 0
    for index in range(n_unsure):
        row = unsure[index]
        group = groups[row]
        least, _ = _least(costs, prices, row, group)
        for cluster in range(k):
            if costs[row, cluster] + prices[group, cluster] - least <= reach:
                clusters[place], values[place] = cluster, costs[row, cluster]
                place += 1
    return unsure, n_unsure, starts, clusters, values


@inner
def _evaluate(near, weights, groups, prices, temperature, sure_counts, sure_costs, counts, curvature):
    """Exact sum of each row's least cost plus price, and what smoothing subtracts; fills in ``counts`` (K, k).

    ``curvature`` (K, k, k) becomes minus the Hessian times the temperature: its lower half.
    """
    unsure, n_unsure, starts, clusters, values = near
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
            parts[i] = values[first + i] + prices[group, clusters[first + i]]
            least = min(least, parts[i])
        total = 0.0
        for i in range(size):
            parts[i] = _exponential(min((parts[i] - least) * inverse, 40.0))
            total += parts[i]
        least_sum += weight * least
        smoothing += weight * _log(total)
        part = weight / total
        for i in range(size):
            cluster = clusters[first + i]
            counts[group, cluster] += part * parts[i]
            if parts[i] > 1e-6:
                scaled = part * parts[i] / total
                for j in range(i):
                    curvature[group, cluster, clusters[first + j]] -= scaled * parts[j]
                curvature[group, cluster, cluster] += part * parts[i] - scaled * parts[i]
    return least_sum, temperature * smoothing


@inner
def _set_prices(rows, multipliers, prices):
    for group in range(prices.shape[0]):
        for cluster in range(prices.shape[1]):
            total = 0.0
            for row in range(rows.shape[0]):
                total += multipliers[row, cluster] * rows[row, group]
            prices[group, cluster] = total


@inner
def _moved(prices, former):
    """The most by which the difference of two prices of a group has changed."""
    most = 0.0
    for group in range(prices.shape[0]):
        low, high = np.inf, -np.inf
        for cluster in range(prices.shape[1]):
            change = prices[group, cluster] - former[group, cluster]
            low, high = min(low, change), max(high, change)
        most = max(most, high - low)
    return most


@inner
def _solve(matrix, right, size):
    """Solve a positive definite system by Cholesky, in place; False if it is not positive definite. Reads the lower half.

    The system is the first ``size`` rows and columns.
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
def _newton_system(rows, curvature, temperature, free, n_free, gradient, damping, matrix, right):
    """The damped system of the free multipliers: its lower half and its right side."""
    k = curvature.shape[1]
    diagonal = 0.0
    for i in range(n_free):
        row_i, cluster_i = free[i] // k, free[i] % k
        right[i] = gradient[row_i, cluster_i]
        for j in range(i + 1):
            row_j, cluster_j = free[j] // k, free[j] % k
            high, low = max(cluster_i, cluster_j), min(cluster_i, cluster_j)
            total = 0.0
            for group in range(rows.shape[1]):
                total += rows[row_i, group] * rows[row_j, group] * curvature[group, high, low]
            matrix[i, j] = total / temperature
        diagonal = max(diagonal, matrix[i, i])
    # Where the dual is flat, only a part of its largest curvature limits a step.
    floor = 1e-3 * diagonal if diagonal > 0 else 1.0
    for i in range(n_free):
        matrix[i, i] += damping * (matrix[i, i] + floor) + 1e-10 * floor


@inner
def _free_multipliers(rows, counts, slack, multipliers, gradient, free):
    """Fill in the gradient and the places of multipliers that may move; returns their number and the most instances missed."""
    k = multipliers.shape[1]
    n_free, missed = 0, 0.0
    for row in range(rows.shape[0]):
        for cluster in range(k):
            total = -slack[row, cluster]
            for group in range(rows.shape[1]):
                total += rows[row, group] * counts[group, cluster]
            gradient[row, cluster] = total
            if total > 0 or multipliers[row, cluster] > 0:
                free[n_free] = row * k + cluster
                n_free += 1
                missed = max(missed, abs(total))
    return n_free, missed


@inner
def _copy(source, target):
    """The same as ``target[:] = source``, which Numba takes seconds to compile."""
    for row in range(source.shape[0]):
        for column in range(source.shape[1]):
            target[row, column] = source[row, column]


@compiled(
    "float64(float64[:,::1], float64[::1], int64[::1], float64[:,::1], float64[:,::1], float64, float64,"
    "float64[:,::1], float64[:,::1], float64[:,::1])"
)
def _ascend(costs, weights, groups, rows, slack, temperature, tolerance, multipliers, prices, counts):
    """Maximise the smoothed dual over multipliers >= 0, in place; returns the largest exact value met.

    ``prices`` and ``counts`` become those of the multipliers.
    """
    n_rows, k = multipliers.shape
    n_groups, size = rows.shape[1], n_rows * k
    curvature, trial_curvature = np.empty((n_groups, k, k)), np.empty((n_groups, k, k))
    trial_counts, trial_prices = np.empty((n_groups, k)), np.empty((n_groups, k))
    sure_counts, sure_costs = np.empty((n_groups, k)), np.empty((n_groups, k))
    gradient, trial = np.empty((n_rows, k)), multipliers.copy()
    matrix, right, free = np.empty((size, size)), np.empty(size), np.empty(size, dtype=np.int64)
    damping, value, best, gain, n_free, steps = 1e-4, -np.inf, -np.inf, 0.0, 0, 0
    _set_prices(rows, trial, trial_prices)
    sorted_at = trial_prices.copy()
    reach = (_REACH + _MARGIN) * temperature
    near = _sort_out(costs, weights, groups, sorted_at, reach, sure_counts, sure_costs)
    while True:
        if _moved(trial_prices, sorted_at) > _MARGIN * temperature:
            _copy(trial_prices, sorted_at)
            near = _sort_out(costs, weights, groups, sorted_at, reach, sure_counts, sure_costs)
        least_sum, smoothing = _evaluate(
            near, weights, groups, trial_prices, temperature, sure_counts, sure_costs, trial_counts, trial_curvature
        )
        exact = least_sum
        for row in range(n_rows):
            for cluster in range(k):
                exact -= slack[row, cluster] * trial[row, cluster]
        best = max(best, exact)
        trial_value = exact - smoothing
        if steps == 0 or (gain > 0 and trial_value >= value + 0.2 * gain):
            if steps > 0 and trial_value >= value + 0.4 * gain:
                damping = max(0.2 * damping, 1e-9)
            _copy(trial, multipliers)
            _copy(trial_prices, prices)
            _copy(trial_counts, counts)
            curvature, trial_curvature = trial_curvature, curvature
            value = trial_value
            n_free, missed = _free_multipliers(rows, counts, slack, multipliers, gradient, free)
            if missed <= tolerance or steps == _MOST_STEPS:
                return best
            steps += 1
        else:
            damping = max(4 * damping, 1e-4)
        solved = False
        while not solved:
            if damping >= 1e12:
                return best
            _newton_system(rows, curvature, temperature, free, n_free, gradient, damping, matrix, right)
            solved = _solve(matrix, right, n_free)
            if not solved:
                damping *= 10
        _copy(multipliers, trial)
        gain = 0.0
        for i in range(n_free):
            row, cluster = free[i] // k, free[i] % k
            trial[row, cluster] = max(0.0, trial[row, cluster] + right[i])
            gain += gradient[row, cluster] * (trial[row, cluster] - multipliers[row, cluster])
        _set_prices(rows, trial, trial_prices)


@compiled("void(float64[:,::1], float64[:,::1], float64[::1], int64[::1], float64[:,::1], float64, float64[:,::1])")
def _means(X, costs, weights, groups, prices, temperature, means):
    k, d = means.shape
    sums, totals, parts = np.zeros((k, d)), np.zeros(k), np.empty(k)
    for row in range(len(X)):
        group = groups[row]
        least, _ = _least(costs, prices, row, group)
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
