"""Prices that lead every instance to a cluster, so that the shares of the groups keep their bounds.

The linear program of fair assignment at given centres: each instance goes to one cluster or is split over several, and in
every cluster the counts m of the groups meet ``rows @ m <= slack``. Its dual has a multiplier of at least 0 for each row and
cluster. Multipliers make prices of a group in a cluster; with these, each instance takes the cluster where cost plus price
is least. The value of the dual is then a lower bound on the cost of every assignment that meets the rows.

The minimum over clusters is smoothed at falling temperatures, and at each of them Newton steps within a trust region raise
the dual. All of it is sums, products and roots in a fixed order: every processor gives the same bytes.
"""

from dataclasses import dataclass
from math import frexp

import numpy as np
from numba import njit

from clusterlets.algorithms.compiled import compiled, inner

#: Temperatures, as parts of the mean cost of a nearest cluster: from where all clusters count to where nearly only one does.
TEMPERATURES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
_MOST_STEPS = 30  # at each temperature; further ones hardly raise the bound
_TOLERANCE = 0.5  # instances by which a row may be missed, ...
_PART_MISSED = 2e-4  # ... and the same as a part of all instances, which matters in small tables
# Instances by which a row may be missed after a search that did not start from nothing, and the same as a part of all.
_MOST_MISSED, _MOST_PART_MISSED = 2.0, 1e-3
_ROUNDING = 1e-20  # as a part of the mean cost: less is rounding of a distance of 0
_LN2 = 0.6931471805599453


@dataclass(frozen=True)
class FairDual:
    """A solution of the dual.

    Attributes
    ----------
    bound : float
        No assignment that meets the rows costs less at these centres.
    multipliers : float array (R, k)
    prices : float array (K, k)
        What a group pays in a cluster, on top of the cost.
    counts : float array (K, k)
        Instances of each group in each cluster at the last temperature.
    temperature : float
        The last one, in units of the costs.
    """

    bound: float
    multipliers: np.ndarray
    prices: np.ndarray
    counts: np.ndarray
    temperature: float


