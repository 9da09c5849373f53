"""Small weighted samples that represent a table in fair k-means, one for each group.

A coreset promises that for every set of centres, and all counts of the groups in the clusters, the cheapest assignment of the
sample costs nearly as much as that of the table. For given counts the groups are independent, so the union of a coreset of
each group is one of the table (Huang, Jiang and Vishnoi, NeurIPS 2019). The sizes that theory asks for are far above those
that work well, so the size is a parameter.
"""

from itertools import pairwise

import numpy as np

from clusterlets.algorithms.fair_assignment import bounds_of, fair_assignment
from clusterlets.algorithms.fractional_lloyd import fractional_lloyd
from clusterlets.algorithms.geometry import distances_to_centres
from clusterlets.algorithms.instances import checked_instances, codes_that_occur
from clusterlets.algorithms.kmeans import kmeans_plus_plus

# Rings end at these powers of 2, times the group's mean squared distance from its nearest centres; the last ring has no end.
_RING_EXPONENTS = np.arange(-9, 30)


def coreset_clustering(
    X: np.ndarray,
    groups: np.ndarray,
    n_clusters: int,
    random_state: np.random.Generator,
    delta: float = 0.0,
    size: int | None = None,
    n_init: int = 1,
    min_cluster_size: int = 1,
    max_deviation: float | None = None,
) -> np.ndarray:
    """Labels (n,): a coreset is clustered fairly, and then the table is assigned to its centres.

    ``X`` (n, d), ``groups`` (n,), ``n_clusters`` and ``random_state`` are as in :meth:`clusterlets.methods.Method.fit`, and the
    other parameters as :class:`clusterlets.Coreset` declares them. ``size`` None is ``auto``,
    ``max(2000, 40 n_clusters)``; tables of up to twice that are not sampled. O(n k d) time plus the assignment.
    """
    X, groups = checked_instances(X, groups, "a coreset", n_clusters)
    groups = codes_that_occur(groups)
    size = max(2000, 40 * n_clusters) if size is None else size
    rows, weights = np.arange(len(X)), np.ones(len(X))
    if len(X) > 2 * size:
        rows, weights = sample_coreset(X, groups, n_clusters, size, random_state)
    bounds, slack = bounds_of(groups, delta, None, max_deviation)
    centres, multipliers = fractional_lloyd(X[rows], weights, groups[rows], n_clusters, bounds, slack, random_state, n_init)
    costs = distances_to_centres(X, centres, n_clusters)
    assignment = fair_assignment(
        costs, groups, delta, multipliers, min_cluster_size=min_cluster_size, max_deviation=max_deviation
    )
    return assignment.labels


def sample_coreset(
    X: np.ndarray, groups: np.ndarray, n_clusters: int, size: int, random_state: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and their weights: of each group, a few from every ring around each centre of its own (Chen, SICOMP 39, 2009).

    Parameters
    ----------
    X : float array (n, d)
    groups : int array (n,)
        0..K-1, each of which occurs.
    n_clusters : int
        Centres of each group, by k-means++.
    size : int
        Rows in all: from each group its share, and at least two for each centre. There are fewer where rings hold few.
    random_state : numpy.random.Generator

    Returns
    -------
    rows : int array (m,)
        In ascending order, none twice.
    weights : float array (m,)
        Those of a group add up to its number of rows. O(n k d) time.
    """
    drawn_rows, weights = [], []
    for group, group_size in enumerate(np.bincount(groups)):
        members = np.flatnonzero(groups == group)
        group_rows = np.ascontiguousarray(X[members])
        centres = group_rows[kmeans_plus_plus(group_rows, n_clusters, random_state)]
        costs = distances_to_centres(group_rows, centres, len(centres))
        nearest = costs.argmin(axis=1)
        distances = costs[np.arange(group_size), nearest]
        ring = np.searchsorted((distances.mean() or 1.0) * 2.0**_RING_EXPONENTS, distances, side="right")
        cells = np.unique(nearest * 64 + ring, return_inverse=True)[1]
        by_cell = np.argsort(cells, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(cells[by_cell]) > 0, True])
        per_cell = max(1, max(2 * n_clusters, round(size * group_size / len(X))) // (len(starts) - 1))
        for start, end in pairwise(starts):
            drawn = random_state.choice(by_cell[start:end], min(per_cell, end - start), replace=False)
            drawn_rows.append(members[drawn])
            weights.append(np.full(len(drawn), (end - start) / len(drawn)))
    rows = np.concatenate(drawn_rows)
    order = np.argsort(rows)
    return rows[order], np.concatenate(weights)[order]
