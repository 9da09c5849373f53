"""Find whole counts of the groups in the clusters that keep all limits, near fractional counts, or prove that there are none.

The search moves single instances between clusters, or two instances of different groups at once. While a limit is broken, it
lowers the weighted sum of the violations. The weight of a violation grows as long as it persists, as in breakout search (Morris
1993). Once all limits are kept, the search lowers the distance from the fractional counts. It fails only where clusters are
tiny. It is then repeated from counts where these clusters have 4, 8, 16, ... instances, in the proportions of the table.

If two clusters keep all limits, so does their union. Hence if the table can be split into some number of clusters within the
limits, it can be split into any smaller number. For small tables, dynamic programming finds the largest number exactly.

In this module, ``rows`` (R, K) are limits, written as in :mod:`clusterlets.algorithms.limits`.
"""

from dataclasses import dataclass
from math import gcd
from time import monotonic

import numpy as np

from clusterlets.algorithms.compiled import compiled, inner
from clusterlets.algorithms.limits import products
from clusterlets.errors import NoClusteringError

_UNIT = 1024  # Distances from fractional counts are whole numbers of 1/1024 instance.
_STEPS_SIZE = 10_000_000  # pairs of moves, in about a third of a second, after which a search looks at the time
_MAX_REPAIRS, _MAX_DESCENTS = 800, 3_000  # steps of a search: while a limit is broken, and once all limits are kept
_MAX_STATES, _MAX_CHECKS = 2_000_000, 300_000_000  # of the dynamic program: this many take about a second

_MAX_VARIABLES, _PROGRAM_OPTIONS = 600, {"node_limit": 300}  # of the mixed-integer program
_MAX_JOINED = 12  # clusters above k that are tried, to join them afterwards

INFEASIBLE, NOT_CONVERGED = "infeasible", "not_converged"


def whole_counts(
    wanted: np.ndarray,
    totals: np.ndarray,
    rows: np.ndarray,
    slack: np.ndarray,
    least_sizes: np.ndarray,
    deadline=np.inf,
    gives_up: bool = False,
):
    """Whole counts (K, k) near ``wanted`` (K, k) that keep ``rows @ counts <= slack``, or None if the search fails.

    ``rows`` is (R, K) and ``slack`` (R, k). ``totals`` (K,) are the sizes of the groups, and ``least_sizes`` (k,) the smallest
    sizes that the clusters may have. After the ``deadline``, by :func:`time.monotonic`, they come no nearer, and the search
    ``gives_up``, if so, while a limit is broken. O(k K^2 (R + k)) time per step.
    """
    # For the distance from ``wanted``, an instance of a rare group counts more.
    weights = np.floor(64 * np.sqrt(totals.max() / np.maximum(totals, 1))).astype(np.int64)
    counts, min_size = rounded_to(wanted, totals), 4
    while not _improve_counts(counts, wanted, weights, rows, slack, least_sizes, deadline, gives_up):
        if min_size > totals.sum() / wanted.shape[1]:
            return None
        counts, min_size = rounded_to(_raise_small_clusters(wanted, totals, min_size), totals), 2 * min_size
    return counts


def moved_towards(
    wanted: np.ndarray, counts: np.ndarray, rows: np.ndarray, slack: np.ndarray, least_sizes: np.ndarray, deadline=np.inf
):
    """Like :func:`whole_counts`, but the search starts from whole ``counts`` (K, k), and all groups weigh the same."""
    counts, weights = counts.copy(), np.ones(len(counts), dtype=np.int64)
    return counts if _improve_counts(counts, wanted, weights, rows, slack, least_sizes, deadline) else None


