"""Nearly the cheapest labels at given centres such that all clusters keep the limits on groups.

First, the dual of the linear program (:mod:`clusterlets.algorithms.fair_dual`) gives the number of instances of each group in
each cluster, with fractions, and :mod:`clusterlets.algorithms.limit_counts` finds whole counts near these. Then the assignment
of each group is a transportation problem, which :mod:`clusterlets.algorithms.transport` solves exactly. No assignment within
the limits costs less than the dual, so we know how far the result may be from the optimum.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clusterlets.algorithms.enumeration import MAX_LABELLINGS, every_labelling
from clusterlets.algorithms.fair_dual import FairDual, solve_dual
from clusterlets.algorithms.limit_counts import INFEASIBLE, NOT_CONVERGED, moved_towards, rounded_to, whole_counts
from clusterlets.algorithms.limits import products, violation_units
from clusterlets.algorithms.transport import transport_groups
from clusterlets.errors import NoClusteringError

# Settings of the dual.
_COLD_START, _WARM_START = (1.0, 0.1, 0.01), (0.01,)  # as multiples of the mean cost of an instance's nearest cluster
_TOLERANCE = 0.5  # a constraint may be off by this many instances, ...
_TOLERANCE_FRACTION = 2e-4  # ... or by this fraction of the instances, whichever is less
_MAX_GAP = 0.01  # above this gap, the dual is solved again without the given multipliers

# Of new instances that cannot keep the limits: units of a miss in a share of 1, and in how many ways the counts of the groups
# may be split between one cluster and the others for an exact result.
_MISS_RESOLUTION, _MAX_SPLITS = 2**16, 1_000
_PROGRAM_OPTIONS = {"node_limit": 500}  # of nodes and not of seconds, so that every machine gives the same labels


@dataclass(frozen=True)
class Assignment:
    """Labels with their cost, and what the dual says about the cheapest labels.

    Attributes
    ----------
    labels : int array (n,)
    cost : float
        Sum of the costs of all instances.
    bound : float
        Every assignment within the limits costs at least this much.
    multipliers : float array (R, k)
        Multipliers of the dual, one for each of R limits in each cluster.
    """

    labels: np.ndarray
    cost: float
    bound: float
    multipliers: np.ndarray

    @property
    def gap(self) -> float:
        """How far the cost may exceed the least cost, as a fraction of the least cost; 0 if the bound is not positive."""
        return self.cost / self.bound - 1 if self.bound > 0 else 0.0


def assign_within_limits(
    costs: np.ndarray,
    groups: np.ndarray,
    rows: np.ndarray,
    slacks: Sequence[np.ndarray],
    min_cluster_size: int = 1,
    multipliers: np.ndarray | None = None,
) -> Assignment:
    """Assign all instances at nearly the least cost, so that every cluster keeps the limits.

    Parameters
    ----------
    costs : float array (n, k)
        Cost of each instance in each cluster, finite and not negative.
    groups : int array (n,)
        0..K-1, each of which occurs.
    rows : int array (R, K)
        The limits: ``rows @ counts`` may be at most the slack, for the counts (K, k) of the groups in the clusters.
    slacks : sequence of int arrays (R, k)
        The slack, as :func:`clusterlets.algorithms.limits.limits_of_fit` returns it. If no counts are found within the first
        one, the next one is tried.
    min_cluster_size : int
        At least 1.
    multipliers : float array (R, k), optional
        Those of an earlier :class:`Assignment` at nearby centres. They save most of the time.

    Raises
    ------
    NoClusteringError
        ``infeasible``, if clusters of ``min_cluster_size`` need more instances than there are, and ``not_converged``, if no
        counts within the limits were found.

    Notes
    -----
    O(n k) time per step of the dual, plus the transports.
    """
    n, k = costs.shape
    if k * min_cluster_size > n:
        raise NoClusteringError(
            INFEASIBLE,
            f"{k} clusters of at least min_cluster_size = {min_cluster_size} need {k * min_cluster_size} instances, and here "
            f"are {n}: ask for fewer clusters, or smaller ones.",
        )
    totals, least_sizes = np.bincount(groups), np.full(k, min_cluster_size)
    best = None
    for slack in slacks:
        for first_multipliers in (None,) if multipliers is None else (multipliers, None):
            dual = _solve_dual(costs, groups, totals, rows, slack, first_multipliers)
            counts = whole_counts(dual.counts, totals, rows, slack, least_sizes)
            if counts is None:
                continue
            labels = transport_groups(costs, groups, counts, dual.prices)
            cost = float(costs[np.arange(n), labels].sum())
            if best is None or cost < best.cost:
                best = Assignment(labels, cost, min(dual.bound, cost), dual.multipliers)
            if cost <= (1 + _MAX_GAP) * dual.bound:
                break
        if best is not None:
            return best
    raise NoClusteringError(
        NOT_CONVERGED, f"No {k} clusters within the limits were found: ask for fewer clusters, or smaller ones."
    )


@dataclass(frozen=True)
class NewLabels:
    """Labels of new instances, and by how much they miss limits.

    Attributes
    ----------
    labels : int array (n,)
    excess : int array (R, k)
        By how much each cluster, with its old and new instances, exceeds each limit: ``rows @ counts - slack``.
    misses : float array (R, k)
        The excess as a part of the cluster's instances: the difference of two shares. Not positive if the limit is kept.
    is_proved : bool
        If a limit is missed: whether no labels of these instances keep all limits. False if none were found.
    """

    labels: np.ndarray
    excess: np.ndarray
    misses: np.ndarray
    is_proved: bool


def assign_new(costs: np.ndarray, groups: np.ndarray, sizes: np.ndarray, rows: np.ndarray, slack: np.ndarray) -> NewLabels:
    """Labels for new instances in clusters with old ones, within limits on both together.

    If no labels within the limits are found, the largest miss is made as small as possible, and then the cost.

    Parameters
    ----------
    costs : float array (n, k)
        Cost of each instance in each cluster, finite and not negative.
    groups : int array (n,)
        0..K-1.
    sizes : int array (k,)
        Number of old instances in each cluster.
    rows, slack : int arrays (R, K), (R, k)
        The limits, from :func:`clusterlets.algorithms.limits.assignment_limits`: ``rows @ counts`` may be at most ``slack`` for
        the counts (K, k) of the new instances.

    Notes
    -----
    All labels of a few instances are tried (``enumeration.MAX_LABELLINGS``). Otherwise O(n k) time
    per step of the dual, plus the transports. Labels are then the cheapest ones with the counts that were found, and these
    counts are near the cheapest fractional ones. The least miss is exact for few instances (:data:`_MAX_SPLITS`).
    Otherwise it is found by bisection, with the search for whole counts at each step and, where it fails, an integer program.
    """
    new = _NewInstances(np.bincount(groups, minlength=rows.shape[1]), sizes, rows, slack)
    if len(sizes) ** len(groups) <= MAX_LABELLINGS:
        every, all_counts = every_labelling(groups, len(new.totals), len(sizes))
        misses = new.misses(all_counts)
        best = np.lexsort((costs[np.arange(len(groups)), every].sum(axis=1), misses))[0]
        labels, counts, is_proved = every[best], all_counts[best], bool(misses[best] > 0)
    else:
        labels, counts, is_proved = _search_labels(costs, groups, new)
    excess = products(rows, counts) - slack
    misses = excess / np.maximum(1, sizes + counts.sum(axis=0)) / new.units
    return NewLabels(labels, excess, misses, is_proved)


def _search_labels(costs, groups, new: "_NewInstances") -> tuple[np.ndarray, np.ndarray, bool]:
    """Labels (n,), their counts (K, k), and whether it is proved that all labels miss a limit."""
    dual = _solve_dual(costs, groups, new.totals, new.rows, new.slack, None)
    counts, is_proved = new.counts_near(dual.counts, 0), False
    if counts is None:
        nearest = np.zeros((len(new.totals), len(new.sizes)), dtype=np.int64)
        np.add.at(nearest, (groups, costs.argmin(axis=1)), 1)
        least, is_proved = new.least_miss(nearest)
        miss = new.miss(least)
        dual = _solve_dual(costs, groups, new.totals, *new.relaxed(miss), None)
        nearer = new.counts_near(dual.counts, miss, least)
        counts = least if nearer is None else nearer
    return transport_groups(costs, groups, counts, dual.prices), counts, is_proved


class _NewInstances:
    """The counts that new instances can have. A miss is a whole number of units of 1 / ``resolution``, rounded up."""

    def __init__(self, totals: np.ndarray, sizes: np.ndarray, rows: np.ndarray, slack: np.ndarray):
        self.totals, self.sizes, self.rows, self.slack = totals, sizes, rows, slack
        self.units = violation_units(rows)[:, None]
        # The search multiplies the largest product by 64 and adds several.
        largest = max(1, int(np.abs(slack).max(initial=0)), int(np.abs(rows).max(initial=0) * (totals.sum() + sizes.sum())))
        self.resolution = max(1, min(_MISS_RESOLUTION, 2**54 // largest))

    def relaxed(self, miss: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows and slack of the limits, if each may be missed by this much of a cluster's size."""
        if not miss:
            return self.rows, self.slack
        slack = self.resolution * self.slack + miss * self.units * self.sizes
        return self.resolution * self.rows - miss * self.units, np.ascontiguousarray(slack)

    def miss(self, counts: np.ndarray) -> int:
        """The largest miss of these counts (K, k); 0 if they keep all limits."""
        return int(self.misses(counts[None])[0])

    def misses(self, counts: np.ndarray) -> np.ndarray:
        """The largest miss (m,) of each of m counts (m, K, k)."""
        largest = np.zeros(len(counts), dtype=np.int64)
        sizes = np.maximum(1, self.sizes + counts.sum(axis=1))
        for row, slack, unit in zip(self.rows, self.slack, self.units[:, 0], strict=True):
            excess = (row[:, None] * counts).sum(axis=1) - slack
            largest = np.maximum(largest, (-(-self.resolution * excess // (unit * sizes))).max(axis=1))
        return largest

    def counts_near(self, wanted: np.ndarray, miss: int, known: np.ndarray | None = None) -> np.ndarray | None:
        """Whole counts near ``wanted`` (K, k) that miss no limit by more; if the search fails, between these and ``known``."""
        rows, slack = self.relaxed(miss)
        no_least_sizes = np.zeros_like(self.sizes)
        counts = whole_counts(wanted, self.totals, rows, slack, no_least_sizes)
        return moved_towards(wanted, known, rows, slack, no_least_sizes) if counts is None and known is not None else counts

    def least_miss(self, nearest: np.ndarray) -> tuple[np.ndarray, bool]:
        """Counts (K, k) with the least largest miss, and whether it is proved that all counts miss a limit.

        ``nearest`` (K, k) are the counts of the nearest clusters.
        """
        if np.prod(self.totals + 1.0) <= _MAX_SPLITS:
            counts = self._split()
            return counts, self.miss(counts) > 0
        shares = np.outer(self.totals, self.sizes / self.sizes.sum())
        best = min(nearest, rounded_to(shares, self.totals), key=self.miss)
        # All clusters together miss a limit by a mean of their misses.
        excess = products(self.rows, self.totals) - self.slack.sum(axis=1)
        n = self.totals.sum() + self.sizes.sum()
        least = max(0, int((-(-self.resolution * excess // (self.units[:, 0] * n))).max(initial=0)))
        fails, step = least - 1, 1  # small steps first: the mean of the misses is often the least largest one
        while self.miss(best) - fails > 1:
            trial = min(fails + step, (fails + self.miss(best)) // 2)
            trial_counts = self._counts_within(trial)
            if trial_counts is None:
                trial_counts = self._program_within(trial)
            if trial_counts is None:
                fails, step = trial, 4 * step
            else:
                best = trial_counts
        return best, least > 0

    def _counts_within(self, miss: int) -> np.ndarray | None:
        """Whole counts that miss no limit by more than this, or None if the search fails."""
        rows, slack = self.relaxed(miss)
        costs = np.zeros((len(self.totals), len(self.sizes)))
        units = violation_units(rows)[:, None]
        dual = solve_dual(
            costs,
            self.totals.astype(np.float64),
            np.arange(len(self.totals)),
            len(self.totals),
            rows / units,
            slack / units,
            None,
            _COLD_START,
            _TOLERANCE,
        )
        return self.counts_near(dual.counts, miss)

    def _program_within(self, miss: int) -> np.ndarray | None:
        """Whole counts that miss no limit by more than this, from an integer program, or None if it finds none.

        The search above fails now and then although there are some. The solver's arithmetic is not exact, so its counts are
        checked.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp  # imported late: most labels do not need it
        from scipy.sparse import csr_array, eye_array, kron

        rows, slack = self.relaxed(miss)
        n_groups, k = len(self.totals), len(self.sizes)
        units = violation_units(rows)[:, None]
        constraints = [
            LinearConstraint(kron(eye_array(n_groups), np.ones((1, k))), self.totals, self.totals),
            LinearConstraint(kron(csr_array(rows / units), eye_array(k)), -np.inf, (slack / units).ravel()),
        ]
        zeros = np.zeros(n_groups * k)
        solution = milp(zeros, constraints=constraints, integrality=zeros + 1, bounds=Bounds(0), options=_PROGRAM_OPTIONS)
        if solution.x is None:
            return None
        counts = np.ascontiguousarray(np.rint(solution.x).astype(np.int64).reshape(n_groups, k))
        return counts if (counts.sum(axis=1) == self.totals).all() and self.miss(counts) <= miss else None

    def _split(self) -> np.ndarray:
        """Counts (K, k) with the least largest miss, by dynamic programming over the clusters: O(k N^2) for N splits."""
        splits = np.array(list(np.ndindex(*(self.totals + 1))))
        is_within = (splits[None, :, :] <= splits[:, None, :]).all(axis=2)
        rest = np.where(is_within, np.arange(len(splits))[:, None] - np.arange(len(splits)), 0)
        best, parts = np.where(splits.any(axis=1), np.inf, 0.0), []
        for cluster, size in enumerate(self.sizes):
            excess = products(self.rows, splits.T) - self.slack[:, cluster, None]
            misses = (excess / self.units / np.maximum(1, size + splits.sum(axis=1))).max(axis=0, initial=0.0)
            worst = np.where(is_within, np.maximum(best[rest], misses), np.inf)
            parts.append(worst.argmin(axis=1))
            best = worst.min(axis=1)
        counts, state = [], len(splits) - 1
        for part in parts[::-1]:
            counts.append(splits[part[state]])
            state -= part[state]
        return np.ascontiguousarray(np.array(counts[::-1]).T)


def _solve_dual(costs, groups, totals, rows, slack, multipliers) -> FairDual:
    """The dual under ``rows @ counts <= slack``, from ``multipliers`` or, if these are None, from 0."""
    n, k = costs.shape
    if not len(rows):
        counts = np.zeros((len(totals), k))
        np.add.at(counts, (groups, costs.argmin(axis=1)), 1)
        return FairDual(float(costs.min(axis=1).sum()), np.zeros((0, k)), np.zeros(counts.shape), counts, 0.0)
    units = violation_units(rows)[:, None]
    return solve_dual(
        costs,
        np.ones(n),
        groups,
        len(totals),
        rows / units,
        slack / units,
        multipliers,
        temperatures=_COLD_START if multipliers is None else _WARM_START,
        tolerance=min(_TOLERANCE, _TOLERANCE_FRACTION * n),
    )
