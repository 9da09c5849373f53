"""The cheapest assignment of instances to clusters of given sizes: the transportation problem in whole numbers.

Costs are rounded to whole numbers of 40 bits before they are compared. So the optimum is exact for the rounded costs, and the
same on every processor. The error of a total is at most n times the largest cost times 2^-40.
"""

from math import frexp, isfinite

import numpy as np

from clusterlets.algorithms.compiled import compiled, inner
from clusterlets.errors import ClusterletsError

#: Number of bits of the largest cost. Sums over 10^6 instances stay far below 63 bits.
BITS = 40
_MAX_BITS = 1000  # largest exponent of the scale; 2^1024 would be infinite

_NEVER = np.int64(2**62)  # the cost of a move out of an empty cluster


def transport(costs: np.ndarray, sizes: np.ndarray, prices: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The cheapest assignment with given cluster sizes, and the prices that prove it.

    Parameters
    ----------
    costs : float array (n, k)
        Finite: ``[i, c]`` is the cost of instance i in cluster c.
    sizes : int array (k,)
        Number of instances in each cluster. The sum is n.
    prices : float array (k,), optional
        Prices to start from, which are added to the costs of the clusters. They affect only the run time: with the prices of a
        dual solution, nearly every instance starts in its final cluster.

    Returns
    -------
    labels : int array (n,)
    prices : float array (k,)
        Each instance is in a cluster where its cost plus the price is lowest, up to rounding. The lowest price is 0.

    Raises
    ------
    ClusterletsError
        If the costs are not finite, or the sizes are negative or do not add up to n.

    Notes
    -----
    The method is that of successive shortest paths between clusters, with a heap of possible moves for each pair of clusters.
    O(n k) memory. O(n k) time to build the heaps, and O(k^3 + k log n) for each instance that has to move.
    """
    costs, sizes = np.ascontiguousarray(costs, dtype=np.float64), np.ascontiguousarray(sizes, dtype=np.int64)
    if costs.ndim != 2 or not costs.shape[1]:
        raise ClusterletsError(f"Costs must be (n, k), of n instances in k clusters, not {costs.shape}.")
    n, k = costs.shape
    if sizes.shape != (k,) or (sizes < 0).any() or sizes.sum() != n:
        raise ClusterletsError(f"{k} sizes of at least 0 must add up to {n} instances, not {sizes.tolist()}.")
    whole_costs, scale = whole_numbers(costs)
    # If costs hardly differ, prices may be far larger. Clipped, they are still larger than all costs, and no sum overflows.
    farthest = 2.0 ** (BITS + 2)
    first_prices = np.rint(np.clip(np.zeros(k) if prices is None else prices * scale, -farthest, farthest)).astype(np.int64)
    labels, final_prices = np.empty(n, dtype=np.int64), np.empty(k, dtype=np.int64)
    slots, cheapest = np.empty((n, k), dtype=np.int32), np.full((k, k), _NEVER)
    _assign(whole_costs, sizes, first_prices, labels, final_prices, slots, cheapest)
    return labels, (final_prices - final_prices.min()) / scale


def transport_groups(costs: np.ndarray, groups: np.ndarray, counts: np.ndarray, prices: np.ndarray | None = None) -> np.ndarray:
    """Labels (n,) of the cheapest assignment with given counts (K, k) of the groups in the clusters.

    Runs :func:`transport` for each group, starting from its row of ``prices`` (K, k).
    """
    labels = np.empty(len(costs), dtype=np.int64)
    for group, sizes in enumerate(counts):
        members = np.flatnonzero(groups == group)
        labels[members] = transport(costs[members], sizes, None if prices is None else prices[group])[0]
    return labels


def whole_numbers(costs: np.ndarray) -> tuple[np.ndarray, float]:
    """Costs (n, k) less the lowest of each instance, as whole numbers, and the power of two by which they are multiplied.

    The largest number has 40 bits. Raises ClusterletsError if a difference is not finite.
    """
    if not len(costs):
        return np.zeros(costs.shape, dtype=np.int64), 1.0
    above = costs - costs.min(axis=1, keepdims=True)
    largest = float(above.max())
    if not isfinite(largest):
        raise ClusterletsError("The costs must be finite, and so must their differences.")
    scale = 2.0 ** min(BITS - frexp(largest)[1], _MAX_BITS) if largest > 0 else 1.0
    return np.rint(above * scale).astype(np.int64), scale


@inner
def _is_cheaper_to_move(costs, row, other_row, source, target):
    """Whether it is cheaper to move ``row`` from ``source`` to ``target`` than ``other_row``; ties go to the lower index."""
    a, b = costs[row, target] - costs[row, source], costs[other_row, target] - costs[other_row, source]
    return a < b or (a == b and row < other_row)


@inner
def _sift_up(heaps, top, index, slots, costs, source, target):
    row = heaps[top + index]
    while index > 0:
        parent = (index - 1) >> 1
        if not _is_cheaper_to_move(costs, row, heaps[top + parent], source, target):
            break
        heaps[top + index] = heaps[top + parent]
        slots[heaps[top + index], target] = index
        index = parent
    heaps[top + index] = row
    slots[row, target] = index


@inner
def _sift_down(heaps, top, size, index, slots, costs, source, target):
    row = heaps[top + index]
    while True:
        child = 2 * index + 1
        if child >= size:
            break
        if child + 1 < size and _is_cheaper_to_move(costs, heaps[top + child + 1], heaps[top + child], source, target):
            child += 1
        if not _is_cheaper_to_move(costs, heaps[top + child], row, source, target):
            break
        heaps[top + index] = heaps[top + child]
        slots[heaps[top + index], target] = index
        index = child
    heaps[top + index] = row
    slots[row, target] = index


@compiled("void(int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1], int32[:,::1], int64[:,::1])")
def _assign(costs, sizes, first_prices, labels, prices, slots, cheapest):
    """Fill in labels and prices.

    The heap of moves between two clusters begins at index ``starts[source] + target * capacity[source]`` of ``heaps``.
    ``slots`` (n, k) holds the position of each instance in its heap for each target. ``cheapest`` (k, k) is the cost of the
    cheapest move between two clusters, at first ``_NEVER``.
    """
    n, k = costs.shape
    counts = np.zeros(k, dtype=np.int64)
    for row in range(n):
        best = 0
        for cluster in range(1, k):
            if costs[row, cluster] + first_prices[cluster] < costs[row, best] + first_prices[best]:
                best = cluster
        labels[row] = best
        counts[best] += 1
    # A cluster never holds more than the larger of its first and final sizes, plus one.
    capacity, starts = np.zeros(k, dtype=np.int64), np.zeros(k + 1, dtype=np.int64)
    for cluster in range(k):
        capacity[cluster] = max(counts[cluster], sizes[cluster]) + 1
        starts[cluster + 1] = starts[cluster] + capacity[cluster] * k
    heaps = np.empty(starts[k], dtype=np.int64)
    filled = np.zeros(k, dtype=np.int64)
    for row in range(n):
        source = labels[row]
        for target in range(k):
            heaps[starts[source] + target * capacity[source] + filled[source]] = row
            slots[row, target] = filled[source]
        filled[source] += 1
    for source in range(k):
        for target in range(k):
            if target != source:
                top = starts[source] + target * capacity[source]
                for index in range(counts[source] // 2 - 1, -1, -1):
                    _sift_down(heaps, top, counts[source], index, slots, costs, source, target)
                if counts[source]:
                    cheapest[source, target] = costs[heaps[top], target] - costs[heaps[top], source]

    distance, previous = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    while True:
        target = _shortest_paths(cheapest, counts, sizes, distance, previous)
        if target < 0:
            break
        # Moves start at the end of the path, so each instance moves into a cluster that had room or has just lost an instance.
        cluster = target
        while previous[cluster] >= 0:
            source = previous[cluster]
            row = heaps[starts[source] + cluster * capacity[source]]
            _move(row, source, cluster, heaps, starts, capacity, counts, slots, costs, cheapest)
            labels[row] = cluster
            cluster = source
    _prices(cheapest, prices)


@inner
def _move(row, source, target, heaps, starts, capacity, counts, slots, costs, cheapest):
    """Take an instance out of the heaps of one cluster and into those of another."""
    k = len(counts)
    last = counts[source] - 1
    for cluster in range(k):
        if cluster == source:
            continue
        top = starts[source] + cluster * capacity[source]
        index = np.int64(slots[row, cluster])
        if index != last:
            heaps[top + index] = heaps[top + last]
            slots[heaps[top + index], cluster] = index
            _sift_up(heaps, top, index, slots, costs, source, cluster)
            _sift_down(heaps, top, last, np.int64(slots[heaps[top + index], cluster]), slots, costs, source, cluster)
        cheapest[source, cluster] = costs[heaps[top], cluster] - costs[heaps[top], source] if last else _NEVER
    counts[source] = last
    for cluster in range(k):
        if cluster == target:
            continue
        top = starts[target] + cluster * capacity[target]
        heaps[top + counts[target]] = row
        _sift_up(heaps, top, counts[target], slots, costs, target, cluster)
        cheapest[target, cluster] = costs[heaps[top], cluster] - costs[heaps[top], target]
    counts[target] += 1


@inner
def _shortest_paths(cheapest, counts, sizes, distance, previous):
    """The cluster with too few instances that is nearest to one with too many, or -1. ``previous`` becomes the path back."""
    k = len(counts)
    for cluster in range(k):
        distance[cluster] = 0 if counts[cluster] > sizes[cluster] else _NEVER
        previous[cluster] = -1
    changed = True
    while changed:
        changed = False
        for source in range(k):
            if distance[source] == _NEVER:
                continue
            for neighbour in range(k):
                if (
                    cheapest[source, neighbour] != _NEVER
                    and distance[source] + cheapest[source, neighbour] < distance[neighbour]
                ):
                    distance[neighbour] = distance[source] + cheapest[source, neighbour]
                    previous[neighbour] = source
                    changed = True
    target = -1
    for cluster in range(k):
        if counts[cluster] < sizes[cluster] and (target < 0 or distance[cluster] < distance[target]):
            target = cluster
    return target


@inner
def _prices(cheapest, prices):
    """Fill in prices at which no move lowers the cost."""
    k = len(prices)
    for cluster in range(k):
        prices[cluster] = 0
    for _ in range(k):
        for source in range(k):
            for target in range(k):
                if cheapest[source, target] != _NEVER and prices[source] > prices[target] + cheapest[source, target]:
                    prices[source] = prices[target] + cheapest[source, target]
