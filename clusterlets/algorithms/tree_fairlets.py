"""Fairlets from a tree, in near-linear time (Backurs, Indyk, Onak, Schieber, Vakilian and Wagner, ICML 2019).

The tree is a hierarchy of boxes, shifted at random. Each box is split in the middle of all its sides. The tree replaces the
distances: points that only the lower levels separate are near each other.

From the root down, the children of every box give away a few points, so that the points each child keeps are balanced. The
points given away, and the points that reach the leaves, become fairlets of at most p + q points, where p/q is the promised
balance. Coordinates are rounded to whole numbers first.
"""

from fractions import Fraction

import numpy as np
from numba import njit

from clusterlets.algorithms.compiled import compiled
from clusterlets.algorithms.instances import checked_instances, counts_of_two
from clusterlets.errors import NoClusteringError

#: Number of levels of the tree. The sides of a box of the last level are 2^-40 of the root's; points in one such box are equal.
DEPTH = 40


def promised_balance(n_fewer: int, n_more: int, largest_q: int) -> Fraction:
    """The largest fraction p/q up to the table's balance ``n_fewer / n_more``, with q at most ``largest_q``.

    Raises NoClusteringError with the status ``infeasible`` if this fraction is 0, because the rarer group is too rare.
    """
    balance = max(Fraction(n_fewer * q // n_more, q) for q in range(1, largest_q + 1))
    if balance == 0:
        raise NoClusteringError(
            "infeasible",
            f"Groups of {n_fewer} and {n_more} rows have no fairlets with a balance p/q with q up to {largest_q}. "
            f"Take largest_q = {-(-n_more // n_fewer)} or more.",
        )
    return balance


def tree_fairlets(X: np.ndarray, groups: np.ndarray, random_state: np.random.Generator, largest_q: int = 20) -> np.ndarray:
    """The fairlet (n,) of each row, 0..m-1 without gaps. Each fairlet has at least the :func:`promised_balance`.

    ``X``, ``groups`` (0 or 1, of which both occur) and ``random_state`` are as in :meth:`clusterlets.methods.Method.fit`, and
    ``largest_q`` as :class:`clusterlets.TreeFairlets` declares it. In each fairlet, and in every union of fairlets, the
    rarer group has at least p rows for each q of the other, with p/q from :func:`promised_balance`. O(n d depth) time, for a
    depth of at most 40, and O(n d) memory.

    Raises
    ------
    ClusterletsError
        If there are not exactly two groups, or features are not finite or too large to square.
    NoClusteringError
        ``infeasible``, if the rarer group is too rare for ``largest_q``.
    """
    X, groups = checked_instances(X, groups, "fairlets")
    counts = counts_of_two(groups)
    balance = promised_balance(int(counts.min()), int(counts.max()), largest_q)
    fairlets = np.empty(len(X), dtype=np.int64)
    coordinates = _whole_coordinates(X, random_state)
    _decompose(coordinates, (groups == 1).astype(np.int64), balance.numerator, balance.denominator, DEPTH, fairlets)
    return fairlets


def _whole_coordinates(X: np.ndarray, random_state: np.random.Generator) -> np.ndarray:
    """Coordinates (n, d) as whole numbers of ``DEPTH`` bits, shifted at random within a box twice as wide as the points."""
    lowest = X.min(axis=0)
    side = X.max(axis=0) - lowest
    shift = random_state.random(X.shape[1])
    positions = (X - lowest) / np.where(side > 0, side, 1.0) + shift  # from 0 to 2
    return np.minimum((positions * 2.0 ** (DEPTH - 1)).astype(np.int64), 2**DEPTH - 1)


@compiled("void(int64[:,::1], int64[::1], int64, int64, int64, int64[::1])")
def _decompose(coordinates, groups, p, q, depth, fairlets):
    """Write to ``fairlets`` the fairlet of each point, with a balance of at least p / q.

    ``coordinates`` are those of :func:`_whole_coordinates`. A box is a range of ``order``, which holds the indices of points.
    """
    n = len(coordinates)
    order, scratch = np.arange(n), np.empty(n, dtype=np.int64)
    rows_given_away = np.empty(n, dtype=np.int64)
    # Boxes wait on a stack. There are at most n of them, because each holds a point, and no point is in two boxes.
    firsts, ends, levels = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    firsts[0], ends[0], levels[0] = 0, n, 0
    n_boxes, n_fairlets = 1, 0
    bounds = np.empty(n + 1, dtype=np.int64)
    counts, n_given = np.empty((n, 2), dtype=np.int64), np.empty((n, 2), dtype=np.int64)
    while n_boxes > 0:
        n_boxes -= 1
        first, end, level = firsts[n_boxes], ends[n_boxes], levels[n_boxes]
        n_children = 1
        while level < depth and n_children == 1:  # skip boxes with a single child
            n_children = _split_box(coordinates, order, scratch, first, end, depth - 1 - level, bounds)
            level += 1
        if n_children == 1:
            n_fairlets = _split_into_fairlets(groups, order[first:end], p, q, n_fairlets, fairlets)
            continue
        counts[:n_children] = 0
        for child in range(n_children):
            for index in range(bounds[child], bounds[child + 1]):
                counts[child, groups[order[index]]] += 1
        _balance_children(counts[:n_children], p, q, n_given[:n_children])
        n_rows_given_away = 0
        for child in range(n_children):
            end_kept = bounds[child]
            for index in range(bounds[child], bounds[child + 1]):
                row = order[index]
                if n_given[child, groups[row]] > 0:
                    n_given[child, groups[row]] -= 1
                    rows_given_away[n_rows_given_away] = row
                    n_rows_given_away += 1
                else:
                    order[end_kept] = row
                    end_kept += 1
            if end_kept > bounds[child]:
                firsts[n_boxes], ends[n_boxes], levels[n_boxes] = bounds[child], end_kept, level
                n_boxes += 1
        n_fairlets = _split_into_fairlets(groups, rows_given_away[:n_rows_given_away], p, q, n_fairlets, fairlets)


@njit
def _split_box(coordinates, order, scratch, first, end, bit, bounds):
    """Split a box: sort its range of ``order`` stably by bit number ``bit`` of all coordinates. Returns the number of children.

    ``bounds`` become the start of each child's range, and the end of the last.
    """
    n_features = coordinates.shape[1]
    for feature in range(n_features - 1, -1, -1):
        end_zeros, n_ones = first, 0
        for index in range(first, end):
            row = order[index]
            if (coordinates[row, feature] >> bit) & 1:
                scratch[n_ones] = row
                n_ones += 1
            else:
                order[end_zeros] = row
                end_zeros += 1
        order[end_zeros:end] = scratch[:n_ones]
    n_children = 1
    bounds[0] = first
    for index in range(first + 1, end):
        for feature in range(n_features):
            if ((coordinates[order[index], feature] ^ coordinates[order[index - 1], feature]) >> bit) & 1:
                bounds[n_children] = index
                n_children += 1
                break
    bounds[n_children] = end
    return n_children


@njit
def _balance_children(counts, p, q, n_given):
    """Decide how many points of each group each child gives away.

    The points that each child keeps are balanced, and so are the points that all children give away together. ``counts`` (c, 2)
    becomes the numbers of points that the children keep, and ``n_given`` (c, 2) the numbers that they give away.
    """
    n_given[:] = 0
    total = np.zeros(2, dtype=np.int64)  # given away by all children
    for child in range(len(counts)):  # first, each child gives away its surplus
        majority = 0 if counts[child, 0] >= counts[child, 1] else 1
        surplus = counts[child, majority] - counts[child, 1 - majority] * q // p
        _give_away(counts, n_given, total, child, majority, max(0, surplus))
    # Below, -(-a // b) is a / b rounded up.
    majority = 0 if total[0] >= total[1] else 1
    minority = 1 - majority
    for child in range(len(counts)):  # then points of the other group, to balance the total, if a child can spare them
        missing = -(-total[majority] * p // q) - total[minority]
        spare = counts[child, minority] - -(-counts[child, majority] * p // q)
        _give_away(counts, n_given, total, child, minority, max(0, min(spare, missing)))
    for child in range(len(counts)):  # if still not balanced, children keep only whole multiples of p and q
        if total.min() * q >= total.max() * p:
            break
        majority = 0 if counts[child, 0] >= counts[child, 1] else 1
        multiple = counts[child, majority] // q
        _give_away(counts, n_given, total, child, majority, counts[child, majority] - q * multiple)
        _give_away(counts, n_given, total, child, 1 - majority, counts[child, 1 - majority] - p * multiple)


@njit
def _give_away(counts, n_given, total, child, group, number):
    counts[child, group] -= number
    n_given[child, group] += number
    total[group] += number


@njit
def _split_into_fairlets(groups, rows, p, q, n_fairlets, fairlets):
    """Split rows with a balance of at least p / q into fairlets of at most p + q rows.

    Returns the number of fairlets so far.
    """
    rows_by_group, sizes = np.empty((2, len(rows)), dtype=np.int64), np.zeros(2, dtype=np.int64)
    for row in rows:
        rows_by_group[groups[row], sizes[groups[row]]] = row
        sizes[groups[row]] += 1
    majority = 0 if sizes[0] >= sizes[1] else 1
    n_used = np.zeros(2, dtype=np.int64)
    n_more, n_fewer = sizes[majority], sizes[1 - majority]
    while n_more - n_fewer >= q - p and n_more >= q and n_fewer >= p and n_more + n_fewer > 0:
        _take_fairlet(rows_by_group, n_used, majority, q, p, n_fairlets, fairlets)
        n_fairlets, n_more, n_fewer = n_fairlets + 1, n_more - q, n_fewer - p
    if 1 <= n_more + n_fewer <= p + q:
        _take_fairlet(rows_by_group, n_used, majority, n_more, n_fewer, n_fairlets, fairlets)
        return n_fairlets + 1
    if n_more != n_fewer and n_fewer >= p:
        _take_fairlet(rows_by_group, n_used, majority, n_more - n_fewer + p, p, n_fairlets, fairlets)
        n_fairlets, n_more, n_fewer = n_fairlets + 1, n_fewer - p, n_fewer - p
    for _ in range(n_fewer):
        _take_fairlet(rows_by_group, n_used, majority, 1, 1, n_fairlets, fairlets)
        n_fairlets += 1
    return n_fairlets


@njit
def _take_fairlet(rows_by_group, n_used, majority, n_more, n_fewer, number, fairlets):
    """Make fairlet ``number`` of the next ``n_more`` unused rows of group ``majority`` and ``n_fewer`` of the other group."""
    for index in range(n_used[majority], n_used[majority] + n_more):
        fairlets[rows_by_group[majority, index]] = number
    for index in range(n_used[1 - majority], n_used[1 - majority] + n_fewer):
        fairlets[rows_by_group[1 - majority, index]] = number
    n_used[majority] += n_more
    n_used[1 - majority] += n_fewer
