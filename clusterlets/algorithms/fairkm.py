"""FairKM: k-means with a penalty on the deviation of the clusters' group shares (Abraham, Deepak and Sundaram, EDBT 2020).

The objective is SSE + lambda U. SSE is the sum of squared distances of the n rows to the means of their clusters. Let cluster C
have n_C rows, m_Cs of them of group s, and let r_s be the share of group s in the table. The unfairness is

    U = sum_C (n_C / n)^2 (1/K) sum_s (m_Cs / n_C - r_s)^2, where an empty cluster adds 0.

In terms of the excess a_Cs = m_Cs - r_s n_C, a cluster adds sum_s a_Cs^2 / (n^2 K) to U. So the means, sizes and excesses of
the clusters, and the sums b_C = sum_s r_s a_Cs, are enough to compute how the move of a row changes the objective.

The published code scores a move by unsquared distances to centres that the move does not change. Here the score is the exact
change of the objective, so every move lowers the objective.
"""

from dataclasses import dataclass

import numpy as np

from clusterlets.algorithms.compiled import compiled
from clusterlets.algorithms.instances import checked_instances, codes_that_occur
from clusterlets.algorithms.kernels import inertia_by_label, sums_by_label
from clusterlets.algorithms.kmeans import kmeans

# A move must lower the objective by more than this fraction of it: a smaller change may be a rounding error.
_MIN_GAIN = 1e-12


@dataclass(frozen=True)
class FairKMResult:
    """A clustering by FairKM, and the terms of its objective.

    Attributes
    ----------
    labels : int array (n,)
        0..k-1. If the table has fewer than k distinct rows, a cluster may be empty.
    sse, unfairness, weight : float
        SSE, U and lambda of the objective.
    objective : float
        ``sse + weight * unfairness``.
    n_iter : int
        Number of passes over the rows.
    converged : bool
        Whether the last pass moved no row: then no move of a single row lowers the objective.
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
    """Run FairKM from the clusters of plain k-means (Abraham, Deepak and Sundaram, EDBT 2020).

    ``X`` (n, d), ``groups`` (n,), ``n_clusters`` and ``random_state`` are as in :meth:`clusterlets.methods.Method.fit`, and the
    other parameters as :class:`clusterlets.FairKM` declares them. Lambda is a numeric ``penalty`` times the SSE of plain
    k-means.

    Notes
    -----
    A pass visits the rows in their order. It takes O(n k d) time, and O(K d) more for each move. O(n d) memory. Sums are
    recomputed before every pass, so that rounding errors do not accumulate.
    """
    X, groups = checked_instances(X, groups, "FairKM", n_clusters)
    groups = codes_that_occur(groups)
    labels = kmeans(X, n_clusters, random_state).labels
    if isinstance(penalty, str):  # "authors": lambda as the authors set it
        weight = (len(X) / n_clusters) * (len(X) / n_clusters)
    else:
        weight = penalty * _Clusters(X, groups, labels, n_clusters).sse
    converged, n_iter = False, 0
    while not converged and n_iter < max_iter:
        n_iter += 1
        converged = not _run_pass(X, groups, labels, n_clusters, weight)
    clusters = _Clusters(X, groups, labels, n_clusters)
    return FairKMResult(labels, clusters.sse, clusters.unfairness, weight, clusters.objective(weight), n_iter, converged)


class _Clusters:
    """Means, sizes and excesses of the clusters, and the terms of the objective. An empty cluster has the mean 0."""

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


def _run_pass(X, groups, labels, n_clusters: int, weight: float) -> bool:
    """Try to move each row, in order, and update ``labels``; returns whether any moved."""
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
    )


@compiled(
    "boolean(float64[:,::1], int64[::1], float64[::1], float64, float64, int64[::1], "
    "float64[:,::1], int64[::1], float64[:,::1], float64[::1])"
)
def _move_rows(rows, groups, shares, weight_of_square, objective, labels, means, sizes, excess, weighted_excess):
    """Move each row to the cluster where it lowers the objective most, ties to the lowest index; returns whether any moved.

    ``weight_of_square`` multiplies squared excesses in the objective, and ``weighted_excess`` (k,) holds the sums b_C. All
    arrays of the clusters are updated after each move. A row that is alone in its cluster never moves.
    """
    sum_of_squared_shares = 0.0
    for share in shares:
        sum_of_squared_shares += share * share
    has_moved = False
    for row in range(len(rows)):
        source, group = labels[row], groups[row]
        if sizes[source] == 1:
            continue
        best_change, target = -_MIN_GAIN * objective, -1
        removal_gain = 0.0
        for feature in range(rows.shape[1]):
            difference = rows[row, feature] - means[source, feature]
            removal_gain += difference * difference
        removal_gain *= sizes[source] / (sizes[source] - 1)
        source_term = excess[source, group] - weighted_excess[source]
        for cluster in range(len(means)):
            if cluster == source:
                continue
            joining_cost = 0.0
            for feature in range(rows.shape[1]):
                difference = rows[row, feature] - means[cluster, feature]
                joining_cost += difference * difference
            joining_cost *= sizes[cluster] / (sizes[cluster] + 1)
            unfairness_change = 2 * (
                excess[cluster, group] - weighted_excess[cluster] - source_term + 1 - 2 * shares[group] + sum_of_squared_shares
            )
            change = joining_cost - removal_gain + weight_of_square * unfairness_change
            if change < best_change:
                best_change, target = change, cluster
        if target < 0:
            continue
        has_moved = True
        labels[row] = target
        objective += best_change
        sizes[source] -= 1
        sizes[target] += 1
        for feature in range(rows.shape[1]):
            means[source, feature] -= (rows[row, feature] - means[source, feature]) / sizes[source]
            means[target, feature] += (rows[row, feature] - means[target, feature]) / sizes[target]
        for other in range(len(shares)):
            excess_change = (1.0 if other == group else 0.0) - shares[other]
            excess[source, other] -= excess_change
            excess[target, other] += excess_change
        weighted_excess[source] -= shares[group] - sum_of_squared_shares
        weighted_excess[target] += shares[group] - sum_of_squared_shares
    return has_moved
