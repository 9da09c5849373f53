"""The cheapest assignment of instances to clusters of given sizes: the transportation problem in whole numbers.

Costs are rounded to whole numbers of 40 bits before they are compared. So the result is exactly optimal for the rounded costs,
and the same on every processor. The error of a total cost is at most n times the largest cost times 2^-40.

With good prices, nearly every instance starts in its final cluster. So most instances are first frozen where they start: those
for which any other cluster is much dearer. The problem is solved for the others. At the final prices, a frozen instance may
prefer another cluster. It then joins the others, and the problem is solved again, until no frozen instance prefers to move.
"""

from math import frexp, isfinite

import numpy as np

from clusterlets.algorithms.compiled import compiled, inner
from clusterlets.errors import ClusterletsError

#: Number of bits of the largest rounded cost. Sums over 10^6 instances stay below 2^60, and 2^63 would overflow.
BITS = 40
_MAX_EXPONENT = 1000  # of the power of two that scales the costs; 2^1024 would be infinite

_INFINITE_COST = np.int64(2**62)  # of a move out of an empty cluster, and of a path that does not exist

# Instances that are not frozen at first: at least this many, this fraction, and this many times those that have to move.
_MIN_FREE, _MIN_FREE_FRACTION, _FREE_PER_MOVE = 300, 0.02, 4


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
    labels, final_prices, scale = _transport_rows(costs, np.arange(n), sizes, np.zeros(k) if prices is None else prices)
    return labels, (final_prices - final_prices.min()) / scale


def transport_groups(costs: np.ndarray, groups: np.ndarray, counts: np.ndarray, prices: np.ndarray | None = None) -> np.ndarray:
    """Labels (n,) of the cheapest assignment with given ``counts`` (K, k) of the groups in the clusters.

    Runs :func:`transport` for each group, starting from the group's row of ``prices`` (K, k).
    """
    costs, labels = np.ascontiguousarray(costs, dtype=np.float64), np.empty(len(costs), dtype=np.int64)
    prices = np.zeros(counts.shape) if prices is None else prices
    for group, (sizes, group_prices) in enumerate(zip(counts, prices, strict=True)):
        rows = np.flatnonzero(groups == group)
        labels[rows], _, _ = _transport_rows(costs, rows, sizes, group_prices)
    return labels


def _transport_rows(costs, rows, sizes, prices) -> tuple[np.ndarray, np.ndarray, float]:
    """Labels of :func:`transport` for some ``rows`` of the costs; also the final prices as whole numbers, and their scale."""
    n, k = len(rows), costs.shape[1]
    scale = _scale(_largest_excess(costs, rows))
    # If costs hardly differ, scaled prices may be huge. Clipped, they still exceed all costs, but no sum overflows.
    max_price = 2.0 ** (BITS + 2)
    first_prices = np.rint(np.clip(prices * scale, -max_price, max_price)).astype(np.int64)
    labels, gaps = _first_labels(costs, rows, scale, first_prices)
    is_free = _rows_to_free(labels, gaps, sizes)
    while True:
        free_sizes = sizes - np.bincount(labels[~is_free], minlength=k)
        free_labels, final_prices = _transport_free(costs, rows[is_free], free_sizes, labels[is_free], first_prices, scale)
        if is_free.all():
            break
        changes = final_prices - first_prices
        may_move = ~is_free & (gaps <= changes.max() - changes.min())
        movable = np.flatnonzero(may_move)
        best_labels, _ = _first_labels(costs, rows[movable], scale, final_prices)
        if np.array_equal(best_labels, labels[movable]):
            break
        is_free[movable[best_labels != labels[movable]]] = True
        if 2 * is_free.sum() > n:
            is_free[:] = True
    labels[is_free] = free_labels
    return labels, final_prices, scale


def _rows_to_free(labels, gaps, sizes) -> np.ndarray:
    """Which rows (n,) are free: those with the smallest gaps, and enough to reach the sizes. All, if these are over half."""
    n, counts = len(labels), np.bincount(labels, minlength=len(sizes))
    n_free = int(max(_MIN_FREE, _MIN_FREE_FRACTION * n, _FREE_PER_MOVE * np.maximum(0, counts - sizes).sum()))
    while 2 * n_free < n:
        is_free = gaps <= np.partition(gaps, n_free)[n_free]
        if (np.bincount(labels[~is_free], minlength=len(sizes)) <= sizes).all():
            return is_free
        n_free *= 2
    return np.ones(n, dtype=bool)


def _transport_free(costs, rows, sizes, labels, first_prices, scale) -> tuple[np.ndarray, np.ndarray]:
    """Labels and final prices of all ``rows``, none of which is frozen. ``labels`` are the first ones, and are overwritten."""
    n, k = len(rows), costs.shape[1]
    scaled_costs = costs[rows]
    scaled_costs -= scaled_costs.min(axis=1, keepdims=True)
    scaled_costs *= scale
    whole_costs = np.rint(scaled_costs, out=scaled_costs).astype(np.int64)
    counts = np.bincount(labels, minlength=k)
    # A cluster never has more instances than the larger of its first and its final size, plus one.
    capacity = np.maximum(counts, sizes) + 1
    starts = k * (np.cumsum(capacity) - capacity)
    heaps, positions = np.empty(k * capacity.sum(), dtype=np.int64), np.empty((n, k), dtype=np.int32)
    cheapest, paths, is_open = np.full((k, k), _INFINITE_COST), np.empty((2, k), dtype=np.int64), np.zeros(k, dtype=np.bool_)
    n_filled = np.zeros(k, dtype=np.int64)
    work = counts, starts, capacity, heaps, n_filled, *paths, is_open
    _assign(whole_costs, sizes, labels, positions, cheapest, *work)
    prices = first_prices
    while True:  # lower prices until no move lowers the sum of cost and price
        lower_prices = np.minimum(prices, (prices + cheapest).min(axis=1))
        if (lower_prices == prices).all():
            return labels, prices
        prices = lower_prices


