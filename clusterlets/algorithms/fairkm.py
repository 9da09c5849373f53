"""FairKM: k-means with a penalty on the deviation of the clusters' group shares (Abraham, Deepak and Sundaram, EDBT 2020).

The objective is SSE + lambda U. With n_C rows in cluster C, m_Cs of them of group s, and r_s the share of group s in the
table, U = sum_C (n_C / n)^2 (1/K) sum_s (m_Cs / n_C - r_s)^2. An empty cluster adds 0.

With the excess a_Cs = m_Cs - r_s n_C the term of a cluster is sum_s a_Cs^2 / (n^2 K). So the change of the objective by the
move of one row needs only the clusters' means, sizes, excesses and the sums b_C = sum_s r_s a_Cs.

The published code scores a move by unsquared distances to centres that stay in place. Here the score is the exact change of
the objective, so every move lowers it.
"""

from dataclasses import dataclass

import numpy as np

from clusterlets.algorithms.compiled import compiled
from clusterlets.algorithms.instances import checked_instances, codes_that_occur
from clusterlets.algorithms.kernels import inertia_by_label, sums_by_label
from clusterlets.algorithms.kmeans import kmeans

# A move must lower the objective by more than this fraction of it: less may be rounding.
_MIN_GAIN = 1e-12


@dataclass(frozen=True)
class FairKMResult:
    """A clustering by FairKM, and the terms of its objective.

    Attributes
    ----------
    labels : int array (n,)
        0..k-1. A cluster may be empty where the table has fewer distinct rows than k.
    sse, unfairness, weight : float
        The sum of squared distances to the clusters' means, U and lambda above.
    objective : float
        ``sse + weight * unfairness``.
    n_iter : int
        Passes over the rows.
    converged : bool
        Whether no move of a single row lowers the objective.
    """

    labels: np.ndarray
    sse: float
    unfairness: float
    weight: float
    objective: float
    n_iter: int
    converged: bool


def fairkm(
    X, groups, n_clusters: int, random_state: np.random.Generator, penalty: float | str = 1.0, max_iter: int = 300
) -> FairKMResult:
    """FairKM from the clusters of plain k-means (Abraham, Deepak and Sundaram, EDBT 2020).

    ``X`` (n, d), ``groups`` (n,), ``n_clusters`` and ``random_state`` are as in :meth:`clusterlets.methods.Method.fit`, and the
    other parameters as :class:`clusterlets.FairKM` declares them. If plain k-means has cost 0, a numeric ``penalty`` gives
    lambda = 0.

    Notes
    -----
    A pass takes the rows in their order: O(n k d) time, and O(K d) for each move. O(n d) memory. Sums are recomputed
    before every pass, so that rounding errors do not accumulate.
    """
    X, groups = checked_instances(X, groups, "FairKM", n_clusters)
    groups = codes_that_occur(groups)
    labels = kmeans(X, n_clusters, random_state).labels
    if isinstance(penalty, str):  # "authors"
        weight = (len(X) / n_clusters) * (len(X) / n_clusters)
    else:
        weight = penalty * _Clusters(X, groups, labels, n_clusters).sse
    converged, n_iter, changes = False, 0, np.empty(len(X))
    while not converged and n_iter < max_iter:
        n_iter += 1
        converged = not _run_pass(X, groups, labels, n_clusters, weight, changes)
    clusters = _Clusters(X, groups, labels, n_clusters)
    return FairKMResult(labels, clusters.sse, clusters.unfairness, weight, clusters.objective(weight), n_iter, converged)


class _Clusters:
    """Means, sizes and excesses of the clusters, and the terms of the objective; an empty cluster has the mean 0."""

    def __init__(self, X: np.ndarray, groups: np.ndarray, labels: np.ndarray, n_clusters: int):
        self.shares = np.bincount(groups) / len(X)
        sums, self.sizes = np.empty((n_clusters, X.shape[1])), np.empty(n_clusters, dtype=np.int64)
        sums_by_label(X, labels, sums, self.sizes)
        self.means = sums / np.maximum(self.sizes, 1)[:, None]
        inertia = np.empty(n_clusters)
        inertia_by_label(X, labels, self.means, inertia)
        self.sse = float(inertia.sum())
        n_groups = len(self.shares)
        counts = np.bincount(labels * n_groups + groups, minlength=n_clusters * n_groups).reshape(n_clusters, n_groups)
        self.excess = counts - self.sizes[:, None] * self.shares
        self.unfairness = float(np.square(self.excess).sum()) / (float(len(X)) * len(X) * n_groups)

    def objective(self, weight: float) -> float:
        return self.sse + weight * self.unfairness


def _run_pass(X, groups, labels, n_clusters: int, weight: float, changes: np.ndarray) -> bool:
    """Move the rows in their order; True if any moved. Writes ``labels`` and, for tests, each row's change of the objective."""
    clusters = _Clusters(X, groups, labels, n_clusters)
    weight_of_square = weight / (float(len(X)) * len(X) * len(clusters.shares))
    return _move_rows(
        X,
        groups,
        clusters.shares,
        weight_of_square,
        clusters.objective(weight),
        labels,
        clusters.means,
        clusters.sizes,
        clusters.excess,
        (clusters.excess * clusters.shares).sum(axis=1),
        changes,
    )


@compiled(
    "boolean(float64[:,::1], int64[::1], float64[::1], float64, float64, int64[::1], "
    "float64[:,::1], int64[::1], float64[:,::1], float64[::1], float64[::1])"
)
def _move_rows(rows, groups, shares, weight, objective, labels, means, sizes, excess, weighted_excess, changes):
    """Move each row to the cluster that lowers the objective most, ties to the lowest index; True if any row moved.

    ``weight`` is that of a squared excess; ``weighted_excess`` (k,) holds the sums b_C. The clusters' arrays are kept up
    to date. The last row of a cluster stays.
    """
    squares = 0.0
    for share in shares:
        squares += share * share
    has_moved = False
    for row in range(len(rows)):
        changes[row] = 0.0
        source, group = labels[row], groups[row]
        if sizes[source] == 1:
            continue
        best, target = -_MIN_GAIN * objective, -1
        removal_gain = 0.0
        for feature in range(rows.shape[1]):
            difference = rows[row, feature] - means[source, feature]
            removal_gain += difference * difference
        removal_gain *= sizes[source] / (sizes[source] - 1)
        own_term = excess[source, group] - weighted_excess[source]
        for cluster in range(len(means)):
            if cluster == source:
                continue
            joining_cost = 0.0
            for feature in range(rows.shape[1]):
                difference = rows[row, feature] - means[cluster, feature]
                joining_cost += difference * difference
            joining_cost *= sizes[cluster] / (sizes[cluster] + 1)
            unfairness_change = 2 * (
                excess[cluster, group] - weighted_excess[cluster] - own_term + 1 - 2 * shares[group] + squares
            )
            change = joining_cost - removal_gain + weight * unfairness_change
            if change < best:
                best, target = change, cluster
        if target < 0:
            continue
        has_moved = True
        labels[row] = target
        changes[row] = best
        objective += best
        sizes[source] -= 1
        sizes[target] += 1
        for feature in range(rows.shape[1]):
            means[source, feature] -= (rows[row, feature] - means[source, feature]) / sizes[source]
            means[target, feature] += (rows[row, feature] - means[target, feature]) / sizes[target]
        for other in range(len(shares)):
            step = (1.0 if other == group else 0.0) - shares[other]
            excess[source, other] -= step
            excess[target, other] += step
        weighted_excess[source] -= shares[group] - squares
        weighted_excess[target] += shares[group] - squares
    return has_moved
