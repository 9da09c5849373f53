"""VFC: variational fair clustering (Ziko, Yuan, Granger and Ben Ayed, AAAI 2021), with the costs of k-means.

Row i belongs to cluster c with a share S_ic, and the shares of a row add up to 1. The objective is

    F(S) = sum_ic S_ic a_ic + lambda n sum_c KL(r || p_c).

Here n is the number of rows, r are the shares of the groups in the table, and p_c are their shares in cluster c. a_ic is the
squared distance to centre c, in units of the mean squared distance under plain k-means. So the effect of lambda depends neither
on the unit of the features nor on n.

1. *Bound*: let m_hc be the sum of the shares S_ic over the rows of group h, and m_c their sum over all rows. At the current S,
   the slope of the divergences in S_ic is b_hc = 1 / m_c - r_h / m_hc, for a row i of group h. F is linearised there. The
   linear function plus L times the KL divergence of S from the current S is an upper bound on F if L is large enough. It is
   lowest at S_ic exp(-(a_ic + lambda n b_hc) / L), with each row divided by its sum. If F rises there, the attempt is undone
   and L is doubled. After five inner rounds with the same L, it is halved, but not below the given L.
2. *Inner rounds* each take step 1, until one lowers F by at most 1e-5 of F.
3. *Outer rounds*: each row goes to the cluster of its largest share, the centres become the means, and S starts again from
   exp(-a_ic). The outer rounds end when F changes by at most 1e-4 of F, but not before the third. They also end after five
   rounds without a new lowest F, or after 2,000 attempts at step 1 in all. In these two cases, the labels are those of the
   outer round with the lowest F.

A cluster with hardly any rows of some group needs an L so large that the shares in the other clusters do not change. The
published code keeps L fixed, and diverges. Here, each pair of a group h and a cluster c gets its own constant if L is still
more than 64 times the given L after 300 inner rounds: L_hc = max(L, lambda n r_h / m_hc). Half of each constant is tried as
well, and undone if F rises.

Until then, the shares are S_ic = exp(U_hc - T a_ic), with each row divided by its sum. T is a number that starts at 1, and U a
matrix (K, k) that starts at 0. Step 1 adds 1 / L to T and subtracts lambda n b_hc / L from U. So an inner round changes no
array of the size (n, k), and needs only the masses m_hc and the cost sum_ic S_ic a_ic. These are computed from T and U by
:mod:`clusterlets.algorithms.vfc_tiles`.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from clusterlets.algorithms.compiled import compiled
from clusterlets.algorithms.elementary import exp, log
from clusterlets.algorithms.geometry import moments_by_label, squared_distances_to_centres
from clusterlets.algorithms.instances import checked_instances, codes_that_occur
from clusterlets.algorithms.kmeans import kmeans_plus_plus, lloyd
from clusterlets.algorithms.vfc_tiles import LOG2_E, MIN_SHARE, Tiles, power_of_2
from clusterlets.errors import NoClusteringError

_INNER_TOLERANCE, _MAX_INNER = 1e-5, 10_000
_OUTER_TOLERANCE = 1e-4
# Outer rounds without a new lowest F after which we stop. F may rise and fall between outer rounds by more than the tolerance,
# because inner rounds end near a minimum and not at it.
_MAX_IDLE = 5
_MAX_ATTEMPTS = 2_000  # attempts at step 1, over all outer rounds, after which we stop: several times what most tables need
_MAX_DOUBLINGS = 60  # of L, in one inner round
_PATIENCE = 5  # inner rounds with the same constants before half of each constant is tried
# The constants L_hc replace the common L if it exceeds the given L by this factor after this number of inner rounds.
_MAX_FACTOR, _COMMON_ROUNDS = 64.0, 300
# An attempt counts as raising F if F grows by more than this fraction. A smaller rise may come from rounding, or from shares
# that are raised to the least share.
_RISE_TOLERANCE = 1e-7
_MAX_EXPONENT = 300.0  # exponents are at least minus this number, so that exponentials stay above 0
# The lowest exponent for which a power of 2 is computed. A share multiplied by that power becomes the least share anyway.
_MIN_EXPONENT_OF_2 = -120.0


@dataclass(frozen=True)
class VFCResult:
    """A clustering by VFC.

    Attributes
    ----------
    labels : int array (n,)
        Cluster of the largest share of each row, 0..m-1, where m is k or, if smaller, the number of distinct rows. No
        cluster is empty.
    centres : float array (m, d)
        The centres for which the shares were computed. They are not the means of the final clusters.
    objective : float
        F of the module's docstring, for the shares.
    n_iter : int
        Number of outer rounds.
    warning : str
        Why the rounds did not converge; empty if they did. Without convergence, the labels are those of the last round, or of
        the round with the lowest objective.
    """

    labels: np.ndarray
    centres: np.ndarray
    objective: float
    n_iter: int
    warning: str = ""


def vfc(
    X,
    groups,
    n_clusters: int,
    random_state: np.random.Generator,
    fairness_weight: float = 1.0,
    lipschitz: float = 7.0,
    max_iter: int = 100,
) -> VFCResult:
    """Run VFC from centres of k-means++ (Ziko et al., AAAI 2021, arXiv 1906.08207, algorithm 1).

    ``X`` (n, d), ``groups`` (n,), ``n_clusters`` and ``random_state`` are as in :meth:`clusterlets.methods.Method.fit`, and the
    other parameters as :class:`clusterlets.VFC` declares them. The published lambda is ``fairness_weight * SSE of plain
    k-means``, and the published L ``lipschitz * SSE of plain k-means / n``.

    Raises
    ------
    NoClusteringError
        ``not_converged``, if the first round leaves a cluster empty, both from k-means++ and from plain k-means.

    Notes
    -----
    O(n k d) time per outer round, and O(n k) for each of its dozens to hundreds of inner rounds. O(n (d + k)) memory.
    """
    X, groups = checked_instances(X, groups, "VFC", n_clusters)
    groups = codes_that_occur(groups)
    start = X[kmeans_plus_plus(X, n_clusters, random_state)]
    plain = lloyd(X, start)
    fallback = None
    for centres in (start, plain.centres):
        result, has_empty_cluster = _outer_rounds(
            X, groups, centres, plain.inertia / len(X), fairness_weight, lipschitz, max_iter
        )
        if result is not None and not has_empty_cluster:
            return result
        fallback = result or fallback
    if fallback is not None:
        return fallback
    raise NoClusteringError(
        "not_converged",
        f"VFC leaves a cluster empty with fairness_weight = {fairness_weight:g} and {len(start)} clusters, from k-means++ and "
        "from plain k-means: take a smaller weight, or fewer clusters.",
    )


def _outer_rounds(X, groups, centres, unit, fairness_weight, lipschitz, max_iter) -> tuple[VFCResult | None, bool]:
    """Step 3 from given centres: the result, and whether a cluster became empty.

    If so, the result is that of the round before, or None if it was the first round. ``unit`` is as in :func:`_costs`.
    """
    penalty, tiles = _Penalty(groups, fairness_weight * len(X), lipschitz), Tiles(groups, len(centres))
    n_attempts = 0
    result, former_objective, best, n_idle = None, np.inf, None, 0
    for n_iter in range(1, max_iter + 1):
        objective, labels, warning, n_attempts_of_round = _settle(penalty, tiles, _costs(X, centres, unit))
        n_attempts += n_attempts_of_round
        if not np.bincount(labels, minlength=len(centres)).all():
            warning = f"VFC left a cluster empty in round {n_iter}: take a smaller fairness_weight, or fewer clusters."
            return result and replace(result, warning=warning), True
        result = VFCResult(labels, centres, objective, n_iter, warning)
        if warning or (n_iter >= 3 and abs(objective - former_objective) <= _OUTER_TOLERANCE * former_objective):
            return result, False
        if best is None or objective < best.objective:
            best, n_idle = result, 0
        else:
            n_idle += 1
        if n_idle == _MAX_IDLE or n_attempts >= _MAX_ATTEMPTS:
            warning = f"VFC did not settle in {n_iter} rounds; the labels are from round {best.n_iter}, the best of them."
            return replace(best, warning=warning), False
        former_objective = objective
        centres, _ = moments_by_label(X, labels, len(centres))
    warning = f"VFC did not settle within max_iter = {max_iter} rounds: take a smaller fairness_weight, or more rounds."
    assert result is not None  # because max_iter is at least 1
    return replace(result, warning=warning), False


def _costs(X: np.ndarray, centres: np.ndarray, unit: float) -> np.ndarray:
    """Squared distances (n, k) in units of ``unit``, or of their mean if ``unit`` is 0."""
    costs = squared_distances_to_centres(X, centres, len(centres))
    return costs / (unit or float(costs.mean()) or 1.0)


@dataclass(frozen=True)
class _Penalty:
    """The penalty on the groups' shares in clusters: ``weight`` is lambda n, and ``lipschitz`` the given L."""

    groups: np.ndarray
    weight: float
    lipschitz: float

    @cached_property
    def group_shares(self) -> np.ndarray:
        """Share (K, 1) of each group in the table."""
        return (np.bincount(self.groups) / len(self.groups))[:, None]

    def slopes(self, masses: np.ndarray) -> np.ndarray:
        return self.weight * (1 / masses.sum(axis=0) - self.group_shares / masses)

    def own_constants(self, masses: np.ndarray) -> np.ndarray:
        """The constants L_hc (K, k)."""
        return np.maximum(self.lipschitz, self.weight * self.group_shares / masses)

    def objective(self, cost: float, masses: np.ndarray) -> float:
        ratios = masses / masses.sum(axis=0) / self.group_shares
        divergence = -float((self.group_shares * log(ratios)).sum())
        return cost + self.weight * max(divergence, 0.0)  # only rounding can make it negative


