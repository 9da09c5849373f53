"""Nearly the cheapest assignment of instances to given centres under bounds on the shares of the groups.

Let p be the share of a group in a cluster, and r its share in the table. The bounds are those of bounded representation,
r (1 - delta) <= p <= r / (1 - delta) (Bera et al. 2019; Bercea et al. 2019). They hold up to whole instances: a cluster of m
instances holds from floor(m r (1 - delta)) to ceil(m r / (1 - delta)) instances of the group.

First, the dual of the linear program (:mod:`clusterlets.algorithms.fair_dual`) gives the number of instances of each group in
each cluster, and these counts are rounded to whole numbers. Then the assignment of each group is a transportation problem,
which :mod:`clusterlets.algorithms.transport` solves exactly. Last, :mod:`clusterlets.algorithms.count_moves` looks for better
counts. No assignment that keeps the bounds costs less than the dual, so we know how far the result may be from the optimum.
"""

from dataclasses import dataclass

import numpy as np

from clusterlets.algorithms.compiled import compiled
from clusterlets.algorithms.count_moves import move_counts
from clusterlets.algorithms.fair_dual import share_rows, solve_dual
from clusterlets.algorithms.limit_counts import rounded_to
from clusterlets.algorithms.transport import transport_groups
from clusterlets.errors import ClusterletsError, NoClusteringError

_MAX_MOVES_PER_CLUSTER = 10  # large tables gain little from more moves, and small tables need fewer
_MAX_GAP = 0.01  # above this gap, the dual is solved again without the given multipliers


@dataclass(frozen=True)
class FairAssignment:
    """An assignment with its cost, and what the dual says about the cheapest assignment.

    Attributes
    ----------
    labels : int array (n,)
    cost : float
        Sum of the costs of all instances.
    bound : float
        Every assignment that keeps the bounds on the shares costs at least this much.
    multipliers : float array (R, k)
        Multipliers of the dual, one for each of R constraints in each cluster.
    """

    labels: np.ndarray
    cost: float
    bound: float
    multipliers: np.ndarray

    @property
    def gap(self) -> float:
        """How far the cost may exceed the least cost, as a fraction of the least cost; 0 if the bound is not positive."""
        return self.cost / self.bound - 1 if self.bound > 0 else 0.0


