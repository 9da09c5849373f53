"""Distances, summed in tiles: all that scoring needs to know of the instances; exact, or estimated from samples.

Every cluster that a matcher makes is a union of disjoint clusterlets, so the matrix of summed
distances between clusterlets gives the exact cohesion of any matching in O(|cluster|^2).
Squared distances come from one matrix product of augmented rows, in double precision:
``[-2x, 1, |x|^2] . [y, |y|^2, 1] = |x - y|^2``.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from threadpoolctl import threadpool_limits

# A tile of 128 x 512 doubles (half a megabyte) stays in the second-level cache between the
# product, the square root and the sums.
_ROWS = 128
_COLUMNS = 512

#: Most rows for which exact sums are offered: 5 * 10^9 pairs, some 10 s of one core (memory is no limit, O(n d)). Ten
#: times the rows take a hundred times as long; :func:`sampled_sums` takes about a second at any n.
EXACT_LIMIT = 100_000

# Independent estimates that sampled_sums averages: enough for a standard error that is itself within a fifth or so.
_REPLICATES = 16
# Rows that a replicate takes of every group, if it has as many, whatever the group's share of the rows.
_LEAST = 20


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
    X = np.asarray(X, dtype=np.float64)
    order = np.argsort(labels, kind="stable")
    groups = np.asarray(labels)[order]
    changes = np.flatnonzero(np.diff(groups)) + 1
    upper = np.zeros((n_groups, n_groups))
    with threadpool_limits(limits=1, user_api="blas"):
        for row, column, distances in _upper_tiles(X[order]):
            if row == column:  # the first tile of a stripe of rows
                starts = _run_starts(changes, row, row + len(distances))
                rows, indicator = groups[starts, None], _indicator(starts - row, len(distances))
            starts = _run_starts(changes, column, column + distances.shape[1])
            sums = np.add.reduceat(indicator @ distances, starts - column, axis=1)
            # The square tile on the diagonal holds both (x, y) and (y, x); the transpose below would count it again.
            upper[rows, groups[starts]] += sums / 2 if row == column else sums
    return upper + upper.T


def within_sums(X: np.ndarray, labels: np.ndarray, n_groups: int) -> np.ndarray:
    """The diagonal of :func:`distance_sums`, as (n_groups,): all that disjoint clusters need, without the rest."""
    return np.array([_total(X[labels == group]) for group in range(n_groups)])


def sampled_sums(
    X: np.ndarray, labels: np.ndarray, n_groups: int, random_state: np.random.Generator, sample_size: int = 2000
) -> tuple[np.ndarray, np.ndarray]:
    """Unbiased estimate of :func:`distance_sums` from samples of rows, and its standard error.

    Parameters
    ----------
    X : float array (n, d)
    labels : int array (n,)
        Group of each instance, 0..n_groups-1.
    n_groups : int
    random_state : numpy.random.Generator
        Source of the samples.
    sample_size : int
        Rows of each of the 16 samples. Every group gives its share, but at least 20 rows, or all if it has fewer.

    Returns
    -------
    sums, error : float arrays (n_groups, n_groups)
        The estimate, symmetric, and the standard error of each of its entries: 0 where all rows were seen.

    Notes
    -----
    Stratified sampling without replacement, 16 independent times: the estimate is the mean of the 16, the standard
    error comes from their spread. Errors of sums inside different groups are independent, so the squared error of a
    cohesion of disjoint clusters is a sum of theirs if ``labels`` are the clusters. O(n log n) time for the samples,
    O(16 m^2 d) for m rows each; O(n) memory. Meant for more than ``EXACT_LIMIT`` rows.
    """
    X, labels = np.asarray(X), np.asarray(labels)
    sizes = np.bincount(labels, minlength=n_groups)
    shares = np.maximum(np.rint(sizes * (sample_size / len(labels))).astype(np.int64), _LEAST)
    taken = np.minimum(sizes, shares)
    weights = np.outer(sizes, sizes) / np.maximum(np.outer(taken, taken), 1)
    # Inside a group an instance is no pair with itself: of m rows there are m (m - 1) pairs.
    np.fill_diagonal(weights, sizes * (sizes - 1) / np.maximum(taken * (taken - 1), 1))
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    drawn = np.repeat(np.arange(n_groups), taken)
    estimates = np.empty((_REPLICATES, n_groups, n_groups))
    for estimate in estimates:
        chosen = [random_state.choice(rows, count, replace=False) for rows, count in zip(members, taken, strict=True)]
        estimate[:] = weights * distance_sums(X[np.concatenate(chosen)], drawn, n_groups)
    return estimates.mean(axis=0), estimates.std(axis=0, ddof=1) / np.sqrt(_REPLICATES)


def diameter(X: np.ndarray) -> float:
    """Largest Euclidean distance between two rows of ``X`` (n, d).

    Rows are visited from the farthest from the centroid inwards; by the triangle inequality d(x, y) is at most the sum
    of the two distances to the centroid, so most rows never meet. O(n^2 d) at worst, near O(n d) on real tables.
    """
    X = np.asarray(X, dtype=np.float64)
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


def _run_starts(changes: np.ndarray, start: int, end: int) -> np.ndarray:
    """Where the runs of equal groups in ``start`` to ``end`` begin, given where the group changes."""
    return np.append(start, changes[np.searchsorted(changes, start, side="right") : np.searchsorted(changes, end)])


def _indicator(starts: np.ndarray, height: int) -> np.ndarray:
    """Which of the runs (R,) holds each row, (R, height): a product with it sums the rows of each run."""
    indicator = np.zeros((len(starts), height))
    indicator[np.searchsorted(starts, np.arange(height), side="right") - 1, np.arange(height)] = 1.0
    return indicator


def _upper_tiles(X: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
    """First row, first column and distances of tiles of the upper half: squares on the diagonal, then to the right.

    The arrays are views of one buffer, good until the next tile.
    """
    left, right = _augmented(X)
    buffer = np.empty(_ROWS * _COLUMNS)
    n = len(X)
    for row in range(0, n, _ROWS):
        height = min(_ROWS, n - row)
        edges = [row, *range(row + height, n, _COLUMNS), n]
        for column, end in pairwise(edges):
            tile = buffer[: height * (end - column)].reshape(height, end - column)
            np.matmul(left[row : row + height], right[:, column:end], out=tile)
            if tile.min() < 0:  # rounding may leave -1e-16 where points coincide; to look costs less than to write
                np.maximum(tile, 0.0, out=tile)
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
