"""Scores that follow from the instances and their labels, not from counts or pieces: costs and silhouettes.

Each instance has one label. Where clusters overlap it is that of the instance's own clusters whose centre is nearest. The
functions need NumPy alone; summed distances come from :func:`clusterlets.algorithms.geometry.row_sums`.
"""

from collections.abc import Sequence

import numpy as np

#: The scores that :func:`costs` and :func:`silhouette_scores` give, in the order of the result files.
INSTANCE_SCORES = (
    *("social_cost", "kmedian_cost", "kcenter_cost"),
    *("silhouette", "silhouette_error", "silhouette_least_group"),
)
#: Most rows for which all pairs of rows are visited: 5 * 10^9 pairs, some 10 s of one core (memory is no limit, O(n d)). Ten
#: times the rows take a hundred times as long; :func:`clusterlets.algorithms.geometry.sampled_sums` takes about a second.
EXACT_LIMIT = 100_000
#: Most rows for which silhouettes are exact by default, and the rows whose silhouettes are computed where there are more.
EXACT_ROWS, SAMPLED_ROWS = 10_000, 2_000


def nearest_own_centre(X: np.ndarray, members: Sequence[np.ndarray], centres: np.ndarray) -> np.ndarray:
    """Of the clusters that hold an instance, the one whose centre is nearest, the first of equals.

    Parameters
    ----------
    X : float array (n, d)
    members : sequence of C int arrays
        Rows of each cluster; every row is in one.
    centres : float array (C, d)

    Returns
    -------
    int array (n,)

    Notes
    -----
    O(m d) time for clusters of m rows in all.
    """
    labels, least = np.zeros(len(X), dtype=np.int64), np.full(len(X), np.inf)
    for cluster, (rows, centre) in enumerate(zip(members, centres, strict=True)):
        distances = np.square(X[rows] - centre).sum(axis=1)
        nearer = distances < least[rows]
        labels[rows[nearer]], least[rows[nearer]] = cluster, distances[nearer]
    return labels


def labels_of_pieces(X: np.ndarray, piece_of: np.ndarray, membership: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Label of each instance from the piece that it is in.

    Parameters
    ----------
    X : float array (n, d)
    piece_of : int array (n,)
        Piece of each instance, 0..G-1.
    membership : bool array (C, G)
        Which pieces each cluster holds; every piece is in one.
    centres : float array (C, d)
        Decide where a piece is in several clusters.

    Returns
    -------
    int array (n,)

    Notes
    -----
    O(n) time, and :func:`nearest_own_centre` for the rows in several clusters.
    """
    labels = membership.argmax(axis=0)[piece_of]
    shared = np.flatnonzero((membership.sum(axis=0) > 1)[piece_of])
    if len(shared):
        members = [np.flatnonzero(cluster) for cluster in membership[:, piece_of[shared]]]
        labels[shared] = nearest_own_centre(X[shared], members, centres)
    return labels


def cluster_centres(membership: np.ndarray, sizes: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """Mean (C, d) of all members of each cluster, from the sizes (G,) and centroids (G, d) of its pieces. O(C G d)."""
    weights = membership * sizes
    sums = np.stack([(of_cluster[:, None] * centroids).sum(axis=0) for of_cluster in weights])
    return sums / weights.sum(axis=1, keepdims=True)


def costs(X: np.ndarray, groups: np.ndarray, labels: np.ndarray, centres: np.ndarray) -> dict[str, float]:
    """Costs of a clustering besides that of k-means; of each, less is better.

    Parameters
    ----------
    X : float array (n, d)
    groups : int array (n,)
    labels : int array (n,)
        Cluster of each instance, 0..C-1.
    centres : float array (C, d)
        The clusters' means. The optimal centres of k-median and k-center would be others, with lower costs.

    Returns
    -------
    dict
        ``social_cost``: the largest, over the groups, of the mean squared distance of the group's instances to their
        centres, in squared units of the data (Ghadiri, Samadi and Vempala 2021). ``kmedian_cost``, ``kcenter_cost``: the
        sum and the largest of the distances to the centres, in units of the data.

    Notes
    -----
    O(n d) time and memory.
    """
    squares = np.square(X - centres[labels]).sum(axis=1)
    distances, of_group = np.sqrt(squares), np.bincount(groups)
    means = np.bincount(groups, squares)[of_group > 0] / of_group[of_group > 0]
    return {
        "social_cost": float(means.max()),
        "kmedian_cost": float(distances.sum()),
        "kcenter_cost": float(distances.max()),
    }


def sample_rows(n: int, random_state: np.random.Generator, exact_rows: int = EXACT_ROWS) -> np.ndarray:
    """The rows whose silhouettes stand for all of n, ascending: all, or 2,000 at random where n is above ``exact_rows``."""
    if n <= exact_rows:
        return np.arange(n)
    return np.sort(random_state.choice(n, SAMPLED_ROWS, replace=False))


def silhouettes(sums: np.ndarray, sizes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Silhouette of each of m rows, -1..1, higher is better.

    (b - a) / max(a, b), where a is the mean distance to the other rows of the own cluster, and b the least mean distance to
    the rows of another one. 0 for a row that is alone in its cluster, and where a and b are 0 (Rousseeuw 1987).

    Parameters
    ----------
    sums : float array (C, m)
        Sum of each row's distances to all rows of each cluster.
    sizes : int array (C,)
        Rows of each cluster; one without rows does not count.
    labels : int array (m,)
        Cluster of each row.

    Returns
    -------
    float array (m,)
        NaN where all rows are in one cluster.

    Notes
    -----
    O(C m) time and memory.
    """
    if np.count_nonzero(sizes) < 2:
        return np.full(len(labels), np.nan)
    rows = np.arange(len(labels))
    means = np.where(sizes > 0, sums.T / np.maximum(sizes, 1), np.inf).T
    means[labels, rows] = np.inf
    nearest, within = means.min(axis=0), sums[labels, rows] / np.maximum(sizes[labels] - 1, 1)
    larger = np.maximum(nearest, within)
    meaningful = (larger > 0) & (sizes[labels] > 1)
    return np.where(meaningful, (nearest - within) / np.where(meaningful, larger, 1), 0.0)


def silhouette_scores(values: np.ndarray, groups: np.ndarray, n: int) -> dict[str, float]:
    """What the silhouettes of a sample of rows say of all n.

    Parameters
    ----------
    values : float array (m,)
        Silhouettes of m rows that were drawn at random without replacement.
    groups : int array (m,)
    n : int

    Returns
    -------
    dict
        ``silhouette``: their mean, an unbiased estimate of that over all rows. ``silhouette_error``: its standard error, 0
        where all rows were drawn. ``silhouette_least_group``: the least mean over a group that was drawn.
    """
    m, mean = len(values), values.mean()
    error = np.sqrt(np.square(values - mean).sum() / max(m - 1, 1) / m * (1 - m / n))
    least = min(silhouette_of_groups(values, groups).values())
    return {"silhouette": float(mean), "silhouette_error": float(error), "silhouette_least_group": least}


def silhouette_of_groups(values: np.ndarray, groups: np.ndarray) -> dict[int, float]:
    """Mean silhouette of the rows of each group that there is among ``groups`` (m,), by its code."""
    sizes, sums = np.bincount(groups), np.bincount(groups, values)
    return {int(group): float(sums[group] / sizes[group]) for group in np.flatnonzero(sizes)}