def share_bounds(groups: np.ndarray, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest share of each group in a cluster, (K,) each: r (1 - delta) and r / (1 - delta), at most 1."""
    if not 0 <= delta < 1:
        raise ClusterletsError(f"delta must be at least 0 and below 1, not {delta!r}.")
    shares = np.bincount(groups) / len(groups)
    return shares * (1 - delta), np.minimum(1.0, shares / (1 - delta))


def balance_bounds(groups: np.ndarray, balance: float) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest share (2,) of each of two groups in a cluster whose balance is at least ``balance``.

    The balance is the smaller of the two groups' counts, divided by the larger (Chierichetti et al. 2017). Unlike the bounds of
    :func:`share_bounds`, these treat both groups alike, so the rarer group may prevail in a cluster.
    """
    counts = np.bincount(groups)
    if len(counts) != 2:
        raise ClusterletsError(f"A bound on the balance needs two groups, not {len(counts)}: give delta instead.")
    table_balance = counts.min() / counts.max()
    if not 0 <= balance <= table_balance:
        raise ClusterletsError(f"balance must be from 0 to the table's own, {table_balance:.6g}, not {balance!r}.")
    least = balance / (1 + balance)
    return np.full(2, least), np.full(2, 1 - least)


def deviation_bounds(groups: np.ndarray, max_deviation: float) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest share of each group in a cluster, (K,) each: r - max_deviation and r + max_deviation, in 0..1."""
    if not 0 <= max_deviation <= 1:
        raise ClusterletsError(f"max_deviation must be from 0 to 1, not {max_deviation!r}.")
    shares = np.bincount(groups) / len(groups)
    return np.maximum(0.0, shares - max_deviation), np.minimum(1.0, shares + max_deviation)


def slack_for_whole_counts(n: int, looseness: float) -> float:
    """Number of instances by which whole counts may violate a bound: 1, or 1 - 1 / n if ``looseness`` is 0.

    ``looseness`` is delta or max_deviation. If it is 0, the bounds are the table's own shares, which are multiples of 1 / n.
    """
    return 1.0 if looseness else 1 - 1 / n


def bounds_and_slack(
    groups: np.ndarray, delta: float, balance: float | None = None, max_deviation: float | None = None
) -> tuple[tuple[np.ndarray, np.ndarray], float]:
    """The bounds (K,) each on shares, and the slack: the number of instances by which counts may violate one.

    The bounds follow from ``balance`` or ``max_deviation`` if one of them is given, and from ``delta`` otherwise.
    """
    if balance is not None:
        return balance_bounds(groups, balance), 0.0
    if max_deviation is not None:
        return deviation_bounds(groups, max_deviation), slack_for_whole_counts(len(groups), max_deviation)
    return share_bounds(groups, delta), slack_for_whole_counts(len(groups), delta)


def fair_assignment(
    costs: np.ndarray,
    groups: np.ndarray,
    delta: float = 0.0,
    multipliers: np.ndarray | None = None,
    balance: float | None = None,
    min_cluster_size: int = 1,
    max_deviation: float | None = None,
) -> FairAssignment:
    """Assign all instances to clusters at nearly the least cost under bounds on shares, and leave no cluster empty.

    Parameters
    ----------
    costs : float array (n, k)
        For example squared distances; finite and not negative.
    groups : int array (n,)
        0..K-1, each of which occurs.
    multipliers : float array (R, k), optional
        Those of an earlier :class:`FairAssignment` at nearby centres. They save most of the time.
    delta, balance, min_cluster_size, max_deviation
        As :class:`clusterlets.FairFlow` declares them. With ``delta`` = 0, counts are off exact proportions by less than one
        instance. So if ``min_cluster_size`` is at least 1 / x, every share in a cluster differs by less than x from that in the
        table.

    Raises
    ------
    NoClusteringError
        ``infeasible``, if clusters of ``min_cluster_size`` need more instances than there are.
    ClusterletsError
        If there are more clusters than instances, a bound is out of range, a cost is negative or not finite, or the groups
        are not codes 0..K-1, one for each instance.

    Notes
    -----
    O(n k) time per step of the dual, plus the transports and moves.
    """
    costs, groups = np.ascontiguousarray(costs, dtype=np.float64), np.ascontiguousarray(groups, dtype=np.int64)
    if costs.ndim != 2 or groups.shape != costs.shape[:1]:
        raise ClusterletsError(f"Costs (n, k) and groups (n,) do not match: {costs.shape} and {groups.shape}.")
    n, k = costs.shape
    if not 1 <= k <= n:
        raise ClusterletsError(f"{n} instances cannot fill {k} clusters.")
    if not (costs.min() >= 0 and costs.max() < np.inf):
        raise ClusterletsError("Costs must be finite and not negative.")
    if groups.min() < 0 or not np.bincount(groups).all():
        raise ClusterletsError("Groups must be codes 0..K-1, each of which occurs.")
    (low, high), slack = bounds_and_slack(groups, delta, balance, max_deviation)
    if k * min_cluster_size > n:
        raise NoClusteringError(
            "infeasible",
            f"{k} clusters of at least min_cluster_size = {min_cluster_size} need {k * min_cluster_size} instances, and here "
            f"are {n}: ask for fewer clusters, or smaller ones.",
        )
    totals = np.bincount(groups)
    for initial_multipliers in (None,) if multipliers is None else (multipliers, None):
        dual = solve_dual(costs, np.ones(n), groups, len(low), share_rows(low, high), slack, initial_multipliers)
        counts, strict = round_within_bounds(dual.counts, low, high, totals, balance is not None, min_cluster_size)
        labels = transport_groups(costs, groups, counts, dual.prices)
        if float(costs[np.arange(n), labels].sum()) <= (1 + _MAX_GAP) * dual.bound:
            break
    labels = move_counts(costs, groups, labels, low, high, _MAX_MOVES_PER_CLUSTER * k, strict, min_cluster_size)
    cost = float(costs[np.arange(n), labels].sum())
    return FairAssignment(labels, cost, min(dual.bound, cost), dual.multipliers)


def round_within_bounds(
    counts: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    totals: np.ndarray,
    strict: bool = False,
    min_cluster_size: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """Round counts (K, k) to whole numbers with row sums ``totals`` (K,); also return which clusters are strict, (k,).

    A strict cluster keeps the bounds ``low`` and ``high`` (K,) exactly, and any other up to whole instances. Without
    ``strict``, no cluster is strict; with it, as many as possible are, the largest first. Cluster sizes are those of
    ``counts``, rounded by largest remainders, but at least ``min_cluster_size``.
    """
    k = counts.shape[1]
    above_minimum = np.maximum(counts.sum(axis=0) - min_cluster_size, 0)
    sizes = min_cluster_size + rounded_to(above_minimum[None, :], np.array([totals.sum() - k * min_cluster_size]))[0]
    strict_min, strict_max = np.ceil(low[:, None] * sizes - 1e-9), np.floor(high[:, None] * sizes + 1e-9)
    loose_min, loose_max = np.floor(low[:, None] * sizes + 1e-9), np.ceil(high[:, None] * sizes - 1e-9)
    can_be_strict = (strict_min <= strict_max).all(axis=0)
    can_be_strict &= (strict_min.sum(axis=0) <= sizes) & (sizes <= strict_max.sum(axis=0))
    # If not all of these can be strict at once, the smallest ones are the first to become loose.
    strict_candidates = np.flatnonzero(can_be_strict & strict)
    strict_candidates = strict_candidates[np.argsort(-sizes[strict_candidates], kind="stable")]
    for n_strict in range(len(strict_candidates), -1, -1):
        is_strict = np.zeros(k, dtype=np.bool_)
        is_strict[strict_candidates[:n_strict]] = True
        min_counts = np.where(is_strict, strict_min, loose_min).astype(np.int64)
        max_counts = np.where(is_strict, strict_max, loose_max).astype(np.int64)
        candidate = np.clip(np.rint(counts).astype(np.int64), min_counts, max_counts)
        if _match_totals(candidate, np.ascontiguousarray(counts), min_counts, max_counts, totals.astype(np.int64), sizes):
            return candidate, is_strict
    raise ClusterletsError("No whole counts keep the bounds.")  # cannot happen: the table's own shares lie within the bounds


@compiled("boolean(int64[:,::1], float64[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64[::1])")
def _match_totals(counts, ideal_counts, min_counts, max_counts, totals, sizes):
    """Change counts, unit by unit along cheapest paths, until rows and columns have the sums ``totals`` and ``sizes``.

    A path costs what it adds to the distance of the counts from ``ideal_counts``. Returns False if no counts from
    ``min_counts`` to ``max_counts`` have these sums.
    """
    n_groups, k = counts.shape
    n_nodes = n_groups + k
    surplus = np.empty(n_nodes, dtype=np.int64)  # of a group: instances without a cluster; of a cluster: instances too many
    distance, predecessor = np.empty(n_nodes), np.empty(n_nodes, dtype=np.int64)
    while True:
        for group in range(n_groups):
            surplus[group] = totals[group] - counts[group].sum()
        for cluster in range(k):
            surplus[n_groups + cluster] = counts[:, cluster].sum() - sizes[cluster]
        if not surplus.any():
            return True
        # Find the cheapest path for a unit from a surplus to a shortage (Bellman-Ford). A step from a group to a cluster raises
        # a count, and a step back lowers one.
        for node in range(n_nodes):
            distance[node], predecessor[node] = (0.0 if surplus[node] > 0 else np.inf), -1
        for _ in range(n_nodes):
            has_changed = False
            for group in range(n_groups):
                for cluster in range(k):
                    count, ideal_count, node = counts[group, cluster], ideal_counts[group, cluster], n_groups + cluster
                    cost_of_raising = abs(count + 1 - ideal_count) - abs(count - ideal_count)
                    if count < max_counts[group, cluster] and distance[group] + cost_of_raising < distance[node] - 1e-12:
                        distance[node], predecessor[node], has_changed = distance[group] + cost_of_raising, group, True
                    cost_of_lowering = abs(count - 1 - ideal_count) - abs(count - ideal_count)
                    if count > min_counts[group, cluster] and distance[node] + cost_of_lowering < distance[group] - 1e-12:
                        distance[group], predecessor[group], has_changed = distance[node] + cost_of_lowering, node, True
            if not has_changed:
                break
        target = -1
        for node in range(n_nodes):
            if surplus[node] < 0 and distance[node] < np.inf and (target < 0 or distance[node] < distance[target]):
                target = node
        if target < 0:
            return False
        steps = 0
        while predecessor[target] >= 0 and steps <= n_nodes:  # the limit on steps guards against a cycle
            source = predecessor[target]
            if source < n_groups:
                counts[source, target - n_groups] += 1
            else:
                counts[target, source - n_groups] -= 1
            target, steps = source, steps + 1
