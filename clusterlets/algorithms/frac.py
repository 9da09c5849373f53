"""FRAC, the fair round-robin algorithm for clustering (Gupta, Ghalme, Krishnan and Jain, DMKD 2023).

FRAC is k-means with an assignment that is fair by construction. The groups are dealt out one after the other. Within a group,
the centres take turns in picking their nearest free point. So every cluster gets its share of every group.

The assignment is the same on every machine, because squared distances are summed in the order of the features. So equal rows
are exactly equally far from a centre, and such ties are broken by input order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isfinite
from numbers import Rational

import numpy as np
from numba import njit

from clusterlets.algorithms.compiled import compiled, inner
from clusterlets.algorithms.geometry import moments_by_label
from clusterlets.algorithms.instances import checked_instances
from clusterlets.algorithms.kmeans import kmeans_labels, kmeans_plus_plus, nearest_centres
from clusterlets.errors import ClusterletsError

# A float is read as the closest fraction whose denominator is at most this. Two such fractions differ by more than the rounding
# of a float, so the float of a fraction is read as this fraction.
LARGEST_DENOMINATOR = 2**24

# A centre queues about this many times its even share (1/k) of the free points. A larger value means longer sorts, a smaller
# one more scans. On the datasets adult and bank with k = 30, the values 3 to 6 were about equally fast.
LOOKAHEAD = 4
# The distance up to which a centre queues points is estimated from at least this many free points, or all if there are fewer.
SAMPLE = 256

Tau = float | Fraction | Sequence[float | Fraction] | None


@dataclass(frozen=True)
class FRACResult:
    """A FRAC clustering of n instances, and the clustering by its centres alone.

    Attributes
    ----------
    labels_fair : int array (n,)
        Cluster of each instance by the fair assignment. Labels are renumbered without gaps.
    labels_nearest : int array (n,)
        Cluster of each instance by the nearest of ``centres``, also renumbered without gaps. The Clusterlets paper scored these
        clusters as FRAC.
    centres : float array (k, d)
        Means of the fair clusters. A cluster without points (possible if tau is below 1/k) keeps its former centre.
    centres_nearest : float array (m, d)
        The centres that are nearest to some instance: row i is the centre of label i of ``labels_nearest``.
    cost : float
        Sum of squared distances of the instances to the mean of their fair cluster.
    n_iter : int
        Number of rounds.
    """

    labels_fair: np.ndarray
    labels_nearest: np.ndarray
    centres: np.ndarray
    centres_nearest: np.ndarray
    cost: float
    n_iter: int


def deal(X, groups, centres, turns: Sequence[int]) -> np.ndarray:
    """Deal the points out to the centres, round-robin within each group; returns the index (n,) of each point's centre.

    Groups are dealt out one after the other in the order of their codes. Within a group, the centres take turns in index order,
    and each takes its nearest free point (by squared Euclidean distance, with ties broken by input order). The turn is not
    reset between groups: the next group starts with the centre after the one that took the last point. Points that are left
    over after the turns of their group go to their nearest centres, ties to the lowest index.

    Parameters
    ----------
    X : float array (n, d)
    groups : int array (n,)
        Code of each point's group.
    centres : float array (k, d)
        Centres may coincide, and k may exceed n or the size of a group.
    turns : sequence of K int
        The number of turns in each group, at most its size.

    Notes
    -----
    Algorithm "fair assignment" of Gupta et al., DMKD 2023. If every point is dealt out, cluster sizes differ by at most one,
    for each group and overall. Each centre has a queue of near points. Filling the queues of all k centres takes O(n k d)
    time, and happened a few dozen times in measurements. O(n k) memory at worst, typically O(n).
    """
    labels = np.empty(len(X), dtype=np.int64)
    next_centre = 0
    for group, n_turns in enumerate(turns):
        members = np.flatnonzero(groups == group)
        points = X[members]
        owners = _deal(points, centres, next_centre, n_turns)
        is_left_over = owners < 0
        if is_left_over.any():
            owners[is_left_over] = nearest_centres(points[is_left_over], centres)
        labels[members] = owners
        next_centre = (next_centre + n_turns) % len(centres)
    return labels


def frac(
    X,
    groups,
    n_clusters: int,
    random_state: np.random.Generator,
    tau: Tau = None,
    init: str = "random",
    max_iter: int = 100,
    tol: float = 1e-4,
) -> FRACResult:
    """FRAC: k-means with a fair assignment in every round (Gupta et al., DMKD 2023).

    Each round makes a fair assignment and moves the centres to the clusters' means. The rounds end when the costs of two
    successive rounds differ by at most ``tol`` times the later cost, or after ``max_iter`` rounds. The cost may rise, so the
    result is that of the earliest round with the lowest cost.

    ``X`` (n, d), ``groups`` (n,), ``n_clusters`` and ``random_state`` are as in :meth:`clusterlets.methods.Method.fit`, and the
    other parameters as :class:`clusterlets.FRAC` declares them. If ``tau`` is None or 1/k, every point is dealt out. If it is
    less, each centre takes ``floor(tau * n_a)`` turns in a group of n_a points. A float is read as the closest fraction with a
    denominator up to 2**24, so 1/49 of 49 points is one point.

    A round takes O(n d) time more than :func:`deal`. The first centres are distinct points. If fewer than k points are
    distinct, random centres are completed with duplicate rows, and those of k-means++ are repeated in order.
    """
    X, groups = checked_instances(X, groups, "FRAC", n_clusters)
    turns = _count_turns(tau, n_clusters, np.bincount(groups))
    best = labels, centres, cost = _run_round(X, groups, _first_centres(X, n_clusters, random_state, init), turns)
    n_iter, former_cost = 1, np.inf
    while n_iter < max_iter and not abs(former_cost - cost) <= tol * cost:
        former_cost = cost
        labels, centres, cost = _run_round(X, groups, centres, turns)
        n_iter += 1
        if cost < best[-1]:
            best = labels, centres, cost
    return _make_result(X, *best, n_iter=n_iter)


def frac_oe(X, groups, n_clusters: int, random_state: np.random.Generator, tau: Tau = None) -> FRACResult:
    """FRAC-OE: plain k-means, then a single fair assignment. The arguments are as in :func:`frac`.

    The result is that of one round of FRAC from the centres of k-means, so ``centres`` are the means of the fair clusters.
    If there are fewer than k distinct rows, the centres of k-means are repeated in order until there are k.
    """
    X, groups = checked_instances(X, groups, "FRAC", n_clusters)
    turns = _count_turns(tau, n_clusters, np.bincount(groups))
    labels = kmeans_labels(X, n_clusters, random_state)
    means, _ = moments_by_label(X, labels, int(labels.max()) + 1)
    centres = np.resize(means, (n_clusters, X.shape[1]))
    return _make_result(X, *_run_round(X, groups, centres, turns), n_iter=1)


def rows_for_new(
    composition: np.ndarray, new_totals: np.ndarray, is_in_fit: np.ndarray, tau: Tau = None
) -> tuple[np.ndarray, np.ndarray]:
    """Constraints on the counts of new rows that keep FRAC's guarantee for old and new rows together.

    Every cluster must hold at least ``floor(tau * n_a)`` rows of each group a that was in the fit, where n_a counts old and new
    rows. ``composition`` (K, k) counts the old rows of each group in each cluster, and ``new_totals`` (K,) the new rows of each
    group. Returns the pair of arrays that :func:`clusterlets.algorithms.limits.assignment_limits` describes.
    """
    k, old_totals = composition.shape[1], composition.sum(axis=1)
    taus = iter(_taus(tau, k, len(old_totals)))  # a sequence has values only for the groups of the fit
    fractions = [_as_fraction(next(taus)) if in_fit else Fraction(0) for in_fit in is_in_fit]
    min_counts = [int(fraction * int(total)) for fraction, total in zip(fractions, old_totals + new_totals, strict=True)]
    return -np.eye(len(old_totals), dtype=np.int64), composition - np.array(min_counts)[:, None]


def _taus(tau, n_clusters: int, n_groups: int) -> list:
    """A tau for each group: 1/k if ``tau`` is None, its values if it is a sequence, and otherwise ``tau`` for every group."""
    if tau is None:
        return [Fraction(1, n_clusters)] * n_groups
    try:
        return list(tau)
    except TypeError:  # one value for all groups
        return [tau] * n_groups


def _count_turns(tau, n_clusters: int, sizes: np.ndarray) -> list[int]:
    """Turns in each group of n_a points, one per point dealt out: n_a if tau = 1/k, else k times ``floor(tau * n_a)``."""
    taus = _taus(tau, n_clusters, len(sizes))
    if len(taus) != len(sizes):
        raise ClusterletsError(f"{len(taus)} values of tau for {len(sizes)} groups: give one per group, or one for all.")
    even = Fraction(1, n_clusters)
    shares = [_as_fraction(tau) for tau in taus]
    for group, share in enumerate(shares):
        if not 0 <= share <= even:
            raise ClusterletsError(
                f"tau = {str(taus[group])[:20]} for group {group}: it must lie between 0 and 1/k = 1/{n_clusters}, "
                f"since {n_clusters} clusters cannot each hold more than that fraction of a group."
            )
    return [
        size if share == even else n_clusters * floor(share * size) for share, size in zip(shares, sizes.tolist(), strict=True)
    ]


def _as_fraction(number) -> Fraction:
    """The number itself if it is rational, else the closest fraction with a denominator up to ``LARGEST_DENOMINATOR``."""
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    try:
        is_finite = isfinite(number)
    except TypeError:
        is_finite = False
    if not is_finite:
        raise ClusterletsError(f"tau = {str(number)[:60]}: it must be a finite number.")
    return Fraction(float(number)).limit_denominator(LARGEST_DENOMINATOR)


def _first_centres(X: np.ndarray, n_clusters: int, random_state: np.random.Generator, init: str) -> np.ndarray:
    if init == "random":
        return X[_distinct_rows(X, n_clusters, random_state.permutation(len(X)))]
    return np.resize(X[kmeans_plus_plus(X, n_clusters, random_state)], (n_clusters, X.shape[1]))


def _distinct_rows(X: np.ndarray, n_rows: int, order: np.ndarray) -> list[int]:
    """Indices of the first ``n_rows`` distinct rows in the given order, followed by those of repeated rows if needed."""
    distinct: list[int] = []
    repeated: list[int] = []
    seen = set()
    for index in order:
        row = tuple(X[index])
        (repeated if row in seen else distinct).append(index)
        seen.add(row)
        if len(distinct) == n_rows:
            break
    return (distinct + repeated)[:n_rows]


def _run_round(X, groups, centres, turns) -> tuple[np.ndarray, np.ndarray, float]:
    """One round of FRAC: fair labels, the means of their clusters, and the cost at these means."""
    labels = deal(X, groups, centres, turns)
    present, compact_labels = np.unique(labels, return_inverse=True)
    means, inertia = moments_by_label(X, compact_labels, len(present))
    centres = centres.copy()
    centres[present] = means
    return labels, centres, float(inertia.sum())


def _make_result(X, labels, centres, cost, n_iter) -> FRACResult:
    nearest = nearest_centres(X, centres)
    present, labels_nearest = np.unique(nearest, return_inverse=True)
    labels_fair = np.unique(labels, return_inverse=True)[1]
    return FRACResult(labels_fair, labels_nearest, centres, centres[present], cost, n_iter)


@inner
def _squared_distance(points, row, centre):
    total = 0.0
    for feature in range(points.shape[1]):
        difference = points[row, feature] - centre[feature]
        total += difference * difference
    return total


@njit  # a test calls it from Python
def _stable_argsort(keys):
    """Stable argsort of floats that are at least 0: a radix sort of their bits, which are in the same order.

    A merge sort takes two to five times as long, and NumPy's ``argsort`` would take Numba five seconds to compile.
    """
    n = len(keys)
    bits = keys.view(np.int64)
    order, next_order = np.arange(n), np.empty(n, dtype=np.int64)
    places = np.empty(256, dtype=np.int64)  # for each value of a byte, where the next key with this value goes
    for shift in range(0, 64, 8):
        places[:] = 0
        for position in range(n):
            places[(bits[position] >> shift) & 255] += 1
        if places.max() == n:  # all keys have the same byte
            continue
        place = 0
        for byte in range(256):
            places[byte], place = place, place + places[byte]
        for key in order:
            byte = (bits[key] >> shift) & 255
            next_order[places[byte]] = key
            places[byte] += 1
        order, next_order = next_order, order
    return order


@inner
def _look_ahead(points, centre, free, n_points):
    """Roughly the ``n_points`` free points nearest to the centre, but at least one, sorted by distance, then by input order.

    These are all points up to a distance, which is estimated from a sample of the free points.
    """
    distances = np.empty(len(free))
    for position in range(len(free)):
        distances[position] = _squared_distance(points, free[position], centre)
    if n_points < len(free):
        step = max(1, len(free) // SAMPLE)
        sample = np.empty((len(free) + step - 1) // step)
        for position in range(len(sample)):
            sample[position] = distances[position * step]
        max_distance = sample[_stable_argsort(sample)[n_points * len(sample) // len(free)]]
        near, n_near = np.empty(len(free), dtype=np.int64), 0
        for position in range(len(free)):
            if distances[position] <= max_distance:
                near[n_near], distances[n_near] = free[position], distances[position]
                n_near += 1
        distances, free = distances[:n_near], near
    order = _stable_argsort(distances)  # Free points are in input order, so a stable sort breaks ties by input order.
    for position in range(len(order)):
        order[position] = free[order[position]]
    return order


@compiled("int64[::1](float64[:,::1], float64[:,::1], int64, int64)")
def _deal(points, centres, next_centre, n_turns):
    """Let the centres take ``n_turns`` turns, starting with ``next_centre``; returns the centre (n,) of each point, or -1.

    Each centre keeps a queue of points that were free when it filled the queue, nearest first. It skips those that other
    centres have taken since. When none are left, it fills the queue again.
    """
    owners = np.full(len(points), -1)
    free = np.arange(len(points))
    queues = [free[:0]] * len(centres)
    heads = np.zeros(len(centres), dtype=np.int64)
    for _ in range(n_turns):
        queue, head = queues[next_centre], heads[next_centre]
        while head < len(queue) and owners[queue[head]] >= 0:
            head += 1
        if head == len(queue):
            n_free = 0
            for position in range(len(free)):
                if owners[free[position]] < 0:
                    free[n_free] = free[position]
                    n_free += 1
            free = free[:n_free]
            queue, head = _look_ahead(points, centres[next_centre], free, LOOKAHEAD * len(free) // len(centres)), 0
            queues[next_centre] = queue
        owners[queue[head]] = next_centre
        heads[next_centre] = head + 1
        next_centre = (next_centre + 1) % len(centres)
    return owners
