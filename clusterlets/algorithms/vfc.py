"""VFC: variational fair clustering (Ziko, Yuan, Granger and Ben Ayed, AAAI 2021), with the costs of k-means.

A row i belongs to cluster c by a share S_ic, and the shares of a row add up to 1. The objective is

    F(S) = sum_ic S_ic a_ic + lambda n sum_c KL(r || p_c),

with a_ic the squared distance to centre c in units of the mean one under plain k-means, r the shares of the groups in the
table, and p_c those in cluster c. So lambda depends neither on the unit of the features nor on the number of rows.

1. *Bound*: KL(r || p_c) is a concave and a convex function of the masses m_hc of the groups in the clusters. Its linear part
   at S, with the slopes b_hc = 1 / m_c - r_h / m_hc, plus L times the divergence from S bounds F from above for large L. The
   minimum of this bound is S_ic exp(-(a_ic + lambda n b_hc) / L), each row divided by its sum. If F still rises, L doubles;
   after five steps half of it is tried, but never less than the given L.
2. *Inner rounds*: step 1 until F falls by at most 1e-5 of itself.
3. *Outer rounds*: each row goes to the cluster of its largest share; centres become the means; S starts again from
   exp(-a_ic). They end when F changes by less than 1e-4 of itself, from the third on.

A cluster with hardly any row of a group needs an L so large that no other cluster moves, and the published code, whose L
is fixed, diverges. Where L is still more than 64 times the given one after 300 steps, each group and cluster gets
its own from then on: L_hc = max(L, lambda n r_h / m_hc). The second is enough for the convex part near S, by the inequality
of Cauchy and Schwarz.

The exponential of a sum is a product: with one L, exp(-a_ic / L) is the same in all inner rounds, and the other factor the
same for all rows of a group.
"""

from dataclasses import dataclass
from math import factorial

import numpy as np
from numba import njit

from clusterlets.algorithms.compiled import compiled
from clusterlets.algorithms.elementary import exp, log
from clusterlets.algorithms.geometry import distances_to_centres, moments_by_label
from clusterlets.algorithms.instances import checked_instances, codes_that_occur
from clusterlets.algorithms.kmeans import kmeans_plus_plus, lloyd
from clusterlets.errors import ClusterletsError, NoClusteringError

_INNER_TOLERANCE, _MAX_INNER = 1e-5, 10_000
_OUTER_TOLERANCE = 1e-4
_MAX_DOUBLINGS = 60
# Steps with the same factor on the constants before half of it is tried.
_PATIENCE = 5
# The common constant gives way to L_hc if it is more than this many times the given one after so many steps, which are enough
# for it to fall from any height.
_MAX_FACTOR, _SETTLED = 64.0, 300
# F counts as risen if it grows by more than this part: less is rounding, or a share raised to the lowest one.
_RISE = 1e-9
# The smallest share: a share of 0 would stay 0.
_MIN_SHARE = 1e-12
# Exponents are at least its negative, so that the product of two factors and a share stays above 0.
_MAX_EXPONENT = 300.0
_LOG2_E, _LN2_HIGH, _LN2_LOW = 1.4426950408889634, float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
_COEFFICIENTS = np.array([1 / factorial(power) for power in range(13, 0, -1)])
_POWERS = 2.0 ** -np.arange(440.0)


@dataclass(frozen=True)
class VFCResult:
    """A clustering by VFC.

    Attributes
    ----------
    labels : int array (n,)
        Cluster of the largest share of each row, 0..m-1, where m = min(k, distinct rows). No cluster is empty.
    centres : float array (m, d)
        Those that the shares belong to; not the means of the final clusters.
    objective : float
        F above.
    n_iter : int
        Outer rounds.
    """

    labels: np.ndarray
    centres: np.ndarray
    objective: float
    n_iter: int