class _SharesWithCommonConstant:
    """Shares after steps with the same constant for all groups and clusters: ``_time`` is T - 1, and ``_biases`` is U.

    The shares exp(-a_ic) at T = 1 are computed separately, because those below the least share are raised to it.
    """

    least_factor = 1.0

    def __init__(self, penalty: _Penalty, tiles: Tiles, costs: np.ndarray):
        self._penalty, self._tiles, self._costs = penalty, tiles, costs
        self._floors = tiles.fill(costs)
        self._time, self._biases = 0.0, np.zeros((len(penalty.group_shares), costs.shape[1]))
        low_masses = np.full(self._biases.shape, 1e-12)  # so low that the first evaluation leaves out hardly any share
        self.first_cost, self.masses = tiles.evaluate(self._time, self._biases, low_masses)
        self._largest_cluster = self.masses.argmax(axis=1)[:, None]

    def try_step(self, factor: float, highest_objective: float) -> float | None:
        """Step 1 with ``factor`` times the given L; the new objective, or None with nothing changed if it is too high."""
        slopes, rate = self._penalty.slopes(self.masses), 1 / (factor * self._penalty.lipschitz)
        exponents = np.minimum((slopes - slopes.min(axis=1, keepdims=True)) * rate, _MAX_EXPONENT)
        time, biases = self._time + rate, self._biases - exponents
        # Adding a number to all biases of a group changes no share. Here, the bias of its largest cluster becomes 0.
        biases -= np.take_along_axis(biases, self._largest_cluster, axis=1)
        cost, masses = self._tiles.evaluate(time, biases, self.masses)
        objective = self._penalty.objective(cost, masses)
        if not objective <= highest_objective:
            return None
        self._time, self._biases, self.masses = time, biases, masses
        return objective

    def labels(self) -> np.ndarray:
        """Cluster of each row's largest share."""
        labels = np.empty(len(self._costs), dtype=np.int64)
        _largest_shares(self._costs, self._floors, self._penalty.groups, self._time, self._biases, labels)
        return labels

    def with_own_constants(self) -> "_SharesWithOwnConstants":
        excess = self._costs - self._costs.min(axis=1, keepdims=True)
        exponents = self._biases[self._penalty.groups] - self._time * excess + np.maximum(-excess, self._floors[:, None])
        shares = exp(np.maximum(exponents - exponents.max(axis=1, keepdims=True), -_MAX_EXPONENT))
        shares = np.maximum(shares / shares.sum(axis=1, keepdims=True), MIN_SHARE)
        return _SharesWithOwnConstants(self._penalty, self._costs, shares, self.masses)


