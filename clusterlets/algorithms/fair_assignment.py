"""The cheapest assignment of instances to given centres under bounds on the shares of the groups.

With p the share of group h in a cluster and r its share in the table, the bounds are, as in bounded representation,
r (1 - delta) <= p <= r / (1 - delta), up to whole instances: a cluster of m instances holds from floor(m r (1 - delta)) to
ceil(m r / (1 - delta)) of the group (Bera et al. 2019; Bercea et al. 2019).

How many instances of each group a cluster takes is found by the dual of the linear program
(:mod:`clusterlets.algorithms.fair_dual`) and rounded to whole numbers; then each group is a transportation problem, which
:mod:`clusterlets.algorithms.transport` solves exactly, and :mod:`clusterlets.algorithms.count_moves` looks for better counts
from there. The dual is a lower bound on the cost of all assignments that keep the bounds, so the result comes with its
distance from the optimum.
"""

from dataclasses import dataclass

import numpy as np

from clusterlets.algorithms.compiled import compiled
from clusterlets.algorithms.count_moves import move_counts
from clusterlets.algorithms.fair_dual import share_rows, solve_dual
from clusterlets.algorithms.limit_counts import rounded_to
from clusterlets.algorithms.transport import transport_groups
from clusterlets.errors import ClusterletsError, NoClusteringError

_MAX_MOVES = 10  # per cluster: large tables have few left after these, and small ones never need so many
_MAX_GAP = 0.01  # above it, the search is repeated without the given multipliers


@dataclass(frozen=True)
class FairAssignment:
    """An assignment (n,) and its cost, a lower bound on the cost of all within the bounds, and the multipliers (R, k)."""

    labels: np.ndarray
    cost: float
    bound: float
    multipliers: np.ndarray

    @property
    def gap(self) -> float:
        """How far the cost may be above the least one, as a fraction of that; 0 where the bound is not positive."""
        return self.cost / self.bound - 1 if self.bound > 0 else 0.0


