"""The sums of distances as they were until 2026: by BLAS, in tiles. bench_distances.py compares with them.

Squared distances come from one matrix product of augmented rows, ``[-2x, 1, |x|^2] . [y, |y|^2, 1] = |x - y|^2``, whose
last digits depend on the processor.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from threadpoolctl import threadpool_limits

_ROWS = 128
_COLUMNS = 512


def distance_sums(X: np.ndarray, labels: np.ndarray, n_groups: int) -> np.ndarray:
    """Summed distances between groups, (n_groups, n_groups), as :func:`clusterlets.algorithms.geometry.distance_sums`."""
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
