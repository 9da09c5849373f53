"""k-means under limits on the groups that every cluster keeps strictly.

1. *Centres*, on a weighted sample of a large table: Lloyd's rounds whose assignment is the cheapest fractional one within the
   limits (:mod:`clusterlets.algorithms.fair_dual`), from several starts. Then centres are swapped: one is dropped and another
   drawn, which leaves poor local optima.
2. *Labels*, on the whole table: the dual gives fractional counts and prices, :mod:`clusterlets.algorithms.limit_counts` whole
   counts near them that keep all limits, and a transport for each group the cheapest labels with these counts; then the
   centres become means, and so on.
3. *Polish*, on small tables: single moves and exchanges of two instances, by their exact change of the sum of squared errors.

The result is checked in whole numbers before it is returned.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import attrgetter
from time import monotonic

import numpy as np

from clusterlets.algorithms.compiled import compiled
from clusterlets.algorithms.coreset import sample_coreset
from clusterlets.algorithms.fair_dual import FairDual, fractional_means, solve_sparse_dual
from clusterlets.algorithms.geometry import distances_to_centres, moments_by_label
from clusterlets.algorithms.instances import checked_instances
from clusterlets.algorithms.limit_counts import NOT_CONVERGED, feasible_counts, rounded_to
from clusterlets.algorithms.limits import Limit, limit_rows, products
from clusterlets.algorithms.transport import transport_groups
from clusterlets.algorithms.weighted_kmeans import weighted_kmeans
from clusterlets.errors import NoClusteringError

_SAMPLE = 8_000  # rows of the coreset on which centres are placed; tables of up to half as much again are taken whole
# Temperatures of the dual on the sample and on the table: without multipliers, and with those of nearby centres.
_COLD, _WARM, _COLD_TABLE, _WARM_TABLE = (1.0, 0.03), (0.03,), (1.0, 0.1, 0.01), (0.01,)
_ROUGH, _EXACT = 1e-3, 2e-4  # fraction of the instances by which limits may be missed, on the sample and on the table
_TRIAL_ROUNDS = 2  # of each start
_MAX_SWAPS, _MAX_FAILURES = 6, 2  # times n_init: trials of another centre, and failures in a row (k always end the trials)
_SWAP_ROUNDS = 3  # of each swap
_PROMISING = 1.03  # a swap whose bound is at most so many times the present one gets more rounds
_ALIKE = 1e-4  # starts whose bounds differ by at most this fraction count as one
_MIN_GAIN = 1e-4  # a round that lowers the cost by less than this fraction of it is idle
_PATIENCE, _MAX_ROUNDS = 2, 60  # idle rounds in a row after which the rounds on the table end, and rounds in all
_MAX_GAP = 0.01  # a dual with given multipliers and a larger gap has not converged, and starts again without them
_TABLE_STARTS = ((3_000, 5), (12_000, 2))  # up to so many rows, so many starts go on to the table; else one
_MAX_POLISHED, _MAX_SWEEPS = 8_000, 2  # rows up to which the result is polished, and sweeps (time grows with the rows' square)


@dataclass(frozen=True)
class FairLimitResult:
    """A local optimum of k-means under limits.

    Attributes
    ----------
    labels : int array (n,)
    centres : float array (k, d)
        Means of the clusters.
    inertia : float
        Sum of squared distances to them.
    gap : float
        How far the assignment may be above the cheapest one at the centres of its round, as a fraction of that.
    n_iter : int
        Rounds on the whole table, of all starts.
    multipliers : float array (R, k)
        Of the dual.
    """

    labels: np.ndarray
    centres: np.ndarray
    inertia: float
    gap: float
    n_iter: int
    multipliers: np.ndarray


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
) -> FairLimitResult:
    """Clusters that all keep the limits.

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
        Called with what was done, and the cost that it reached.

    Raises
    ------
    NoClusteringError
        ``infeasible`` if it is proved that no such clusters exist, and ``not_converged`` if none were found.

    Notes
    -----
    O(n k d) time per round for distances, and O(n k) for each step of the dual; O(n k) memory.
    """
    X, groups = checked_instances(X, groups, "fair-limit", n_clusters)
    problem = _Problem.of(X, groups, n_clusters, limits, levels, least_size)
    search = _Search(problem, random_state, n_init, None if max_seconds is None else monotonic() + max_seconds, report)
    return search.result()


@dataclass(frozen=True)
class _Problem:
    """A table, and its limits in whole numbers; groups that no limit tells apart are one."""

    X: np.ndarray
    groups: np.ndarray
    k: int
    totals: np.ndarray
    rows: np.ndarray
    least_size: int

    @classmethod
    def of(cls, X, groups, n_clusters, limits, levels, least_size):
        rows = limit_rows(limits, levels, np.bincount(groups, minlength=len(levels)))
        rows, merged = np.unique(rows, axis=1, return_inverse=True) if len(rows) else (rows[:, :1], np.zeros(len(levels), int))
        groups = merged.reshape(-1)[groups]
        return cls(X, groups, n_clusters, np.bincount(groups), np.ascontiguousarray(rows), least_size)

    @property
    def only_proportional(self) -> bool:
        """Whether the limits leave nothing but the table's own proportions: a single ray of counts.

        Rows that the totals meet with equality span all but one dimension.
        """
        tight = self.rows[products(self.rows, self.totals) == 0]
        # Each tight row a m <= 0 holds with equality in every cluster, as the clusters add up to a m = 0.
        return len(self.totals) > 1 and _rank(tight.tolist()) == len(self.totals) - 1

    def scaled_rows(self) -> np.ndarray:
        """The rows, scaled such that violations are in instances, as the dual takes them."""
        widths = self.rows.max(axis=1) - np.minimum(0, self.rows.min(axis=1)) if len(self.rows) else np.ones(0)
        return self.rows / widths[:, None]


def _rank(rows: list[list[int]]) -> int:
    """Rank of a small matrix of whole numbers, exactly."""
    rank, rows = 0, [list(row) for row in rows]
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((row for row in rows[rank:] if row[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        rows.insert(rank, pivot)
        for index in range(rank + 1, len(rows)):
            row = rows[index]
            rows[index] = [a * pivot[column] - b * row[column] for a, b in zip(row, pivot, strict=True)]
        rank += 1
    return rank


@dataclass(frozen=True)
class _Centres:
    """Centres (k, d), and the multipliers and the bound of the fractional assignment whose means they are."""

    centres: np.ndarray
    multipliers: np.ndarray
    bound: float


class _Search:
    """The steps of a fit, which share the table, the sample, and the random stream."""

    def __init__(self, problem: _Problem, random_state, n_init: int, deadline: float | None, report):
        self._problem, self._random, self._n_init = problem, random_state, n_init
        self._deadline, self._report = deadline, report
        self._scaled_rows = problem.scaled_rows()
        self._slack = np.zeros((len(problem.rows), problem.k))
        X, k = problem.X, problem.k
        size = max(_SAMPLE, 100 * k)
        if len(X) < 1.5 * size:
            self._X, self._groups, self._weights = X, problem.groups, np.ones(len(X))
        else:
            sample, self._weights = sample_coreset(X, problem.groups, k, size, random_state)
            self._X, self._groups = np.ascontiguousarray(X[sample]), problem.groups[sample]
        self.n_rounds = 0

    def result(self) -> FairLimitResult:
        problem = self._problem
        if problem.k == 1:
            return self._checked(self._single_cluster())
        # First of all, settle whether such clusters exist.
        try:
            self._counts = self._feasible_counts(np.repeat(problem.totals[:, None] / problem.k, problem.k, axis=1))
        except NoClusteringError as error:
            error.labels = self._nearest_labels() if error.status == NOT_CONVERGED else None
            raise
        best = None
        for centres in self._place_centres(next((n_starts for rows, n_starts in _TABLE_STARTS if len(problem.X) <= rows), 1)):
            result = self._run_on_table(centres)
            if len(problem.X) <= _MAX_POLISHED:
                result = self._polished(result)
            self._tell("start on the table", result.inertia)
            if best is None or result.inertia < best.inertia:
                best = result
            if self._is_late():
                break
        assert best is not None
        return self._checked(replace(best, n_iter=self.n_rounds))

    def _checked(self, result: FairLimitResult) -> FairLimitResult:
        problem = self._problem
        counts = np.zeros((len(problem.totals), problem.k), dtype=np.int64)
        np.add.at(counts, (problem.groups, result.labels), 1)
        if (products(problem.rows, counts) > 0).any() or counts.sum(axis=0).min() < problem.least_size:
            raise NoClusteringError(
                NOT_CONVERGED, "fair-limit made clusters that break a limit. This is an error of the program: please report it."
            )
        return result

    def _single_cluster(self) -> FairLimitResult:
        problem, labels = self._problem, np.zeros(len(self._problem.X), dtype=np.int64)
        self._feasible_counts(problem.totals[:, None].astype(np.float64))
        centres, spread = moments_by_label(problem.X, labels, 1)
        return FairLimitResult(labels, centres, float(spread.sum()), 0.0, 1, np.zeros((len(problem.rows), 1)))

    def _nearest_labels(self) -> np.ndarray:
        """Labels of the cheapest fractional assignment, rounded to whole instances without regard to the limits."""
        problem = self._problem
        start = self._run_rounds(weighted_kmeans(self._X, self._weights, problem.k, self._random)[0], None, _TRIAL_ROUNDS)
        costs = distances_to_centres(problem.X, start.centres, problem.k)
        dual = self._dual(
            costs, np.ones(len(costs)), problem.groups, start.multipliers, _COLD_TABLE, min(0.5, _EXACT * len(costs))
        )
        return transport_groups(costs, problem.groups, rounded_to(dual.counts, problem.totals), dual.prices)

    def _is_late(self) -> bool:
        return self._deadline is not None and monotonic() > self._deadline

    def _tell(self, what: str, cost: float) -> None:
        if self._report:
            self._report(what, cost)

    # ---- centres on the sample --------------------------------------------------------------------------------------

    def _place_centres(self, n_starts: int) -> list[_Centres]:
        """The best few centres of the starts, each after its swaps."""
        trials = []
        for _ in range(max(self._n_init, n_starts)):
            centres, _ = weighted_kmeans(self._X, self._weights, self._problem.k, self._random)
            trials.append(self._run_rounds(centres, None, _TRIAL_ROUNDS))
            if self._is_late():
                break
        trials.sort(key=attrgetter("bound"))
        placed: list[_Centres] = []
        for trial in trials[:n_starts]:
            current = self._swap_centres(self._run_rounds(trial.centres, trial.multipliers, 30))
            if all(abs(other.bound - current.bound) > _ALIKE * current.bound for other in placed):
                placed.append(current)
        return placed

    def _run_rounds(self, centres: np.ndarray, multipliers: np.ndarray | None, max_rounds: int) -> _Centres:
        """Fractional rounds until the bound hardly falls."""
        problem, last_bound = self._problem, np.inf
        for _ in range(max_rounds):
            costs = distances_to_centres(self._X, centres, problem.k)
            dual = self._dual(
                costs,
                self._weights,
                self._groups,
                multipliers,
                _COLD if multipliers is None else _WARM,
                _ROUGH * len(self._problem.X),
            )
            multipliers = dual.multipliers
            centres = fractional_means(self._X, costs, self._weights, self._groups, dual, centres)
            if dual.bound >= (1 - 1e-3) * last_bound:
                break
            last_bound = dual.bound
        return _Centres(centres, dual.multipliers, dual.bound)

    def _swap_centres(self, current: _Centres) -> _Centres:
        """The centres after trials that drop one and draw another by its distance."""
        k, failures = self._problem.k, 0
        for trial in range(_MAX_SWAPS * self._n_init):
            if self._is_late() or failures == min(_MAX_FAILURES * self._n_init, k):
                break
            costs = distances_to_centres(self._X, current.centres, k)
            two_least = np.partition(costs, 1, axis=1)
            nearest = costs.argmin(axis=1)
            losses = np.bincount(nearest, self._weights * (two_least[:, 1] - two_least[:, 0]), minlength=k)
            if trial % 2:
                dropped = int(np.argsort(losses, kind="stable")[(trial // 2) % min(3, k)])
            else:
                dropped = int(self._random.integers(k))
            costs[:, dropped] = np.inf
            chances = np.cumsum(self._weights * costs.min(axis=1))
            if not chances[-1] > 0:
                break
            row = min(int(np.searchsorted(chances, self._random.random() * chances[-1], side="right")), len(chances) - 1)
            centres = current.centres.copy()
            centres[dropped] = self._X[row]
            swapped = self._run_rounds(centres, None, _SWAP_ROUNDS)
            if swapped.bound < _PROMISING * current.bound:
                swapped = self._run_rounds(swapped.centres, swapped.multipliers, 30)
            failures += 1
            if swapped.bound < current.bound:
                current, failures = swapped, 0
                self._tell("swap", current.bound)
        return current

    def _dual(self, costs, weights, groups, multipliers, temperatures, tolerance) -> FairDual:
        n_groups = len(self._problem.totals)
        return solve_sparse_dual(
            costs, weights, groups, n_groups, self._scaled_rows, self._slack, multipliers, temperatures, tolerance
        )

    # ---- labels on the table ----------------------------------------------------------------------------------------

    def _feasible_counts(self, wanted: np.ndarray) -> np.ndarray:
        problem = self._problem
        return feasible_counts(wanted, problem.totals, problem.rows, problem.least_size, problem.only_proportional)

    def _assign(self, centres: np.ndarray, multipliers: np.ndarray | None):
        """Labels, the gap of their cost to that of the cheapest fractional assignment, and multipliers."""
        problem = self._problem
        costs = distances_to_centres(problem.X, centres, problem.k)
        weights, n = np.ones(len(costs)), len(costs)
        for is_warm in (True, False) if multipliers is not None else (False,):
            dual = self._dual(
                costs,
                weights,
                problem.groups,
                multipliers if is_warm else None,
                _WARM_TABLE if is_warm else _COLD_TABLE,
                min(0.5, _EXACT * n),
            )
            if is_warm and len(problem.rows) and products(self._scaled_rows, dual.counts).max() > max(2, n / 1000):
                continue
            with suppress(NoClusteringError):  # then the last counts serve
                self._counts = self._feasible_counts(dual.counts)
            labels = transport_groups(costs, problem.groups, self._counts, dual.prices)
            cost = float(costs[np.arange(n), labels].sum())
            gap = cost / dual.bound - 1 if dual.bound > 0 else (np.inf if cost > 0 else 0.0)
            if gap <= _MAX_GAP:
                break
        return labels, gap, dual.multipliers

    def _run_on_table(self, start: _Centres) -> FairLimitResult:
        """The best of the rounds on the whole table, which end when they no longer pay."""
        problem, best, idle = self._problem, None, 0
        centres, multipliers = start.centres, start.multipliers
        for _ in range(_MAX_ROUNDS):
            labels, gap, multipliers = self._assign(centres, multipliers)
            centres, spread = moments_by_label(problem.X, labels, problem.k)
            inertia = float(spread.sum())
            self.n_rounds += 1
            idle = idle + 1 if best is not None and inertia >= (1 - _MIN_GAIN) * best.inertia else 0
            if best is None or inertia < best.inertia:
                best = FairLimitResult(labels, centres, inertia, gap, 0, multipliers)
            if idle == _PATIENCE or self._is_late():
                break
        assert best is not None
        return best

    def _polished(self, result: FairLimitResult) -> FairLimitResult:
        problem, labels = self._problem, result.labels.copy()
        _polish(problem.X, problem.groups, problem.rows, problem.least_size, result.centres.copy(), labels, _MAX_SWEEPS)
        centres, spread = moments_by_label(problem.X, labels, problem.k)
        return replace(result, labels=labels, centres=centres, inertia=float(spread.sum()))


@compiled("int64(float64[:,::1], int64[::1], int64[:,::1], int64, float64[:,::1], int64[::1], int64)")
def _polish(X, groups, rows, least_size, centres, labels, max_sweeps):
    """Move single instances, and exchange two, while the sum of squared errors falls and the limits hold.

    Centres are the means of the clusters, and stay so. Returns the number of changes.
    """
    n, d = X.shape
    k, n_groups = len(centres), rows.shape[1]
    counts, sizes = np.zeros((n_groups, k), dtype=np.int64), np.zeros(k, dtype=np.int64)
    for row in range(n):
        counts[groups[row], labels[row]] += 1
        sizes[labels[row]] += 1
    changes = 0
    for _ in range(max_sweeps):
        before = changes
        for row in range(n):
            group, source = groups[row], labels[row]
            if sizes[source] <= least_size:
                continue
            own = 0.0
            for feature in range(d):
                difference = X[row, feature] - centres[source, feature]
                own += difference * difference
            own *= sizes[source] / (sizes[source] - 1.0)
            best, target = own * (1 - 1e-9), -1
            for cluster in range(k):
                if cluster == source:
                    continue
                cost = 0.0
                for feature in range(d):
                    difference = X[row, feature] - centres[cluster, feature]
                    cost += difference * difference
                cost *= sizes[cluster] / (sizes[cluster] + 1.0)
                if cost < best:
                    allowed = True
                    for limit in range(len(rows)):
                        leaving, arriving = -rows[limit, group], rows[limit, group]
                        for other in range(n_groups):
                            leaving += rows[limit, other] * counts[other, source]
                            arriving += rows[limit, other] * counts[other, cluster]
                        allowed = allowed and leaving <= 0 and arriving <= 0
                    if allowed:
                        best, target = cost, cluster
            if target >= 0:
                for feature in range(d):
                    centres[source, feature] += (centres[source, feature] - X[row, feature]) / (sizes[source] - 1.0)
                    centres[target, feature] += (X[row, feature] - centres[target, feature]) / (sizes[target] + 1.0)
                counts[group, source] -= 1
                counts[group, target] += 1
                sizes[source] -= 1
                sizes[target] += 1
                labels[row] = target
                changes += 1
        for one in range(n):
            for two in range(one):
                a, b = labels[one], labels[two]
                if a == b:
                    continue
                # The exchange moves the mean of a by v / n_a and that of b by -v / n_b, where v = x_two - x_one.
                step = 1.0 / sizes[a] + 1.0 / sizes[b]
                change, scale = 0.0, 0.0
                for feature in range(d):
                    v = X[two, feature] - X[one, feature]
                    product = v * (2.0 * (centres[a, feature] - centres[b, feature]) + v * step)
                    change -= product
                    scale += abs(product)
                if change >= -1e-9 * scale:
                    continue
                allowed = True
                g, h = groups[one], groups[two]
                if g != h:
                    for limit in range(len(rows)):
                        in_a, in_b = rows[limit, h] - rows[limit, g], rows[limit, g] - rows[limit, h]
                        for other in range(n_groups):
                            in_a += rows[limit, other] * counts[other, a]
                            in_b += rows[limit, other] * counts[other, b]
                        allowed = allowed and in_a <= 0 and in_b <= 0
                if allowed:
                    for feature in range(d):
                        v = X[two, feature] - X[one, feature]
                        centres[a, feature] += v / sizes[a]
                        centres[b, feature] -= v / sizes[b]
                    counts[g, a] -= 1
                    counts[h, a] += 1
                    counts[h, b] -= 1
                    counts[g, b] += 1
                    labels[one], labels[two] = b, a
                    changes += 1
        if changes == before:
            break
    return changes