def _scale(largest_excess: float) -> float:
    """The power of two that scales costs to 40 bits. Raises ClusterletsError if a difference between costs is not finite."""
    if not isfinite(largest_excess):
        raise ClusterletsError("The costs must be finite, and so must their differences.")
    return 2.0 ** min(BITS - frexp(largest_excess)[1], _MAX_EXPONENT) if largest_excess > 0 else 1.0


def _first_labels(costs, rows, scale, prices) -> tuple[np.ndarray, np.ndarray]:
    """The cheapest cluster (n,) of each row at the prices, and by how much the second cheapest is dearer."""
    labels, gaps = np.empty((2, len(rows)), dtype=np.int64)
    # Prices are far below 2^53, so sums of whole numbers stay exact.
    _write_first_labels(costs, rows, scale, prices.astype(np.float64), np.empty(len(prices)), labels, gaps)
    return labels, gaps


@compiled("float64(float64[:,::1], int64[::1])")
def _largest_excess(costs, rows):
    """The largest difference between two costs of the same row; NaN or infinity if the costs are not finite."""
    largest, zero = 0.0, 0.0
    for i in range(len(rows)):
        row = rows[i]
        low, high = costs[row, 0], costs[row, 0]
        for cluster in range(costs.shape[1]):
            low, high = min(low, costs[row, cluster]), max(high, costs[row, cluster])
            zero += 0.0 * costs[row, cluster]  # NaN for infinity
        largest = max(largest, high - low)
    return largest + zero


@compiled("void(float64[:,::1], int64[::1], float64, float64[::1], float64[::1], int64[::1], int64[::1])")
def _write_first_labels(costs, rows, scale, prices, values, labels, gaps):
    """Write each row's cluster of the least whole cost plus price, and by how much the second least is larger.

    ``values`` (k,) is working memory.
    """
    k = costs.shape[1]
    for i in range(len(rows)):
        row = rows[i]
        least_cost = costs[row, 0]
        for cluster in range(1, k):
            least_cost = min(least_cost, costs[row, cluster])
        for cluster in range(k):  # a loop of its own, which the compiler vectorises
            values[cluster] = np.rint((costs[row, cluster] - least_cost) * scale) + prices[cluster]
        least, second, label = np.inf, 2.0**62, 0
        for cluster in range(k):
            value = values[cluster]
            if value < second:
                if value < least:
                    least, second, label = value, least, cluster
                else:
                    second = value
        labels[i], gaps[i] = label, np.int64(min(second, 2.0**62) - least)


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


@compiled(
    "void(int64[:,::1], int64[::1], int64[::1], int32[:,::1], int64[:,::1], int64[::1], int64[::1], int64[::1], "
    "int64[::1], int64[::1], int64[::1], int64[::1], boolean[::1])"
)
def _assign(costs, sizes, labels, positions, cheapest, counts, starts, capacity, heaps, n_filled, distance, previous, is_open):
    """Turn the first ``labels`` into the final ones. The caller allocates all arrays, which compiles faster.

    ``counts`` (k,) are those of the labels. The heap of the moves from ``source`` to ``target`` has its root at
    ``starts[source] + target * capacity[source]`` in ``heaps``. ``positions`` (n, k) holds each instance's position in the heap
    for each target. ``cheapest`` (k, k) holds the cost of the cheapest move from each cluster to every other cluster, or
    ``_INFINITE_COST`` if there is none, as at first. ``n_filled`` (k,) is 0 at first; the arrays after it are working memory.
    """
    n, k = costs.shape
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
    while True:
        target = _shortest_paths(cheapest, counts, sizes, distance, previous, is_open)
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
def _shortest_paths(cheapest, counts, sizes, distance, previous, is_open):
    """Find the cheapest path from clusters with too many instances to one with too few; returns its end, or -1 if none.

    ``distance`` (k,) becomes the cost of the cheapest path to each cluster, and ``previous`` (k,) the cluster before it, or -1.
    ``is_open`` (k,) is working memory: whether the distance has fallen since the cluster was last the source.
    """
    k, any_open = len(counts), True
    for cluster in range(k):
        is_open[cluster] = counts[cluster] > sizes[cluster]
        distance[cluster] = 0 if is_open[cluster] else _INFINITE_COST
        previous[cluster] = -1
    while any_open:
        any_open = False
        for source in range(k):
            if not is_open[source]:
                continue
            is_open[source] = False
            for neighbour in range(k):
                if (
                    cheapest[source, neighbour] != _INFINITE_COST
                    and distance[source] + cheapest[source, neighbour] < distance[neighbour]
                ):
                    distance[neighbour] = distance[source] + cheapest[source, neighbour]
                    previous[neighbour] = source
                    is_open[neighbour], any_open = True, True
    target = -1
    for cluster in range(k):
        if counts[cluster] < sizes[cluster] and (target < 0 or distance[cluster] < distance[target]):
            target = cluster
    return target
