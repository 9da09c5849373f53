"""Cheapest assignments of instances to clusters whose sizes are given: transportation with whole numbers.

Costs are rounded to whole numbers of 40 bits before anything is compared, so that the optimum is exact for the rounded
costs, and the same on every processor. The error of a total is at most n times the largest cost times 2^-40.
"""

from math import frexp, isfinite

import numpy as np
from numba import njit

from clusterlets.algorithms.compiled import compiled
from clusterlets.errors import ClusterletsError

#: Bits of the largest cost as a whole number. With sums over 10^6 instances it stays far from the 63 bits that there are.
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
        Added to the costs of a cluster at the start. They change the time alone: with those of a dual solution nearly every
        instance starts in its place.

    Returns
    -------
    labels : int array (n,)
    prices : float array (k,)
        With which each instance is in a cluster of least cost plus price, up to rounding; the least is 0.

    Raises
    ------
    ClusterletsError
        If the costs are not finite, or the sizes are negative or do not add up to n.

    Notes
    -----
    Successive shortest paths between clusters: each moves one instance along every edge of a path from a cluster with too
    many to one with too few, and the edges are kept in heaps. O(n k) memory; O(n k) time to build the heaps, and
    O(k^3 + k log n) for each instance that does not start in its place.
    """
    costs, sizes = np.ascontiguousarray(costs, dtype=np.float64), np.ascontiguousarray(sizes, dtype=np.int64)
    if costs.ndim != 2 or not costs.shape[1]:
        raise ClusterletsError(f"Costs must be (n, k), of n instances in k clusters, and these are {costs.shape}.")
    n, k = costs.shape
    if sizes.shape != (k,) or (sizes < 0).any() or sizes.sum() != n:
        raise ClusterletsError(f"{k} sizes of at least 0 must add up to {n} instances, and these are {sizes.tolist()}.")
    whole, scale = whole_numbers(costs)
    first = np.zeros(k, dtype=np.int64) if prices is None else _whole_prices(prices, scale)
    labels = np.empty(n, dtype=np.int64)
    prices = np.empty(k, dtype=np.int64)
    _assign(whole, sizes, first, labels, prices)
    return labels, (prices - prices.min()) / scale


def transport_groups(costs: np.ndarray, groups: np.ndarray, counts: np.ndarray, prices: np.ndarray | None = None) -> np.ndarray:
    """Labels (n,) of the cheapest assignment with given counts (K, k) of each group: a :func:`transport` for each of them.

    ``prices`` (K, k) are those that the transports start from.
    """
    labels = np.empty(len(costs), dtype=np.int64)
    for group, sizes in enumerate(counts):
        members = np.flatnonzero(groups == group)
        labels[members] = transport(costs[members], sizes, None if prices is None else prices[group])[0]
    return labels


def whole_numbers(costs: np.ndarray) -> tuple[np.ndarray, float]:
    """Costs (n, k) above the least of each instance as whole numbers, and the power of two that they were multiplied by.

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
    """Prices in the unit of the costs; one beyond all costs counts like the farthest that still keeps all sums whole.

    Where the costs of a group hardly differ, its prices are far beyond them.
    """
    farthest = 2.0 ** (BITS + 2)
    return np.rint(np.clip(np.asarray(prices) * scale, -farthest, farthest)).astype(np.int64)


@njit
def _less(costs, one, two, here, other):
    """Whether moving one instance from ``here`` to ``other`` is cheaper than moving the other; the first by number if equal."""
    a, b = costs[one, other] - costs[one, here], costs[two, other] - costs[two, here]
    return a < b or (a == b and one < two)


@njit
def _rise(heap, place, slots, costs, here, other):
    row = heap[place]
    while place > 0:
        parent = (place - 1) >> 1
        if not _less(costs, row, heap[parent], here, other):
            break
        heap[place] = heap[parent]
        slots[heap[place], other] = place
        place = parent
    heap[place] = row
    slots[row, other] = place


@njit
def _sink(heap, size, place, slots, costs, here, other):
    row = heap[place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and _less(costs, heap[child + 1], heap[child], here, other):
            child += 1
        if not _less(costs, heap[child], row, here, other):
            break
        heap[place] = heap[child]
        slots[heap[place], other] = place
        place = child
    heap[place] = row
    slots[row, other] = place


@compiled("int64(int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def _assign(costs, sizes, first, labels, prices):
    """Fill in labels and prices; how many instances were moved."""
    n, k = costs.shape
    held = np.zeros(k, dtype=np.int64)
    for row in range(n):
        best = 0
        for cluster in range(1, k):
            if costs[row, cluster] + first[cluster] < costs[row, best] + first[best]:
                best = cluster
        labels[row] = best
        held[best] += 1
    # A cluster never holds more than it starts with, or than it shall have, and one more on the way.
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
                    _sink(heap, held[here], place, slots, costs, here, other)
                if held[here]:
                    least[here, other] = costs[heap[0], other] - costs[heap[0], here]

    distance, before = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    moved = 0
    while True:
        target = _shortest_paths(least, held, sizes, distance, before)
        if target < 0:
            break
        # From the end of the path, so that each instance moves into a cluster that has given one up already, or had room.
        here = target
        while before[here] >= 0:
            source = before[here]
            row = heaps[starts[source] + here * room[source]]
            _move(row, source, here, heaps, starts, room, held, slots, costs, least)
            labels[row] = here
            moved += 1
            here = source
    _prices(least, prices)
    return moved


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
            _rise(heap, place, slots, costs, source, other)
            _sink(heap, last, slots[heap[place], other], slots, costs, source, other)
        least[source, other] = costs[heap[0], other] - costs[heap[0], source] if last else _NEVER
    held[source] = last
    for other in range(k):
        if other == target:
            continue
        heap = heaps[starts[target] + other * room[target] : starts[target] + (other + 1) * room[target]]
        heap[held[target]] = row
        _rise(heap, held[target], slots, costs, target, other)
        least[target, other] = costs[heap[0], other] - costs[heap[0], target]
    held[target] += 1


@njit
def _shortest_paths(least, held, sizes, distance, before):
    """Nearest cluster with too few, from all with too many; -1 if none has. ``before`` leads back along its path."""
    k = len(held)
    for cluster in range(k):
        distance[cluster] = 0 if held[cluster] > sizes[cluster] else _NEVER
        before[cluster] = -1
    changed = True
    while changed:
        changed = False
        for here in range(k):
            if distance[here] == _NEVER:
                continue
            for other in range(k):
                if least[here, other] != _NEVER and distance[here] + least[here, other] < distance[other]:
                    distance[other] = distance[here] + least[here, other]
                    before[other] = here
                    changed = True
    target = -1
    for cluster in range(k):
        if held[cluster] < sizes[cluster] and (target < 0 or distance[cluster] < distance[target]):
            target = cluster
    return target


@njit
def _prices(least, prices):
    """Prices with which no move pays."""
    k = len(prices)
    prices[:] = 0
    for _ in range(k):
        for here in range(k):
            for other in range(k):
                if least[here, other] != _NEVER and prices[here] > prices[other] + least[here, other]:
                    prices[here] = prices[other] + least[here, other]
