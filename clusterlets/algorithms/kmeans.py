"""k-means: greedy k-means++ (Arthur and Vassilvitskii 2007) and Lloyd's rounds, with the same bytes on every processor.

1. *First centre*: a random row.
2. *Other centres*: draw ``2 + floor(ln k)`` candidates, where the probability of a row is proportional to its squared
   distance to the nearest centre so far. Take the candidate that lowers the sum of these distances most, ties to the first.
   Stop early when every row coincides with a centre: then there are as many centres as distinct rows.
3. *Rounds*: each row goes to its nearest centre, ties to the lowest index, and each centre moves to the mean of its rows.
   Then each centre without rows, in index order, moves to a row of its own: the row farthest from its nearest centre for the
   first one, the next farthest for the second, ties to the first row. The row does not count in the mean of its old cluster.
4. *End*: when no row changes its centre, or when the squared moves of the centres add up to at most ``tol`` times the mean
   variance of a feature, or after ``max_iter`` rounds. In the last two cases, the rows are assigned once more.

scikit-learn's ``KMeans`` has the same steps, but its results depend on the processor: BLAS sums in a different order on each
kind of processor, and a difference in the last bit can lead to another local optimum.
"""

from dataclasses import dataclass
from math import log

import numpy as np

from clusterlets.algorithms.kernels import assign, candidate_distances, inertia_by_label, sums_by_label, tiles_of


@dataclass(frozen=True)
class KMeansResult:
    """A local optimum of k-means: labels (n,), centres (k, d), sum of squared distances to them, and number of rounds."""

    labels: np.ndarray
    centres: np.ndarray
    inertia: float
    n_iter: int


def kmeans_labels(X: np.ndarray, n_clusters: int, random_state: np.random.Generator) -> np.ndarray:
    """Labels (n,) of k-means with one start, 0..m-1 without gaps, where m = ``min(n_clusters, distinct rows)``."""
    return np.unique(kmeans(X, n_clusters, random_state).labels, return_inverse=True)[1].astype(np.int64)


def kmeans(X: np.ndarray, n_clusters: int, random_state: np.random.Generator) -> KMeansResult:
    """:func:`lloyd` from the centres of :func:`kmeans_plus_plus`: k-means with one start."""
    X = np.asarray(X, dtype=np.float64)
    return lloyd(X, X[kmeans_plus_plus(X, n_clusters, random_state)])


def kmeans_plus_plus(X: np.ndarray, n_clusters: int, random_state: np.random.Generator) -> np.ndarray:
    """Indices of the first centres by greedy k-means++, steps 1 and 2: ``min(n_clusters, distinct rows)`` distinct rows.

    O(n k d log k) time, O(n (d + log k)) memory.
    """
    rows = np.require(X, np.float64, ["C", "W"])
    tiles = tiles_of(rows)
    n_candidates = 2 + int(log(n_clusters))  # rounding cannot change the result: no whole number is that close to a power of e
    centre_rows = [int(random_state.integers(len(rows)))]
    (nearest_squares,), _ = _distances_with_candidates(tiles, rows[centre_rows], np.full(len(rows), np.inf))
    while len(centre_rows) < n_clusters and nearest_squares.any():
        cumulative = np.cumsum(nearest_squares)  # cumsum adds in index order
        drawn = np.searchsorted(cumulative, random_state.random(n_candidates) * cumulative[-1], side="right")
        # Rounding may put a draw past the last row whose probability is above 0.
        candidates = np.minimum(drawn, np.searchsorted(cumulative, cumulative[-1]))
        new_squares, totals = _distances_with_candidates(tiles, rows[candidates], nearest_squares)
        best = totals.argmin()
        centre_rows.append(int(candidates[best]))
        nearest_squares = new_squares[best]
    return np.array(centre_rows)


def lloyd(X: np.ndarray, centres: np.ndarray, max_iter: int = 300, tol: float = 1e-4) -> KMeansResult:
    """Run rounds of k-means from given centres (k, d), steps 3 and 4. O(n k d) time per round, O(n d) memory."""
    rows, centres = (np.require(array, np.float64, ["C", "W"]) for array in (X, centres))
    tiles = tiles_of(rows)
    labels, former_labels, distances = np.empty(len(rows), dtype=np.int64), np.full(len(rows), -1), np.empty(len(rows))
    min_squared_move = tol * rows.var(axis=0).mean()
    settled, n_iter = False, 0
    while n_iter < max_iter:
        n_iter += 1
        assign(tiles, centres, labels, distances)
        new_centres = _new_centres(rows, labels, distances, centres)
        squared_move = np.square(new_centres - centres).sum()
        centres = new_centres
        settled = np.array_equal(labels, former_labels)
        if settled or squared_move <= min_squared_move:
            break
        former_labels[:] = labels
    if not settled:
        assign(tiles, centres, labels, distances)
    inertia = np.empty(len(centres))
    inertia_by_label(rows, labels, centres, inertia)
    return KMeansResult(labels, centres, float(inertia.sum()), n_iter)


def nearest_centres(X: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Index (n,) of the nearest of the centres (k, d) to each row of X (n, d), ties to the lowest index; O(n k d)."""
    rows, centres = (np.require(array, np.float64, ["C", "W"]) for array in (X, centres))
    labels = np.empty(len(rows), dtype=np.int64)
    assign(tiles_of(rows), centres, labels, np.empty(len(rows)))
    return labels


def _distances_with_candidates(
    tiles: np.ndarray, candidates: np.ndarray, nearest_squares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Squared distances (c, n) to the nearest centre if one candidate at a time were added, and their sums (c,)."""
    new_squares, totals = np.empty((len(candidates), len(nearest_squares))), np.empty(len(candidates))
    candidate_distances(tiles, candidates, nearest_squares, new_squares, totals)
    return new_squares, totals


def _new_centres(rows: np.ndarray, labels: np.ndarray, distances: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """New centres (k, d): the means of the centres' rows, or the farthest row for a centre without rows, as in step 3."""
    sums, sizes = np.empty_like(centres), np.empty(len(centres), dtype=np.int64)
    sums_by_label(rows, labels, sums, sizes)
    empty = np.flatnonzero(sizes == 0)
    if len(empty) and distances.any():
        for centre, row in zip(empty, np.argsort(-distances, kind="stable")[: len(empty)], strict=True):
            sums[labels[row]] -= rows[row]
            sizes[labels[row]] -= 1
            sums[centre], sizes[centre] = rows[row], 1
    return np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
