"""Tabu search for cheaper clusters within limits, on small tables.

Where blobs are tight or few rows are distinct, no single move and no exchange helps: rows can leave a blob only together with
others that restore the limits. Here, every step moves the row that costs least, even if the cost rises or a limit breaks. A
broken limit costs a penalty, which grows while limits are broken and falls while all are kept (strategic oscillation; Gendreau,
Hertz and Laporte 1994). After a move, no row of the same group moves back between the two clusters for some steps. The result
is the cheapest clustering met that keeps all limits.
"""

import numpy as np

from clusterlets.algorithms.compiled import compiled
from clusterlets.algorithms.kernels import sums_by_label
from clusterlets.algorithms.limits import products, violation_units

_TENURE, _MORE_TENURE = 10, 5  # the way back is closed for 10 to 14 steps
_PENALTY_FACTOR = 1.05  # by which the penalty changes in each step


def cheaper_labels(
    X: np.ndarray, groups: np.ndarray, labels: np.ndarray, counts: np.ndarray, rows: np.ndarray, slack: np.ndarray, n_steps: int
) -> np.ndarray:
    """The labels (n,) of the least sum of squared errors that the search meets, starting from ``labels``.

    ``counts`` (K, k) are the counts of the groups in the clusters. They keep ``rows @ counts <= slack``, as does the result.
    ``rows`` is (R, K), ``slack`` (R, 1). No cluster becomes empty. O(n (k + d) + R K k) time per step, and O(n (k + d)) memory.
    """
    centred, (n_groups, k) = X - X.mean(axis=0), counts.shape
    sums, sizes = np.empty((k, X.shape[1])), np.empty(k, dtype=np.int64)
    sums_by_label(centred, labels, sums, sizes)
    penalties = float(np.square(centred).sum()) / len(X) / violation_units(rows)
    state = labels.copy(), sums, sizes, products(rows, counts) - slack
    memory = np.empty((len(X), k)), np.empty((2, n_groups, k)), np.zeros((n_groups, k, k), dtype=np.int64)
    best = labels.copy()
    _search(centred, groups, rows, penalties, *state, *memory, best, n_steps)
    return best


@compiled(
    "void(float64[:,::1], int64[::1], int64[:,::1], float64[::1], int64[::1], float64[:,::1], int64[::1], int64[:,::1], "
    "float64[:,::1], float64[:,:,::1], int64[:,:,::1], int64[::1], int64)"
)
def _search(X, groups, rows, penalties, labels, sums, sizes, values, distances, changes, closed_until, best, n_steps):
    """Move a row in each step, and write the cheapest labels that keep all limits to ``best``.

    ``values`` (R, k) are ``rows @ counts - slack``, and ``penalties`` (R,) the cost of each unit above 0. ``distances`` (n, k)
    are squared distances to the clusters' means. ``changes[:, g, c]`` say how the penalties of cluster c change when a row
    of group g leaves and when one enters. Until the step ``closed_until[g, a, b]``, no row of group g moves from a to b.
    """
    (n, k), cost, least, source, target = distances.shape, 0.0, 0.0, -1, -1
    for step in range(n_steps + 1):
        is_within = True
        for cluster in range(k):
            for limit in range(len(rows)):
                is_within = is_within and values[limit, cluster] <= 0
        if is_within and cost < least:
            least = cost
            for row in range(n):
                best[row] = labels[row]
        for limit in range(len(rows)):
            penalties[limit] *= 1 / _PENALTY_FACTOR if is_within else _PENALTY_FACTOR
        for cluster in range(k):
            for row in range(n if step == 0 or cluster in (source, target) else 0):
                distances[row, cluster] = 0.0
                for feature in range(X.shape[1]):
                    shift = X[row, feature] - sums[cluster, feature] / sizes[cluster]
                    distances[row, cluster] += shift * shift
            for group in range(rows.shape[1]):
                left, entered = 0.0, 0.0
                for limit in range(len(rows)):
                    value, by = values[limit, cluster], rows[limit, group]
                    left += penalties[limit] * (max(value - by, 0) - max(value, 0))
                    entered += penalties[limit] * (max(value + by, 0) - max(value, 0))
                changes[0, group, cluster], changes[1, group, cluster] = left, entered
        least_change, mover, source, target = np.inf, -1, -1, -1
        for row in range(n):
            old, group = labels[row], groups[row]
            if sizes[old] == 1:
                continue
            change = changes[0, group, old] - distances[row, old] * sizes[old] / (sizes[old] - 1)
            for new in range(k):
                if new != old and closed_until[group, old, new] <= step:
                    total = change + changes[1, group, new] + distances[row, new] * sizes[new] / (sizes[new] + 1)
                    if total < least_change:
                        least_change, mover, source, target = total, row, old, new
        if mover < 0:
            continue
        group = groups[mover]
        cost += least_change - changes[0, group, source] - changes[1, group, target]
        closed_until[group, target, source] = step + _TENURE + step * 7919 % _MORE_TENURE
        labels[mover] = target
        sizes[source] -= 1
        sizes[target] += 1
        for limit in range(len(rows)):
            values[limit, source] -= rows[limit, group]
            values[limit, target] += rows[limit, group]
        for feature in range(X.shape[1]):
            sums[source, feature] -= X[mover, feature]
            sums[target, feature] += X[mover, feature]
