"""Scores computed from instances and their labels, not from counts or pieces: costs and silhouettes.

Each instance has one label. If clusters overlap, the label names the cluster with the nearest centre.

These scores are computed right after the fit, while its kernels and labels are in memory. Their entries are here and not in
``clusterlets.metrics.all_scores``, so that a change of another score does not rerun the fits.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clusterlets.metrics.score import Score


@dataclass(frozen=True)
class Instances:
    """Instances with their labels, and the silhouettes of some of them.

    Attributes
    ----------
    X : float array (n, d)
    groups : int array (n,)
    labels : int array (n,)
        Cluster of each instance, 0..C-1.
    centres : float array (C, d)
        Mean of each cluster. The optimal centres of k-median and k-center would be different, with lower costs.
    silhouettes : float array (m,), optional
        Silhouettes, by :func:`silhouettes`, of m rows that were drawn at random without replacement.
    sample : int array (m,), optional
        The indices of the rows that were drawn.
    """

    X: np.ndarray
    groups: np.ndarray
    labels: np.ndarray
    centres: np.ndarray
    silhouettes: np.ndarray | None = None
    sample: np.ndarray | None = None

    @cached_property
    def squared_distances(self) -> np.ndarray:
        """Squared distance (n,) of each instance to the mean of its cluster. O(n d)."""
        return np.square(self.X - self.centres[self.labels]).sum(axis=1)

    @cached_property
    def distances(self) -> np.ndarray:
        """Distance (n,) of each instance to the mean of its cluster."""
        return np.sqrt(self.squared_distances)


def social_cost(instances: Instances) -> float:
    """Largest, over the groups, of the mean squared distance of the group's instances to their centres."""
    group_sizes = np.bincount(instances.groups)
    group_means = np.bincount(instances.groups, instances.squared_distances)[group_sizes > 0] / group_sizes[group_sizes > 0]
    return float(group_means.max())


def silhouettes(sums: np.ndarray, sizes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Silhouette (m,) of each of m rows, -1..1, higher is better; NaN if all rows are in one cluster.

    The silhouette is (b - a) / max(a, b). Here a is the row's mean distance to the other rows of its cluster, and b is the
    smallest of its mean distances to the other clusters. The silhouette is 0 for the only row of a cluster, and if a = b = 0
    (Rousseeuw 1987). O(C m) time and memory.

    Parameters
    ----------
    sums : float array (C, m)
        Sum of each row's distances to all rows of each cluster, from :func:`clusterlets.algorithms.geometry.row_sums`.
    sizes : int array (C,)
        Number of rows of each cluster; empty clusters are ignored.
    labels : int array (m,)
        Cluster of each row.
    """
    if np.count_nonzero(sizes) < 2:
        return np.full(len(labels), np.nan)
    rows = np.arange(len(labels))
    mean_distances = np.where(sizes > 0, sums.T / np.maximum(sizes, 1), np.inf).T
    mean_distances[labels, rows] = np.inf
    to_nearest, to_own = mean_distances.min(axis=0), sums[labels, rows] / np.maximum(sizes[labels] - 1, 1)
    larger_mean = np.maximum(to_nearest, to_own)
    is_defined = (larger_mean > 0) & (sizes[labels] > 1)
    return np.where(is_defined, (to_nearest - to_own) / np.where(is_defined, larger_mean, 1), 0.0)


def silhouette(instances: Instances) -> float:
    """Mean silhouette of the sample, an unbiased estimate of the mean over all rows; NaN without a sample."""
    return float("nan") if instances.silhouettes is None else float(instances.silhouettes.mean())


def silhouette_error(instances: Instances) -> float:
    """Standard error of :func:`silhouette`, corrected for a finite table: 0 if all rows were drawn. NaN without a sample."""
    values, n = instances.silhouettes, len(instances.X)
    if values is None:
        return float("nan")
    m = len(values)
    return float(np.sqrt(np.square(values - values.mean()).sum() / max(m - 1, 1) / m * (1 - m / n)))


def silhouette_least_group(instances: Instances) -> float:
    """Mean silhouette of the group in which this mean is smallest, among the groups in the sample; NaN without a sample."""
    group_means = silhouette_of_groups(instances)
    return min(group_means.values()) if group_means else float("nan")


def silhouette_of_groups(instances: Instances) -> dict[int, float]:
    """Mean silhouette of each group in the sample, by the code of the group; empty without a sample."""
    if instances.silhouettes is None:
        return {}
    groups = instances.groups[instances.sample]
    sizes, sums = np.bincount(groups), np.bincount(groups, instances.silhouettes)
    return {int(group): float(sums[group] / sizes[group]) for group in np.flatnonzero(sizes)}


_NO_SILHOUETTE_IF = "for overlapping clusters in the grid, and for a single cluster"

#: The scores that are computed from instances, in the order of the columns of the result files.
SCORES = (
    Score(
        "social_cost",
        computed_from=Instances,
        function=social_cost,
        unit="squared units of the data",
        range=(0, np.inf),
        better="lower",
        meaning="largest, over the groups, of the mean squared distance of the group's instances to their cluster means",
        source="Ghadiri, Samadi and Vempala 2021",
    ),
    Score(
        "kmedian_cost",
        computed_from=Instances,
        function=lambda instances: float(instances.distances.sum()),
        unit="units of the data",
        range=(0, np.inf),
        better="lower",
        meaning="sum of the distances to the cluster means; the centres that k-median would choose give a smaller sum",
    ),
    Score(
        "kcenter_cost",
        computed_from=Instances,
        function=lambda instances: float(instances.distances.max()),
        unit="units of the data",
        range=(0, np.inf),
        better="lower",
        meaning="largest distance to a cluster mean; the centres that k-center would choose give a smaller one",
    ),
    Score(
        "silhouette",
        computed_from=Instances,
        function=silhouette,
        range=(-1, 1),
        better="higher",
        meaning="mean silhouette over instances, exact up to 2,000 rows (in reports: 10,000) and from a sample above that",
        undefined=_NO_SILHOUETTE_IF,
        source="Rousseeuw 1987",
    ),
    Score(
        "silhouette_error",
        computed_from=Instances,
        function=silhouette_error,
        range=(0, np.inf),
        meaning="standard error of the silhouette due to sampling; 0 if it is exact",
        undefined=_NO_SILHOUETTE_IF,
    ),
    Score(
        "silhouette_least_group",
        computed_from=Instances,
        function=silhouette_least_group,
        range=(-1, 1),
        better="higher",
        meaning="least mean silhouette of a group, among the groups in the sample; the least of several estimates, so it has "
        "no standard error",
        undefined=_NO_SILHOUETTE_IF,
    ),
)
