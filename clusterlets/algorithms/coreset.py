"""Small weighted samples, one for each group, that represent a table in fair k-means.

Fix any centres, and for every cluster how many instances of each group it must hold. Then the cheapest such assignment of a
coreset costs nearly as much as the cheapest one of the table. With these counts given, the groups are assigned independently
of each other, so the coresets of all groups together are a coreset of the table (Huang, Jiang and Vishnoi, NeurIPS 2019). The
theory requires far larger sizes than are needed in practice, so the size is a parameter.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from clusterlets.algorithms.fractional_lloyd import fractional_lloyd
from clusterlets.algorithms.geometry import squared_distances_to_centres
from clusterlets.algorithms.instances import checked_instances, codes_that_occur, columns_of_present
from clusterlets.algorithms.kernels import assign, tiles_of
from clusterlets.algorithms.kmeans import kmeans_plus_plus
from clusterlets.algorithms.limit_assignment import assign_within_limits
from clusterlets.algorithms.limits import limits_of_fit

# Rings are ranges of the squared distance from a centre. They end at these powers of 2, times the mean squared distance of the
# group's rows from their nearest centres. The last ring has no end.
_RING_EXPONENTS = np.arange(-9, 30)
_LEAST_SEED_ROWS = 10_000  # k-means++ runs on at least this many random rows of a group that has twice as many


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
    columns: Mapping[Any, Sequence] = MappingProxyType({}),
) -> np.ndarray:
    """Cluster a coreset fairly, assign the whole table fairly to the resulting centres, and return the labels (n,).

    ``X`` (n, d), ``groups`` (n,), ``n_clusters`` and ``random_state`` are as in :meth:`clusterlets.methods.Method.fit`, and the
    other parameters as :class:`clusterlets.Coreset` declares them. A ``size`` of None ("auto" there) is
    ``max(2000, 40 n_clusters)``. A table with at most ``2 size`` rows is not sampled. O(n k d) time plus the assignment.
    """
    X, groups = checked_instances(X, groups, "a coreset", n_clusters)
    columns = columns_of_present(columns, groups)
    groups = codes_that_occur(groups)
    size = max(2000, 40 * n_clusters) if size is None else size
    rows, weights = np.arange(len(X)), np.ones(len(X))
    if len(X) > 2 * size:
        rows, weights = sample_coreset(X, groups, n_clusters, size, random_state)
    limits, slacks = limits_of_fit(groups, n_clusters, delta, max_deviation=max_deviation, columns=columns)
    start = fractional_lloyd(X[rows], weights, groups[rows], limits, slacks[0], random_state, n_init)
    costs = squared_distances_to_centres(X, start.centres, n_clusters)
    return assign_within_limits(costs, groups, limits, slacks, min_cluster_size, start.multipliers).labels


def sample_coreset(
    X: np.ndarray, groups: np.ndarray, n_clusters: int, size: int, random_state: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a few rows of each group from every ring around each of the group's centres (Chen, SICOMP 39, 2009). O(n k d) time.

    Parameters
    ----------
    X : float array (n, d)
    groups : int array (n,)
        0..K-1, each of which occurs.
    n_clusters : int
        Number of centres of each group, which k-means++ chooses.
    size : int
        About how many rows to draw. Each group gets its share of them, but at least two for each centre. This share is divided
        equally among the rings around the group's centres that contain rows. At least one row of a ring is drawn, and all its
        rows if they are too few.
    random_state : numpy.random.Generator

    Returns
    -------
    rows : int array (m,)
        In ascending order and without duplicates.
    weights : float array (m,)
        Number of rows of the group that each drawn row stands for. The weights of a group add up to its number of rows.
    """
    drawn_rows, weights = [], []
    for group, group_size in enumerate(np.bincount(groups)):
        members = np.flatnonzero(groups == group)
        group_rows = np.ascontiguousarray(X[members])
        some, n_some = group_rows, max(_LEAST_SEED_ROWS, 100 * n_clusters)
        if group_size > 2 * n_some:
            some = group_rows[np.sort(random_state.choice(group_size, n_some, replace=False))]
        centres = some[kmeans_plus_plus(some, n_clusters, random_state)]
        nearest, squared_distances = np.empty(group_size, dtype=np.int64), np.empty(group_size)
        assign(tiles_of(group_rows), centres, nearest, squared_distances)
        ring_ends = (squared_distances.mean() or 1.0) * 2.0**_RING_EXPONENTS
        rings = np.searchsorted(ring_ends, squared_distances, side="right")
        # A cell is one ring around one centre. There are fewer than 64 rings, so no two cells have the same number. Small
        # integers are sorted in linear time.
        cells = (nearest * 64 + rings).astype(np.min_scalar_type(64 * len(centres)))
        positions = random_state.permutation(group_size)
        positions = positions[np.argsort(cells[positions], kind="stable")]  # by cell, and in random order within each
        boundaries = np.flatnonzero(np.r_[True, np.diff(cells[positions]) != 0, True])
        cell_sizes = np.diff(boundaries)
        n_drawn = max(2 * n_clusters, round(size * group_size / len(X)))
        n_per_cell = np.minimum(cell_sizes, max(1, n_drawn // len(cell_sizes)))
        is_drawn = np.arange(group_size) - np.repeat(boundaries[:-1], cell_sizes) < np.repeat(n_per_cell, cell_sizes)
        drawn_rows.append(members[positions[is_drawn]])
        weights.append(np.repeat(cell_sizes / n_per_cell, n_per_cell))
    rows = np.concatenate(drawn_rows)
    order = np.argsort(rows)
    return rows[order], np.concatenate(weights)[order]
