"""Distances and means that scores are computed from: sums of distances, the largest distance, means and inertias.

Every cluster that a matcher makes is a union of disjoint clusterlets. So the matrix of summed distances between clusterlets
gives the exact cohesion of a cluster of m clusterlets in O(m^2). All sums run in a fixed order
(:mod:`clusterlets.algorithms.kernels`), so every processor gives the same bytes.
"""

import numpy as np

from clusterlets.algorithms.checks import check_magnitudes
from clusterlets.algorithms.kernels import (
    add_distances,
    add_row_distances,
    inertia_by_label,
    largest_squared_distance,
    squared_distances,
    sums_by_label,
    tiles_of,
)
from clusterlets.algorithms.row_samples import ALL_PAIRS_ROWS

# Number of estimates that sampled_sums returns: enough for a standard error that is accurate to about a fifth.
_REPLICATES = 16
# Every estimate uses at least this many rows of each label, however small the label's share of the rows.
_MIN_SAMPLED_PER_LABEL = 20
# Cost of adding distances up for one labelling, as a fraction of the cost of computing them; measurements gave .15 to .25.
_LABELLING_COST = 0.2


def distance_sums(X: np.ndarray, labels: np.ndarray, n_labels: int) -> np.ndarray:
    """Sums of the Euclidean distances between the instances of each pair of labels.

    Parameters
    ----------
    X : float array (n, d)
    labels : int array (n,) or (S, n)
        Label of each instance, 0..n_labels-1; or its labels in S labellings, for which each distance is computed once.
    n_labels : int

    Returns
    -------
    float array (n_labels, n_labels) or (S, n_labels, n_labels)
        ``[a, b]`` is the sum of d(x, y) over the instances x of label a and y of label b. The matrix is symmetric. On the
        diagonal, every pair counts twice.

    Raises
    ------
    ValueError
        If a label is out of range.

    Notes
    -----
    O(n^2 (d + S)) time; a labelling costs about as much as two features. O(n d + S (n + n_labels^2)) memory, one thread.
    """
    labels = np.asarray(labels)
    labellings = _checked_labellings(labels, n_labels)
    instances = np.require(X, np.float64, ["C", "W"])
    upper = np.zeros((len(labellings), n_labels, n_labels))
    add_distances(instances, tiles_of(instances), labellings, upper)
    sums = upper + upper.transpose(0, 2, 1)
    return sums if labels.ndim == 2 else sums[0]


def within_sums(X: np.ndarray, labels: np.ndarray, n_labels: int) -> np.ndarray:
    """The diagonals (n_labels,) or (S, n_labels) of :func:`distance_sums`: all that scores of disjoint clusters need.

    Either each cluster is summed separately, or all pairs are computed once for all labellings, whichever is less work.
    """
    labels = np.asarray(labels)
    labellings = np.atleast_2d(labels)
    n_pairs_within = sum(np.square(np.bincount(labelling), dtype=np.float64).sum() for labelling in labellings)
    if n_pairs_within > len(X) * len(X) * (1 + _LABELLING_COST * len(labellings)):
        sums = distance_sums(X, labellings, n_labels).diagonal(axis1=1, axis2=2).copy()
    else:
        sums = np.array([[_sum_of_distances(X[labelling == label]) for label in range(n_labels)] for labelling in labellings])
    return sums if labels.ndim == 2 else sums[0]


def row_sums(X: np.ndarray, rows: np.ndarray, labels: np.ndarray, n_labels: int) -> np.ndarray:
    """Sums (n_labels, m) or (S, n_labels, m) of the distances from some rows to all rows of each label, for silhouettes.

    ``rows`` (m,) are indices. The other arguments and the errors are as in :func:`distance_sums`. The distance of a row to
    itself is 0. O(m n (d + S)) time, O(n d + S n_labels m) memory, one thread.
    """
    labels = np.asarray(labels)
    labellings = _checked_labellings(labels, n_labels)
    instances = np.require(X, np.float64, ["C", "W"])
    sums = np.zeros((len(labellings), n_labels, len(rows)))
    add_row_distances(instances, tiles_of(instances[rows]), labellings, sums)
    return sums if labels.ndim == 2 else sums[0]


def sampled_sums(X: np.ndarray, labels: np.ndarray, n_labels: int, order: np.ndarray, sample_size: int = 2000) -> np.ndarray:
    """Unbiased estimates (16, n_labels, n_labels) of :func:`distance_sums` from 16 samples of rows.

    Their mean is the estimate to use, and its standard error follows from their spread.

    Parameters
    ----------
    X : float array (n, d)
    labels : int array (n,)
        0..n_labels-1.
    n_labels : int
    order : int array (n,)
        All rows, in random order. The same order draws nearly the same rows for every labelling of a table.
    sample_size : int
        Number of rows in each of the 16 samples. Every label contributes its share, but at least 20 rows, or all if it has
        fewer.

    Notes
    -----
    Stratified sampling: the first rows of each label in the given order form the first sample, the next rows the second, and so
    on. If a label has too few rows, its rows are used again from the first one on. Where the samples are disjoint, the spread
    overstates the error slightly: the true one is sqrt(1 - f) times as large if a fraction f of the rows is sampled.

    O(n log n) time to draw the samples, and O(16 m^2 d) for samples of m rows. O(n + n_labels^2) memory. Meant for more than
    ``ALL_PAIRS_ROWS`` rows.
    """
    X, labels, order = np.asarray(X), np.asarray(labels), np.asarray(order)
    sizes = np.bincount(labels, minlength=n_labels)
    shares = np.rint(sizes * (sample_size / len(labels))).astype(np.int64)
    sample_sizes = np.minimum(sizes, np.maximum(shares, _MIN_SAMPLED_PER_LABEL))
    weights = np.outer(sizes, sizes) / np.maximum(np.outer(sample_sizes, sample_sizes), 1)
    # Within a label, no instance forms a pair with itself, so m rows have m (m - 1) ordered pairs.
    np.fill_diagonal(weights, sizes * (sizes - 1) / np.maximum(sample_sizes * (sample_sizes - 1), 1))
    members = np.split(order[np.argsort(labels[order], kind="stable")], np.cumsum(sizes)[:-1])
    sample_labels = np.repeat(np.arange(n_labels), sample_sizes)
    estimates = np.empty((_REPLICATES, n_labels, n_labels))
    for replicate in range(_REPLICATES):
        windows = [np.arange(replicate * count, (replicate + 1) * count) for count in sample_sizes]
        sampled = [rows.take(window, mode="wrap") for rows, window in zip(members, windows, strict=True)]
        estimates[replicate] = weights * distance_sums(X[np.concatenate(sampled)], sample_labels, n_labels)
    return estimates