class _SharesWithOwnConstants:
    """Shares, as a matrix (n, k), for steps with a constant L_hc for each group and cluster."""

    least_factor = 0.5  # the constants may be lowered to this fraction

    def __init__(self, penalty: _Penalty, costs: np.ndarray, shares: np.ndarray, masses: np.ndarray):
        self._penalty, self._costs, self.masses = penalty, costs, masses
        self._shares, self._new_shares = shares, np.empty_like(shares)

    def try_step(self, factor: float, highest_objective: float) -> float | None:
        """Step 1 with ``factor`` times L_hc; the new objective, or None with nothing changed if it is too high."""
        slopes, constants = self._penalty.slopes(self.masses), factor * self._penalty.own_constants(self.masses)
        masses = np.empty_like(self.masses)
        cost = _step_with_own_constants(
            self._costs, slopes, 1 / constants, self._penalty.groups, self._shares, self._new_shares, masses
        )
        objective = self._penalty.objective(cost, masses)
        if not objective <= highest_objective:
            return None
        self._shares, self._new_shares, self.masses = self._new_shares, self._shares, masses
        return objective

    def labels(self) -> np.ndarray:
        """Cluster of each row's largest share."""
        return self._shares.argmax(axis=1)


@dataclass
class _Steps:
    """The factor of the constants, the number of steps in a row that it served for, and that of all attempts at step 1."""

    factor: float = 1.0
    n_accepted: int = 0
    n_attempts: int = 0

    def lower_objective(self, shares, former_objective: float) -> float | None:
        """Step 1, with larger constants if the objective rises; returns the new objective, or None if it always rises."""
        if self.n_accepted == _PATIENCE and self.factor > shares.least_factor:
            self.factor, self.n_accepted = self.factor / 2, 0
        for _ in range(_MAX_DOUBLINGS):
            self.n_attempts += 1
            objective = shares.try_step(self.factor, former_objective * (1 + _RISE_TOLERANCE))
            if objective is not None:
                self.n_accepted += 1
                return objective
            self.factor, self.n_accepted = self.factor * 2, 0
        return None