def rounded_to(wanted: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Round ``wanted`` (K, k) to counts whose rows add up to ``totals`` (K,): by largest remainders, ties to the first.

    Each row is first scaled to its total, and a row of zeros is replaced by equal counts.
    """
    sums = wanted.sum(axis=1)
    is_positive = sums > 1e-9
    scaled = wanted * np.where(is_positive, totals / np.where(is_positive, sums, 1.0), 0.0)[:, None]
    scaled[~is_positive] = (totals[~is_positive] / wanted.shape[1])[:, None]
    counts = np.floor(scaled + 1e-9).astype(np.int64)
    for group, missing in enumerate(totals - counts.sum(axis=1)):
        order = np.argsort(-(scaled[group] - counts[group]).round(9), kind="stable")
        counts[group, order[:missing]] += 1
    return counts


def proportional_counts(wanted: np.ndarray, totals: np.ndarray, least_size: int, largest_size: int) -> np.ndarray | None:
    """Counts (K, k) with exactly the proportions of the table in every cluster, and sizes near those of ``wanted``.

    None if the table cannot be split into k such clusters whose sizes are from ``least_size`` to ``largest_size``.
    """
    divisor = gcd(*totals.tolist())  # the smallest cluster with these proportions, and the unit of sizes, is n / divisor
    n, k = int(totals.sum()), wanted.shape[1]
    least_units, most_units = max(1, -(-least_size * divisor // n)), largest_size * divisor // n
    if not k * least_units <= divisor <= k * most_units:
        return None
    units_above_least = np.maximum(wanted.sum(axis=0) * (divisor / n) - least_units, 1e-9)
    units = least_units + rounded_to(units_above_least[None, :], np.array([divisor - k * least_units]))[0]
    while (excess := np.maximum(0, units - most_units)).any():  # spread over the other clusters
        units -= excess
        has_room = units < most_units
        units[has_room] += rounded_to(np.ones((1, has_room.sum())), excess.sum(keepdims=True))[0]
    return (totals // divisor)[:, None] * units[None, :]


def most_clusters(totals: np.ndarray, rows: np.ndarray, least_size: int) -> tuple[int | None, list[np.ndarray]]:
    """The largest number of clusters that the limits allow, and the counts (K,) of each; None, [] if this takes too much work.

    A cluster with counts m keeps the limits if ``rows @ m <= 0``. A dynamic program has N = prod(totals + 1) states, one for
    each vector of counts up to the totals. It takes O(N (R K + A)) time, where A is the number of atoms: clusters within the
    limits that are not a union of two others.
    """
    if (products(rows, totals) > 0).any() or totals.sum() < least_size:
        return 0, []
    if np.prod(totals + 1.0) > _MAX_STATES:
        return None, []
    n_states = int(np.prod(totals + 1))
    largest_numbers, last_atoms = np.full(n_states, -1, dtype=np.int64), np.full(n_states, -1, dtype=np.int64)
    if not _split(totals, rows, max(1, least_size), largest_numbers, last_atoms, _MAX_CHECKS):
        return None, []
    state, atoms = n_states - 1, []
    place_values = np.cumprod(np.r_[1, (totals + 1)[:0:-1]])[::-1]
    while state:
        atoms.append(last_atoms[state] // place_values % (totals + 1))
        state -= last_atoms[state]
    return int(largest_numbers[n_states - 1]), atoms


def least_cluster_size(totals: np.ndarray, rows: np.ndarray, least_size: int) -> int:
    """A lower bound, from ``least_size`` on, on the size of a cluster that keeps the limits; more than n if there is none.

    Take a limit with coefficients in [-a, 0) on some groups, the negative ones, and of at least b > 0 on all others. A cluster
    of s instances that keeps the limit has at least s b / (a + b) instances of the negative groups. For limits whose negative
    groups are disjoint, these numbers add up, so s is at least their sum. A larger s raises the numbers again, until nothing
    changes. For two groups, the resulting smallest size is exact. O(R^2 + R K) time for each size that is tried.
    """
    masks, a_and_b = _two_sided(rows)
    bits = [int.from_bytes(np.packbits(mask).tobytes(), "big") for mask in masks]  # whole numbers are compared much faster
    disjoint = [_disjoint(bits, start) for start in range(len(bits))]
    size, next_size, n = 0, max(1, least_size), int(totals.sum())
    while size < next_size <= n:
        size = next_size
        least_counts = [-(-size * b // (a + b)) for a, b in a_and_b]
        next_size = max([size, *(sum(least_counts[i] for i in indices) for indices in disjoint)])
    return next_size


def clusters_at_most(totals: np.ndarray, rows: np.ndarray, least_size: int) -> int:
    """An upper bound on the number of clusters within limits, from the smallest size that a cluster can have."""
    size = least_cluster_size(totals, rows, least_size)
    groups = zip(*_two_sided(rows), strict=True)
    return min([int(totals.sum()) // size, *(int(totals[mask].sum()) // -(-size * b // (a + b)) for mask, (a, b) in groups)])


def _two_sided(rows: np.ndarray) -> tuple[list[np.ndarray], list[tuple[int, int]]]:
    """The negative groups of the limits that have coefficients of both signs and no 0, and their a and b."""
    two_sided_rows = [row for row in rows if (row < 0).any() and (row > 0).any() and (row != 0).all()]
    return [row < 0 for row in two_sided_rows], [(int(-row.min()), int(row[row > 0].min())) for row in two_sided_rows]


def _disjoint(bits: list[int], start: int) -> list[int]:
    """Indices, from ``start`` on, of sets (one bit for each member) that overlap with no set that was taken before."""
    covered, indices = 0, []
    for index in range(start, len(bits)):
        if not bits[index] & covered:
            covered |= bits[index]
            indices.append(index)
    return indices


def feasible_counts(
    wanted: np.ndarray,
    totals: np.ndarray,
    rows: np.ndarray,
    least_size: int = 1,
    largest_size: int | None = None,
    known: np.ndarray | None = None,
    deadline: float = np.inf,
) -> np.ndarray:
    """Counts (K, k) of all instances that keep the limits and sizes, near ``wanted``.

    They come from the first of these that gives any: a search, the table's proportions, ``known`` counts (K, k) that keep
    everything, a split into more clusters, some of which are joined, and a mixed-integer program. The arguments are as in
    :func:`whole_counts`, but the slack is 0.

    Raises
    ------
    NoClusteringError
        With status ``infeasible`` if such counts provably do not exist, and ``not_converged`` if none were found.
    """
    k, n = wanted.shape[1], int(totals.sum())
    most = n if largest_size is None else largest_size
    if (products(rows, totals) > 0).any():  # if all clusters kept the limits, so would their union, the table
        raise NoClusteringError(INFEASIBLE, _describe_infeasibility(k, 0))
    if k * most < n:
        raise NoClusteringError(INFEASIBLE, f"{k} clusters of at most {most} rows cannot hold all {n} rows (proved).")
    limits = _Limits.with_sizes(totals, rows, least_size, most, k, deadline)
    # If the totals meet a limit with equality, so must every cluster: the limit's values in the clusters are at most 0 and
    # add up to 0. If such limits have rank K - 1, every cluster must have the proportions of the table.
    tight = rows[products(rows, totals) == 0]
    only_proportional = len(totals) > 1 and _rank(tight.tolist()) == len(totals) - 1
    counts = None if only_proportional else limits.counts_near(wanted, known is not None)
    if counts is None:
        counts = proportional_counts(wanted, totals, least_size, most)
    if counts is None and known is not None:
        counts = limits.moved(known, wanted)
    if counts is not None:
        return counts
    if only_proportional:
        divisor = gcd(*totals.tolist())
        bound = divisor // max(1, -(-least_size * divisor // n))
    else:
        max_clusters, atoms = most_clusters(totals, rows, least_size)
        bound = clusters_at_most(totals, rows, least_size) if max_clusters is None else max_clusters
    if bound < k:
        raise NoClusteringError(INFEASIBLE, _describe_infeasibility(k, bound))
    if not only_proportional:
        counts = limits.counts_by_joining(wanted, atoms, bound)
        if counts is None:
            counts = limits.counts_by_program(wanted)
    if counts is None:
        raise NoClusteringError(
            NOT_CONVERGED,
            f"No {k} clusters within the limits were found, nor a proof that there are none: ask for fewer clusters, or allow "
            "more deviation.",
        )
    return counts


@dataclass(frozen=True)
class _Limits:
    """Limits and sizes as ``rows @ counts <= slack``, for the counts (K, k) of the clusters; ``rows`` is (R, K)."""

    totals: np.ndarray
    rows: np.ndarray
    slack: np.ndarray
    least_sizes: np.ndarray
    deadline: float

    @classmethod
    def with_sizes(cls, totals, rows, least_size, most, k, deadline):
        is_bounded = int(most < totals.sum())
        rows = np.ascontiguousarray(np.vstack([rows, np.ones((is_bounded, len(totals)), dtype=np.int64)]))
        slack = np.zeros((len(rows), k), dtype=np.int64)
        slack[len(rows) - is_bounded :] = most
        return cls(totals, rows, slack, np.full(k, max(1, least_size)), deadline)

    def counts_near(self, wanted, gives_up):
        return whole_counts(wanted, self.totals, self.rows, self.slack, self.least_sizes, self.deadline, gives_up)

    def moved(self, counts, wanted):
        """Counts between ``counts`` and ``wanted`` that keep the limits, or None if the search for them fails."""
        return moved_towards(wanted, counts, self.rows, self.slack, self.least_sizes, self.deadline)

    def counts_by_joining(self, wanted, atoms, max_clusters):
        """Counts near ``wanted``, from clusters that are joined: the atoms of a small table, or a split into more clusters.

        Joined clusters keep the limits, but may be too large: the search then has to mend this.
        """
        k = wanted.shape[1]
        if atoms:
            return self.moved(_join(np.stack(atoms, axis=1), wanted), wanted)
        for more in range(k, min(k + _MAX_JOINED, max_clusters) + 1):
            equal_counts = np.repeat(self.totals[:, None] / more, more, axis=1)
            slack, least_sizes = np.repeat(self.slack[:, :1], more, axis=1), np.repeat(self.least_sizes[:1], more)
            counts = whole_counts(equal_counts, self.totals, self.rows, np.ascontiguousarray(slack), least_sizes)
            if counts is not None:
                return self.moved(_join(counts, wanted), wanted)
        return None

    def counts_by_program(self, wanted):
        """Counts near ``wanted`` from a mixed-integer program, or None if it finds none or has too many variables.

        The solver's arithmetic is not exact, so its counts are rounded and then searched like any others, and None proves
        nothing. A limit on the nodes of its tree, not on the seconds, keeps the result reproducible.
        """
        # Imported late: hardly any fit needs it.
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array, eye_array, kron

        (n_groups, k), n = wanted.shape, int(self.totals.sum())
        if n_groups * k > _MAX_VARIABLES:
            return None
        units = np.abs(self.rows).max(axis=1, keepdims=True)
        by_cluster, sizes = eye_array(k), kron(np.ones((1, n_groups)), eye_array(k))
        size_steps = csr_array(np.eye(k - 1, k) - np.eye(k - 1, k, 1)) @ sizes  # in descending order, as clusters are alike
        constraints = [
            LinearConstraint(kron(eye_array(n_groups), np.ones((1, k))), self.totals, self.totals),
            LinearConstraint(kron(csr_array(self.rows / units), by_cluster), -np.inf, (self.slack / units).ravel()),
            LinearConstraint(sizes, self.least_sizes, n),
            LinearConstraint(size_steps, 0, n),
        ]
        most = Bounds(0, np.repeat(self.totals, k))
        solution = milp(np.zeros(n_groups * k), constraints=constraints, integrality=1, bounds=most, options=_PROGRAM_OPTIONS)
        if solution.x is None:
            return None
        counts = rounded_to(solution.x.reshape(n_groups, k), self.totals)
        order = np.argsort(np.argsort(-wanted.sum(axis=0), kind="stable"), kind="stable")
        return self.moved(np.ascontiguousarray(counts[:, order]), wanted)


def _join(parts: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Join the clusters with counts ``parts`` (K, m) to k <= m clusters whose sizes are near those of ``wanted`` (K, k)."""
    k, wanted_sizes = wanted.shape[1], wanted.sum(axis=0)
    largest_first = np.argsort(-wanted_sizes, kind="stable")
    parts_by_size = sorted(parts.T, key=lambda part: (-int(part.sum()), part.tolist()))
    joined = np.stack(parts_by_size[:k], axis=1)
    missing_sizes = wanted_sizes[largest_first] - joined.sum(axis=0)
    for part in parts_by_size[k:]:
        cluster = int(np.argmax(missing_sizes))
        joined[:, cluster] += part
        missing_sizes[cluster] -= part.sum()
    counts = np.empty_like(joined, order="C")
    counts[:, largest_first] = joined
    return counts


def _rank(rows: list[list[int]]) -> int:
    """The exact rank of a small matrix of whole numbers."""
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


def _describe_infeasibility(k: int, max_clusters: int) -> str:
    if max_clusters == 0:
        return "No clustering keeps the limits: even one cluster of all rows breaks them."
    possible = f"at most {max_clusters} {'is' if max_clusters == 1 else 'are'} possible"
    return f"No {k} clusters keep the limits (proved); {possible}. Ask for fewer clusters, or allow more deviation."


def _raise_small_clusters(wanted: np.ndarray, totals: np.ndarray, min_size: int) -> np.ndarray:
    """Counts that give clusters below ``min_size`` that size, in the table's proportions; the others take up the difference."""
    sizes = wanted.sum(axis=0)
    is_small = sizes < min_size
    if is_small.all():
        return np.repeat(totals[:, None] / wanted.shape[1], wanted.shape[1], axis=1)
    raised = np.where(is_small, (totals / totals.sum())[:, None] * min_size, wanted)
    remaining = totals - raised.sum(axis=1)
    large_sizes = np.where(is_small, 0.0, sizes)
    return np.maximum(0.0, raised + remaining[:, None] * (large_sizes / large_sizes.sum())[None, :])


@inner
def _violation(value, scale):
    """The violation in 64ths of ``scale``, rounded up; 0 if the limit is kept, that is, if ``value`` is not positive."""
    return (64 * value + scale - 1) // scale if value > 0 else 0


@inner
def _write_violation_changes(values, rows, scales, row_weights, cluster, exchange, gain_two, lose_two):
    """Write how a cluster's weighted violation changes with each move of one or two instances.

    ``exchange[cluster, i, j]``: the cluster loses an instance of group i and gains one of group j, where K means no instance.
    ``gain_two[cluster, i, j]`` and ``lose_two[cluster, i, j]``: the cluster gains or loses an instance of each of the two.
    ``values`` (R, k) are ``rows @ counts - slack``, so a positive one is a violation.
    """
    n_rows, n_groups = rows.shape
    for i in range(n_groups + 1):
        for j in range(n_groups + 1):
            swapped, gained, lost = 0, 0, 0
            for row in range(n_rows):
                value = values[row, cluster]
                before = _violation(value, scales[row])
                a = rows[row, i] if i < n_groups else 0
                b = rows[row, j] if j < n_groups else 0
                weight = row_weights[row, cluster]
                swapped += weight * (_violation(value - a + b, scales[row]) - before)
                gained += weight * (_violation(value + a + b, scales[row]) - before)
                lost += weight * (_violation(value - a - b, scales[row]) - before)
            exchange[cluster, i, j], gain_two[cluster, i, j], lose_two[cluster, i, j] = swapped, gained, lost


@inner
def _write_if_better(best, violation, distance, group, source, target, second, direction):
    """Replace the move in ``best`` by one of smaller violation, or of the same violation and smaller distance."""
    if violation < best[0] or (violation == best[0] and distance < best[1]):
        best[0], best[1], best[2], best[3], best[4] = violation, distance, group, source, target
        best[5], best[6] = second, direction


@inner
def _best_move(counts, exchange, gain_two, lose_two, is_violating, any_violating, up, down, moves_two, best):
    """Write the best move of one instance or of two to ``best``.

    That is (violation, distance, group, source, target, second, direction). ``second`` is the second instance's group, or K if
    only one moves; the direction is 1 if it moves from source to target, and -1 if it moves the other way. ``is_violating``
    marks the clusters that break a limit. If there are any, a move has to change one of these. ``up`` and ``down`` are those
    of :func:`_add_instances`.
    """
    n_groups, k = counts.shape
    for first in range(n_groups):
        for second in range(0 if moves_two else n_groups, n_groups if moves_two else n_groups + 1):
            if first == second:
                continue
            for source in range(k):
                if counts[first, source] == 0:
                    continue
                for target in range(k):
                    if source == target or (any_violating and not (is_violating[source] or is_violating[target])):
                        continue
                    if not moves_two or (source < target and counts[second, target] > 0):
                        violation = exchange[source, first, second] + exchange[target, second, first]
                        distance = down[first, source] + up[first, target] + down[second, target] + up[second, source]
                        _write_if_better(best, violation, distance, first, source, target, second, -1)
                    if moves_two and first < second and counts[second, source] > 0:
                        violation = lose_two[source, first, second] + gain_two[target, first, second]
                        distance = down[first, source] + up[first, target] + down[second, source] + up[second, target]
                        _write_if_better(best, violation, distance, first, source, target, second, 1)


@inner
def _add_instances(counts, values, rows, wanted, weights, up, down, group, cluster, by):
    """Add ``by`` instances of a group to a cluster. ``up`` and ``down`` say how one more or one fewer changes the distance.

    Their last rows, which stand for no instance, are 0.
    """
    counts[group, cluster] += by
    for row in range(len(rows)):
        values[row, cluster] += by * rows[row, group]
    excess = _UNIT * counts[group, cluster] - wanted[group, cluster]  # ``wanted`` is in units of 1 / _UNIT instance
    up[group, cluster] = weights[group] * (abs(excess + _UNIT) - abs(excess))
    down[group, cluster] = weights[group] * (abs(excess - _UNIT) - abs(excess))


def _improve_counts(counts, wanted, weights, rows, slack, least_sizes, deadline, gives_up=False) -> bool:
    """Change counts (K, k) until they keep the limits and least sizes, then move them towards ``wanted`` until the deadline.

    After it, the first also ends if the search ``gives_up``. Returns whether the counts keep the limits and least sizes.
    """
    n_groups, k = counts.shape
    scaled_wanted = np.rint(_UNIT * wanted).astype(np.int64)
    rows = np.ascontiguousarray(np.vstack([rows, -np.ones((1, n_groups), dtype=np.int64)]))
    slack = np.vstack([slack, -least_sizes[None, :]])
    values = np.ascontiguousarray(products(rows, counts) - slack)
    scales, row_weights = np.maximum(1, np.abs(rows).max(axis=1)), np.ones(values.shape, dtype=np.int64)
    excess, up, down = _UNIT * counts - scaled_wanted, *np.zeros((2, n_groups + 1, k), dtype=np.int64)
    up[:-1] = weights[:, None] * (np.abs(excess + _UNIT) - np.abs(excess))
    down[:-1] = weights[:, None] * (np.abs(excess - _UNIT) - np.abs(excess))
    changes = np.empty((3, k, n_groups + 1, n_groups + 1), dtype=np.int64)
    is_violating, is_current = np.zeros((2, k), dtype=np.bool_)
    state = is_violating, is_current, np.zeros(2, dtype=np.int64), np.empty(7, dtype=np.int64)
    n_steps = max(1, _STEPS_SIZE // (n_groups * k) ** 2)
    outcome = -1
    while outcome < 0 and (monotonic() <= deadline or (not gives_up and (values > 0).any())):
        outcome = _search(
            counts, scaled_wanted, weights, rows, values, scales, row_weights, up, down, *changes, *state, n_steps
        )
    return outcome > 0 or not (values > 0).any()


@compiled(
    "int64(int64[:,::1], int64[:,::1], int64[::1], int64[:,::1], int64[:,::1], int64[::1], int64[:,::1], int64[:,::1],"
    "int64[:,::1], int64[:,:,::1], int64[:,:,::1], int64[:,:,::1], boolean[::1], boolean[::1], int64[::1], int64[::1], int64)"
)
def _search(
    counts,
    wanted,
    weights,
    rows,
    values,
    scales,
    row_weights,
    up,
    down,
    exchange,
    gain_two,
    lose_two,
    is_violating,
    is_current,
    done,
    best,
    n_steps,
):
    """The loop of :func:`_improve_counts`. The caller allocates most arrays, because Numba takes long to compile an allocation.

    ``exchange``, ``gain_two`` and ``lose_two`` are up to date for the clusters that ``is_current`` marks. Returns 1 if the
    counts keep the limits at the end, and 0 if not; -1 after ``n_steps`` steps, when another call with the same arrays goes on.
    ``done`` are the numbers of steps so far: while a limit is broken, and once all limits are kept. ``best`` (7,) is working
    memory.
    """
    n_groups, k = counts.shape
    n_rows = len(rows)
    for _ in range(n_steps):
        any_violating = False
        for cluster in range(k):
            if not is_current[cluster]:
                is_violating[cluster] = False
                for row in range(n_rows):
                    is_violating[cluster] = is_violating[cluster] or values[row, cluster] > 0
                _write_violation_changes(values, rows, scales, row_weights, cluster, exchange, gain_two, lose_two)
                is_current[cluster] = True
            any_violating = any_violating or is_violating[cluster]
        if (any_violating and done[0] == _MAX_REPAIRS) or (not any_violating and done[1] == _MAX_DESCENTS):
            return 0 if any_violating else 1
        # A move must lower the violation or, once no limit is broken, the distance.
        best[0], best[1] = (-1, 2**62) if any_violating else (0, 0)
        best[2] = -1
        for n_others in range(2):  # move two instances only if it does not help to move one
            if best[2] < 0:
                _best_move(counts, exchange, gain_two, lose_two, is_violating, any_violating, up, down, n_others == 1, best)
        done[0 if any_violating else 1] += 1
        if best[2] < 0:
            if not any_violating:
                return 1
            for cluster in range(k):
                for row in range(n_rows):
                    if values[row, cluster] > 0:
                        row_weights[row, cluster] += 1
                        is_current[cluster] = False
            continue
        for index in range(2 if best[5] == n_groups else 4):  # one or two instances leave a cluster and enter another
            group, by = (best[2], 1) if index < 2 else (best[5], best[6])
            cluster = best[3 + index % 2]
            _add_instances(counts, values, rows, wanted, weights, up, down, group, cluster, by if index % 2 else -by)
            is_current[cluster] = False
    return -1


@compiled("boolean(int64[::1], int64[:,::1], int64, int64[::1], int64[::1], int64)")
def _split(totals, rows, least_size, largest_numbers, last_atoms, max_checks):
    """Write for each state the largest number of allowed clusters into which it splits, and the last of these clusters.

    A state is a number that encodes counts (K,), with one digit per group. An allowed cluster keeps the limits and has at least
    ``least_size`` instances. An atom is an allowed cluster that is not a union of two others. ``largest_numbers`` stays -1 for
    a state that does not split. Returns False, without a result, if more than ``max_checks`` checks would be needed.
    """
    n_groups, n_states = len(totals), len(largest_numbers)
    state_counts = np.zeros(n_groups, dtype=np.int64)
    atoms, atom_counts = np.empty(1024, dtype=np.int64), np.empty((1024, n_groups), dtype=np.int64)
    n_atoms, n_checks = 0, 0
    largest_numbers[0] = 0
    for state in range(1, n_states):
        digit = n_groups - 1
        while state_counts[digit] == totals[digit]:
            state_counts[digit] = 0
            digit -= 1
        state_counts[digit] += 1
        n_checks += n_atoms + 1
        if n_checks > max_checks:
            return False
        for atom in range(n_atoms):
            fits = True
            for group in range(n_groups):
                if atom_counts[atom, group] > state_counts[group]:
                    fits = False
                    break
            remaining = state - atoms[atom]
            if fits and largest_numbers[remaining] >= 0 and largest_numbers[remaining] + 1 > largest_numbers[state]:
                largest_numbers[state], last_atoms[state] = largest_numbers[remaining] + 1, atoms[atom]
        if largest_numbers[state] > 0:
            continue
        size = 0
        for group in range(n_groups):
            size += state_counts[group]
        allowed = size >= least_size
        for row in range(len(rows)):
            total = 0
            for group in range(n_groups):
                total += rows[row, group] * state_counts[group]
            allowed = allowed and total <= 0
        if allowed:  # a new atom, because largest_numbers[state] says that it is not a union of smaller ones
            if n_atoms == len(atoms):
                larger, larger_counts = np.empty(2 * n_atoms, dtype=np.int64), np.empty((2 * n_atoms, n_groups), dtype=np.int64)
                larger[:n_atoms], larger_counts[:n_atoms] = atoms, atom_counts
                atoms, atom_counts = larger, larger_counts
            atoms[n_atoms] = state
            for group in range(n_groups):
                atom_counts[n_atoms, group] = state_counts[group]
            n_atoms += 1
            largest_numbers[state], last_atoms[state] = 1, state
    return True