def diameter(X: np.ndarray) -> float:
    """Largest Euclidean distance between two rows of ``X`` (n, d), or the lower bound that :func:`diameter_bounds` gives."""
    return diameter_bounds(X)[0]


def diameter_bounds(X: np.ndarray) -> tuple[float, float]:
    """A lower and an upper bound on the largest Euclidean distance between two rows of ``X`` (n, d).

    The bounds are usually equal, and then exact. They differ only for more than ``ALL_PAIRS_ROWS`` rows, and only if many rows
    are about equally far from the centroid, as with a hundred features. Then the lower bound is the largest distance between
    the outermost ``ALL_PAIRS_ROWS / 5`` rows, and the upper bound also covers all other pairs.

    By the triangle inequality, d(x, y) is at most the sum of the distances of x and y to the centroid. Rows are visited from
    the outermost one inwards, so most pairs are skipped. O(n^2 d) time at worst, near O(n d) on real tables.
    """
    X = np.require(X, np.float64, "C")
    check_magnitudes(X)
    # The factor is far larger than any rounding error of a radius, so no pair is skipped by mistake.
    radii = np.sqrt(np.square(X - X.mean(axis=0)).sum(axis=1)) * (1 + 1e-9)
    order = np.argsort(-radii, kind="stable")
    radii = radii[order]
    if len(X) > ALL_PAIRS_ROWS:
        outermost = ALL_PAIRS_ROWS // 5
        largest = _largest_distance(X[order[:outermost]], radii[:outermost])
        # A pair can be further apart than `largest` only if its radii add up to more. Stop if too many pairs have such radii.
        if np.searchsorted(-radii, radii - largest).sum() > ALL_PAIRS_ROWS * ALL_PAIRS_ROWS // 10:
            return largest, max(largest, float(radii[0] + radii[outermost]))
    largest = _largest_distance(X[order], radii)
    return largest, largest


def _largest_distance(instances: np.ndarray, radii: np.ndarray) -> float:
    """Largest distance between two instances (m, d), which are sorted by descending distance ``radii`` from a fixed point."""
    return float(np.sqrt(largest_squared_distance(instances, tiles_of(instances), radii)))


def squared_distances_to_centres(
    X: np.ndarray, centres: np.ndarray, n_clusters: int, out: np.ndarray | None = None
) -> np.ndarray:
    """Squared distances (n, n_clusters) of rows (n, d) to centres (k, d), each summed feature by feature.

    If there are fewer centres than clusters, because few rows are distinct, the first centre stands in for the missing ones.
    The distances are written to ``out``, if it is given.
    """
    costs = np.empty((len(X), n_clusters)) if out is None else out
    all_centres = np.concatenate([centres, np.repeat(centres[:1], n_clusters - len(centres), axis=0)])
    squared_distances(np.require(X, np.float64, ["C", "W"]), np.array(all_centres.T, np.float64, order="C"), costs)
    return costs


def moments_by_label(X: np.ndarray, labels: np.ndarray, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean (n_labels, d) of each label's rows, and inertia (n_labels,): the sum of their squared distances to that mean.

    No label may be empty. O(n d).
    """
    instances, labels = np.require(X, np.float64, ["C", "W"]), np.require(labels, np.int64, ["C", "W"])
    means, inertia = np.empty((n_labels, instances.shape[1])), np.empty(n_labels)
    sizes = np.empty(n_labels, dtype=np.int64)
    sums_by_label(instances, labels, means, sizes)
    means /= sizes[:, None]
    inertia_by_label(instances, labels, means, inertia)
    return means, inertia


def load_kernels() -> None:
    """Load the kernels for distances, means and inertias, so that processes forked later need not load them."""
    X, zeros = np.zeros((1, 1)), np.zeros(1, np.int64)
    distance_sums(X, zeros, 1)
    row_sums(X, zeros, zeros, 1)
    moments_by_label(X, zeros, 1)


def _checked_labellings(labels: np.ndarray, n_labels: int) -> np.ndarray:
    """Labels (S, n) of S labellings, in the array layout that the kernels need; ValueError if a label is out of range."""
    labellings = np.require(np.atleast_2d(labels), np.int64, ["C", "W"])
    if labellings.min() < 0 or labellings.max() >= n_labels:
        raise ValueError(f"labels must lie in 0..{n_labels - 1}")
    return labellings


def _sum_of_distances(X: np.ndarray) -> float:
    """Sum of the distances between all rows, where each pair counts twice."""
    return float(distance_sums(X, np.zeros(len(X), dtype=np.int64), 1)[0, 0]) if len(X) else 0.0
