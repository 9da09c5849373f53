"""Cheaper whole counts of groups in clusters, by moves of one instance, or of two instances of different groups.

If the labels of a group are the cheapest for its counts, they stay so when one more instance leaves a cluster for another along
the cheapest path: through other clusters, each of which passes one on. The cost of such a move is exact, even if two groups
move at once, because only the bounds connect groups.
"""

import numpy as np

from clusterlets.algorithms.compiled import compiled, inner
from clusterlets.algorithms.transport import whole_numbers

_NEVER = np.int64(2**62)


def move_counts(
    costs: np.ndarray,
    groups: np.ndarray,
    labels: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    max_moves: int,
    strict: np.ndarray | bool = False,
    min_cluster_size: int = 1,
) -> np.ndarray:
    """Labels (n,) at no higher cost: move instances, the best gain first, while the cost falls and the bounds hold.

    Parameters
    ----------
    costs : float array (n, k)
        Finite and not negative.
    groups, labels : int arrays (n,)
        The labels are within the bounds, without an empty cluster, and of each group the cheapest with its counts.
    low, high : float arrays (K,)
        Least and largest share of a group in a cluster.
    max_moves : int
    strict : bool array (k,) or bool
        Whether the counts of a cluster keep the bounds to the last instance; otherwise up to whole instances.
    min_cluster_size : int

    Notes
    -----
    O(n k) time and memory at the start; a move takes O(n) time, O(k) more for each instance in the clusters that it passes,
    O(K k^3) for paths, and at most O(K^2 k^3) to choose it. Shortest paths in residual graphs: Ahuja, Magnanti and Orlin,
    Network Flows, 1993.
    """
    n, k = costs.shape
    whole_costs, units = np.empty((n, k), dtype=np.int64), np.empty(len(low))
    for group in range(len(low)):
        members = np.flatnonzero(groups == group)
        whole_costs[members], scale = whole_numbers(costs[members])
        units[group] = 1 / scale
    improved = np.array(labels, dtype=np.int64, order="C")
    counts = np.zeros((len(low), k), dtype=np.int64)
    np.add.at(counts, (groups, improved), 1)
    is_strict = np.broadcast_to(np.asarray(strict, dtype=np.bool_), k).copy()
    codes = np.ascontiguousarray(groups, dtype=np.int64)
    _search(whole_costs, codes, units, low, high, improved, counts, max_moves, is_strict, min_cluster_size)
    return improved


@compiled(
    "void(int64[:,::1], int64[::1], float64[::1], float64[::1], float64[::1], int64[::1], int64[:,::1], int64, boolean[::1],"
    "int64)"
)
def _search(costs, groups, units, low, high, labels, counts, max_moves, strict, least_size):
    """Change labels and counts."""
    n_groups, k = counts.shape
    least, movers = np.empty((n_groups, k, k), dtype=np.int64), np.empty((n_groups, k, k), dtype=np.int64)
    paths, hops = np.empty((n_groups, k, k)), np.empty((n_groups, k, k), dtype=np.int64)
    stale = np.ones((n_groups, k), dtype=np.bool_)
    faults, totals = np.empty((k, 5, n_groups, 3), dtype=np.int64), np.empty((k, 5), dtype=np.int64)
    move = np.empty((2, 3), dtype=np.int64)
    for _ in range(max_moves):
        _refresh(costs, groups, labels, stale, least, movers)
        for group in range(n_groups):
            if stale[group].any():
                _shortest_paths(least[group], units[group], paths[group], hops[group])
        for cluster in range(k):
            if stale[:, cluster].any():
                _count_faults(counts, low, high, strict[cluster], least_size, cluster, faults[cluster], totals[cluster])
        stale[:] = False
        if not _best_move(paths, faults, totals, move):
            return
        for index in range(2):
            group, source, target = move[index]
            if group < 0:
                continue
            counts[group, source] -= 1
            counts[group, target] += 1
            stale[group, target] = True
            while source != target:
                next_cluster = hops[group, source, target]
                labels[movers[group, source, next_cluster]] = next_cluster
                stale[group, source] = True
                source = next_cluster


