"""k-means under strict limits on the groups and the size of every cluster.

1. *Centres*, on a weighted sample if the table is large: several starts of Lloyd's rounds, each with the cheapest fractional
   assignment within the limits (:mod:`clusterlets.algorithms.fair_dual`). Then swaps replace single centres by rows, to escape
   from poor local optima.
2. *Labels*, in rounds on the whole table: the dual gives fractional counts of the groups in the clusters, and prices.
   :mod:`clusterlets.algorithms.limit_counts` finds whole counts near these that keep all limits. A transportation problem for
   each group gives the cheapest labels with the whole counts. The means of the clusters are the next centres. The first
   rounds do without whole counts.
3. *Polish*, on small tables: an instance moves, or two are exchanged, if this lowers the sum of squared errors. On tiny tables,
   :mod:`clusterlets.algorithms.tabu_moves` then moves several that restore the limits only together, and centres are relocated.

A table of at most fourteen rows is solved by enumeration instead. The result is checked in whole-number arithmetic before it is
returned.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np

from clusterlets.algorithms.compiled import compiled, inner
from clusterlets.algorithms.enumeration import MAX_ROWS, cheapest_clustering
from clusterlets.algorithms.fair_dual import FairAssignment, FairDual
from clusterlets.algorithms.fair_flow import FairKMeansResult, draw_sample
from clusterlets.algorithms.fractional_lloyd import Centres, run_rounds
from clusterlets.algorithms.geometry import moments_by_label, squared_distances_to_centres
from clusterlets.algorithms.instances import checked_instances
from clusterlets.algorithms.kernels import sums_by_label
from clusterlets.algorithms.kmeans import kmeans
from clusterlets.algorithms.limit_counts import INFEASIBLE, NOT_CONVERGED, feasible_counts, least_cluster_size, rounded_to
from clusterlets.algorithms.limits import Limit, limit_rows, products, violation_units
from clusterlets.algorithms.tabu_moves import cheaper_labels
from clusterlets.algorithms.transport import transport_groups
from clusterlets.algorithms.weighted_kmeans import weighted_kmeans
from clusterlets.errors import NoClusteringError

# Temperatures of the dual on the table. A cold start has no multipliers; a warm start has those of nearby centres.
_COLD_START, _WARM_START = (0.1, 0.01), (0.01,)
_TOLERANCE, _TOLERANCE_FRACTION = 0.5, 2e-4  # a constraint may be off by this many rows, or by this fraction of all
_CHUNK = 4  # trials that are made together, and of which the best continue
_MANY_CLUSTERS = 32  # above, the trials of a chunk are one, from the best of as many plain starts, unless the table is small
_TINY_TABLE = 1_000  # up to this many rows, there are at least _MIN_CHUNKS chunks
_MIN_CHUNKS = 4
_LARGE_TABLE = 100_000  # up to this many rows, plain k-means of the same seed gives another trial
_TRIAL_ROUNDS = 2  # rounds of each trial
_MAX_START_ROUNDS = 30  # of a start or swap that is continued
_MAX_SWAPS = 24  # that are tried in each start
_MAX_FAILURES = 10  # and at most 2 k: unsuccessful swaps in a row that end the search
_SAME_BOUND = 1e-4  # if the bounds of two starts differ by at most this fraction, one of them is left out
_MIN_GAIN = 1e-4  # a round on the table is idle, and a swap unsuccessful, if it lowers the cost by at most this fraction
_MAX_FRACTIONAL_ROUNDS = 30  # on the table, before instances are whole
# These rounds end if one lowers the bound by at most this fraction, with few clusters or a small table, and with many.
_MIN_FRACTIONAL_GAIN, _MIN_FRACTIONAL_GAIN_OF_MANY = 1e-4, 3e-4
_PATIENCE, _MAX_TABLE_ROUNDS = 2, 60  # rounds on a small table end after this many idle ones in a row, on others after one
_MAX_GAP = 0.01  # above this gap, the dual is solved again without the given multipliers
_SMALL_TABLE = 3_000  # up to this many rows, all trials continue on the table, with and without swaps
_MIDDLE_TABLE = 12_000  # up to this many rows, two of each chunk continue; above, one
_MAX_POLISHED_ROWS = 8_000  # larger tables are not polished, because the time grows with the square of the rows
_MAX_SWEEPS = 2  # of the polish
_TABU_STEPS, _TABU_SIZE = 300, 5_000_000  # steps of a tabu search, and numbers that it looks at, in about 10 ms
_MAX_RELOCATED = 5  # results of a tiny table in which centres are relocated in turn
_MAX_FAILED_RELOCATIONS = 40  # in a row: relocations without a gain that end the search, ...
_MAX_FAILED_ROWS = 16_000  # ... or the rows that they have assigned
_POLISH_SIZE = 200_000_000  # numbers, in about a fifth of a second, after which a polish looks at the time


def fair_limit(
    X: np.ndarray,
    groups: np.ndarray,
    n_clusters: int,
    random_state: np.random.Generator,
    limits: Sequence[Limit],
    levels: np.ndarray,
    least_size: int = 1,
    largest_size: int | None = None,
    n_init: int = 4,
    max_seconds: float | None = None,
    n_jobs: int = 1,
    report: Callable[[str, float], None] | None = None,
    start: np.ndarray | None = None,
) -> FairKMeansResult:
    """Cluster by k-means so that every cluster keeps the limits.

    Parameters
    ----------
    X, groups, n_clusters, random_state
        As in :meth:`clusterlets.methods.Method.fit`; groups are combinations of the levels of all sensitive columns.
    limits : sequence of Limit
    levels : int array (K, S)
        Level of each group in each sensitive column.
    least_size, largest_size, n_init, max_seconds, n_jobs
        As :class:`clusterlets.FairLimit` declares them; the sizes are ``min_cluster_size`` and ``max_cluster_size``.
    report : callable, optional
        Called after each step, with a name for the step and the cost that it reached.
    start : int array (n,), optional
        Labels to start from too. If they keep the limits, the result costs no more than they do.

    Raises
    ------
    NoClusteringError
        ``infeasible`` if it is proved that no such clusters exist, and ``not_converged`` if the search found none.

    Notes
    -----
    O(n k d) time per round for distances, and O(n k) for each step of the dual; O(n k) memory for each job.
    """
    X, groups = checked_instances(X, groups, "fair-limit", n_clusters)
    whole_limits = limit_rows(limits, levels, np.bincount(groups, minlength=len(levels)))
    # Merge groups that no limit distinguishes.
    if len(whole_limits):
        whole_limits, codes = np.unique(whole_limits, axis=1, return_inverse=True)
    else:
        whole_limits, codes = whole_limits[:, :1], np.zeros(len(levels), int)
    groups = codes.reshape(-1)[groups]
    sizes = least_size, len(X) if largest_size is None else largest_size
    table = _Table(X, groups, n_clusters, np.bincount(groups), np.ascontiguousarray(whole_limits), *sizes)
    if n_clusters == 1:
        table.whole_counts(table.totals[:, None].astype(np.float64))  # raises if the table breaks a limit
        result = table.result_for(np.zeros(len(X), dtype=np.int64))
    elif len(X) <= MAX_ROWS:
        result = _enumerate(table)
    else:
        deadline = np.inf if max_seconds is None else monotonic() + max_seconds
        search = _Search(table, random_state, n_init, deadline, report or (lambda step, cost: None), n_jobs)
        result = search.best_of_starts(start)
    table.check(result.labels)
    return result


@dataclass(frozen=True)
class _Table:
    """The rows with their groups, and what every cluster must keep: ``limits`` (R, K) in whole numbers, and sizes."""

    X: np.ndarray
    groups: np.ndarray
    k: int
    totals: np.ndarray
    limits: np.ndarray
    least_size: int
    largest_size: int

    def whole_counts(self, wanted: np.ndarray, known: np.ndarray | None = None, deadline: float = np.inf) -> np.ndarray:
        return feasible_counts(wanted, self.totals, self.limits, self.least_size, self.largest_size, known, deadline)

    def dual_constraints(self) -> tuple[np.ndarray, np.ndarray]:
        """Constraints (R, K) and slack (R, k) of the dual, in units of instances: the limits, and the sizes that can bind."""
        n, ones = len(self.X), np.ones(len(self.totals))
        # A cluster with fewer instances cannot keep the limits, but may look cheapest to the dual, which splits instances.
        least = least_cluster_size(self.totals, self.limits, self.least_size)
        sizes = [(-ones, -least)] * (1 < least <= n // self.k) + [(ones, self.largest_size)] * (self.largest_size < n)
        constraints = np.vstack([self.limits / violation_units(self.limits)[:, None], *(row for row, _ in sizes)])
        slack = np.r_[np.zeros(len(self.limits)), [size for _, size in sizes]]
        return constraints, np.repeat(slack[:, None], self.k, axis=1)

    def limits_and_sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows (R + 2, K) and slack (R + 2,): a cluster with counts m keeps everything if ``rows @ m <= slack``."""
        ones = np.ones((1, len(self.totals)), dtype=np.int64)
        slack = np.r_[np.zeros(len(self.limits), dtype=np.int64), -self.least_size, self.largest_size]
        return np.vstack([self.limits, -ones, ones]), slack

    def result_for(self, labels: np.ndarray, gap: float = 0.0, n_iter: int = 1) -> FairKMeansResult:
        centres, inertias = moments_by_label(self.X, labels, self.k)
        return FairKMeansResult(labels, centres, float(inertias.sum()), gap, n_iter)

    def counts_of(self, labels: np.ndarray) -> np.ndarray:
        counts = np.zeros((len(self.totals), self.k), dtype=np.int64)
        np.add.at(counts, (self.groups, labels), 1)
        return counts

    def is_kept_by(self, labels: np.ndarray) -> bool:
        counts = self.counts_of(labels)
        sizes = counts.sum(axis=0)
        is_within = (products(self.limits, counts) <= 0).all() and sizes.min() >= self.least_size
        return bool(is_within and sizes.max() <= self.largest_size)

    def check(self, labels: np.ndarray) -> None:
        if not self.is_kept_by(labels):
            raise NoClusteringError(
                NOT_CONVERGED, "fair-limit made clusters that break a limit. This is a bug: please report it."
            )