def _settle(penalty: _Penalty, tiles: Tiles, costs: np.ndarray) -> tuple[float, np.ndarray, str, int]:
    """Step 2 from exp(-costs): the objective, labels (n,), why the rounds did not converge or '', and attempts at step 1."""
    start, steps, warning = _SharesWithCommonConstant(penalty, tiles, costs), _Steps(), ""
    objective = penalty.objective(start.first_cost, start.masses)
    shares: _SharesWithCommonConstant | _SharesWithOwnConstants = start
    for inner_round in range(_MAX_INNER):
        if inner_round >= _COMMON_ROUNDS and steps.factor > _MAX_FACTOR and shares is start:
            shares, steps = start.with_own_constants(), _Steps(n_attempts=steps.n_attempts)
        new_objective = steps.lower_objective(shares, objective)
        if new_objective is None:
            warning = "VFC diverged: its objective rises however short the step is. Take a smaller fairness_weight, or scale X."
            break
        former_objective, objective = objective, new_objective
        # Larger constants make shorter steps. Some are so short that single precision cannot show whether F still falls.
        is_precise = steps.factor <= _MAX_FACTOR or shares is not start
        if is_precise and former_objective - objective <= _INNER_TOLERANCE / steps.factor * former_objective:
            break
    else:
        warning = f"VFC did not settle within {_MAX_INNER} inner rounds: take a smaller fairness_weight."
    return objective, shares.labels(), warning, steps.n_attempts


@compiled("void(float64[:,::1], float64[::1], int64[::1], float64, float64[:,::1], int64[::1])")
def _largest_shares(costs, floors, groups, time, biases, labels):
    """Write to ``labels`` (n,) the cluster in which each row has its largest exponent. Ties go to the lower index."""
    for row in range(len(costs)):
        bias, least, best, largest = biases[groups[row]], costs[row].min(), 0, -np.inf
        for cluster in range(costs.shape[1]):
            excess = costs[row, cluster] - least
            exponent = bias[cluster] - time * excess + max(-excess, floors[row])
            if exponent > largest:
                best, largest = cluster, exponent
        labels[row] = best


@compiled("float64(float64[:,::1], float64[:,::1], float64[:,::1], int64[::1], float64[:,::1], float64[:,::1], float64[:,::1])")
def _step_with_own_constants(costs, slopes, rates, groups, shares, new_shares, masses):
    """Step 1 with the constants L_hc, whose reciprocals are the ``rates`` (K, k); returns the cost of the new shares.

    ``new_shares`` (n, k) become shares * exp((level - g) * rates), with each row divided by its sum. Here g is ``costs`` (n, k)
    plus the ``slopes`` (K, k) of the row's group. The level of a row keeps the sum of its shares the same to first order.
    ``masses`` (K, k) become the sums of the new shares of each group.
    """
    n, k = shares.shape
    exponents, powers = np.empty(k), np.empty(k, dtype=np.float32)
    masses[:] = 0.0
    cost = 0.0
    for row in range(n):
        slope, rate, mass = slopes[groups[row]], rates[groups[row]], masses[groups[row]]
        level, sum_of_derivatives = 0.0, 0.0
        for cluster in range(k):
            derivative = shares[row, cluster] * rate[cluster]
            level += derivative * (costs[row, cluster] + slope[cluster])
            sum_of_derivatives += derivative
        level /= sum_of_derivatives
        largest = -np.inf
        for cluster in range(k):
            exponents[cluster] = (level - costs[row, cluster] - slope[cluster]) * rate[cluster] * LOG2_E
            largest = max(largest, exponents[cluster])
        for cluster in range(k):
            powers[cluster] = power_of_2(np.float32(max(exponents[cluster] - largest, _MIN_EXPONENT_OF_2)))
        total = 0.0
        for cluster in range(k):
            share = shares[row, cluster] * powers[cluster]
            new_shares[row, cluster] = share
            total += share
        row_cost = 0.0
        for cluster in range(k):
            share = max(new_shares[row, cluster] / total, MIN_SHARE)
            new_shares[row, cluster] = share
            mass[cluster] += share
            row_cost += share * costs[row, cluster]
        cost += row_cost
    return cost