@inner
def _refresh(costs, groups, labels, stale, least, movers):
    """The cheapest single moves of a group out of each cluster that has changed, and which instances they move."""
    k = costs.shape[1]
    for group in range(stale.shape[0]):
        for cluster in range(k):
            if stale[group, cluster]:
                least[group, cluster] = _NEVER
    for row in range(len(costs)):
        group, source = groups[row], labels[row]
        if stale[group, source]:
            for target in range(k):
                change = costs[row, target] - costs[row, source]
                if change < least[group, source, target]:
                    least[group, source, target] = change
                    movers[group, source, target] = row


@inner
def _shortest_paths(least, unit, paths, hops):
    """Fill in the costs of all cheapest paths, and the first step of each. No cycle is negative."""
    k = len(least)
    distances = least.copy()
    for source in range(k):
        for target in range(k):
            hops[source, target] = target
        distances[source, source] = 0
    for through in range(k):
        for source in range(k):
            if distances[source, through] == _NEVER or source == through:
                continue
            for target in range(k):
                if distances[through, target] == _NEVER:
                    continue
                length = distances[source, through] + distances[through, target]
                if length < distances[source, target]:
                    distances[source, target] = length
                    hops[source, target] = hops[source, through]
    for source in range(k):
        for target in range(k):
            # The product is exact, as the unit is a power of two.
            is_path = distances[source, target] != _NEVER and source != target
            paths[source, target] = distances[source, target] * unit if is_path else np.inf


@inner
def _count_faults(counts, low, high, strict, least_size, cluster, faults, totals):
    """Fill in which counts break a bound if a cluster's size changes by -2..2 (5, ...) and a group's count by -1..1 (K, 3).

    ``totals`` (5,) are the broken bounds of unchanged counts, and one more if the cluster is too small.
    """
    size = counts[:, cluster].sum()
    for index in range(5):
        new_size = size + index - 2
        totals[index] = 0 if new_size >= least_size else 1
        for group in range(len(low)):
            least, most = low[group] * new_size, high[group] * new_size
            least = np.ceil(least - 1e-9) if strict else np.floor(least + 1e-9)
            most = np.floor(most + 1e-9) if strict else np.ceil(most - 1e-9)
            for change in range(3):
                count = counts[group, cluster] + change - 1
                faults[index, group, change] = new_size > 0 and (count < least or count > most)
            totals[index] += faults[index, group, 1]


@inner
def _best_move(paths, faults, totals, move):
    """Fill in (group, from, to) of the single move that lowers the cost most, or of the best pair that shares a cluster."""
    n_groups, k = paths.shape[:2]
    best = 0.0
    cheapest = np.full((n_groups, k, 2), np.inf)  # out of a cluster, and into it
    for group in range(n_groups):
        for source in range(k):
            for target in range(k):
                cost = paths[group, source, target]
                cheapest[group, source, 0] = min(cheapest[group, source, 0], cost)
                cheapest[group, target, 1] = min(cheapest[group, target, 1], cost)
                if cost < best and _is_fair(faults, totals, group, source, target, -1, source, target):
                    best = cost
                    move[0, 0], move[0, 1], move[0, 2], move[1, 0] = group, source, target, -1
    if best < 0:
        return True
    for group in range(n_groups):
        for other in range(group):
            for source in range(k):
                for target in range(k):
                    cost = paths[group, source, target]
                    for side in range(4):
                        shared, into = (source if side < 2 else target), side % 2
                        if not cost + cheapest[other, shared, into] < best:
                            continue
                        for far in range(k):
                            other_source, other_target = (far, shared) if into else (shared, far)
                            pair_cost = cost + paths[other, other_source, other_target]
                            if pair_cost < best and _is_fair(
                                faults, totals, group, source, target, other, other_source, other_target
                            ):
                                best = pair_cost
                                move[0, 0], move[0, 1], move[0, 2] = group, source, target
                                move[1, 0], move[1, 1], move[1, 2] = other, other_source, other_target
    return best < 0


@inner
def _is_fair(faults, totals, group, source, target, other, other_source, other_target):
    """Whether the clusters of one or two moves keep the bounds after them; ``other`` is the second group, or -1."""
    for cluster in (source, target, other_source, other_target):
        change = (cluster == target) - (cluster == source)
        other_change = (cluster == other_target) - (cluster == other_source) if other >= 0 else 0
        index = change + other_change + 2
        remaining = totals[cluster, index] - faults[cluster, index, group, 1] + faults[cluster, index, group, change + 1]
        if other >= 0:
            remaining += faults[cluster, index, other, other_change + 1] - faults[cluster, index, other, 1]
        if remaining:
            return False
    return True
