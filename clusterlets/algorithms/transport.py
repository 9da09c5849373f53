"""The cheapest assignment of instances to clusters of given sizes: the transportation problem in whole numbers.

Costs are rounded to whole numbers of 40 bits before they are compared. So the result is exactly optimal for the rounded costs,
and the same on every processor. The error of a total cost is at most n times the largest cost times 2^-40.
"""

from math import frexp, isfinite

import numpy as np

from clusterlets.algorithms.compiled import compiled, inner
from clusterlets.errors import ClusterletsError

#: Number of bits of the largest rounded cost. Sums over 10^6 instances stay below 2^60, and 2^63 would overflow.
BITS = 40
_MAX_EXPONENT = 1000  # of the power of two that scales the costs; 2^1024 would be infinite

_INFINITE_COST = np.int64(2**62)  # of a move out of an empty cluster, and of a path that does not exist


def transport(costs: np.ndarray, sizes: np.ndarray, prices: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The cheapest assignment with given cluster sizes, and the prices that prove it.

    Parameters
    ----------
    costs : float array (n, k)
        Finite: ``[i, c]`` is the cost of instance i in cluster c.
    sizes : int array (k,)
        Number of instances in each cluster. The sizes add up to n.
    prices : float array (k,), optional
        Prices of the clusters: each instance starts where its cost plus the price is lowest. Prices of a dual solution save
        time, because nearly every instance then starts in its final cluster. Prices do not affect the total cost, but may
        affect which of several equally cheap assignments is returned.

    Returns
    -------
    labels : int array (n,)
        Cluster of each instance.
    prices : float array (k,)
        Each instance is in a cluster where its cost plus the price is lowest, up to rounding. The lowest price is 0.

    Raises
    ------
    ClusterletsError
        If the costs are not finite, or the sizes are negative or do not add up to n.

    Notes
    -----
    Successive shortest paths between clusters, with a heap of possible moves for each pair of clusters. O(n k) memory. O(n k)
    time to build the heaps, and O(k^3 + k log n) for each instance that has to move.
    """
    costs, sizes = np.ascontiguousarray(costs, dtype=np.float64), np.ascontiguousarray(sizes, dtype=np.int64)
    if costs.ndim != 2 or not costs.shape[1]:
        raise ClusterletsError(f"Costs must be (n, k), of n instances in k clusters, not {costs.shape}.")
    n, k = costs.shape
    if sizes.shape != (k,) or (sizes < 0).any() or sizes.sum() != n:
        raise ClusterletsError(f"{k} sizes of at least 0 must add up to {n} instances, not {sizes.tolist()}.")
    whole_costs, scale = whole_numbers(costs)
    scaled_prices = np.zeros(k) if prices is None else prices * scale
    # If costs hardly differ, scaled prices may be huge. Clipped, they still exceed all costs, but no sum overflows.
    max_price = 2.0 ** (BITS + 2)
    first_prices = np.rint(np.clip(scaled_prices, -max_price, max_price)).astype(np.int64)
    labels, final_prices = np.empty(n, dtype=np.int64), np.empty(k, dtype=np.int64)
    positions, cheapest = np.empty((n, k), dtype=np.int32), np.full((k, k), _INFINITE_COST)
    _assign(whole_costs, sizes, first_prices, labels, final_prices, positions, cheapest)
    return labels, (final_prices - final_prices.min()) / scale


def transport_groups(costs: np.ndarray, groups: np.ndarray, counts: np.ndarray, prices: np.ndarray | None = None) -> np.ndarray:
    """Labels (n,) of the cheapest assignment with given ``counts`` (K, k) of the groups in the clusters.

    Runs :func:`transport` for each group, starting from the group's row of ``prices`` (K, k).
    """
    labels = np.empty(len(costs), dtype=np.int64)
    for group, sizes in enumerate(counts):
        members = np.flatnonzero(groups == group)
        labels[members] = transport(costs[members], sizes, None if prices is None else prices[group])[0]
    return labels


def whole_numbers(costs: np.ndarray) -> tuple[np.ndarray, float]:
    """Costs (n, k) minus the lowest cost of each instance, as whole numbers, and the power of two by which they are scaled.

    No whole number has more than 40 bits. Raises ClusterletsError if a difference between costs is not finite.
    """
    if not len(costs):
        return np.zeros(costs.shape, dtype=np.int64), 1.0
    excesses = costs - costs.min(axis=1, keepdims=True)
    largest = float(excesses.max())
    if not isfinite(largest):
        raise ClusterletsError("The costs must be finite, and so must their differences.")
    scale = 2.0 ** min(BITS - frexp(largest)[1], _MAX_EXPONENT) if largest > 0 else 1.0
    return np.rint(excesses * scale).astype(np.int64), scale


@inner
def _is_cheaper_to_move(costs, row, other_row, source, target):
    """Whether moving ``row`` from ``source`` to ``target`` is cheaper than moving ``other_row``. Ties go to the lower index."""
    cost, other_cost = costs[row, target] - costs[row, source], costs[other_row, target] - costs[other_row, source]
    return cost < other_cost or (cost == other_cost and row < other_row)


@inner
def _sift_up(heaps, root, index, positions, costs, source, target):
    row = heaps[root + index]
    while index > 0:
        parent = (index - 1) >> 1
        if not _is_cheaper_to_move(costs, row, heaps[root + parent], source, target):
            break
        heaps[root + index] = heaps[root + parent]
        positions[heaps[root + index], target] = index
        index = parent
    heaps[root + index] = row
    positions[row, target] = index


@inner
def _sift_down(heaps, root, size, index, positions, costs, source, target):
    row = heaps[root + index]
    while True:
        child = 2 * index + 1
        if child >= size:
            break
        if child + 1 < size and _is_cheaper_to_move(costs, heaps[root + child + 1], heaps[root + child], source, target):
            child += 1
        if not _is_cheaper_to_move(costs, heaps[root + child], row, source, target):
            break
        heaps[root + index] = heaps[root + child]
        positions[heaps[root + index], target] = index
        index = child
    heaps[root + index] = row
    positions[row, target] = index


@compiled("void(int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1], int32[:,::1], int64[:,::1])")
def _assign(costs, sizes, first_prices, labels, prices, positions, cheapest):
    """Fill in ``labels`` and ``prices``; ``positions`` and ``cheapest`` are working memory.

    The heap of the moves from ``source`` to ``target`` has its root at ``starts[source] + target * capacity[source]`` in
    ``heaps``. ``positions`` (n, k) holds each instance's position in the heap for each target. ``cheapest`` (k, k) holds the
    cost of the cheapest move from each cluster to every other cluster, or ``_INFINITE_COST`` if there is none.
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
    # A cluster never has more instances than the larger of its first and its final size, plus one.
    capacity, starts = np.zeros(k, dtype=np.int64), np.zeros(k + 1, dtype=np.int64)
    for cluster in range(k):
        capacity[cluster] = max(counts[cluster], sizes[cluster]) + 1
        starts[cluster + 1] = starts[cluster] + capacity[cluster] * k
    heaps = np.empty(starts[k], dtype=np.int64)
    n_filled = np.zeros(k, dtype=np.int64)
    for row in range(n):
        source = labels[row]
        for target in range(k):
            heaps[starts[source] + target * capacity[source] + n_filled[source]] = row
            positions[row, target] = n_filled[source]
        n_filled[source] += 1
    for source in range(k):
        for target in range(k):
            if target != source:
                root = starts[source] + target * capacity[source]
                for index in range(counts[source] // 2 - 1, -1, -1):
                    _sift_down(heaps, root, counts[source], index, positions, costs, source, target)
                if counts[source]:
                    cheapest[source, target] = costs[heaps[root], target] - costs[heaps[root], source]

    distance, previous = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    while True:
        target = _shortest_paths(cheapest, counts, sizes, distance, previous)
        if target < 0:
            break
        # From the end of the path backwards, so that each instance goes to a cluster that had room or has just lost one.
        cluster = target
        while previous[cluster] >= 0:
            source = previous[cluster]
            row = heaps[starts[source] + cluster * capacity[source]]
            _move(row, source, cluster, heaps, starts, capacity, counts, positions, costs, cheapest)
            labels[row] = cluster
            cluster = source
    _fill_prices(cheapest, prices)


@inner
def _move(row, source, target, heaps, starts, capacity, counts, positions, costs, cheapest):
    """Move an instance from the heaps of cluster ``source`` to those of ``target``, and update ``counts`` and ``cheapest``."""
    k = len(counts)
    last = counts[source] - 1
    for cluster in range(k):
        if cluster == source:
            continue
        root = starts[source] + cluster * capacity[source]
        index = np.int64(positions[row, cluster])
        if index != last:
            heaps[root + index] = heaps[root + last]
            positions[heaps[root + index], cluster] = index
            _sift_up(heaps, root, index, positions, costs, source, cluster)
            _sift_down(heaps, root, last, np.int64(positions[heaps[root + index], cluster]), positions, costs, source, cluster)
        cheapest[source, cluster] = costs[heaps[root], cluster] - costs[heaps[root], source] if last else _INFINITE_COST
    counts[source] = last
    for cluster in range(k):
        if cluster == target:
            continue
        root = starts[target] + cluster * capacity[target]
        heaps[root + counts[target]] = row
        _sift_up(heaps, root, counts[target], positions, costs, target, cluster)
        cheapest[target, cluster] = costs[heaps[root], cluster] - costs[heaps[root], target]
    counts[target] += 1


@inner
def _shortest_paths(cheapest, counts, sizes, distance, previous):
    """Find the cheapest path from clusters with too many instances to one with too few; returns its end, or -1 if none.

    ``distance`` (k,) becomes the cost of the cheapest path to each cluster, and ``previous`` (k,) the cluster before it, or -1.
    """
    k = len(counts)
    for cluster in range(k):
        distance[cluster] = 0 if counts[cluster] > sizes[cluster] else _INFINITE_COST
        previous[cluster] = -1
    changed = True
    while changed:
        changed = False
        for source in range(k):
            if distance[source] == _INFINITE_COST:
                continue
            for neighbour in range(k):
                if (
                    cheapest[source, neighbour] != _INFINITE_COST
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
def _fill_prices(cheapest, prices):
    """Fill in prices at which no move lowers the sum of cost and price."""
    k = len(prices)
    for cluster in range(k):
        prices[cluster] = 0
    for _ in range(k):
        for source in range(k):
            for target in range(k):
                if cheapest[source, target] != _INFINITE_COST and prices[source] > prices[target] + cheapest[source, target]:
                    prices[source] = prices[target] + cheapest[source, target]
