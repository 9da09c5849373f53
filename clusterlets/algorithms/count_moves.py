"""A search for cheaper whole counts of the groups in the clusters, by moves that keep the bounds on the counts.

A move takes one instance of a group out of a cluster and adds one to another cluster. It follows the cheapest path, which may
lead through other clusters: each of them receives one instance and passes another one on. So the labels of the group stay the
cheapest ones for its counts. A double move does this for two groups at once.
"""

import numpy as np

from clusterlets.algorithms.compiled import compiled, inner
from clusterlets.algorithms.transport import whole_numbers

_IMPOSSIBLE = np.int64(2**62)  # the cost of a step that no instance can take


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
    """Make the best move again and again while the cost falls and the bounds hold, and return the new labels (n,).

    Parameters
    ----------
    costs : float array (n, k)
        Finite and not negative.
    groups, labels : int arrays (n,)
        The labels must keep the bounds and leave no cluster empty. Each group's labels must be the cheapest for its counts.
    low, high : float arrays (K,)
        Smallest and largest share of each group in a cluster.
    max_moves : int
        Largest number of moves.
    strict : bool array (k,) or bool
        Whether the counts of a cluster must keep the bounds exactly. Otherwise, bounds on counts are rounded outwards.
    min_cluster_size : int
        Smallest number of instances in a cluster.

    Notes
    -----
    O(n k) time and memory at the start. A move takes at most O(n k + K k^3) time to find the paths, and at most O(K^2 k^3) to
    choose one. Shortest paths in residual graphs: Ahuja, Magnanti and Orlin, Network Flows, 1993.
    """
    n, k = costs.shape
    whole_costs = np.empty((n, k), dtype=np.int64)
    units = np.empty(len(low))  # the cost of one unit of each group's whole costs
    for group in range(len(low)):
        members = np.flatnonzero(groups == group)
        whole_costs[members], scale = whole_numbers(costs[members])
        units[group] = 1 / scale
    new_labels = np.array(labels, dtype=np.int64, order="C")
    counts = np.zeros((len(low), k), dtype=np.int64)
    np.add.at(counts, (groups, new_labels), 1)
    is_strict = np.broadcast_to(np.asarray(strict, dtype=np.bool_), k).copy()
    group_codes = np.ascontiguousarray(groups, dtype=np.int64)
    _search(whole_costs, group_codes, units, low, high, new_labels, counts, max_moves, is_strict, min_cluster_size)
    return new_labels


@compiled(
    "void(int64[:,::1], int64[::1], float64[::1], float64[::1], float64[::1], int64[::1], int64[:,::1], int64, boolean[::1],"
    "int64)"
)
def _search(costs, groups, units, low, high, labels, counts, max_moves, strict, min_cluster_size):
    """Make the best move, at most ``max_moves`` times, and change ``labels`` and ``counts`` in place."""
    n_groups, k = counts.shape
    step_costs, movers = np.empty((n_groups, k, k), dtype=np.int64), np.empty((n_groups, k, k), dtype=np.int64)
    path_costs, first_steps = np.empty((n_groups, k, k)), np.empty((n_groups, k, k), dtype=np.int64)
    # A cluster is stale for a group if the group's instances in it have changed since the last refresh.
    is_stale = np.ones((n_groups, k), dtype=np.bool_)
    violations, violation_totals = np.empty((k, 5, n_groups, 3), dtype=np.int64), np.empty((k, 5), dtype=np.int64)
    move = np.empty((2, 3), dtype=np.int64)  # two rows (group, source, target); group -1 marks an unused row
    for _ in range(max_moves):
        _refresh(costs, groups, labels, is_stale, step_costs, movers)
        for group in range(n_groups):
            if is_stale[group].any():
                _shortest_paths(step_costs[group], units[group], path_costs[group], first_steps[group])
        for cluster in range(k):
            if is_stale[:, cluster].any():
                _count_violations(
                    counts,
                    low,
                    high,
                    strict[cluster],
                    min_cluster_size,
                    cluster,
                    violations[cluster],
                    violation_totals[cluster],
                )
        is_stale[:] = False
        if not _best_move(path_costs, violations, violation_totals, move):
            return
        for index in range(2):
            group, source, target = move[index]
            if group < 0:
                continue
            counts[group, source] -= 1
            counts[group, target] += 1
            is_stale[group, target] = True
            while source != target:
                next_cluster = first_steps[group, source, target]
                labels[movers[group, source, next_cluster]] = next_cluster
                is_stale[group, source] = True
                source = next_cluster


@inner
def _refresh(costs, groups, labels, is_stale, step_costs, movers):
    """For each group, fill in which row is the cheapest to move from a stale cluster to each other one, and its cost."""
    k = costs.shape[1]
    for group in range(is_stale.shape[0]):
        for cluster in range(k):
            if is_stale[group, cluster]:
                step_costs[group, cluster] = _IMPOSSIBLE
    for row in range(len(costs)):
        group, source = groups[row], labels[row]
        if is_stale[group, source]:
            for target in range(k):
                change = costs[row, target] - costs[row, source]
                if change < step_costs[group, source, target]:
                    step_costs[group, source, target] = change
                    movers[group, source, target] = row