def share_bounds(groups: np.ndarray, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest share of each group in a cluster, (K,) each: r (1 - delta) and r / (1 - delta), at most 1."""
    if not 0 <= delta < 1:
        raise ClusterletsError(f"delta must be at least 0 and below 1, not {delta!r}.")
    shares = np.bincount(groups) / len(groups)
    return shares * (1 - delta), np.minimum(1.0, shares / (1 - delta))


def balance_bounds(groups: np.ndarray, balance: float) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest share (2,) of each of two groups in a cluster whose balance is at least ``balance``.

    The balance is the smaller of the two groups' counts over the larger (Chierichetti et al. 2017).
    Unlike the bounds of :func:`share_bounds`, these let a cluster hold more of a rare group than the table does.
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
    """Least and largest share of each group in a cluster, (K,) each: r - max_deviation and r + max_deviation, from 0 to 1."""
    if not 0 <= max_deviation <= 1:
        raise ClusterletsError(f"max_deviation must be from 0 to 1, not {max_deviation!r}.")
    shares = np.bincount(groups) / len(groups)
    return np.maximum(0.0, shares - max_deviation), np.minimum(1.0, shares + max_deviation)


def whole_slack(n: int, looseness: float) -> float:
    """Instances by which whole counts may miss a bound: 1; or 1 - 1 / n where the bounds are the table's own shares."""
    return 1.0 if looseness else 1 - 1 / n


def bounds_of(
    groups: np.ndarray, delta: float, balance: float | None = None, max_deviation: float | None = None
) -> tuple[tuple[np.ndarray, np.ndarray], float]:
    """The bounds on shares by ``balance`` or ``max_deviation``, or else by ``delta``, and the instances by which counts may
    miss them.
    """
    if balance is not None:
        return balance_bounds(groups, balance), 0.0
    if max_deviation is not None:
        return deviation_bounds(groups, max_deviation), whole_slack(len(groups), max_deviation)
    return share_bounds(groups, delta), whole_slack(len(groups), delta)


def fair_assignment(
    costs: np.ndarray,
    groups: np.ndarray,
    delta: float = 0.0,
    multipliers: np.ndarray | None = None,
    balance: float | None = None,
    min_cluster_size: int = 1,
    max_deviation: float | None = None,
) -> FairAssignment:
    """Assign every instance, no cluster empty, at nearly the least cost.

    Parameters
    ----------
    costs : float array (n, k)
        Squared distances, say; finite and not negative.
    groups : int array (n,)
        0..K-1, each of which occurs.
    multipliers : float array (R, k), optional
        Those of an earlier assignment at nearby centres: they save most of the time.
    delta, balance, min_cluster_size, max_deviation
        As :class:`clusterlets.FairFlow` declares them. With ``delta`` = 0 and ``min_cluster_size`` of at least 1 / limit, every
        share is within the limit of the table's, because counts are off by less than one instance.

    Raises
    ------
    NoClusteringError
        ``infeasible``, if the clusters need more instances than there are.
    ClusterletsError
        If there are more clusters than instances, a bound is out of range, a cost is negative or not finite, or the groups
        are not codes of the instances.

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
    (low, high), slack = bounds_of(groups, delta, balance, max_deviation)
    if k * min_cluster_size > n:
        raise NoClusteringError(
            "infeasible",
            f"{k} clusters of at least min_cluster_size = {min_cluster_size} need {k * min_cluster_size} instances, and here "
            f"are {n}: ask for fewer clusters, or smaller ones.",
        )
    totals = np.bincount(groups)
    for start in (None,) if multipliers is None else (multipliers, None):
        dual = solve_dual(costs, np.ones(n), groups, len(low), share_rows(low, high), slack, start)
        counts, strict = whole_counts(dual.counts, low, high, totals, balance is not None, min_cluster_size)
        labels = transport_groups(costs, groups, counts, dual.prices)
        if float(costs[np.arange(n), labels].sum()) <= (1 + _MAX_GAP) * dual.bound:
            break
    labels = move_counts(costs, groups, labels, low, high, _MAX_MOVES * k, strict, min_cluster_size)
    cost = float(costs[np.arange(n), labels].sum())
    return FairAssignment(labels, cost, min(dual.bound, cost), dual.multipliers)


def whole_counts(
    counts: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    totals: np.ndarray,
    strict: bool = False,
    min_cluster_size: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """Whole counts (K, k) near given ones, with the totals of the groups, and which clusters keep the bounds strictly.

    With ``strict``, as many clusters as possible keep the bounds strictly. All others keep them up to whole instances.
    The sizes of clusters are the given ones, rounded by largest remainders and at least the least size; such counts
    always exist, as the table's own shares lie within the bounds.
    """
    k = counts.shape[1]
    # Every cluster gets its least size first.
    above = np.maximum(counts.sum(axis=0) - min_cluster_size, 0)
    sizes = min_cluster_size + rounded_to(above[None, :], np.array([totals.sum() - k * min_cluster_size]))[0]
    strict_least, strict_most = np.ceil(low[:, None] * sizes - 1e-9), np.floor(high[:, None] * sizes + 1e-9)
    loose_least, loose_most = np.floor(low[:, None] * sizes + 1e-9), np.ceil(high[:, None] * sizes - 1e-9)
    can_be_strict = (strict_least <= strict_most).all(axis=0)
    can_be_strict &= (strict_least.sum(axis=0) <= sizes) & (sizes <= strict_most.sum(axis=0))
    # Where the totals allow no more, the smallest clusters give strictness up first.
    strict_candidates = np.flatnonzero(can_be_strict & strict)[np.argsort(-sizes[can_be_strict & strict], kind="stable")]
    for n_strict in range(len(strict_candidates), -1, -1):
        is_strict = np.zeros(k, dtype=np.bool_)
        is_strict[strict_candidates[:n_strict]] = True
        least = np.where(is_strict, strict_least, loose_least).astype(np.int64)
        most = np.where(is_strict, strict_most, loose_most).astype(np.int64)
        rounded = np.clip(np.rint(counts).astype(np.int64), least, most)
        if _match_totals(rounded, np.ascontiguousarray(counts), least, most, totals.astype(np.int64), sizes):
            return rounded, is_strict
    raise ClusterletsError("No whole counts keep the bounds.")  # impossible: the table's own shares lie within the bounds


@compiled("boolean(int64[:,::1], float64[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64[::1])")
def _match_totals(rounded, wanted, least, most, totals, sizes):
    """Change counts, unit by unit along cheapest paths, until groups and clusters have their sums; False if they cannot."""
    n_groups, k = rounded.shape
    n_nodes = n_groups + k
    surplus = np.empty(n_nodes, dtype=np.int64)  # of a group: instances without a cluster; of a cluster: instances too many
    distance, predecessor = np.empty(n_nodes), np.empty(n_nodes, dtype=np.int64)
    while True:
        for group in range(n_groups):
            surplus[group] = totals[group] - rounded[group].sum()
        for cluster in range(k):
            surplus[n_groups + cluster] = rounded[:, cluster].sum() - sizes[cluster]
        if not surplus.any():
            return True
        # A unit goes from a surplus to a shortage; from a group to a cluster it raises a count.
        for node in range(n_nodes):
            distance[node], predecessor[node] = (0.0 if surplus[node] > 0 else np.inf), -1
        for _ in range(n_nodes):
            changed = False
            for group in range(n_groups):
                for cluster in range(k):
                    count, target_count, node = rounded[group, cluster], wanted[group, cluster], n_groups + cluster
                    up = abs(count + 1 - target_count) - abs(count - target_count)
                    if count < most[group, cluster] and distance[group] + up < distance[node] - 1e-12:
                        distance[node], predecessor[node], changed = distance[group] + up, group, True
                    down = abs(count - 1 - target_count) - abs(count - target_count)
                    if count > least[group, cluster] and distance[node] + down < distance[group] - 1e-12:
                        distance[group], predecessor[group], changed = distance[node] + down, node, True
            if not changed:
                break
        target = -1
        for node in range(n_nodes):
            if surplus[node] < 0 and distance[node] < np.inf and (target < 0 or distance[node] < distance[target]):
                target = node
        if target < 0:
            return False
        steps = 0
        while predecessor[target] >= 0 and steps <= n_nodes:
            source = predecessor[target]
            if source < n_groups:
                rounded[source, target - n_groups] += 1
            else:
                rounded[target, source - n_groups] -= 1
            target, steps = source, steps + 1
