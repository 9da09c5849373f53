"""Cheaper whole counts of groups in clusters, by moves of one instance, or of one of each of two groups.

If the labels of a group are the cheapest for its counts, they stay so when one more instance leaves a cluster for another along
the cheapest path: through other clusters, each of which passes one on. The cost of such a move is exact. So is that of moving
two groups at once, because only the bounds connect them.
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
    most_moves: int,
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
    most_moves : int
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
    _search(whole_costs, codes, units, low, high, improved, counts, most_moves, is_strict, min_cluster_size)
    return improved


@compiled(
    "int64(int64[:,::1], int64[::1], float64[::1], float64[::1], float64[::1], int64[::1], int64[:,::1], int64, boolean[::1],"
    "int64)"
)
def _search(costs, groups, units, low, high, labels, counts, most_moves, strict, least_size):
    """Change labels and counts; returns the number of moves."""
    n_groups, k = counts.shape
    least, who = np.empty((n_groups, k, k), dtype=np.int64), np.empty((n_groups, k, k), dtype=np.int64)
    paths, hops = np.empty((n_groups, k, k)), np.empty((n_groups, k, k), dtype=np.int64)
    stale = np.ones((n_groups, k), dtype=np.bool_)
    faults, totals = np.empty((k, 5, n_groups, 3), dtype=np.int64), np.empty((k, 5), dtype=np.int64)
    move = np.empty((2, 3), dtype=np.int64)
    for n_moves in range(most_moves):
        _refresh(costs, groups, labels, stale, least, who)
        for group in range(n_groups):
            if stale[group].any():
                _shortest_paths(least[group], units[group], paths[group], hops[group])
        for cluster in range(k):
            if stale[:, cluster].any():
                _count_faults(counts, low, high, strict[cluster], least_size, cluster, faults[cluster], totals[cluster])
        stale[:] = False
        if not _best_move(paths, faults, totals, move):
            return n_moves
        for part in range(2):
            group, source, target = move[part]
            if group < 0:
                continue
            counts[group, source] -= 1
            counts[group, target] += 1
            stale[group, target] = True
            while source != target:
                next_cluster = hops[group, source, target]
                labels[who[group, source, next_cluster]] = next_cluster
                stale[group, source] = True
                source = next_cluster
    return most_moves


@inner
def _refresh(costs, groups, labels, stale, least, who):
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
                    who[group, source, target] = row


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
    """Counts out of bounds if a cluster's size changes by -2..2 (5, ...) and a group's by -1..1 (K, 3), and their totals."""
    size = counts[:, cluster].sum()
    for place in range(5):
        new_size = size + place - 2
        totals[place] = 0 if new_size >= least_size else 1
        for group in range(len(low)):
            least, most = low[group] * new_size, high[group] * new_size
            least = np.ceil(least - 1e-9) if strict else np.floor(least + 1e-9)
            most = np.floor(most + 1e-9) if strict else np.ceil(most - 1e-9)
            for change in range(3):
                count = counts[group, cluster] + change - 1
                faults[place, group, change] = new_size > 0 and (count < least or count > most)
            totals[place] += faults[place, group, 1]


@inner
def _best_move(paths, faults, totals, move):
    """Fill in (group, from, to) of the single move that lowers the cost most, or of the best pair that shares a cluster."""
    n_groups, k = paths.shape[:2]
    best = 0.0
    cheapest = np.full((n_groups, k, 2), np.inf)  # out of a cluster, and into it
    for group in range(n_groups):
        for here in range(k):
            for target in range(k):
                cost = paths[group, here, target]
                cheapest[group, here, 0] = min(cheapest[group, here, 0], cost)
                cheapest[group, target, 1] = min(cheapest[group, target, 1], cost)
                if cost < best and _is_fair(faults, totals, group, here, target, -1, here, target):
                    best = cost
                    move[0, 0], move[0, 1], move[0, 2], move[1, 0] = group, here, target, -1
    if best < 0:
        return True
    for group in range(n_groups):
        for other in range(group):
            for here in range(k):
                for target in range(k):
                    cost = paths[group, here, target]
                    for side in range(4):
                        near, into = (here if side < 2 else target), side % 2
                        if not cost + cheapest[other, near, into] < best:
                            continue
                        for far in range(k):
                            source, end = (far, near) if into else (near, far)
                            pair_cost = cost + paths[other, source, end]
                            if pair_cost < best and _is_fair(faults, totals, group, here, target, other, source, end):
                                best = pair_cost
                                move[0, 0], move[0, 1], move[0, 2] = group, here, target
                                move[1, 0], move[1, 1], move[1, 2] = other, source, end
    return best < 0


@inner
def _is_fair(faults, totals, one, here, target, two, source, end):
    """Whether the clusters of one or two moves keep the bounds after them; ``two`` is -1 if there is one."""
    for cluster in (here, target, source, end):
        first = (cluster == target) - (cluster == here)
        second = (cluster == end) - (cluster == source) if two >= 0 else 0
        place = first + second + 2
        remaining = totals[cluster, place] - faults[cluster, place, one, 1] + faults[cluster, place, one, first + 1]
        if two >= 0:
            remaining += faults[cluster, place, two, second + 1] - faults[cluster, place, two, 1]
        if remaining:
            return False
    return True