def _enumerate(table: _Table) -> FairKMeansResult:
    try:  # the search for counts proves faster that there are none, and names the largest number of clusters
        table.whole_counts(np.repeat(table.totals[:, None] / table.k, table.k, axis=1))
    except NoClusteringError as error:
        if error.status == INFEASIBLE:
            raise
    labels = cheapest_clustering(table.X, table.groups, table.k, *table.limits_and_sizes())
    if labels is None:
        raise NoClusteringError(INFEASIBLE, f"No {table.k} clusters keep the limits and sizes (proved).")
    return table.result_for(labels)


class _Search:
    """The steps of a fit. They share the table, a sample of it, and nothing that changes, so that threads can run them."""

    def __init__(self, table: _Table, random_state, n_init, deadline, report, n_jobs):
        self._table, self._k, self._random, self._n_init = table, table.k, random_state, n_init
        self._deadline, self._report, self._n_jobs = deadline, report, n_jobs
        has_many = table.k > _MANY_CLUSTERS and len(table.X) > _SMALL_TABLE
        self._chunk, self._starts_of_trial = (1, _CHUNK) if has_many else (_CHUNK, 1)
        self._min_fractional_gain = _MIN_FRACTIONAL_GAIN_OF_MANY if has_many else _MIN_FRACTIONAL_GAIN
        self._constraints, self._slack = table.dual_constraints()
        self._plain = kmeans(table.X, table.k, deepcopy(random_state)) if len(table.X) <= _LARGE_TABLE else None
        rows, self._weights = draw_sample(table.X, table.groups, table.k, random_state)
        self._sample, self._sample_groups = np.ascontiguousarray(table.X[rows]), table.groups[rows]
        limits = len(table.totals), self._constraints, self._slack
        self._sample_assignment = FairAssignment(self._weights, self._sample_groups, *limits)
        self._assignment = FairAssignment(np.ones(len(table.X)), table.groups, *limits)

    def best_of_starts(self, start: np.ndarray | None = None) -> FairKMeansResult:
        table = self._table
        has_solution = start is not None and table.is_kept_by(start)
        equal_counts = np.repeat(table.totals[:, None] / self._k, self._k, axis=1)
        try:  # find out first whether clusters within the limits exist
            counts = table.whole_counts(
                equal_counts,
                table.counts_of(start) if has_solution else None,  # type: ignore[arg-type]  # then there is a start
                self._deadline,
            )
        except NoClusteringError as error:
            error.labels = self._labels_without_limits() if error.status == NOT_CONVERGED else None
            raise
        random_state = deepcopy(self._random)  # a larger n_init draws more random numbers, but changes no relocation
        starts, n_first = self._place_centres()
        results = self._run_all(lambda start: self._run_on_table(start, counts), starts)
        if len(table.X) <= _TINY_TABLE:
            results += self._relocate_centres(results[:n_first], counts, random_state)
        if self._plain is not None and table.is_kept_by(self._plain.labels):
            results.append(table.result_for(self._plain.labels))
        if start is not None:
            results.append(self._run_on_table(Centres(table.result_for(start).centres, None, np.inf), counts))
            results += [table.result_for(start, n_iter=0)] if has_solution else []
        # The first of equally good starts, although rounding errors may differ: they may number the same clusters differently.
        least = min(result.inertia for result in results)
        best = next(result for result in results if result.inertia <= least * (1 + 1e-12))
        return replace(best, n_iter=sum(result.n_iter for result in results))

    def _run_all(self, function: Callable, arguments: Iterable) -> list:
        """Results for all arguments, in their order. The deadline cancels all calls that would begin after it but the first."""

        def run(index, argument):
            return None if index and monotonic() > self._deadline else function(argument)

        indices, arguments = zip(*enumerate(arguments), strict=True)
        if self._n_jobs == 1:
            results = list(map(run, indices, arguments))
        else:
            with ThreadPoolExecutor(self._n_jobs) as pool:
                results = list(pool.map(run, indices, arguments))
        return [result for result in results if result is not None]

    def _labels_without_limits(self) -> np.ndarray:
        """Labels of the cheapest fractional assignment, rounded to whole instances without regard to the limits."""
        table, start = self._table, self._run_trial(self._random)
        dual = self._solve_dual(start.centres, start.multipliers, _COLD_START)
        costs = squared_distances_to_centres(table.X, start.centres, self._k)
        return transport_groups(costs, table.groups, rounded_to(dual.counts, table.totals), dual.prices)

    # ---- centres on the sample --------------------------------------------------------------------------------------

    def _place_centres(self) -> tuple[list[Centres], int]:
        """The centres with which rounds on the table start, and how many of them every ``n_init`` gives.

        Of those with nearly equal bounds, only the first are kept. A larger ``n_init`` adds chunks of trials. The first
        chunks, and their random numbers, stay the same.
        """
        n_rows, n_chunks = len(self._table.X), -(-self._n_init // _CHUNK)
        n_chunks = max(n_chunks, _MIN_CHUNKS) if n_rows <= _TINY_TABLE else n_chunks
        seeds = self._random.integers(2**63, size=self._chunk * n_chunks).tolist()
        generators = [np.random.default_rng(seed) for seed in seeds]
        trials = list(zip(self._run_all(self._run_trial, generators), generators, strict=False))
        chunks = [trials[first : first + self._chunk] for first in range(0, len(trials), self._chunk)]
        if self._plain is not None:
            plain = self._run_rounds(Centres(self._plain.centres, None, np.inf), _TRIAL_ROUNDS)
            chunks[0].append((plain, np.random.default_rng(seeds[:2])))
        n_best = _CHUNK if n_rows <= _SMALL_TABLE else 2 if n_rows <= _MIDDLE_TABLE else 1
        best = [trial for chunk in chunks for trial in sorted(chunk, key=lambda pair: pair[0].bound)[:n_best]]
        starts: list[Centres] = []
        n_first, n_always = 0, sum(len(chunk[:n_best]) for chunk in chunks[:_MIN_CHUNKS])
        for index, centres in enumerate(self._run_all(lambda trial: self._improve_trial(*trial), best)):
            for start in centres:
                if all(abs(other.bound - start.bound) > _SAME_BOUND * start.bound for other in starts):
                    starts.append(start)
            n_first = len(starts) if index < n_always else n_first
        return starts, n_first

    def _run_trial(self, random_state: np.random.Generator) -> Centres:
        centres, _ = weighted_kmeans(self._sample, self._weights, self._k, random_state, self._starts_of_trial)
        return self._run_rounds(Centres(centres, None, np.inf), _TRIAL_ROUNDS)

    def _improve_trial(self, trial: Centres, random_state: np.random.Generator) -> list[Centres]:
        start = self._run_rounds(trial, _MAX_START_ROUNDS)
        swapped = self._swap_centres(start, random_state)
        if len(self._sample) < len(self._table.X):  # rounds on the sample are much faster than on the table
            sample = self._sample, self._sample_assignment
            swapped = run_rounds(*sample, swapped, _MAX_FRACTIONAL_ROUNDS, min_gain=self._min_fractional_gain)
        return [start, swapped] if len(self._table.X) <= _SMALL_TABLE else [swapped]

    def _run_rounds(self, start: Centres, max_rounds: int, bound_to_beat: float = np.inf) -> Centres:
        return run_rounds(self._sample, self._sample_assignment, start, max_rounds, bound_to_beat)

    def _swap_centres(self, current: Centres, random_state: np.random.Generator) -> Centres:
        """Make a row, drawn as in k-means++, the centre in place of another one, and keep every change that lowers the bound.

        The centre is replaced whose replacement costs least if all prices stay the same.
        """
        sample, groups, weights, k = self._sample, self._sample_groups, self._weights, self._k
        n_failures, is_new, every = 0, True, np.arange(len(sample))
        assert current.multipliers is not None  # because rounds have run
        for _ in range(_MAX_SWAPS):
            if monotonic() > self._deadline or n_failures == min(_MAX_FAILURES, 2 * k):
                break
            if is_new:
                costs = squared_distances_to_centres(sample, current.centres, k)
                prices = products(self._constraints.T, current.multipliers)
                values = costs + prices[groups]
                first = values.argmin(axis=1)
                least = values[every, first]
                cumulative = np.cumsum(weights * costs[every, first])
                values[every, first] = np.inf
                next_least = values.min(axis=1)
            row = _draw_row(cumulative, random_state)
            if row is None:
                break
            new_values = squared_distances_to_centres(sample, sample[row : row + 1], 1)[:, 0] + prices[groups, first[row]]
            centres, multipliers = current.centres.copy(), current.multipliers.copy()
            old = int(_costs_of_swaps(weights, first, least, next_least, new_values, k).argmin())
            centres[old], multipliers[:, old] = sample[row], multipliers[:, first[row]]
            swapped = self._run_rounds(Centres(centres, multipliers, np.inf), _MAX_START_ROUNDS, current.bound)
            n_failures = 0 if swapped.bound < (1 - _MIN_GAIN) * current.bound else n_failures + 1
            is_new = swapped.bound < current.bound
            if is_new:
                current = swapped
                self._report("swap", current.bound)
        return current

    # ---- labels on the table ----------------------------------------------------------------------------------------

    def _solve_dual(self, centres, multipliers, temperatures) -> FairDual:
        tolerance = min(_TOLERANCE, _TOLERANCE_FRACTION * len(self._table.X))
        return self._assignment.solve_at(self._table.X, centres, multipliers, temperatures, tolerance)

    def _has_converged(self, dual: FairDual) -> bool:
        violation = (products(self._constraints, dual.counts) - self._slack).max(initial=0.0)
        return violation <= max(2, len(self._table.X) / 1000) and dual.bound > 0

    def _run_on_table(self, start: Centres, counts: np.ndarray) -> FairKMeansResult:
        """Run rounds on the whole table until they bring no more gain, and polish the best result.

        ``counts`` (K, k) keep all limits.
        """
        table, best, n_idle, n_rounds = self._table, None, 0, 0
        centres, multipliers, may_restart, last_bound = start.centres, start.multipliers, True, np.inf
        patience = _PATIENCE if len(table.X) <= _SMALL_TABLE else 1
        while n_rounds < _MAX_FRACTIONAL_ROUNDS and monotonic() <= self._deadline:
            dual = self._solve_dual(centres, multipliers, _WARM_START)
            if not self._has_converged(dual):
                break
            centres, multipliers, n_rounds = dual.means, dual.multipliers, n_rounds + 1  # type: ignore[assignment]  # a solution has means
            if last_bound - dual.bound <= self._min_fractional_gain * last_bound < np.inf:
                patience -= len(table.X) > _LARGE_TABLE  # there, a second round with whole instances would hardly gain
                break
            last_bound = dual.bound
        while best is None or (n_idle < patience and n_rounds < _MAX_TABLE_ROUNDS and monotonic() <= self._deadline):
            _, labels, counts, multipliers, gap = self._assign(centres, multipliers, counts, may_restart)
            may_restart = may_restart and gap <= _MAX_GAP
            n_rounds += 1
            result = table.result_for(labels, gap)
            n_idle = n_idle + 1 if best is not None and result.inertia >= (1 - _MIN_GAIN) * best.inertia else 0
            if best is None or result.inertia < best.inertia:
                best = result
            centres = result.centres
        assert best is not None
        if len(table.X) <= _MAX_POLISHED_ROWS:
            best = self._polish_result(best)
        self._report("start on the table", best.inertia)
        return replace(best, n_iter=n_rounds)

    def _relocate_centres(self, results: list[FairKMeansResult], counts: np.ndarray, random_state) -> list[FairKMeansResult]:
        """The cheapest of the results, each replaced where another place for one of its centres lowered the cost.

        A row, drawn as in k-means++, becomes a centre in place of another one. Swaps do the same, but judge by the bound, which
        says little where few rows between tight blobs make most of the cost.
        """
        table, n, n_failures = self._table, len(self._table.X), 0
        current = sorted(results, key=lambda result: result.inertia)[:_MAX_RELOCATED]
        while n_failures < min(_MAX_FAILED_RELOCATIONS, _MAX_FAILED_ROWS // n) and monotonic() <= self._deadline:
            least, index = min(result.inertia for result in current), n_failures % len(current)
            centres = current[index].centres.copy()
            costs = squared_distances_to_centres(table.X, centres, self._k)[np.arange(n), current[index].labels]
            row = _draw_row(np.cumsum(costs), random_state)
            if row is None:
                break
            centres[random_state.integers(self._k)] = table.X[row]
            _, labels, _, _, gap = self._assign(centres, None, counts, True)
            result = self._polish_result(table.result_for(labels, gap, n_iter=0))
            n_failures = 0 if result.inertia < (1 - _MIN_GAIN) * least else n_failures + 1
            if result.inertia < current[index].inertia:
                current[index] = result
                self._report("relocated centre", result.inertia)
        return current

    def _polish_result(self, result: FairKMeansResult) -> FairKMeansResult:
        """The polished result; on a tiny table, tabu search and another polish follow."""
        table, labels = self._table, self._polish(result.labels.copy())
        if len(table.X) <= _TINY_TABLE and monotonic() <= self._deadline:
            n_steps = min(_TABU_STEPS, _TABU_SIZE // (len(table.X) * (self._k + 2 * table.X.shape[1])))
            rows, slack = table.limits_and_sizes()
            moved = cheaper_labels(table.X, table.groups, labels, table.counts_of(labels), rows, slack[:, None], n_steps)
            labels = labels if np.array_equal(moved, labels) else self._polish(moved)
        return table.result_for(labels, result.gap, result.n_iter)

    def _polish(self, labels: np.ndarray) -> np.ndarray:
        """Labels (n,) at the end of the polish, or at the deadline."""
        table = self._table
        (n, d), centred = table.X.shape, table.X - table.X.mean(axis=0)
        step = n if self._deadline == np.inf else max(1, _POLISH_SIZE // (n * d))
        for _ in range(_MAX_SWEEPS):
            has_changed = False
            for first in range(0, n, step):
                if monotonic() > self._deadline:
                    return labels
                limits, rows = (table.limits, table.least_size, table.largest_size), (first, min(first + step, n))
                sums, sizes = np.empty((self._k, d)), np.empty(self._k, dtype=np.int64)
                sums_by_label(centred, labels, sums, sizes)
                state = labels, table.counts_of(labels), sizes, sums
                has_changed |= _polish(centred, table.groups, *limits, *state, *rows)
            if not has_changed:
                break
        return labels

    def _assign(self, centres, multipliers, counts, may_restart: bool) -> tuple:
        """Nearly the cheapest labels within the limits: their cost, labels (n,), counts (K, k), multipliers (R, k), and gap.

        If the dual does not converge from the given multipliers, and if it ``may_restart``, it is solved again without them.
        The gap is (cost - bound) / bound, where the bound holds for every fractional assignment to the same centres.
        """
        table, n, best = self._table, len(self._table.X), None
        for initial, temperatures in ((multipliers, _WARM_START), (None, _COLD_START)):
            dual = self._solve_dual(centres, initial, temperatures)
            if initial is not None and may_restart and not self._has_converged(dual):
                continue
            with suppress(NoClusteringError):
                counts = table.whole_counts(dual.counts, counts, self._deadline)
            costs = squared_distances_to_centres(table.X, centres, self._k)
            labels = transport_groups(costs, table.groups, counts, dual.prices)
            cost = float(costs[np.arange(n), labels].sum())
            gap = cost / dual.bound - 1 if dual.bound > 0 else (np.inf if cost > 0 else 0.0)
            if best is None or cost < best[0]:
                best = cost, labels, counts, dual.multipliers, gap
            if gap <= _MAX_GAP or not may_restart:
                break
        assert best is not None
        return best


def _draw_row(cumulative: np.ndarray, random_state: np.random.Generator) -> int | None:
    """A row drawn in proportion to the costs with these cumulative sums (n,), or None if all costs are 0."""
    if not cumulative[-1] > 0:
        return None
    return min(int(np.searchsorted(cumulative, random_state.random() * cumulative[-1], side="right")), len(cumulative) - 1)


def _costs_of_swaps(weights, first, least, next_least, new_values, k: int) -> np.ndarray:
    """By how much the sum of costs and prices would change (k,) if a row became a centre in place of each other one.

    ``first``, ``least`` and ``next_least`` (n,) are the cheapest cluster of each row, its cost plus price, and that of the
    second cheapest. ``new_values`` (n,) are the costs plus prices at the new centre.
    """
    kept = np.minimum(least, new_values)
    lost = np.bincount(first, weights * (np.minimum(next_least, new_values) - kept), minlength=k)
    return lost - (weights * (least - kept)).sum()


@inner
def _may_change(limits, counts, cluster, leaving, arriving):
    """Whether a cluster keeps the limits if an instance of each group leaves and arrives; -1 in place of a group means none."""
    for limit in range(len(limits)):
        total = 0
        for group in range(limits.shape[1]):
            total += limits[limit, group] * (counts[group, cluster] - (group == leaving) + (group == arriving))
        if total > 0:
            return False
    return True


@compiled(
    "boolean(float64[:,::1], int64[::1], int64[:,::1], int64, int64, int64[::1], int64[:,::1], int64[::1], float64[:,::1], "
    "int64, int64)"
)
def _polish(X, groups, limits, least_size, largest_size, labels, counts, sizes, sums, begin, end):
    """Move the instances from ``begin`` to ``end``, and exchange them with earlier ones, where the cost falls and limits hold.

    Changes ``labels`` in place, with the ``counts`` (K, k) and ``sizes`` (k,) of the clusters and the ``sums`` (k, d) of their
    rows, and returns whether any changed. The cost, the sum of squared errors, is that of X, less |sum|^2 / size of each
    cluster.
    """
    (k, d), has_changed = sums.shape, False
    for first in range(begin, end):
        for second in range(-k, first):  # a negative number stands for a cluster, and nobody comes back from there
            is_move, source = second < 0, labels[first]
            target, one = (-second - 1, 1) if is_move else (labels[second], 0)
            if source == target or (is_move and (sizes[source] <= least_size or sizes[target] >= largest_size)):
                continue
            before, after = 0.0, 0.0
            a, b, c, e = 1 / sizes[source], 1 / sizes[target], 1 / (sizes[source] - one), 1 / (sizes[target] + one)
            for feature in range(d):
                shift = X[first, feature] - (0.0 if is_move else X[second, feature])
                old, new = sums[source, feature], sums[target, feature]
                before += a * old * old + b * new * new
                after += c * (old - shift) * (old - shift) + e * (new + shift) * (new + shift)
            if after - before <= 1e-9 * (after + before):  # smaller gains may be rounding errors
                continue
            leaving, arriving = groups[first], -1 if is_move else groups[second]
            if leaving != arriving and not (
                _may_change(limits, counts, source, leaving, arriving)
                and _may_change(limits, counts, target, arriving, leaving)
            ):
                continue
            has_changed = True
            for feature in range(d):
                shift = X[first, feature] - (0.0 if is_move else X[second, feature])
                sums[source, feature] -= shift
                sums[target, feature] += shift
            counts[leaving, source] -= 1
            counts[leaving, target] += 1
            labels[first] = target
            sizes[source] -= one
            sizes[target] += one
            if not is_move:
                counts[arriving, target] -= 1
                counts[arriving, source] += 1
                labels[second] = source
    return has_changed
