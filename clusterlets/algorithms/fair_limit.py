"""k-means under strict limits on the groups in every cluster.

1. *Centres*, on a weighted sample if the table is large: several starts of Lloyd's rounds, each with the cheapest fractional
   assignment within the limits (:mod:`clusterlets.algorithms.fair_dual`). Then swaps replace single centres by rows, to escape
   from poor local optima.
2. *Labels*, in rounds on the whole table: the dual gives fractional counts of the groups in the clusters, and prices.
   :mod:`clusterlets.algorithms.limit_counts` finds whole counts near these that keep all limits. A transportation problem for
   each group gives the cheapest labels with the whole counts. The means of the clusters are the next centres.
3. *Polish*, on small tables: an instance moves, or two are exchanged, if this lowers the sum of squared errors.

The result is checked in whole-number arithmetic before it is returned.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import attrgetter
from time import monotonic

import numpy as np

from clusterlets.algorithms.compiled import compiled, inner
from clusterlets.algorithms.fair_dual import FairDual, fractional_means, solve_sparse_dual
from clusterlets.algorithms.fair_flow import FairKMeansResult, draw_sample
from clusterlets.algorithms.geometry import moments_by_label, squared_distances_to_centres
from clusterlets.algorithms.instances import checked_instances
from clusterlets.algorithms.limit_counts import NOT_CONVERGED, feasible_counts, rounded_to
from clusterlets.algorithms.limits import Limit, limit_rows, products, violation_units
from clusterlets.algorithms.transport import transport_groups
from clusterlets.algorithms.weighted_kmeans import weighted_kmeans
from clusterlets.errors import NoClusteringError

# Temperatures of the dual. A cold start has no multipliers; a warm start has those of nearby centres.
_COLD_START, _WARM_START = (1.0, 0.03), (0.03,)  # on the sample
_COLD_START_TABLE, _WARM_START_TABLE = (1.0, 0.1, 0.01), (0.01,)
_SAMPLE_TOLERANCE, _TABLE_TOLERANCE = 1e-3, 2e-4  # the dual may be off by these fractions of rows (table: at most 0.5 rows)
_TRIAL_ROUNDS = 2  # rounds of each start, before the best starts are chosen
_MAX_START_ROUNDS = 30  # of a start or swap that is continued
_MAX_SWAPS = 6  # times n_init: swaps that are tried
_MAX_FAILURES = 2  # times n_init, but at most k: unsuccessful swaps in a row that end the search
_SWAP_ROUNDS = 3  # rounds after each swap
_PROMISING_RATIO = 1.03  # a swap gets more rounds if its bound is below the current bound times this
_SAME_BOUND = 1e-4  # if the bounds of two starts differ by at most this fraction, one of them is left out
_MIN_GAIN = 1e-4  # a round is idle if it lowers the cost by less than this fraction
_PATIENCE, _MAX_TABLE_ROUNDS = 2, 60  # rounds on the table end after this many idle ones in a row, or in all
_MAX_GAP = 0.01  # above this gap, the dual is solved again without the given multipliers
_TABLE_STARTS = ((3_000, 5), (12_000, 2))  # (largest number of rows, starts that continue on the table); otherwise one start
_MAX_POLISHED_ROWS = 8_000  # larger tables are not polished, because the time grows with the square of the rows
_MAX_SWEEPS = 2  # of the polish


def fair_limit(
    X: np.ndarray,
    groups: np.ndarray,
    n_clusters: int,
    random_state: np.random.Generator,
    limits: Sequence[Limit],
    levels: np.ndarray,
    least_size: int = 1,
    n_init: int = 4,
    max_seconds: float | None = None,
    report: Callable[[str, float], None] | None = None,
) -> FairKMeansResult:
    """Cluster by k-means so that every cluster keeps the limits.

    Parameters
    ----------
    X, groups, n_clusters, random_state
        As in :meth:`clusterlets.methods.Method.fit`; groups are combinations of the levels of all sensitive columns.
    limits : sequence of Limit
    levels : int array (K, S)
        Level of each group in each sensitive column.
    least_size, n_init, max_seconds
        As :class:`clusterlets.FairLimit` declares them; the first is ``min_cluster_size``.
    report : callable, optional
        Called after each step, with a name for the step and the cost that it reached.

    Raises
    ------
    NoClusteringError
        ``infeasible`` if it is proved that no such clusters exist, and ``not_converged`` if the search found none.

    Notes
    -----
    O(n k d) time per round for distances, and O(n k) for each step of the dual; O(n k) memory.
    """
    X, groups = checked_instances(X, groups, "fair-limit", n_clusters)
    search = _Search(X, groups, n_clusters, random_state, limits, levels, least_size, n_init, max_seconds, report)
    result = search.single_cluster() if n_clusters == 1 else search.best_of_starts()
    search.check(result.labels)
    return result


@dataclass(frozen=True)
class _Centres:
    """Centres (k, d), which are the means of a fractional assignment, and the multipliers and the bound of that assignment."""

    centres: np.ndarray
    multipliers: np.ndarray
    bound: float


class _Search:
    """The steps of a fit, which share the table, the limits in whole numbers, a sample, and the random generator."""

    def __init__(self, X, groups, n_clusters, random_state, limits, levels, least_size, n_init, max_seconds, report):
        whole_limits = limit_rows(limits, levels, np.bincount(groups, minlength=len(levels)))
        # Merge groups that no limit distinguishes.
        if len(whole_limits):
            whole_limits, codes = np.unique(whole_limits, axis=1, return_inverse=True)
        else:
            whole_limits, codes = whole_limits[:, :1], np.zeros(len(levels), int)
        self._X, self._groups, self._k, self._random = X, codes.reshape(-1)[groups], n_clusters, random_state
        self._totals, self._least_size = np.bincount(self._groups), least_size
        self._limits = np.ascontiguousarray(whole_limits)
        self._scaled_limits = self._limits / violation_units(whole_limits)[:, None]
        self._n_init, self._report = n_init, report or (lambda step, cost: None)
        self._deadline = np.inf if max_seconds is None else monotonic() + max_seconds
        sample, self._sample_weights = draw_sample(X, self._groups, n_clusters, random_state)
        self._sample, self._sample_groups = X[sample], self._groups[sample]
        self._n_rounds = 0

    def best_of_starts(self) -> FairKMeansResult:
        try:  # find out first whether clusters within the limits exist
            self._counts = self._feasible_counts(np.repeat(self._totals[:, None] / self._k, self._k, axis=1))
        except NoClusteringError as error:
            error.labels = self._labels_without_limits() if error.status == NOT_CONVERGED else None
            raise
        best = None
        n_starts = next((starts for max_rows, starts in _TABLE_STARTS if len(self._X) <= max_rows), 1)
        for centres in self._place_centres(n_starts):
            result = self._run_on_table(centres)
            if len(self._X) <= _MAX_POLISHED_ROWS:
                result = self._polish_result(result)
            self._report("start on the table", result.inertia)
            if best is None or result.inertia < best.inertia:
                best = result
            if monotonic() > self._deadline:
                break
        assert best is not None
        return replace(best, n_iter=self._n_rounds)

    def single_cluster(self) -> FairKMeansResult:
        self._feasible_counts(self._totals[:, None].astype(np.float64))  # raises if the table breaks a limit
        labels = np.zeros(len(self._X), dtype=np.int64)
        centres, inertias = moments_by_label(self._X, labels, 1)
        return FairKMeansResult(labels, centres, float(inertias.sum()), 0.0, 1)

    def check(self, labels: np.ndarray) -> None:
        counts = np.zeros((len(self._totals), self._k), dtype=np.int64)
        np.add.at(counts, (self._groups, labels), 1)
        if (products(self._limits, counts) > 0).any() or counts.sum(axis=0).min() < self._least_size:
            raise NoClusteringError(
                NOT_CONVERGED, "fair-limit made clusters that break a limit. This is a bug: please report it."
            )

    def _labels_without_limits(self) -> np.ndarray:
        """Labels of the cheapest fractional assignment, rounded to whole instances without regard to the limits."""
        centres, _ = weighted_kmeans(self._sample, self._sample_weights, self._k, self._random)
        start = self._run_rounds(centres, None, _TRIAL_ROUNDS)
        costs = squared_distances_to_centres(self._X, start.centres, self._k)
        dual = self._solve_table_dual(costs, start.multipliers, _COLD_START_TABLE)
        return transport_groups(costs, self._groups, rounded_to(dual.counts, self._totals), dual.prices)

    # ---- centres on the sample --------------------------------------------------------------------------------------

    def _place_centres(self, n_starts: int) -> list[_Centres]:
        """The centres of the best ``n_starts`` starts, improved by swaps. Starts with nearly equal bounds count once."""
        trials = []
        for _ in range(max(self._n_init, n_starts)):
            centres, _ = weighted_kmeans(self._sample, self._sample_weights, self._k, self._random)
            trials.append(self._run_rounds(centres, None, _TRIAL_ROUNDS))
            if monotonic() > self._deadline:
                break
        trials.sort(key=attrgetter("bound"))
        best: list[_Centres] = []
        for trial in trials[:n_starts]:
            current = self._swap_centres(self._run_rounds(trial.centres, trial.multipliers, _MAX_START_ROUNDS))
            if all(abs(other.bound - current.bound) > _SAME_BOUND * current.bound for other in best):
                best.append(current)
        return best

    def _run_rounds(self, centres: np.ndarray, multipliers: np.ndarray | None, max_rounds: int) -> _Centres:
        """Run rounds with a fractional assignment until one lowers the bound by less than a thousandth."""
        last_bound = np.inf
        for _ in range(max_rounds):
            costs = squared_distances_to_centres(self._sample, centres, self._k)
            temperatures = _COLD_START if multipliers is None else _WARM_START
            tolerance = _SAMPLE_TOLERANCE * len(self._X)
            dual = self._solve_dual(costs, self._sample_weights, self._sample_groups, multipliers, temperatures, tolerance)
            multipliers = dual.multipliers
            centres = fractional_means(self._sample, costs, self._sample_weights, self._sample_groups, dual, centres)
            if dual.bound >= (1 - 1e-3) * last_bound:
                break
            last_bound = dual.bound
        return _Centres(centres, dual.multipliers, dual.bound)

    def _swap_centres(self, current: _Centres) -> _Centres:
        """Try to replace a centre by a row, drawn as in k-means++, and keep every change that lowers the bound."""
        k, failures = self._k, 0
        for trial in range(_MAX_SWAPS * self._n_init):
            if monotonic() > self._deadline or failures == min(_MAX_FAILURES * self._n_init, k):
                break
            costs = squared_distances_to_centres(self._sample, current.centres, k)
            two_smallest = np.partition(costs, 1, axis=1)
            nearest = costs.argmin(axis=1)
            removal_costs = np.bincount(nearest, self._sample_weights * (two_smallest[:, 1] - two_smallest[:, 0]), minlength=k)
            # In turn: a random centre, and one of the three that are cheapest to remove.
            if trial % 2:
                old_centre = int(np.argsort(removal_costs, kind="stable")[(trial // 2) % min(3, k)])
            else:
                old_centre = int(self._random.integers(k))
            costs[:, old_centre] = np.inf
            cumulative_weights = np.cumsum(self._sample_weights * costs.min(axis=1))
            if not cumulative_weights[-1] > 0:
                break
            row = min(
                int(np.searchsorted(cumulative_weights, self._random.random() * cumulative_weights[-1], side="right")),
                len(cumulative_weights) - 1,
            )
            centres = current.centres.copy()
            centres[old_centre] = self._sample[row]
            swapped = self._run_rounds(centres, None, _SWAP_ROUNDS)
            if swapped.bound < _PROMISING_RATIO * current.bound:
                swapped = self._run_rounds(swapped.centres, swapped.multipliers, _MAX_START_ROUNDS)
            failures += 1
            if swapped.bound < current.bound:
                current, failures = swapped, 0
                self._report("swap", current.bound)
        return current

    def _solve_dual(self, costs, weights, groups, multipliers, temperatures, tolerance) -> FairDual:
        return solve_sparse_dual(
            costs,
            weights,
            groups,
            len(self._totals),
            self._scaled_limits,
            np.zeros((len(self._limits), self._k)),
            multipliers,
            temperatures,
            tolerance,
        )

    # ---- labels on the table ----------------------------------------------------------------------------------------

    def _solve_table_dual(self, costs, multipliers, temperatures) -> FairDual:
        n = len(costs)
        return self._solve_dual(costs, np.ones(n), self._groups, multipliers, temperatures, min(0.5, _TABLE_TOLERANCE * n))

    def _feasible_counts(self, wanted: np.ndarray) -> np.ndarray:
        return feasible_counts(wanted, self._totals, self._limits, self._least_size)

    def _assign(self, centres: np.ndarray, multipliers: np.ndarray | None):
        """Nearly the cheapest labels within the limits, their gap to the bound, and multipliers for the next round.

        The gap is (cost - bound) / bound, where the bound holds for every fractional assignment.
        """
        costs, n = squared_distances_to_centres(self._X, centres, self._k), len(self._X)
        for initial_multipliers in (None,) if multipliers is None else (multipliers, None):
            is_warm = initial_multipliers is not None
            dual = self._solve_table_dual(costs, initial_multipliers, _WARM_START_TABLE if is_warm else _COLD_START_TABLE)
            if is_warm and len(self._limits) and products(self._scaled_limits, dual.counts).max() > max(2, n / 1000):
                continue
            with suppress(NoClusteringError):  # keeps the counts of the last round
                self._counts = self._feasible_counts(dual.counts)
            labels = transport_groups(costs, self._groups, self._counts, dual.prices)
            cost = float(costs[np.arange(n), labels].sum())
            gap = cost / dual.bound - 1 if dual.bound > 0 else (np.inf if cost > 0 else 0.0)
            if gap <= _MAX_GAP:
                break
        return labels, gap, dual.multipliers

    def _run_on_table(self, start: _Centres) -> FairKMeansResult:
        """Run rounds on the whole table until they bring no more gain, and return the best result."""
        best, n_idle = None, 0
        centres, multipliers = start.centres, start.multipliers
        for _ in range(_MAX_TABLE_ROUNDS):
            labels, gap, multipliers = self._assign(centres, multipliers)
            centres, inertias = moments_by_label(self._X, labels, self._k)
            inertia = float(inertias.sum())
            self._n_rounds += 1
            n_idle = n_idle + 1 if best is not None and inertia >= (1 - _MIN_GAIN) * best.inertia else 0
            if best is None or inertia < best.inertia:
                best = FairKMeansResult(labels, centres, inertia, gap, 0)
            if n_idle == _PATIENCE or monotonic() > self._deadline:
                break
        assert best is not None
        return best

    def _polish_result(self, result: FairKMeansResult) -> FairKMeansResult:
        labels = result.labels.copy()
        _polish(self._X, self._groups, self._limits, self._least_size, result.centres.copy(), labels, _MAX_SWEEPS)
        centres, inertias = moments_by_label(self._X, labels, self._k)
        return replace(result, labels=labels, centres=centres, inertia=float(inertias.sum()))


@inner
def _keeps_limits(limits, counts, cluster, leaving, arriving):
    """Whether a cluster keeps the limits if an instance of group ``leaving`` leaves and one of group ``arriving`` arrives.

    -1 in place of a group means that no instance leaves, or that none arrives.
    """
    for limit in range(len(limits)):
        total = 0
        if leaving >= 0:
            total -= limits[limit, leaving]
        if arriving >= 0:
            total += limits[limit, arriving]
        for group in range(limits.shape[1]):
            total += limits[limit, group] * counts[group, cluster]
        if total > 0:
            return False
    return True


@inner
def _move_rows(X, groups, limits, least_size, centres, labels, counts, sizes):
    """Move single instances to the clusters where they lower the cost most; returns whether any moved."""
    n, d = X.shape
    has_changed = False
    for row in range(n):
        group, source = groups[row], labels[row]
        if sizes[source] <= least_size:
            continue
        saved_cost = 0.0
        for feature in range(d):
            difference = X[row, feature] - centres[source, feature]
            saved_cost += difference * difference
        saved_cost *= sizes[source] / (sizes[source] - 1.0)
        best, target = saved_cost * (1 - 1e-9), -1  # smaller gains may be rounding errors
        for cluster in range(len(centres)):
            if cluster == source:
                continue
            cost = 0.0
            for feature in range(d):
                difference = X[row, feature] - centres[cluster, feature]
                cost += difference * difference
            cost *= sizes[cluster] / (sizes[cluster] + 1.0)
            if (
                cost < best
                and _keeps_limits(limits, counts, source, group, -1)
                and _keeps_limits(limits, counts, cluster, -1, group)
            ):
                best, target = cost, cluster
        if target < 0:
            continue
        for feature in range(d):
            centres[source, feature] += (centres[source, feature] - X[row, feature]) / (sizes[source] - 1.0)
            centres[target, feature] += (X[row, feature] - centres[target, feature]) / (sizes[target] + 1.0)
        counts[group, source] -= 1
        counts[group, target] += 1
        sizes[source] -= 1
        sizes[target] += 1
        labels[row] = target
        has_changed = True
    return has_changed


@inner
def _exchange_rows(X, groups, limits, centres, labels, counts, sizes):
    """Exchange the clusters of two instances wherever this lowers the cost; returns whether any were exchanged."""
    n, d = X.shape
    has_changed = False
    for first in range(n):
        for second in range(first):
            cluster_a, cluster_b = labels[first], labels[second]
            if cluster_a == cluster_b:
                continue
            # The exchange moves the mean of cluster a by shift / n_a, and the mean of cluster b by -shift / n_b.
            inverse_sizes = 1.0 / sizes[cluster_a] + 1.0 / sizes[cluster_b]
            change, scale = 0.0, 0.0
            for feature in range(d):
                shift = X[second, feature] - X[first, feature]
                product = shift * (2.0 * (centres[cluster_a, feature] - centres[cluster_b, feature]) + shift * inverse_sizes)
                change -= product
                scale += abs(product)
            if change >= -1e-9 * scale:
                continue
            first_group, second_group = groups[first], groups[second]
            if first_group == second_group or (
                _keeps_limits(limits, counts, cluster_a, first_group, second_group)
                and _keeps_limits(limits, counts, cluster_b, second_group, first_group)
            ):
                for feature in range(d):
                    shift = X[second, feature] - X[first, feature]
                    centres[cluster_a, feature] += shift / sizes[cluster_a]
                    centres[cluster_b, feature] -= shift / sizes[cluster_b]
                counts[first_group, cluster_a] -= 1
                counts[second_group, cluster_a] += 1
                counts[second_group, cluster_b] -= 1
                counts[first_group, cluster_b] += 1
                labels[first], labels[second] = cluster_b, cluster_a
                has_changed = True
    return has_changed


@compiled("void(float64[:,::1], int64[::1], int64[:,::1], int64, float64[:,::1], int64[::1], int64)")
def _polish(X, groups, limits, least_size, centres, labels, max_sweeps):
    """Move single instances, and exchange pairs, while the sum of squared errors falls and the limits hold.

    Changes ``labels`` and ``centres`` in place. The centres are the means of the clusters, before and after each change.
    """
    k, n_groups = len(centres), limits.shape[1]
    counts, sizes = np.zeros((n_groups, k), dtype=np.int64), np.zeros(k, dtype=np.int64)
    for row in range(len(X)):
        counts[groups[row], labels[row]] += 1
        sizes[labels[row]] += 1
    for _ in range(max_sweeps):
        has_moved = _move_rows(X, groups, limits, least_size, centres, labels, counts, sizes)
        has_exchanged = _exchange_rows(X, groups, limits, centres, labels, counts, sizes)
        if not (has_moved or has_exchanged):
            break