def vfc(
    X,
    groups,
    n_clusters: int,
    random_state: np.random.Generator,
    fairness_weight: float = 1.0,
    lipschitz: float = 7.0,
    max_iter: int = 100,
) -> VFCResult:
    """VFC from centres of k-means++.

    Parameters
    ----------
    X : float array (n, d)
    groups : int array (n,)
        Group codes from 0 on.
    n_clusters : int
        k, from 1 to n.
    random_state : numpy.random.Generator
        Source of the first centres.
    fairness_weight : float
        lambda above, not negative. The published one is ``fairness_weight * SSE of plain k-means``.
    lipschitz : float
        The first L, above 0; the published one is ``lipschitz * SSE of plain k-means / n``.
    max_iter : int
        Maximum number of outer rounds, at least 1.

    Returns
    -------
    VFCResult

    Raises
    ------
    NoClusteringError
        ``not_converged``, if max_iter outer rounds or 10,000 inner ones do not settle; if F rises even after 60 doublings of
        L; or if a cluster is left without rows, from k-means++ and then from the centres of plain k-means too.
    ClusterletsError
        As :func:`clusterlets.algorithms.instances.checked_instances`, and for parameters out of range.

    Notes
    -----
    Ziko et al., Variational fair clustering, AAAI 2021 (arXiv 1906.08207), algorithm 1. O(n k d) time an outer round and
    O(n k) an inner one, of which there are dozens to hundreds in each; O(n (d + k)) memory.
    """
    X, groups = checked_instances(X, groups, "VFC", n_clusters)
    groups = codes_that_occur(groups)
    if not 0 <= fairness_weight < np.inf:
        raise ClusterletsError(f"fairness_weight = {fairness_weight!r}: it must be a number of at least 0.")
    if not 0 < lipschitz < np.inf:
        raise ClusterletsError(f"lipschitz = {lipschitz!r}: it must be a number above 0.")
    if max_iter < 1:
        raise ClusterletsError(f"max_iter = {max_iter}: VFC needs at least one round.")
    first = X[kmeans_plus_plus(X, n_clusters, random_state)]
    plain = lloyd(X, first)
    for centres in (first, plain.centres):
        result = _outer_rounds(X, groups, centres, plain.inertia / len(X), fairness_weight, lipschitz, max_iter)
        if result is not None:
            return result
    raise NoClusteringError(
        "not_converged",
        f"VFC leaves a cluster empty with fairness_weight = {fairness_weight:g} and {len(first)} clusters, from k-means++ and "
        "from plain k-means: take a smaller weight, or fewer clusters.",
    )


def _outer_rounds(X, groups, centres, unit, fairness_weight, lipschitz, max_iter) -> VFCResult | None:
    """Step 3 from given centres; None if a cluster has no rows."""
    problem = _Problem(groups, len(centres), fairness_weight * len(X), lipschitz)
    former_objective = np.inf
    for n_iter in range(1, max_iter + 1):
        objective = problem.settle(_costs(X, centres, unit))
        labels = problem.soft.argmax(axis=1)
        if not np.bincount(labels, minlength=len(centres)).all():
            return None
        if n_iter >= 3 and abs(objective - former_objective) <= _OUTER_TOLERANCE * former_objective:
            return VFCResult(labels, centres, objective, n_iter)
        former_objective = objective
        centres, _ = moments_by_label(X, labels, len(centres))
    raise NoClusteringError(
        "not_converged",
        f"VFC does not settle within max_iter = {max_iter} rounds with fairness_weight = {fairness_weight:g}: "
        "take a smaller weight, or more rounds.",
    )


def _costs(X: np.ndarray, centres: np.ndarray, unit: float) -> np.ndarray:
    """Squared distances (n, k) in units of ``unit``, or of their mean where that is 0."""
    costs = distances_to_centres(X, centres, len(centres))
    return costs / (unit or float(costs.mean()) or 1.0)


class _Problem:
    """The shares of all rows, and step 2 on them."""

    def __init__(self, groups: np.ndarray, n_clusters: int, weight: float, lipschitz: float):
        self.groups, self.weight, self.lipschitz = groups, weight, lipschitz
        self.by_mass = False  # whether L_hc is used in place of L
        self.factor, self.accepted = 1.0, 0  # the factor on all constants, and the steps made with it
        self.shares = np.bincount(groups) / len(groups)
        self.soft, self.trial, self.weights = (np.empty((len(groups), n_clusters)) for _ in range(3))
        self.masses, self.trial_masses = (np.empty((len(self.shares), n_clusters)) for _ in range(2))

    def settle(self, costs: np.ndarray) -> float:
        """Inner rounds from exp(-costs), in place; returns the objective."""
        self.soft[:] = 1.0
        _weigh(costs, 1.0, self.weights)
        cost = _step(costs, self.weights, np.ones_like(self.masses), self.groups, self.soft, self.soft, self.masses)
        objective = self._objective(cost, self.masses)
        self.by_mass, self.factor, self.accepted = False, 1.0, 0
        _weigh(costs, self.lipschitz, self.weights)
        for step in range(_MAX_INNER):
            if step >= _SETTLED and self.factor > _MAX_FACTOR and not self.by_mass:
                self.by_mass, self.factor, self.accepted = True, 1.0, 0
            former, objective = objective, self._descend(costs, objective)
            if former - objective <= _INNER_TOLERANCE / self.factor * former:  # larger constants make shorter steps
                return objective
        raise NoClusteringError(
            "not_converged", f"VFC's shares do not settle within {_MAX_INNER} steps: take a smaller fairness_weight."
        )

    def _descend(self, costs: np.ndarray, former: float) -> float:
        """Step 1 with constants at which the objective does not rise; returns the new objective."""
        if self.accepted == _PATIENCE and self.factor > 1:
            self._multiply_by_mass(costs, 0.5)
        for _ in range(_MAX_DOUBLINGS):
            objective = self._objective(self._try_step(costs), self.trial_masses)
            if objective <= former * (1 + _RISE):
                self.soft, self.trial = self.trial, self.soft
                self.masses, self.trial_masses = self.trial_masses, self.masses
                self.accepted += 1
                return objective
            self._multiply_by_mass(costs, 2.0)
        raise NoClusteringError(
            "not_converged",
            "VFC diverges: its objective rises whatever the step. Take a smaller fairness_weight, or scale X.",
        )

    def _multiply_by_mass(self, costs: np.ndarray, factor: float) -> None:
        self.factor, self.accepted = self.factor * factor, 0
        if not self.by_mass:
            _weigh(costs, self.factor * self.lipschitz, self.weights)

    def _try_step(self, costs: np.ndarray) -> float:
        """``trial`` and its masses by step 1; returns the sum of its costs."""
        slopes = self.weight * (1 / self.masses.sum(axis=0) - self.shares[:, None] / self.masses)
        if self.by_mass:
            constants = self.factor * np.maximum(self.lipschitz, self.weight * self.shares[:, None] / self.masses)
            return _step_by_mass(costs, slopes, 1 / constants, self.groups, self.soft, self.trial, self.trial_masses)
        exponents = (slopes - slopes.min(axis=1, keepdims=True)) / (self.factor * self.lipschitz)
        factors = exp(-np.minimum(exponents, _MAX_EXPONENT))
        return _step(costs, self.weights, factors, self.groups, self.soft, self.trial, self.trial_masses)

    def _objective(self, cost: float, masses: np.ndarray) -> float:
        ratios = masses / masses.sum(axis=0) / self.shares[:, None]
        divergence = -float((self.shares[:, None] * log(ratios)).sum())
        return cost + self.weight * max(divergence, 0.0)  # only rounding can put it below 0


