"""Cheapest assignments of instances to clusters of given sizes: the transportation problem in whole numbers.

Costs are rounded to whole numbers of 40 bits before anything is compared, so that the optimum is exact for the rounded
costs, and the same on every processor. The error of a total is at most n times the largest cost times 2^-40.
"""

from math import frexp, isfinite

import numpy as np
from numba import njit

from clusterlets.algorithms.compiled import compiled
from clusterlets.errors import ClusterletsError

#: Bits of the largest cost as a whole number. Sums over 10^6 instances stay far below 63 bits.
BITS = 40
_MOST_BITS = 1000  # by which a cost may be scaled: above 1023 a power of two is infinite

_NEVER = np.int64(2**62)


def transport(costs: np.ndarray, sizes: np.ndarray, prices: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The cheapest assignment with given cluster sizes.

    Parameters
    ----------
    costs : float array (n, k)
        Finite, of instance i in cluster c.
    sizes : int array (k,)
        Instances of each cluster; their sum is n.
    prices : float array (k,), optional
        Added to the costs of a cluster at the start. They affect only the run time: with those of a dual solution nearly every
        instance starts in its final cluster.

    Returns
    -------
    labels : int array (n,)
    prices : float array (k,)
        Each instance is in a cluster of least cost plus price, up to rounding; the least price is 0.

    Raises
    ------
    ClusterletsError
        If the costs are not finite, or the sizes are negative or do not add up to n.

    Notes
    -----
    Successive shortest paths between clusters: each moves one instance along every edge of a path from a cluster with too
    many to one with too few, and the edges are kept in heaps. O(n k) memory; O(n k) time to build the heaps, and
    O(k^3 + k log n) for each instance that has to move.
    """
    costs, sizes = np.ascontiguousarray(costs, dtype=np.float64), np.ascontiguousarray(sizes, dtype=np.int64)
    if costs.ndim != 2 or not costs.shape[1]:
        raise ClusterletsError(f"Costs must be (n, k), of n instances in k clusters, not {costs.shape}.")
    n, k = costs.shape
    if sizes.shape != (k,) or (sizes < 0).any() or sizes.sum() != n:
        raise ClusterletsError(f"{k} sizes of at least 0 must add up to {n} instances, not {sizes.tolist()}.")
    whole_costs, scale = whole_numbers(costs)
    first_prices = np.zeros(k, dtype=np.int64) if prices is None else _whole_prices(prices, scale)
    labels = np.empty(n, dtype=np.int64)
    prices = np.empty(k, dtype=np.int64)
    _assign(whole_costs, sizes, first_prices, labels, prices)
    return labels, (prices - prices.min()) / scale


def transport_groups(costs: np.ndarray, groups: np.ndarray, counts: np.ndarray, prices: np.ndarray | None = None) -> np.ndarray:
    """Labels (n,) of the cheapest assignment with given counts (K, k) of each group: a :func:`transport` for each of them.

    The transports start from ``prices`` (K, k).
    """
    labels = np.empty(len(costs), dtype=np.int64)
    for group, sizes in enumerate(counts):
        members = np.flatnonzero(groups == group)
        labels[members] = transport(costs[members], sizes, None if prices is None else prices[group])[0]
    return labels


def whole_numbers(costs: np.ndarray) -> tuple[np.ndarray, float]:
    """Costs (n, k) above each instance's least as whole numbers, and the power of two that scaled them.

    The largest has 40 bits. ClusterletsError if a difference is not finite.
    """
    if not len(costs):
        return np.zeros(costs.shape, dtype=np.int64), 1.0
    above = costs - costs.min(axis=1, keepdims=True)
    largest = float(above.max())
    if not isfinite(largest):
        raise ClusterletsError("The costs must be finite, and so must their differences.")
    scale = 2.0 ** min(BITS - frexp(largest)[1], _MOST_BITS) if largest > 0 else 1.0
    return np.rint(above * scale).astype(np.int64), scale


def _whole_prices(prices: np.ndarray, scale: float) -> np.ndarray:
    """Prices as whole numbers in the unit of the costs, clipped beyond all costs so that no sum overflows.

    Where the costs of a group hardly differ, its prices lie far beyond them.
    """
    farthest = 2.0 ** (BITS + 2)
    return np.rint(np.clip(np.asarray(prices) * scale, -farthest, farthest)).astype(np.int64)


@njit
def _is_cheaper_to_move(costs, one, two, here, other):
    """Whether moving instance ``one`` from ``here`` to ``other`` is cheaper than moving ``two``; the lower number wins ties."""
    a, b = costs[one, other] - costs[one, here], costs[two, other] - costs[two, here]
    return a < b or (a == b and one < two)


@njit
def _sift_up(heap, place, slots, costs, here, other):
    row = heap[place]
    while place > 0:
        parent = (place - 1) >> 1
        if not _is_cheaper_to_move(costs, row, heap[parent], here, other):
            break
        heap[place] = heap[parent]
        slots[heap[place], other] = place
        place = parent
    heap[place] = row
    slots[row, other] = place


@njit
def _sift_down(heap, size, place, slots, costs, here, other):
    row = heap[place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and _is_cheaper_to_move(costs, heap[child + 1], heap[child], here, other):
            child += 1
        if not _is_cheaper_to_move(costs, heap[child], row, here, other):
            break
        heap[place] = heap[child]
        slots[heap[place], other] = place
        place = child
    heap[place] = row
    slots[row, other] = place


@compiled("int64(int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def _assign(costs, sizes, first, labels, prices):
    """Fill in labels and prices; returns the number of moves."""
    n, k = costs.shape
    held = np.zeros(k, dtype=np.int64)
    for row in range(n):
        best = 0
        for cluster in range(1, k):
            if costs[row, cluster] + first[cluster] < costs[row, best] + first[best]:
                best = cluster
        labels[row] = best
        held[best] += 1
    # A cluster never holds more than one instance beyond the larger of its first and its final size.
    room = np.maximum(held, sizes) + 1
    starts = np.zeros(k + 1, dtype=np.int64)
    for cluster in range(k):
        starts[cluster + 1] = starts[cluster] + room[cluster] * k
    heaps = np.empty(starts[k], dtype=np.int64)
    slots = np.empty((n, k), dtype=np.int32)
    filled = np.zeros(k, dtype=np.int64)
    for row in range(n):
        here = labels[row]
        for other in range(k):
            heaps[starts[here] + other * room[here] + filled[here]] = row
            slots[row, other] = filled[here]
        filled[here] += 1
    least = np.full((k, k), _NEVER)  # the cheapest move between two clusters
    for here in range(k):
        for other in range(k):
            if other != here:
                heap = heaps[starts[here] + other * room[here] : starts[here] + (other + 1) * room[here]]
                for place in range(held[here] // 2 - 1, -1, -1):
                    _sift_down(heap, held[here], place, slots, costs, here, other)
                if held[here]:
                    least[here, other] = costs[heap[0], other] - costs[heap[0], here]

    distance, before = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    n_moves = 0
    while True:
        target = _shortest_paths(least, held, sizes, distance, before)
        if target < 0:
            break
        # From the end of the path, so that each instance moves into a cluster that has just given one up, or had room.
        here = target
        while before[here] >= 0:
            source = before[here]
            row = heaps[starts[source] + here * room[source]]
            _move(row, source, here, heaps, starts, room, held, slots, costs, least)
            labels[row] = here
            n_moves += 1
            here = source
    _prices(least, prices)
    return n_moves


@njit
def _move(row, source, target, heaps, starts, room, held, slots, costs, least):
    """Take an instance out of the heaps of one cluster and into those of another."""
    k = len(held)
    last = held[source] - 1
    for other in range(k):
        if other == source:
            continue
        heap = heaps[starts[source] + other * room[source] : starts[source] + (other + 1) * room[source]]
        place = slots[row, other]
        if place != last:
            heap[place] = heap[last]
            slots[heap[place], other] = place
            _sift_up(heap, place, slots, costs, source, other)
            _sift_down(heap, last, slots[heap[place], other], slots, costs, source, other)
        least[source, other] = costs[heap[0], other] - costs[heap[0], source] if last else _NEVER
    held[source] = last
    for other in range(k):
        if other == target:
            continue
        heap = heaps[starts[target] + other * room[target] : starts[target] + (other + 1) * room[target]]
        heap[held[target]] = row
        _sift_up(heap, held[target], slots, costs, target, other)
        least[target, other] = costs[heap[0], other] - costs[heap[0], target]
    held[target] += 1


@njit
def _shortest_paths(least, held, sizes, distance, before):
    """Cluster with too few instances that is nearest to those with too many, or -1; ``before`` leads back along its path."""
    k = len(held)
    for cluster in range(k):
        distance[cluster] = 0 if held[cluster] > sizes[cluster] else _NEVER
        before[cluster] = -1
    changed = True
    while changed:
        changed = False
        for source in range(k):
            if distance[source] == _NEVER:
                continue
            for neighbour in range(k):
                if least[source, neighbour] != _NEVER and distance[source] + least[source, neighbour] < distance[neighbour]:
                    distance[neighbour] = distance[source] + least[source, neighbour]
                    before[neighbour] = source
                    changed = True
    target = -1
    for cluster in range(k):
        if held[cluster] < sizes[cluster] and (target < 0 or distance[cluster] < distance[target]):
            target = cluster
    return target


@njit
def _prices(least, prices):
    """Fill in prices at which no move lowers the cost."""
    k = len(prices)
    prices[:] = 0
    for _ in range(k):
        for source in range(k):
            for target in range(k):
                if least[source, target] != _NEVER and prices[source] > prices[target] + least[source, target]:
                    prices[source] = prices[target] + least[source, target]
