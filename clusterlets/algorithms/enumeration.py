"""All labels of a few rows, and the cheapest of their clusterings within limits, by enumeration.

Rows join clusters one after the other: each joins one of the clusters so far, or starts the next one. The sum of squared errors
of a cluster is the sum of its pairs' squared distances divided by its size. It never falls when a row joins, so a part of the
tree of choices is left out if the cost so far reaches that of the best clustering.
"""

import numpy as np

from clusterlets.algorithms.compiled import compiled, inner
from clusterlets.algorithms.geometry import squared_distances_to_centres

MAX_ROWS = 14  # these have at most 63 million clusterings with a given number of clusters, most of which are left out


MAX_LABELLINGS = 2**16  # that :func:`every_labelling` may list


def every_labelling(groups: np.ndarray, n_groups: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """All k^n labels (k^n, n) of n rows, and the counts (k^n, n_groups, k) of the groups in the clusters."""
    labels = np.arange(k ** len(groups))[:, None] // k ** np.arange(len(groups)) % k
    in_cluster = labels[:, :, None] == np.arange(k)
    return labels, np.stack([in_cluster[:, groups == group].sum(axis=1) for group in range(n_groups)], axis=1)


def cheapest_clustering(X: np.ndarray, groups: np.ndarray, k: int, rows: np.ndarray, slack: np.ndarray) -> np.ndarray | None:
    """Labels (n,) of the clustering with the least sum of squared errors, or None if no clustering keeps the constraints.

    Every cluster must keep ``rows @ counts <= slack`` for its counts (K,) of the groups. ``rows`` is (R, K), ``slack`` (R,).
    """
    labels = np.full(len(X), -1, dtype=np.int64)
    rows, slack = np.ascontiguousarray(rows, dtype=np.int64), np.ascontiguousarray(slack, dtype=np.int64)
    is_feasible = _enumerate(squared_distances_to_centres(X, X, len(X)), groups, k, rows, slack, labels)
    return labels if is_feasible else None


@inner
def _all_keep(rows, slack, counts):
    for cluster in range(counts.shape[1]):
        for row in range(len(rows)):
            total = 0
            for group in range(rows.shape[1]):
                total += rows[row, group] * counts[group, cluster]
            if total > slack[row]:
                return False
    return True


@compiled("boolean(float64[:,::1], int64[::1], int64, int64[:,::1], int64[::1], int64[::1])")
def _enumerate(squared_distances, groups, k, rows, slack, best_labels):
    """Write the labels of the cheapest clustering; return whether there is one.

    The search is depth first. ``labels[row]`` is the cluster that is tried for a row. ``sums[row]`` (k,) are the clusters' sums
    over pairs before the row joins, ``costs[row]`` is the cost then, and ``used[row]`` the number of clusters.
    """
    n = len(groups)
    labels, used = np.full(n, -1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    sums, costs = np.zeros((n + 1, k)), np.zeros(n + 1)
    sizes = np.zeros(k, dtype=np.int64)
    counts = np.zeros((rows.shape[1], k), dtype=np.int64)
    best, is_feasible, row = np.inf, False, 0
    while row >= 0:
        if labels[row] >= 0:  # take the row out of the cluster that was tried
            sizes[labels[row]] -= 1
            counts[groups[row], labels[row]] -= 1
        labels[row] += 1
        label = labels[row]
        if label > min(used[row], k - 1):
            labels[row] = -1
            row -= 1
            continue
        sizes[label] += 1
        counts[groups[row], label] += 1
        used[row + 1] = max(used[row], label + 1)
        for cluster in range(k):
            sums[row + 1, cluster] = sums[row, cluster]
        for other in range(row):
            if labels[other] == label:
                sums[row + 1, label] += squared_distances[row, other]
        before = sums[row, label] / (sizes[label] - 1) if sizes[label] > 1 else 0.0
        costs[row + 1] = costs[row] + sums[row + 1, label] / sizes[label] - before
        if k - used[row + 1] > n - row - 1 or costs[row + 1] >= best * (1 - 1e-12):
            continue
        if row < n - 1:
            row += 1
        elif _all_keep(rows, slack, counts):
            best, is_feasible = costs[n], True
            for i in range(n):
                best_labels[i] = labels[i]
    return is_feasible