@inner
def _shortest_paths(step_costs, unit, path_costs, first_steps):
    """Fill in the costs of all cheapest paths, and the first cluster on each path. No cycle may have a negative cost."""
    k = len(step_costs)
    distances = step_costs.copy()
    for source in range(k):
        for target in range(k):
            first_steps[source, target] = target
        distances[source, source] = 0
    for through in range(k):
        for source in range(k):
            if distances[source, through] == _IMPOSSIBLE or source == through:
                continue
            for target in range(k):
                if distances[through, target] == _IMPOSSIBLE:
                    continue
                length = distances[source, through] + distances[through, target]
                if length < distances[source, target]:
                    distances[source, target] = length
                    first_steps[source, target] = first_steps[source, through]
    for source in range(k):
        for target in range(k):
            # The product is exact, because the unit is a power of two.
            is_path = distances[source, target] != _IMPOSSIBLE and source != target
            path_costs[source, target] = distances[source, target] * unit if is_path else np.inf


@inner
def _count_violations(counts, low, high, strict, min_cluster_size, cluster, violations, violation_totals):
    """Fill in which groups would break a bound in a cluster if its size and the groups' counts changed.

    ``violations`` (5, K, 3) has an entry for each change of the size by -2..2 and of a group's count by -1..1. Those of
    ``violation_totals`` (5,) count the groups that break a bound if their counts stay, plus 1 if the cluster is too small.
    """
    size = counts[:, cluster].sum()
    for index in range(5):
        new_size = size + index - 2
        violation_totals[index] = 0 if new_size >= min_cluster_size else 1
        for group in range(len(low)):
            min_count, max_count = low[group] * new_size, high[group] * new_size
            min_count = np.ceil(min_count - 1e-9) if strict else np.floor(min_count + 1e-9)
            max_count = np.floor(max_count + 1e-9) if strict else np.ceil(max_count - 1e-9)
            for change in range(3):
                count = counts[group, cluster] + change - 1
                violations[index, group, change] = new_size > 0 and (count < min_count or count > max_count)
            violation_totals[index] += violations[index, group, 1]


@inner
def _best_move(path_costs, violations, violation_totals, move):
    """Fill in (group, source, target) of the single move that lowers the cost most; return False if no move lowers it.

    If no single move lowers the cost, fill in the best double move, whose two parts share a cluster.
    """
    n_groups, k = path_costs.shape[:2]
    best = 0.0
    cheapest = np.full((n_groups, k, 2), np.inf)  # the cheapest path of a group out of each cluster, and into it
    for group in range(n_groups):
        for source in range(k):
            for target in range(k):
                cost = path_costs[group, source, target]
                cheapest[group, source, 0] = min(cheapest[group, source, 0], cost)
                cheapest[group, target, 1] = min(cheapest[group, target, 1], cost)
                if cost < best and _keeps_bounds(violations, violation_totals, group, source, target, -1, source, target):
                    best = cost
                    move[0, 0], move[0, 1], move[0, 2], move[1, 0] = group, source, target, -1
    if best < 0:
        return True
    for group in range(n_groups):
        for other in range(group):
            for source in range(k):
                for target in range(k):
                    cost = path_costs[group, source, target]
                    for side in range(4):
                        # The other move leaves the shared cluster (enters = 0) or enters it (enters = 1).
                        shared, enters = (source if side < 2 else target), side % 2
                        if not cost + cheapest[other, shared, enters] < best:
                            continue
                        for other_end in range(k):
                            other_source, other_target = (other_end, shared) if enters else (shared, other_end)
                            pair_cost = cost + path_costs[other, other_source, other_target]
                            if pair_cost < best and _keeps_bounds(
                                violations, violation_totals, group, source, target, other, other_source, other_target
                            ):
                                best = pair_cost
                                move[0, 0], move[0, 1], move[0, 2] = group, source, target
                                move[1, 0], move[1, 1], move[1, 2] = other, other_source, other_target
    return best < 0


@inner
def _keeps_bounds(violations, violation_totals, group, source, target, other, other_source, other_target):
    """Whether the bounds hold after one or two moves; ``other`` is the group of the second move, or -1 if there is none."""
    for cluster in (source, target, other_source, other_target):
        change = (cluster == target) - (cluster == source)
        other_change = (cluster == other_target) - (cluster == other_source) if other >= 0 else 0
        index = change + other_change + 2
        n_violations = (
            violation_totals[cluster, index]
            - violations[cluster, index, group, 1]
            + violations[cluster, index, group, change + 1]
        )
        if other >= 0:
            n_violations += violations[cluster, index, other, other_change + 1] - violations[cluster, index, other, 1]
        if n_violations:
            return False
    return True
