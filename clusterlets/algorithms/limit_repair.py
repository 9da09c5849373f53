"""Change given labels so that all clusters keep the limits on groups: for the fewest instances, or at the least cost.

The number of instances that must change cluster depends only on the counts of the groups in the clusters. So the linear program
of :mod:`clusterlets.algorithms.fair_dual` needs one row for each group in each cluster, however many instances there are. Its
dual is a lower bound on the changes. Whole counts near its solution come from :mod:`clusterlets.algorithms.limit_counts`.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from clusterlets.algorithms.enumeration import MAX_LABELLINGS, every_labelling
from clusterlets.algorithms.fair_dual import FairDual, solve_dual
from clusterlets.algorithms.limit_counts import feasible_counts, least_cluster_size, moved_towards
from clusterlets.algorithms.limits import products, violation_units
from clusterlets.algorithms.transport import transport_groups

_TEMPERATURES, _TOLERANCE = (1.0, 0.1, 0.01, 0.001), 0.5
# Cost of the largest distance, in changes: first small, so that it only decides between equally many changes.
_DISTANCE, _DISTANCES = 0.01, (0.1, 0.5)
# Above this gap between changes and bound, a mixed-integer program is solved, with this many nodes of its tree at most.
_MAX_GAP, _PROGRAM_OPTIONS = 0.01, {"node_limit": 300}
_ROUNDING = 1e-6  # of the bounds, which are sums of floating-point numbers


@dataclass(frozen=True)
class Repaired:
    """Labels (n,) that keep the limits, and a lower bound on the number of instances that must change cluster."""

    labels: np.ndarray
    least_moves: int


def repair_labels(
    labels: np.ndarray,
    groups: np.ndarray,
    n_clusters: int,
    rows: np.ndarray,
    least_size: int = 1,
    costs: np.ndarray | None = None,
    cheapest: bool = False,
    largest_size: int | None = None,
) -> Repaired:
    """Labels within the limits: with the fewest changes and, among these, at a low cost; or the ``cheapest`` ones.

    Parameters
    ----------
    labels, groups : int arrays (n,)
        0..n_clusters-1, and 0..K-1, each of which occurs.
    rows : int array (R, K)
        The limits: ``rows @ counts`` may not be positive for the counts (K, n_clusters) of the groups in the clusters.
    least_size : int
        Smallest number of instances in a cluster, at least 1.
    costs : float array (n, n_clusters), optional
        Cost of each instance in each cluster, finite and not negative. Without it, the order of the instances decides which of
        a group change. Required for the cheapest labels.
    largest_size : int, optional
        Largest number of instances in a cluster, by default any.

    Raises
    ------
    NoClusteringError
        ``infeasible``, if no labels keep the limits, and ``not_converged``, if none were found.

    Notes
    -----
    The counts of the fewest changes are found in time that does not depend on n; the transport then takes O(n k) memory.
    """
    problem = _Problem(groups, labels, n_clusters, rows, least_size, len(groups) if largest_size is None else largest_size)
    changed = (labels[:, None] != np.arange(n_clusters)).astype(np.float64)
    relative = np.zeros(changed.shape) if costs is None else costs / (costs.max() or 1.0)
    counts, least_moves, prices = problem.fewest_moves(relative)
    if n_clusters ** len(groups) <= MAX_LABELLINGS:
        best = problem.best_of_all(relative, cheapest)
        return Repaired(best, int((best != labels).sum()) if not cheapest else least_moves)
    if cheapest:
        assert costs is not None
        dual = problem.dual(costs, np.ones(len(groups)), groups)
        return Repaired(transport_groups(costs, groups, problem.counts_near(dual.counts), dual.prices), least_moves)
    # All distances together are less than a change, so that the least cost means the fewest changes.
    total = changed + relative / (2 * len(groups))
    best = transport_groups(total, groups, counts, prices)
    if costs is not None and least_moves:
        # Other counts may need as few changes, and cost less.
        for weight in _DISTANCES:
            dual = problem.dual(changed + weight * relative, np.ones(len(groups)), groups)
            other = transport_groups(total, groups, problem.nearer_to_old(problem.counts_near(dual.counts)), dual.prices)
            best = min(best, other, key=lambda labels: float(total[np.arange(len(labels)), labels].sum()))
    return Repaired(best, least_moves)


class _Problem:
    """Counts ``old`` (K, k) of the groups in the clusters, and the limits."""

    def __init__(self, groups, labels, n_clusters, rows, least_size, largest_size):
        self.groups, self.labels, self.rows = groups, labels, rows
        self.least_size, self.largest_size = least_size, largest_size
        self.old = np.zeros((rows.shape[1], n_clusters), dtype=np.int64)
        np.add.at(self.old, (groups, labels), 1)
        self.totals, n = self.old.sum(axis=1), len(groups)
        size = least_cluster_size(self.totals, rows, least_size)
        size = size if size * n_clusters <= n else least_size
        ones = np.ones((1, rows.shape[1]), dtype=np.int64)
        upper, slack = ([ones], [largest_size]) if largest_size < n else ([], [])
        self.constraints = np.vstack([rows, *upper, -ones])
        self.slack = np.repeat(np.r_[np.zeros(len(rows)), slack, -size][:, None], n_clusters, axis=1)

    def dual(self, costs: np.ndarray, weights: np.ndarray, groups: np.ndarray) -> FairDual:
        units = violation_units(self.constraints)[:, None]
        constraints, slack = self.constraints / units, self.slack / units
        return solve_dual(costs, weights, groups, len(self.totals), constraints, slack, None, _TEMPERATURES, _TOLERANCE)

    def counts_near(self, wanted: np.ndarray) -> np.ndarray:
        return feasible_counts(wanted, self.totals, self.rows, self.least_size, self.largest_size)

    def nearer_to_old(self, counts: np.ndarray) -> np.ndarray:
        """Counts (K, k) between ``counts`` and the old ones, with fewer changes."""
        rows, slack = self.constraints[:-1], self.slack[:-1].astype(np.int64)
        nearer = moved_towards(self.old, counts, rows, slack, np.full(counts.shape[1], self.least_size))
        return counts if nearer is None else nearer

    def _are_sizes_kept(self, sizes: np.ndarray) -> np.ndarray:
        """Whether all clusters (..., k) have allowed sizes."""
        return ((sizes >= self.least_size) & (sizes <= self.largest_size)).all(axis=-1)

    def best_of_all(self, costs: np.ndarray, cheapest: bool) -> np.ndarray:
        """The labels within the limits that change the fewest instances and then cost least; or only cost least."""
        n, k = costs.shape
        every, counts = every_labelling(self.groups, len(self.totals), k)
        allowed = self._are_sizes_kept(counts.sum(axis=1))
        for row in self.rows:
            allowed &= ((row[:, None] * counts).sum(axis=1) <= 0).all(axis=1)
        every = every[allowed]
        moves, sums = (every != self.labels).sum(axis=1), costs[np.arange(n), every].sum(axis=1)
        return every[np.lexsort((moves, sums) if cheapest else (sums, moves))[0]]

    def fewest_moves(self, relative: np.ndarray) -> tuple[np.ndarray, int, np.ndarray]:
        """Counts (K, k) with few changes, a lower bound on the number of changes, and prices (K, k) for the transport.

        ``relative`` (n, k) are the costs as fractions of the largest one.
        """
        k, old = self.old.shape[1], self.old
        if (products(self.rows, old) <= 0).all() and self._are_sizes_kept(old.sum(axis=0)):
            return old, 0, np.zeros(old.shape)
        pairs, weights = np.argwhere(old > 0), old[old > 0].astype(np.float64)  # pairs of a group and a cluster
        sums = np.zeros((*old.shape, k))
        np.add.at(sums, (self.groups, self.labels), relative)
        changed = (pairs[:, 1, None] != np.arange(k)).astype(np.float64)
        costs = changed + _DISTANCE * changed * sums[old > 0] / weights[:, None]
        dual = self.dual(costs, weights, np.ascontiguousarray(pairs[:, 0]))
        # The value of the dual at these multipliers, if distances cost nothing.
        least = float(((changed + dual.prices[pairs[:, 0]]).min(axis=1) * weights).sum())
        units = violation_units(self.constraints)[:, None]
        bound = max(0, ceil(least - (dual.multipliers * self.slack / units).sum() - _ROUNDING * len(self.groups)))
        counts = self.nearer_to_old(self.counts_near(dual.counts))
        if _moves(counts, old) > (1 + _MAX_GAP) * bound:
            program_counts, program_bound = self._solve_program()
            bound = max(bound, program_bound)
            if program_counts is not None:
                program_counts = self.nearer_to_old(self.counts_near(program_counts.astype(np.float64)))
                counts = min(counts, program_counts, key=lambda candidate: _moves(candidate, old))
        return counts, bound, dual.prices

    def _solve_program(self) -> tuple[np.ndarray | None, int]:
        """Counts (K, k) with the fewest changes from a mixed-integer program, or None, and a lower bound on the changes.

        The solver's arithmetic is not exact: its counts are checked by a search, and its bound is rounded down a little.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp  # imported late: most labels do not need it
        from scipy.sparse import csr_array, eye_array, hstack, kron

        n_groups, k = self.old.shape
        counts, none = eye_array(n_groups * k), csr_array((n_groups * k, n_groups * k))
        units = violation_units(self.constraints)[:, None]
        sums = kron(eye_array(n_groups), np.ones((1, k)))
        limits = kron(csr_array(self.constraints / units), eye_array(k))
        constraints = [
            LinearConstraint(hstack([sums, sums @ none]), self.totals, self.totals),
            LinearConstraint(hstack([limits, limits @ none]), -np.inf, (self.slack / units).ravel()),
            LinearConstraint(hstack([counts, counts]), self.old.ravel(), np.inf),  # the second half counts those that leave
        ]
        is_count = np.repeat([1, 0], n_groups * k)
        solution = milp(1 - is_count, constraints=constraints, integrality=is_count, bounds=Bounds(0), options=_PROGRAM_OPTIONS)
        bound = 0 if solution.mip_dual_bound is None else max(0, ceil(solution.mip_dual_bound - 0.01))
        if solution.x is None:
            return None, bound
        whole = np.rint(solution.x[: n_groups * k]).astype(np.int64).reshape(n_groups, k)
        return (np.ascontiguousarray(whole) if (whole.sum(axis=1) == self.totals).all() else None), bound


def _moves(counts: np.ndarray, old: np.ndarray) -> int:
    """How many instances change cluster between two counts (K, k)."""
    return int(np.abs(counts - old).sum()) // 2