@njit
def _exp_of_negative(x):
    """exp(-x) for 0 <= x <= 300; that of `elementary` works on arrays, and a kernel may call functions of its own file only."""
    k = np.floor(x * _LOG2_E + 0.5)
    r = (k * _LN2_HIGH - x) + k * _LN2_LOW
    value = 0.0
    for coefficient in _COEFFICIENTS:
        value = (value + coefficient) * r
    return (1.0 + value) * _POWERS[int(k)]


@compiled("float64(float64[:,::1], float64[:,::1], float64[:,::1], int64[::1], float64[:,::1], float64[:,::1], float64[:,::1])")
def _step_by_mass(costs, slopes, rates, groups, soft, trial, masses):
    """``trial`` (n, k) becomes soft * exp((level - g) * rates), each row divided by its sum; returns the sum of trial * costs.

    g are ``costs`` (n, k) plus the ``slopes`` (K, k) of the row's group. The level of a row leaves its sum as it is, to first
    order. ``masses`` (K, k) becomes the sum of the shares of each group. ``trial`` may be ``soft``.
    """
    n, k = soft.shape
    exponents = np.empty(k)
    masses[:] = 0.0
    cost = 0.0
    for row in range(n):
        slope, rate, mass = slopes[groups[row]], rates[groups[row]], masses[groups[row]]
        level, weight = 0.0, 0.0
        for cluster in range(k):
            part = soft[row, cluster] * rate[cluster]
            level += part * (costs[row, cluster] + slope[cluster])
            weight += part
        level /= weight
        largest = -np.inf
        for cluster in range(k):
            exponents[cluster] = (level - costs[row, cluster] - slope[cluster]) * rate[cluster]
            largest = max(largest, exponents[cluster])
        total = 0.0
        for cluster in range(k):
            share = soft[row, cluster] * _exp_of_negative(min(largest - exponents[cluster], _MAX_EXPONENT))
            trial[row, cluster] = share
            total += share
        row_cost = 0.0
        for cluster in range(k):
            share = max(trial[row, cluster] / total, _MIN_SHARE)
            trial[row, cluster] = share
            mass[cluster] += share
            row_cost += share * costs[row, cluster]
        cost += row_cost
    return cost


@compiled("void(float64[:,::1], float64, float64[:,::1])")
def _weigh(costs, divisor, weights):
    """``weights`` (n, k) become exp(-costs / divisor), each row divided by its largest, and at least exp(-300)."""
    for row in range(len(costs)):
        least = costs[row].min()
        for cluster in range(costs.shape[1]):
            weights[row, cluster] = _exp_of_negative(min((costs[row, cluster] - least) / divisor, _MAX_EXPONENT))


@compiled("float64(float64[:,::1], float64[:,::1], float64[:,::1], int64[::1], float64[:,::1], float64[:,::1], float64[:,::1])")
def _step(costs, weights, factors, groups, soft, trial, masses):
    """``trial`` (n, k) becomes soft * weights * factors of the group, each row divided by its sum; returns the cost.

    ``masses`` (K, k) becomes the sum of the shares of each group. ``trial`` may be ``soft``.
    """
    n, k = soft.shape
    masses[:] = 0.0
    cost = 0.0
    for row in range(n):
        factor, mass, total = factors[groups[row]], masses[groups[row]], 0.0
        for cluster in range(k):
            share = soft[row, cluster] * weights[row, cluster] * factor[cluster]
            trial[row, cluster] = share
            total += share
        row_cost = 0.0
        for cluster in range(k):
            share = max(trial[row, cluster] / total, _MIN_SHARE)
            trial[row, cluster] = share
            mass[cluster] += share
            row_cost += share * costs[row, cluster]
        cost += row_cost
    return cost