def share_rows(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Rows (R, K) that say: the share of group h is at least ``low[h]`` and at most ``high[h]``, (K,) each.

    Of two groups one is enough: the other has the rest, and redundant rows slow the steps down.
    """
    eye = np.eye(len(low))
    if len(low) == 2:
        low, high, eye = np.maximum(low, 1 - high[::-1])[:1], np.minimum(high, 1 - low[::-1])[:1], eye[:1]
    return np.concatenate([low[:, None] - eye, eye - high[:, None]])


def solve_dual(
    costs: np.ndarray,
    weights: np.ndarray,
    groups: np.ndarray,
    n_groups: int,
    rows: np.ndarray,
    slack: float,
    multipliers: np.ndarray | None = None,
    last: float = TEMPERATURES[-1],
) -> FairDual:
    """Raise the dual until its assignment meets the rows, or until it hardly rises.

    Parameters
    ----------
    costs : float array (n, k)
        Finite and not negative.
    weights : float array (n,)
        Instances that each row stands for; 1 where it stands for itself.
    groups : int array (n,)
        0..K-1.
    n_groups : int
        K.
    rows : float array (R, K)
    slack : float
        What ``rows @ m`` may be at most.
    multipliers : float array (R, k), optional
        Start of the search: those of nearby centres need only the last temperature. Where they are not near enough, the
        search starts from nothing.
    last : float
        The last of ``TEMPERATURES`` to use.

    Returns
    -------
    FairDual

    Notes
    -----
    O(n k + (R k)^3) time a step.
    """
    k = costs.shape[1]
    solution = np.zeros((len(rows), k)) if multipliers is None else multipliers.copy()
    counts, prices = np.empty((n_groups, k)), np.empty((n_groups, k))
    least, mean = float((weights * costs.min(axis=1)).sum() / weights.sum()), float(costs.mean())
    scale = (least if least > _ROUNDING * mean else mean) or 1.0
    tolerance = min(_TOLERANCE, _PART_MISSED * float(weights.sum()))
    bound = -np.inf
    for temperature in [last] if multipliers is not None else TEMPERATURES[: TEMPERATURES.index(last) + 1]:
        exact_value = _ascend(
            costs, weights, groups, rows, slack, temperature * scale, _MOST_STEPS, tolerance, solution, prices, counts
        )
        bound = max(bound, exact_value)
    missed = float((rows[:, :, None] * counts).sum(axis=1).max()) - slack
    if multipliers is not None and missed > max(_MOST_MISSED, _MOST_PART_MISSED * float(weights.sum())):
        return solve_dual(costs, weights, groups, n_groups, rows, slack, None, last)
    return FairDual(bound, solution, prices, counts, last * scale)


def fractional_assignment(costs: np.ndarray, groups: np.ndarray, dual: FairDual) -> np.ndarray:
    """Parts (n, k) of each instance in the clusters, at the last temperature of the dual; they add up to 1."""
    parts = np.empty(costs.shape)
    _parts(costs, groups, dual.prices, dual.temperature, parts)
    return parts


@njit
def _exponentials(values, least, temperature):
    """Replace each value by exp((least - value) / temperature), in operations that processors vectorise.

    A series for the 64th part, squared six times: relative error below 1e-13. Beyond 40 temperatures all is nearly 0 alike.
    """
    for place in range(len(values)):
        x = min((values[place] - least) / temperature, 40.0) * 0.015625
        total = 1.0 - x / 11.0
        for power in (10.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0):
            total = 1.0 - x / power * total
        total *= total
        total *= total
        total *= total
        total *= total
        total *= total
        values[place] = total * total


@njit
def _log(x):
    """log(x) of a positive number, in operations that every processor rounds alike."""
    mantissa, exponent = frexp(x)
    if mantissa < 0.7071067811865476:
        mantissa, exponent = 2 * mantissa, exponent - 1
    s = (mantissa - 1) / (mantissa + 1)
    value, square = 0.0, s * s
    for power in range(12, -1, -1):
        value = value * square + 2.0 / (2 * power + 1)
    return exponent * _LN2 + s * value


@compiled("void(float64[:,::1], int64[::1], float64[:,::1], float64, float64[:,::1])")
def _parts(costs, groups, prices, temperature, parts):
    k = costs.shape[1]
    for row in range(len(costs)):
        least = np.inf
        for cluster in range(k):
            parts[row, cluster] = costs[row, cluster] + prices[groups[row], cluster]
            least = min(least, parts[row, cluster])
        _exponentials(parts[row], least, temperature)
        total = 0.0
        for cluster in range(k):
            total += parts[row, cluster]
        for cluster in range(k):
            parts[row, cluster] /= total


@inner
def _evaluate(costs, weights, groups, prices, temperature, counts, curvature):
    """Exact sum of each instance's least cost plus price, and what smoothing subtracts; fills in ``counts`` (K, k).

    ``curvature`` (K, k, k) becomes minus the Hessian times the temperature.
    """
    k = costs.shape[1]
    parts, near = np.empty(k), np.empty(k, dtype=np.int64)
    counts[:] = 0.0
    curvature[:] = 0.0
    least_sum, smoothing = 0.0, 0.0
    for row in range(len(costs)):
        group, weight = groups[row], weights[row]
        for cluster in range(k):
            parts[cluster] = costs[row, cluster] + prices[group, cluster]
        least = parts[0]
        for cluster in range(1, k):
            least = min(least, parts[cluster])
        least_sum += weight * least
        # Most rows have few clusters that count: beyond 40 temperatures, a part is below 1e-17.
        n_near = 0
        for cluster in range(k):
            if parts[cluster] - least < 40 * temperature:
                parts[n_near], near[n_near] = parts[cluster], cluster
                n_near += 1
        if n_near <= 1:
            counts[group, near[0]] += weight
            continue
        _exponentials(parts[:n_near], least, temperature)
        total = 0.0
        for i in range(n_near):
            total += parts[i]
        smoothing += weight * _log(total)
        inverse, n_large = 1 / total, 0
        for i in range(n_near):
            part = parts[i] * inverse
            counts[group, near[i]] += weight * part
            if part > 1e-6:
                parts[n_large], near[n_large] = part, near[i]
                n_large += 1
        if n_large > 1:
            for i in range(n_large):
                part = weight * parts[i]
                for j in range(i):
                    curvature[group, near[i], near[j]] -= part * parts[j]
                curvature[group, near[i], near[i]] += part - part * parts[i]
    return least_sum, temperature * smoothing


@njit
def _solve(matrix, right):
    """Solve a positive definite system by Cholesky, in place; False if it is not positive definite. Reads the lower half."""
    size = len(right)
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
def _value(costs, weights, groups, rows, slack, multipliers, temperature, prices, counts, curvature):
    """The smoothed dual, and the exact one."""
    prices[:] = 0.0
    multiplier_sum = 0.0
    for row in range(rows.shape[0]):
        for cluster in range(multipliers.shape[1]):
            multiplier_sum += multipliers[row, cluster]
            for group in range(rows.shape[1]):
                prices[group, cluster] += multipliers[row, cluster] * rows[row, group]
    least_sum, smoothing = _evaluate(costs, weights, groups, prices, temperature, counts, curvature)
    exact = least_sum - slack * multiplier_sum
    return exact - smoothing, exact


@inner
def _newton_system(rows, curvature, temperature, free, gradient, damping, matrix, right):
    """The damped system of the free multipliers: its lower half and its right side."""
    k = curvature.shape[1]
    diagonal = 0.0
    for i in range(len(free)):
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
    for i in range(len(free)):
        matrix[i, i] += damping * (matrix[i, i] + floor) + 1e-10 * floor


@inner
def _free_multipliers(rows, counts, slack, multipliers, gradient, free):
    """Fill in the gradient and the places of multipliers that may move; returns their number and the most instances missed."""
    k = multipliers.shape[1]
    n_free, missed = 0, 0.0
    for row in range(rows.shape[0]):
        for cluster in range(k):
            total = -slack
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
    """The same as ``target[:] = source``, which Numba takes seconds to compile, as it does operations on whole rows."""
    for row in range(source.shape[0]):
        for column in range(source.shape[1]):
            target[row, column] = source[row, column]


@compiled(
    "float64(float64[:,::1], float64[::1], int64[::1], float64[:,::1], float64, float64, int64, float64,"
    "float64[:,::1], float64[:,::1], float64[:,::1])"
)
def _ascend(costs, weights, groups, rows, slack, temperature, most_steps, tolerance, multipliers, prices, counts):
    """Maximise the smoothed dual over multipliers >= 0, in place; returns the largest exact value met.

    ``prices`` and ``counts`` become those of the multipliers.
    """
    n_rows, k = multipliers.shape
    n_groups, size = rows.shape[1], n_rows * k
    curvature, trial_curvature = np.empty((n_groups, k, k)), np.empty((n_groups, k, k))
    trial_counts, trial_prices = np.empty((n_groups, k)), np.empty((n_groups, k))
    gradient, trial = np.empty((n_rows, k)), multipliers.copy()
    matrix, right, free = np.empty((size, size)), np.empty(size), np.empty(size, dtype=np.int64)
    damping, value, best, gain, n_free, steps = 1e-4, -np.inf, -np.inf, 0.0, 0, 0
    while True:
        trial_value, exact = _value(
            costs, weights, groups, rows, slack, trial, temperature, trial_prices, trial_counts, trial_curvature
        )
        best = max(best, exact)
        if steps == 0 or (gain > 0 and trial_value >= value + 0.2 * gain):
            if steps > 0 and trial_value >= value + 0.4 * gain:
                damping = max(0.2 * damping, 1e-9)
            _copy(trial, multipliers)
            _copy(trial_prices, prices)
            _copy(trial_counts, counts)
            curvature, trial_curvature = trial_curvature, curvature
            value = trial_value
            n_free, missed = _free_multipliers(rows, counts, slack, multipliers, gradient, free)
            if missed <= tolerance or steps == most_steps:
                return best
            steps += 1
        else:
            damping = max(4 * damping, 1e-4)
        solved = False
        while not solved:
            if damping >= 1e12:
                return best
            _newton_system(rows, curvature, temperature, free[:n_free], gradient, damping, matrix, right)
            solved = _solve(matrix[:n_free, :n_free], right[:n_free])
            if not solved:
                damping *= 10
        _copy(multipliers, trial)
        gain = 0.0
        for i in range(n_free):
            row, cluster = free[i] // k, free[i] % k
            trial[row, cluster] = max(0.0, trial[row, cluster] + right[i])
            gain += gradient[row, cluster] * (trial[row, cluster] - multipliers[row, cluster])
