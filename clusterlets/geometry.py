"""Exact distances, summed in tiles: all that scoring needs to know of the instances.

Every cluster that a matcher makes is a union of disjoint clusterlets, so the matrix of summed
distances between clusterlets gives the exact cohesion of any matching in O(|cluster|^2).
Squared distances come from one matrix product of augmented rows, in double precision:
``[-2x, 1, |x|^2] . [y, |y|^2, 1] = |x - y|^2``.
"""

from collections.abc import Iterator

import numpy as np
from threadpoolctl import threadpool_limits

# A tile of 128 x 512 doubles (half a megabyte) stays in the second-level cache between the
# product, the square root and the sums.
_ROWS = 128
_COLUMNS = 512


def distance_sums(X: np.ndarray, labels: np.ndarray, n_groups: int) -> np.ndarray:
    """Summed Euclidean distances between groups of instances.

    Parameters
    ----------
    X : float array (n, d)
    labels : int array (n,)
        Group of each instance, 0..n_groups-1.
    n_groups : int

    Returns
    -------
    float array (n_groups, n_groups)
        ``S[a, b]`` = sum of d(x, y) over x in a and y in b: symmetric; on the diagonal every pair counts twice
        and an instance with itself as 0.

    Notes
    -----
    O(n^2 d) time over half of the pairs, O(n d) memory. One thread, so that the sums do not depend on the cores.
    """
    order = np.argsort(labels, kind="stable")
    groups = np.asarray(labels)[order]
    upper = np.zeros((n_groups, n_groups))
    with threadpool_limits(limits=1, user_api="blas"):
        for row, column, distances in _upper_tiles(X[order]):
            rows, row_starts = np.unique(groups[row : row + len(distances)], return_index=True)
            columns, column_starts = np.unique(groups[column : column + distances.shape[1]], return_index=True)
            sums = np.add.reduceat(_sum_row_runs(distances, row_starts), column_starts, axis=1)
            # The square tile on the diagonal holds both (x, y) and (y, x); the transpose below would count it again.
            upper[np.ix_(rows, columns)] += sums / 2 if row == column else sums
    return upper + upper.T


def within_sums(X: np.ndarray, labels: np.ndarray, n_groups: int) -> np.ndarray:
    """The diagonal of :func:`distance_sums`, as (n_groups,): all that disjoint clusters need, without the rest."""
    return np.array([_total(X[labels == group]) for group in range(n_groups)])


def diameter(X: np.ndarray) -> float:
    """Largest Euclidean distance between two rows of ``X`` (n, d).

    Rows are visited from the farthest from the centroid inwards; by the triangle inequality d(x, y) is at most the sum
    of the two distances to the centroid, so most rows never meet. O(n^2 d) at worst, near O(n d) on real tables.
    """
    radii = np.linalg.norm(X - X.mean(axis=0), axis=1)
    order = np.argsort(-radii, kind="stable")
    rows, radii = X[order], radii[order]
    largest = 0.0
    for start in range(0, len(rows), _ROWS):
        reach = int(np.searchsorted(-radii, -(largest - radii[start]), side="right"))
        if reach <= start:
            break
        for column in range(start, reach, _COLUMNS):
            differences = rows[start : start + _ROWS, None, :] - rows[None, column : min(column + _COLUMNS, reach), :]
            largest = max(largest, float(np.sqrt(np.einsum("ijk,ijk->ij", differences, differences).max())))
    return largest


def _total(X: np.ndarray) -> float:
    """Sum of all pairwise distances of the rows, each pair twice."""
    return float(distance_sums(X, np.zeros(len(X), dtype=np.int64), 1)[0, 0]) if len(X) else 0.0


def _sum_row_runs(distances: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Sum consecutive rows of each run, (runs, columns), as a product: a tile of sorted rows has few runs."""
    indicator = np.zeros((len(starts), len(distances)))
    run = np.searchsorted(starts, np.arange(len(distances)), side="right") - 1
    indicator[run, np.arange(len(distances))] = 1.0
    return indicator @ distances


def _upper_tiles(X: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
    """First row, first column and distances of tiles that cover the upper half: squares on the diagonal, then to the right.

    The arrays are views of one buffer, good until the next tile.
    """
    left, right = _augmented(X)
    buffer = np.empty(_ROWS * _COLUMNS)
    n = len(X)
    for row in range(0, n, _ROWS):
        height = min(_ROWS, n - row)
        edges = [row, *range(row + height, n, _COLUMNS), n]
        for column, end in zip(edges[:-1], edges[1:], strict=True):
            tile = buffer[: height * (end - column)].reshape(height, end - column)
            np.matmul(left[row : row + height], right[:, column:end], out=tile)
            np.maximum(tile, 0.0, out=tile)  # rounding may leave -1e-16 where points coincide
            np.sqrt(tile, out=tile)
            if row == column:
                np.fill_diagonal(tile, 0.0)
            yield row, column, tile


def _augmented(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two factors of the matrix of squared distances, (n, d + 2) and (d + 2, n), of centred rows.

    Centring keeps the cancellation small; tables of integers are shifted by integers, so that their squared distances
    stay exact and equal rows are at distance 0.
    """
    centre = X.mean(axis=0)
    if np.array_equal(X, np.rint(X)):
        centre = np.rint(centre)
    centred = X - centre
    norms = np.einsum("ij,ij->i", centred, centred)[:, None]
    ones = np.ones_like(norms)
    return np.hstack([-2.0 * centred, ones, norms]), np.ascontiguousarray(np.hstack([centred, norms, ones]).T)
